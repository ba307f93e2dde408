"""Relations of constants: a few rows that are there from the beginning of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...messages.relations import Constant
from ...messages.scalars import Literal, Value
from ...messages.types import Schema
from .coercion import literal_of
from .errors import ExpressionTypeError, RelationError
from .relation import Relation
from .types import TypeLike, schema_of


def values(columns: Mapping[str, TypeLike] | Schema, rows: Iterable[Sequence[Value]]) -> Relation:
    """A constant relation, such as a small lookup table: ``values({"code": "text"}, [("UA",), ("AA",)])``.

    Raises:
        RelationError: a row does not have as many values as there are columns, or NULL where none may be.
        ExpressionTypeError: a value is not of its column's type.
    """
    schema = schema_of(columns)
    literals: list[tuple[Literal, ...]] = []
    for number, row in enumerate(rows):
        if len(row) != schema.arity:
            raise RelationError(f"values: row {number} has {len(row)} values, and there are {schema.arity} columns")
        literals.append(tuple(_literal(schema, number, position, value) for position, value in enumerate(row)))
    return Relation(Constant(schema.types, tuple(literals)), schema)


def _literal(schema: Schema, row: int, position: int, value: Value) -> Literal:
    field = schema.fields[position]
    if value is None and not field.nullable:
        raise RelationError(
            f"values: row {row} has NULL in column {field.name!r}, which takes none; declare it '{field.type}?'"
        )
    try:
        return literal_of(value, field.type)
    except ExpressionTypeError as error:
        raise ExpressionTypeError(f"values: row {row}, column {field.name!r}: {error}") from None
