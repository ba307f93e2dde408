"""Comparisons of two values of one type, ``least``, ``greatest`` and ``nullif``.

NaN equals NaN and is greater than every other number; texts and byteas compare byte by byte; false is less than true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from .nodes import Node, balanced, binary, derived
from .vectors import Slots, Vector, arrow_validity, both_valid, from_arrow, is_arrow, merge_errors, select

_ARROW: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _float_equal(left: Any, right: Any) -> Any:
    same = left == right
    unordered = left != left
    if np.count_nonzero(unordered):
        same = same | (unordered & (right != right))
    return same


def _float_less(left: Any, right: Any) -> Any:
    less = left < right
    unordered = right != right
    if np.count_nonzero(unordered):
        less = less | (unordered & (left == left))
    return less


_FLOAT: dict[str, Callable[[Any, Any], Any]] = {
    "=": _float_equal,
    "!=": lambda left, right: ~_float_equal(left, right),
    "<": _float_less,
    "<=": lambda left, right: ~_float_less(right, left),
    ">": lambda left, right: _float_less(right, left),
    ">=": lambda left, right: ~_float_less(left, right),
}


def comparison(function: str, left: Node, right: Node) -> Node:
    """One of ``= != < <= > >=`` on two expressions of one type."""
    type = left.type
    if is_arrow(type):
        return _arrow_comparison(_ARROW[function], left, right)
    kernels = _FLOAT if type.is_float else _PLAIN
    return binary(SqlType.BOOLEAN, left, right, _as_booleans(kernels[function], type))


def _as_booleans(kernel: Callable[[Any, Any], Any], type: SqlType) -> Callable[[Any, Any], Any]:
    if type is not SqlType.NUMERIC:
        return kernel
    # Comparing Python integers gives booleans of dtype object.
    return lambda left, right: np.asarray(kernel(left, right), np.bool_)


def _arrow_comparison(kernel: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    first, second = left.run, right.run

    def run(slots: Slots, size: int) -> Vector:
        left_values, _, left_errors = first(slots, size)
        right_values, _, right_errors = second(slots, size)
        values, valid = from_arrow(kernel(left_values, right_values))
        return values, valid, merge_errors(left_errors, right_errors)

    return derived(SqlType.BOOLEAN, run, (left, right))


def extreme(function: str, arguments: Sequence[Node]) -> Node:
    """``least`` or ``greatest`` of expressions of one type; NULLs are passed over."""
    return balanced(arguments, lambda left, right: _extreme_of_two(function == "greatest", left, right))


def _extreme_of_two(greatest: bool, left: Node, right: Node) -> Node:
    first, second = left.run, right.run
    if is_arrow(left.type):
        pick: Callable[..., Any] = pc.max_element_wise if greatest else pc.min_element_wise

        def run_arrow(slots: Slots, size: int) -> Vector:
            left_values, _, left_errors = first(slots, size)
            right_values, _, right_errors = second(slots, size)
            return pick(left_values, right_values), None, merge_errors(left_errors, right_errors)

        return derived(left.type, run_arrow, (left, right))
    # NaN is the greatest: maximum() gives it when either is NaN, fmin() only when both are.
    kernel: Callable[[Any, Any], Any] = np.maximum if greatest else np.fmin

    def run(slots: Slots, size: int) -> Vector:
        left_values, left_valid, left_errors = first(slots, size)
        right_values, right_valid, right_errors = second(slots, size)
        values, valid = kernel(left_values, right_values), None
        if left_valid is not None:
            values = select(left_valid, values, right_values)
        if right_valid is not None:
            values = select(right_valid, values, left_values)
        if left_valid is not None and right_valid is not None:
            valid = left_valid | right_valid
        return values, valid, merge_errors(left_errors, right_errors)

    return derived(left.type, run, (left, right))


def nullif(result: Node, left: Node, right: Node) -> Node:
    """``result``, but NULL where ``left`` (the same in the common type) equals ``right``."""
    equal = comparison("=", left, right)
    keep, test = result.run, equal.run

    def run(slots: Slots, size: int) -> Vector:
        values, valid, _ = keep(slots, size)
        same, known, errors = test(slots, size)
        if known is not None:
            same = same & known
        if is_arrow(result.type):
            return pc.if_else(_arrow_mask(same), _null_like(values), values), None, errors
        return values, both_valid(valid, ~same), errors

    return derived(result.type, run, (result, equal))


def _arrow_mask(mask: Any) -> Any:
    return pa.scalar(bool(mask)) if mask.ndim == 0 else pa.array(mask)


def _null_like(values: Any) -> Any:
    return pa.scalar(None, values.type)


def is_null(argument: Node) -> Node:
    """Whether the value is NULL; never NULL itself."""
    inner = argument.run
    if is_arrow(argument.type):

        def run_arrow(slots: Slots, size: int) -> Vector:
            values, _, errors = inner(slots, size)
            valid = arrow_validity(values)
            return (np.zeros(size, np.bool_) if valid is None else ~valid), None, errors

        return derived(SqlType.BOOLEAN, run_arrow, (argument,))

    def run(slots: Slots, size: int) -> Vector:
        _, valid, errors = inner(slots, size)
        return (np.zeros(size, np.bool_) if valid is None else ~valid), None, errors

    return derived(SqlType.BOOLEAN, run, (argument,))
