"""``+ - * / %``, ``neg`` and ``abs`` on numbers of one type. What leaves the type's range is an error, never wrapped.

Integer division truncates toward zero, and a remainder has the sign of the dividend, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...messages.types import SqlType
from . import units
from .nodes import Failure, FallibleKernel1, FallibleKernel2, Node, Result, binary_fallible, unary, unary_fallible
from .vectors import dtype_of, select

OVERFLOW = "value out of range: overflow"
DIVISION_BY_ZERO = "division by zero"

_CERTAIN = float(2**62)
"""A product whose floating-point estimate is below this fits 64 bits."""


def out_of_range(type: SqlType) -> str:
    """The message for a number that its type cannot hold."""
    return OVERFLOW if type.is_float else f"{type} out of range"


def operator(function: str, type: SqlType, left: Node, right: Node) -> Node:
    """An operator on two numbers of this type."""
    if type is SqlType.NUMERIC:
        return binary_fallible(type, left, right, _NUMERIC[function])
    if type.is_float:
        return binary_fallible(type, left, right, _FLOAT[function])
    family = _BIGINT if type is SqlType.BIGINT else _NARROW
    return binary_fallible(type, left, right, family[function](type))


def negation(type: SqlType, argument: Node) -> Node:
    """``neg``: the opposite number."""
    if type is SqlType.NUMERIC:
        return unary(type, argument, units.negate)
    if type.is_float:
        return unary(type, argument, np.negative)
    return unary_fallible(type, argument, _except_minimum(type, np.negative))


def absolute(type: SqlType, argument: Node) -> Node:
    """``abs``: the number without its sign."""
    if type is SqlType.NUMERIC:
        return unary(type, argument, units.absolute)
    if type.is_float:
        return unary(type, argument, np.absolute)
    return unary_fallible(type, argument, _except_minimum(type, np.absolute))


def failure(mask: Any, message: str) -> Sequence[Failure]:
    """The failures of a kernel whose failed rows are these; none when no row is."""
    return ((mask, message),) if np.count_nonzero(mask) else ()


def _except_minimum(type: SqlType, operation: Callable[[Any], Any]) -> FallibleKernel1:
    minimum, message = np.iinfo(dtype_of(type)).min, out_of_range(type)

    def kernel(values: Any) -> Result:
        return operation(values), failure(values == minimum, message)

    return kernel


def _narrow(operation: Callable[..., Any]) -> Callable[[SqlType], FallibleKernel2]:
    """Of 16 or 32 bits: computed in 64, in which it cannot overflow."""

    def of_type(type: SqlType) -> FallibleKernel2:
        dtype, message = dtype_of(type), out_of_range(type)

        def kernel(left: Any, right: Any) -> Result:
            wide = operation(left, right, dtype=np.int64)
            values = wide.astype(dtype)
            return values, failure(values != wide, message)

        return kernel

    return of_type


def _add_bigint(left: Any, right: Any) -> Result:
    total = left + right
    return total, failure(((left ^ total) & (right ^ total)) < 0, "bigint out of range")


def _subtract_bigint(left: Any, right: Any) -> Result:
    difference = left - right
    return difference, failure(((left ^ right) & (left ^ difference)) < 0, "bigint out of range")


def _multiply_bigint(left: Any, right: Any) -> Result:
    product = left * right
    certain = abs(np.multiply(left, right, dtype=np.float64)) < _CERTAIN
    if np.count_nonzero(certain) == certain.size:
        return product, ()
    exact = units.exact_integers(left) * units.exact_integers(right)
    return product, failure(exact != product, "bigint out of range")


def _divisor(right: Any) -> tuple[Any, Sequence[Failure]]:
    """The divisor with ones for zeros, and a failure where there were any."""
    zero = right == 0
    if not np.count_nonzero(zero):
        return right, ()
    return select(zero, np.ones((), right.dtype), right), ((zero, DIVISION_BY_ZERO),)


def _divide_integer(type: SqlType) -> FallibleKernel2:
    minimum, message = np.iinfo(dtype_of(type)).min, out_of_range(type)

    def kernel(left: Any, right: Any) -> Result:
        right, failures = _divisor(right)
        overflow = (right == -1) & (left == minimum)
        if np.count_nonzero(overflow):
            right = select(overflow, np.ones((), right.dtype), right)
            failures = (*failures, (overflow, message))
        return (left - np.fmod(left, right)) // right, failures

    return kernel


def _modulo_integer(type: SqlType) -> FallibleKernel2:
    def kernel(left: Any, right: Any) -> Result:
        right, failures = _divisor(right)
        minus_one = right == -1
        if np.count_nonzero(minus_one):
            # The remainder is zero either way, but the machine's division overflows for the least number.
            right = select(minus_one, np.ones((), right.dtype), right)
        return np.fmod(left, right), failures

    return kernel


def _float(operation: Callable[[Any, Any], Any]) -> FallibleKernel2:
    def kernel(left: Any, right: Any) -> Result:
        values = operation(left, right)
        infinite = np.isinf(values)
        if not np.count_nonzero(infinite):
            return values, ()
        return values, failure(infinite & np.isfinite(left) & np.isfinite(right), OVERFLOW)

    return kernel


def _float_division(operation: Callable[[Any, Any], Any]) -> FallibleKernel2:
    undivided = _float(operation)

    def kernel(left: Any, right: Any) -> Result:
        right, failures = _divisor(right)
        values, overflow = undivided(left, right)
        return values, (*failures, *overflow)

    return kernel


def _numeric(operation: Callable[[Any, Any], tuple[Any, Any]]) -> FallibleKernel2:
    def kernel(left: Any, right: Any) -> Result:
        values, overflow = operation(left, right)
        return values, () if overflow is None else ((overflow, "numeric out of range"),)

    return kernel


def _divide_numeric(left: Any, right: Any) -> Result:
    right, failures = _divisor(right)
    values, overflow = units.divide(left, right)
    return values, failures if overflow is None else (*failures, (overflow, "numeric out of range"))


def _modulo_numeric(left: Any, right: Any) -> Result:
    right, failures = _divisor(right)
    return units.modulo(left, right), failures


_NARROW: dict[str, Callable[[SqlType], FallibleKernel2]] = {
    "+": _narrow(np.add),
    "-": _narrow(np.subtract),
    "*": _narrow(np.multiply),
    "/": _divide_integer,
    "%": _modulo_integer,
}
_BIGINT: dict[str, Callable[[SqlType], FallibleKernel2]] = {
    "+": lambda type: _add_bigint,
    "-": lambda type: _subtract_bigint,
    "*": lambda type: _multiply_bigint,
    "/": _divide_integer,
    "%": _modulo_integer,
}
_FLOAT: dict[str, FallibleKernel2] = {
    "+": _float(np.add),
    "-": _float(np.subtract),
    "*": _float(np.multiply),
    "/": _float_division(np.true_divide),
    "%": _float_division(np.fmod),
}
_NUMERIC: dict[str, FallibleKernel2] = {
    "+": _numeric(units.add),
    "-": _numeric(units.subtract),
    "*": _numeric(units.multiply),
    "/": _divide_numeric,
    "%": _modulo_numeric,
}
