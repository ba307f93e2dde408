"""Orders: ``by=["region", col("amount")]`` with directions and the place of NULL."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages.relations import Order
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Schema
from .binding import RowScope, bind
from .errors import RelationError
from .expressions import Expression, as_column

OrderLike = Expression | str
"""A column by name, or an expression."""


def order_columns(
    schema: Schema,
    by: OrderLike | Sequence[OrderLike],
    descending: bool | Sequence[bool],
    nulls_first: bool | Sequence[bool],
    where: str,
) -> tuple[tuple[Order, ...], tuple[Scalar, ...]]:
    """The order, and the expressions that it needs as additional columns behind the schema's.

    Raises:
        UnknownColumnError: a column that is not there.
        RelationError: not as many directions as columns.
    """
    columns = [by] if isinstance(by, str | Expression) else list(by)
    downward = _per_column(descending, len(columns), f"{where}: descending")
    first = _per_column(nulls_first, len(columns), f"{where}: nulls_first")
    scope = RowScope(schema, where)
    orders: list[Order] = []
    added: list[Scalar] = []
    for column, down, nulls in zip(columns, downward, first, strict=True):
        scalar = bind(as_column(column).node, scope).scalar
        if isinstance(scalar, ColumnRef):
            position = scalar.index
        else:
            position = schema.arity + len(added)
            added.append(scalar)
        orders.append(Order(position, down, nulls))
    return tuple(orders), tuple(added)


def _per_column(given: bool | Sequence[bool], columns: int, parameter: str) -> list[bool]:
    if isinstance(given, bool):
        return [given] * columns
    values = list(given)
    if len(values) != columns or not all(isinstance(value, bool) for value in values):  # pyright: ignore
        raise RelationError(
            f"{parameter} takes one bool, or one for each of the {columns} columns; {given!r} was given"
        )
    return values
