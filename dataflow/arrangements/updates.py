"""Updates ``(row, time, diff)`` in columns: what streams carry, in no particular order.

Multiplicities are 64-bit integers that wrap around, so a sum or a product that leaves their range on the way is right
again once the result is within it; one that stays outside cannot be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from ...messages.frontiers import Frontier, Timestamp
from ...messages.types import SqlType
from ..columns.column import ArrowColumn, Column, Indices, Mask, column_from_values, concat_columns, empty_column
from ..columns.grouping import all_true, cluster, row_hashes

Times = npt.NDArray[np.int64]
Diffs = npt.NDArray[np.int64]

ERROR_TYPES = (SqlType.TEXT,)
"""The columns of a stream of errors: the message."""


_INT64 = np.dtype(np.int64)
_STRIDE_0 = (0,)
_MOST = 1 << 59


def uniform(value: int, size: int) -> npt.NDArray[np.int64]:
    """``size`` times the same number, without memory for them: an int64 array of stride 0."""
    # The operators of a tick ask for the same few numbers, and a slice takes a sixth of the time of a new array.
    return _endless(value)[:size]


@lru_cache(maxsize=256)
def _endless(value: int) -> npt.NDArray[np.int64]:
    return np.ndarray((_MOST,), _INT64, np.int64(value), 0, _STRIDE_0)


def is_uniform(array: npt.NDArray[np.int64]) -> bool:
    """Whether the array is known to hold one number only (stride 0, or no more than one element)."""
    return array.strides == (0,) or len(array) < 2


def squeeze(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same numbers, without memory for them when they are all one."""
    if len(array) > 1 and array.strides != (0,) and array[0] == array[-1] and all_true(array == array[0]):
        return uniform(int(array[0]), len(array))
    return array


class Updates:
    """Columns side by side with a time and a multiplicity per row. Immutable."""

    __slots__ = ("columns", "diffs", "times")
    columns: tuple[Column, ...]
    times: Times
    diffs: Diffs

    def __init__(self, columns: tuple[Column, ...], times: Times, diffs: Diffs) -> None:
        self.columns = columns
        self.times = times
        self.diffs = diffs

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"Updates({self.to_tuples()!r})"

    @staticmethod
    def of(columns: tuple[Column, ...], time: Timestamp, diff: int = 1, size: int | None = None) -> Updates:
        """Rows that all have the same time and multiplicity; ``size`` is needed when there are no columns."""
        n = len(columns[0]) if size is None else size
        return Updates(columns, uniform(time, n), uniform(diff, n))

    def to_tuples(self) -> list[tuple[tuple[object, ...], int, int]]:
        """``(row, time, diff)`` at the Python surface."""
        rows = zip(*(c.to_values() for c in self.columns), strict=True) if self.columns else [()] * len(self)
        return list(zip(rows, self.times.tolist(), self.diffs.tolist(), strict=True))

    @property
    def types(self) -> tuple[SqlType, ...]:
        return tuple(c.type for c in self.columns)

    @property
    def nbytes(self) -> int:
        own = sum(a.nbytes for a in (self.times, self.diffs) if a.strides != (0,))
        return own + sum(c.nbytes for c in self.columns)

    def take(self, indices: Indices) -> Updates:
        columns = tuple([c.take(indices) for c in self.columns])
        return Updates(columns, take_numbers(self.times, indices), take_numbers(self.diffs, indices))

    def filter(self, mask: Mask) -> Updates:
        return self.take(mask.nonzero()[0])

    def slice(self, start: int, stop: int) -> Updates:
        return Updates(
            tuple([c.slice(start, stop) for c in self.columns]), self.times[start:stop], self.diffs[start:stop]
        )

    def owned(self) -> Updates:
        """The same rows, in memory that is not part of something larger."""
        times, diffs = (a if a.base is None or a.strides == (0,) else a.copy() for a in (self.times, self.diffs))
        return Updates(tuple([c.owned() for c in self.columns]), times, diffs)

    def project(self, positions: Sequence[int]) -> Updates:
        return Updates(tuple([self.columns[p] for p in positions]), self.times, self.diffs)

    def negate(self) -> Updates:
        diffs = uniform(-int(self.diffs[0]), len(self)) if len(self) and self.diffs.strides == (0,) else -self.diffs
        return Updates(self.columns, self.times, diffs)

    def at(self, time: Timestamp) -> Updates:
        """The same rows, all at this time."""
        return Updates(self.columns, uniform(time, len(self)), self.diffs)

    def advance(self, time: Timestamp) -> Updates:
        """The same rows, none before this time."""
        if self.times.strides == (0,):
            return self.at(time) if len(self) and self.times[0] < time else self
        return Updates(self.columns, squeeze(np.maximum(self.times, time)), self.diffs)

    def before(self, upper: Frontier) -> Updates:
        """The updates with ``time < upper``."""
        if upper is None or not len(self):
            return self
        if self.times.strides == (0,):
            return self if self.times[0] < upper else self.slice(0, 0)
        early = self.times < upper
        return self if all_true(early) else self.filter(early)

    def consolidate(self) -> Updates:
        """No two rows with equal values and time, and no multiplicity of zero."""
        n = len(self)
        if n == 0:
            return self
        if n == 1:
            return self if self.diffs[0] else self.slice(0, 0)
        permutation, starts = cluster(row_hashes(self.columns, n), self.columns, self.times)
        rows, diffs = sum_groups(self.diffs, permutation, starts)
        return Updates(tuple(c.take(rows) for c in self.columns), take_numbers(self.times, rows), diffs)


