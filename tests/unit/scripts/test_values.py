"""Rows in scripts."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.scripts.errors import DirectiveError
from pillion.actors.scripts.values import (
    DEFAULT_SCHEMA,
    read_row,
    read_type,
    read_value,
    show_row,
    show_value,
    sort_key,
    synthetic_columns,
)
from pillion.messages.scalars import Value
from pillion.messages.types import Field, Schema, SqlType

VALUES: dict[SqlType, st.SearchStrategy[Value]] = {
    SqlType.BOOLEAN: st.booleans(),
    SqlType.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    SqlType.INTEGER: st.integers(-(2**31), 2**31 - 1),
    SqlType.BIGINT: st.integers(-(2**63), 2**63 - 1),
    SqlType.REAL: st.floats(width=32, allow_nan=False),
    SqlType.DOUBLE: st.floats(allow_nan=False),
    SqlType.NUMERIC: st.decimals(
        allow_nan=False, allow_infinity=False, places=9, min_value=-(10**20), max_value=10**20
    ),
    SqlType.TEXT: st.text(),
    SqlType.BYTEA: st.binary(),
    SqlType.DATE: st.dates(),
    SqlType.TIMESTAMP: st.datetimes(),
}


@given(st.sampled_from(list(SqlType)).flatmap(lambda type: st.tuples(st.just(type), VALUES[type])))
def test_what_is_shown_is_read_back(case: tuple[SqlType, Value]) -> None:
    type, value = case
    assert read_value(show_value(value), type) == value


def test_nan_is_read_back() -> None:
    read = read_value(show_value(math.nan), SqlType.DOUBLE)
    assert isinstance(read, float)
    assert math.isnan(read)


def test_rows_are_shown_with_quoted_strings_and_null() -> None:
    row = (1, 'say "hi"', None, True, Decimal("1.500"), datetime.date(2024, 2, 29))
    assert show_row(row) == '1 "say \\"hi\\"" null true 1.5 2024-02-29'


def test_strings_need_no_quotes_when_written() -> None:
    assert read_row("  1 one", DEFAULT_SCHEMA) == (1, "one")
    assert read_row('  1 "number one"', DEFAULT_SCHEMA) == (1, "number one")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1", "expected 2 values, got 1"),
        ("1 a b", "expected 2 values, got 3"),
        ("x a", "column key: x is no value of type bigint"),
        ('"1" a', 'column key: "1" is no value of type bigint'),
        ("9223372036854775808 a", "no value of type bigint"),
        ("null a", "column key is not nullable"),
        ('1 "a', "not closed"),
    ],
)
def test_rows_that_do_not_fit_are_refused(line: str, problem: str) -> None:
    with pytest.raises(DirectiveError, match=problem):
        read_row(line, DEFAULT_SCHEMA)


def test_null_is_read_where_it_may_be() -> None:
    schema = Schema((Field("a", SqlType.TEXT, True),))
    assert read_row("null", schema) == (None,)
    assert read_row('"null"', schema) == ("null",)


def test_types_have_short_names() -> None:
    assert read_type("int") is SqlType.INTEGER
    assert read_type("double") is SqlType.DOUBLE
    with pytest.raises(DirectiveError, match="no type 'money'"):
        read_type("money")


def test_rows_are_ordered_by_value_with_null_last() -> None:
    rows: list[tuple[Value, ...]] = [(10, "a"), (None, "a"), (2, "b"), (2, None), (math.nan, "a"), (2, "a")]
    assert sorted(rows, key=sort_key)[:4] == [(2, "a"), (2, "b"), (2, None), (10, "a")]
    assert sorted(rows, key=sort_key)[5] == (None, "a")


def test_synthetic_rows_carry_their_number() -> None:
    schema = Schema(tuple(Field(type, type, False) for type in SqlType))
    columns = synthetic_columns(schema, 7, 2, 4)
    values = {field.type: column.to_values() for field, column in zip(schema.fields, columns, strict=True)}
    assert values[SqlType.BIGINT] == [7, 8]
    assert values[SqlType.BOOLEAN] == [False, True]
    assert values[SqlType.TEXT] == ["7xxx", "8xxx"]
    assert values[SqlType.NUMERIC] == [Decimal(7), Decimal(8)]
