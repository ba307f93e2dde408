"""Aggregates that are read off a group's ordered values: what each reads, and what it makes of it.

A reader computes the aggregate of many groups at once, from values that are sorted by group and then by value; only
user functions are called group by group.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....messages.scalars import UserFunction
from ....messages.types import NUMERIC_SCALE, SqlType
from ...arrangements.ordered import OrderedRows
from ...arrangements.runs import Groups
from ...columns.column import ArrowColumn, Column, FixedColumn, Indices, column_from_arrow, empty_column
from ...columns.packed_sort import begins
from ...columns.pieces import repeat
from ...columns.placement import spread
from . import limbs

Doubles = npt.NDArray[np.float64]

Read = tuple[Column, dict[int, str]]
"""An aggregate of each group (NULL for a group without values), and errors by position of the group."""


_MOST_ROWS = 1 << 40
"""A group of more rows than this is an error, so that places in many groups together can be counted in 64 bits."""
_MOST_REPEATED = 1 << 24
"""So many values of a group are laid out one by one; multiplicities are written quickly, memory is not."""


class WholeGroups:
    """All values of some groups, in order.

    Attributes:
        present: the positions of the groups that have values and are not too large.
        values: their different values, group by group.
        counts: how often each value is there.
        starts: where each group with values begins.
        sizes: how many values it has, counted with their multiplicities.
        too_large: the positions of the groups that have more than ``_MOST_ROWS`` values.
    """

    def __init__(self, ordered: OrderedRows, groups: Groups) -> None:
        listing = ordered.first(groups, None)
        which, entries, counts = listing.which, listing.entries, listing.counts
        self.too_large: list[int] = []
        if len(counts) and int(counts.max()) > _MOST_ROWS // len(counts):
            sizes = np.bincount(which, counts)
            large = sizes > _MOST_ROWS
            self.too_large = large.nonzero()[0].tolist()
            kept = (~large[which]).nonzero()[0]
            which, entries, counts = which[kept], entries[kept], counts[kept]
        self.values = ordered.rows.column(1, entries)
        self.counts = counts
        self.starts: Indices = begins(which).nonzero()[0]
        self.present: Indices = which[self.starts]
        self.sizes = np.add.reduceat(counts, self.starts) if len(which) else counts

    @cached_property
    def repeated(self) -> tuple[Column, npt.NDArray[np.int64], list[int]]:
        """Every value as often as it is there, the positions where each group begins, and the last one ends, and the
        groups (among those present) that are too large for this, which are laid out as if they had no values."""
        sizes, counts = self.sizes, self.counts
        large = sizes > _MOST_REPEATED
        if large.any():
            lengths = np.append(self.starts[1:], len(counts)) - self.starts
            counts = np.where(repeat(large, lengths), 0, counts)
            sizes = np.where(large, 0, sizes)
        bounds = np.append(0, np.cumsum(sizes))
        values = self.values
        if len(counts) != bounds[-1]:
            values = values.take(repeat(np.arange(len(counts)), counts))
        return values, bounds, large.nonzero()[0].tolist()

    @cached_property
    def doubles(self) -> Doubles:
        """The values as doubles."""
        return as_doubles(self.values)


class Reader(abc.ABC):
    """One aggregate.

    Attributes:
        type: of the aggregate.
    """

    def __init__(self, type: SqlType) -> None:
        self.type = type

    @abc.abstractmethod
    def read(self, ordered: OrderedRows, groups: Groups, whole: WholeGroups | None) -> Read:
        """The aggregate of each of some different groups; ``whole`` are all their values, if some reader needs them."""


class Extreme(Reader):
    """``min`` or ``max``: no more than the first or last value of a group is read."""

    def __init__(self, type: SqlType, *, greatest: bool) -> None:
        super().__init__(type)
        self._greatest = greatest

    def read(self, ordered: OrderedRows, groups: Groups, whole: WholeGroups | None) -> Read:
        listing = ordered.first(groups, 1, reverse=self._greatest)
        which, entries = listing.which, listing.entries
        if len(which) > 1:
            firsts = begins(which).nonzero()[0]
            which, entries = which[firsts], entries[firsts]
        return spread(ordered.rows.column(1, entries), which, len(groups)), {}


class WholeReader(Reader):
    """An aggregate that is computed from all values of a group."""

    def read(self, ordered: OrderedRows, groups: Groups, whole: WholeGroups | None) -> Read:
        assert whole is not None
        column, errors = self.compute(whole) if len(whole.present) else (empty_column(self.type), {})
        if len(whole.present) < len(groups):
            errors = {int(whole.present[i]): message for i, message in errors.items()}
        errors |= {position: _too_large(_MOST_ROWS) for position in whole.too_large}
        return spread(column, whole.present, len(groups)), errors

    @abc.abstractmethod
    def compute(self, groups: WholeGroups) -> Read:
        """The aggregate of every group that has values; there is one."""


class Percentile(WholeReader):
    """The value at a fraction of the way through the group, interpolated between neighbours (``percentile_cont``)."""

    def __init__(self, fraction: float) -> None:
        super().__init__(SqlType.DOUBLE)
        self._fraction = fraction

    def compute(self, groups: WholeGroups) -> Read:
        ends = np.cumsum(groups.counts)
        bases = ends[groups.starts] - groups.counts[groups.starts]
        place = self._fraction * (groups.sizes - 1)
        below = np.floor(place)
        low = groups.doubles[ends.searchsorted(bases + below.astype(np.int64), "right")]
        high = groups.doubles[ends.searchsorted(bases + np.ceil(place).astype(np.int64), "right")]
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.where(low == high, low, low + (place - below) * (high - low))
        return FixedColumn(SqlType.DOUBLE, np.where(place == below, low, values)), {}


class Spread(WholeReader):
    """Variance or standard deviation, of a sample (NULL for a single value) or of a population; in two passes over the
    values less their mean (Chan, Golub and LeVeque's corrected algorithm)."""

    def __init__(self, *, population: bool, root: bool) -> None:
        super().__init__(SqlType.DOUBLE)
        self._population = population
        self._root = root

    def compute(self, groups: WholeGroups) -> Read:
        values, counts, starts, sizes = groups.doubles, groups.counts, groups.starts, groups.sizes
        lengths = np.append(starts[1:], len(counts)) - starts
        with np.errstate(invalid="ignore", over="ignore"):
            means = np.add.reduceat(values * counts, starts) / sizes
            apart = values - repeat(means, lengths)
            squares = np.add.reduceat(apart * apart * counts, starts)
            squares -= np.add.reduceat(apart * counts, starts) ** 2 / sizes
        degrees = sizes if self._population else sizes - 1
        results = np.maximum(squares, 0.0) / np.maximum(degrees, 1)
        if self._root:
            results = np.sqrt(results)
        valid = degrees > 0
        return FixedColumn(SqlType.DOUBLE, np.where(valid, results, 0.0), None if valid.all() else valid), {}


class Joined(WholeReader):
    """``string_agg``: the texts in order of their values, with a separator between them."""

    def __init__(self, separator: str) -> None:
        super().__init__(SqlType.TEXT)
        self._separator = pa.scalar(separator, pa.large_string())

    def compute(self, groups: WholeGroups) -> Read:
        column, bounds, large = groups.repeated
        lists = cast(Any, pa.LargeListArray).from_arrays(pa.array(bounds), column.to_arrow())
        errors = {position: _too_large(_MOST_REPEATED) for position in large}
        return ArrowColumn(SqlType.TEXT, cast(Any, pc).binary_join(lists, self._separator)), errors


class UserAggregate(WholeReader):
    """A user function: called with one Arrow array per group, of its values in order (NULLs at the end); it returns
    one value, a Python one or an Arrow scalar. What it raises becomes an error of the group."""

    def __init__(self, function: UserFunction, call: Callable[[pa.Array], object]) -> None:
        super().__init__(function.result.type)
        self._name = function.name
        self._call = call

    def compute(self, groups: WholeGroups) -> Read:
        column, bounds, large = groups.repeated
        array = column.to_arrow()
        results: list[pa.Array] = []
        errors = {position: _too_large(_MOST_REPEATED) for position in large}
        nothing = pa.nulls(1, self.type.arrow)
        for i in range(len(groups.present)):
            if i in errors:
                results.append(cast(pa.Array, nothing))
                continue
            begin, end = int(bounds[i]), int(bounds[i + 1])
            try:
                value = self._call(array.slice(begin, end - begin))
                if isinstance(value, pa.Scalar):
                    value = cast(Any, value).as_py()
                results.append(cast(pa.Array, pa.array([value], self.type.arrow)))
            except Exception as error:  # The user's code may raise anything; it becomes data of the dataflow.
                errors[i] = f"user function {self._name!r} failed: {type(error).__name__}: {error}"
                results.append(cast(pa.Array, nothing))
        return column_from_arrow(cast(pa.Array, pa.concat_arrays(results)), self.type), errors


def _too_large(limit: int) -> str:
    return f"a group has more than {limit} values, too many to compute an aggregate from all of them"


def as_doubles(column: Column) -> Doubles:
    """The values of a column of numbers, each rounded to the nearest double; arbitrary under a NULL."""
    if isinstance(column, FixedColumn):
        return column.values.astype(np.float64)
    assert isinstance(column, ArrowColumn)
    words = column.words()
    return limbs.to_doubles(limbs.split_words(words, 5), 0) / 10.0**NUMERIC_SCALE
