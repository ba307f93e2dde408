"""The number of Python calls depends on the expression alone, not on the number of rows."""

from __future__ import annotations

import datetime
import gc
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.scalars.compile import compile_scalar
from pillion.dataflow.scalars.mfp import MfpProgram
from pillion.dataflow.scalars.table_functions import TableProgram
from pillion.messages.plans import MapFilterProject
from pillion.messages.relations import TableFunction
from pillion.messages.scalars import Call, Cast, ColumnRef, If, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import column, literal

FEW, MANY = 20_000, 80_000
"""Enough rows that columns choose the same representation."""
PERIOD = 10
"""Columns repeat so many values, so that few and many rows have the same different ones."""

B0, B1, D0, N0, N1, T0, T1, DATE, TIME, FLAG = (ColumnRef(position) for position in range(10))


def inputs(size: int) -> list[Any]:
    def repeat(type: str, values: list[Any]) -> Any:
        return column(type, (values * (size // len(values) + 1))[:size])

    day = datetime.date(2013, 1, 1)
    return [
        repeat("bigint", [None, *range(1, PERIOD)]),
        repeat("bigint", list(range(PERIOD))),
        repeat("double", [n / 2 for n in range(PERIOD)]),
        repeat("numeric", [Decimal(n) / 4 for n in range(PERIOD)]),
        repeat("numeric", [Decimal(10) ** 20 + n for n in range(PERIOD)]),
        repeat("text", [f"text {n}" for n in range(PERIOD)]),
        repeat("text", [str(n) for n in range(PERIOD)]),
        repeat("date", [day + datetime.timedelta(n) for n in range(PERIOD)]),
        repeat("timestamp", [datetime.datetime(2013, 1, 1, n) for n in range(PERIOD)]),
        repeat("bool", [True, False, None, True, False] * (PERIOD // 5)),
    ]


TYPES = tuple(ColumnType(one.type) for one in inputs(FEW))
SMALL = literal("bigint", 3)

EXPRESSIONS: list[Scalar] = [
    Call("+", (B0, SMALL)),
    Call("*", (B0, B1)),
    Call("/", (B0, B1)),
    Call("/", (D0, literal("double", 3.0))),
    Call("*", (N0, N0)),
    Call("/", (N0, SMALL)),
    Call("+", (N1, N1)),
    Call("<", (N1, N0)),
    Call("and", (Call("<", (B0, B1)), Call("=", (T0, T1)), FLAG)),
    If(Call("=", (B1, literal("bigint", 0))), SMALL, Call("/", (B0, B1))),
    Call("coalesce", (B0, Call("%", (SMALL, B1)))),
    Call("greatest", (B0, D0)),
    Cast(B0, SqlType.TEXT),
    Cast(D0, SqlType.TEXT),
    Cast(N0, SqlType.TEXT),
    Cast(TIME, SqlType.TEXT),
    Cast(T1, SqlType.BIGINT),
    Cast(D0, SqlType.BIGINT),
    Cast(N0, SqlType.INTEGER),
    Cast(T1, SqlType.NUMERIC),
    Call("round", (N0, literal("int", 1))),
    Call("upper", (T0,)),
    Call("substr", (T0, SMALL)),
    Call("substr", (T0, B1)),
    Call("like", (T0, literal("text", "%x_ 3"))),
    Call("contains", (T0, T1)),
    Call("split_part", (T0, literal("text", " "), literal("int", 2))),
    Call("||", (T0, T1)),
    Call("month", (DATE,)),
    Call("date_trunc", (literal("text", "week"), TIME)),
    Call("+", (DATE, B1)),
    Call("-", (TIME, DATE)),
]


def python_calls(action: Callable[[], object]) -> int:
    """How many Python functions and built-ins an action calls."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def lines(action: Callable[[], object]) -> int:
    """How many lines of Python an action runs: a loop without calls counts too."""
    run = 0

    def count(frame: object, event: str, argument: object) -> Any:
        nonlocal run
        run += event == "line"
        return count

    previous = sys.gettrace()
    sys.settrace(count)
    try:
        action()
    finally:
        sys.settrace(previous)
    return run


def assert_independent_of_rows(few: Callable[[], object], many: Callable[[], object]) -> None:
    """The same work in Python for few rows and for many."""
    # Arrow makes some Python objects when an array is first looked at.
    few()
    many()
    # Garbage collection calls whoever has registered for it.
    gc.disable()
    try:
        for measure in (python_calls, lines):
            assert measure(many) == measure(few)
    finally:
        gc.enable()


@pytest.mark.parametrize("scalar", EXPRESSIONS, ids=str)
def test_expressions(scalar: Scalar) -> None:
    program = compile_scalar(scalar, TYPES)
    few, many = inputs(FEW), inputs(MANY)
    assert_independent_of_rows(lambda: program(few, FEW), lambda: program(many, MANY))


def test_map_filter_project() -> None:
    mfp = MapFilterProject(
        len(TYPES),
        (Call("*", (B0, B1)), Call("||", (T0, T1))),
        (Call(">", (B1, SMALL)), Call("like", (T0, literal("text", "text%")))),
        (len(TYPES), len(TYPES) + 1, 0, 5),
    )
    program = MfpProgram(mfp, TYPES)
    few, many = Updates.of(tuple(inputs(FEW)), 0), Updates.of(tuple(inputs(MANY)), 0)
    assert_independent_of_rows(lambda: program.apply(few), lambda: program.apply(many))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("generate_series", (SMALL, B1)), ("unnest_text", (T0, literal("text", " ")))],
)
def test_table_functions(function: str, arguments: tuple[Scalar, ...]) -> None:
    program = TableProgram(TableFunction(function), arguments, TYPES)
    few, many = inputs(FEW), inputs(MANY)
    assert_independent_of_rows(lambda: program(few, FEW), lambda: program(many, MANY))
