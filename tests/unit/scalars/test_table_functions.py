"""Table functions: the rows of each row, in order; rows that yield none; rows that fail."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.scalars.table_functions import MAX_ROWS, TableProgram
from pillion.messages.errors import ExpressionError, UntrustedFunctionError
from pillion.messages.functions import pickle_function
from pillion.messages.relations import TableFunction
from pillion.messages.scalars import Call, ColumnRef
from pillion.messages.types import ColumnType, SqlType

from .evaluation import Failed, column, literal

LEAST, GREATEST = -(2**63), 2**63 - 1


def expand(function: TableFunction, *columns: Any, trust: bool = False) -> list[Any]:
    """For each input row, the list of what it yields, or a ``Failed``."""
    size = len(columns[0])
    references = tuple(ColumnRef(position) for position in range(len(columns)))
    program = TableProgram(function, references, [ColumnType(c.type) for c in columns], trust=trust)
    rows, (values,), errors = program(columns, size)
    found: list[Any] = [[] for _ in range(size)]
    assert rows.tolist() == sorted(rows.tolist())
    for row, value in zip(rows.tolist(), values.to_values(), strict=True):
        found[row].append(value)
    if errors is not None:
        for row in errors.mask.nonzero()[0].tolist():
            assert found[row] == []
            found[row] = Failed(errors.messages[row])
    return found


def series(*bounds: tuple[int | None, ...]) -> list[Any]:
    return expand(TableFunction("generate_series"), *[column("bigint", values) for values in zip(*bounds, strict=True)])


def test_series() -> None:
    assert series((1, 3), (3, 1), (2, 2), (-1, 1)) == [[1, 2, 3], [], [2], [-1, 0, 1]]
    assert series((1, 6, 2), (6, 1, -2), (1, 6, -1), (0, 0, 5)) == [[1, 3, 5], [6, 4, 2], [], [0]]


def test_series_of_null() -> None:
    assert series((None, 3, 1), (1, None, 1), (1, 3, None), (1, 1, 1)) == [[], [], [], [1]]


def test_series_that_does_not_advance() -> None:
    assert series((1, 2, 0), (1, 2, 1), (None, 2, 0)) == [Failed("step size cannot equal zero"), [1, 2], []]


def test_series_at_the_ends_of_the_type() -> None:
    assert series((GREATEST - 1, GREATEST, 1), (LEAST + 1, LEAST, -1)) == [
        [GREATEST - 1, GREATEST],
        [LEAST + 1, LEAST],
    ]
    assert series((LEAST, GREATEST, GREATEST), (GREATEST, LEAST, LEAST)) == [
        [LEAST, -1, GREATEST - 1],
        [GREATEST, -1],
    ]


def test_series_that_would_fill_the_memory() -> None:
    limit = Failed(f"a series has more than {MAX_ROWS} rows")
    assert series((LEAST, GREATEST), (1, 2), (GREATEST, LEAST)) == [limit, [1, 2], []]


def test_series_of_narrow_integers_and_no_rows() -> None:
    assert expand(TableFunction("generate_series"), column("smallint", [1]), column("int", [2])) == [[1, 2]]
    assert expand(TableFunction("generate_series"), column("bigint", []), column("bigint", [])) == []


bounds = st.none() | st.integers(-20, 20)


@given(st.lists(st.tuples(bounds, bounds, bounds), min_size=1, max_size=5))
def test_series_like_python(rows: list[tuple[int | None, int | None, int | None]]) -> None:
    def expected(start: int | None, stop: int | None, step: int | None) -> Any:
        if start is None or stop is None or step is None:
            return []
        if step == 0:
            return Failed("step size cannot equal zero")
        return list(range(start, stop + (1 if step > 0 else -1), step))

    assert series(*rows) == [expected(*row) for row in rows]


def split(*rows: tuple[str | None, str | None]) -> list[Any]:
    return expand(TableFunction("unnest_text"), *[column("text", values) for values in zip(*rows, strict=True)])


def test_parts_of_texts() -> None:
    assert split(("a,b", ","), ("a b", " "), ("a,,b,", ","), ("abc", ",")) == [
        ["a", "b"],
        ["a", "b"],
        ["a", "", "b", ""],
        ["abc"],
    ]


def test_texts_without_parts() -> None:
    assert split(("", ","), (None, ","), ("a", None), ("a,b", "")) == [[], [], [], ["a,b"]]
    assert expand(TableFunction("unnest_text"), column("text", []), column("text", [])) == []


def test_an_argument_that_fails() -> None:
    inverse = Call("/", (literal("bigint", 2), ColumnRef(0)))
    program = TableProgram(
        TableFunction("generate_series"), (literal("bigint", 1), inverse), [ColumnType(SqlType.BIGINT)]
    )
    rows, (values,), errors = program([column("bigint", [0, 1])], 2)
    assert rows.tolist() == [1, 1]
    assert values.to_values() == [1, 2]
    assert errors is not None
    assert errors.mask.tolist() == [True, False]
    assert errors.messages[0] == "division by zero"


def test_unknown_table_function() -> None:
    with pytest.raises(ExpressionError, match="no table function 'unnest'; there are generate_series, unnest_text"):
        TableProgram(TableFunction("unnest"), (), [])


def letters(texts: Any) -> Any:
    if pc.any(pc.equal(texts, "bad")).as_py():
        raise ValueError("a bad word")
    return [list(text) for text in texts.to_pylist()]


LETTERS = TableFunction("letters", pickle_function(letters, ColumnType(SqlType.TEXT)))


def test_user_table_function() -> None:
    words = column("text", ["ab", None, "bad", "", "c"])
    assert expand(LETTERS, words, trust=True) == [
        ["a", "b"],
        [],
        Failed("user function 'letters': ValueError: a bad word"),
        [],
        ["c"],
    ]
    assert expand(LETTERS, column("text", [None]), trust=True) == [[]]


def test_user_table_function_that_returns_arrow_lists() -> None:
    function = pickle_function(lambda a: pa.array([[1, 2], None, []], pa.list_(pa.int64())), ColumnType(SqlType.BIGINT))
    assert expand(TableFunction("lists", function), column("bigint", [1, 2, 3]), trust=True) == [[1, 2], [], []]


def test_user_table_functions_need_trust() -> None:
    with pytest.raises(UntrustedFunctionError, match="letters"):
        expand(LETTERS, column("text", ["a"]))
