"""Accumulable aggregates against a plain evaluation, at every time."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.messages.plans import AggregateKind
from pillion.messages.relations import Aggregate
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType
from tests.unit.collisions import collide

from .histories import TIMES, Change, Row, check, cuts, histories
from .reductions import Case, new_reduce, plain_reduce

KEYS = st.one_of(st.none(), st.integers(-1, 1))
FLOATS = st.one_of(st.none(), st.floats(width=64), st.sampled_from([0.1, 0.2, 1e300, -1e300, 1e-300, 5e-324, math.nan]))
TYPES = (SqlType.INTEGER, SqlType.INTEGER, SqlType.DOUBLE, SqlType.BOOLEAN)
ROWS = st.tuples(KEYS, st.one_of(st.none(), st.integers(-3, 3)), FLOATS, st.one_of(st.none(), st.booleans()))


def total(values: list) -> object:
    """The sum; of doubles the exact one, rounded once."""
    if not values:
        return None
    if not isinstance(values[0], float):
        return sum(values)
    if not all(map(math.isfinite, values)):
        return sum(v for v in values if not math.isfinite(v))
    exact = sum([Fraction(v) for v in values], Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def average(values: list) -> object:
    sum_of_all = total(values)
    return sum_of_all / len(values) if isinstance(sum_of_all, float | int) else None


def accumulable(aggregate: Aggregate, type: SqlType, evaluate) -> Case:
    return Case(aggregate, type, AggregateKind.ACCUMULABLE, evaluate)


CASES = [
    accumulable(Aggregate("count"), SqlType.BIGINT, len),
    accumulable(Aggregate("count", ColumnRef(1)), SqlType.BIGINT, len),
    accumulable(Aggregate("sum", ColumnRef(1)), SqlType.BIGINT, total),
    accumulable(Aggregate("avg", ColumnRef(1)), SqlType.DOUBLE, average),
    accumulable(Aggregate("sum", ColumnRef(2)), SqlType.DOUBLE, total),
    accumulable(Aggregate("avg", ColumnRef(2)), SqlType.DOUBLE, average),
    accumulable(Aggregate("any", ColumnRef(3)), SqlType.BOOLEAN, lambda v: any(v) if v else None),
    accumulable(Aggregate("all", ColumnRef(3)), SqlType.BOOLEAN, lambda v: all(v) if v else None),
]
DISTINCT = [
    accumulable(Aggregate("count"), SqlType.BIGINT, len),
    accumulable(Aggregate("count", ColumnRef(1), distinct=True), SqlType.BIGINT, len),
    accumulable(Aggregate("sum", ColumnRef(1), distinct=True), SqlType.BIGINT, total),
    accumulable(Aggregate("sum", ColumnRef(1)), SqlType.BIGINT, total),
    accumulable(Aggregate("count", ColumnRef(2), distinct=True), SqlType.BIGINT, len),
    accumulable(Aggregate("sum", ColumnRef(2), distinct=True), SqlType.DOUBLE, total),
]


def run(cases: list[Case], changes: list[Change], bounds: list[int]) -> None:
    check(new_reduce(TYPES, 1, cases), TYPES, changes, bounds, plain_reduce(1, cases))


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_sums_are_right_at_every_time(changes: list[Change], bounds: list[int]) -> None:
    run(CASES, changes, bounds)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_distinct_sums_are_right_at_every_time(changes: list[Change], bounds: list[int]) -> None:
    run(DISTINCT, changes, bounds)


@settings(deadline=None)
@given(histories(ROWS), cuts())
def test_sums_are_right_when_all_hashes_collide(changes: list[Change], bounds: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        collide(patch)
        run(CASES + DISTINCT, changes, bounds)


@settings(deadline=None)
@given(histories(st.tuples(KEYS)), cuts())
def test_without_aggregates_keys_are_distinct(changes: list[Change], bounds: list[int]) -> None:
    check(new_reduce((SqlType.INTEGER,), 1, []), (SqlType.INTEGER,), changes, bounds, plain_reduce(1, []))


@settings(deadline=None)
@given(histories(st.tuples(st.integers(0, 1)), valid=False), cuts())
def test_a_negative_count_is_an_error_until_it_recovers(changes: list[Change], bounds: list[int]) -> None:
    cases = CASES[:1]
    check(new_reduce((SqlType.INTEGER,), 1, cases), (SqlType.INTEGER,), changes, bounds, plain_reduce(1, cases))


BIG = st.sampled_from([2**63 - 1, -(2**63), 2**62, -(2**62), 1, -1, 2**32, None])


@settings(deadline=None)
@given(histories(st.tuples(st.just(1), BIG)), cuts())
def test_a_sum_beyond_bigint_is_an_error_until_it_is_back_in_range(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.BIGINT)
    cases = [accumulable(Aggregate("sum", ColumnRef(1)), SqlType.BIGINT, total)]
    plain = plain_reduce(1, cases)

    def expected(rows):
        result, errors = plain(rows)
        beyond = [row for row in result if row[1] is not None and not -(2**63) <= row[1] < 2**63]
        for row in beyond:
            del result[row]
        return result, errors | ({"bigint out of range"} if beyond else set())

    check(new_reduce(types, 1, cases), types, changes, bounds, expected)


GREATEST = "99999999999999999999999999999.999999999"
NUMERICS = st.sampled_from([None, *map(Decimal, ("1", "-0.000000001", "12.5", GREATEST, "-9223372036.854775808"))])


def numeric_average(values: list[Decimal]) -> Fraction | None:
    if not values:
        return None
    units = int(sum(Fraction(v) for v in values) * 10**9)
    quotient = (2 * abs(units) + len(values)) // (2 * len(values))
    return Fraction(quotient if units >= 0 else -quotient, 10**9)


def as_fractions(row: Row) -> Row:
    return tuple([Fraction(v) if isinstance(v, Decimal) else v for v in row])


def exact_total(values: list[Decimal]) -> Fraction | None:
    return sum([Fraction(v) for v in values], Fraction(0)) if values else None


@settings(deadline=None)
@given(histories(st.tuples(st.just(1), NUMERICS)), cuts())
def test_sums_of_numeric_are_exact(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.NUMERIC)
    cases = [accumulable(Aggregate("sum", ColumnRef(1)), SqlType.NUMERIC, exact_total)]
    plain = plain_reduce(1, cases)

    def expected(rows):
        result, errors = plain(rows)
        beyond = [row for row in result if row[1] is not None and abs(row[1]) >= 10**29]
        for row in beyond:
            del result[row]
        return result, errors | ({"numeric out of range"} if beyond else set())

    check(
        new_reduce(types, 1, cases),
        types,
        changes,
        bounds,
        expected,
        as_fractions,
    )


@settings(deadline=None)
@given(histories(st.tuples(st.just(1), NUMERICS)), cuts())
def test_averages_of_numeric_round_half_away_from_zero(changes: list[Change], bounds: list[int]) -> None:
    types = (SqlType.INTEGER, SqlType.NUMERIC)
    cases = [accumulable(Aggregate("avg", ColumnRef(1)), SqlType.NUMERIC, numeric_average)]
    check(new_reduce(types, 1, cases), types, changes, bounds, plain_reduce(1, cases), as_fractions)


def test_huge_multiplicities_do_not_wrap() -> None:
    types = (SqlType.INTEGER, SqlType.BIGINT, SqlType.DOUBLE)
    cases = [
        accumulable(Aggregate("sum", ColumnRef(1)), SqlType.BIGINT, total),
        accumulable(Aggregate("sum", ColumnRef(2)), SqlType.DOUBLE, total),
    ]
    huge = 2**40
    changes = [
        ((1, 3, 0.1), 0, 1),
        ((1, 2**40, 0.7), 1, huge),
        ((1, 2**40, 0.7), 3, -huge + 1),
        ((1, -5, 2.5), 4, huge),
    ]

    def expected(rows):
        values = [(row[1], row[2], count) for row, count in rows.items()]
        integers = sum(v * n for v, _, n in values)
        doubles = float(sum(Fraction(v) * n for _, v, n in values))
        if not -(2**63) <= integers < 2**63:
            return {}, {"bigint out of range"}
        return {(1, integers, doubles): 1} if rows else {}, set()

    check(new_reduce(types, 1, cases), types, changes, range(TIMES + 1), expected)


def test_many_groups_come_and_go() -> None:
    """Slots are used again, and the state stays as small as what is there."""
    types = (SqlType.TEXT, SqlType.INTEGER)
    cases = [*CASES[:1], accumulable(Aggregate("sum", ColumnRef(1)), SqlType.BIGINT, total)]
    changes = []
    for time in range(TIMES):
        changes += [((f"group {i}", i), time, 1) for i in range(time * 500, time * 500 + 1000)]
        if time:
            changes += [((f"group {i}", i), time, -1) for i in range((time - 1) * 500, time * 500)]
    logic = new_reduce(types, 1, cases)
    check(logic, types, changes, [0, 1, 3, 4, TIMES], plain_reduce(1, cases))
