"""Evaluating expressions in tests, and the same answer in every way that there is to get it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pillion.dataflow.columns.column import Column, column_from_arrow
from pillion.dataflow.scalars.compile import Evaluated, compile_scalar
from pillion.messages.scalars import Call, Cast, ColumnRef, Literal, Scalar
from pillion.messages.types import ColumnType, SqlType

TYPES = {
    "bool": SqlType.BOOLEAN,
    "smallint": SqlType.SMALLINT,
    "int": SqlType.INTEGER,
    "bigint": SqlType.BIGINT,
    "real": SqlType.REAL,
    "double": SqlType.DOUBLE,
    "numeric": SqlType.NUMERIC,
    "text": SqlType.TEXT,
    "bytea": SqlType.BYTEA,
    "date": SqlType.DATE,
    "timestamp": SqlType.TIMESTAMP,
}


class Failed(str):
    """The expected value of a row that fails: the message."""


def column(type: str, values: Sequence[Any]) -> Column:
    return column_from_arrow(pa.array(values, TYPES[type].arrow), TYPES[type])


def literal(type: str, value: Any) -> Literal:
    return Literal.of(value, TYPES[type])


def results(evaluated: Evaluated) -> list[Any]:
    """A value or a ``Failed`` per row."""
    values: list[Any] = evaluated.column.to_values()
    if evaluated.errors is not None:
        for row in evaluated.errors.mask.nonzero()[0].tolist():
            values[row] = Failed(evaluated.errors.messages[row])
    return values


def evaluate(scalar: Scalar, columns: Sequence[Column], size: int | None = None) -> list[Any]:
    types = tuple(ColumnType(column.type) for column in columns)
    rows = len(columns[0]) if size is None else size
    return results(compile_scalar(scalar, types)(columns, rows))


def call(function: str, *arguments: tuple[str, Any]) -> Any:
    """The value of a function of one row, found with columns, with constants and with a mixture of both, alone and
    among other rows; all of which must agree."""
    references = tuple(ColumnRef(position) for position in range(len(arguments)))
    constants = tuple(literal(type, value) for type, value in arguments)
    single = [column(type, [value]) for type, value in arguments]
    twice = [column(type, [value, None, value]) for type, value in arguments]
    (expected,) = evaluate(Call(function, references), single)
    first, _, third = evaluate(Call(function, references), twice)
    found = [first, third, *evaluate(Call(function, constants), single)]
    for mask in range(1, 2 ** len(arguments) - 1):
        mixed: list[Scalar] = [
            constant if mask >> position & 1 else reference
            for position, (constant, reference) in enumerate(zip(constants, references, strict=True))
        ]
        first, _, third = evaluate(Call(function, tuple(mixed)), twice)
        found += [first, third, *evaluate(Call(function, tuple(mixed)), single)]
    for other in found:
        assert same(other, expected), (other, expected)
    return expected


def cast(value: Any, source: str, target: str) -> Any:
    """The value in another type, as a column among others and as a constant; both must agree."""
    first, _, third = evaluate(Cast(ColumnRef(0), TYPES[target]), [column(source, [value, None, value])])
    (constant,) = evaluate(Cast(literal(source, value), TYPES[target]), [], 1)
    assert same(first, constant), (first, constant)
    assert same(first, third), (first, third)
    return first


def same(left: Any, right: Any) -> bool:
    """Equal, of one type, NaN included."""
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or left == right
    return type(left) is type(right) and left == right