def sum_groups(diffs: Diffs, permutation: Indices, starts: Indices | None) -> tuple[Indices, Diffs]:
    """The first row of each group of equal rows (as ``cluster`` finds them) and the sum of its multiplicities, without
    the groups whose sum is zero."""
    if starts is None:
        sums = take_numbers(diffs, permutation)
        rows = permutation
    else:
        if diffs.strides == (0,):
            sums = np.empty_like(starts)
            sums[:-1] = starts[1:]
            sums[-1] = len(diffs)
            sums -= starts
            sums *= diffs[0]
        else:
            sums = np.add.reduceat(diffs.take(permutation), starts)
        rows = permutation.take(starts)
    alive = sums.nonzero()[0]
    if len(alive) == len(sums):
        return rows, sums
    return rows.take(alive), sums.take(alive)


def take_numbers(numbers: npt.NDArray[np.int64], rows: Indices) -> npt.NDArray[np.int64]:
    """``numbers[rows]``, of stride 0 when ``numbers`` is."""
    if numbers.strides == (0,):
        size = len(rows)
        return numbers[:size] if size <= len(numbers) else uniform(numbers.item(0), size)
    return numbers.take(rows)


def concat_updates(parts: Sequence[Updates]) -> Updates:
    """One after the other; there is at least one, and all have the same types."""
    first = parts[0]
    if len(parts) == 1:
        return first
    columns = tuple([concat_columns(some) for some in zip(*[p.columns for p in parts], strict=True)])
    return Updates(columns, _concat_numbers([p.times for p in parts]), _concat_numbers([p.diffs for p in parts]))


def _concat_numbers(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    size = 0
    one: int | None = None
    for array in arrays:
        if not len(array):
            continue
        number = array.item(0)
        if one is None:
            one = number
        if number != one or not is_uniform(array):
            return np.concatenate(arrays)
        size += len(array)
    return uniform(0 if one is None else one, size)


def empty_updates(types: Sequence[SqlType]) -> Updates:
    """No updates."""
    nothing = uniform(0, 0)
    return Updates(tuple(empty_column(t) for t in types), nothing, nothing)


def error_updates(messages: Sequence[str], times: Times, diffs: Diffs) -> Updates:
    """A stream's errors: one message per update."""
    return Updates((column_from_values(list(messages), SqlType.TEXT),), times, diffs)


def error_messages(errors: Updates) -> list[str]:
    """The messages of a stream's errors."""
    return cast(list[str], cast(ArrowColumn, errors.columns[0]).array.to_pylist())


class Chunk(msgspec.Struct, frozen=True, eq=False):
    """All changes of a stream with ``lower <= time < upper``; chunks of one stream are contiguous. One whose ``upper``
    is its ``lower`` has some of the changes from there on, and the next one the others.

    ``None`` stands for no changes, so that an interval in which nothing happens costs nothing. (A msgspec struct, as
    the other values made for every interval are: a frozen dataclass takes seven times as long to make.)
    """

    lower: Timestamp
    upper: Frontier
    oks: Updates | None = None
    errs: Updates | None = None

    @property
    def size(self) -> int:
        """How many updates of rows these are."""
        return 0 if self.oks is None else len(self.oks.times)


def concat_optional(parts: Sequence[Updates | None]) -> Updates | None:
    """The updates of several streams together; None when there are none."""
    present = [p for p in parts if p is not None and len(p)]
    return concat_updates(present) if present else None
