"""Conversions of single values, and of many when some have no counterpart."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.messages.errors import FunctionArgumentsError
from pillion.messages.scalars import Cast, ColumnRef
from pillion.messages.types import SqlType

from ..messages import strategies
from .evaluation import TYPES, Failed, cast, column, evaluate, same

D = Decimal
NAN, INF = math.nan, math.inf
NAMES = {type: name for name, type in TYPES.items()}


def syntax(type: str, text: str) -> Failed:
    return Failed(f'invalid input syntax for type {type}: "{text}"')


CASES: list[tuple[Any, str, str, Any]] = [
    (5, "bigint", "smallint", 5),
    (40000, "bigint", "smallint", Failed("smallint out of range")),
    (-(2**31) - 1, "bigint", "int", Failed("integer out of range")),
    (5, "smallint", "bigint", 5),
    (5, "smallint", "double", 5.0),
    (2**63 - 1, "bigint", "double", 2.0**63),
    (5, "int", "numeric", D(5)),
    (2**63 - 1, "bigint", "numeric", D(2**63 - 1)),
    (2.5, "double", "bigint", 2),
    (3.5, "double", "bigint", 4),
    (-2.5, "real", "int", -2),
    (2.0**63, "double", "bigint", Failed("bigint out of range")),
    (-(2.0**63), "double", "bigint", -(2**63)),
    (NAN, "double", "int", Failed("integer out of range")),
    (INF, "double", "smallint", Failed("smallint out of range")),
    (1e39, "double", "real", Failed("value out of range: overflow")),
    (INF, "double", "real", INF),
    (NAN, "double", "real", NAN),
    (0.1, "double", "numeric", D("0.1")),
    (1234567.1, "double", "numeric", D("1234567.1")),
    (1e28, "double", "numeric", D(10) ** 28),
    (1e29, "double", "numeric", Failed("numeric out of range")),
    (NAN, "double", "numeric", Failed("numeric out of range")),
    (0.5, "real", "numeric", D("0.5")),
    (D("2.5"), "numeric", "bigint", 3),
    (D("-2.5"), "numeric", "int", -3),
    (D("2.499999999"), "numeric", "smallint", 2),
    (D(2) ** 63, "numeric", "bigint", Failed("bigint out of range")),
    (D(2) ** 63 - 1, "numeric", "bigint", 2**63 - 1),
    (D("0.3"), "numeric", "double", 0.3),
    (D("123456789012345678901234567.5"), "numeric", "double", 1.2345678901234568e26),
    (True, "bool", "int", 1),
    (0, "bigint", "bool", False),
    (-3, "smallint", "bool", True),
    (datetime.date(2013, 1, 2), "date", "timestamp", datetime.datetime(2013, 1, 2)),
    (datetime.date(1, 1, 1), "date", "timestamp", datetime.datetime(1, 1, 1)),
    (datetime.datetime(1969, 12, 31, 23, 59), "timestamp", "date", datetime.date(1969, 12, 31)),
    # To text.
    (True, "bool", "text", "true"),
    (-5, "smallint", "text", "-5"),
    (1.0, "double", "text", "1"),
    (0.1, "double", "text", "0.1"),
    (1e15, "double", "text", "1000000000000000"),
    (1e16, "double", "text", "1e+16"),
    (1e-5, "double", "text", "1e-05"),
    (123456789012.5, "double", "text", "123456789012.5"),
    (0.1, "real", "text", "0.1"),
    (NAN, "double", "text", "NaN"),
    (-INF, "double", "text", "-Infinity"),
    (D("1.50"), "numeric", "text", "1.5"),
    (D("-0.000000001"), "numeric", "text", "-0.000000001"),
    (D("100"), "numeric", "text", "100"),
    (D("-12345678901234567890.5"), "numeric", "text", "-12345678901234567890.5"),
    (datetime.date(2013, 1, 2), "date", "text", "2013-01-02"),
    (datetime.datetime(2013, 1, 2, 3, 4, 5), "timestamp", "text", "2013-01-02 03:04:05"),
    (datetime.datetime(2013, 1, 2, 3, 4, 5, 120000), "timestamp", "text", "2013-01-02 03:04:05.12"),
    (b"\x00\xff", "bytea", "text", "\\x00ff"),
    (b"", "bytea", "text", "\\x"),
    # From text.
    ("12", "text", "bigint", 12),
    (" +12 ", "text", "bigint", 12),
    ("-12", "text", "smallint", -12),
    ("1.5", "text", "bigint", syntax("bigint", "1.5")),
    ("", "text", "int", syntax("integer", "")),
    ("70000", "text", "smallint", Failed('"70000" is out of range for type smallint')),
    ("9223372036854775808", "text", "bigint", Failed('"9223372036854775808" is out of range for type bigint')),
    ("1e3", "text", "double", 1000.0),
    (" 1.5", "text", "real", 1.5),
    ("NaN", "text", "double", NAN),
    ("-Infinity", "text", "double", -INF),
    ("1e400", "text", "double", Failed('"1e400" is out of range for type double')),
    ("1e39", "text", "real", Failed('"1e39" is out of range for type real')),
    ("x", "text", "double", syntax("double", "x")),
    ("1.5", "text", "numeric", D("1.5")),
    (" -1e2 ", "text", "numeric", D(-100)),
    ("0.0000000005", "text", "numeric", D("0.000000001")),
    ("9" * 29, "text", "numeric", D("9" * 29)),
    ("9" * 30, "text", "numeric", Failed(f'"{"9" * 30}" is out of range for type numeric')),
    ("1e999999999999999999", "text", "numeric", Failed('"1e999999999999999999" is out of range for type numeric')),
    ("NaN", "text", "numeric", syntax("numeric", "NaN")),
    ("true", "text", "bool", True),
    (" OFF ", "text", "bool", False),
    ("o", "text", "bool", syntax("boolean", "o")),
    ("2013-01-02", "text", "date", datetime.date(2013, 1, 2)),
    (" 2013-01-02 ", "text", "date", datetime.date(2013, 1, 2)),
    ("2013-02-30", "text", "date", Failed('date/time field value out of range: "2013-02-30"')),
    ("0000-01-01", "text", "date", Failed('date out of range: "0000-01-01"')),
    ("02.01.2013", "text", "date", syntax("date", "02.01.2013")),
    ("2013-01-02 03:04:05.5", "text", "timestamp", datetime.datetime(2013, 1, 2, 3, 4, 5, 500000)),
    ("2013-01-02", "text", "timestamp", datetime.datetime(2013, 1, 2)),
    ("2013-01-02 25:00:00", "text", "timestamp", Failed('date/time field value out of range: "2013-01-02 25:00:00"')),
    ("2013-01-02 03:04:05Z", "text", "timestamp", syntax("timestamp", "2013-01-02 03:04:05Z")),
    ("\\x00ff", "text", "bytea", b"\x00\xff"),
    ("é", "text", "bytea", b"\xc3\xa9"),
    ("\\x0g", "text", "bytea", Failed('invalid hexadecimal data: "\\x0g"')),
]


@pytest.mark.parametrize(("value", "source", "target", "expected"), CASES, ids=[f"{c[0]!r}-{c[2]}" for c in CASES])
def test_conversion_of_a_value(value: Any, source: str, target: str, expected: Any) -> None:
    found = cast(value, source, target)
    assert same(found, expected), (found, expected)


@given(strategies.sql_types.flatmap(lambda type: st.tuples(st.just(type), strategies.VALUES[type])))
def test_text_reads_back_as_the_same_value(drawn: tuple[SqlType, Any]) -> None:
    type, value = drawn
    original = column(NAMES[type], [value])
    (text,) = evaluate(Cast(ColumnRef(0), SqlType.TEXT), [original])
    assert isinstance(text, str)
    (back,) = evaluate(Cast(ColumnRef(0), type), [column("text", [text])])
    (kept,) = original.to_values()
    assert same(back, kept), (text, back, kept)


def test_the_bad_rows_fail_and_the_others_go_on() -> None:
    texts = [str(number) for number in range(1000)]
    texts[3], texts[700], texts[701] = "three", "7e2", "99999999999999999999"
    values = evaluate(Cast(ColumnRef(0), SqlType.BIGINT), [column("text", [*texts, None])])
    expected: list[Any] = [*range(1000), None]
    expected[3], expected[700] = syntax("bigint", "three"), syntax("bigint", "7e2")
    expected[701] = Failed('"99999999999999999999" is out of range for type bigint')
    assert values == expected


def test_a_column_that_is_all_bad() -> None:
    rows = 20_000
    values = evaluate(Cast(ColumnRef(0), SqlType.DOUBLE), [column("text", ["bad"] * rows)])
    assert values == [syntax("double", "bad")] * rows


@pytest.mark.parametrize(
    ("source", "target"),
    [("bool", "double"), ("date", "bigint"), ("bytea", "int"), ("timestamp", "bool"), ("numeric", "date")],
)
def test_types_that_do_not_convert(source: str, target: str) -> None:
    with pytest.raises(FunctionArgumentsError, match="is not possible: expected a type that can become the other"):
        evaluate(Cast(ColumnRef(0), TYPES[target]), [column(source, [None])])


def test_empty_columns() -> None:
    for source, type in TYPES.items():
        assert evaluate(Cast(ColumnRef(0), SqlType.TEXT), [column(source, [])]) == []
        assert evaluate(Cast(ColumnRef(0), type), [column("text", [])]) == []


def test_sliced_columns() -> None:
    numbers = column("numeric", [D(1), D("2.5"), None, D("1e20")]).slice(1, 4)
    assert evaluate(Cast(ColumnRef(0), SqlType.TEXT), [numbers]) == ["2.5", None, "100000000000000000000"]
    byteas = column("bytea", [b"a", b"bc", None, b"d"]).slice(1, 4)
    assert evaluate(Cast(ColumnRef(0), SqlType.TEXT), [byteas]) == ["\\x6263", None, "\\x64"]
