"""Ordered rows: the rows of many groups, each group's in an order, read from either end.

This is what ``min``, ``max``, top-k and every aggregate that is computed from its whole group keep. It is private to
one operator, so it holds the present only and changes in place:

* every different row of a group has an entry in a :class:`RowTable`, with its multiplicity beside it;
* *runs* are arrays of entries sorted by group and order. A new row goes into a new run, and runs of similar size are
  merged; a row whose multiplicity becomes zero stays where it is, *dead*, and comes back to life when it is inserted
  again.

Invariant: every row that is not gone is in exactly one run. So the first live rows of a group are among the first live
ones of each run, and reading them takes no more than a few rows of each, whatever the size of the group. Dead rows
that a read passes over are charged to their run; a run whose charge exceeds its size is rewritten without them. A read
therefore costs, amortized, O(sqrt(n)) even when a group is deleted row by row from its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...messages.types import SqlType
from ..columns.column import Column, FixedColumn, Indices, Mask
from ..columns.pieces import add_at
from ..columns.sorting import SortKey, sort_rows
from .batch import expand
from .hash_index import Entries
from .row_store import grown
from .row_table import RowTable, different_entries
from .runs import Groups, Run, RunMerge

Counts = npt.NDArray[np.int64]

_CLEAN_FROM = 256
"""Charges and dead rows below this are not worth a rewrite."""
_LOOSE_RUNS = 6
_LOOSE_ROWS = 1024
"""So many runs, of so few rows together, may trail behind unmerged."""
_AT_ONCE = 1 << 14
_LEAST_FUEL = 2048
"""Rows that are merged at once, and the least that a change merges otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Live rows of some groups, in order.

    Attributes:
        which: the position of the row's group among those asked for; ascending.
        entries: the rows, in their group's order.
        counts: their multiplicities.
    """

    which: Indices
    entries: Entries
    counts: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """Different rows, and their multiplicities before and after a change."""

    entries: Entries
    before: Counts
    after: Counts


class OrderedRows:
    """The rows of many groups.

    Args:
        types: the columns of a row.
        keys: the order; ties are broken by the rest of the row.

    Attributes:
        rows: every row under an entry: the group's number, then the columns.
    """

    __slots__ = ("_counts", "_dead", "_gone", "_keys", "_merge", "_negative", "_present", "_runs", "_sizes", "rows")

    def __init__(self, types: Sequence[SqlType], keys: Sequence[SortKey]) -> None:
        self.rows = RowTable((SqlType.BIGINT, *types))
        self._keys = tuple(keys)
        self._counts: Counts = np.zeros(self.rows.capacity, np.int64)
        self._present: Mask = np.zeros(self.rows.capacity, np.bool_)
        self._runs: list[Run] = []
        self._merge: RunMerge | None = None
        self._dead = 0
        self._gone: list[Entries] = []
        self._sizes: Counts = np.zeros(0, np.int64)
        self._negative: Counts = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def capacity(self) -> int:
        """Above all groups that there is room for."""
        return len(self._sizes)

    def reserve(self, groups: int) -> None:
        """Make room for groups with numbers below ``groups``."""
        if groups > len(self._sizes):
            self._sizes = grown(self._sizes, groups)
            self._negative = grown(self._negative, groups)

    def is_negative(self, groups: Groups) -> Mask:
        """Whether a group has a row of negative multiplicity."""
        return self._negative[groups] > 0

    def is_empty(self, groups: Groups) -> Mask:
        """Whether a group has no rows, of any multiplicity."""
        return self._sizes[groups] == 0

    def apply(self, groups: Groups, columns: Sequence[Column], diffs: Counts) -> Applied:
        """Add multiplicities to rows of groups.

        The entries that this touches, and those of earlier listings, can be read until the next call.
        """
        table = self.rows
        if self._gone:
            table.release(np.concatenate(self._gone))
            self._gone.clear()
        located = table.locate((FixedColumn(SqlType.BIGINT, groups), *columns), len(groups))
        if table.capacity > len(self._counts):
            self._counts = grown(self._counts, table.capacity)
            self._present = grown(self._present, table.capacity)
        entries = different_entries(located, table.capacity)
        counts = self._counts
        before = counts[entries]
        add_at(counts, located, diffs)
        after = counts[entries]
        self._count(self._sizes, entries, before != 0, after != 0)
        self._count(self._negative, entries, before < 0, after < 0)
        old = self._present[entries]
        self._dead += int(np.count_nonzero(old & (after == 0))) - int(np.count_nonzero(old & (before == 0)))
        if not old.all():
            self._enter(entries[~old])
        self._tidy(max(_LEAST_FUEL, 8 * len(entries)))
        return Applied(entries, before, after)

    def first(self, groups: Groups, need: int | None, *, reverse: bool = False) -> Listing:
        """The first live rows of these groups (different ones), or the last.

        Args:
            need: so many rows (one or more) of each group, counted with their multiplicities; None for all. What the
                listing has beyond them may have gaps.
            reverse: from the end of the order; the listing is reversed, too.
        """
        found: list[tuple[Indices, Entries]] = []
        for run in tuple(self._runs):
            found += self._scan(run, groups, need, reverse)
        if not found:
            nothing = np.zeros(0, np.int64)
            return Listing(nothing, nothing, nothing)
        which = np.concatenate([w for w, _ in found])
        entries = np.concatenate([e for _, e in found])
        if len(found) > 1:
            sign = -1 if reverse else 1
            order = sort_rows(sign * which, self.rows.take(entries)[1:], self._keys)
            if reverse:
                order = order[::-1]
            which, entries = which[order], entries[order]
        return Listing(which, entries, self._counts[entries])

    def _scan(self, run: Run, groups: Groups, need: int | None, reverse: bool) -> list[tuple[Indices, Entries]]:
        """The first live rows of each group in one run, part after part, each sorted by group and in order."""
        begin = run.groups.searchsorted(groups)
        end = run.groups.searchsorted(groups, "right")
        active = (begin < end).nonzero()[0]
        if not len(active):
            return []
        parts: list[tuple[Indices, Entries]] = []
        if len(active) < len(begin):
            begin, end = begin[active], end[active]
        width = len(run) if need is None else min(need, len(run))
        missing = np.full(len(active), width if need is None else need)
        passed = 0
        while len(active):
            if reverse:
                middle = np.maximum(end - width, begin)
                which, places = expand(middle, end)
                places = (end + middle - 1)[which] - places
                end = middle
            else:
                middle = np.minimum(begin + width, end)
                which, places = expand(begin, middle)
                begin = middle
            entries = run.entries[places]
            counts = self._counts[entries]
            live = counts > 0
            if not live.all():
                passed += len(live) - int(np.count_nonzero(live))
                which, entries, counts = which[live], entries[live], counts[live]
            if len(entries):
                parts.append((active[which], entries))
                np.subtract.at(missing, which, counts)
            more = ((missing > 0) & (begin < end)).nonzero()[0]
            active, begin, end, missing = active[more], begin[more], end[more], missing[more]
            width *= 2
        run.charge += passed
        if run.charge > len(run) + _CLEAN_FROM and (self._merge is None or run not in self._merge.inputs):
            self._clean(run)
        return parts

    def _count(self, counters: Counts, entries: Entries, before: Mask, after: Mask) -> None:
        """Keep count, for every group, of the rows for which something is true."""
        change = after.view(np.int8) - before.view(np.int8)
        changed = change.nonzero()[0]
        if len(changed):
            add_at(counters, self.groups_of(entries[changed]), change[changed])

    def groups_of(self, entries: Entries) -> Groups:
        """The group of each of some rows."""
        column = self.rows.column(0, entries)
        assert isinstance(column, FixedColumn)
        return column.values

    def _enter(self, entries: Entries) -> None:
        """Make a run of new entries."""
        alive = self._counts[entries] != 0
        if not alive.all():
            self._gone.append(entries[~alive])
            entries = entries[alive]
            if not len(entries):
                return
        self._present[entries] = True
        self._runs.append(self._sorted(entries))

    def _sorted(self, entries: Entries) -> Run:
        groups, *columns = self.rows.take(entries)
        assert isinstance(groups, FixedColumn)
        order = sort_rows(groups.values, columns, self._keys)
        return Run(groups.values[order], entries[order])

    def _tidy(self, fuel: int) -> None:
        """Merge what is due: at once when it is little, else about ``fuel`` rows of it."""
        merge = self._merge
        free = self._runs.index(merge.inputs[-1]) + 1 if merge is not None else 0
        due = self._due(free)
        if due is not None:
            inputs = tuple(self._runs[due:])
            size = sum([len(r) for r in inputs])
            if size <= _AT_ONCE:
                self._advance(RunMerge(inputs), size)
            elif merge is None:
                merge = self._merge = RunMerge(inputs)
        if merge is not None and self._advance(merge, fuel):
            self._merge = None

    def _due(self, free: int) -> int | None:
        """From which run on to merge, those from ``free`` on being in no merge yet."""
        runs = self._runs
        if not free and self._dead > _CLEAN_FROM and 2 * self._dead > len(self.rows):
            return 0
        due: int | None = None
        tail = 0
        for i in range(len(runs) - 1, free - 1, -1):
            size = len(runs[i])
            if 2 * tail >= size and (len(runs) - i >= _LOOSE_RUNS or tail >= _LOOSE_ROWS):
                due = i
            tail += size
        return due

    def _advance(self, merge: RunMerge, fuel: int) -> bool:
        """Merge about ``fuel`` more rows; whether that was all."""
        entries = merge.take(fuel)
        live = self._counts[entries] != 0
        if not live.all():
            merge.dropped.append(entries[~live])
            entries = entries[live]
        merge.parts.append(self._sorted(entries))
        if not merge.done:
            return False
        at = self._runs.index(merge.inputs[0])
        merged = merge.result()
        self._runs[at : at + len(merge.inputs)] = [merged] if len(merged) else []
        if merge.dropped:
            # Some may have come back to life since.
            revived = self._without_dead(np.concatenate(merge.dropped))
            if len(revived):
                self._runs.append(self._sorted(revived))
        return True

    def _clean(self, run: Run) -> None:
        """Rewrite a run without its dead rows."""
        live = self._counts[run.entries] != 0
        self._without_dead(run.entries)
        position = self._runs.index(run)
        self._runs[position : position + 1] = [Run(run.groups[live], run.entries[live])] if live.any() else []

    def _without_dead(self, entries: Entries) -> Entries:
        """The entries that are not dead; those that are will be released."""
        live = self._counts[entries] != 0
        if live.all():
            return entries
        dead = entries[~live]
        self._present[dead] = False
        self._dead -= len(dead)
        self._gone.append(dead)
        return entries[live]
