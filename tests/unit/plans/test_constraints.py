"""Which keys a filter leaves of an index."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pillion.dataflow.plans.constraints import extract_literal_constraints, literals_equal_to
from pillion.dataflow.plans.parse_scalar import parse_scalar
from pillion.messages.plans import MapFilterProject
from pillion.messages.scalars import Literal, Value
from pillion.messages.types import ColumnType, SqlType

from .build import BIGINT, DATE, DOUBLE, INTEGER, NUMERIC, TEXT, col, lit

TYPES = (ColumnType(BIGINT), ColumnType(TEXT), ColumnType(DOUBLE), ColumnType(INTEGER))
REAL, TIMESTAMP, SMALLINT = SqlType.REAL, SqlType.TIMESTAMP, SqlType.SMALLINT


def extract(predicates: list[str], *key: int) -> tuple[list[tuple[Value, ...]], list[str]] | None:
    parsed = tuple(parse_scalar(predicate) for predicate in predicates)
    mfp = MapFilterProject(4, (), parsed, (0, 1, 2, 3))
    found = extract_literal_constraints(mfp, [col(column) for column in key], TYPES)
    if found is None:
        return None
    keys, rest = found
    kept = [text for text, predicate in zip(predicates, parsed, strict=True) if predicate in rest.predicates]
    return [tuple(literal.value for literal in values) for values in keys], kept


@pytest.mark.parametrize(
    ("predicates", "key", "keys", "rest"),
    [
        (["#0 = 5"], (0,), [(5,)], []),
        (["5 = #0"], (0,), [(5,)], []),
        (["#0 = 5 AND #2 > 1.0"], (0,), [(5,)], None),
        (["#0 = 5", "#2 > 1.0"], (0,), [(5,)], ["#2 > 1.0"]),
        (['#1 = "a"', "#0 = 5"], (0, 1), [(5, "a")], []),
        (["#0 = 5 OR #0 = 6 OR 5 = #0"], (0,), [(5,), (6,)], []),
        (["#0 = 5 OR #0 = 6", '#1 = "a" OR #1 = "b"'], (0, 1), [(5, "a"), (5, "b"), (6, "a"), (6, "b")], []),
        (["#0 = 5 OR #0 = 6", "#0 = 6 OR #0 = 7"], (0,), [(6,)], []),
        (["#0 = 5", "#0 = 6"], (0,), [], []),
        (["#0 = bigint null"], (0,), [], []),
        (["#0 = 2.0"], (0,), [(2,)], []),
        (["#0 = 2.5"], (0,), [], []),
        (["#3 = 99999999999"], (3,), [], []),
    ],
)
def test_keys(predicates: list[str], key: tuple[int, ...], keys: list[tuple[Value, ...]], rest: list[str]) -> None:
    found = extract(predicates, *key)
    assert found is not None
    assert found[0] == keys
    if rest is not None:
        assert found[1] == rest


@pytest.mark.parametrize(
    ("predicates", "key"),
    [
        ([], (0,)),
        (["#0 = 5"], ()),
        (["#0 = 5"], (0, 1)),
        (["#0 > 5"], (0,)),
        (["#0 = 5 OR #2 = 1.0"], (0,)),
        (["#0 = 5 OR #0 > 6"], (0,)),
        (["#0 = #3"], (0,)),
        (["NOT #0 = 5"], (0,)),
    ],
)
def test_a_filter_that_leaves_the_key_open(predicates: list[str], key: tuple[int, ...]) -> None:
    assert extract(predicates, *key) is None


def test_keys_are_looked_for_behind_computed_columns() -> None:
    mfp = MapFilterProject(4, (col(0),), (parse_scalar("#4 = 5"),), (4,))
    found = extract_literal_constraints(mfp, [col(0)], TYPES)
    assert found is not None and found[0] == ((lit(5),),)
    assert not found[1].predicates


@pytest.mark.parametrize(
    ("literal", "type", "values"),
    [
        (lit(5, INTEGER), BIGINT, [5]),
        (lit(40_000, BIGINT), SMALLINT, []),
        (lit(2.0, DOUBLE), NUMERIC, None),
        (lit(float("nan"), DOUBLE), BIGINT, []),
        (lit(float("inf"), DOUBLE), BIGINT, []),
        (lit(1e18, DOUBLE), BIGINT, None),
        (lit(Decimal("2.0"), NUMERIC), BIGINT, [2]),
        (lit(Decimal("2.5"), NUMERIC), BIGINT, []),
        (lit(2, BIGINT), NUMERIC, [Decimal(2)]),
        (lit(2**53 + 1, BIGINT), DOUBLE, [float(2**53)]),
        (lit(0.5, DOUBLE), REAL, [0.5]),
        (lit(0.1, DOUBLE), REAL, []),
        (lit(1e300, DOUBLE), REAL, []),
        (lit("5", TEXT), BIGINT, None),
        (lit(datetime.date(2013, 1, 31), DATE), TIMESTAMP, [datetime.datetime(2013, 1, 31)]),
        (lit(datetime.datetime(2013, 1, 31), TIMESTAMP), DATE, [datetime.date(2013, 1, 31)]),
        (lit(datetime.datetime(2013, 1, 31, 1), TIMESTAMP), DATE, []),
    ],
)
def test_values_that_equal_a_constant_of_another_type(
    literal: Literal, type: SqlType, values: list[Value] | None
) -> None:
    found = literals_equal_to(literal, type)
    assert (found if found is None else [literal.value for literal in found]) == values
