"""Batches: immutable, consolidated updates of an interval of time, sorted so that keys can be sought.

Invariant: rows are sorted by ``order``, a number per row whose upper half comes from the key's hash and whose lower
half from the rest of the row; equal rows are adjacent and in order of time; no two rows have equal values and time;
no multiplicity is zero. Different keys may share an upper half (32 bits: at a million keys about a hundred pairs do),
so whoever seeks a key compares the key columns of what is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import msgspec
import numpy as np

from ...messages.frontiers import Frontier, Timestamp
from ..columns.column import Column, Indices, Mask
from ..columns.grouping import all_true, cluster, row_hash_numbers, row_hashes, rows_equal
from ..columns.hashing import FEW, Hashes
from ..columns.pieces import repeat
from .updates import Updates, concat_updates, squeeze, sum_groups, take_numbers

_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFF_FFFF)
_UPPER = np.uint64(0xFFFF_FFFF_0000_0000)
_INT_UPPER, _INT_LOWER = int(_UPPER), int(_LOWER)


@dataclass(frozen=True)
class Layout:
    """Which columns of a batch are its key; the others are the rest of the row."""

    arity: int
    key: tuple[int, ...]

    @cached_property
    def rest(self) -> tuple[int, ...]:
        return tuple(i for i in range(self.arity) if i not in self.key)

    def key_of(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        return tuple([columns[k] for k in self.key])

    def order_numbers(self, columns: Sequence[Column], size: int) -> list[int]:
        """The number by which each row is placed, of a few rows (see ``hashing.FEW``)."""
        keys = row_hash_numbers([columns[k] for k in self.key], size)
        if not self.rest:
            return keys
        rests = row_hash_numbers([columns[r] for r in self.rest], size)
        return [key & _INT_UPPER | rest >> 32 for key, rest in zip(keys, rests, strict=True)]

    def order_of(self, columns: Sequence[Column], size: int) -> Hashes:
        """The number by which each row is placed."""
        if size <= FEW:
            return np.array(self.order_numbers(columns, size), np.uint64)
        key_columns = [columns[k] for k in self.key]
        if not self.rest:
            return row_hashes(key_columns, size)
        rest_columns = [columns[r] for r in self.rest]
        order = row_hashes(key_columns, size)
        order &= _UPPER
        rest = row_hashes(rest_columns, size)
        rest >>= _HALF
        order |= rest
        return order


class Batch(msgspec.Struct, frozen=True, eq=False):
    """The updates with ``lower <= time < upper``, readable from ``since`` on."""

    layout: Layout
    order: Hashes
    updates: Updates
    lower: Timestamp
    upper: Frontier
    since: Timestamp

    @staticmethod
    def build(layout: Layout, updates: Updates, lower: Timestamp, upper: Frontier, since: Timestamp = 0) -> Batch:
        """Sort and consolidate updates."""
        size = len(updates)
        if size <= FEW:
            numbers = layout.order_numbers(updates.columns, size)
            order = np.array(numbers, np.uint64)
            if len(set(numbers)) == size and 0 not in updates.diffs.tolist():
                return Batch._distinct(layout, order, numbers, updates, lower, upper, since)
        else:
            order = layout.order_of(updates.columns, size)
        return Batch._sorted(layout, order, updates, None, lower, upper, since)

    @staticmethod
    def _distinct(
        layout: Layout,
        order: Hashes,
        numbers: list[int],
        updates: Updates,
        lower: Timestamp,
        upper: Frontier,
        since: Timestamp,
    ) -> Batch:
        """Sort a few updates of rows that are all different: the output of a tick of one row, which everything waits
        for. There is nothing to consolidate, and often they are in order."""
        in_order = sorted(numbers)
        if in_order != numbers:
            rows = np.array([numbers.index(number) for number in in_order])
            order, updates = order.take(rows), updates.take(rows)
        return Batch(layout, order, updates, lower, upper, since)

    @staticmethod
    def _sorted(
        layout: Layout,
        order: Hashes,
        updates: Updates,
        permutation: Indices | None,
        lower: Timestamp,
        upper: Frontier,
        since: Timestamp,
    ) -> Batch:
        permutation, starts = cluster(order, updates.columns, updates.times, permutation)
        rows, diffs = sum_groups(updates.diffs, permutation, starts)
        columns = tuple(c.take(rows) for c in updates.columns)
        result = Updates(columns, squeeze(take_numbers(updates.times, rows)), squeeze(diffs))
        return Batch(layout, order.take(rows), result, lower, upper, since)

    @staticmethod
    def merge(batches: Sequence[Batch], since: Timestamp) -> Batch:
        """One batch from contiguous ones, with times before ``since`` advanced to it."""
        layout = batches[0].layout
        order = np.concatenate([b.order for b in batches])
        updates = concat_updates([b.updates for b in batches]).advance(since)
        # Stable sorting of sorted runs is a merge: linear in the rows.
        permutation = order.argsort(kind="stable")
        return Batch._sorted(layout, order, updates, permutation, batches[0].lower, batches[-1].upper, since)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def nbytes(self) -> int:
        return self.order.nbytes + self.updates.nbytes

    def slice(self, start: int, stop: int) -> Batch:
        """The rows from ``start`` to ``stop``, sharing memory."""
        return Batch(
            self.layout, self.order[start:stop], self.updates.slice(start, stop), self.lower, self.upper, self.since
        )

    def filter(self, mask: Mask) -> Batch:
        """The rows where the mask is true."""
        return Batch(self.layout, self.order[mask], self.updates.filter(mask), self.lower, self.upper, self.since)

    def advance(self, time: Timestamp) -> Batch:
        """The same rows, none before this time; rows that only differed in such times are *not* consolidated."""
        if self.lower >= time:
            return self
        return Batch(self.layout, self.order, self.updates.advance(time), self.lower, self.upper, self.since)

    def seek(self, key_hashes: Hashes) -> tuple[Indices, Indices]:
        """For each key hash the range of rows that may have that key, as ``(begin, end)`` positions."""
        order = cast(Any, self.order)  # NumPy's stubs lose the type of a search on the right
        return order.searchsorted(key_hashes & _UPPER), order.searchsorted(key_hashes | _LOWER, "right")

    def range_of(self, key_hash: int) -> tuple[int, int]:
        """The range of rows that may have the key with this hash, as ``(begin, end)``."""
        order = self.order
        size = len(order)
        half = key_hash >> 32
        # Most batches are of a tick and hold no such key, or nothing else.
        if not size or half < order.item(0) >> 32 or half > order.item(-1) >> 32:
            return 0, 0
        if order.item(0) >> 32 == order.item(-1) >> 32:
            return 0, size
        begin = int(order.searchsorted(np.uint64(half << 32)))
        for end in range(begin, min(begin + 2, size)):
            if order.item(end) >> 32 != half:
                return begin, end
        return begin, int(cast(Any, order).searchsorted(np.uint64(half << 32 | _INT_LOWER), "right"))

    def find(self, keys: Sequence[Column], key_hashes: Hashes) -> tuple[Indices, Indices]:
        """All pairs ``(i, row)`` for which key ``i`` equals the key of ``row``; a NULL equals a NULL."""
        begin, end = self.seek(key_hashes)
        if len(begin) == 1 and begin.item() == end.item():
            return _NONE, _NONE
        which, rows = expand(begin, end)
        if not len(which):
            return which, rows
        same = rows_equal(keys, which, self.layout.key_of(self.updates.columns), rows)
        if all_true(same):
            return which, rows
        return which[same], rows[same]


_NONE = np.zeros(0, np.intp)


def expand(begin: Indices, end: Indices) -> tuple[Indices, Indices]:
    """All pairs ``(i, position)`` with ``begin[i] <= position < end[i]``."""
    counts = end - begin
    total = int(counts.sum())
    if len(counts) == 1:
        return np.zeros(total, np.intp), np.arange(int(begin[0]), int(end[0]))
    if total == 0:
        nothing = np.zeros(0, np.intp)
        return nothing, nothing
    which = repeat(np.arange(len(counts)), counts)
    rows = np.arange(total)
    rows += repeat(begin - (counts.cumsum() - counts), counts)
    return which, rows


def cut(batches: Sequence[Batch], begins: Sequence[int], fuel: int) -> list[int]:
    """Where to stop reading each batch, from ``begins`` on, to read about ``fuel`` rows of all of them together.

    The batches stop at the same point of the order, so that all updates of a row come in one slice.
    """
    remaining = [len(b) - p for b, p in zip(batches, begins, strict=True)]
    total = sum(remaining)
    if total <= fuel:
        return [len(b) for b in batches]
    largest = max(range(len(remaining)), key=remaining.__getitem__)
    batch = batches[largest]
    share = max(1, fuel * remaining[largest] // total)
    bound = batch.order[min(begins[largest] + share, len(batch)) - 1]
    return [int(cast(Any, b.order).searchsorted(bound, "right")) for b in batches]
