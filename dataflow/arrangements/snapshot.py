"""Reading an arrangement at one time: lookups, scans and the reason why it cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ...messages.frontiers import Frontier, Timestamp
from ..columns.column import Column
from ..columns.grouping import all_true, cluster, row_hash_numbers, row_hashes, rows_equal_one
from ..columns.hashing import Hashes
from .batch import Batch, Layout, cut
from .updates import Updates, concat_updates, error_messages, is_uniform, sum_groups, uniform

FEW_ROWS = 32
"""So many rows at most are worth being looked at one by one."""


class NegativeMultiplicity(Exception):
    """A collection holds a row fewer than zero times: something retracted what was never there.

    Attributes:
        row: the row at the Python surface.
        diff: its multiplicity.
    """

    def __init__(self, row: tuple[object, ...], diff: int) -> None:
        super().__init__(f"the row {row!r} has the multiplicity {diff}: it was deleted more often than it was inserted")
        self.row = row
        self.diff = diff


class Snapshot(msgspec.Struct, frozen=True, eq=False):
    """An immutable state of an arrangement: oks and errs of the same moment, readable at ``since <= time < upper``.

    Attributes:
        types: SQL types of the visible columns; batches may hold computed key columns behind them.
    """

    layout: Layout
    arity: int
    oks: tuple[Batch, ...]
    errs: tuple[Batch, ...]
    since: Timestamp
    upper: Frontier

    def lookup(self, keys: Sequence[Column], time: Timestamp) -> Updates | None:
        """The rows whose key equals any row of ``keys`` (columns side by side, distinct rows), with their
        multiplicities at ``time``; None when there are none.

        Raises:
            NegativeMultiplicity: of one of these rows.
        """
        size = len(keys[0]) if keys else 1
        if size == 1:
            return self._lookup_one(keys, time)
        hashes = row_hashes(keys, size)
        parts: list[tuple[Hashes, Updates]] = []
        for batch in self.oks:
            _, rows = batch.find(keys, hashes)
            if len(rows):
                parts.append((batch.order.take(rows), batch.updates.take(rows)))
        return self._settle(*_gather(parts), len(parts), time) if parts else None

    def _lookup_one(self, keys: Sequence[Column], time: Timestamp) -> Updates | None:
        """The same for a single key: its rows are a range of every batch, so they are gathered as they lie, and
        compared with the key only then, all at once."""
        (number,) = row_hash_numbers(keys, 1)
        parts: list[tuple[Hashes, Updates]] = []
        for batch in self.oks:
            begin, end = batch.range_of(number)
            if end - begin == len(batch):
                parts.append((batch.order, batch.updates))
            elif begin < end:
                parts.append((batch.order[begin:end], batch.updates.slice(begin, end)))
        if not parts:
            return None
        order, updates = _gather(parts)
        same = rows_equal_one(self.layout.key_of(updates.columns), keys, len(order))
        if not all_true(same):
            order, updates = order[same], updates.filter(same)
        return self._settle(order, updates, len(parts), time) if len(order) else None

    def few_rows(self, key: Sequence[Column], time: Timestamp) -> list[tuple[Any, ...]] | None:
        """The rows with this key (columns of one row, side by side) at ``time``, at the Python surface, each as often
        as it is there. None when they may be more than ``FEW_ROWS``, or a NaN is among them: :meth:`lookup` finds them.

        It takes a third of the time that vectors take for a handful of rows, which is what most lookups find.

        Raises:
            NegativeMultiplicity: of one of these rows.
        """
        (number,) = row_hash_numbers(key, 1)
        wanted = tuple([column.to_values()[0] for column in key])
        positions = self.layout.key
        net: dict[tuple[Any, ...], int] = {}
        size = 0
        for batch in self.oks:
            begin, end = batch.range_of(number)
            if begin == end:
                continue
            size += end - begin
            if size > FEW_ROWS:
                return None
            updates = batch.updates
            rows = zip(*[column.values_between(begin, end) for column in updates.columns], strict=True)
            times, diffs = updates.times[begin:end].tolist(), updates.diffs[begin:end].tolist()
            for row, at, diff in zip(rows, times, diffs, strict=True):
                if at <= time and tuple([row[position] for position in positions]) == wanted:
                    net[row] = net.get(row, 0) + diff
        # Equality is that of the columns, but for a NaN, which Python has equal none.
        if any(value != value for row in (wanted, *net) for value in row):
            return None
        result: list[tuple[Any, ...]] = []
        for row, diff in net.items():
            if diff == 1:
                result.append(row[: self.arity])
            elif diff < 0:
                raise NegativeMultiplicity(row[: self.arity], diff)
            else:
                result += [row[: self.arity]] * diff
        return result

    def scan(self, time: Timestamp) -> Scan:
        """All rows at ``time``, in slices."""
        return Scan(self, time)

    def error_at(self, time: Timestamp) -> str | None:
        """An error that the collection has at ``time``: then no row of it may be read."""
        if not self.errs:
            return None
        found = concat_updates([b.updates for b in self.errs]).before(time + 1).at(time).consolidate()
        if not len(found):
            return None
        messages = error_messages(found)
        positive = found.diffs > 0
        if positive.any():
            return min(m for m, p in zip(messages, positive.tolist(), strict=True) if p)
        return f"an error was retracted more often than it was raised: {min(messages)}"

    def _settle(self, order: Hashes, updates: Updates, parts: int, time: Timestamp) -> Updates | None:
        """Visible columns of consolidated rows at one time, from rows that lie in so many batches, and their order."""
        # Rows of one batch at one time were consolidated when it was made.
        settled = parts == 1 and is_uniform(updates.times)
        if (self.upper is None or self.upper > time + 1) and updates.times.max() > time:
            early = (updates.times <= time).nonzero()[0]
            if not len(early):
                return None
            order, updates = order.take(early), updates.take(early)
        if settled:
            updates = updates.at(time)
        else:
            # What is sorted in pieces is sorted by merging them.
            permutation, starts = cluster(order, updates.columns, None, order.argsort(kind="stable"))
            rows, diffs = sum_groups(updates.diffs, permutation, starts)
            if not len(rows):
                return None
            updates = Updates(tuple([c.take(rows) for c in updates.columns]), uniform(time, len(rows)), diffs)
        if len(updates.columns) > self.arity:
            updates = updates.project(range(self.arity))
        if (updates.diffs[0] if is_uniform(updates.diffs) else updates.diffs.min()) < 0:
            worst = int(updates.diffs.argmin())
            row, _, diff = updates.slice(worst, worst + 1).to_tuples()[0]
            raise NegativeMultiplicity(row, diff)
        return updates


class Scan:
    """A resumable read of everything at one time. Slices are ranges of the order, so that all updates of a row come
    in the same slice and each slice is consolidated."""

    __slots__ = ("_done", "_positions", "_snapshot", "_time")

    def __init__(self, snapshot: Snapshot, time: Timestamp) -> None:
        self._snapshot = snapshot
        self._time = time
        self._positions = [0] * len(snapshot.oks)
        self._done = not snapshot.oks

    @property
    def done(self) -> bool:
        return self._done

    def step(self, fuel: int) -> Updates | None:
        """The next rows, from about ``fuel`` updates; None when they cancel out or all were read (see ``done``).

        Raises:
            NegativeMultiplicity: of one of these rows.
        """
        if self._done:
            return None
        batches = self._snapshot.oks
        ends = cut(batches, self._positions, fuel)
        parts = [
            (b.order[p:e], b.updates.slice(p, e))
            for b, p, e in zip(batches, self._positions, ends, strict=True)
            if e > p
        ]
        self._positions = ends
        self._done = all(e == len(b) for b, e in zip(batches, ends, strict=True))
        if not parts:
            return None
        return self._snapshot._settle(*_gather(parts), len(parts), self._time)  # pyright: ignore[reportPrivateUsage]

    def rest(self) -> Updates | None:
        """Everything that is left, at once."""
        return self.step(sum(len(b) for b in self._snapshot.oks) + 1)


def _gather(parts: Sequence[tuple[Hashes, Updates]]) -> tuple[Hashes, Updates]:
    """Rows of several batches one after the other, of which there is at least one."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([order for order, _ in parts]), concat_updates([updates for _, updates in parts])
