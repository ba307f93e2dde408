"""The table of aggregates: what they take, what they return, how a reduction maintains them.

NULL follows SQL: an aggregate passes over NULL inputs, and is NULL for a group that has nothing else; only ``count(*)``
counts rows.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...messages.errors import ExpressionError
from ...messages.plans import AggregateKind
from ...messages.relations import Aggregate
from ...messages.scalars import Literal
from ...messages.types import ColumnType, SqlType
from ..scalars.typing import scalar_type


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One entry of the table.

    ``result`` maps the input's type to the aggregate's, or to None when it does not take it. ``parameters`` are the
    types of the constants that follow the input. ``may_vanish``: NULL although the group has values. ``idempotent``:
    the same value twice changes nothing, so ``distinct`` does not either.
    """

    kind: AggregateKind
    result: Callable[[SqlType], SqlType | None]
    expected: str
    parameters: tuple[SqlType, ...] = ()
    may_vanish: bool = False
    idempotent: bool = False


def _sum(input: SqlType) -> SqlType | None:
    if input.is_integer:
        return SqlType.BIGINT
    if input.is_float:
        return SqlType.DOUBLE
    return input if input is SqlType.NUMERIC else None


def _average(input: SqlType) -> SqlType | None:
    if input is SqlType.NUMERIC:
        return input
    return _real(input)


def _real(input: SqlType) -> SqlType | None:
    return SqlType.DOUBLE if input.is_number else None


def _same(input: SqlType) -> SqlType:
    return input


def _only(type: SqlType) -> Callable[[SqlType], SqlType | None]:
    return lambda input: input if input is type else None


_ACCUMULABLE, _HIERARCHICAL, _BASIC = AggregateKind.ACCUMULABLE, AggregateKind.HIERARCHICAL, AggregateKind.BASIC
_BOOLEANS = AggregateFunction(_ACCUMULABLE, _only(SqlType.BOOLEAN), "a boolean", idempotent=True)
_EXTREME = AggregateFunction(_HIERARCHICAL, _same, "any type", idempotent=True)
# A spread from running sums of squares loses every digit when the mean is large, so it is computed from the group.
_SPREAD = AggregateFunction(_BASIC, _real, "a number", may_vanish=True)
_POPULATION_SPREAD = AggregateFunction(_BASIC, _real, "a number")

AGGREGATES: dict[str, AggregateFunction] = {
    "count": AggregateFunction(_ACCUMULABLE, lambda _: SqlType.BIGINT, "any type"),
    "sum": AggregateFunction(_ACCUMULABLE, _sum, "a number"),
    "avg": AggregateFunction(_ACCUMULABLE, _average, "a number"),
    "any": _BOOLEANS,
    "all": _BOOLEANS,
    "min": _EXTREME,
    "max": _EXTREME,
    "string_agg": AggregateFunction(_BASIC, _only(SqlType.TEXT), "a text", (SqlType.TEXT,)),
    "median": AggregateFunction(_BASIC, _real, "a number"),
    "percentile": AggregateFunction(_BASIC, _real, "a number", (SqlType.DOUBLE,)),
    "stddev": _SPREAD,
    "variance": _SPREAD,
    "stddev_pop": _POPULATION_SPREAD,
    "variance_pop": _POPULATION_SPREAD,
}
"""Every built-in aggregate by name. ``median`` and ``percentile`` interpolate; ``string_agg`` joins in the order of
values; ``stddev`` and ``variance`` are those of a sample, NULL for a single value."""


def aggregate_kind(aggregate: Aggregate) -> AggregateKind:
    """How a reduction maintains it; user aggregates are recomputed from their group."""
    return _BASIC if aggregate.user is not None else AGGREGATES[aggregate.function].kind


def is_idempotent(aggregate: Aggregate) -> bool:
    """Whether ``distinct`` makes no difference to it."""
    return aggregate.user is None and AGGREGATES[aggregate.function].idempotent


def aggregate_type(aggregate: Aggregate, inputs: Sequence[ColumnType]) -> ColumnType:
    """The type of an aggregate over rows of these types.

    Raises:
        ExpressionError: there is no such aggregate, or it does not take this input or these parameters.
    """
    if aggregate.input is None:
        if aggregate.function != "count" or aggregate.distinct or aggregate.user is not None or aggregate.parameters:
            raise ExpressionError(f"{aggregate.function}(*) is not possible: only count takes whole rows")
        return ColumnType(SqlType.BIGINT, nullable=False)
    input = scalar_type(aggregate.input, inputs)
    if aggregate.user is not None:
        return aggregate.user.result
    entry = AGGREGATES.get(aggregate.function)
    if entry is None:
        similar = difflib.get_close_matches(aggregate.function, AGGREGATES, n=1)
        hint = f"; did you mean {similar[0]}?" if similar else f"; there are {', '.join(AGGREGATES)}"
        raise ExpressionError(f"there is no aggregate {aggregate.function!r}{hint}")
    result = entry.result(input.type)
    if result is None:
        raise ExpressionError(f"{aggregate.function}({input.type}) is not possible: expected {entry.expected}")
    _check_parameters(aggregate.function, entry.parameters, aggregate.parameters)
    nullable = aggregate.function != "count" and (entry.may_vanish or input.nullable)
    return ColumnType(result, nullable)


def _check_parameters(function: str, expected: tuple[SqlType, ...], given: tuple[Literal, ...]) -> None:
    fits = len(expected) == len(given) and all(
        literal.raw is not None and (literal.type is type or (type is SqlType.DOUBLE and literal.type.is_number))
        for type, literal in zip(expected, given, strict=True)
    )
    if not fits:
        takes = ", ".join(expected) if expected else "none"
        shown = ", ".join(f"{literal.type} {literal.raw!r}" for literal in given) or "none"
        raise ExpressionError(f"{function} takes these parameters after its input: {takes}; given {shown}")
    if function == "percentile" and not 0 <= float(given[0].raw or 0) <= 1:
        raise ExpressionError(f"percentile takes a fraction from 0 to 1; given {given[0].raw!r}")
