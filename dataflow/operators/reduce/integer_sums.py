"""``sum`` and ``avg`` of integers and of numeric: exact, and an error where the result's type cannot hold the sum.

The state is one 64-bit number per group for as long as bounds show that it holds every sum; then five limbs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....messages.types import NUMERIC_PRECISION, SqlType
from ...columns.column import ArrowColumn, FixedColumn, Mask
from . import limbs
from .accumulator import Accumulator, Argument, Block, Failure, Outcome

Int64s = npt.NDArray[np.int64]

_LIMIT = 1 << 62
"""No number of the state may reach this; numbers in between are sums of two below it."""
_HEAVY = 1 << 29
"""Multiplicities that are together less leave a limb's product within the limit."""
_LIMBS = 5
_NUMERIC_LIMIT: int = 10**NUMERIC_PRECISION
_NUMERIC_TOP = _NUMERIC_LIMIT >> 96


class IntegerSum(Accumulator):
    """The sum of integers (as bigint) or of numeric."""

    __slots__ = ("_bound", "_limbs", "_numeric")

    def __init__(self, type: SqlType, *, apart: bool) -> None:
        super().__init__(1, apart=apart)
        self._numeric = type is SqlType.NUMERIC
        self._limbs = 1
        self._bound = 0

    def _add(self, argument: Argument, block: Block) -> tuple[Block, Block | None]:
        words: npt.NDArray[np.uint64] | None = None
        if self._numeric:
            words, values = _numeric_values(argument)
        else:
            values = _integer_values(argument)
        weight = argument.weight()
        adapted: Block | None = None
        if self._limbs == 1:
            if words is None:
                growth = _magnitude(values) * weight
                if self._bound + growth >= _LIMIT:
                    self._bound = _magnitude(block[0])
                if self._bound + growth < _LIMIT:
                    self._bound += growth
                    return (values * argument.diffs)[None], None
            self._limbs = _LIMBS
            self._bound = limbs.BASE
            block = adapted = limbs.split_integers(block[0], _LIMBS)
        digits = limbs.split_integers(values, _LIMBS) if words is None else limbs.split_words(words, _LIMBS)
        if weight < _HEAVY:
            digits *= argument.diffs
            growth = limbs.BASE * weight
        else:
            digits = limbs.multiply(digits, argument.diffs, _LIMBS)
            growth = limbs.BASE * len(values)
        if self._bound + growth >= _LIMIT:
            limbs.carry(block)
            self._bound = limbs.BASE
        self._bound += growth
        return digits, adapted

    def _result(self, states: Block, counts: Int64s) -> Outcome:
        valid = self._validity(counts)
        if self._limbs == 1:
            if not self._numeric:
                return FixedColumn(SqlType.BIGINT, states[0], valid), None
            return numeric_column(_words(states[0]), valid), None
        sums = states.copy()
        limbs.carry(sums)
        if self._numeric:
            failed = _beyond_numeric(sums)
            failure = Failure(failed, "numeric out of range") if failed.any() else None
            words = limbs.join_words(sums)
            words[failed] = 0
            return numeric_column(words, valid), failure
        fits = limbs.fits_integer(sums)
        failure = None if fits.all() else Failure(~fits, "bigint out of range")
        return FixedColumn(SqlType.BIGINT, limbs.join_integers(sums), valid), failure

    def is_zero(self, states: Block) -> Mask:
        if self._limbs == 1:
            return super().is_zero(states)
        sums = states.copy()
        limbs.carry(sums[: self._limbs])
        return np.logical_not(sums.any(axis=0))


class IntegerAverage(IntegerSum):
    """The average: of integers as double, of numeric as numeric (rounded half away from zero)."""

    __slots__ = ()

    def _result(self, states: Block, counts: Int64s) -> Outcome:
        valid = self._validity(counts)
        divisors = np.where(counts == 0, 1, counts)
        if self._numeric:
            return numeric_column(self._quotients(states, divisors), valid), None
        sums = states[0].astype(np.float64) if self._limbs == 1 else limbs.to_doubles(states, 0)
        return FixedColumn(SqlType.DOUBLE, sums / divisors, valid), None

    def _quotients(self, states: Block, divisors: Int64s) -> npt.NDArray[np.uint64]:
        if self._limbs == 1:
            quotients, rests = np.divmod(np.abs(states[0]), divisors)
            quotients += 2 * rests >= divisors
            return _words(np.where(states[0] < 0, -quotients, quotients))
        words = np.empty((len(divisors), 2), np.uint64)
        # Sums beyond 64 bits are rare in groups that change, so they may go by Python integers.
        for i, (total, divisor) in enumerate(zip(limbs.to_python(states), divisors.tolist(), strict=True)):
            quotient = (2 * abs(total) + divisor) // (2 * divisor) if divisor > 0 else 0
            bits = (quotient if total >= 0 else -quotient) % (1 << 128)
            words[i, 0] = bits & 0xFFFF_FFFF_FFFF_FFFF
            words[i, 1] = bits >> 64
        return words


def _integer_values(argument: Argument) -> Int64s:
    """The values as 64-bit numbers, 0 for NULL."""
    column = argument.column
    assert isinstance(column, FixedColumn)
    values = column.values.astype(np.int64, copy=False)
    return values if argument.valid is None else np.where(argument.valid, values, 0)


def _numeric_values(argument: Argument) -> tuple[npt.NDArray[np.uint64] | None, Int64s]:
    """The values in units of the last digit, 0 for NULL: as words unless all fit in 64 bits, and the low words."""
    column = argument.column
    assert isinstance(column, ArrowColumn)
    words = column.words()
    if argument.valid is not None:
        words = np.where(argument.valid[:, None], words, np.uint64(0))
    signed = words.view(np.int64)
    values = signed[:, 0]
    return (None if (signed[:, 1] == values >> 63).all() else words), values


def _magnitude(values: Int64s) -> int:
    """The greatest absolute value."""
    if len(values) == 1:
        return abs(int(values[0]))
    return max(int(values.max()), -int(values.min())) if len(values) else 0


def _words(values: Int64s) -> npt.NDArray[np.uint64]:
    words = np.empty((len(values), 2), np.int64)
    words[:, 0] = values
    words[:, 1] = values >> 63
    return words.view(np.uint64)


def _beyond_numeric(sums: Block) -> Mask:
    """Whether carried limbs have more digits than numeric allows."""
    # The limbs from 2**96 on decide, except for numbers within one unit of them.
    high = sums[3] + (np.clip(sums[4], -(1 << 30), 1 << 30) << limbs.BITS)
    failed = (high > _NUMERIC_TOP) | (high < -_NUMERIC_TOP - 1)
    near = ((high == _NUMERIC_TOP) | (high == -_NUMERIC_TOP - 1)).nonzero()[0]
    for place, number in zip(near.tolist(), limbs.to_python(sums[:, near]), strict=True):
        failed[place] = abs(number) >= _NUMERIC_LIMIT
    return failed


def numeric_column(words: npt.NDArray[np.uint64], valid: Mask | None) -> ArrowColumn:
    """A numeric column of 128-bit numbers in units of the last digit."""
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    nulls = 0 if valid is None else -1
    data = pa.py_buffer(np.ascontiguousarray(words))
    return ArrowColumn(SqlType.NUMERIC, pa.Array.from_buffers(SqlType.NUMERIC.arrow, len(words), [bits, data], nulls))
