"""``sum`` and ``avg`` of real and double, exact whatever is inserted and deleted in whatever order.

The state is the exact sum of the finite values in limbs, and counts of NaN and of both infinities. The result is the
exact sum rounded once, so it is a function of the values that are there: what Python's ``math.fsum`` gives for them.
The range of the limbs follows the data: from the last bit to the highest of any value seen, and room for the sum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....messages.types import SqlType
from ...columns.column import FixedColumn, Mask
from . import limbs
from .accumulator import Accumulator, Argument, Block, Outcome

Doubles = npt.NDArray[np.float64]

_LIMIT = 1 << 62
_HEAVY = 1 << 29
_PRODUCT_LIMBS = 3
"""More limbs than a value has, its product with any multiplicity takes."""
_SPECIALS = 3
_LOWEST_SCALE = -31
"""Scaling by 2**(32 * 31) is within the range of doubles; so is what fits in so many limbs, thus scaled."""


class FloatSum(Accumulator):
    """The sum, as double. The block: the limbs, then, from the first NaN or infinity on, how many are NaN, +inf and
    -inf."""

    __slots__ = ("_bound", "_ceiling", "_first", "_limbs", "_scales", "_special")

    def __init__(self, *, apart: bool) -> None:
        super().__init__(0, apart=apart)
        self._first = 0
        self._limbs = 0
        self._bound = 0
        self._special = False
        self._ceiling = 0.0
        self._scales: Doubles = np.zeros((0, 1), np.float64)

    def _add(self, argument: Argument, block: Block) -> tuple[Block, Block | None]:
        column = argument.column
        assert isinstance(column, FixedColumn)
        values: Doubles = column.values.astype(np.float64, copy=False)
        if argument.valid is not None:
            values = np.where(argument.valid, values, 0.0)
        adapted: Block | None = None
        specials: Block | None = None
        weight = argument.weight()
        heavy = weight >= _HEAVY
        changes = None if heavy else self._digits_if_fitting(values)
        if changes is None:
            finite = np.isfinite(values)
            if not finite.all():
                if not self._special:
                    self._special = True
                    block = adapted = np.concatenate((block, np.zeros((_SPECIALS, block.shape[1]), np.int64)))
                kinds = np.stack((np.isnan(values), values == np.inf, values == -np.inf))
                specials = kinds * argument.diffs
                values = np.where(finite, values, 0.0)
            widened = self._widen(values, block, _PRODUCT_LIMBS if heavy else 0)
            if widened is not None:
                block = adapted = widened
            changes = self._digits(values)
        if heavy:
            changes = limbs.multiply(changes, argument.diffs, self._limbs)
            growth = limbs.BASE * len(values)
        else:
            changes *= argument.diffs
            growth = limbs.BASE * weight
        if self._bound + growth >= _LIMIT:
            block = adapted = self._carry(block)
        self._bound += growth
        if len(changes) < self._limbs:
            changes = np.concatenate((changes, np.zeros((self._limbs - len(changes), len(values)), np.int64)))
        if self._special:
            if specials is None:
                specials = np.zeros((_SPECIALS, len(values)), np.int64)
            changes = np.concatenate((changes, specials))
        return changes, adapted

    def _digits_if_fitting(self, values: Doubles) -> Block | None:
        """As :meth:`_digits`; None when the limbs do not hold all bits of the values, or when that is not plain."""
        if not self._limbs or self._first > 0 or self._limbs > -_LOWEST_SCALE or self._first < _LOWEST_SCALE:
            return None
        # Neither NaN nor infinity is below the bound.
        if not np.abs(values).max() < self._ceiling:
            return None
        scaled = values * self._scales
        whole = np.trunc(scaled)
        if not (whole[0] == scaled[0]).all():
            return None
        whole[:-1] -= whole[1:] * limbs.BASE
        return whole.astype(np.int64)

    def _digits(self, values: Doubles) -> Block:
        """The limbs of finite values, each with the sign of the value."""
        exponents = np.arange(self._first, self._first + self._limbs)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = np.trunc(np.ldexp(values, -limbs.BITS * exponents[:, None]))
            # Exact: what is subtracted is the number itself without its lowest 32 bits before the point.
            whole[:-1] -= whole[1:] * limbs.BASE
        # A number that overflows at some scale has no bits near that limb.
        whole[~np.isfinite(whole)] = 0.0
        return whole.astype(np.int64)

    def _widen(self, values: Doubles, block: Block, room: int) -> Block | None:
        """The block with limbs for all bits of the values, and for as many more on top as ``room`` says."""
        largest = float(np.abs(values).max()) if len(values) else 0.0
        if largest == 0.0:
            if self._limbs:
                return None
            first = top = 0
        else:
            first = _lowest_exponent(values) // limbs.BITS
            top = (int(np.frexp(largest)[1]) - 1) // limbs.BITS
        top += room
        if self._limbs:
            first = min(first, self._first)
            top = max(top, self._first + self._limbs - 1)
            below, above = self._first - first, top - (self._first + self._limbs - 1)
        else:
            below, above = 0, top - first + 1
        if not below and not above:
            return None
        parts = [np.zeros((below, block.shape[1]), np.int64), block[: self._limbs]]
        parts += [np.zeros((above, block.shape[1]), np.int64), block[self._limbs :]]
        carried = np.concatenate(parts)
        if self._limbs and above:
            # What had outgrown the last limb moves on.
            limbs.carry(carried[: self._limbs + below + above])
        self._first = first
        self._set_limbs(self._limbs + below + above)
        return carried

    def _set_limbs(self, count: int) -> None:
        self._limbs = count
        with np.errstate(over="ignore"):
            self._ceiling = float(np.ldexp(1.0, limbs.BITS * (self._first + count)))
            self._scales = np.ldexp(1.0, -limbs.BITS * np.arange(self._first, self._first + count))[:, None]

    def _carry(self, block: Block) -> Block:
        """The block with its limbs carried, and a limb on top when something outgrew them."""
        result = block.copy()
        limbs.carry(result[: self._limbs])
        if ((result[self._limbs - 1] + limbs.BASE) >> (limbs.BITS + 1)).any():
            top = np.zeros((1, block.shape[1]), np.int64)
            result = np.concatenate((result[: self._limbs], top, result[self._limbs :]))
            self._set_limbs(self._limbs + 1)
            limbs.carry(result[: self._limbs])
        self._bound = limbs.BASE
        return result

    def _sums(self, states: Block) -> Doubles:
        if self._limbs == 0:
            return np.zeros(int(states.shape[1]), np.float64)
        sums = limbs.to_doubles(states[: self._limbs], self._first)
        if self._special:
            kinds = states[self._limbs : self._limbs + _SPECIALS]
            not_a_number, positive, negative = (np.not_equal(kind, 0) for kind in kinds)
            sums[positive] = np.inf
            sums[negative] = -np.inf
            sums[not_a_number | (positive & negative)] = np.nan
        return sums

    def _result(self, states: Block, counts: npt.NDArray[np.int64]) -> Outcome:
        return FixedColumn(SqlType.DOUBLE, self._sums(states), self._validity(counts)), None

    def is_zero(self, states: Block) -> Mask:
        sums = states.copy()
        limbs.carry(sums[: self._limbs])
        return np.logical_not(sums.any(axis=0))


class FloatAverage(FloatSum):
    """The average, as double."""

    __slots__ = ()

    def _result(self, states: Block, counts: npt.NDArray[np.int64]) -> Outcome:
        averages = self._sums(states) / np.where(counts == 0, 1, counts)
        return FixedColumn(SqlType.DOUBLE, averages, self._validity(counts)), None


def _lowest_exponent(values: Doubles) -> int:
    """The exponent of the lowest bit that any value has; there is a value other than zero."""
    fractions, exponents = np.frexp(values[values != 0])
    digits = np.ldexp(fractions, 53).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return int((exponents - 53 + trailing).min())
