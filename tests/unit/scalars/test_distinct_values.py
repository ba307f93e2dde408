"""Columns of few distinct texts give what the same texts give one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pillion.dataflow.columns.arrow import ArrowColumn
from pillion.dataflow.columns.dictionary import DictionaryColumn, encode
from pillion.dataflow.scalars.compile import compile_scalar
from pillion.messages.functions import pickle_function
from pillion.messages.scalars import Call, CallUser, Cast, ColumnRef, If, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import column, evaluate, literal, results

TEXT = ColumnRef(0)
ROWS = 400
WORDS: list[list[str | None]] = [["a", "b", "12"], ["a", None, "12", ""], [None, "x"]]


def texts(words: Sequence[str | None]) -> ArrowColumn:
    plain = column("text", [words[n % len(words)] for n in range(ROWS)])
    assert isinstance(plain, ArrowColumn)
    return plain


EXPRESSIONS: list[Scalar] = [
    Call("=", (TEXT, literal("text", "a"))),
    Call("like", (TEXT, literal("text", "_%"))),
    Call("is_null", (TEXT,)),
    Call("coalesce", (TEXT, literal("text", "none"))),
    Call("upper", (TEXT,)),
    Call("length", (TEXT,)),
    Cast(TEXT, SqlType.BIGINT),
    Cast(TEXT, SqlType.NUMERIC),
    If(Call("=", (TEXT, literal("text", "12"))), Cast(TEXT, SqlType.INTEGER), literal("int", 0)),
    Call("+", (Call("length", (TEXT,)), ColumnRef(1))),
]


@pytest.mark.parametrize("words", WORDS, ids=str)
@pytest.mark.parametrize("scalar", EXPRESSIONS, ids=str)
def test_the_same_as_one_by_one(scalar: Scalar, words: list[str | None]) -> None:
    plain, numbers = texts(words), column("bigint", list(range(ROWS)))
    coded = encode(plain)
    assert isinstance(coded, DictionaryColumn)
    plain = ArrowColumn(SqlType.TEXT, plain.array)
    expected = evaluate(scalar, [plain, numbers])
    assert evaluate(scalar, [coded, numbers]) == expected
    # Fewer rows than the dictionary has values.
    some = np.array([1, 0])
    assert evaluate(scalar, [coded.take(some), numbers.take(some)]) == [expected[1], expected[0]]


def test_a_user_function_sees_every_row() -> None:
    def count(array: Any) -> Any:
        return [len(array)] * len(array)

    bigint = ColumnType(SqlType.BIGINT)
    scalar = CallUser(pickle_function(count, bigint), (TEXT,))
    program = compile_scalar(Call("+", (scalar, literal("bigint", 0))), [ColumnType(SqlType.TEXT)], trust=True)
    coded = encode(texts(["a", "b"]))
    assert results(program([coded], ROWS)) == [ROWS] * ROWS
