"""``group_by(…).agg(…)``: expressions over groups, split into what is aggregated and what is computed from that."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dataflow.plans.aggregates import aggregate_type
from ...messages.errors import ExpressionError
from ...messages.relations import Aggregate, Binding, Constant, GetLocal, Let, Map, Negate, Project, Reduce, Union
from ...messages.relations import Relation as Algebra
from ...messages.scalars import ColumnRef, Literal
from ...messages.types import ColumnType, Field, Schema, SqlType
from .binding import Bound, RowScope, bind
from .coercion import coerce, literal_of
from .errors import ExpressionTypeError, RelationError
from .joins import LocalNames
from .nodes import Aggregation, ColumnName, show
from .selection import Named, bind_columns, field_of, project

_OVER_NUMBERS = frozenset({"sum", "avg", "median", "percentile", "std", "var"})
_COUNTING = frozenset({"sum", "avg"})
"""Over a condition these take true as 1 and false as 0."""
_OVER_BOOLEANS = frozenset({"any", "all"})


@dataclass(slots=True)
class GroupScope:
    """What an expression in ``agg`` may refer to: the keys by name, and aggregates, which it collects.

    Invariant: position i is key i, then aggregate i - len(keys).
    """

    schema: Schema
    keys: tuple[Field, ...]
    aggregates: list[Aggregate] = field(default_factory=list[Aggregate])
    aggregate_types: list[ColumnType] = field(default_factory=list[ColumnType])

    @property
    def types(self) -> tuple[ColumnType, ...]:
        return (*(key.column_type for key in self.keys), *self.aggregate_types)

    def column(self, node: ColumnName) -> Bound:
        for position, key in enumerate(self.keys):
            if key.name == node.name:
                return Bound(ColumnRef(position), key.column_type, node)
        RowScope(self.schema, "agg").column(node)
        keys = ", ".join(repr(key.name) for key in self.keys) or "none"
        raise RelationError(
            f"agg: {show(node)} has many values in a group; aggregate it ({show(node)}.sum(), .min(), …) or add it to "
            f"group_by (the group's keys are {keys})"
        )

    def aggregation(self, node: Aggregation) -> Bound:
        aggregate = _bind_aggregate(node, RowScope(self.schema, "inside an aggregate"))
        if aggregate in self.aggregates:
            position = self.aggregates.index(aggregate)
        else:
            try:
                type = aggregate_type(aggregate, self.schema.types)
            except ExpressionError as error:
                raise ExpressionTypeError(f"{show(node)}: {error}") from None
            position = len(self.aggregates)
            self.aggregates.append(aggregate)
            self.aggregate_types.append(type)
        return Bound(ColumnRef(len(self.keys) + position), self.aggregate_types[position], node)


def _bind_aggregate(node: Aggregation, scope: RowScope) -> Aggregate:
    if node.input is None:
        return Aggregate("count")
    bound = bind(node.input, scope)
    if bound.is_null:
        raise ExpressionTypeError(f"{show(node)} aggregates NULL without a type; give it one: lit(None, 'bigint')")
    if node.function in _COUNTING and bound.sql is SqlType.BOOLEAN:
        bound = coerce(bound, SqlType.INTEGER)
    if node.function in _OVER_NUMBERS and not bound.sql.is_number:
        raise ExpressionTypeError(f"{show(node)} takes a number, and {bound.shown} is {bound.sql}")
    if node.function in _OVER_BOOLEANS and bound.sql is not SqlType.BOOLEAN:
        raise ExpressionTypeError(f"{show(node)} takes a condition (boolean), and {bound.shown} is {bound.sql}")
    if node.function == "string_agg" and bound.sql is not SqlType.TEXT:
        raise ExpressionTypeError(f"{show(node)} takes a text, and {bound.shown} is {bound.sql}; use .cast('text')")
    parameters = tuple(_parameter(constant.value) for constant in node.parameters)
    return Aggregate(node.function, bound.scalar, node.distinct, parameters, node.user)


def _parameter(value: object) -> Literal:
    if isinstance(value, float):
        return literal_of(value, SqlType.DOUBLE)
    return literal_of(str(value), SqlType.TEXT)


def aggregate(
    input: Algebra, schema: Schema, keys: list[Named], outputs: list[Named], names: LocalNames
) -> tuple[Algebra, Schema]:
    """Group by the keys; the result has the keys' columns, then the outputs. Without keys it has exactly one row,
    also over no rows at all."""
    bound_keys = bind_columns(keys, schema, "group_by")
    scope = GroupScope(schema, tuple(key for key, _ in bound_keys))
    bound_outputs = [field_of(output.name, bind(output.expression.node, scope), "agg") for output in outputs]
    reduced: Algebra = Reduce(input, tuple(scalar for _, scalar in bound_keys), tuple(scope.aggregates))
    if not keys:
        reduced = with_default_row(reduced, scope.aggregates, scope.aggregate_types, names)
    passed = [(key, ColumnRef(position)) for position, (key, _) in enumerate(bound_keys)]
    return project(reduced, len(scope.types), [*passed, *bound_outputs])


def with_default_row(
    reduced: Algebra, aggregates: list[Aggregate], types: list[ColumnType], names: LocalNames
) -> Algebra:
    """The one row of aggregates over everything; over nothing, counts of 0 and otherwise NULL.

    The default row is there always, and taken away again as often as there is a real one.
    """
    if not aggregates:
        raise RelationError("agg without keys needs at least one aggregate, such as count()")
    for position, aggregate in enumerate(aggregates):
        if aggregate.function != "count":
            types[position] = ColumnType(types[position].type, nullable=True)
    default = tuple(
        Literal.of(0 if aggregate.function == "count" else None, type.type)
        for aggregate, type in zip(aggregates, types, strict=True)
    )
    local = names.fresh()
    missing = Union((Constant(tuple(types), (default,)), Negate(Map(Project(GetLocal(local), ()), default))))
    return Let((Binding(local, reduced),), Union((GetLocal(local), missing)))
