"""Columns: values in, values out, and hashes, equality and order that agree with each other."""

from __future__ import annotations

import datetime
import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.columns import hashing
from pillion.dataflow.columns.column import (
    Column,
    FixedColumn,
    column_from_arrow,
    column_from_values,
    concat_columns,
    constant_column,
    empty_column,
)
from pillion.dataflow.columns.grouping import cluster, exact_codes, row_hashes, shard_of
from pillion.messages.types import SqlType

VALUES: dict[SqlType, st.SearchStrategy[Any]] = {
    SqlType.BOOLEAN: st.booleans(),
    SqlType.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    SqlType.INTEGER: st.integers(-(2**31), 2**31 - 1),
    SqlType.BIGINT: st.integers(-(2**63), 2**63 - 1),
    SqlType.REAL: st.floats(width=32),
    SqlType.DOUBLE: st.floats() | st.sampled_from([0.0, -0.0, math.nan]),
    SqlType.NUMERIC: st.decimals(-(10**20), 10**20, places=9, allow_nan=False),
    SqlType.TEXT: st.text(max_size=12) | st.text(min_size=250, max_size=270),
    SqlType.BYTEA: st.binary(max_size=20),
    SqlType.DATE: st.dates(),
    SqlType.TIMESTAMP: st.datetimes(),
}


@st.composite
def typed_values(draw: st.DrawFn) -> tuple[SqlType, list[Any]]:
    type = draw(st.sampled_from(list(SqlType)))
    pool = draw(st.lists(VALUES[type] | st.none(), min_size=1, max_size=6))
    return type, draw(st.lists(st.sampled_from(pool), max_size=20))


