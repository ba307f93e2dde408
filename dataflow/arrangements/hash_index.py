"""A hash table from 64-bit hashes to entries (integers below 2**31), looked up and filled many rows at a time.

Open addressing with linear probing. Invariant: every entry in the table is reached from its hash's home place without
crossing an empty one. A hash is only a hint: whoever keeps the rows compares them (:class:`Keeper`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..columns.column import Column, Indices, Mask
from ..columns.grouping import all_true
from ..columns.hashing import Hashes

Entries = npt.NDArray[np.int64]

_EMPTY = -1
_DELETED = -2
_SMALLEST = 64


class Keeper(Protocol):
    """Keeps the row of every entry."""

    def matches(self, entries: Entries, columns: tuple[Column, ...], rows: Indices | None) -> Mask:
        """Whether the row equals the entry, for each pair of them; ``rows`` None means all rows in order."""
        ...

    def create(self, columns: tuple[Column, ...], rows: Indices) -> Entries:
        """New entries for these rows, after calling :meth:`HashIndex.reserve` when that takes more capacity."""
        ...


class HashIndex:
    """Finds the entries of rows."""

    __slots__ = ("_deleted", "_hashes", "_int_shift", "_mask", "_shift", "_table", "_used")
    _table: npt.NDArray[np.int32]

    def __init__(self) -> None:
        self._hashes: Hashes = np.zeros(0, np.uint64)
        self._clear(_SMALLEST)

    def __len__(self) -> int:
        return self._used

    def reserve(self, capacity: int) -> None:
        """Make room for entries below ``capacity``."""
        hashes = np.zeros(capacity, np.uint64)
        hashes[: len(self._hashes)] = self._hashes
        self._hashes = hashes

    def find(self, hashes: Hashes, keeper: Keeper, columns: tuple[Column, ...]) -> Entries:
        """The entry of every row; rows without one get it from the keeper, equal rows the same."""
        self._make_room(len(hashes))
        places = (hashes >> self._shift).view(np.int64)
        found = self._table[places].astype(np.int64)
        if self._used:
            same = self._hashes[found] == hashes
            # An empty place reads as an entry counted from the end, which says nothing.
            same &= found >= 0
            if all_true(same) and all_true(keeper.matches(found, columns, None)):
                return found
        return self._probe(hashes, places, found, keeper, columns)

    def find_one(self, number: int, keeper: Keeper, columns: tuple[Column, ...]) -> Entries:
        """The same for a single row, given its hash: what a tick of one row does to one group, mostly a known one."""
        entry = self._table.item(number >> self._int_shift)
        if entry >= 0 and self._hashes.item(entry) == number:
            known = np.array((entry,), np.int64)
            if keeper.matches(known, columns, None).item():
                return known
        return self.find(np.array((number,), np.uint64), keeper, columns)

    def _probe(
        self, hashes: Hashes, places: Indices, found: Entries, keeper: Keeper, columns: tuple[Column, ...]
    ) -> Entries:
        """As :meth:`find`, given the home places of the rows and what is there."""
        table = self._table
        result = np.full(len(hashes), _EMPTY, np.int64)
        pending = np.arange(len(hashes))
        while len(pending):
            if self._used:
                same = self._hashes[found] == hashes[pending]
                same &= found >= 0
                hits = same.nonzero()[0]
                if len(hits):
                    equal = keeper.matches(found[hits], columns, pending[hits])
                    hits = hits if equal.all() else hits[equal]
                    result[pending[hits]] = found[hits]
            step = np.ones(len(pending), np.int64)
            vacant = (found == _EMPTY).nonzero()[0]
            if len(vacant):
                # Several rows may want one place. The last one written gets it, the others look there again.
                step[vacant] = 0
                wanted = places[vacant]
                claims = pending[vacant]
                table[wanted] = claims
                won = table[wanted] == claims
                winners = claims[won]
                entries = keeper.create(columns, winners)
                self._hashes[entries] = hashes[winners]
                table[wanted[won]] = entries
                result[winners] = entries
                self._used += len(winners)
            unsettled = (result[pending] < 0).nonzero()[0]
            pending = pending[unsettled]
            places = (places[unsettled] + step[unsettled]) & self._mask
            found = table[places].astype(np.int64)
        return result

    def remove(self, entries: Entries) -> None:
        """Take entries out; all are in the table, and different."""
        if len(entries) == self._used:
            # A small table again: else each of a few rows that come and go would pay for as many as there once were.
            self._clear(_SMALLEST)
            return
        table = self._table
        places = (self._hashes[entries] >> self._shift).view(np.int64)
        wanted = entries
        while True:
            here = table[places] == wanted
            table[places[here]] = _DELETED
            if here.all():
                break
            away = ~here
            places = (places[away] + 1) & self._mask
            wanted = wanted[away]
        self._used -= len(entries)
        self._deleted += len(entries)

    def _clear(self, size: int) -> None:
        self._table = np.full(size, _EMPTY, np.int32)
        self._int_shift = 64 - (size.bit_length() - 1)
        self._shift = np.uint64(self._int_shift)
        self._mask = size - 1
        self._used = 0
        self._deleted = 0

    def _make_room(self, rows: int) -> None:
        """At least half of the table stays empty, also when all ``rows`` are new."""
        needed = self._used + rows
        if 2 * (needed + self._deleted) <= len(self._table):
            return
        size = len(self._table)
        while size < 3 * needed:
            size *= 2
        entries = self._table[self._table >= 0].astype(np.int64)
        self._clear(size)
        self._used = len(entries)
        table = self._table
        places = (self._hashes[entries] >> self._shift).view(np.int64)
        while len(entries):
            vacant = table[places] == _EMPTY
            table[places[vacant]] = entries[vacant]
            lost = (table[places] != entries).nonzero()[0]
            entries = entries[lost]
            places = (places[lost] + 1) & self._mask
