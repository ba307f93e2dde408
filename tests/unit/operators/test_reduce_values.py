"""Aggregates that are read off ordered values, alone and together with sums, at every time."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.dataflow.arrangements.updates import Chunk, Updates, error_messages
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.operators.reduce.logic import ReduceLogic
from pillion.messages.functions import pickle_function
from pillion.messages.plans import AggregateKind, PlannedAggregate, ReduceNode
from pillion.messages.relations import Aggregate
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import ColumnType, SqlType
from tests.unit.collisions import collide

from .histories import Change, Row, canonical, check, cuts, histories, updates_of
from .reductions import Case, new_reduce, plain_reduce

KEYS = st.sampled_from((None, 1, 2))
TEXTS = st.sampled_from((None, "", "a", "ab", "b", "é", "a\0", "z" * 20))
DOUBLES = st.sampled_from((None, math.nan, math.inf, -math.inf, -0.0, 0.5, 2.0, -3.25))
INTEGERS = st.one_of(st.none(), st.integers(-5, 5))
NUMERICS = st.sampled_from((None, Decimal("1.5"), Decimal("-2"), Decimal("0.25")))
TYPES = (SqlType.INTEGER, SqlType.TEXT, SqlType.DOUBLE, SqlType.INTEGER, SqlType.NUMERIC)
ROWS = st.tuples(KEYS, TEXTS, DOUBLES, INTEGERS, NUMERICS)


def order(value: object) -> object:
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value


def least(values: list) -> object:
    return min(values, key=order) if values else None


def greatest(values: list) -> object:
    return max(values, key=order) if values else None


def percentile(fraction: float):
    def evaluate(values: list) -> float | None:
        if not values:
            return None
        values = sorted([float(v) for v in values])
        place = fraction * (len(values) - 1)
        low, high = values[math.floor(place)], values[math.ceil(place)]
        return low if place == math.floor(place) or low == high else low + (place - math.floor(place)) * (high - low)

    return evaluate


def extreme(function: str, column: int, *, distinct: bool = False) -> Case:
    evaluate = least if function == "min" else greatest
    aggregate = Aggregate(function, ColumnRef(column), distinct=distinct)
    return Case(aggregate, TYPES[column], AggregateKind.HIERARCHICAL, evaluate)


def basic(aggregate: Aggregate, type: SqlType, evaluate) -> Case:
    return Case(aggregate, type, AggregateKind.BASIC, evaluate)


EXTREMES = [extreme(function, column) for function in ("min", "max") for column in (1, 2, 3, 4)]
SEPARATOR = (Literal.of("; ", SqlType.TEXT),)
NINETY = (Literal.of(0.9, SqlType.DOUBLE),)
BASICS = [
    basic(
        Aggregate("string_agg", ColumnRef(1), parameters=SEPARATOR),
        SqlType.TEXT,
        lambda v: "; ".join(sorted(v, key=str.encode)) if v else None,
    ),
    basic(
        Aggregate("string_agg", ColumnRef(1), distinct=True, parameters=SEPARATOR),
        SqlType.TEXT,
        lambda v: "; ".join(sorted(v, key=str.encode)) if v else None,
    ),
    basic(Aggregate("median", ColumnRef(3)), SqlType.DOUBLE, percentile(0.5)),
    basic(Aggregate("median", ColumnRef(4)), SqlType.DOUBLE, percentile(0.5)),
    basic(Aggregate("percentile", ColumnRef(3), parameters=NINETY), SqlType.DOUBLE, percentile(0.9)),
    basic(Aggregate("percentile", ColumnRef(3), distinct=True, parameters=NINETY), SqlType.DOUBLE, percentile(0.9)),
]
MIXED = [
    Case(Aggregate("count"), SqlType.BIGINT, AggregateKind.ACCUMULABLE, len),
    extreme("max", 3),
    BASICS[0],
    Case(Aggregate("sum", ColumnRef(3)), SqlType.BIGINT, AggregateKind.ACCUMULABLE, lambda v: sum(v) if v else None),
    extreme("min", 1, distinct=True),
    Case(Aggregate("count", ColumnRef(3), distinct=True), SqlType.BIGINT, AggregateKind.ACCUMULABLE, len),
]


def run(cases: list[Case], changes: list[Change], bounds: list[int]) -> None:
    check(new_reduce(TYPES, 1, cases), TYPES, changes, bounds, plain_reduce(1, cases))


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_extremes_are_right_at_every_time(changes: list[Change], bounds: list[int]) -> None:
    run(EXTREMES, changes, bounds)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_recomputed_aggregates_are_right_at_every_time(changes: list[Change], bounds: list[int]) -> None:
    run(BASICS, changes, bounds)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_aggregates_of_all_kinds_are_collated(changes: list[Change], bounds: list[int]) -> None:
    run(MIXED, changes, bounds)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_values_are_right_when_all_hashes_collide(changes: list[Change], bounds: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        collide(patch)
        run(EXTREMES[:3] + MIXED, changes, bounds)


@settings(deadline=None)
@given(histories(st.tuples(st.sampled_from((1, 2)), st.integers(0, 2)), valid=False), cuts())
def test_a_negative_multiplicity_is_an_error_until_it_recovers(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.INTEGER)
    count = Case(Aggregate("count", ColumnRef(1), distinct=True), SqlType.BIGINT, AggregateKind.ACCUMULABLE, len)
    smallest = Case(Aggregate("min", ColumnRef(1)), SqlType.INTEGER, AggregateKind.HIERARCHICAL, least)
    for cases in ([smallest], [count]):
        check(new_reduce(types, 1, cases), types, changes, bounds, plain_reduce(1, cases))


def rounded(row: Row) -> Row:
    return tuple([float(f"{v:.9g}") if isinstance(v, float) and not math.isnan(v) else v for v in canonical(row)])


@settings(deadline=None)
@given(histories(st.tuples(KEYS, st.one_of(st.none(), st.integers(10**9, 10**9 + 4)))), cuts())
def test_spreads_keep_their_digits(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.BIGINT)
    cases = [
        basic(
            Aggregate(name, ColumnRef(1)),
            SqlType.DOUBLE,
            lambda v, f=function, least=least: float(f(v)) if len(v) >= least else None,
        )
        for name, function, least in (
            ("variance", statistics.variance, 2),
            ("stddev", statistics.stdev, 2),
            ("variance_pop", statistics.pvariance, 1),
            ("stddev_pop", statistics.pstdev, 1),
        )
    ]
    check(new_reduce(types, 1, cases), types, changes, bounds, plain_reduce(1, cases), rounded)


def spread_of(values: pa.Array) -> object:
    if len(values) > 3:
        raise ValueError(f"{len(values)} values")
    low_and_high = pc.min_max(values)
    if low_and_high["min"].as_py() is None:
        return None
    return pc.subtract(low_and_high["max"], low_and_high["min"])


@settings(deadline=None)
@given(histories(st.tuples(st.just(1), INTEGERS)), cuts())
def test_user_aggregates_get_each_group_and_their_errors_are_data(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.INTEGER)
    user = pickle_function(spread_of, ColumnType(SqlType.INTEGER))
    aggregate = Aggregate("spread_of", ColumnRef(1), user=user)

    def plain(values: list) -> object:
        present = [v for v in values if v is not None]
        return max(present) - min(present) if present else None

    cases = [basic(aggregate, SqlType.INTEGER, plain)]

    def expected(rows):
        if rows.total() > 3:
            message = f"user function 'spread_of' failed: ValueError: {rows.total()} values"
            return Counter(), {message}
        return plain_reduce(1, cases)(rows)

    check(new_reduce(types, 1, cases), types, changes, bounds, expected)


@pytest.mark.parametrize("aggregate", [BASICS[0].aggregate, Aggregate("median", ColumnRef(1)), None])
@pytest.mark.parametrize("multiplicity", [2**61, 2**41])
def test_a_group_of_huge_multiplicity_is_an_error_until_it_is_smaller(
    aggregate: Aggregate | None, multiplicity: int
) -> None:
    if aggregate is None:
        aggregate = Aggregate("length", ColumnRef(1), user=pickle_function(len, ColumnType(SqlType.BIGINT)))
    text = aggregate.function == "string_agg"
    types = (SqlType.INTEGER, SqlType.TEXT if text else SqlType.INTEGER)
    result = SqlType.TEXT if text else SqlType.BIGINT if aggregate.user else SqlType.DOUBLE
    logic = new_reduce(types, 1, [basic(aggregate, result, len)])
    values: list[object] = ["a", "b", "c"] if text else [3, 4, 5]
    rows = [((group, value), 0, diff) for group, diff in ((1, 1), (2, multiplicity), (3, 1)) for value in values]
    out = logic.process(Chunk(0, 1, updates_of(rows, types)))
    assert out.oks is not None and sorted(row[0] for row, _, _ in out.oks.to_tuples()) == [1, 3]
    assert out.errs is not None and "too many" in error_messages(out.errs)[0]
    rows = [((2, value), 1, 1 - multiplicity) for value in values]
    out = logic.process(Chunk(1, 2, updates_of(rows, types)))
    expected = "a; b; c" if text else 3 if aggregate.user else 4.0
    assert out.oks is not None and out.oks.to_tuples() == [((2, expected), 1, 1)]
    assert out.errs is not None and out.errs.diffs.tolist() == [-1]


@pytest.mark.parametrize("function", ["min", "max"])
def test_a_huge_group_loses_its_extreme_again_and_again(function: str) -> None:
    size, steps = 20_000, 600
    types = (SqlType.INTEGER, SqlType.TEXT)
    case = Case(Aggregate(function, ColumnRef(1)), SqlType.TEXT, AggregateKind.HIERARCHICAL, len)
    logic = new_reduce(types, 1, [case])
    values = [f"{i:06}" for i in range(size)]
    if function == "max":
        values.reverse()
    ones = column_from_values([1] * size, SqlType.INTEGER)
    logic.process(Chunk(0, 1, Updates.of((ones, column_from_values(values, SqlType.TEXT)), 0)))
    for step in range(steps):
        time = step + 1
        out = logic.process(Chunk(time, time + 1, updates_of([((1, values[step]), time, -1)], types)))
        assert out.oks is not None
        assert sorted(out.oks.to_tuples(), key=lambda change: change[2]) == [
            ((1, values[step]), time, -1),
            ((1, values[step + 1]), time, 1),
        ]


def test_keys_and_inputs_may_be_computed_and_rows_that_fail_are_errors() -> None:
    types = (SqlType.INTEGER, SqlType.INTEGER)
    divided = Call("/", (Literal.of(12, SqlType.INTEGER), ColumnRef(1)))
    node = ReduceNode(
        types=(ColumnType(SqlType.INTEGER), ColumnType(SqlType.BIGINT), ColumnType(SqlType.INTEGER)),
        input=0,
        key=(Call("%", (ColumnRef(0), Literal.of(10, SqlType.INTEGER))),),
        aggregates=(
            PlannedAggregate(Aggregate("sum", divided), AggregateKind.ACCUMULABLE),
            PlannedAggregate(Aggregate("max", divided), AggregateKind.HIERARCHICAL),
        ),
    )
    logic = ReduceLogic(node, [ColumnType(t) for t in types])
    out = logic.process(Chunk(0, 1, updates_of([((11, 3), 0, 1), ((21, 4), 0, 1), ((7, 0), 0, 1)], types)))
    assert out.oks is not None
    assert out.oks.to_tuples() == [((1, 7, 4), 0, 1)]
    assert out.errs is not None
    assert out.errs.to_tuples() == [(("division by zero",), 0, 1)]
    out = logic.process(Chunk(1, 2, updates_of([((7, 0), 1, -1), ((7, 6), 1, 1)], types)))
    assert out.oks is not None
    assert out.oks.to_tuples() == [((7, 2, 2), 1, 1)]
    assert out.errs is not None
    assert out.errs.to_tuples() == [(("division by zero",), 1, -1)]
