"""Types as users write them: SQL names, Python types, Arrow types; and schemas from mappings of them.

A type by itself takes no NULL: ``"bigint"``, ``int``. ``"bigint?"`` (or ``"bigint null"``, ``int | None``) does.
"""

from __future__ import annotations

import datetime
import re
import types
import typing
from collections.abc import Mapping
from decimal import Decimal

import pyarrow as pa

from ...messages.types import ColumnType, Field, Schema, SqlType
from .errors import ExpressionTypeError, RelationError, suggestion

TypeLike = str | type | SqlType | ColumnType | pa.DataType | types.UnionType
"""What stands for a type: ``"bigint?"``, ``int | None``, ``SqlType.BIGINT``, ``pa.int64()``."""

_NAMES: dict[str, SqlType] = {
    "boolean": SqlType.BOOLEAN,
    "bool": SqlType.BOOLEAN,
    "smallint": SqlType.SMALLINT,
    "int2": SqlType.SMALLINT,
    "int16": SqlType.SMALLINT,
    "integer": SqlType.INTEGER,
    "int": SqlType.INTEGER,
    "int4": SqlType.INTEGER,
    "int32": SqlType.INTEGER,
    "bigint": SqlType.BIGINT,
    "int8": SqlType.BIGINT,
    "int64": SqlType.BIGINT,
    "real": SqlType.REAL,
    "float4": SqlType.REAL,
    "float32": SqlType.REAL,
    "double": SqlType.DOUBLE,
    "double precision": SqlType.DOUBLE,
    "float": SqlType.DOUBLE,
    "float8": SqlType.DOUBLE,
    "float64": SqlType.DOUBLE,
    "numeric": SqlType.NUMERIC,
    "decimal": SqlType.NUMERIC,
    "text": SqlType.TEXT,
    "varchar": SqlType.TEXT,
    "string": SqlType.TEXT,
    "str": SqlType.TEXT,
    "bytea": SqlType.BYTEA,
    "bytes": SqlType.BYTEA,
    "binary": SqlType.BYTEA,
    "date": SqlType.DATE,
    "timestamp": SqlType.TIMESTAMP,
    "datetime": SqlType.TIMESTAMP,
}

_PYTHON: dict[object, SqlType] = {
    bool: SqlType.BOOLEAN,
    int: SqlType.BIGINT,
    float: SqlType.DOUBLE,
    Decimal: SqlType.NUMERIC,
    str: SqlType.TEXT,
    bytes: SqlType.BYTEA,
    datetime.date: SqlType.DATE,
    datetime.datetime: SqlType.TIMESTAMP,
}

_NULLABILITY = re.compile(r"(?P<name>.*?)\s*(?P<mark>\?|\s+not\s+null|\s+null)?", re.DOTALL)


def column_type(given: TypeLike) -> ColumnType:
    """The type and nullability that ``given`` stands for.

    Raises:
        ExpressionTypeError: it stands for none.
    """
    match given:
        case ColumnType():
            return given
        case SqlType():
            return ColumnType(given, nullable=False)
        case str():
            return _from_text(given)
        case pa.DataType():
            return ColumnType(sql_type_of_arrow(given), nullable=True)
        case _:
            return _from_python(given)


def sql_type(given: TypeLike) -> SqlType:
    """The SQL type that ``given`` stands for, whatever it says about NULL."""
    return column_type(given).type


def sql_type_of_value(value: object) -> SqlType | None:
    """The SQL type that a Python value has by itself, None when it has none."""
    return _PYTHON.get(value.__class__)


def sql_type_of_arrow(given: pa.DataType) -> SqlType:
    """The SQL type whose values an Arrow type's values are.

    Unsigned integers take the next wider signed type; timestamps of any unit and zone become microseconds in UTC.

    Raises:
        ExpressionTypeError: there is none (lists, structs, times of day, …).
    """
    found = _ARROW_IDS.get(given.id)
    if found is not None:
        return found
    if pa.types.is_dictionary(given):
        return sql_type_of_arrow(given.value_type)
    if pa.types.is_null(given):
        return SqlType.TEXT
    raise ExpressionTypeError(
        f"Arrow type {given} has no SQL type here; convert the column first, to one of {', '.join(SqlType)}"
    )


