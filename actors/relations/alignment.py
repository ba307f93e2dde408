"""Bringing two relations to the same columns, for union, difference and intersection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages.relations import Relation as Algebra
from ...messages.scalars import ColumnRef
from ...messages.types import Field, Schema
from .coercion import Bound, coerce, common_type
from .errors import ExpressionTypeError, RelationError
from .selection import project

if TYPE_CHECKING:
    from .relation import Relation


def align(left: Relation, right: Relation, where: str) -> tuple[Algebra, Algebra, Schema]:
    """Both sides with the left one's columns, in its order, numbers widened to a common type.

    Raises:
        RelationError: they do not have the same names.
        ExpressionTypeError: a column has no common type.
    """
    if set(left.columns) != set(right.columns):
        missing = [name for name in left.columns if name not in right.columns]
        extra = [name for name in right.columns if name not in left.columns]
        raise RelationError(
            f"{where} needs the same columns on both sides: the right side lacks {missing or 'none'} and has "
            f"{extra or 'none'} besides; use select or rename first"
        )
    fields: list[Field] = []
    one: list[tuple[Field, object]] = []
    two: list[tuple[Field, object]] = []
    other_position = {name: position for position, name in enumerate(right.columns)}
    for position, field in enumerate(left.schema.fields):
        other = right.schema.fields[other_position[field.name]]
        here = Bound(ColumnRef(position), field.column_type, f"left {field.name!r}")
        there = Bound(ColumnRef(other_position[field.name]), other.column_type, f"right {field.name!r}")
        try:
            type = common_type([here, there], where)
        except ExpressionTypeError as error:
            raise ExpressionTypeError(f"column {field.name!r}: {error}") from None
        result = Field(field.name, type, field.nullable or other.nullable)
        fields.append(result)
        one.append((result, coerce(here, type).scalar))
        two.append((result, coerce(there, type).scalar))
    left_algebra, schema = project(left.algebra, left.schema.arity, one)  # type: ignore[arg-type]
    right_algebra, _ = project(right.algebra, right.schema.arity, two)  # type: ignore[arg-type]
    return left_algebra, right_algebra, schema
