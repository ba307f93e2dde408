"""DuckDB, in memory: it keeps the tables and answers by computing anew; no result is maintained.

``point_read`` looks orders up by primary key through the Python client, with a statement prepared once.
"""

from __future__ import annotations

import random
import time

import duckdb

from .. import inputs
from ..child import Measured

QUERY = "select region, count(*), sum(amount) from orders join customers using (customer_id) group by region"
QUERY_ONE = "select count(*), sum(amount) from orders join customers using (customer_id) where region = ?"


def hydration(threads: int) -> Measured:
    """From the two CSV files to the first answer; and the query alone, once the tables are loaded."""
    orders_csv, customers_csv = inputs.orders_csv(), inputs.customers_csv()
    start = time.perf_counter()
    connection = duckdb.connect(config={"threads": threads})
    connection.execute(f"create table orders as from read_csv('{orders_csv}')")
    connection.execute(f"create table customers as from read_csv('{customers_csv}')")
    regions = _query(connection)
    total = time.perf_counter() - start
    queries: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        _query(connection)
        queries.append(time.perf_counter() - start)
    return Measured({"hydration from CSV": [total], "hydration from memory": queries}, regions)


def freshness(threads: int, rows: int, sizes: list[int], ticks: list[int]) -> Measured:
    """Insert the rows of a tick and compute the result anew; after a single order also for its region alone."""
    connection = duckdb.connect(config={"threads": threads})
    connection.register("some_orders", inputs.orders(rows).table())
    connection.register("some_customers", inputs.customers_table())
    connection.execute("create table orders as from some_orders")
    connection.execute("create table customers as from some_customers")
    samples: dict[str, list[float]] = {}
    loaded = rows
    for size, count in zip(sizes, ticks, strict=True):
        tick = f"tick of {size:,}"
        for number in range(count):
            changed = inputs.tick(number, size, loaded)
            row, table = changed.rows()[0], changed.table()
            region = inputs.region_of(row)
            start = time.perf_counter()
            if size == 1:
                connection.execute("insert into orders values (?, ?, ?)", row)
            else:
                connection.register("changed", table)
                connection.execute("insert into orders from changed")
            inserted = time.perf_counter()
            _query(connection)
            computed = time.perf_counter()
            if size > 1:
                samples.setdefault(tick, []).append(computed - start)
                continue
            connection.execute(QUERY_ONE, [region]).fetchone()
            answered = time.perf_counter()
            samples.setdefault(tick, []).append(inserted - start + answered - computed)
            samples.setdefault(f"{tick}, whole result", []).append(computed - start)
        loaded += size * count
    return Measured(samples, _query(connection))


def point_read(rows: int, reads: int) -> Measured:
    connection = duckdb.connect(config={"threads": 1})
    orders = inputs.orders(rows)
    connection.register("some_orders", orders.table())
    connection.execute("create table orders (order_id bigint primary key, customer_id bigint, amount bigint)")
    connection.execute("insert into orders from some_orders")
    statement = connection.extract_statements("select customer_id, amount from orders where order_id = ?")[0]
    chooser = random.Random(inputs.SEED)
    timings: list[float] = []
    for _ in range(reads):
        key = chooser.randrange(rows)
        start = time.perf_counter()
        row = connection.execute(statement, [key]).fetchone()
        timings.append(time.perf_counter() - start)
        assert row == (orders.customer[key], orders.amount[key])
    return Measured({"point read": timings})


def _query(connection: duckdb.DuckDBPyConnection) -> inputs.Regions:
    return {region: (count, int(total)) for region, count, total in connection.execute(QUERY).fetchall()}
