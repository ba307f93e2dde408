"""Aggregates: over groups, over everything, over nothing, and in expressions."""

from __future__ import annotations

import pytest

from pillion.actors.relations import (
    ExpressionTypeError,
    RelationError,
    UnknownColumnError,
    avg,
    col,
    count,
    count_distinct,
    max,
    median,
    min,
    string_agg,
    sum,
)

from .evaluation import orders, rows_of, same_rows


def test_groups_with_null_as_a_key() -> None:
    same_rows(
        orders.group_by("region").agg(
            count(), count("amount").alias("known"), total=sum("amount"), least=min("amount"), most=max("amount")
        ),
        "select region, count(*), count(amount), sum(amount), min(amount), max(amount) from orders group by region",
    )


def test_expressions_of_aggregates_and_keys() -> None:
    same_rows(
        orders.group_by(col("customer").fill_null(0).alias("who"))
        .agg(mean=sum("amount") / count("amount"), shifted=col("who") + count())
        .filter(col("who") != 0),
        "select coalesce(customer, 0), sum(amount) / count(amount), coalesce(customer, 0) + count(*) from orders "
        "where customer is not null group by 1",
    )


def test_computed_inputs_and_distinct() -> None:
    same_rows(
        orders.group_by("region").agg(kinds=count_distinct("customer"), double=(col("amount") * 2).sum()),
        "select region, count(distinct customer), sum(amount * 2) from orders group by region",
    )


def test_other_aggregates() -> None:
    same_rows(
        orders.filter(col("region").is_not_null()).group_by("region").agg(
            avg("amount"), middle=median("amount"), ids=string_agg(col("id").cast("text"), "+"),
            big=(col("amount") > 5).any(), small=(col("amount") < 5).all(),
        ),
        "select region, avg(amount), median(amount), string_agg(id::text, '+' order by id), bool_or(amount > 5), "
        "bool_and(amount < 5) from orders where region is not null group by region",
    )  # fmt: skip


def test_global_aggregates_have_one_row() -> None:
    same_rows(orders.agg(count(), sum("amount")), "select count(*), sum(amount) from orders")
    same_rows(orders.select(count(), sum("amount")), "select count(*), sum(amount) from orders")


def test_global_aggregates_over_nothing() -> None:
    nothing = orders.filter(col("id") > 100)
    aggregated = nothing.agg(count(), known=count("amount"), total=sum("amount"), more=count() + 1)
    assert rows_of(aggregated) == [(0, 0, None, 1)]
    assert [field.nullable for field in aggregated.schema.fields] == [False, False, True, False]
    assert rows_of(nothing.group_by("region").agg(count())) == []


def test_count_of_groups() -> None:
    same_rows(orders.group_by("customer").count(), "select customer, count(*) from orders group by customer")


def test_one_aggregate_used_twice_is_computed_once() -> None:
    relation = orders.group_by("region").agg(a=sum("amount"), b=sum("amount") + 1)
    assert str(relation.algebra).count("Aggregate(") == 1


def test_mistakes() -> None:
    grouped = orders.group_by("region")
    with pytest.raises(RelationError, match=r"aggregate it .* or add it to group_by"):
        grouped.agg(col("amount"))
    with pytest.raises(RelationError, match="aggregate it"):
        grouped.agg(col("amount") + sum("amount"))
    with pytest.raises(RelationError, match="aggregates many rows"):
        grouped.agg(sum(col("amount").sum()))
    with pytest.raises(RelationError, match="aggregates many rows"):
        orders.filter(sum("amount") > 1)
    with pytest.raises(RelationError, match="aggregates many rows"):
        orders.select("id", sum("amount"))
    with pytest.raises(RelationError, match="at least one key"):
        orders.group_by()
    with pytest.raises(RelationError, match="at least one aggregate"):
        grouped.agg()
    with pytest.raises(RelationError, match="appears twice"):
        grouped.agg(sum("amount"), max("amount"))
    with pytest.raises(UnknownColumnError, match="did you mean 'amount'"):
        grouped.agg(sum("amuont"))
    with pytest.raises(ExpressionTypeError, match="takes a number"):
        orders.agg(sum("region"))
    with pytest.raises(ExpressionTypeError, match="takes a text"):
        orders.agg(string_agg("id"))
    with pytest.raises(RelationError, match="from 0 to 1"):
        col("amount").percentile(50)
