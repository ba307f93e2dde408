"""Scalar expressions, one row at a time, in plain Python."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ....dataflow.plans.typing import scalar_type
from ....messages.scalars import Call, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ....messages.types import ColumnType, SqlType

Row = tuple[Any, ...]
RANGES = {SqlType.SMALLINT: 2**15, SqlType.INTEGER: 2**31, SqlType.BIGINT: 2**63}


class RowError(Exception):
    """This row has no value: the collection has an error."""


def evaluate(expression: Scalar, row: Row, types: tuple[ColumnType, ...]) -> Any:
    """The value of an expression for a row; raises RowError."""
    match expression:
        case ColumnRef(index):
            return row[index]
        case Literal():
            return expression.value
        case LiteralError(message):
            raise RowError(message)
        case If(condition, then, otherwise):
            return evaluate(then if evaluate(condition, row, types) is True else otherwise, row, types)
        case Cast(input, type):
            return cast(evaluate(input, row, types), type)
        case Call(("and" | "or") as name, arguments):
            return connective(name == "or", arguments, row, types)
        case Call("coalesce", arguments):
            return next((v for a in arguments if (v := evaluate(a, row, types)) is not None), None)
        case Call(name, arguments):
            return apply(name, [evaluate(a, row, types) for a in arguments], result_width(expression, types))
        case _:
            raise AssertionError(f"the oracle does not know {expression}")


def connective(decisive: bool, arguments: tuple[Scalar, ...], row: Row, types: tuple[ColumnType, ...]) -> bool | None:
    """AND (decided by false) and OR (decided by true); an operand that decides hides the others' errors."""
    error, null = None, False
    for argument in arguments:
        try:
            value = evaluate(argument, row, types)
        except RowError as e:
            error = error or e
            continue
        if value is decisive:
            return decisive
        null = null or value is None
    if error is not None:
        raise error
    return None if null else not decisive


def result_width(expression: Call, types: tuple[ColumnType, ...]) -> int | None:
    """2**(bits - 1) when the result is an integer."""
    return RANGES.get(scalar_type(expression, types).type)


def apply(name: str, arguments: list[Any], width: int | None) -> Any:
    if name == "is_null":
        return arguments[0] is None
    if any(a is None for a in arguments):
        return None
    match name, arguments:
        case "not", [x]:
            return not x
        case "neg", [x]:
            return ranged(-x, width)
        case "+", [x, y]:
            return ranged(x + y, width)
        case "-", [x, y]:
            return ranged(x - y, width)
        case "*", [x, y]:
            return ranged(x * y, width)
        case "/", [x, y]:
            if y == 0:
                raise RowError("division by zero")
            return ranged(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), width) if width else x / y
        case "%", [x, y]:
            if y == 0:
                raise RowError("division by zero")
            return ranged(abs(x) % abs(y) * (-1 if x < 0 else 1), width) if width else math.fmod(x, y)
        case "=", [x, y]:
            return sort_key(x) == sort_key(y)
        case "!=", [x, y]:
            return sort_key(x) != sort_key(y)
        case "<", [x, y]:
            return sort_key(x) < sort_key(y)
        case "<=", [x, y]:
            return sort_key(x) <= sort_key(y)
        case ">", [x, y]:
            return sort_key(x) > sort_key(y)
        case ">=", [x, y]:
            return sort_key(x) >= sort_key(y)
        case _:
            raise AssertionError(f"the oracle does not know {name}")


def ranged(value: Any, width: int | None) -> Any:
    if width is not None and not -width <= value < width:
        raise RowError("out of range")
    return value


def cast(value: Any, type: SqlType) -> Any:
    """Conversions among numbers, the only ones that the random plans use."""
    if value is None:
        return None
    if type in RANGES:
        if isinstance(value, float) and not math.isfinite(value):
            raise RowError("out of range")
        # Floats round half to even, numerics half away from zero, as in PostgreSQL.
        whole = value.to_integral_value(ROUND_HALF_UP) if isinstance(value, Decimal) else round(value)
        return ranged(int(whole), RANGES[type])
    if type in (SqlType.REAL, SqlType.DOUBLE):
        return float(value)
    if type is SqlType.NUMERIC:
        return Decimal(value)
    if type is SqlType.TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AssertionError(f"the oracle does not cast {value!r} to {type}")


def sort_key(value: Any) -> Any:
    """An order in which NaN equals itself and is greater than every number."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value
