"""Pathway: maintains the result incrementally in a native engine; it has no reads, so an arm follows its output stream.

``PATHWAY_THREADS`` sets its workers. Rows of a tick go through its Python connector, one ``next`` each and then an
explicit ``commit``, which is the fastest of the ways that its documentation names for a source written in Python.
"""

from __future__ import annotations

import threading
from time import perf_counter

import pathway as pw

from .. import inputs
from ..child import Measured

WAIT_SECONDS = 120


class OrderSchema(pw.Schema):
    order_id: int
    customer_id: int
    amount: int


class CustomerSchema(pw.Schema):
    customer_id: int = pw.column_definition(primary_key=True)
    region: int


class Follower:
    """Integrates the output stream, and tells when the result covers a number of orders."""

    def __init__(self) -> None:
        self.regions: inputs.Regions = {}
        self._covered = 0
        self._wanted = -1
        self._reached = threading.Event()
        self._reached_at = 0.0

    def follow(self, result: pw.Table) -> None:
        pw.io.subscribe(result, on_change=self._on_change, on_time_end=self._on_time_end)

    def want(self, orders: int) -> None:
        """Set what to wait for; before the change is made."""
        self._reached.clear()
        self._wanted = orders

    def wait(self) -> float:
        """When the wanted number was reached, by ``time.perf_counter``."""
        if not self._reached.wait(WAIT_SECONDS):
            raise TimeoutError(f"{self._covered} orders covered after {WAIT_SECONDS} s, {self._wanted} wanted")
        return self._reached_at

    def _on_change(self, key: pw.Pointer, row: dict[str, int], time: int, is_addition: bool) -> None:
        if is_addition:
            self._covered += row["n"]
            self.regions[row["region"]] = (row["n"], row["total"])
        else:
            self._covered -= row["n"]

    def _on_time_end(self, time: int) -> None:
        if self._covered == self._wanted:
            self._reached_at = perf_counter()
            self._reached.set()


def hydration() -> Measured:
    """From the two CSV files until the output stream has the whole result."""
    orders_csv, customers_csv = inputs.orders_csv(), inputs.customers_csv()
    start = perf_counter()
    orders = pw.io.csv.read(str(orders_csv), schema=OrderSchema, mode="static")
    customers = pw.io.csv.read(str(customers_csv), schema=CustomerSchema, mode="static")
    follower = Follower()
    follower.want(inputs.ORDERS)
    follower.follow(_by_region(orders, customers))
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return Measured({"hydration from CSV": [follower.wait() - start]}, follower.regions)


def freshness(rows: int, sizes: list[int], ticks: list[int]) -> Measured:
    """Push the rows of a tick, commit, and wait until the output stream has them."""
    follower = Follower()
    samples: dict[str, list[float]] = {}

    class Source(pw.io.python.ConnectorSubject):
        def run(self) -> None:
            loaded = rows
            self._push(inputs.orders(rows), rows)
            for size, count in zip(sizes, ticks, strict=True):
                pushed, committed = (
                    samples.setdefault(f"tick of {size:,}{what}", []) for what in ("", ", from commit")
                )
                for number in range(count):
                    changed = inputs.tick(number, size, loaded)
                    start, commit, end = self._push(changed, loaded + (number + 1) * size)
                    pushed.append(end - start)
                    committed.append(end - commit)
                loaded += size * count

        def _push(self, orders: inputs.Orders, covered: int) -> tuple[float, float, float]:
            changed = orders.rows()
            follower.want(covered)
            start = perf_counter()
            for order_id, customer_id, amount in changed:
                self.next(order_id=order_id, customer_id=customer_id, amount=amount)
            commit = perf_counter()
            self.commit()
            return start, commit, follower.wait()

    orders = pw.io.python.read(Source(), schema=OrderSchema, autocommit_duration_ms=None)
    customers = pw.io.csv.read(str(inputs.customers_csv()), schema=CustomerSchema, mode="static")
    follower.follow(_by_region(orders, customers))
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return Measured(samples, follower.regions)


def _by_region(orders: pw.Table, customers: pw.Table) -> pw.Table:
    joined = orders.join(customers, orders.customer_id == customers.customer_id).select(customers.region, orders.amount)
    return joined.groupby(pw.this.region).reduce(
        pw.this.region, n=pw.reducers.count(), total=pw.reducers.sum(pw.this.amount)
    )
