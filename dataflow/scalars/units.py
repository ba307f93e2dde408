"""Arithmetic on numerics: integers in units of 10**-9.

Invariant: units are int64 when all of an array's are in ``[-2**62, 2**62)``, so that a sum or an absolute value of two
never overflows; otherwise they are Python integers in an array of dtype object, on which the same NumPy calls work,
exactly and more slowly. Nearly all numerics that occur are of the first kind.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...messages.types import NUMERIC_PRECISION, NUMERIC_SCALE, SqlType
from ..columns.column import ArrowColumn, Mask

Units = npt.NDArray[Any]

ONE = 10**NUMERIC_SCALE
LIMIT = 10**NUMERIC_PRECISION
"""Every numeric is less than so many units, in absolute value."""

_select = cast(Callable[[Any, Any, Any], Any], np.where)

_FIT_BITS = np.int64(62)
_SIGN_BIT = np.int64(63)
_ESTIMATE_LIMIT = float(2**61)
"""A result whose estimate in floating point is below this is certainly in the range of int64 units."""

_EXACT_DOUBLE = 2**53
_LOW = (1 << 64) - 1
_CONTEXT = Context(prec=4 * NUMERIC_PRECISION, rounding=ROUND_HALF_UP)


def from_words(words: npt.NDArray[np.uint64]) -> Units:
    """Units of 128-bit integers (low word, high word)."""
    signed = words.view(np.int64)
    low, high = signed[:, 0], signed[:, 1]
    # All of the high word and the two upper bits of the low one are the sign.
    if not np.count_nonzero((high ^ (low >> _FIT_BITS)) | (high ^ (low >> _SIGN_BIT))):
        return low
    return (high.astype(np.object_) << 64) | words[:, 0].astype(np.object_)


def from_array(array: pa.Array) -> Units:
    """Units of a decimal array; arbitrary under a NULL."""
    return from_words(ArrowColumn(SqlType.NUMERIC, array).words())


def normalized(values: Units) -> Units:
    """Python integers within the type's range, as int64 if they all fit."""
    return _narrow(values)[0]


def of_value(value: Decimal) -> Any:
    """A constant: a NumPy scalar, or an array without dimensions when it is too large for one.

    Raises:
        OverflowError: it exceeds the type.
    """
    if value.adjusted() >= NUMERIC_PRECISION:
        raise OverflowError(f"{value} is no numeric")
    number = int(value.scaleb(NUMERIC_SCALE, _CONTEXT).to_integral_value(ROUND_HALF_UP, _CONTEXT))
    if abs(number) >= LIMIT:
        raise OverflowError(f"{value} is no numeric")
    return np.int64(number) if -(2**62) <= number < 2**62 else np.array(number, np.object_)


def to_arrow(values: Units, valid: Mask | None) -> pa.Array:
    """A decimal array; what is under a NULL becomes zero."""
    size = len(values)
    if valid is not None:
        values = _select(valid, values, 0)
    words = np.empty((size, 2), np.uint64)
    if values.dtype == np.object_:
        words[:, 0] = (values & _LOW).astype(np.uint64)
        words[:, 1] = (values >> 64).astype(np.int64).view(np.uint64)
    else:
        words[:, 0] = values.view(np.uint64)
        words[:, 1] = (values >> _SIGN_BIT).view(np.uint64)
    validity = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    nulls = 0 if valid is None else -1
    return pa.Array.from_buffers(SqlType.NUMERIC.arrow, size, [validity, pa.py_buffer(words)], nulls)


def add(left: Any, right: Any) -> tuple[Any, Mask | None]:
    """The sum, and where it overflows."""
    if _is_small(left) and _is_small(right):
        return _checked(left + right)
    return _narrow(_exact(left) + _exact(right))


def subtract(left: Any, right: Any) -> tuple[Any, Mask | None]:
    """The difference, and where it overflows."""
    if _is_small(left) and _is_small(right):
        return _checked(left - right)
    return _narrow(_exact(left) - _exact(right))


