"""``select`` and ``with_columns``: expressions that become columns, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...messages.relations import Map, Project, Relation
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Field, Schema
from .binding import Bound, RowScope, bind
from .errors import ExpressionTypeError, RelationError
from .expressions import Expression, as_column
from .types import check_names

ColumnLike = Expression | str
"""A column by name, or an expression."""


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column that it makes."""

    name: str
    expression: Expression


def named_columns(
    columns: Iterable[ColumnLike | Iterable[ColumnLike]], named: Mapping[str, object], where: str
) -> list[Named]:
    """The columns that a call such as ``select("a", col("b") + 1, total="c")`` lists. As in Polars, a text names a
    column everywhere; a constant text is ``lit("…")``.

    Raises:
        RelationError: one has no name.
    """
    found: list[Named] = []
    for column in _flatten(columns):
        expression = as_column(column)
        name = expression.output_name
        if name is None:
            raise RelationError(f"{where}: {expression!r} has no name; give it one with .alias('…') or name=…")
        found.append(Named(name, expression))
    found.extend(Named(name, as_column(value)) for name, value in named.items())
    return found


def _flatten(columns: Iterable[ColumnLike | Iterable[ColumnLike]]) -> Iterable[ColumnLike]:
    for column in columns:
        if isinstance(column, list | tuple):
            yield from column
        else:
            yield column  # type: ignore[misc]  # as_column names what is neither


def bind_columns(columns: list[Named], schema: Schema, where: str) -> list[tuple[Field, Scalar]]:
    """The columns over a row of this schema.

    Raises:
        ExpressionTypeError: one is a NULL without a type.
    """
    scope = RowScope(schema, where)
    return [field_of(column.name, bind(column.expression.node, scope), where) for column in columns]


def field_of(name: str, bound: Bound, where: str) -> tuple[Field, Scalar]:
    """A bound expression as a named column."""
    if bound.is_null:
        raise ExpressionTypeError(f"{where}: column {name!r} is NULL without a type; give it one: lit(None, 'bigint')")
    return Field(name, bound.sql, bound.type.nullable), bound.scalar


def project(input: Relation, arity: int, outputs: list[tuple[Field, Scalar]]) -> tuple[Relation, Schema]:
    """The relation with exactly these columns; ``arity`` is the input's."""
    fields = [field for field, _ in outputs]
    check_names([field.name for field in fields])
    computed = [scalar for _, scalar in outputs if not isinstance(scalar, ColumnRef)]
    positions: list[int] = []
    next_computed = arity
    for _, scalar in outputs:
        if isinstance(scalar, ColumnRef):
            positions.append(scalar.index)
        else:
            positions.append(next_computed)
            next_computed += 1
    relation = Map(input, tuple(computed)) if computed else input
    if positions != list(range(next_computed)):
        relation = Project(relation, tuple(positions))
    return relation, Schema(tuple(fields))


def replace_columns(schema: Schema, outputs: list[tuple[Field, Scalar]]) -> list[tuple[Field, Scalar]]:
    """All columns of a schema, with these replaced (same name) or appended."""
    check_names([field.name for field, _ in outputs])
    new = {field.name: (field, scalar) for field, scalar in outputs}
    kept = [new.pop(field.name, (field, ColumnRef(position))) for position, field in enumerate(schema.fields)]
    return kept + list(new.values())
