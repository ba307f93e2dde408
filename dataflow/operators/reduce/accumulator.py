"""Accumulators: aggregates whose state is a fixed number of sums over a group's rows.

Invariant: the state of a group is linear in the multiplicities of its rows, and exact; what is inserted and deleted
again leaves no trace.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrangements.updates import Diffs
from ...columns.column import Column, Mask

Block = npt.NDArray[np.int64]
"""``(width, n)`` numbers of one accumulator: by entry, by row of a chunk, or by state."""


@dataclass(slots=True, eq=False)
class Failure:
    """The states in which an aggregate has no value, and why."""

    where: Mask
    message: str


Outcome = tuple[Column, Failure | None]
"""An aggregate's value in every state."""


class Argument:
    """An aggregate's input: one value per row of a chunk (None for ``count(*)``), and the rows' multiplicities."""

    __slots__ = ("column", "diffs", "valid")

    def __init__(self, column: Column | None, diffs: Diffs) -> None:
        self.column = column
        self.diffs = diffs
        self.valid = None if column is None else column.validity()

    def weight(self) -> int:
        """No less than the sum of the multiplicities' magnitudes, and close to it when they are alike."""
        diffs = self.diffs
        if not len(diffs):
            return 0
        if diffs.strides == (0,) or len(diffs) == 1:
            return abs(int(diffs[0])) * len(diffs)
        return max(int(diffs.max()), -int(diffs.min())) * len(diffs)


class Accumulator(abc.ABC):
    """One aggregate's part in the state of all groups.

    The last row of its block counts the values that are not NULL; it exists from the first NULL on. Until then the
    group's row count says as much, unless the accumulator is fed other rows than the group (``apart``).

    Attributes:
        width: rows of the block.
    """

    __slots__ = ("_counts", "width")

    def __init__(self, width: int, *, apart: bool) -> None:
        self._counts = apart
        self.width = width + apart

    def add(self, argument: Argument, block: Block, rows: npt.NDArray[np.int64]) -> tuple[Block, Block | None]:
        """What a chunk adds to the state.

        Args:
            block: this accumulator's state of all groups.
            rows: all groups' row counts.

        Returns:
            The changes by row, and the state in another layout when the present one does not hold it any more.
        """
        widened: Block | None = None
        if argument.valid is not None and not self._counts:
            self._counts = True
            self.width += 1
            block = widened = np.concatenate((block, rows[None]))
        changes, adapted = self._add(argument, block[:-1] if self._counts else block)
        if self._counts:
            diffs = argument.diffs if argument.valid is None else np.where(argument.valid, argument.diffs, 0)
            changes = np.concatenate((changes, diffs[None]))
            if adapted is not None:
                self.width = len(adapted) + 1
                widened = np.concatenate((adapted, block[-1:]))
        elif adapted is not None:
            self.width = len(adapted)
            widened = adapted
        return changes, widened

    def is_told(self, argument: Argument) -> bool:
        """Whether the row counts say all that there is to know, also after this chunk: nothing is to be added."""
        return False

    def result(self, states: Block, rows: npt.NDArray[np.int64]) -> Outcome:
        """The aggregate in each of some states.

        Args:
            states: this accumulator's numbers in them.
            rows: the group's row count in them; where it is not positive the result does not matter.
        """
        if self._counts:
            return self._result(states[:-1], states[-1])
        return self._result(states, rows)

    def is_zero(self, states: Block) -> Mask:
        """Whether nothing is accumulated in these states."""
        return np.logical_not(states.any(axis=0))

    def _validity(self, counts: npt.NDArray[np.int64]) -> Mask | None:
        """The validity of an aggregate that is NULL without values."""
        if not self._counts:
            # Every row has a value; where there are no rows there is no result.
            return None
        valid = counts != 0
        return None if valid.all() else valid

    @abc.abstractmethod
    def _add(self, argument: Argument, block: Block) -> tuple[Block, Block | None]:
        """As :meth:`add`, apart from the count of values."""

    @abc.abstractmethod
    def _result(self, states: Block, counts: npt.NDArray[np.int64]) -> Outcome:
        """As :meth:`result`, given the number of values that are not NULL."""
