"""What a join makes of the pairs of rows it finds, slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...messages.frontiers import Frontier
from ..arrangements.batch import Batch
from ..arrangements.updates import Times, Updates, concat_updates, take_numbers, uniform
from ..columns.column import Indices
from .match import match

SLICE = 1 << 18
"""Pairs are made, and put through the closure, so many at a time."""

MANY = 1 << 22
"""Rows of output that are worth an attempt to consolidate them: whoever reads them will do that anyway, unless they
are so many that holding them is the problem."""

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
    """Collects the output of one interval.

    Attributes:
        errs: updates of rows that failed in the closure.
    """

    __slots__ = ("_closure", "_limit", "_oks", "_size", "errs")

    def __init__(self, closure: Closure) -> None:
        self._closure = closure
        self._oks: list[Updates] = []
        self._size = 0
        self._limit = MANY
        self.errs: list[Updates | None] = []

    def add(self, left: Batch, right: Batch, left_bound: Frontier, right_bound: Frontier) -> None:
        """All pairs of rows with equal keys and times before these bounds."""
        check_left = left_bound is not None and (left.upper is None or left.upper > left_bound)
        check_right = right_bound is not None and (right.upper is None or right.upper > right_bound)
        for left_rows, right_rows in match(left, right, SLICE):
            if check_left or check_right:
                early = np.ones(len(left_rows), np.bool_)
                if check_left:
                    early &= left.updates.times[left_rows] < left_bound
                if check_right:
                    early &= right.updates.times[right_rows] < right_bound
                if not early.all():
                    left_rows, right_rows = left_rows[early], right_rows[early]
                    if not len(left_rows):
                        continue
            self._emit(left.updates, left_rows, right.updates, right_rows)

    def oks(self) -> Updates | None:
        """The updates of rows, not consolidated."""
        return concat_updates(self._oks) if self._oks else None

    def _emit(self, left: Updates, left_rows: Indices, right: Updates, right_rows: Indices) -> None:
        closure = self._closure
        columns = tuple(
            [
                left.columns[position].take(left_rows) if from_left else right.columns[position].take(right_rows)
                for from_left, position in closure.sources
            ]
        )
        times = _later(left.times, left_rows, right.times, right_rows)
        diffs = _product(left.diffs, left_rows, right.diffs, right_rows)
        oks: Updates | None = Updates(columns, times, diffs)
        if closure.program is not None:
            oks, errs = closure.program(oks)
            if errs is not None:
                self.errs.append(errs)
        if oks is None or not len(oks):
            return
        self._oks.append(oks)
        self._size += len(oks)
        if self._size > self._limit:
            merged = concat_updates(self._oks).consolidate()
            self._oks = [merged]
            self._size = len(merged)
            self._limit = max(MANY, 2 * self._size)


def _later(left: Times, left_rows: Indices, right: Times, right_rows: Indices) -> Times:
    if left.strides == (0,) and right.strides == (0,):
        return uniform(max(int(left[0]), int(right[0])), len(left_rows))
    return np.maximum(take_numbers(left, left_rows), take_numbers(right, right_rows))


def _product(left: Times, left_rows: Indices, right: Times, right_rows: Indices) -> Times:
    if left.strides == (0,):
        if right.strides == (0,):
            return uniform(int(left[0]) * int(right[0]), len(left_rows))
        return right[right_rows] if left[0] == 1 else left[0] * right[right_rows]
    if right.strides == (0,) and right[0] == 1:
        return left[left_rows]
    return left[left_rows] * take_numbers(right, right_rows)
