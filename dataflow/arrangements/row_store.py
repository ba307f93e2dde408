"""Columns that are written and read by entry: the values of a :class:`~.row_table.RowTable`.

Invariant: an entry's value is what was last written for it; what an entry holds that was not written, or was
released, is arbitrary.
"""

from __future__ import annotations

import abc
from bisect import bisect_right
from itertools import accumulate
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ...messages.types import SqlType
from ..columns.column import DTYPES, ArrowColumn, Column, FixedColumn, Indices, Mask, concat_columns, empty_column
from ..columns.placement import spread
from .hash_index import Entries

_WORTH_COMPACTING = 1024


class ColumnStore(abc.ABC):
    """One growing column."""

    __slots__ = ()

    @abc.abstractmethod
    def reserve(self, capacity: int) -> None:
        """Make room for entries below ``capacity``."""

    @abc.abstractmethod
    def write(self, entries: Entries, column: Column) -> None:
        """Set the entries' values, in the column's order."""

    @abc.abstractmethod
    def take(self, entries: Entries) -> Column:
        """The entries' values."""

    @abc.abstractmethod
    def release(self, entries: Entries) -> None:
        """These entries' values are not needed any more."""

    def matches(self, entries: Entries, column: Column) -> Mask:
        """Whether each entry's value equals the column's, as in grouping."""
        return self.take(entries).equal(column)


def column_store(type: SqlType) -> ColumnStore:
    """An empty store for values of a type."""
    return FixedStore(type) if type in DTYPES else ArrowStore(type)


class FixedStore(ColumnStore):
    """Values of a fixed-width type, in place."""

    __slots__ = ("_type", "_valid", "_values")

    def __init__(self, type: SqlType) -> None:
        self._type = type
        self._values: npt.NDArray[Any] = np.zeros(0, DTYPES[type])
        self._valid: Mask | None = None

    def reserve(self, capacity: int) -> None:
        self._values = grown(self._values, capacity)
        if self._valid is not None:
            self._valid = grown(self._valid, capacity)

    def write(self, entries: Entries, column: Column) -> None:
        assert isinstance(column, FixedColumn)
        self._values[entries] = column.values
        if column.valid is not None:
            if self._valid is None:
                self._valid = np.ones(len(self._values), np.bool_)
            self._valid[entries] = column.valid
        elif self._valid is not None:
            self._valid[entries] = True

    def take(self, entries: Entries) -> Column:
        valid = self._valid
        return FixedColumn(self._type, self._values[entries], None if valid is None else valid[entries])

    def matches(self, entries: Entries, column: Column) -> Mask:
        assert isinstance(column, FixedColumn)
        if self._valid is None and column.valid is None and column.values.dtype.kind != "f":
            return self._values[entries] == column.values
        return super().matches(entries, column)

    def release(self, entries: Entries) -> None:
        pass


class ArrowStore(ColumnStore):
    """Values of text, bytea or numeric: appended, in parts of geometrically decreasing size, and found by position.

    What is overwritten or released stays as garbage until it is more than the rest.
    """

    __slots__ = ("_garbage", "_parts", "_positions", "_starts", "_type")

    def __init__(self, type: SqlType) -> None:
        self._type = type
        self._parts: list[ArrowColumn] = []
        self._starts: list[int] = []
        self._positions = np.zeros(0, np.int64)
        self._garbage = 0

    def reserve(self, capacity: int) -> None:
        positions = np.full(capacity, -1, np.int64)
        positions[: len(self._positions)] = self._positions
        self._positions = positions

    def write(self, entries: Entries, column: Column) -> None:
        assert isinstance(column, ArrowColumn)
        total = self._total()
        self._garbage += int(np.count_nonzero(self._positions[entries] >= 0))
        self._positions[entries] = np.arange(total, total + len(entries))
        parts = self._parts
        parts.append(column)
        first = len(parts) - 1
        tail = len(column)
        while first and len(parts[first - 1]) <= 2 * tail:
            first -= 1
            tail += len(parts[first])
        if first < len(parts) - 1:
            parts[first:] = [cast(ArrowColumn, concat_columns(parts[first:]))]
        self._starts = list(accumulate([len(p) for p in parts[:-1]], initial=0))
        self._compact()

    def take(self, entries: Entries) -> Column:
        positions = self._positions[entries]
        if len(positions) == 1 and positions[0] >= 0:
            position = int(positions[0])
            part = bisect_right(self._starts, position) - 1
            position -= self._starts[part]
            return self._parts[part].slice(position, position + 1)
        if len(positions) and positions.min() < 0:
            written = (positions >= 0).nonzero()[0]
            return spread(self._at(positions[written]), written, len(positions))
        return self._at(positions)

    def release(self, entries: Entries) -> None:
        self._garbage += int(np.count_nonzero(self._positions[entries] >= 0))
        self._positions[entries] = -1

    def _total(self) -> int:
        return self._starts[-1] + len(self._parts[-1]) if self._parts else 0

    def _at(self, positions: Indices) -> Column:
        parts = self._parts
        if not len(positions):
            return empty_column(self._type)
        if len(parts) == 1:
            return parts[0].take(positions)
        which = np.searchsorted(self._starts, positions, "right") - 1
        local = positions - np.array(self._starts)[which]
        first = int(which[0])
        if (which == first).all():
            return parts[first].take(local)
        by_part = np.argsort(which, kind="stable")
        bounds = which[by_part].searchsorted(np.arange(len(parts) + 1))
        taken = [
            parts[i].take(local[by_part[bounds[i] : bounds[i + 1]]])
            for i in range(len(parts))
            if bounds[i] < bounds[i + 1]
        ]
        places = np.empty(len(by_part), np.intp)
        places[by_part] = np.arange(len(by_part))
        return concat_columns(taken).take(places)

    def _compact(self) -> None:
        if 2 * self._garbage <= self._total() or self._garbage < _WORTH_COMPACTING:
            return
        entries = (self._positions >= 0).nonzero()[0]
        column = self._at(self._positions[entries])
        assert isinstance(column, ArrowColumn)
        self._parts = [column]
        self._starts = [0]
        self._positions[entries] = np.arange(len(entries))
        self._garbage = 0


def grown(array: npt.NDArray[Any], capacity: int) -> npt.NDArray[Any]:
    """A copy with room for ``capacity`` elements, the new ones zero."""
    result = np.zeros(capacity, array.dtype)
    result[: len(array)] = array
    return result
