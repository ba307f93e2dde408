"""Compiled expressions: a closure per node, and the ways in which nodes are made from kernels.

A kernel is a function over whole arrays (or constants); it neither sees NULLs nor failed rows: what it computes for
those rows is ignored. A kernel that can fail also returns where it did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ...messages.scalars import Literal
from ...messages.types import SqlType
from ..columns.column import DTYPES, FixedColumn, Indices, Mask, column_from_values
from . import units
from .vectors import Errors, Messages, Run, Slots, Vector, both_valid, is_arrow, make_errors, merge_errors, read, take

Failure = tuple[Mask, "str | Messages"]
"""The rows that failed, with one message for all of them or one for each row."""

Result = tuple[Any, Sequence[Failure]]
"""Values, and where there are none (empty when every row has one)."""

Kernel1 = Callable[[Any], Any]
Kernel2 = Callable[[Any, Any], Any]
FallibleKernel1 = Callable[[Any], Result]
FallibleKernel2 = Callable[[Any, Any], Result]


@dataclass(frozen=True, slots=True)
class Node:
    """A compiled expression.

    ``columns`` are the slots that it reads; ``fallible`` whether a row can fail; ``floating`` whether floating-point
    warnings must be off while it runs; ``constant`` its value where that is known, without dimensions.
    """

    type: SqlType
    run: Run
    columns: frozenset[int] = frozenset()
    fallible: bool = False
    floating: bool = False
    constant: Vector | None = None


def derived(type: SqlType, run: Run, arguments: Sequence[Node], *, fallible: bool = False) -> Node:
    """A node that reads what its arguments read, and fails where they fail."""
    return Node(
        type,
        run,
        frozenset[int]().union(*[argument.columns for argument in arguments]),
        fallible or any(argument.fallible for argument in arguments),
        type.is_float or any(argument.floating for argument in arguments),
    )


def column_node(index: int, type: SqlType, *, input: bool) -> Node:
    """A column of the input, or an expression computed before."""
    if input and type in DTYPES:

        def run_fixed(slots: Slots, size: int) -> Vector:
            column = cast(FixedColumn, slots[index])
            return column.values, column.valid, None

        return Node(type, run_fixed, frozenset((index,)), floating=type.is_float)

    def run(slots: Slots, size: int) -> Vector:
        slot = slots[index]
        assert slot is not None, "the schedule of the program computes expressions before they are read"
        return read(slot)

    return Node(type, run, frozenset((index,)), floating=type.is_float)


def constant_node(type: SqlType, constant: Vector) -> Node:
    """The same value for every row."""
    return Node(type, lambda slots, size: constant, floating=type.is_float, constant=constant)


def literal_node(literal: Literal) -> Node:
    """The constant that a literal denotes."""
    type, value = literal.type, literal.value
    if is_arrow(type):
        return constant_node(type, (pa.scalar(cast(Any, value), type.arrow), None, None))
    valid = cast(Mask, np.bool_(False)) if value is None else None
    if type is SqlType.NUMERIC:
        return constant_node(type, (units.of_value(cast(Decimal, value or Decimal(0))), valid, None))
    column = cast(FixedColumn, column_from_values([value], type))
    return constant_node(type, (column.values[0], valid, None))


def error_node(type: SqlType, message: str) -> Node:
    """An expression that fails for every row."""
    arrow, dtype = is_arrow(type), DTYPES.get(type, np.dtype(np.int64))

    def run(slots: Slots, size: int) -> Vector:
        values = pa.nulls(size, type.arrow) if arrow else np.zeros(size, dtype)
        return values, None, make_errors(np.ones(size, np.bool_), message)

    return Node(type, run, fallible=True)


def fold(build: Callable[[Sequence[Node]], Node], arguments: Sequence[Node]) -> Node:
    """The node that ``build`` makes of its arguments; its value, computed once, when all of them are constants."""
    if not arguments or any(argument.constant is None for argument in arguments):
        return build(arguments)
    # One row of arrays, because NumPy treats overflow in scalars differently from overflow in arrays.
    node = build([_single(argument) for argument in arguments])
    with np.errstate(all="ignore"):
        values, valid, errors = node.run((), 1)
    if errors is not None and errors.mask[0]:
        return error_node(node.type, str(errors.messages[0]))
    if values.__class__ in (np.ndarray,) and values.ndim:
        values = values[0] if values.dtype != np.object_ else np.array(values[0], np.object_)
    elif isinstance(values, pa.Array):
        values = values[0]
    if valid is not None:
        valid = None if valid.all() else cast(Mask, np.bool_(False))
    return constant_node(node.type, (values, valid, None))


def _single(argument: Node) -> Node:
    assert argument.constant is not None
    values, valid, _ = argument.constant
    if is_arrow(argument.type):
        one: Vector = (pa.array([values.as_py()], argument.type.arrow), None, None)
    else:
        one = (np.reshape(values, 1), None if valid is None else np.reshape(valid, 1), None)

    def run(slots: Slots, size: int) -> Vector:
        return one

    return replace(argument, run=run, constant=None)


def is_null_constant(node: Node) -> bool:
    """Whether the node is the constant NULL."""
    if node.constant is None:
        return False
    values, valid, _ = node.constant
    return not values.is_valid if isinstance(values, pa.Scalar) else valid is not None and not valid


def failed(errors: Errors | None, failures: Sequence[Failure], valid: Mask | None, size: int) -> Errors | None:
    """The errors of the arguments, then those of the function itself on rows without NULL."""
    for mask, message in failures:
        rows = np.broadcast_to(mask, (size,)) if mask.ndim == 0 else mask
        if valid is not None:
            rows = rows & valid
        if not np.count_nonzero(rows):
            continue
        own = make_errors(rows, message) if isinstance(message, str) else Errors(rows, message)
        errors = merge_errors(errors, own)
    return errors


def unary(type: SqlType, argument: Node, kernel: Kernel1) -> Node:
    """A function that cannot fail and is NULL when its argument is. Nothing is text or bytea."""
    inner = argument.run

    def run(slots: Slots, size: int) -> Vector:
        values, valid, errors = inner(slots, size)
        return kernel(values), valid, errors

    return derived(type, run, (argument,))


def binary(type: SqlType, left: Node, right: Node, kernel: Kernel2) -> Node:
    """A function that cannot fail and is NULL when an argument is. Nothing is text or bytea."""
    first, second = left.run, right.run

    def run(slots: Slots, size: int) -> Vector:
        left_values, left_valid, left_errors = first(slots, size)
        right_values, right_valid, right_errors = second(slots, size)
        valid = left_valid if right_valid is None else both_valid(left_valid, right_valid)
        errors = left_errors if right_errors is None else merge_errors(left_errors, right_errors)
        return kernel(left_values, right_values), valid, errors

    return derived(type, run, (left, right))


def unary_fallible(type: SqlType, argument: Node, kernel: FallibleKernel1) -> Node:
    """A function that can fail and is NULL when its argument is. Nothing is text or bytea."""
    inner = argument.run

    def run(slots: Slots, size: int) -> Vector:
        values, valid, errors = inner(slots, size)
        values, failures = kernel(values)
        if failures:
            errors = failed(errors, failures, valid, size)
        return values, valid, errors

    return derived(type, run, (argument,), fallible=True)


def binary_fallible(type: SqlType, left: Node, right: Node, kernel: FallibleKernel2) -> Node:
    """A function that can fail and is NULL when an argument is. Nothing is text or bytea."""
    first, second = left.run, right.run

    def run(slots: Slots, size: int) -> Vector:
        left_values, left_valid, left_errors = first(slots, size)
        right_values, right_valid, right_errors = second(slots, size)
        valid = left_valid if right_valid is None else both_valid(left_valid, right_valid)
        errors = left_errors if right_errors is None else merge_errors(left_errors, right_errors)
        values, failures = kernel(left_values, right_values)
        if failures:
            errors = failed(errors, failures, valid, size)
        return values, valid, errors

    return derived(type, run, (left, right), fallible=True)


def balanced(nodes: Sequence[Node], combine: Callable[[Node, Node], Node]) -> Node:
    """Several nodes joined by an associative function of two, in their order; nested no deeper than needed, so that a
    thousand operands do not exhaust Python's stack."""
    while len(nodes) > 1:
        pairs = [combine(left, right) for left, right in zip(nodes[::2], nodes[1::2], strict=False)]
        nodes = [*pairs, *nodes[len(pairs) * 2 :]]
    return nodes[0]


def take_slots(slots: Slots, columns: frozenset[int], rows: Indices) -> Slots:
    """The slots that an expression reads, for some of the rows."""
    return [
        take(slot, rows) if slot is not None and position in columns else None for position, slot in enumerate(slots)
    ]
