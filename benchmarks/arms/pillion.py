"""Pillion through its embedding surface: tables, a view over them, an index on the view."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv

from pillion.actors import ActorSystem, Table, col, count, sum
from pillion.actors.system.index import Index

from .. import inputs
from ..child import Measured


@dataclass(frozen=True)
class Maintained:
    """The orders, and the index on the maintained result."""

    orders: Table
    result: Index


def hydration(workers: int) -> Measured:
    """From the two CSV files, and from tables in memory, to the first answer."""
    orders_csv, customers_csv = inputs.orders_csv(), inputs.customers_csv()
    with ActorSystem(workers=workers) as system:
        start = time.perf_counter()
        orders, customers = (pyarrow.csv.read_csv(path) for path in (orders_csv, customers_csv))
        parsed = time.perf_counter()
        regions = _query(maintain(system, orders, customers))
        end = time.perf_counter()
        samples = {"hydration from CSV": [end - start], "hydration from memory": [end - parsed]}
        return Measured(samples, regions, _sizes(system))


def freshness(workers: int, rows: int, sizes: list[int], ticks: list[int]) -> Measured:
    """Commit the rows of a tick and read the result, which the read's isolation makes include them: the region of a
    single order, all regions after many."""
    with ActorSystem(workers=workers) as system:
        maintained = maintain(system, inputs.orders(rows).table(), inputs.customers_table())
        samples: dict[str, list[float]] = {}
        loaded = rows
        for size, count_ in zip(sizes, ticks, strict=True):
            timings = samples.setdefault(f"tick of {size:,}", [])
            for number in range(count_):
                changed = inputs.tick(number, size, loaded).rows()
                region = inputs.region_of(changed[0])
                start = time.perf_counter()
                maintained.orders.insert(changed)
                if size == 1:
                    maintained.result.lookup(region).one()
                else:
                    _query(maintained)
                timings.append(time.perf_counter() - start)
            loaded += size * count_
        regions = _query(maintained)
        return Measured(samples, regions, _sizes(system))


def point_read(workers: int, rows: int, reads: int) -> Measured:
    expected = inputs.orders(rows)
    with ActorSystem(workers=workers) as system:
        orders = system.create_table("orders", expected.table())
        index = system.create_index(orders, "order_id", wait=True)
        chooser = random.Random(inputs.SEED)
        # A read with a deadline goes through the actors; one without reads on this thread.
        samples: dict[str, list[float]] = {}
        for quantity, timeout in (("point read", 3600.0), ("direct lookup", None)):
            timings = samples.setdefault(quantity, [])
            for _ in range(reads):
                key = chooser.randrange(rows)
                start = time.perf_counter()
                row = index.lookup(key, timeout=timeout).one()
                timings.append(time.perf_counter() - start)
                assert row == (key, expected.customer[key], expected.amount[key])
    return Measured(samples)


def maintain(system: ActorSystem, orders: pa.Table, customers: pa.Table) -> Maintained:
    """Load both tables and keep the result by region."""
    orders_table = system.create_table("orders", orders)
    customers_table = system.create_table("customers", customers)
    joined = orders_table.join(customers_table, on="customer_id")
    view = system.view("by_region", joined.group_by("region").agg(n=count(), total=sum(col("amount"))))
    return Maintained(orders_table, system.create_index(view, "region", wait=True))


def _query(maintained: Maintained) -> inputs.Regions:
    return {region: (count, int(total)) for region, count, total in maintained.result.peek()}


def _sizes(system: ActorSystem) -> dict[str, float]:
    sizes = system.query(system.introspection.arrangement_sizes)
    return {"bytes of indexes": float(math.fsum(sizes.column("bytes")))}
