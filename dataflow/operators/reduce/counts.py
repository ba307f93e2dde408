"""Aggregates that only count: ``count``, ``any``, ``all``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....messages.types import SqlType
from ...columns.column import FixedColumn
from .accumulator import Accumulator, Argument, Block, Outcome


class Count(Accumulator):
    """How many values are not NULL."""

    __slots__ = ()

    def __init__(self, *, apart: bool) -> None:
        super().__init__(0, apart=apart)

    def is_told(self, argument: Argument) -> bool:
        return not self.width and argument.valid is None

    def _add(self, argument: Argument, block: Block) -> tuple[Block, Block | None]:
        return np.zeros((0, len(argument.diffs)), np.int64), None

    def _result(self, states: Block, counts: npt.NDArray[np.int64]) -> Outcome:
        return FixedColumn(SqlType.BIGINT, counts), None


class Truth(Accumulator):
    """``any`` (some value is true) or ``all`` (no value is false): from the number of true values."""

    __slots__ = ("_every",)

    def __init__(self, *, every: bool, apart: bool) -> None:
        super().__init__(1, apart=apart)
        self._every = every

    def _add(self, argument: Argument, block: Block) -> tuple[Block, Block | None]:
        assert isinstance(argument.column, FixedColumn)
        true = argument.column.values
        if argument.valid is not None:
            true = true & argument.valid
        return np.where(true, argument.diffs, 0)[None], None

    def _result(self, states: Block, counts: npt.NDArray[np.int64]) -> Outcome:
        values = states[0] == counts if self._every else states[0] > 0
        return FixedColumn(SqlType.BOOLEAN, values, self._validity(counts)), None
