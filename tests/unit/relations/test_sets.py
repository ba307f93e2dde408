"""Union, difference and intersection, as multisets and as sets."""

from __future__ import annotations

import pytest

from pillion.actors.relations import ExpressionTypeError, RelationError, col, values

from .evaluation import customers, orders, same_rows


def left():
    return orders.select("customer", "region")


def right():
    return customers.select("region", "customer")


SQL_LEFT, SQL_RIGHT = "select customer, region from orders", "select customer, region from customers"


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize(
    ("method", "operator"), [("union", "union"), ("except_", "except"), ("intersect", "intersect")]
)
def test_against_sql(method: str, operator: str, distinct: bool) -> None:
    relation = getattr(left(), method)(right(), distinct=distinct)
    same_rows(relation, f"{SQL_LEFT} {operator} {'' if distinct else 'all'} {SQL_RIGHT}")


def test_multiplicities() -> None:
    three, one = values({"a": "bigint"}, [(1,)] * 3 + [(2,)]), values({"a": "bigint"}, [(1,), (3,)])
    same_rows(three.except_(one), "select unnest([1, 1, 2])")
    same_rows(three.intersect(one), "select 1")
    same_rows(three.union(one).union(one), "select unnest([1, 1, 1, 2, 1, 3, 1, 3])")


def test_numbers_widen_and_nullability_joins() -> None:
    union = left().union(right())
    assert union.columns == ("customer", "region")
    assert str(union.schema.types[0]) == "bigint?"


def test_mistakes() -> None:
    with pytest.raises(RelationError, match=r"lacks \['region'\]"):
        left().union(customers.select("customer", "name"))
    with pytest.raises(ExpressionTypeError, match="column 'region'"):
        left().union(customers.select("customer", region=col("customer")))
