"""What a join makes of the pairs of rows it finds, slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...messages.frontiers import Frontier
from ..arrangements.batch import Batch
from ..arrangements.updates import Diffs, Times, Updates, concat_updates, squeeze, take_numbers
from ..columns.column import Column, Mask
from ..columns.grouping import all_true
from .match import Rows, match

SLICE = 1 << 18
"""Pairs are made, and put through the closure, so many at a time."""

MANY = 1 << 20
"""Rows of output that are passed on before there are more, also when nobody limits the work: a reduction that gets all
rows at once does less, unless they are so many that holding them is the problem."""

Program = Callable[[Updates], tuple[Updates | None, Updates | None]]
"""Oks to oks and errs."""


class Closure:
    """From a left and a right row to a row of the output.

    Args:
        arity: how many columns a left row has.
        columns: the columns to gather, by position in the left row followed by the right row.
        program: what to do with the gathered columns; None: they are the output.
    """

    __slots__ = ("program", "sources")

    def __init__(self, arity: int, columns: Sequence[int], program: Program | None) -> None:
        self.sources = tuple([(True, c) if c < arity else (False, c - arity) for c in columns])
        self.program = program


class JoinOutput:
    """Collects the output of one interval, or of a part of it.

    Args:
        fuel: so many rows are enough at a time (None: as many as are good at a time).

    """

    __slots__ = ("_closure", "_errs", "_fuel", "_many", "_oks", "_size")

    def __init__(self, closure: Closure, fuel: int | None) -> None:
        self._closure = closure
        self._fuel = fuel
        self._oks: list[Updates] = []
        self._size = 0
        self._many = MANY if fuel is None else SLICE
        self._errs: list[Updates] = []

    def add(self, left: Batch, right: Batch, left_bound: Frontier, right_bound: Frontier) -> Iterator[int]:
        """Add all pairs of rows with equal keys and times before these bounds, in slices, as far as the result is
        iterated over: the numbers of rows that were sought or found."""
        if left_bound is not None and left.upper is not None and left.upper <= left_bound:
            left_bound = None
        if right_bound is not None and right.upper is not None and right.upper <= right_bound:
            right_bound = None
        fuel = self._fuel
        if fuel is None or min(len(left), len(right)) <= fuel:
            return self._add(left, right, left_bound, right_bound)
        if len(left) <= len(right):
            parts = ((left.slice(start, start + fuel), right) for start in range(0, len(left), fuel))
        else:
            parts = ((left, right.slice(start, start + fuel)) for start in range(0, len(right), fuel))
        return (rows for some, others in parts for rows in self._add(some, others, left_bound, right_bound))

    def _add(self, left: Batch, right: Batch, left_bound: Frontier, right_bound: Frontier) -> Iterator[int]:
        for left_rows, right_rows in match(left, right, SLICE if self._fuel is None else min(self._fuel, SLICE)):
            if left_bound is not None or right_bound is not None:
                early = _before(left.updates.times, left_rows, left_bound)
                early &= _before(right.updates.times, right_rows, right_bound)
                if not all_true(early):
                    kept = early.nonzero()[0]
                    left_rows = kept if left_rows is None else left_rows.take(kept)
                    right_rows = kept if right_rows is None else right_rows.take(kept)
            if left_rows is None or right_rows is None or len(left_rows):
                self._emit(left.updates, left_rows, right.updates, right_rows)
            yield len(left if left_rows is None else left_rows)
        yield min(len(left), len(right))

    @property
    def is_large(self) -> bool:
        """Whether what was collected should be passed on before there is more."""
        return self._size > self._many

    def take(self) -> tuple[Updates | None, Updates | None]:
        """The updates of rows, and those of rows that failed in the closure, that were collected since the last call;
        not consolidated."""
        oks, errs = self._oks, self._errs
        self._oks, self._errs, self._size = [], [], 0
        return concat_updates(oks) if oks else None, concat_updates(errs) if errs else None

    def _emit(self, left: Updates, left_rows: Rows, right: Updates, right_rows: Rows) -> None:
        closure = self._closure
        columns: list[Column] = []
        for from_left, position in closure.sources:
            column, rows = (left.columns[position], left_rows) if from_left else (right.columns[position], right_rows)
            columns.append(column if rows is None else column.take(rows))
        times = _later(left.times, left_rows, right.times, right_rows)
        diffs = _product(left.diffs, left_rows, right.diffs, right_rows)
        oks: Updates | None = Updates(tuple(columns), times, diffs)
        if closure.program is not None:
            oks, errs = closure.program(oks)
            if errs is not None:
                self._errs.append(errs)
                self._size += len(errs)
        if oks is None or not len(oks):
            return
        self._oks.append(oks)
        self._size += len(oks)


def _take(numbers: Times, rows: Rows) -> Times:
    return numbers if rows is None else take_numbers(numbers, rows)


def _before(times: Times, rows: Rows, bound: Frontier) -> Mask:
    taken = _take(times, rows)
    return np.ones(len(taken), np.bool_) if bound is None else taken < bound


def _later(left: Times, left_rows: Rows, right: Times, right_rows: Rows) -> Times:
    if left.strides == (0,) and right.strides == (0,):
        return _take(left, left_rows) if left[0] >= right[0] else _take(right, right_rows)
    return np.maximum(_take(left, left_rows), _take(right, right_rows))


def _product(left: Diffs, left_rows: Rows, right: Diffs, right_rows: Rows) -> Diffs:
    if left.strides == (0,) and left[0] == 1:
        return _take(right, right_rows)
    if right.strides == (0,) and right[0] == 1:
        return _take(left, left_rows)
    product = _take(left, left_rows) * _take(right, right_rows)
    return squeeze(product)
