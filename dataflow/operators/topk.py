"""The top-k operator: in each group, the rows from ``offset`` to ``offset + limit`` of an order.

A change reads no more of its group than what is shown before and after it (see :mod:`..arrangements.ordered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...messages.plans import TopKNode
from ...messages.types import ColumnType
from ..arrangements.hash_index import Entries
from ..arrangements.ordered import OrderedRows
from ..arrangements.row_table import RowTable
from ..arrangements.runs import Groups
from ..arrangements.updates import Chunk, Updates, concat_optional, uniform
from ..columns.column import Mask
from ..columns.packed_sort import begins
from ..columns.sorting import SortKey
from .differences import error_changes, show_key, state_entries
from .events import find_events
from .parts import GroupLogic, divisions
from .places import MOST, count_within

Rows = tuple[Entries, npt.NDArray[np.int64]]
"""Rows and how often each is in the output, or how that changes."""

_NOTHING: Rows = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class TopKLogic(GroupLogic):
    """Maintains the top rows of every group; ties are broken by the whole row, ascending with NULLs last.

    A group with a row of negative multiplicity has an error; its other rows are shown as if that one were not there.

    Args:
        node: the groups, the order, limit and offset; its input arrives exchanged by the group's columns.
        input_types: of the input's columns.
    """

    def __init__(self, node: TopKNode, input_types: Sequence[ColumnType]) -> None:
        types = [t.type for t in input_types]
        self._group_by = node.group_by
        self._offset = node.offset
        self._stop = None if node.limit is None else min(node.offset + node.limit, MOST)
        self._groups = RowTable([types[g] for g in node.group_by])
        keys = [SortKey(o.column, o.descending, o.nulls_first) for o in node.order_by]
        self._ordered = OrderedRows(types, keys)

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        groups = () if chunk.oks is None else [chunk.oks.columns[g] for g in self._group_by]
        for part in divisions(chunk, groups, fuel):
            yield self.process(part)

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None or not len(oks):
            return chunk
        table, ordered = self._groups, self._ordered
        rows = table.locate(tuple([oks.columns[g] for g in self._group_by]), len(oks))
        events = find_events(rows, oks.times, table.capacity)
        ordered.reserve(table.capacity)
        count = len(events.entries)
        negative = np.zeros(count + len(events), np.bool_)
        negative[:count] = ordered.is_negative(events.entries)
        parts: list[Updates | None] = []
        owners = events.owners
        for changed, members in events.rounds():
            groups = owners[changed]
            some = oks if members is None else oks.take(members)
            entries, diffs = self._advance(groups, rows if members is None else rows[members], some)
            negative[count + changed] = ordered.is_negative(groups)
            if len(entries):
                columns = ordered.rows.take(entries)[1:]
                if events.timeline is None:
                    times = uniform(int(events.times[0]), len(entries))
                else:
                    time_of = np.zeros(table.capacity, np.int64)
                    time_of[groups] = events.times[changed]
                    times = time_of[ordered.groups_of(entries)]
                parts.append(Updates(columns, times, diffs))
        errs = chunk.errs
        if negative.any():
            errs = concat_optional((errs, error_changes(events, self._errors(state_entries(events), negative))))
        empty = events.entries[ordered.is_empty(events.entries)]
        if len(empty):
            table.release(empty)
        return Chunk(chunk.lower, chunk.upper, concat_optional(parts), errs)

    def _advance(self, groups: Groups, rows: Groups, changes: Updates) -> Rows:
        """Apply changes of some groups, all of a group's at one time.

        Args:
            groups: the different groups.
            rows: the group of each change.

        Returns:
            How the output changes.
        """
        ordered = self._ordered
        if self._stop is not None:
            before = self._top(groups, self._offset, self._stop)
            ordered.apply(rows, changes.columns, changes.diffs)
            return _sum((_negated(before), self._top(groups, self._offset, self._stop)))
        # Everything but the first rows: what is shown is read off the changes and what is hidden.
        before = self._top(groups, 0, self._offset)
        applied = ordered.apply(rows, changes.columns, changes.diffs)
        visible = np.maximum(applied.after, 0) - np.maximum(applied.before, 0)
        return _sum((before, (applied.entries, visible), _negated(self._top(groups, 0, self._offset))))

    def _top(self, groups: Groups, start: int, stop: int) -> Rows:
        """The rows of these groups from place ``start`` to place ``stop``."""
        if start >= stop:
            return _NOTHING
        listing = self._ordered.first(groups, stop)
        if not len(listing.entries):
            return _NOTHING
        shown = count_within(listing.counts, start, stop, listing.which if len(groups) > 1 else None)
        inside = (shown > 0).nonzero()[0]
        return listing.entries[inside], shown[inside]

    def _errors(self, groups: Entries, negative: Mask) -> dict[int, str]:
        """The error of each state in which the group has a row of negative multiplicity."""
        errors: dict[int, str] = {}
        for state in negative.nonzero()[0].tolist():
            key = show_key(self._groups, int(groups[state]))
            errors[state] = f"in the group {key} a row was deleted more often than inserted"
        return errors


def _negated(rows: Rows) -> Rows:
    return rows[0], -rows[1]


def _sum(parts: Sequence[Rows]) -> Rows:
    """Each row once, with the sum of its numbers, without those that cancel out."""
    present = [p for p in parts if len(p[0])]
    if not present:
        return _NOTHING
    entries = np.concatenate([e for e, _ in present])
    order = np.argsort(entries, kind="stable")
    entries = entries[order]
    starts = begins(entries).nonzero()[0]
    sums = np.add.reduceat(np.concatenate([d for _, d in present])[order], starts)
    changed = sums.nonzero()[0]
    return entries[starts[changed]], sums[changed]
