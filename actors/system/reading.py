"""What all reads take: isolation, an explicit time, a timeout, an order and a limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...messages.commands import Finishing
from ...messages.frontiers import Timestamp
from ...messages.relations import Order
from ...messages.types import Schema
from ..errors import WrongArgument
from ..relations.binding import position_of
from ..relations.errors import RelationError, suggestion
from ..relations.relation import checked_count
from ..requests import Isolation
from .arguments import check_time, checked_seconds

IsolationLike = Isolation | str


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """When to read."""

    isolation: Isolation
    as_of: Timestamp | None
    timeout: float | None


def read_options(isolation: IsolationLike, as_of: Timestamp | None, timeout: float | None) -> ReadOptions:
    """The options that these arguments mean.

    Raises:
        WrongArgument: there is no such isolation, time or timeout.
    """
    try:
        level = Isolation(isolation)
    except ValueError:
        levels = tuple(level.value for level in Isolation)
        raise WrongArgument(f"there is no isolation {isolation!r}{suggestion(str(isolation), levels)}") from None
    check_time(as_of, "as_of")
    return ReadOptions(level, as_of, checked_seconds(timeout, "timeout"))


def finishing(
    schema: Schema,
    order_by: str | Sequence[str],
    descending: bool | Sequence[bool],
    nulls_first: bool | Sequence[bool],
    limit: int | None,
    offset: int,
    where: str,
) -> Finishing:
    """Order and limit over a result with this schema.

    Raises:
        UnknownColumnError: the result has no such column.
        RelationError: no number of rows, or not as many directions as columns.
    """
    if not order_by and limit is None and not offset:
        return _EVERYTHING
    limit = checked_count(where, "limit", limit)
    offset = checked_count(where, "offset", offset)
    if not isinstance(order_by, str | Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"{where}: order_by takes names of result columns, and {order_by!r} was given")
    names = [order_by] if isinstance(order_by, str) else list(order_by)
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"{where}: order_by takes names of result columns, and {name!r} was given")
    downward, first = _each(descending, names, "descending"), _each(nulls_first, names, "nulls_first")
    orders = [
        Order(position_of(name, schema, f"{where} order_by"), down, nulls)
        for name, down, nulls in zip(names, downward, first, strict=True)
    ]
    return Finishing(tuple(orders), limit, offset)


_EVERYTHING = Finishing()


def _each(given: bool | Sequence[bool], names: list[str], parameter: str) -> list[bool]:
    values = [given] * len(names) if isinstance(given, bool) else list(given) if isinstance(given, Iterable) else []  # pyright: ignore[reportUnnecessaryIsInstance]
    if len(values) != len(names) or not all(isinstance(value, bool) for value in values):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"{parameter} takes one bool, or one for each of {names}; {given!r} was given")
    return values
