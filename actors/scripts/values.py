"""Rows in protocol scripts: values separated by blanks, strings quoted, NULL as ``null``.

Reading and showing are inverse for every type; rows are shown in an order that depends on their values alone.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...dataflow.columns.column import DTYPES, Column, FixedColumn, column_from_arrow, column_from_values
from ...messages.scalars import Value
from ...messages.types import Field, Schema, SqlType
from .arguments import quote, split_words, unquote
from .errors import DirectiveError

_INTEGER_BITS = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}
_TYPE_NAMES = {
    **{str(type): type for type in SqlType},
    "bool": SqlType.BOOLEAN,
    "int2": SqlType.SMALLINT,
    "int16": SqlType.SMALLINT,
    "int": SqlType.INTEGER,
    "int4": SqlType.INTEGER,
    "int32": SqlType.INTEGER,
    "int8": SqlType.BIGINT,
    "int64": SqlType.BIGINT,
    "float4": SqlType.REAL,
    "float32": SqlType.REAL,
    "float8": SqlType.DOUBLE,
    "float64": SqlType.DOUBLE,
    "string": SqlType.TEXT,
    "bytes": SqlType.BYTEA,
}

DEFAULT_SCHEMA = Schema((Field("key", SqlType.BIGINT, False), Field("value", SqlType.TEXT, False)))
"""The schema of a shard when none is named."""

Row = tuple[Value, ...]


def read_type(name: str) -> SqlType:
    """A SQL type by its name or a usual short form of it.

    Raises:
        DirectiveError: there is no such type.
    """
    type = _TYPE_NAMES.get(name)
    if type is None:
        raise DirectiveError(f"there is no type {name!r}; the types are {', '.join(SqlType)}")
    return type


def read_row(line: str, schema: Schema) -> Row:
    """One row of a shard.

    Raises:
        DirectiveError: wrong arity, a value that is none of its column's type, NULL where none may be.
    """
    try:
        words = split_words(line)
    except ValueError as error:
        raise DirectiveError(f"row {line.strip()}: {error}") from None
    if len(words) != schema.arity:
        raise DirectiveError(f"row {line.strip()}: expected {schema.arity} values, got {len(words)}")
    return tuple(_read_field(word, field) for word, field in zip(words, schema.fields, strict=True))


def _read_field(word: str, field: Field) -> Value:
    if word == "null":
        if not field.nullable:
            raise DirectiveError(f"column {field.name} is not nullable")
        return None
    try:
        return read_value(word, field.type)
    except ValueError:
        raise DirectiveError(f"column {field.name}: {word} is no value of type {field.type}") from None


def read_value(word: str, type: SqlType) -> Value:
    """A value that is not NULL.

    Raises:
        ValueError: the word is none of this type.
    """
    quoted = word.startswith('"')
    if quoted and (type.is_number or type is SqlType.BOOLEAN):
        raise ValueError("a quoted string where a number or boolean is expected")
    text = unquote(word)
    match type:
        case SqlType.BOOLEAN:
            if text not in ("true", "false"):
                raise ValueError("expected true or false")
            return text == "true"
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT:
            number = int(text)
            limit = 1 << (_INTEGER_BITS[type] - 1)
            if not -limit <= number < limit:
                raise ValueError("out of range")
            return number
        case SqlType.REAL | SqlType.DOUBLE:
            return float(text)
        case SqlType.NUMERIC:
            try:
                return Decimal(text)
            except InvalidOperation:
                raise ValueError("expected a number") from None
        case SqlType.TEXT:
            return text
        case SqlType.BYTEA:
            return bytes.fromhex(text.removeprefix("\\x"))
        case SqlType.DATE:
            return datetime.date.fromisoformat(text)
        case SqlType.TIMESTAMP:
            return datetime.datetime.fromisoformat(text)


def show_value(value: Value) -> str:
    """A value as scripts print it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quote(value)
        case bytes():
            return f"\\x{value.hex()}"
        case Decimal():
            return show_decimal(value)
        case datetime.datetime() | datetime.date():
            return value.isoformat()
        case _:
            return str(value)


def show_decimal(value: Decimal) -> str:
    """Without an exponent and without zeros at the end of the fraction."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def show_row(row: Iterable[Value]) -> str:
    return " ".join(show_value(value) for value in row)


def sort_key(row: Iterable[Value]) -> tuple[Any, ...]:
    """Orders rows by value, column by column; NaN after every number, NULL last."""
    return tuple(_value_key(value) for value in row)


def _value_key(value: Value) -> tuple[Any, ...]:
    if value is None:
        return (2,)
    if isinstance(value, float) and math.isnan(value):
        return (1,)
    return (0, value)


def rows_to_columns(rows: Sequence[Row], schema: Schema) -> tuple[Column, ...]:
    """Rows as the engine's columns."""
    return tuple([column_from_values([row[i] for row in rows], f.type) for i, f in enumerate(schema.fields)])


def synthetic_columns(schema: Schema, start: int, count: int, row_bytes: int) -> tuple[Column, ...]:
    """Rows ``start`` to ``start + count - 1`` of a generated load: integers carry the row's number, booleans
    alternate, texts and byteas are the number padded to ``row_bytes``, other types are derived from the number."""
    numbers = np.arange(start, start + count, dtype=np.int64)
    return tuple([_synthetic_column(field.type, numbers, row_bytes) for field in schema.fields])


def _synthetic_column(type: SqlType, numbers: npt.NDArray[np.int64], row_bytes: int) -> Column:
    match type:
        case SqlType.BOOLEAN:
            return FixedColumn(type, numbers % 2 == 0)
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.DATE:
            # Days after 1970 stay within what a date can be.
            limit = 1 << 15 if type is SqlType.SMALLINT else 1 << 31 if type is SqlType.INTEGER else 1 << 16
            return FixedColumn(type, (numbers % limit).astype(DTYPES[type]))
        case SqlType.BIGINT | SqlType.REAL | SqlType.DOUBLE:
            return FixedColumn(type, numbers.astype(DTYPES[type]))
        case SqlType.TIMESTAMP:
            return FixedColumn(type, numbers * 1_000_000)
        case SqlType.NUMERIC:
            return column_from_arrow(cast(pa.Array, pa.array(numbers)), type)
        case SqlType.TEXT | SqlType.BYTEA:
            texts = pa.array(numbers).cast(pa.large_string())
            return column_from_arrow(pc.ascii_rpad(texts, row_bytes, "x"), type)
