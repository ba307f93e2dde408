"""The reduction operator: groups rows by key and maintains one row of aggregates per group.

Invariant: after a chunk, the output at every time is what the input at that time reduces to: one row for every group
that has rows; an error instead for a group in which a negative multiplicity shows, or whose aggregate fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from ....messages.plans import ReduceNode
from ....messages.types import ColumnType
from ...arrangements.row_table import RowTable
from ...arrangements.updates import Chunk, concat_optional
from ...columns.column import FixedColumn, Indices, Mask
from ...columns.grouping import all_true
from ..differences import error_changes, row_changes, show_key, state_entries
from ..events import Events, Numbers, find_events
from ..parts import GroupLogic, divisions
from .accumulator import Argument, Failure
from .inputs import ReduceInputs
from .ordered_values import ValueStates
from .parts import plan_parts
from .state import GroupSums


class ReduceLogic(GroupLogic):
    """Maintains a reduction.

    Args:
        node: what to compute; its input arrives exchanged by the key.
        input_types: of the input's columns.
        trust: whether user functions may be loaded.

    Raises:
        UserFunctionError: a user function cannot be loaded, or ``trust`` is false.
    """

    def __init__(self, node: ReduceNode, input_types: Sequence[ColumnType], *, trust: bool = False) -> None:
        self._inputs = ReduceInputs(node, input_types, trust=trust)
        self._groups = RowTable(self._inputs.key_types)
        self._parts = plan_parts(node, self._inputs, trust=trust)
        self._sums = GroupSums(self._parts.accumulators, self._groups.capacity)

    def process(self, chunk: Chunk) -> Chunk:
        return chunk if chunk.oks is None else self._maintain(self._inputs.evaluate(chunk))

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        if chunk.oks is None:
            yield chunk
            return
        chunk = self._inputs.evaluate(chunk)
        for part in divisions(chunk, () if chunk.oks is None else self._inputs.keys(chunk.oks), fuel):
            yield self._maintain(part)

    def _maintain(self, chunk: Chunk) -> Chunk:
        """As :meth:`process`, when what the reduction computes of a row is computed."""
        oks, errs = chunk.oks, chunk.errs
        if oks is None or not len(oks):
            return Chunk(chunk.lower, chunk.upper, None, errs)
        groups = self._groups
        rows = groups.locate(self._inputs.keys(oks), len(oks))
        events = find_events(rows, oks.times, groups.capacity)
        parts = self._parts
        derived = [stage.transitions(rows, oks.columns[column], oks.times, oks.diffs) for column, stage in parts.stages]
        arguments = [
            Argument(None if column is None else oks.columns[column], oks.diffs if stage is None else derived[stage][0])
            for column, stage in parts.feeds
        ]
        self._sums.reserve(groups.capacity)
        fed = [arguments[feed] for _, feed in parts.sums]
        fed += [Argument(None, negative) for _, negative in derived]
        states = self._sums.add(events, oks.diffs, fed)
        outcomes = self._sums.results(states)
        failures = [failure for _, failure in outcomes if failure is not None]
        columns = [column for column, _ in outcomes[: len(parts.sums)]]
        kept: Sequence[ValueStates] = ()
        negative: Sequence[Mask] = ()
        if parts.ordered:
            kept = [values.add(events, arguments[feed], groups.capacity) for feed, values, _ in parts.ordered]
            columns += [column for values in kept for column in values.columns]
            columns = [columns[position] for position in parts.order]
        if derived:
            negative = [cast(FixedColumn, column).values > 0 for column, _ in outcomes[len(parts.sums) :]]
        present, errors = self._standing(events, states, kept, negative, failures)
        changes = row_changes(events, groups, columns, present)
        if errors:
            errs = concat_optional((errs, error_changes(events, errors)))
        if not all_true(present):
            self._release(events, states, kept)
        return Chunk(chunk.lower, chunk.upper, changes, errs)

    def _standing(
        self,
        events: Events,
        states: Numbers,
        kept: Sequence[ValueStates],
        negative: Sequence[Mask],
        failures: Sequence[Failure],
    ) -> tuple[Mask, dict[int, str]]:
        """In which states a group has a row, and in which it has an error instead, and what."""
        present = states[0] > 0
        errors: dict[int, str] = {}
        wrong: Mask | None = None
        if not all_true(present):
            absent = (~present).nonzero()[0]
            wrong = np.zeros(len(present), np.bool_)
            wrong[absent] = ~self._is_zero(states, kept, absent)
        for mask in (*negative, *[values.negative for values in kept]):
            wrong = mask if wrong is None else wrong | mask
        if wrong is not None and wrong.any():
            entries = state_entries(events)
            for state in wrong.nonzero()[0].tolist():
                key = show_key(self._groups, int(entries[state]))
                errors[state] = f"in the group {key} a row was deleted more often than inserted"
            present &= ~wrong
        for failure in failures:
            failed = failure.where & present
            for state in failed.nonzero()[0].tolist():
                errors[state] = failure.message
            present &= ~failed
        for values in kept:
            for state, message in values.errors.items():
                if present[state]:
                    errors[state] = message
                    present[state] = False
        return present, errors

    def _is_zero(self, states: Numbers, kept: Sequence[ValueStates], places: Indices) -> Mask:
        """Whether nothing is kept in these states."""
        zero = self._sums.is_zero(states[:, places])
        for values in kept:
            zero &= ~values.occupied[places]
        return zero

    def _release(self, events: Events, states: Numbers, kept: Sequence[ValueStates]) -> None:
        """Forget the groups that are empty at the end."""
        last = events.last
        empty = (states[0, last] == 0).nonzero()[0]
        if len(empty):
            entries = events.entries[empty[self._is_zero(states, kept, last[empty])]]
            if len(entries):
                self._sums.clear(entries)
                self._groups.release(entries)
                for _, values, _ in self._parts.ordered:
                    values.release(entries)
