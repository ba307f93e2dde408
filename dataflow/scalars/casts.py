"""Conversions among types. A value without a counterpart fails its row.

Doubles and reals round half to even when they become integers, numerics half away from zero, as in PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...messages.errors import FunctionArgumentsError
from ...messages.types import SqlType
from . import dates, text_casts, units
from .arithmetic import OVERFLOW, failure, out_of_range
from .nodes import FallibleKernel1, Kernel1, Node, Result, fold, unary, unary_fallible
from .vectors import dtype_of, select


def cast(node: Node, type: SqlType) -> Node:
    """The expression in this type (itself when it has it already).

    Raises:
        FunctionArgumentsError: no value of the one type has a counterpart in the other.
    """
    return node if node.type is type else fold(lambda arguments: _cast(arguments[0], type), (node,))


def _cast(node: Node, type: SqlType) -> Node:
    source = node.type
    if type is SqlType.TEXT:
        return text_casts.to_text(node)
    if source is SqlType.TEXT:
        return text_casts.from_text(node, type)
    if source is SqlType.DATE and type is SqlType.TIMESTAMP:
        return dates.date_to_timestamp(node)
    if source is SqlType.TIMESTAMP and type is SqlType.DATE:
        return dates.timestamp_to_date(node)
    if source is SqlType.BOOLEAN and type.is_integer:
        return unary(type, node, _astype(type))
    if source.is_integer and type is SqlType.BOOLEAN:
        return unary(type, node, lambda values: values != 0)
    if source.is_number and type.is_number:
        total = _total(source, type)
        return unary_fallible(type, node, _partial(source, type)) if total is None else unary(type, node, total)
    raise FunctionArgumentsError("cast", (str(source), str(type)), "a type that can become the other")


def _astype(type: SqlType) -> Kernel1:
    dtype = dtype_of(type)
    return lambda values: values.astype(dtype)


def _total(source: SqlType, type: SqlType) -> Kernel1 | None:
    """The kernel of a conversion of numbers that cannot fail; None when it can."""
    if type is SqlType.NUMERIC:
        return units.from_integers if source.is_integer else None
    if source is SqlType.NUMERIC:
        dtype = dtype_of(type)
        return (lambda values: units.to_doubles(values).astype(dtype)) if type.is_float else None
    wider = dtype_of(type).itemsize >= dtype_of(source).itemsize
    if type.is_float:
        return _astype(type) if source.is_integer or wider else None
    return _astype(type) if source.is_integer and wider else None


def _partial(source: SqlType, type: SqlType) -> FallibleKernel1:
    """The kernel of a conversion of numbers that can fail."""
    message = out_of_range(type)
    if type is SqlType.NUMERIC:

        def to_numeric(values: Any) -> Result:
            result, failed = units.from_doubles(values.astype(np.float64))
            return result, () if failed is None else ((failed, message),)

        return to_numeric
    dtype = dtype_of(type)
    if type.is_float:

        def to_real(values: Any) -> Result:
            result = values.astype(dtype)
            return result, failure(np.isinf(result) & ~np.isinf(values), OVERFLOW)

        return to_real
    bounds = np.iinfo(dtype)
    if source.is_float:
        # As doubles: the least integer is one, the greatest one plus one is.
        least, beyond = float(bounds.min), float(bounds.max + 1)

        def to_integer(values: Any) -> Result:
            rounded = np.rint(values.astype(np.float64))
            outside = ~((rounded >= least) & (rounded < beyond))
            failures = failure(outside, message)
            return (select(outside, 0.0, rounded) if failures else rounded).astype(dtype), failures

        return to_integer

    def narrowed(values: Any) -> Result:
        whole = units.whole(values) if source is SqlType.NUMERIC else values
        outside = np.asarray((whole < bounds.min) | (whole > bounds.max), np.bool_)
        failures = failure(outside, message)
        return (select(outside, 0, whole) if failures else whole).astype(dtype), failures

    return narrowed
