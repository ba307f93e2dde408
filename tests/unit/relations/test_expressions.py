"""Operators and functions: their values for NULL, negative numbers and constants of other types."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pillion.actors.relations import Expression, coalesce, col, concat, greatest, least, lit, udf, values, when
from pillion.actors.relations.binding import RowScope, bind
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.scalars.compile import Evaluated, compile_scalar
from pillion.messages.types import SqlType

DAY, MOMENT = datetime.date(2013, 12, 31), datetime.datetime(2013, 12, 31, 23, 59, 58, 500)
ROW = (3, -7, 2, 1.5, Decimal("2.25"), "Ab c", DAY, MOMENT, True)
table = values(
    {
        "small": "smallint", "a": "bigint?", "b": "bigint", "x": "double?", "n": "numeric?", "s": "text?",
        "day": "date", "at": "timestamp", "flag": "boolean?",
    },
    [ROW],
)  # fmt: skip


def evaluate(expression: Expression) -> Evaluated:
    """The engine's evaluation on the only row of the table; it agrees with the type that was bound."""
    bound = bind(expression.node, RowScope(table.schema, "test"))
    program = compile_scalar(bound.scalar, table.schema.types, trust=True)
    assert program.type.type is bound.sql
    assert bound.type.nullable or not program.type.nullable
    columns = [column_from_values([v], f.type) for v, f in zip(ROW, table.schema.fields, strict=True)]
    return program(columns, 1)


def value(expression: Expression) -> Any:
    result = evaluate(expression)
    assert result.errors is None
    return result.column.to_values()[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (col("a") + 1, -6),
        (1 - col("a"), 8),
        (col("a") / col("b"), -3.5),
        (7 / col("b"), 3.5),
        (col("a") // col("b"), -4),
        (col("a") % col("b"), 1),
        (col("a") // -2, 3),
        (col("a") % -2, -1),
        (7 // col("b"), 3),
        (col("x") // 0.5, 3.0),
        (-col("a"), 7),
        (abs(col("a")), 7),
        (col("small") + 32767, 32770),
        (col("n") * 2, Decimal("4.5")),
        (col("n") + 0.5, Decimal("2.75")),
        (col("s") + "!", "Ab c!"),
        (col("a") == -7, True),
        (col("x") > 1, True),
        (col("day") > "2013-12-01", True),
        (col("at") < datetime.date(2014, 1, 1), True),
        (col("a").is_in([1, -7]), True),
        (col("a").is_in([1, 2]), False),
        (col("a").is_in([]), False),
        (col("a").between(-10, 0), True),
        (col("flag") & (col("a") > 0), False),
        (~col("flag"), False),
        (col("flag") ^ True, False),
        (coalesce(col("a").null_if(-7), "b"), 2),
        (col("a").null_if(-7).fill_null(5), 5),
        (col("a").null_if(-7).is_null(), True),
        (col("a").is_not_null(), True),
        (col("a").null_if(-7).eq_missing(lit(None, "bigint")), True),
        (col("a").ne_missing(-7), False),
        (greatest("a", "b"), 2),
        (least("a", "b"), -7),
        (concat("s", "s", separator="-"), "Ab c-Ab c"),
        (when(col("a") > 0).then(1).otherwise(2.5), 2.5),
        (col("a").cast("text"), "-7"),
        (lit(5, "smallint"), 5),
        (lit(None, "bigint"), None),
        (col("s").str.to_uppercase(), "AB C"),
        (col("s").str.len_chars(), 4),
        (col("s").str.slice(1, 2), "b "),
        (col("s").str.head(2), "Ab"),
        (col("s").str.contains("b c"), True),
        (col("s").str.starts_with("Ab"), True),
        (col("s").str.replace_all("b", "x"), "Ax c"),
        (col("day").dt.year(), 2013),
        (col("day").dt.weekday(), 2),
        (col("day") + 1, datetime.date(2014, 1, 1)),
        (col("at").dt.hour(), 23),
        (col("at").dt.date(), DAY),
        (col("at").dt.truncate("hour"), datetime.datetime(2013, 12, 31, 23)),
    ],
    ids=repr,
)
def test_value(expression: Expression, expected: Any) -> None:
    result = value(expression)
    assert result == expected
    assert type(result) is type(expected)


def test_dividing_by_zero_is_an_error_of_the_row() -> None:
    for expression in (col("a") / 0, col("a") // 0, col("a") % (col("b") - 2)):
        errors = evaluate(expression).errors
        assert errors is not None
        assert list(errors.messages) == ["division by zero"]


def test_types_of_results() -> None:
    relation = table.select(
        a=col("a") / 2, b=col("small") + 1, c=col("small") == 1, d=col("n") / 2, e=col("small") + col("small")
    )
    assert [field.type for field in relation.schema.fields] == [
        SqlType.DOUBLE, SqlType.BIGINT, SqlType.BOOLEAN, SqlType.NUMERIC, SqlType.SMALLINT,
    ]  # fmt: skip


def test_long_chains_of_conditions() -> None:
    assert value(col("a").is_in(range(-2000, 2000))) is True


def test_user_functions() -> None:
    @udf("text")
    def joined(number: int, text: str) -> str:
        return f"{text}{number}"

    @udf("bigint", vectorized=True)
    def doubled(numbers: pa.Array) -> Any:
        return pc.add(numbers, numbers)

    assert value(joined("a", "s")) == "Ab c-7"
    assert value(joined(col("a").null_if(-7), "s")) is None
    assert value(doubled("a")) == -14
    assert value(col("a").map_elements(lambda v: v + 1, "bigint")) == -6
    errors = evaluate(col("s").map_elements(int, "bigint")).errors
    assert errors is not None
    assert "ValueError" in errors.messages[0]


def test_repr_reads_like_what_was_written() -> None:
    assert repr((col("a") + 1) * 2 > col("b")) == "((col('a') + 1) * 2) > col('b')"
    assert repr(col("a").sum().alias("total")) == "(col('a').sum()).alias('total')"
    assert repr(~col("f").is_null()) == "~col('f').is_null()"


def test_an_expression_is_no_key_and_no_list() -> None:
    with pytest.raises(TypeError):
        hash(col("a"))
    with pytest.raises(ValueError, match="not a list"):
        list(col("a"))
