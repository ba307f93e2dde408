"""User functions over columns: NULLs and all, and only the rows that they fail for fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pillion.dataflow.scalars.compile import compile_scalar
from pillion.messages.errors import ExpressionError, UntrustedFunctionError
from pillion.messages.functions import pickle_function
from pillion.messages.scalars import Call, CallUser, ColumnRef, If, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import Failed, column, literal, results

BIGINT = ColumnType(SqlType.BIGINT)
ZERO = literal("bigint", 0)


def user(function: Callable[..., Any], *arguments: Scalar, result: ColumnType = BIGINT) -> CallUser:
    return CallUser(pickle_function(function, result, name="f"), arguments)


def evaluate(scalar: Scalar, *columns: Any) -> list[Any]:
    types = [ColumnType(c.type) for c in columns]
    return results(compile_scalar(scalar, types, trust=True)(columns, len(columns[0])))


def double(numbers: Any) -> Any:
    return pc.multiply(numbers, 2)


def inverse(numbers: Any) -> Any:
    return pc.divide(12, numbers)


def test_it_sees_whole_columns_with_their_nulls() -> None:
    assert evaluate(user(double, ColumnRef(0)), column("bigint", [1, None, 3])) == [2, None, 6]


def test_constants_come_as_columns() -> None:
    total = user(lambda a, b: pc.add(a, b), ColumnRef(0), literal("bigint", 5))
    assert evaluate(total, column("bigint", [1, 2])) == [6, 7]


def test_results_are_converted_to_the_declared_type() -> None:
    numeric = user(lambda a: [value + 0.5 for value in a.to_pylist()], ColumnRef(0), result=ColumnType(SqlType.DOUBLE))
    assert evaluate(numeric, column("bigint", [1, 2])) == [1.5, 2.5]
    chunked = user(lambda a: pa.chunked_array([a.cast(pa.int16())]), ColumnRef(0))
    assert evaluate(chunked, column("bigint", [1, 2])) == [1, 2]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Unspeakable(), "Unspeakable: (its text cannot be shown: ZeroDivisionError)"),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (ValueError("x" * 1_000_000), f"ValueError: {'x' * 1000}…"),
    ],
    ids=["no text", "no unicode", "too long"],
)
def test_whatever_it_raises_is_an_error_of_the_row(error: Exception, says: str) -> None:
    def fail(_: Any) -> Any:
        raise error

    assert evaluate(user(fail, ColumnRef(0)), column("bigint", [1])) == [Failed(f"user function 'f': {says}")]


def test_rows_for_which_it_raises_fail_and_the_others_go_on() -> None:
    values = evaluate(user(inverse, ColumnRef(0)), column("bigint", [1, 0, 3, 4, 0, None]))
    failure = Failed("user function 'f': ArrowInvalid: divide by zero")
    assert values == [12, failure, 4, 3, failure, None]


def test_rows_whose_arguments_failed_are_not_shown() -> None:
    quotient = Call("/", (literal("bigint", 12), ColumnRef(0)))

    def remember(numbers: Any) -> Any:
        assert None not in numbers.to_pylist()
        return numbers

    assert evaluate(user(remember, quotient), column("bigint", [2, 0, 3])) == [6, Failed("division by zero"), 4]
    assert evaluate(user(remember, LiteralError("e")), column("bigint", [2])) == [Failed("e")]


def test_it_is_called_only_for_the_rows_of_its_branch() -> None:
    guarded = If(Call("=", (ColumnRef(0), ZERO)), ZERO, user(inverse, ColumnRef(0)))
    assert evaluate(guarded, column("bigint", [0, 1, 2])) == [0, 12, 6]

    def never(numbers: Any) -> Any:
        raise AssertionError("called")

    assert evaluate(If(Call("=", (ColumnRef(0), ZERO)), ZERO, user(never, ColumnRef(0))), column("bigint", [0])) == [0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: a.slice(1), "returned 0 values for 1 rows"),
        (lambda a: pa.array(["x"] * len(a)), "returned a StringArray that is no array of int64"),
        (lambda a: 7, "returned a int that is no array of int64"),
        (lambda a: [object()] * len(a), "returned a list that is no array of int64"),
    ],
)
def test_what_it_may_not_return(function: Callable[..., Any], message: str) -> None:
    (found,) = evaluate(user(function, ColumnRef(0)), column("bigint", [1]))
    assert isinstance(found, Failed)
    assert message in found


def test_null_where_it_promised_none() -> None:
    call = user(lambda a: a, ColumnRef(0), result=ColumnType(SqlType.BIGINT, nullable=False))
    failure = Failed("user function 'f' returned NULL, although its result was declared not to be")
    assert evaluate(call, column("bigint", [1, None])) == [1, failure]


def test_texts() -> None:
    shout = user(lambda a: pc.utf8_upper(a), ColumnRef(0), result=ColumnType(SqlType.TEXT))
    assert evaluate(Call("||", (shout, literal("text", "!"))), column("text", ["a", None])) == ["A!", None]


def test_it_needs_trust_and_arguments() -> None:
    with pytest.raises(UntrustedFunctionError):
        compile_scalar(user(double, ColumnRef(0)), [BIGINT])
    with pytest.raises(ExpressionError, match="needs at least one argument"):
        compile_scalar(user(double), [BIGINT], trust=True)
