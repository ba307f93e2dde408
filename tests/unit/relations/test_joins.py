"""Joins of every kind, with duplicate rows, duplicate keys and NULL keys on both sides."""

from __future__ import annotations

import pytest

from pillion.actors.relations import ExpressionTypeError, RelationError, UnknownColumnError, col, values

from .evaluation import customers, orders, rows_of, same_rows


def test_inner() -> None:
    same_rows(
        orders.join(customers, on="customer"),
        "select o.*, c.name, c.region from orders o join customers c on o.customer = c.customer",
    )


def test_left_keeps_rows_without_a_partner_and_with_a_null_key() -> None:
    same_rows(
        orders.join(customers, on="customer", how="left"),
        "select o.*, c.name, c.region from orders o left join customers c on o.customer = c.customer",
    )


def test_right_takes_the_key_from_the_right() -> None:
    same_rows(
        orders.join(customers, on="customer", how="right"),
        "select o.id, c.customer, o.region, o.amount, c.name, c.region "
        "from orders o right join customers c on o.customer = c.customer",
    )


def test_full() -> None:
    same_rows(
        orders.join(customers, on="customer", how="full"),
        "select o.id, coalesce(o.customer, c.customer), o.region, o.amount, c.name, c.region "
        "from orders o full join customers c on o.customer = c.customer",
    )


def test_semi_keeps_multiplicities() -> None:
    same_rows(
        orders.join(customers, left_on="region", right_on="region", how="semi"),
        "select * from orders o where exists (select 1 from customers c where c.region = o.region)",
    )


def test_anti_keeps_rows_with_a_null_key() -> None:
    same_rows(
        orders.join(customers, on="customer", how="anti"),
        "select * from orders o where not exists (select 1 from customers c where c.customer = o.customer)",
    )


def test_cross() -> None:
    same_rows(orders.join(customers, how="cross"), "select * from orders, customers")


def test_several_keys_and_expressions() -> None:
    same_rows(
        orders.join(
            customers, left_on=["region", col("customer") + 1], right_on=["region", 1 + col("customer")], how="left"
        ),
        "select o.*, c.customer, c.name from orders o left join customers c "
        "on o.customer = c.customer and o.region = c.region",
    )


def test_chains_of_outer_joins() -> None:
    first = orders.join(customers, on="customer", how="left").select("id", "name")
    same_rows(
        first.join(orders.select("id", again=col("amount")), on="id", how="left").join(
            customers.select("name", "customer"), on="name", how="anti"
        ),
        "select f.id, f.name, o.amount from (select o.id, c.name from orders o left join customers c using (customer)) "
        "f left join orders o on f.id = o.id where not exists (select 1 from customers c where c.name = f.name)",
    )


def test_columns_and_nullability_of_the_result() -> None:
    inner = orders.join(customers, on="customer")
    assert inner.columns == ("id", "customer", "region", "amount", "name", "region_right")
    left = orders.join(customers, on="customer", how="left", suffix="_c")
    assert left.columns == ("id", "customer", "region", "amount", "name", "region_c")
    assert not inner.schema.fields[4].nullable
    assert left.schema.fields[4].nullable
    assert not left.schema.fields[0].nullable
    assert orders.join(customers, on="customer", how="full").schema.fields[0].nullable


def test_keys_of_different_names_keep_the_left_one() -> None:
    joined = orders.join(customers.rename(customer="number"), left_on="customer", right_on="number")
    assert joined.columns == ("id", "customer", "region", "amount", "name", "region_right")


def test_keys_of_different_number_types_meet() -> None:
    wide = values({"key": "numeric"}, [(7,)])
    assert rows_of(orders.join(wide, left_on="customer", right_on="key", how="semi").select("id")) == [(1,), (2,)]


def test_the_key_of_rows_that_only_the_right_side_has() -> None:
    numbered = customers.select(number=col("customer"), called="name")
    for how in ("right", "full"):
        joined = orders.select("id", "customer").join(numbered, left_on="customer", right_on="number", how=how)
        assert joined.columns == ("id", "customer", "called")
        same_rows(
            joined,
            f"select o.id, coalesce(o.customer, c.customer), c.name from orders o {how} join customers c "
            "on o.customer = c.customer",
        )
    computed = orders.select("id", "customer").join(
        numbered, left_on=col("customer") + 1, right_on="number", how="full"
    )
    same_rows(
        computed,
        "select o.id, o.customer, c.customer, c.name from orders o full join customers c "
        "on o.customer + 1 = c.customer",
    )


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({}, RelationError, "needs its key"),
        ({"on": "customer", "left_on": "id"}, RelationError, "not both"),
        ({"left_on": ["id", "region"], "right_on": ["customer"]}, RelationError, "go in pairs"),
        ({"on": "custommer"}, UnknownColumnError, "did you mean 'customer'"),
        ({"on": "customer", "how": "lef"}, RelationError, "did you mean 'left'"),
        ({"on": "customer", "how": "cross"}, RelationError, "takes no key"),
        ({"on": "customer", "suffix": ""}, RelationError, "both sides have a column 'region'"),
        ({"left_on": "region", "right_on": "customer"}, ExpressionTypeError, "needs operands of one type"),
    ],
)
def test_mistakes(arguments: dict[str, object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        orders.join(customers, **arguments)  # type: ignore[arg-type]


def test_joining_what_is_no_relation() -> None:
    with pytest.raises(RelationError, match="a list was given"):
        orders.join([1], on="id")  # type: ignore[arg-type]
