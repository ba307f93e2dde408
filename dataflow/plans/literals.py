"""Constants as text: type names and values."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal, InvalidOperation

from ...messages.scalars import Literal, Value
from ...messages.types import ColumnType, SqlType

_ALIASES: dict[str, SqlType] = {
    **{str(type): type for type in SqlType},
    "bool": SqlType.BOOLEAN,
    "int2": SqlType.SMALLINT,
    "int": SqlType.INTEGER,
    "int4": SqlType.INTEGER,
    "int8": SqlType.BIGINT,
    "float4": SqlType.REAL,
    "float": SqlType.DOUBLE,
    "float8": SqlType.DOUBLE,
    "decimal": SqlType.NUMERIC,
    "varchar": SqlType.TEXT,
    "string": SqlType.TEXT,
    "bytes": SqlType.BYTEA,
}
_INTEGER_BITS = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}


def type_named(name: str) -> SqlType | None:
    """The type of this name or of a usual other name for it; None when there is none."""
    return _ALIASES.get(" ".join(name.lower().split()).removesuffix(" precision"))


def column_type_named(name: str) -> ColumnType | None:
    """``text?``: a type, with ``?`` when NULL may occur."""
    type = type_named(name.strip().removesuffix("?"))
    return None if type is None else ColumnType(type, name.strip().endswith("?"))


def literal_from_text(text: str, type: SqlType) -> Literal:
    """The constant of this type that a text shows, as between quotes or as a bare number.

    Raises:
        ValueError: the text shows none; the message says what was expected.
    """
    try:
        return Literal.of(_value(text, type), type)
    except (ValueError, InvalidOperation) as error:
        raise ValueError(f"{text!r} is no {type}: expected {_EXPECTED[type]}") from error


def _value(text: str, type: SqlType) -> Value:
    match type:
        case SqlType.BOOLEAN:
            return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _refuse()
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT:
            number = int(text)
            bound = 2 ** (_INTEGER_BITS[type] - 1)
            return number if -bound <= number < bound else _refuse()
        case SqlType.REAL | SqlType.DOUBLE:
            number = float(text)
            # An infinity is written as a word; a number that is one was too large.
            return _refuse() if math.isinf(number) and "inf" not in text.lower() else number
        case SqlType.NUMERIC:
            decimal = Decimal(text)
            return decimal if decimal.is_finite() else _refuse()
        case SqlType.TEXT:
            return text
        case SqlType.BYTEA:
            return bytes.fromhex(text)
        case SqlType.DATE:
            return datetime.date.fromisoformat(text)
        case SqlType.TIMESTAMP:
            moment = datetime.datetime.fromisoformat(text)
            return moment if moment.tzinfo is None else _refuse()


def _refuse() -> Value:
    raise ValueError


_EXPECTED: dict[SqlType, str] = {
    SqlType.BOOLEAN: "true or false",
    SqlType.SMALLINT: "a whole number from -2^15 to 2^15 - 1",
    SqlType.INTEGER: "a whole number from -2^31 to 2^31 - 1",
    SqlType.BIGINT: "a whole number from -2^63 to 2^63 - 1",
    SqlType.REAL: "a number, nan, inf or -inf",
    SqlType.DOUBLE: "a number, nan, inf or -inf",
    SqlType.NUMERIC: "a decimal number",
    SqlType.TEXT: "a text",
    SqlType.BYTEA: "pairs of hexadecimal digits",
    SqlType.DATE: "a date such as 2013-01-31",
    SqlType.TIMESTAMP: "a timestamp such as 2013-01-31T12:30:00, without a time zone",
}