def multiply(left: Any, right: Any) -> tuple[Any, Mask | None]:
    """The product, rounded half away from zero, and where it overflows."""
    if _is_small(left) and _is_small(right):
        estimate = np.multiply(left, right, dtype=np.float64)
        if np.count_nonzero(abs(estimate) < _ESTIMATE_LIMIT * ONE) == estimate.size:
            # Whole parts and fractions apart, so that no intermediate product exceeds the result.
            a, b = abs(left), abs(right)
            whole_a, part_a = a // ONE, a % ONE
            whole_b, part_b = b // ONE, b % ONE
            magnitude = whole_a * b + whole_b * part_a + (part_a * part_b + ONE // 2) // ONE
            return _signed(magnitude, (left < 0) != (right < 0)), None
    return _narrow(_rounded_quotient(_exact(left) * _exact(right), ONE))


def divide(left: Any, right: Any) -> tuple[Any, Mask | None]:
    """The quotient, rounded half away from zero, and where it overflows. No divisor is zero."""
    if _is_small(left) and _is_small(right):
        estimate, divisor = np.true_divide(left, right), abs(right)
        fits = (abs(estimate) < _ESTIMATE_LIMIT / ONE) & (divisor < _EXACT_DOUBLE)
        if np.count_nonzero(fits) == estimate.size:
            # Long division, three decimal digits at a time: the remainder stays below 2**53.
            dividend = abs(left)
            quotient, remainder = dividend // divisor, dividend % divisor
            for _ in range(NUMERIC_SCALE // 3):
                remainder = remainder * 1000
                quotient = quotient * 1000 + remainder // divisor
                remainder = remainder % divisor
            quotient = quotient + (2 * remainder >= divisor)
            return _signed(quotient, (left < 0) != (right < 0)), None
    return _narrow(_rounded_quotient(_exact(left) * ONE, _exact(right)))


def modulo(left: Any, right: Any) -> Any:
    """The remainder of truncated division, with the dividend's sign. No divisor is zero."""
    small = _is_small(left) and _is_small(right)
    if not small:
        left, right = _exact(left), _exact(right)
    remainder = abs(left) % abs(right)
    values = _signed(remainder, left < 0)
    return values if small else _narrow(values)[0]


def round_to(values: Any, step: int) -> tuple[Any, Mask | None]:
    """The nearest multiple of ``step`` units, half away from zero, and where it overflows."""
    if not _is_small(values) or step >= 2**61:
        return _narrow(_rounded_quotient(_exact(values), step) * step)
    rounded = (abs(values) + step // 2) // step * step
    return _checked(_select(values < 0, -rounded, rounded))


def floor(values: Any) -> tuple[Any, Mask | None]:
    """The greatest whole number that is not greater, and where it overflows."""
    lower = values // ONE * ONE
    return _checked(lower) if _is_small(values) else _narrow(lower)


def ceil(values: Any) -> tuple[Any, Mask | None]:
    """The least whole number that is not less, and where it overflows."""
    upper = -(-values // ONE * ONE)
    return _checked(upper) if _is_small(values) else _narrow(upper)


def negate(values: Any) -> Any:
    """The opposite; the type's range is symmetric."""
    return _checked(-values)[0] if _is_small(values) else -values


def absolute(values: Any) -> Any:
    """Without the sign."""
    return _checked(abs(values))[0] if _is_small(values) else abs(values)


def whole(values: Any) -> Any:
    """Whole numbers (not units of them), rounded half away from zero; objects when ``values`` are."""
    return _signed((abs(values) + ONE // 2) // ONE, values < 0)


def from_integers(values: Any) -> Any:
    """Units of whole numbers."""
    wide = values.astype(np.int64)
    if np.count_nonzero(abs(wide.astype(np.float64)) > _ESTIMATE_LIMIT / ONE):
        return _exact(wide) * ONE
    return wide * ONE


def to_doubles(values: Any) -> Any:
    """The nearest doubles."""
    if not _is_small(values) or np.count_nonzero(abs(values) > _EXACT_DOUBLE):
        # True division of Python integers rounds correctly, whatever their size.
        return np.asarray(_exact(values) / ONE, np.float64)
    return values / float(ONE)


def from_doubles(values: Any) -> tuple[Any, Mask | None]:
    """Units of the decimal numbers that doubles are printed as; and where there are none (NaN, infinite, too large)."""
    magnitude = abs(values)
    if np.count_nonzero(magnitude < 1e6) == magnitude.size:
        return np.rint(values * float(ONE)).astype(np.int64), None
    impossible = np.asarray(~(magnitude < float(LIMIT // ONE)))
    numbers = np.frompyfunc(_double_units, 1, 1)(_select(impossible, 0.0, values))
    units, overflow = _narrow(np.asarray(numbers, np.object_))
    failed = impossible if overflow is None else impossible | overflow
    return units, failed if np.count_nonzero(failed) else None


def exact_integers(values: Any) -> Any:
    """The same whole numbers as Python integers, for comparing beyond 64 bits."""
    return _exact(values)


def _double_units(value: float) -> int:
    return int(Decimal(repr(value)).scaleb(NUMERIC_SCALE, _CONTEXT).to_integral_value(ROUND_HALF_UP, _CONTEXT))


def _is_small(values: Any) -> bool:
    return values.dtype != np.object_


def _exact(values: Any) -> Any:
    return np.asarray(values).astype(np.object_)


def _checked(values: Any) -> tuple[Any, Mask | None]:
    """Results of int64 arithmetic that did not wrap, as objects if they left the range of the invariant."""
    if np.count_nonzero((values >> _FIT_BITS) != (values >> _SIGN_BIT)):
        return _exact(values), None
    return values, None


def _narrow(values: Any) -> tuple[Any, Mask | None]:
    """Exact results as int64 if they all fit; and where they exceed the type (then they are zero)."""
    magnitude = abs(values)
    overflow = np.asarray(magnitude >= LIMIT, np.bool_)
    if not np.count_nonzero(overflow):
        overflow = None
    else:
        values = _select(overflow, 0, values)
        magnitude = abs(values)
    if not np.count_nonzero(magnitude >= 1 << 62):
        return values.astype(np.int64), overflow
    return values, overflow


def _signed(magnitude: Any, negative: Any) -> Any:
    return _select(np.asarray(negative, np.bool_), -magnitude, magnitude)


def _rounded_quotient(dividend: Any, divisor: Any) -> Any:
    """Rounded half away from zero, of Python integers."""
    a, b = abs(dividend), abs(divisor)
    return _signed((2 * a + b) // (2 * b), (dividend < 0) != (divisor < 0))