_ARROW_IDS: dict[int, SqlType] = {
    pa.bool_().id: SqlType.BOOLEAN,
    pa.int8().id: SqlType.SMALLINT,
    pa.uint8().id: SqlType.SMALLINT,
    pa.int16().id: SqlType.SMALLINT,
    pa.uint16().id: SqlType.INTEGER,
    pa.int32().id: SqlType.INTEGER,
    pa.uint32().id: SqlType.BIGINT,
    pa.int64().id: SqlType.BIGINT,
    pa.uint64().id: SqlType.NUMERIC,
    pa.float16().id: SqlType.REAL,
    pa.float32().id: SqlType.REAL,
    pa.float64().id: SqlType.DOUBLE,
    pa.decimal128(1).id: SqlType.NUMERIC,
    pa.decimal256(1).id: SqlType.NUMERIC,
    pa.string().id: SqlType.TEXT,
    pa.large_string().id: SqlType.TEXT,
    pa.string_view().id: SqlType.TEXT,
    pa.binary().id: SqlType.BYTEA,
    pa.large_binary().id: SqlType.BYTEA,
    pa.binary_view().id: SqlType.BYTEA,
    pa.binary(1).id: SqlType.BYTEA,
    pa.date32().id: SqlType.DATE,
    pa.date64().id: SqlType.DATE,
    pa.timestamp("us").id: SqlType.TIMESTAMP,
}


def schema_of(columns: Mapping[str, TypeLike] | pa.Schema | Schema) -> Schema:
    """A schema from a mapping of column name to type, or from an Arrow schema (which says itself what takes NULL).

    Raises:
        RelationError: no columns, or a name that is no non-empty string or appears twice.
        ExpressionTypeError: a type that is none, with the column's name.
    """
    if isinstance(columns, Schema):
        fields = list(columns.fields)
    elif isinstance(columns, pa.Schema):
        fields = [Field(f.name, _type_of_column(f.name, f.type).type, f.nullable) for f in columns]
    else:
        fields: list[Field] = []
        for name, given in columns.items():
            of_column = _type_of_column(name, given)
            fields.append(Field(name, of_column.type, of_column.nullable))
    check_names([field.name for field in fields])
    return Schema(tuple(fields))


def check_names(names: list[str]) -> None:
    """Check that names can be the columns of one relation.

    Raises:
        RelationError: there are none, or one is empty, no text, or there twice.
    """
    if not names:
        raise RelationError("a relation needs at least one column, and none was given")
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"a column's name is a text that is not empty, and {name!r} was given")
        if not is_valid_text(name):
            raise RelationError(f"a column's name is valid Unicode, without lone surrogates, and {name!r} was given")
        if name in seen:
            raise RelationError(f"column {name!r} appears twice; rename one of them with .alias(…) or name=…")
        seen.add(name)


def _type_of_column(name: object, given: TypeLike) -> ColumnType:
    try:
        return column_type(given)
    except ExpressionTypeError as error:
        raise ExpressionTypeError(f"column {name!r}: {error}") from None


def _from_text(text: str) -> ColumnType:
    found = _NULLABILITY.fullmatch(text.strip().lower())
    assert found is not None, "the pattern matches every text"
    name, mark = " ".join(found["name"].split()), (found["mark"] or "").strip()
    nullable = mark in ("?", "null")
    known = _NAMES.get(name)
    if known is None:
        raise ExpressionTypeError(
            f"{text!r} is no type{suggestion(name, tuple(SqlType))} (add '?' to one for a column that takes NULL)"
        )
    return ColumnType(known, nullable)


def _from_python(given: object) -> ColumnType:
    known = _PYTHON.get(given)
    if known is not None:
        return ColumnType(known, nullable=False)
    if isinstance(given, types.UnionType) or typing.get_origin(given) is typing.Union:
        members = [member for member in typing.get_args(given) if member is not type(None)]
        if len(members) == 1 and len(typing.get_args(given)) == 2 and members[0] in _PYTHON:
            return ColumnType(_PYTHON[members[0]], nullable=True)
    name = given.__name__ if isinstance(given, type) else repr(given)
    known_types = ", ".join(getattr(t, "__name__", str(t)) for t in _PYTHON)
    raise ExpressionTypeError(
        f"{name} is no type of a column; use a SQL name ({', '.join(SqlType)}) or one of {known_types}"
    )


def is_valid_text(text: str) -> bool:
    """Whether it can be written as UTF-8, which a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
