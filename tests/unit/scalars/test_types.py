"""Types of calls and expressions, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.scalars.compile import compile_scalar
from pillion.dataflow.scalars.functions import FUNCTIONS, NullRule, result_type
from pillion.dataflow.scalars.promotion import common_type, promote
from pillion.dataflow.scalars.typing import scalar_type
from pillion.messages.errors import ExpressionError, FunctionArgumentsError, UnknownFunctionError
from pillion.messages.scalars import Call, Cast, ColumnRef, If, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import TYPES, column, evaluate, literal


def types(*names: str) -> list[ColumnType]:
    """Types like ``bigint`` and ``bigint?``."""
    return [ColumnType(TYPES[name.removesuffix("?")], name.endswith("?")) for name in names]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("+", ["smallint", "smallint"], "smallint"),
        ("+", ["smallint", "int?"], "integer?"),
        ("*", ["bigint", "numeric"], "numeric"),
        ("-", ["numeric", "double"], "double"),
        ("/", ["real", "int"], "double"),
        ("%", ["real", "real"], "real"),
        ("-", ["date", "date"], "integer"),
        ("-", ["timestamp", "date"], "double"),
        ("+", ["int", "timestamp?"], "timestamp?"),
        ("=", ["date", "timestamp"], "boolean"),
        ("and", ["bool", "bool?", "bool"], "boolean?"),
        ("coalesce", ["int?", "bigint"], "bigint"),
        ("coalesce", ["int?", "bigint?"], "bigint?"),
        ("greatest", ["text?", "text"], "text"),
        ("is_null", ["text?"], "boolean"),
        ("nullif", ["smallint", "double"], "smallint?"),
        ("concat", ["text?", "text?"], "text"),
        ("sqrt", ["numeric"], "double"),
        ("round", ["numeric", "smallint"], "numeric"),
        ("length", ["bytea"], "integer"),
        ("split_part", ["text", "text", "smallint"], "text"),
        ("date_trunc", ["text", "date"], "date"),
        ("year", ["timestamp?"], "integer?"),
    ],
)
def test_result_types(function: str, arguments: list[str], expected: str) -> None:
    assert str(result_type(function, types(*arguments))) == expected


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("+", ["bigint", "text"], r"\+\(bigint, text\) is not possible: expected two numbers, or a date"),
        ("+", ["date", "date"], "two numbers, or a date or timestamp and an integer"),
        ("+", ["bigint"], r"\+\(bigint\) is not possible"),
        ("-", ["int", "date"], "is not possible"),
        ("=", ["bigint", "text"], r"=\(bigint, text\) is not possible: expected two values of one type"),
        ("and", ["bigint"], "expected booleans"),
        ("coalesce", [], r"coalesce\(\) is not possible"),
        ("coalesce", ["text", "int"], "values of one type"),
        ("||", ["text", "bytea"], "two texts or two byteas"),
        ("substr", ["text", "double"], "first position"),
        ("round", ["numeric", "numeric"], "how many digits"),
        ("hour", ["text"], "a date or a timestamp"),
    ],
)
def test_wrong_arguments(function: str, arguments: list[str], message: str) -> None:
    with pytest.raises(FunctionArgumentsError, match=message) as caught:
        result_type(function, types(*arguments))
    assert caught.value.function == function
    assert caught.value.given == tuple(str(TYPES[name]) for name in arguments)


def test_unknown_functions() -> None:
    with pytest.raises(UnknownFunctionError, match=r"there is no function 'lenght'; did you mean length\?"):
        result_type("lenght", types("text"))


def test_promotion_is_a_semilattice() -> None:
    for left in SqlType:
        assert promote(left, left) is left
        for right in SqlType:
            assert promote(left, right) is promote(right, left)
    numbers = [type for type in SqlType if type.is_number]
    for a in numbers:
        for b in numbers:
            for c in numbers:
                assert common_type([a, b, c]) is common_type([c, b, a])


@pytest.mark.parametrize(
    "scalar",
    [
        ColumnRef(9),
        If(ColumnRef(0), ColumnRef(0), ColumnRef(0)),
        If(Call("=", (ColumnRef(0), ColumnRef(0))), ColumnRef(0), literal("text", "a")),
        Cast(ColumnRef(0), SqlType.DATE),
        Call("upper", (Call("+", (ColumnRef(0), ColumnRef(9))),)),
    ],
)
def test_ill_formed_expressions(scalar: Scalar) -> None:
    with pytest.raises(ExpressionError):
        scalar_type(scalar, types("bigint"))
    with pytest.raises(ExpressionError):
        compile_scalar(scalar, types("bigint"))


def test_what_always_fails_fits_in_anywhere() -> None:
    failing = LiteralError("e")
    number = literal("bigint", 1)
    assert scalar_type(If(literal("bool", True), failing, number), []).type is SqlType.BIGINT
    assert scalar_type(Call("+", (failing, number)), []).type is SqlType.BIGINT
    assert scalar_type(Call("and", (failing, failing)), []).type is SqlType.BOOLEAN
    assert scalar_type(Call("hour", (failing,)), []).type is SqlType.INTEGER
    assert scalar_type(Cast(failing, SqlType.DATE), []).type is SqlType.DATE
    for function, entry in FUNCTIONS.items():
        compile_scalar(Call(function, (failing,) * max(entry.minimum, 1)), [])


ARGUMENTS = st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=3)


@given(st.sampled_from(sorted(FUNCTIONS)), ARGUMENTS)
def test_what_is_well_typed_evaluates_to_its_type(function: str, names: list[str]) -> None:
    arguments = types(*names)
    try:
        expected = result_type(function, arguments)
    except ExpressionError:
        return
    call = Call(function, tuple(ColumnRef(position) for position in range(len(names))))
    nulls = [column(name, [None, None]) for name in names]
    program = compile_scalar(call, arguments)
    found = program(nulls, 2).column
    assert program.type == expected
    assert found.type is expected.type
    assert found.to_arrow().type == expected.type.arrow
    if FUNCTIONS[function].nulls in (NullRule.STRICT, NullRule.KLEENE, NullRule.SKIPS):
        assert evaluate(call, nulls) == [None, None]
    assert evaluate(call, [column(name, []) for name in names]) == []


def test_every_function_is_evaluated() -> None:
    """Each entry of the table has a type signature that compiles."""
    reached: set[str] = set()
    for function, entry in FUNCTIONS.items():
        for name in TYPES:
            for other in TYPES:
                arguments = types(*[name, *[other] * (entry.minimum - 1)])
                try:
                    result_type(function, arguments)
                except ExpressionError:
                    continue
                compile_scalar(Call(function, tuple(map(ColumnRef, range(len(arguments))))), arguments)
                reached.add(function)
    assert reached == set(FUNCTIONS) - {"split_part"}
    compile_scalar(Call("split_part", tuple(map(ColumnRef, range(3)))), types("text", "text", "int"))
