"""Three-valued logic, and which errors are raised: only those of what matters to a row."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pillion.actors.simulation.oracle.scalars import RowError
from pillion.actors.simulation.oracle.scalars import evaluate as evaluate_row
from pillion.messages.scalars import Call, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import Failed, column, evaluate, literal

TRUE, FALSE, NULL = (Literal(raw, SqlType.BOOLEAN) for raw in (True, False, None))
ZERO, ONE = literal("bigint", 0), literal("bigint", 1)


def fails(message: str) -> Scalar:
    return LiteralError(message)


E, F = fails("e"), fails("f")


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [
        ("and", (TRUE, TRUE), True),
        ("and", (TRUE, FALSE), False),
        ("and", (NULL, TRUE), None),
        ("and", (NULL, FALSE), False),
        ("and", (NULL, NULL), None),
        ("and", (E, FALSE), False),
        ("and", (FALSE, E), False),
        ("and", (E, TRUE), Failed("e")),
        ("and", (NULL, E), Failed("e")),
        ("and", (E, F), Failed("e")),
        ("and", (E, NULL, FALSE), False),
        ("and", (TRUE,), True),
        ("or", (FALSE, FALSE), False),
        ("or", (NULL, TRUE), True),
        ("or", (NULL, FALSE), None),
        ("or", (E, TRUE), True),
        ("or", (TRUE, E), True),
        ("or", (E, FALSE), Failed("e")),
        ("or", (NULL, E), Failed("e")),
        ("or", (F, E, TRUE), True),
        ("or", (E,), Failed("e")),
    ],
)
def test_connectives(function: str, operands: tuple[Scalar, ...], expected: Any) -> None:
    assert evaluate(Call(function, operands), [], 1) == [expected]
    # The same with columns in place of the constants.
    columns = [column("bool", [operand.value if isinstance(operand, Literal) else None] * 2) for operand in operands]
    references = tuple(o if isinstance(o, LiteralError) else ColumnRef(i) for i, o in enumerate(operands))
    assert evaluate(Call(function, references), columns) == [expected] * 2


def test_if_takes_one_branch() -> None:
    divisor = column("bigint", [0, 2, None, 5])
    guarded = If(
        Call("=", (ColumnRef(0), ZERO)), literal("bigint", -1), Call("/", (literal("bigint", 10), ColumnRef(0)))
    )
    assert evaluate(guarded, [divisor]) == [-1, 5, None, 2]
    reverse = If(
        Call("!=", (ColumnRef(0), ZERO)), Call("/", (literal("bigint", 10), ColumnRef(0))), literal("bigint", -1)
    )
    assert evaluate(reverse, [divisor]) == [-1, 5, -1, 2]


def test_if_with_failing_branches() -> None:
    condition = column("bool", [True, False, None])
    assert evaluate(If(ColumnRef(0), ONE, E), [condition]) == [1, Failed("e"), Failed("e")]
    assert evaluate(If(ColumnRef(0), E, ONE), [condition]) == [Failed("e"), 1, 1]
    assert evaluate(If(E, ONE, ZERO), [condition]) == [Failed("e")] * 3
    assert evaluate(If(ColumnRef(0), E, F), [condition]) == [Failed("e"), Failed("f"), Failed("f")]


def test_if_whose_condition_fails_for_some_rows() -> None:
    numbers = column("bigint", [0, 1, 2])
    condition = Call("=", (Call("/", (ONE, ColumnRef(0))), ONE))
    assert evaluate(If(condition, literal("text", "one"), E), [numbers]) == [
        Failed("division by zero"),
        "one",
        Failed("e"),
    ]


def test_if_of_constant_condition_is_decided_once() -> None:
    assert evaluate(If(TRUE, ONE, E), [], 2) == [1, 1]
    assert evaluate(If(NULL, E, ONE), [], 2) == [1, 1]


def test_if_promotes_its_branches() -> None:
    condition = column("bool", [True, False])
    assert evaluate(If(ColumnRef(0), literal("int", 1), literal("double", 0.5)), [condition]) == [1.0, 0.5]
    assert evaluate(If(ColumnRef(0), literal("text", "a"), literal("text", None)), [condition]) == ["a", None]


def test_if_on_texts_that_fail() -> None:
    texts = column("text", ["12", "x", None])
    scalar = If(
        Call("=", (ColumnRef(0), literal("text", "x"))),
        literal("text", "no number"),
        Cast(Cast(ColumnRef(0), SqlType.BIGINT), SqlType.TEXT),
    )
    assert evaluate(scalar, [texts]) == ["12", "no number", None]


def test_coalesce_looks_no_further_than_needed() -> None:
    first, second = column("bigint", [1, None, None]), column("bigint", [0, 0, 2])
    quotient = Call("/", (literal("bigint", 10), ColumnRef(1)))
    assert evaluate(Call("coalesce", (ColumnRef(0), quotient)), [first, second]) == [1, Failed("division by zero"), 5]
    assert evaluate(Call("coalesce", (ONE, E)), [], 2) == [1, 1]
    assert evaluate(Call("coalesce", (E, ONE)), [], 1) == [Failed("e")]
    assert evaluate(Call("coalesce", (literal("bigint", None), literal("double", None), ONE)), [], 1) == [1.0]


def test_coalesce_of_texts_and_numerics() -> None:
    texts = column("text", ["a", None])
    assert evaluate(Call("coalesce", (ColumnRef(0), literal("text", "b"))), [texts]) == ["a", "b"]
    numbers = column("bigint", [None, 7])
    total = Call("coalesce", (ColumnRef(0), literal("numeric", 10**20)))
    assert evaluate(total, [numbers]) == [10**20, 7]


def test_strict_functions_of_null() -> None:
    """An error of an argument comes before NULL, whichever comes first."""
    for function in ("+", "=", "<", "%"):
        for left, right in itertools.permutations((ONE, literal("bigint", None))):
            assert evaluate(Call(function, (left, right)), [], 1) == [None]
        assert evaluate(Call(function, (literal("bigint", None), E)), [], 1) == [Failed("e")]
    zero_and_null = [column("bigint", [None]), column("bigint", [0])]
    assert evaluate(Call("/", (ColumnRef(0), ColumnRef(1))), zero_and_null) == [None]
    assert evaluate(Call("substr", (literal("text", None), ONE, literal("bigint", -1))), [], 1) == [None]
    assert evaluate(Call("||", (literal("text", "a"), literal("text", None))), [], 1) == [None]


def test_functions_that_see_null() -> None:
    texts = column("text", ["a", None])
    assert evaluate(Call("is_null", (ColumnRef(0),)), [texts]) == [False, True]
    assert evaluate(Call("concat", (ColumnRef(0), literal("text", "z"))), [texts]) == ["az", "z"]
    numbers = column("double", [None, 2.0])
    assert evaluate(Call("greatest", (ColumnRef(0), literal("double", 1.0))), [numbers]) == [1.0, 2.0]
    assert evaluate(Call("least", (ColumnRef(0), literal("double", None))), [numbers]) == [None, 2.0]
    assert evaluate(Call("is_null", (E,)), [], 1) == [Failed("e")]


def test_a_thousand_operands() -> None:
    number = column("bigint", [3, 5000, None])
    choices = tuple(Call("=", (ColumnRef(0), literal("bigint", choice))) for choice in range(1000))
    assert evaluate(Call("or", choices), [number]) == [True, False, None]
    assert evaluate(Call("and", tuple(Call("not", (one,)) for one in choices)), [number]) == [False, True, None]
    many = (ColumnRef(0),) * 1000
    for function in ("coalesce", "least", "greatest"):
        assert evaluate(Call(function, many), [number]) == [3, 5000, None]


# Random expressions against the oracle, which evaluates one row at a time.

COLUMNS = (SqlType.BIGINT, SqlType.BIGINT, SqlType.DOUBLE, SqlType.BOOLEAN, SqlType.SMALLINT)
INPUTS = tuple(ColumnType(type) for type in COLUMNS)
SMALL = {
    SqlType.BIGINT: st.sampled_from([None, -2, -1, 0, 1, 2, 3, 2**62, 2**63 - 1, -(2**63)]),
    SqlType.SMALLINT: st.sampled_from([None, -1, 0, 1, 2, 200, 2**15 - 1, -(2**15)]),
    SqlType.DOUBLE: st.sampled_from([None, -1.5, 0.0, 0.5, 2.0, float("nan"), float("inf")]),
    SqlType.BOOLEAN: st.sampled_from([None, True, False]),
}


def leaves(type: SqlType) -> st.SearchStrategy[Scalar]:
    references = [ColumnRef(i) for i, column_type in enumerate(COLUMNS) if column_type is type]
    literals = SMALL[type].map(lambda value: Literal.of(value, type))
    return st.sampled_from(references) | literals if references else literals


def expressions(type: SqlType, depth: int) -> st.SearchStrategy[Scalar]:
    """Expressions of a type."""
    if depth == 0:
        return leaves(type)
    inner = expressions(type, depth - 1)
    booleans = expressions(SqlType.BOOLEAN, depth - 1)
    options = [
        leaves(type),
        st.builds(If, booleans, inner, inner),
        st.builds(lambda a, b: Call("coalesce", (a, b)), inner, inner),
        st.builds(If, booleans, inner, st.just(LiteralError("failed"))),
    ]
    if type is SqlType.BOOLEAN:
        numbers = st.sampled_from([SqlType.BIGINT, SqlType.DOUBLE, SqlType.SMALLINT]).flatmap(
            lambda number: st.tuples(expressions(number, depth - 1), expressions(number, depth - 1))
        )
        options += [
            st.builds(Call, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3).map(tuple)),
            st.builds(lambda a: Call("not", (a,)), inner),
            st.builds(Call, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), numbers),
            st.builds(lambda pair: Call("is_null", pair[:1]), numbers),
        ]
    elif type is SqlType.BIGINT:
        options += [
            st.builds(Call, st.sampled_from(["+", "-", "*", "/", "%"]), st.tuples(inner, inner)),
            st.builds(lambda a: Call("neg", (a,)), inner),
            st.builds(lambda a: Cast(a, SqlType.BIGINT), expressions(SqlType.DOUBLE, depth - 1)),
        ]
    elif type is SqlType.SMALLINT:
        options += [
            st.builds(Call, st.sampled_from(["+", "-", "*", "/", "%"]), st.tuples(inner, inner)),
            st.builds(lambda a: Cast(a, SqlType.SMALLINT), expressions(SqlType.BIGINT, depth - 1)),
        ]
    return st.one_of(options)


rows = st.lists(st.tuples(*(SMALL[type] for type in COLUMNS)), min_size=1, max_size=5)


def by_row(scalar: Scalar, row: Sequence[Any]) -> Any:
    try:
        return evaluate_row(scalar, tuple(row), INPUTS)
    except RowError:
        return Failed()


@given(st.sampled_from([SqlType.BIGINT, SqlType.BOOLEAN, SqlType.SMALLINT]).flatmap(lambda t: expressions(t, 2)), rows)
@example(Call("%", (ColumnRef(1), Literal(2**62, SqlType.BIGINT))), [(None, 2**63 - 1, None, None, None)])
def test_random_expressions_agree_with_the_oracle(scalar: Scalar, table: list[tuple[Any, ...]]) -> None:
    names = {SqlType.BIGINT: "bigint", SqlType.DOUBLE: "double", SqlType.BOOLEAN: "bool", SqlType.SMALLINT: "smallint"}
    columns = [
        column(names[type], list(values)) for type, values in zip(COLUMNS, zip(*table, strict=True), strict=True)
    ]
    found = [Failed() if isinstance(value, Failed) else value for value in evaluate(scalar, columns)]
    assert found == [by_row(scalar, row) for row in table]
