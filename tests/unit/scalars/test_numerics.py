"""Arithmetic on numerics against Python's decimals, over small and huge numbers side by side."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.scalars import units
from pillion.messages.scalars import Call, ColumnRef

from .evaluation import Failed, column, evaluate

EXACT = Context(prec=120, rounding=ROUND_HALF_UP)
TINY = Decimal("0.000000001")
LIMIT = Decimal(10) ** 29
numerics = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: EXACT.scaleb(Decimal(n), -9)) | st.one_of(
    st.decimals(-1000, 1000, places=2),
    st.decimals(-(10**11), 10**11, places=9),
    st.sampled_from([Decimal(0), TINY, -TINY, Decimal(2**62) * TINY, Decimal(-(2**62)) * TINY, Decimal("0.5")]),
)
# Around the powers of two, where a number no longer fits into a word: alone, and added up.
words = st.tuples(st.sampled_from([-1, 1]), st.integers(61, 125), st.sampled_from([0, 61, 62, 63]), st.integers(-2, 2))
numerics |= words.map(lambda w: EXACT.scaleb(Decimal(w[0] * (2 ** w[1] + 2 ** w[2]) + w[3]), -9))
pairs = st.lists(st.tuples(numerics, numerics), min_size=1, max_size=6)


def expected(function: str, left: Decimal, right: Decimal) -> Any:
    if function in "/%" and not right:
        return Failed("division by zero")
    match function:
        case "+":
            result = EXACT.add(left, right)
        case "-":
            result = EXACT.subtract(left, right)
        case "*":
            result = EXACT.multiply(left, right)
        case "/":
            result = EXACT.divide(left, right)
        case _:
            result = EXACT.remainder(left, right)
    result = result.quantize(TINY, context=EXACT)
    return result if result.copy_abs() < LIMIT else Failed("numeric out of range")


@given(st.sampled_from(["+", "-", "*", "/", "%"]), pairs)
def test_arithmetic(function: str, rows: list[tuple[Decimal, Decimal]]) -> None:
    columns = [column("numeric", values) for values in zip(*rows, strict=True)]
    found = evaluate(Call(function, (ColumnRef(0), ColumnRef(1))), columns)
    assert found == [expected(function, *row) for row in rows]


@given(st.sampled_from(["=", "<", ">="]), pairs)
def test_comparisons(function: str, rows: list[tuple[Decimal, Decimal]]) -> None:
    columns = [column("numeric", values) for values in zip(*rows, strict=True)]
    compare = {"=": Decimal.__eq__, "<": Decimal.__lt__, ">=": Decimal.__ge__}[function]
    found = evaluate(Call(function, (ColumnRef(0), ColumnRef(1))), columns)
    assert found == [compare(*row) for row in rows]


@given(st.lists(st.none() | numerics, max_size=6))
def test_columns_come_back(values: list[Decimal | None]) -> None:
    given_column = column("numeric", values)
    array = given_column.to_arrow()
    back = units.to_arrow(units.from_array(array), given_column.validity())
    assert back.equals(array)
    back.validate(full=True)


@given(st.lists(numerics, min_size=1, max_size=6))
def test_doubles_are_the_nearest(values: list[Decimal]) -> None:
    found = units.to_doubles(units.from_array(column("numeric", values).to_arrow()))
    assert found.dtype == np.float64
    assert found.tolist() == [float(value) for value in values]
