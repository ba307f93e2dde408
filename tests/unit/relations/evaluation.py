"""Relations evaluated by the oracle in plain Python, and by DuckDB for a second opinion."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb

from pillion.actors.relations import Relation, values
from pillion.actors.simulation.oracle.relations import Oracle

Rows = list[tuple[Any, ...]]

ORDERS: Rows = [
    (1, 7, "north", 10.0),
    (2, 7, "north", None),
    (3, None, "south", 2.5),
    (4, 9, None, 4.0),
    (4, 9, None, 4.0),
    (5, 8, "south", -1.5),
]
CUSTOMERS: Rows = [
    (7, "Ann", "north"),
    (8, "Bob", None),
    (8, "Bea", "south"),
    (None, "Nil", "west"),
    (6, "Zoe", "east"),
]

orders = values({"id": "bigint", "customer": "bigint?", "region": "text?", "amount": "double?"}, ORDERS)
customers = values({"customer": "integer?", "name": "text", "region": "text?"}, CUSTOMERS)


def rows_of(relation: Relation) -> Rows:
    """The rows, sorted; each as often as it is there. Fails on errors and on negative multiplicities."""
    result = Oracle({}, {}).evaluate(relation.algebra)
    assert not result.errors, result.errors
    assert all(count > 0 for count in result.rows.values()), result.rows
    return ordered(list(result.rows.elements()))


def errors_of(relation: Relation) -> list[str]:
    return sorted(Oracle({}, {}).evaluate(relation.algebra).errors)


def ordered(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: [(value is None, str(type(value)), value) for value in row])


def sql(query: str) -> Rows:
    """The rows of a query over ``orders`` and ``customers``."""
    connection = duckdb.connect()
    connection.execute("create table orders (id bigint, customer bigint, region text, amount double)")
    connection.execute("create table customers (customer integer, name text, region text)")
    connection.executemany("insert into orders values (?, ?, ?, ?)", ORDERS)
    connection.executemany("insert into customers values (?, ?, ?)", CUSTOMERS)
    return ordered(connection.execute(query).fetchall())


def same_rows(relation: Relation, query: str) -> None:
    """The relation and the query agree, with multiplicities."""
    assert Counter(rows_of(relation)) == Counter(sql(query)), (rows_of(relation), sql(query))
