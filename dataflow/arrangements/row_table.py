"""A table of different rows, each under an entry number that stays its own until it is released.

This is what operators keep state by: a group's key, a row and its count. Private to one operator: changed in place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...messages.types import SqlType
from ..columns.column import Column, Indices, Mask
from ..columns.grouping import row_hash_numbers, row_hashes
from ..columns.packed_sort import begins
from .hash_index import Entries, HashIndex
from .row_store import column_store, grown

_SLICE = 1 << 14
"""Rows looked up at a time: the table grows by what they add, not by how many they are."""
_FIRST_CAPACITY = 16


class RowTable:
    """Finds, and keeps, the entry number of every different row.

    Attributes:
        capacity: greater than every entry number ever given; arrays indexed by entry follow it.
    """

    __slots__ = ("_free", "_free_count", "_index", "_next", "_stores", "capacity")

    def __init__(self, types: Sequence[SqlType]) -> None:
        self._index = HashIndex()
        self._stores = tuple(column_store(t) for t in types)
        self._free: Entries = np.zeros(_FIRST_CAPACITY, np.int64)
        self._free_count = 0
        self._next = 0
        self.capacity = 0
        self._reserve(_FIRST_CAPACITY)

    def __len__(self) -> int:
        return len(self._index)

    def locate(self, columns: tuple[Column, ...], size: int) -> Entries:
        """The entry of each of ``size`` rows; new rows get new entries."""
        if size == 1:
            return self._index.find_one(row_hash_numbers(columns, 1)[0], self, columns)
        hashes = row_hashes(columns, size)
        if size <= _SLICE:
            return self._index.find(hashes, self, columns)
        parts: list[Entries] = []
        for start in range(0, size, _SLICE):
            stop = min(start + _SLICE, size)
            some = tuple([c.slice(start, stop) for c in columns])
            parts.append(self._index.find(hashes[start:stop], self, some))
        return np.concatenate(parts)

    def take(self, entries: Entries) -> tuple[Column, ...]:
        """The rows of these entries."""
        return tuple([s.take(entries) for s in self._stores])

    def column(self, position: int, entries: Entries) -> Column:
        """One column of the rows of these entries."""
        return self._stores[position].take(entries)

    def release(self, entries: Entries) -> None:
        """Forget these rows (all present, and different); their entries will be given to other rows."""
        self._index.remove(entries)
        for store in self._stores:
            store.release(entries)
        count = self._free_count + len(entries)
        if count > len(self._free):
            self._free = grown(self._free, 2 * count)
        self._free[self._free_count : count] = entries
        self._free_count = count

    def matches(self, entries: Entries, columns: tuple[Column, ...], rows: Indices | None) -> Mask:
        result: Mask | None = None
        for store, column in zip(self._stores, columns, strict=True):
            same = store.matches(entries, column if rows is None else column.take(rows))
            result = same if result is None else result & same
        return np.ones(len(entries), np.bool_) if result is None else result

    def create(self, columns: tuple[Column, ...], rows: Indices) -> Entries:
        kept = max(0, self._free_count - len(rows))
        entries = self._free[kept : self._free_count].copy()
        self._free_count = kept
        fresh = len(rows) - len(entries)
        if fresh:
            first = self._next
            self._next += fresh
            if self._next > self.capacity:
                self._reserve(max(self._next, 2 * self.capacity))
            entries = np.concatenate((entries, np.arange(first, self._next)))
        for store, column in zip(self._stores, columns, strict=True):
            store.write(entries, column.take(rows))
        return entries

    def _reserve(self, capacity: int) -> None:
        self.capacity = capacity
        self._index.reserve(capacity)
        for store in self._stores:
            store.reserve(capacity)


def different_entries(entries: Entries, capacity: int) -> Entries:
    """The different ones among some entries below ``capacity``: the same array when all are, else sorted."""
    if len(entries) == 1:
        return entries
    if 8 * len(entries) > capacity:
        present = np.zeros(capacity, np.bool_)
        present[entries] = True
        different = present.nonzero()[0]
    else:
        in_order = np.sort(entries)
        different = in_order[begins(in_order)]
    return entries if len(different) == len(entries) else different
