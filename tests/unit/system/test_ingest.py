"""Data in every form that is taken, and what is said about data that does not fit."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pillion.actors.errors import RejectedData
from pillion.actors.relations.types import schema_of
from pillion.actors.system.ingest import Ingest
from pillion.actors.system.table_schema import schema_of_data

DAY = datetime.date(2013, 1, 2)
MOMENT = datetime.datetime(2013, 1, 2, 3, 4, 5, 6)
EVERYTHING = schema_of(
    {
        "b": "boolean?", "s": "smallint?", "i": "integer?", "l": "bigint?", "r": "real?", "d": "double?",
        "n": "numeric?", "t": "text?", "y": "bytea?", "day": "date?", "at": "timestamp?",
    }
)  # fmt: skip
ROW = (True, 1, 2, 3, 0.5, 2.25, Decimal("1.5"), "ö", b"\x00", DAY, MOMENT)
NULLS = (None,) * len(ROW)
PAIR = schema_of({"id": "integer", "note": "text?"})


def rows(data: object, schema: Any = PAIR) -> list[tuple[Any, ...]]:
    columns = Ingest("orders", schema).columns(data)
    assert [column.type for column in columns] == [field.type for field in schema.fields]
    return list(zip(*(column.to_values() for column in columns), strict=True))


def test_every_type_with_and_without_null() -> None:
    assert rows([ROW], EVERYTHING) == [ROW]
    assert rows([ROW, NULLS, ROW], EVERYTHING) == [ROW, NULLS, ROW]
    assert rows([NULLS], EVERYTHING) == [NULLS]
    table = pa.Table.from_pylist([dict(zip(EVERYTHING.names, row, strict=True)) for row in (ROW, NULLS)])
    assert rows(table, EVERYTHING) == [ROW, NULLS]


@pytest.mark.parametrize(
    "data",
    [
        [(1, "a"), (2, None)],
        [[1, "a"], [2, None]],
        [{"id": 1, "note": "a"}, {"note": None, "id": 2}],
        [{"id": 1, "note": "a"}, {"id": 2}],
        {"id": [1, 2], "note": ["a", None]},
        pd.DataFrame({"id": [0, 1, 2], "note": ["-", "a", None]}).query("id > 0"),
        {"note": pa.array(["a", None]), "id": np.array([1, 2])},
        pa.table({"note": ["a", None], "id": [1, 2]}),
        pa.table({"id": pa.array([1, 2], pa.uint64()), "note": pa.array(["a", None]).dictionary_encode()}),
        pa.record_batch({"id": [1, 2], "note": ["a", None]}),
        pa.table({"id": [1, 2], "note": ["a", None]}).to_reader(),
        pa.table({"id": pa.chunked_array([[1], [2]]), "note": pa.chunked_array([["a"], [None]])}),
        pa.table({"id": [1.0, 2.0], "note": ["a", None]}),
        ((i, n) for i, n in [(1, "a"), (2, None)]),
    ],
)
def test_forms(data: object) -> None:
    assert rows(data) == [(1, "a"), (2, None)]


def test_a_duckdb_result() -> None:
    assert rows(duckdb.sql("select 1 as id, 'a' as note union all select 2, null order by 1")) == [(1, "a"), (2, None)]


def test_one_tuple_is_one_row() -> None:
    assert rows((1, "a")) == [(1, "a")]


def test_nothing_is_no_row() -> None:
    for data in ([], pa.table({"id": pa.array([], pa.int32())}), {"id": []}):
        assert rows(data) == []


def test_columns_left_out_are_null() -> None:
    assert rows(pa.table({"id": [1]})) == [(1, None)]
    with pytest.raises(RejectedData, match="column 'id' is missing"):
        rows({"note": ["a"]})


def test_nan_is_a_value_and_not_null() -> None:
    ((value,),) = rows([(math.nan,)], schema_of({"x": "double"}))
    assert math.isnan(value)
    ((value,),) = rows(pa.table({"x": pa.array([math.nan])}), schema_of({"x": "real"}))
    assert math.isnan(value)


def test_what_a_type_takes_from_others() -> None:
    assert rows([(np.int16(5), np.str_("x"))]) == [(5, "x")]
    assert rows([(5,)], schema_of({"x": "double"})) == [(5.0,)]
    assert rows([(5,), (0.5,)], schema_of({"x": "numeric"})) == [(Decimal(5),), (Decimal("0.5"),)]
    zone = datetime.timezone(datetime.timedelta(hours=1))
    assert rows([(MOMENT.replace(tzinfo=zone),)], schema_of({"x": "timestamp"})) == [
        (MOMENT - datetime.timedelta(hours=1),)
    ]
    instants = pa.table({"x": pa.array([MOMENT], pa.timestamp("us", "+01:00"))})
    assert rows(instants, schema_of({"x": "timestamp"})) == [(MOMENT,)]


def test_memory_that_others_may_write_to_is_copied() -> None:
    ids = np.array([1, 2], np.int32)
    (column, _) = Ingest("orders", PAIR).columns({"id": ids, "note": ["a", "b"]})
    ids[0] = 99
    assert column.to_values() == [1, 2]


@pytest.mark.parametrize(
    ("type", "value", "says"),
    [
        ("integer", 2**31, "row 1, column 'x': 2147483648 .* out of range for integer"),
        ("smallint", -(2**15) - 1, "out of range for smallint"),
        ("bigint", 2**63, "out of range for bigint"),
        ("bigint", True, "True .bool. is no bigint"),
        ("bigint", 1.5, "1.5 .float. is no bigint, which is whole"),
        ("bigint", math.nan, "NaN is not NULL"),
        ("bigint", "1", "'1' .str. is no bigint"),
        ("bigint", None, "NULL was given, and the column takes none .declare it 'bigint\\?'"),
        ("real", 1e39, "out of range for real"),
        ("double", 10**400, "out of range for double"),
        ("double", "1.5", "is no double"),
        ("numeric", Decimal("0.0000000001"), "9 after the point"),
        ("numeric", Decimal("NaN"), "9 after the point"),
        ("boolean", 1, "is no boolean"),
        ("text", b"a", "is no text"),
        ("text", "\ud800", "is no text"),
        ("bytea", "a", "is no bytea"),
        ("date", MOMENT, "is no date"),
        ("timestamp", DAY, "is no timestamp"),
    ],
)
def test_values_that_do_not_fit(type: str, value: object, says: str) -> None:
    good = dict(zip(("boolean", "smallint", "integer", "bigint", "real", "double", "numeric", "text", "bytea", "date",
                     "timestamp"), ROW, strict=True))[type]  # fmt: skip
    with pytest.raises(RejectedData, match=says) as raised:
        rows([(good,), (value,)], schema_of({"x": type}))
    assert str(raised.value).startswith("orders: row 1, column 'x'")


@pytest.mark.parametrize(
    ("type", "array", "says"),
    [
        ("integer", pa.array([1, 2, 2**31, 2**40]), "row 2, column 'x': 2147483648 .int64. has no equal integer"),
        ("integer", pa.array([1, None]), "row 1, column 'x': NULL"),
        ("bigint", pa.array([1.0, 1.5]), "row 1, column 'x': 1.5"),
        ("bigint", pa.array([math.nan]), "NaN is not NULL"),
        ("bigint", pa.array(["1"]), "column 'x': the column given is string, and bigint is expected"),
        ("text", pa.array([1]), "the column given is int64, and text is expected"),
        ("real", pa.array([1.0, 1e300]), "row 1, column 'x': 1e\\+300"),
        ("timestamp", pa.array([1], pa.timestamp("ns")), "has no equal timestamp"),
        ("date", pa.array([MOMENT]), "and date is expected"),
        ("numeric", pa.array([Decimal("0.0000000001")]), "has no equal numeric"),
    ],
)
def test_arrow_columns_that_do_not_fit(type: str, array: pa.Array, says: str) -> None:
    with pytest.raises(RejectedData, match=says):
        rows(pa.table({"x": array}), schema_of({"x": type}))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([(1,)], "row 0 has 1 values, and there are 2 columns: id, note"),
        ([(1, "a"), {"id": 1}], "row 1 is .*; rows are tuples or mappings"),
        ([{"id": 1, "nte": "a"}], "row 0 has a column 'nte'.*did you mean 'note'"),
        ([{"note": "a"}], "row 0 has no value for column 'id'"),
        ({"id": [1], "note": ["a", "b"]}, "not of one length: 'id' has 1, 'note' has 2"),
        ({"id": [1], "x": [1]}, "has a column 'x'"),
        ({"id": 1, "note": ["a"]}, "column 'id' is an int"),
        ({"note": "a"}, "no value for column 'id'"),
        (pl.LazyFrame({"id": [1]}), "a LazyFrame has no rows yet; give what its collect"),
        (pa.table([pa.array([1]), pa.array([1])], names=["id", "id"]), "column 'id' twice"),
        (5, "an int is no data"),
        ("abc", "a str is no data"),
        ([1], "row 0 is 1"),
    ],
)
def test_data_of_the_wrong_shape(data: object, says: str) -> None:
    with pytest.raises(RejectedData, match=says):
        rows(data)


def test_schemas_of_data() -> None:
    assert [str(f.type) for f in schema_of_data({"a": [1], "b": ["x"]}).fields] == ["bigint", "text"]  # type: ignore
    assert schema_of_data([{"a": 1.5}]).names == ("a",)  # type: ignore[union-attr]
    assert schema_of_data([(1, 2)]) is None


def test_a_mapping_of_single_values_is_one_row() -> None:
    assert rows({"id": 1, "note": "abc"}) == rows({"id": np.int64(1), "note": "abc"}) == [(1, "abc")]
    assert rows({"id": 1, "note": None}) == rows({"id": 1}) == [(1, None)]


def test_the_index_of_a_frame_is_a_column_when_it_has_a_name() -> None:
    frame = pd.DataFrame({"note": ["a", "b"]}, index=pd.Index([7, 8], name="id"))
    assert rows(frame) == [(7, "a"), (8, "b")]
    assert schema_of_data(frame.rename_axis(None)).names == ("note",)  # type: ignore[union-attr]
