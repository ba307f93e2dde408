"""The reduction operator: groups rows by key and maintains one row of aggregates per group.

Invariant: after a chunk, the output at every time is what the input at that time reduces to: one row for every group
that has rows; an error instead for a group with rows of negative multiplicity, or whose aggregate fails.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....messages.frontiers import Timestamp
from ....messages.plans import ReduceNode
from ....messages.types import ColumnType
from ...arrangements.row_table import RowTable
from ...arrangements.updates import Chunk, concat_optional
from ...columns.column import Column, Mask
from ..differences import error_changes, row_changes, show_key, state_entries
from ..events import Events, Numbers, find_events
from .accumulator import Argument, Failure
from .inputs import ReduceInputs
from .kinds import make_accumulator
from .state import GroupSums


class ReduceLogic:
    """Maintains a reduction.

    Args:
        node: what to compute; its input arrives exchanged by the key.
        input_types: of the input's columns.
        as_of: the first time; earlier ones were advanced to it.
        trust: whether user functions may be loaded.
    """

    def __init__(
        self, node: ReduceNode, input_types: Sequence[ColumnType], *, as_of: Timestamp, trust: bool = False
    ) -> None:
        self._inputs = ReduceInputs(node, input_types, trust=trust)
        self._groups = RowTable(self._inputs.key_types)
        self._aggregates = range(len(node.aggregates))
        accumulators = [
            make_accumulator(a.aggregate, t, apart=False)
            for a, t in zip(node.aggregates, self._inputs.argument_types, strict=True)
        ]
        self._sums = GroupSums(accumulators, self._groups.capacity)

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None:
            return chunk
        chunk = self._inputs.evaluate(chunk)
        oks, errs = chunk.oks, chunk.errs
        if oks is None or not len(oks):
            return Chunk(chunk.lower, chunk.upper, None, errs)
        groups = self._groups
        rows = groups.locate(self._inputs.keys(oks), len(oks))
        events = find_events(rows, oks.times, groups.capacity)
        self._sums.reserve(groups.capacity)
        arguments = [Argument(self._inputs.argument(oks, i), oks.diffs) for i in self._aggregates]
        states = self._sums.add(events, oks.diffs, arguments)
        columns: list[Column] = []
        failures: list[Failure] = []
        for column, failure in self._sums.results(states):
            columns.append(column)
            if failure is not None:
                failures.append(failure)
        present, errors = self._standing(events, states, failures)
        changes = row_changes(events, groups, columns, present)
        if errors:
            errs = concat_optional((errs, error_changes(events, errors)))
        self._release(events, states)
        return Chunk(chunk.lower, chunk.upper, changes, errs)

    def _standing(self, events: Events, states: Numbers, failures: Sequence[Failure]) -> tuple[Mask, dict[int, str]]:
        """In which states a group has a row, and in which it has an error instead, and what."""
        rows = states[0]
        present = rows > 0
        errors: dict[int, str] = {}
        if not present.all():
            negative = ~present
            negative[negative] = ~self._sums.is_zero(states[:, negative])
            if negative.any():
                entries = state_entries(events)
                for state in np.flatnonzero(negative).tolist():
                    key = show_key(self._groups, int(entries[state]))
                    errors[state] = f"in the group {key} more rows were deleted than inserted"
        for failure in failures:
            failed = failure.where & present
            for state in np.flatnonzero(failed).tolist():
                errors.setdefault(state, failure.message)
            present &= ~failed
        return present, errors

    def _release(self, events: Events, states: Numbers) -> None:
        """Forget the groups that are empty at the end."""
        last = events.last
        empty = np.flatnonzero(states[0, last] == 0)
        if len(empty):
            entries = events.entries[empty[self._sums.is_zero(states[:, last[empty]])]]
            if len(entries):
                self._sums.clear(entries)
                self._groups.release(entries)
