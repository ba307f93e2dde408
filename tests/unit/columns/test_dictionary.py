"""Coded texts are indistinguishable from plain ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.columns import dictionary
from pillion.dataflow.columns.arrow import ArrowColumn
from pillion.dataflow.columns.column import column_from_arrow, concat_columns
from pillion.dataflow.columns.dictionary import DictionaryColumn, encode
from pillion.messages.types import SqlType

texts = st.lists(st.sampled_from(["", "a", "b", "abc", None]), max_size=12)


def plain(values: list[str | None]) -> ArrowColumn:
    return ArrowColumn(SqlType.TEXT, pa.array(values, SqlType.TEXT.arrow))


def coded(values: list[str | None]) -> ArrowColumn:
    """Coded whatever its length, where there is anything to code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dictionary, "_LEAST_ROWS", 0)
        return encode(plain(values + values)).slice(0, len(values))


@given(texts, texts)
def test_coded_and_plain_columns_agree(left: list[str | None], right: list[str | None]) -> None:
    a, b = plain(left), coded(left)
    assert b.to_values() == left and len(b) == len(left)
    assert b.hashes().tolist() == a.hashes().tolist()
    assert (
        np.array_equal(np.argsort(b.sort_codes(), kind="stable"), np.argsort(a.sort_codes(), kind="stable"))
        or None in left
    )
    rows = np.arange(len(left))[::-1].copy()
    assert b.take(rows).to_values() == left[::-1]
    assert b.filter(rows % 2 == 0).to_values() == a.filter(rows % 2 == 0).to_values()
    assert b.slice(len(left) // 2, len(left)).to_arrow().to_pylist() == left[len(left) // 2 :]
    n, m = len(left), len(right)
    pairs = np.divmod(np.arange(n * m), max(m, 1))
    wanted = [left[i] == right[j] for i, j in zip(*(p.tolist() for p in pairs), strict=True)]
    for first in (a, b):
        for second in (plain(right), coded(right)):
            assert first.take(pairs[0]).equal(second.take(pairs[1])).tolist() == wanted
            assert concat_columns([first, second, first]).to_values() == left + right + left


def test_few_distinct_values_are_coded_and_many_are_not() -> None:
    few = column_from_arrow(plain(["x", "y", None] * 2000).array, SqlType.TEXT)
    many = column_from_arrow(plain([f"n{i}" for i in range(6000)]).array, SqlType.TEXT)
    nothing = column_from_arrow(plain([None] * 6000).array, SqlType.TEXT)
    assert isinstance(few, DictionaryColumn)
    assert type(many) is ArrowColumn
    assert type(nothing) is ArrowColumn
    assert few.nbytes < 6000 * 6


@pytest.mark.parametrize(("size", "distinct", "pays"), [(200_000, 10_000, True), (200_000, 60_000, False)])
def test_a_sample_tells_thousands_of_values_that_repeat_from_more_that_do_not(
    size: int, distinct: int, pays: bool
) -> None:
    numbers = np.random.default_rng(1).integers(0, distinct, size)
    for order in (numbers, np.sort(numbers)):
        column = column_from_arrow(pa.array(order).cast(SqlType.TEXT.arrow), SqlType.TEXT)
        assert isinstance(column, DictionaryColumn) is pays


def test_codes_stay_codes_when_a_few_plain_texts_join() -> None:
    few = column_from_arrow(plain(["x", "y", None] * 2000).array, SqlType.TEXT)
    joined = concat_columns([few, plain(["z", "x", None]), few])
    assert isinstance(joined, DictionaryColumn)
    assert len(joined.dictionary) == 3
    assert joined.to_values() == ["x", "y", None] * 2000 + ["z", "x", None] + ["x", "y", None] * 2000


def test_a_dictionary_is_given_up_when_its_values_are_gone() -> None:
    few = column_from_arrow(plain([f"n{i % 500}" for i in range(6000)]).array, SqlType.TEXT)
    assert isinstance(few, DictionaryColumn)
    left = few.slice(0, 20)
    assert type(concat_columns([left, plain(["z"])])) is ArrowColumn


def test_a_few_coded_texts_count_for_no_more_than_their_texts() -> None:
    texts = plain([f"customer number {i % 1000}" for i in range(5000)])
    column = encode(texts)
    assert isinstance(column, DictionaryColumn)
    assert column.nbytes < texts.nbytes
    assert sum(column.slice(i, i + 10).nbytes for i in range(0, 5000, 10)) < 1.5 * texts.nbytes
