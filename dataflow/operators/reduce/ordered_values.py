"""The ordered values of one aggregate input, for all aggregates that are read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....messages.types import SqlType
from ...arrangements.hash_index import Entries
from ...arrangements.ordered import OrderedRows
from ...arrangements.row_store import column_store
from ...arrangements.runs import Groups
from ...columns.column import Column, Mask, concat_columns
from ...columns.sorting import SortKey
from ..events import Events
from .accumulator import Argument
from .readers import Read, Reader, WholeGroups, WholeReader


@dataclass(frozen=True, slots=True, eq=False)
class ValueStates:
    """What readers gave in every state (see :class:`Events`).

    Attributes:
        columns: of each reader.
        errors: of all readers, by state.
        negative: where a value of the group has a negative multiplicity.
        occupied: where the group has values, of any multiplicity.
    """

    columns: list[Column]
    errors: dict[int, str]
    negative: Mask
    occupied: Mask


class OrderedValues:
    """Keeps the values of all groups in order, and what each reader last gave for every group.

    The old result is remembered, not read again: that halves the work, and a user function need not give the same
    result twice.

    Args:
        nulls: keep NULLs, too.
    """

    def __init__(self, type: SqlType, readers: Sequence[Reader], *, nulls: bool) -> None:
        self._ordered = OrderedRows((type,), (SortKey(0),))
        self._readers = tuple(readers)
        self._nulls = nulls
        self._whole = any(isinstance(r, WholeReader) for r in readers)
        self._current = tuple([column_store(r.type) for r in readers])
        self._errors: dict[int, str] = {}

    def add(self, events: Events, argument: Argument, capacity: int) -> ValueStates:
        """Add a chunk; ``capacity`` is above all groups."""
        ordered = self._ordered
        if capacity > ordered.capacity:
            ordered.reserve(capacity)
            for store in self._current:
                store.reserve(capacity)
        groups = events.entries
        count = len(groups)
        columns = [[store.take(groups)] for store in self._current]
        errors: dict[int, str] = {}
        if self._errors:
            errors = {i: self._errors[g] for i, g in enumerate(groups.tolist()) if g in self._errors}
        negative = np.zeros(count + len(events), np.bool_)
        occupied = np.zeros(count + len(events), np.bool_)
        negative[:count] = ordered.is_negative(groups)
        occupied[:count] = ~ordered.is_empty(groups)
        owners = events.owners
        positions = [np.arange(count)]
        for changed, members in events.rounds():
            touched = owners[changed]
            self._apply(events.rows, argument, members)
            states = count + changed
            negative[states] = ordered.is_negative(touched)
            occupied[states] = ~ordered.is_empty(touched)
            positions.append(states)
            for parts, store, (column, failed) in zip(columns, self._current, self._read(touched), strict=True):
                parts.append(column)
                store.write(touched, column)
                for place, message in failed.items():
                    errors.setdefault(int(states[place]), message)
            if errors or self._errors:
                for group, state in zip(touched.tolist(), states.tolist(), strict=True):
                    self._errors.pop(group, None)
                    if state in errors:
                        self._errors[group] = errors[state]
        results = [concat_columns(parts) for parts in columns]
        if len(positions) > 2:
            order = np.argsort(np.concatenate(positions))
            results = [c.take(order) for c in results]
        return ValueStates(results, errors, negative, occupied)

    def release(self, groups: Entries) -> None:
        """Forget these groups, which are empty."""
        for store in self._current:
            store.release(groups)

    def _apply(self, rows: Groups, argument: Argument, members: Entries | None) -> None:
        column, diffs = argument.column, argument.diffs
        assert column is not None
        wanted = diffs != 0
        if argument.valid is not None and not self._nulls:
            wanted &= argument.valid
        if members is None:
            if not wanted.all():
                members = wanted.nonzero()[0]
        else:
            members = members[wanted[members]]
        if members is not None:
            column, diffs, rows = column.take(members), diffs[members], rows[members]
        if len(rows):
            self._ordered.apply(rows, (column,), diffs)

    def _read(self, groups: Groups) -> list[Read]:
        whole = WholeGroups(self._ordered, groups) if self._whole else None
        return [reader.read(self._ordered, groups, whole) for reader in self._readers]
