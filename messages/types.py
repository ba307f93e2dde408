"""SQL types, columns and schemas."""

from __future__ import annotations

import enum

import pyarrow as pa

from .structs import Message

NUMERIC_PRECISION = 38
NUMERIC_SCALE = 9
"""Every ``numeric`` is a decimal of 38 digits, 9 of them after the point (see docs/decisions.md)."""


class SqlType(enum.StrEnum):
    """The type of a column's values."""

    BOOLEAN = "boolean"
    SMALLINT = "smallint"
    INTEGER = "integer"
    BIGINT = "bigint"
    REAL = "real"
    DOUBLE = "double"
    NUMERIC = "numeric"
    TEXT = "text"
    BYTEA = "bytea"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that carries it: large (64-bit offset) strings, microsecond timestamps without a zone."""
        return _ARROW[self]

    @property
    def is_integer(self) -> bool:
        return self in (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)

    @property
    def is_float(self) -> bool:
        return self in (SqlType.REAL, SqlType.DOUBLE)

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_float or self is SqlType.NUMERIC


_ARROW: dict[SqlType, pa.DataType] = {
    SqlType.BOOLEAN: pa.bool_(),
    SqlType.SMALLINT: pa.int16(),
    SqlType.INTEGER: pa.int32(),
    SqlType.BIGINT: pa.int64(),
    SqlType.REAL: pa.float32(),
    SqlType.DOUBLE: pa.float64(),
    SqlType.NUMERIC: pa.decimal128(NUMERIC_PRECISION, NUMERIC_SCALE),
    SqlType.TEXT: pa.large_string(),
    SqlType.BYTEA: pa.large_binary(),
    SqlType.DATE: pa.date32(),
    SqlType.TIMESTAMP: pa.timestamp("us"),
}


class ColumnType(Message, frozen=True, array_like=True):
    """What a plan knows of a column: its type, and whether NULL may occur."""

    type: SqlType
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.type}{'?' if self.nullable else ''}"


class Field(Message, frozen=True, array_like=True):
    """One named column of a schema."""

    name: str
    type: SqlType
    nullable: bool = True

    @property
    def column_type(self) -> ColumnType:
        return ColumnType(self.type, self.nullable)


class Schema(Message, frozen=True):
    """The named, typed columns of a collection.

    Raises:
        ValueError: two columns have one name.
    """

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two columns are named {repeated!r}; names in a schema are unique")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def types(self) -> tuple[ColumnType, ...]:
        return tuple(field.column_type for field in self.fields)

    @property
    def arity(self) -> int:
        return len(self.fields)

    def to_arrow(self) -> pa.Schema:
        return pa.schema([pa.field(f.name, f.type.arrow, f.nullable) for f in self.fields])
