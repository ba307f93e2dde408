"""Names of other libraries: an unknown attribute says what to write here."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pillion.actors.relations import RelationError, col, count, sum, udf, when
from pillion.actors.relations import other_names as names
from pillion.actors.relations.dates import DateNamespace
from pillion.actors.relations.expressions import Expression
from pillion.actors.relations.relation import GroupBy, Relation
from pillion.actors.relations.strings import StringNamespace
from pillion.actors.system.index import Index
from pillion.actors.system.result import Result
from pillion.actors.system.system import ActorSystem

from .evaluation import customers, orders, rows_of, same_rows


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: orders.where, r"a relation has no 'where'; write \.filter"),
        (lambda: orders.sort, "order_by="),
        (lambda: orders.to_pandas, r"system\.query\(relation\)"),
        (lambda: orders.lookup, "create_index"),
        (lambda: orders.fliter, "did you mean 'filter'"),
        (lambda: orders.group_by("region").len, r"\.count\(\)"),
        (lambda: orders.group_by("region").having, r"\.agg\(…\)\.filter"),
        (lambda: col("a").isin, r"\.is_in"),
        (lambda: col("a").over, r"\.top\("),
        (lambda: count().filter, "leaves out NULL"),
        (lambda: col("a").str.upper, "to_uppercase"),
        (lambda: col("a").str.start_with, "did you mean 'starts_with'"),
        (lambda: col("a").dt.total_seconds, "number of days"),
        (lambda: col("a").xyzzy, "^an expression has no 'xyzzy'$"),
    ],
)
def test_an_unknown_attribute_says_what_to_write(use: Callable[[], Any], says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        use()


@pytest.mark.parametrize(
    ("owner", "others"),
    [
        (Relation, names.OF_RELATIONS),
        (GroupBy, names.OF_GROUPS),
        (Expression, names.OF_EXPRESSIONS),
        (StringNamespace, names.OF_TEXT),
        (DateNamespace, names.OF_DATES),
        (Result, names.OF_RESULTS),
        (Index, names.OF_INDEXES),
        (ActorSystem, names.OF_SYSTEMS),
    ],
)
def test_no_hint_is_for_a_name_that_exists(owner: type, others: Mapping[str, str]) -> None:
    assert not [name for name in others if hasattr(owner, name)]


def test_relations_and_expressions_can_be_copied_and_pickled() -> None:
    assert pickle.loads(pickle.dumps(orders)).columns == copy.copy(orders).columns == orders.columns
    assert repr(pickle.loads(pickle.dumps(col("a") + 1))) == "col('a') + 1"


def test_conditions_are_counted_by_sum_and_averaged() -> None:
    big = col("amount") > 3
    same_rows(
        orders.group_by("region").agg(big.sum().alias("big"), share=big.mean(), missing=col("amount").null_count()),
        "select region, sum((amount > 3)::int), avg((amount > 3)::int), count(*) - count(amount) "
        "from orders group by region",
    )
    assert rows_of(orders.agg(a=count(when(big).then(1)), b=sum(big), c=col("amount").null_count())) == [(3, 3, 1)]


def test_what_others_call_it_in_arguments() -> None:
    with pytest.raises(RelationError, match="did you mean 'full'"):
        orders.join(customers, on="customer", how="outer")  # type: ignore[arg-type]
    with pytest.raises(RelationError, match=r"@udf\('text'\) above def plain"):

        @udf  # type: ignore[arg-type]
        def plain(value: int) -> int:
            return value

    with pytest.raises(RelationError, match="how='semi'"):
        col("customer").is_in(customers.select("customer"))  # type: ignore[arg-type]
    with pytest.raises(RelationError, match="offset_by"):
        col("at") + datetime.timedelta(hours=1)  # type: ignore[operator]