def key(value: Any) -> Any:
    """Equal exactly for values that group together."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return (type(value), value)


def ordering(value: Any) -> Any:
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


@given(typed_values())
def test_values_survive(given: tuple[SqlType, list[Any]]) -> None:
    type, values = given
    column = column_from_values(values, type)
    assert len(column) == len(values)
    assert [key(v) for v in column.to_values()] == [key(v) for v in values]
    again = column_from_arrow(column.to_arrow(), type)
    assert column.to_arrow().type == type.arrow
    assert [key(v) for v in again.to_values()] == [key(v) for v in values]


@given(typed_values(), st.data())
def test_take_filter_slice_concat(given: tuple[SqlType, list[Any]], data: st.DataObject) -> None:
    type, values = given
    column = column_from_values(values, type)
    expected = [key(v) for v in values]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), np.bool_)
    kept = np.flatnonzero(mask)
    assert [key(v) for v in column.filter(mask).to_values()] == [expected[i] for i in kept]
    assert [key(v) for v in column.take(kept[::-1].copy()).to_values()] == [expected[i] for i in kept[::-1]]
    start = data.draw(st.integers(0, len(values)))
    sliced = column.slice(start, len(values))
    assert [key(v) for v in sliced.to_values()] == expected[start:]
    assert sliced.hashes().tolist() == column.hashes()[start:].tolist()
    assert [key(v) for v in column_from_arrow(sliced.to_arrow(), type).to_values()] == expected[start:]
    assert [key(v) for v in concat_columns([sliced, column]).to_values()] == expected[start:] + expected


@given(typed_values())
def test_hash_equality_and_order_agree(given: tuple[SqlType, list[Any]]) -> None:
    type, values = given
    column = column_from_values(values, type)
    n = len(values)
    left, right = np.divmod(np.arange(n * n), max(n, 1))
    equal = column.take(left).equal(column.take(right))
    expected = [key(values[a]) == key(values[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert equal.tolist() == expected
    hashes = column.hashes()
    assert all(hashes[a] == hashes[b] for a, b in zip(left[equal], right[equal], strict=True))
    codes = exact_codes([column], np.arange(n))
    assert (codes[left] == codes[right]).tolist() == expected
    sort_codes = column.sort_codes()
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        if values[a] is not None and values[b] is not None:
            assert (sort_codes[a] < sort_codes[b]) == (ordering(values[a]) < ordering(values[b]))


@given(typed_values())
def test_equality_with_a_single_value(given: tuple[SqlType, list[Any]]) -> None:
    type, values = given
    column = column_from_values(values, type)
    for position, value in enumerate(values):
        equal = column.equal_one(column.slice(position, position + 1))
        assert equal.tolist() == [key(other) == key(value) for other in values]


@given(typed_values())
def test_a_row_hashes_alone_as_among_others(given: tuple[SqlType, list[Any]]) -> None:
    type, values = given
    column = column_from_values(values, type)
    pairs = row_hashes([column, column], len(values)).tolist()
    for position, value in enumerate(values):
        alone = column_from_values([value], type)
        assert row_hashes([alone, alone], 1).tolist() == [pairs[position]]


def test_a_long_string_hashes_alone_as_among_others() -> None:
    values = ["é" * n for n in (0, 1, 4, 8, 127, 128, 129, 1000)]
    together = column_from_values(values, SqlType.TEXT).hashes().tolist()
    alone = [column_from_values([value], SqlType.TEXT) for value in values]
    assert [int(column.hashes()[0]) for column in alone] == together
    assert [column.hash_numbers()[0] for column in alone] == together


def test_widths_of_an_integer_hash_equally() -> None:
    columns = [column_from_values([5, -7], t) for t in (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)]
    assert len({tuple(c.hashes().tolist()) for c in columns}) == 1


def test_hashes_do_not_depend_on_the_process() -> None:
    assert column_from_values([1, None], SqlType.BIGINT).hashes().tolist() == [
        5515692218938382702,
        int(hashing.NULL_HASH),
    ]
    assert column_from_values(["pillion", ""], SqlType.TEXT).hashes().tolist() == [
        9586556350128634086,
        int(hashing.mix(np.array([hashing.EMPTY_HASH]))[0]),
    ]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 255, 256, 257, 1000])
def test_every_byte_of_a_string_counts(size: int) -> None:
    base = bytes(range(1, 256)) * 4
    strings = [base[:size]] + [base[:i] + b"\0" + base[i + 1 : size] for i in range(size)]
    hashes = column_from_values(strings, SqlType.BYTEA).hashes()
    assert len(set(hashes.tolist())) == len(strings)


def test_trailing_zero_bytes_count() -> None:
    strings = [b"\0" * n for n in range(300)]
    assert len(set(column_from_values(strings, SqlType.BYTEA).hashes().tolist())) == 300


@pytest.mark.parametrize("type", list(SqlType))
def test_empty_and_constant(type: SqlType) -> None:
    assert len(empty_column(type)) == 0
    assert empty_column(type).hashes().tolist() == []
    assert empty_column(type).sort_codes().tolist() == []
    value = {SqlType.NUMERIC: Decimal(2), SqlType.TEXT: "x", SqlType.BYTEA: b"x", SqlType.BOOLEAN: True}.get(type)
    if type is SqlType.DATE:
        value = datetime.date(2013, 12, 1)
    elif type is SqlType.TIMESTAMP:
        value = datetime.datetime(2013, 12, 1, 5, 4, 3, 2)
    elif value is None:
        value = 2
    assert constant_column(value, type, 3).to_values() == [value] * 3
    assert constant_column(None, type, 2).to_values() == [None] * 2
    assert len(constant_column(value, type, 0)) == 0


def test_what_lies_under_a_null_does_not_matter() -> None:
    hidden = pa.Array.from_buffers(
        pa.int64(), 2, [pa.py_buffer(b"\x00"), pa.py_buffer(np.array([1, 2], np.int64))], null_count=2
    )
    column = column_from_arrow(hidden, SqlType.BIGINT)
    assert column.equal(column_from_values([None, None], SqlType.BIGINT)).all()
    assert len(set(column.hashes().tolist())) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.integers(0, 2)), max_size=40))
@pytest.mark.parametrize("collide", [False, True])
def test_cluster_brings_equal_rows_together(collide: bool, rows: list[tuple[int, str | None, int]]) -> None:
    columns: list[Column] = [
        column_from_values([r[0] for r in rows], SqlType.BIGINT),
        column_from_values([r[1] for r in rows], SqlType.TEXT),
    ]
    times = np.array([r[2] for r in rows], np.int64)
    order = np.zeros(len(rows), np.uint64) if collide else row_hashes(columns, len(rows))
    permutation, starts = cluster(order, columns, times)
    assert sorted(permutation.tolist()) == list(range(len(rows)))
    begins = list(range(len(rows))) if starts is None else starts.tolist()
    groups = [permutation[a:b].tolist() for a, b in zip(begins, [*begins[1:], len(rows)], strict=False)]
    assert all(len({rows[i] for i in group}) == 1 for group in groups)
    assert len(groups) == len(set(rows))
    for this, following in itertools.pairwise(groups):
        if rows[this[0]][:2] == rows[following[0]][:2]:
            assert rows[this[0]][2] < rows[following[0]][2]


def test_shards_are_even_and_stable() -> None:
    column = column_from_values(list(range(30_000)), SqlType.BIGINT)
    counts = np.bincount(shard_of([column], len(column), 3), minlength=3)
    assert counts.min() > 9_700
    assert shard_of([], 4, 3).tolist() == [shard_of([], 1, 3)[0]] * 4


@pytest.mark.parametrize("type", [SqlType.BIGINT, SqlType.TEXT])
def test_a_few_values_on_their_own_do_not_keep_all_others(type: SqlType) -> None:
    values: list[Any] = list(range(5000)) if type is SqlType.BIGINT else [f"text {i}" for i in range(5000)]
    values[7] = None
    column = column_from_values(values, type)
    few = column.slice(6, 9).owned()
    assert few.to_values() == values[6:9]
    array = few.to_arrow()
    assert array.to_pylist() == values[6:9]
    assert array.get_total_buffer_size() < 1500
    if isinstance(few, FixedColumn):
        assert few.values.base is None
    assert column.owned().to_values() == values
