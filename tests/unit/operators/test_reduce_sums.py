"""Accumulable aggregates against a plain evaluation, at every time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.dataflow.columns import hashing
from pillion.dataflow.operators.reduce.logic import ReduceLogic
from pillion.messages.plans import AggregateKind, PlannedAggregate, ReduceNode
from pillion.messages.relations import Aggregate
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import ColumnType, SqlType

from .histories import Expected, Row, Rows, canonical, check, cuts, histories

KEYS = st.one_of(st.none(), st.integers(-1, 1))
FLOATS = st.one_of(st.none(), st.floats(width=64), st.sampled_from([0.1, 0.2, 1e300, -1e300, 1e-300, 5e-324, math.nan]))


def reduce_node(key_types: Sequence[SqlType], aggregates: Sequence[tuple[Aggregate, SqlType]]) -> ReduceNode:
    types = (*[ColumnType(t) for t in key_types], *[ColumnType(t) for _, t in aggregates])
    return ReduceNode(
        types=types,
        input=0,
        key=tuple([ColumnRef(i) for i in range(len(key_types))]),
        aggregates=tuple([PlannedAggregate(a, AggregateKind.ACCUMULABLE) for a, _ in aggregates]),
    )


def reduce_by(
    key: int, compute: Sequence[Callable[[list[object]], object]], columns: Sequence[int | None]
) -> Callable[[Rows], Expected]:
    """Group by the first ``key`` columns; each aggregate gets the values of its column that are not NULL."""

    def evaluate(rows: Rows) -> Expected:
        groups: dict[Row, list[Row]] = {}
        names: dict[Row, Row] = {}
        for row, count in rows.items():
            name = canonical(row[:key])
            names.setdefault(name, row[:key])
            groups.setdefault(name, []).extend([row] * count)
        result: Rows = Counter()
        for name, members in groups.items():
            values = [
                function(list(members) if c is None else [m[c] for m in members if m[c] is not None])
                for function, c in zip(compute, columns, strict=True)
            ]
            result[(*names[name], *values)] += 1
        return result, set()

    return evaluate


def total(values: list[object]) -> object:
    if not values:
        return None
    special = [v for v in values if isinstance(v, float) and not math.isfinite(v)]
    if special:
        return sum(special)
    if isinstance(values[0], float):
        exact = sum([Fraction(v) for v in values], Fraction(0))
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf
    return sum(values)


AGGREGATES = [
    (Aggregate("count"), SqlType.BIGINT),
    (Aggregate("count", ColumnRef(1)), SqlType.BIGINT),
    (Aggregate("sum", ColumnRef(1)), SqlType.BIGINT),
    (Aggregate("avg", ColumnRef(1)), SqlType.DOUBLE),
    (Aggregate("sum", ColumnRef(2)), SqlType.DOUBLE),
    (Aggregate("any", ColumnRef(3)), SqlType.BOOLEAN),
    (Aggregate("all", ColumnRef(3)), SqlType.BOOLEAN),
]
TYPES = (SqlType.INTEGER, SqlType.INTEGER, SqlType.DOUBLE, SqlType.BOOLEAN)
ROWS = st.tuples(KEYS, st.one_of(st.none(), st.integers(-3, 3)), FLOATS, st.one_of(st.none(), st.booleans()))
EXPECTED = reduce_by(
    1,
    [
        len,
        len,
        total,
        lambda v: sum(v) / len(v) if v else None,
        total,
        lambda v: any(v) if v else None,
        lambda v: all(v) if v else None,
    ],
    [None, 1, 1, 1, 2, 3, 3],
)


def new_logic() -> ReduceLogic:
    return ReduceLogic(reduce_node(TYPES[:1], AGGREGATES), [ColumnType(t) for t in TYPES], as_of=0)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_sums_are_right_at_every_time(changes: list, bounds: list) -> None:
    check(new_logic(), TYPES, changes, bounds, EXPECTED)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_sums_are_right_when_all_hashes_collide(changes: list, bounds: list) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "mix", lambda bits: bits * 0)
        patch.setattr(hashing, "combine", lambda left, right: left * 0)
        check(new_logic(), TYPES, changes, bounds, EXPECTED)
