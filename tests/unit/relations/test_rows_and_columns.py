"""select, with_columns, filter, distinct, top, explode, and what they say when misused."""

from __future__ import annotations

import pytest

from pillion.actors.relations import (
    ExpressionTypeError,
    RelationError,
    UnknownColumnError,
    col,
    count,
    generate_series,
    lit,
    values,
    when,
)

from .evaluation import customers, orders, rows_of, same_rows


def test_select_orders_renames_and_computes() -> None:
    relation = orders.select("amount", col("id"), twice=col("amount") * 2, constant=lit("x"), number=7)
    assert relation.columns == ("amount", "id", "twice", "constant", "number")
    same_rows(relation, "select amount, id, amount * 2, 'x', 7 from orders")


def test_with_columns_replaces_in_place_and_sees_the_old_values() -> None:
    relation = orders.with_columns(amount=col("id"), id=col("amount"), new=col("id") + 1)
    assert relation.columns == ("id", "customer", "region", "amount", "new")
    same_rows(relation, "select amount, customer, region, id, id + 1 from orders")


def test_drop_and_rename() -> None:
    assert orders.drop("region", "amount").columns == ("id", "customer")
    assert orders.rename({"id": "number"}, region="area").columns == ("number", "customer", "area", "amount")
    same_rows(orders.drop("region").rename(id="number"), "select id, customer, amount from orders")


def test_filter_keeps_only_what_is_true() -> None:
    same_rows(orders.filter(col("amount") > 0), "select * from orders where amount > 0")
    same_rows(orders.filter(~(col("amount") > 0)), "select * from orders where not amount > 0")
    same_rows(orders.filter((col("id") > 1) & (col("id") < 4)), "select * from orders where id > 1 and id < 4")
    same_rows(orders.filter(col("id") > 1, region="south"), "select * from orders where id > 1 and region = 'south'")


def test_distinct() -> None:
    same_rows(orders.distinct(), "select distinct * from orders")
    same_rows(orders.distinct("region"), "select distinct region from orders")
    same_rows(orders.distinct(big=col("amount") > 3), "select distinct amount > 3 from orders")


def test_unique_keeps_one_whole_row_per_combination() -> None:
    rows = rows_of(orders.unique("region"))
    assert sorted(row[0] for row in rows) == [1, 3, 4]


def test_top() -> None:
    same_rows(
        orders.top(2, by="amount", descending=True), "select * from orders order by amount desc nulls last limit 2"
    )
    same_rows(
        orders.top(1, by="amount", per="region"),
        "select id, customer, region, amount from (select *, row_number() over (partition by region order by amount "
        "nulls last, id) as n from orders) where n = 1",
    )
    same_rows(orders.top(1, by="amount", nulls_first=True), "select * from orders where amount is null")
    same_rows(orders.top(2, by=-col("id"), offset=3), "select * from orders order by -id limit 2 offset 3")
    same_rows(orders.top(None, by="id", offset=4), "select * from orders order by id offset 4")
    assert len(rows_of(orders.limit(2))) == 2


def test_top_by_several_columns_with_directions() -> None:
    same_rows(
        orders.top(3, by=["region", "id"], descending=[True, False]),
        "select * from orders order by region desc nulls last, id limit 3",
    )


def test_explode() -> None:
    relation = orders.filter(col("id") < 3).explode(step=generate_series(1, col("id")))
    same_rows(relation.select("id", "step"), "select * from (values (1, 1), (2, 1), (2, 2))")


def test_conditions() -> None:
    size = when(col("amount") > 5).then("big").when(col("amount") > 0).then("small").otherwise("none")
    same_rows(
        orders.select("id", size=size, flag=when(col("id") == 1).then(1)),
        "select id, case when amount > 5 then 'big' when amount > 0 then 'small' else 'none' end, "
        "case when id = 1 then 1 end from orders",
    )


def test_a_relation_is_unchanged_by_what_is_made_of_it() -> None:
    before = orders.algebra
    orders.filter(col("id") > 1).select("id").join(customers, how="cross")
    assert orders.algebra is before


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: orders.select("amuont"), UnknownColumnError, "did you mean 'amount'"),
        (lambda: orders.filter(col("nothing") > 1), UnknownColumnError, "there are 'id', 'customer'"),
        (lambda: orders.select("id", "id"), RelationError, "'id' appears twice"),
        (lambda: orders.rename(id="amount"), RelationError, "'amount' appears twice"),
        (lambda: orders.drop(*orders.columns), RelationError, "leave no column"),
        (lambda: orders.select(), RelationError, "at least one column"),
        (lambda: orders.select(lit(1)), RelationError, "has no name"),
        (lambda: orders.filter(), RelationError, "at least one condition"),
        (lambda: orders.filter("region"), ExpressionTypeError, "takes a condition"),
        (lambda: orders.filter(col("region")), ExpressionTypeError, "takes a condition"),
        (lambda: orders.filter([1]), RelationError, "neither an expression nor a value"),
        (lambda: orders.filter(col("id") > 1 and col("id") < 3), RelationError, "& | ~"),
        (lambda: orders.filter(1 < col("id") < 3), RelationError, "& | ~"),
        (lambda: orders.filter((col("id") > 1) & col("id")), ExpressionTypeError, "takes a condition"),
        (lambda: orders.with_columns(x=None), ExpressionTypeError, "NULL without a type"),
        (lambda: orders.select(col("region") + 1), ExpressionTypeError, "two numbers"),
        (lambda: orders.select(col("region") == 1), ExpressionTypeError, "operands of one type"),
        (lambda: orders.select(col("id").str.to_uppercase()), ExpressionTypeError, "a text"),
        (lambda: orders.select(col("id").dt.year()), ExpressionTypeError, "a date or a timestamp"),
        (lambda: orders.select(col("region").cast("bogus")), ExpressionTypeError, "'bogus' is no type"),
        (lambda: orders.select(col("amount").cast("date")), ExpressionTypeError, "cannot become"),
        (lambda: orders.top(-1), RelationError, "from 0 on"),
        (lambda: orders.top(1, by=["id"], descending=[True, False]), RelationError, "one for each"),
        (lambda: orders.top(1, per="area"), UnknownColumnError, "no column 'area'"),
        (lambda: orders.explode(x=col("region")), ExpressionTypeError, "takes a table function"),
        (lambda: orders.select(count(), "id"), RelationError, "aggregates many rows"),
        (lambda: col(""), RelationError, "the name of one column"),
        (lambda: col("id").is_in("abc"), RelationError, "takes a list"),
        (lambda: bool(orders), RelationError, "no truth value"),
        (lambda: values({"a": "bigint"}, [(None,)]), RelationError, "declare it 'bigint\\?'"),
        (lambda: values({"a": "bigint"}, [("x",)]), ExpressionTypeError, "'x' is no bigint"),
        (lambda: values({"a": "bigint"}, [(1, 2)]), RelationError, "has 2 values"),
        (lambda: values({}, []), RelationError, "at least one column"),
    ],
)
def test_mistakes(make: object, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()  # type: ignore[operator]
