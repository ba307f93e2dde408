"""Rounding, signs, roots, logarithms and powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...messages.types import NUMERIC_SCALE, SqlType
from . import units
from .arithmetic import OVERFLOW, failure, out_of_range
from .nodes import FallibleKernel1, FallibleKernel2, Node, binary_fallible, unary, unary_fallible
from .vectors import dtype_of, select

_UNITS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "floor": units.floor,
    "ceil": units.ceil,
    "round": lambda values: units.round_to(values, units.ONE),
}
_FLOATS: dict[str, Callable[[Any], Any]] = {"floor": np.floor, "ceil": np.ceil, "round": np.rint}


def whole_number(function: str, argument: Node) -> Node:
    """``floor``, ``ceil`` or ``round`` to whole numbers. Doubles round half to even, numerics half away from zero."""
    type = argument.type
    if type.is_integer:
        return argument
    if type.is_float:
        return unary(type, argument, _FLOATS[function])
    operation = _UNITS[function]

    def kernel(values: Any) -> Any:
        rounded, overflow = operation(values)
        return rounded, () if overflow is None else failure(overflow, out_of_range(type))

    return unary_fallible(type, argument, kernel)


def round_to_digits(argument: Node, digits: Node) -> Node:
    """``round`` to so many digits after the point (before it when negative), half away from zero; doubles as NumPy
    does, half to even."""
    return binary_fallible(argument.type, argument, digits, _by_digits(argument.type))


def _by_digits(type: SqlType) -> FallibleKernel2:
    one = _round_float if type.is_float else _round_numeric if type is SqlType.NUMERIC else _round_integer(type)

    def kernel(values: Any, digits: Any) -> Any:
        if values.ndim == 0:
            values = np.broadcast_to(values, digits.shape)
        different = np.unique(digits).tolist()
        if len(different) == 1:
            rounded, bad = one(values, different[0])
            return rounded, failure(bad, out_of_range(type))
        result, failed = values.copy(), np.zeros(len(digits), np.bool_)
        for count in different:
            rows = digits == count
            rounded, bad = one(values[rows], count)
            if rounded.dtype != result.dtype:
                result = result.astype(np.object_)
            result[rows] = rounded
            failed[rows] = bad
        return result, failure(failed, out_of_range(type))

    return kernel


def _round_float(values: Any, digits: int) -> tuple[Any, Any]:
    if not -400 < digits < 400:
        return (values if digits > 0 else values * 0.0), np.zeros((), np.bool_)
    rounded = cast(Any, np).round(values, digits)
    # Scaling by a large power of ten overflows where there is nothing to round.
    return select(np.isfinite(rounded), rounded, values), np.zeros((), np.bool_)


def _round_numeric(values: Any, digits: int) -> tuple[Any, Any]:
    if digits >= NUMERIC_SCALE:
        return values, np.zeros((), np.bool_)
    rounded, overflow = units.round_to(values, 10 ** (NUMERIC_SCALE - max(digits, -40)))
    return rounded, np.zeros((), np.bool_) if overflow is None else overflow


def _round_integer(type: SqlType) -> Callable[[Any, int], tuple[Any, Any]]:
    dtype = dtype_of(type)
    bounds = np.iinfo(dtype)

    def kernel(values: Any, digits: int) -> tuple[Any, Any]:
        if digits >= 0:
            return values, np.zeros((), np.bool_)
        rounded, _ = units.round_to(units.exact_integers(values), 10 ** min(-digits, 30))
        bad = np.asarray((rounded < bounds.min) | (rounded > bounds.max), np.bool_)
        return select(bad, 0, rounded).astype(dtype), bad

    return kernel


def sign(argument: Node) -> Node:
    """-1, 0 or 1, in the argument's type."""
    if argument.type is SqlType.NUMERIC:
        return unary(argument.type, argument, lambda values: np.sign(values).astype(np.int64) * units.ONE)
    return unary(argument.type, argument, np.sign)


def _sqrt(values: Any) -> Any:
    negative = values < 0
    return np.sqrt(values), failure(negative, "cannot take square root of a negative number")


def _ln(values: Any) -> Any:
    zero, negative = values == 0, values < 0
    return np.log(values), (
        *failure(zero, "cannot take logarithm of zero"),
        *failure(negative, "cannot take logarithm of a negative number"),
    )


def _exp(values: Any) -> Any:
    result = np.exp(values)
    return result, failure(np.isinf(result) & np.isfinite(values), OVERFLOW)


def _power(base: Any, exponent: Any) -> Any:
    result = np.power(base, exponent)
    ordinary = np.isfinite(base) & np.isfinite(exponent)
    undefined = (base == 0) & (exponent < 0)
    complex_result = ordinary & np.isnan(result)
    return result, (
        *failure(undefined, "zero raised to a negative power is undefined"),
        *failure(complex_result, "a negative number raised to a non-integer power yields a complex result"),
        *failure(ordinary & np.isinf(result) & ~undefined, OVERFLOW),
    )


_FUNCTIONS: dict[str, FallibleKernel1] = {"sqrt": _sqrt, "ln": _ln, "exp": _exp}


def function_of_double(function: str, argument: Node) -> Node:
    """``sqrt``, ``ln`` or ``exp``."""
    return unary_fallible(SqlType.DOUBLE, argument, _FUNCTIONS[function])


def power(base: Node, exponent: Node) -> Node:
    """``power`` of two doubles."""
    return binary_fallible(SqlType.DOUBLE, base, exponent, _power)
