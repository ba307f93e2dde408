"""SQLite in memory, with a trigger that keeps the result up to date: no isolation, everything on the caller's thread.

The trigger maintains insertions of orders alone; a customer who moves to another region would need more triggers.
"""

from __future__ import annotations

import csv
import random
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

from .. import inputs
from ..child import Measured

TRIGGER = """
create trigger maintain after insert on orders begin
  update result set n = n + 1, total = total + new.amount
  where region = (select region from customers where id = new.customer);
end
"""


def hydration() -> Measured:
    """From the two CSV files to the first answer, the trigger maintaining the result row by row."""
    orders_csv, customers_csv = inputs.orders_csv(), inputs.customers_csv()
    start = time.perf_counter()
    connection = _connect(_read(customers_csv))
    _insert(connection, _read(orders_csv))
    regions = _query(connection)
    return Measured({"hydration from CSV": [time.perf_counter() - start]}, regions)


def freshness(rows: int, sizes: list[int], ticks: list[int]) -> Measured:
    """Insert the rows of a tick and read the maintained result: the region of a single order, all after many."""
    connection = _connect(enumerate(inputs.customer_regions().tolist()))
    _insert(connection, inputs.orders(rows).rows())
    samples: dict[str, list[float]] = {}
    loaded = rows
    for size, count in zip(sizes, ticks, strict=True):
        timings = samples.setdefault(f"tick of {size:,}", [])
        for number in range(count):
            changed = inputs.tick(number, size, loaded).rows()
            region = inputs.region_of(changed[0])
            start = time.perf_counter()
            _insert(connection, changed)
            if size == 1:
                connection.execute("select n, total from result where region = ?", (region,)).fetchone()
            else:
                _query(connection)
            timings.append(time.perf_counter() - start)
        loaded += size * count
    return Measured(samples, _query(connection))


def point_read(rows: int, reads: int) -> Measured:
    connection = _connect([])
    everything = inputs.orders(rows).rows()
    _insert(connection, everything)
    chooser = random.Random(inputs.SEED)
    timings: list[float] = []
    for _ in range(reads):
        key = chooser.randrange(rows)
        start = time.perf_counter()
        row = connection.execute("select id, customer, amount from orders where id = ?", (key,)).fetchone()
        timings.append(time.perf_counter() - start)
        assert row == everything[key]
    return Measured({"point read": timings})


def _connect(customers: Iterable[tuple[int, int]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("create table customers (id integer primary key, region integer)")
    connection.execute("create table orders (id integer primary key, customer integer, amount integer)")
    connection.execute("create table result (region integer primary key, n integer, total integer)")
    connection.executemany("insert into result values (?, 0, 0)", [(region,) for region in range(inputs.REGIONS)])
    connection.execute(TRIGGER)
    connection.execute("begin")
    connection.executemany("insert into customers values (?, ?)", customers)
    connection.execute("commit")
    return connection


def _insert(connection: sqlite3.Connection, rows: Iterable[tuple[int, ...]]) -> None:
    connection.execute("begin")
    connection.executemany("insert into orders values (?, ?, ?)", rows)
    connection.execute("commit")


def _query(connection: sqlite3.Connection) -> inputs.Regions:
    found = connection.execute("select region, n, total from result where n > 0").fetchall()
    return {region: (count, total) for region, count, total in found}


def _read(path: Path) -> Iterable[tuple[int, ...]]:
    with path.open(newline="") as file:
        lines = csv.reader(file)
        next(lines)
        for line in lines:
            yield tuple(map(int, line))
