"""What a second runtime buys and what it costs: the same work for a system with one runtime, and with two."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from pillion.actors import ActorSystem, Index, Relation, Table, col, count, sum

from .. import inputs
from ..child import Measured
from ..load import LOAD, Read, capacity, closed, open_loop

KEYS = 100
WAIT = 3600.0
"""A read with a deadline goes through the actors, however far away that is."""
IDLE_INDEXES = 200


def isolation(interactive: bool, seconds: float, idle_reads: int) -> Measured:
    """Point reads of a small index: idle, and while views over a million rows are created, hydrated and dropped in a
    loop. *Sealed*: nothing is written to the index. *Fresh*: it is written to all the time, and each read waits until
    it includes every write before it. *Direct*: on the reader's own thread."""
    with _loaded(interactive) as (system, orders, regions):
        small = system.create_table("small", pa.table({"key": range(KEYS), "value": range(KEYS)}), key="key")
        index = system.create_index(small, "key", wait=True)
        reads = {"sealed": _through_actors(index), "direct": _direct(index)}
        samples = {f"{name}, idle": closed(read, idle_reads) for name, read in reads.items()}
        rates: list[str] = []

        def measure(name: str, read: Read, seconds: float) -> None:
            most = capacity(read, seconds / 4)
            samples[f"{name}, under churn"] = open_loop(read, LOAD * most, seconds)
            rates.append(f"{name}: {LOAD * most:.0f} of {most:.0f} reads/s")

        with _repeatedly(lambda number: _churn(system, orders, regions, number)) as churned:
            measure("sealed", reads["sealed"], seconds)
            # These have their samples sooner, or, where each waits for maintenance, are not meant to have many.
            measure("direct", reads["direct"], seconds / 5)
            with _repeatedly(lambda number: small.update(value=col("key"), where=col("key") == number % KEYS)):
                measure("fresh", _through_actors(index), seconds / 5)
        return Measured(samples, note="; ".join([*rates, f"{churned[0]} hydrations"]))


def introspection(interactive: bool, seconds: float) -> Measured:
    """Reading how far every collection is, under the same churn, and how old the answer is."""
    with _loaded(interactive) as (system, orders, regions):
        system.create_index(regions, "region", wait=True)
        ages: list[float] = []

        def read(number: int) -> None:
            result = system.query(system.introspection.frontiers)
            assert len(result)
            ages.append(result.age or 0.0)

        samples = {"idle": closed(read, 300)}
        with _repeatedly(lambda number: _churn(system, orders, regions, number)):
            most = capacity(read, seconds / 4)
            ages.clear()
            samples["under churn"] = open_loop(read, LOAD * most, seconds)
        samples["age of the answer"] = ages
        return Measured(samples, note=f"{LOAD * most:.1f} of {most:.1f} reads/s")


def expensive_peeks(interactive: bool, reads: int) -> Measured:
    """Point reads while another thread scans a million rows again and again."""
    with _loaded(interactive) as (system, orders, _):
        index = system.create_index(orders, "order_id", wait=True)
        expected = inputs.orders(inputs.ORDERS)

        def read(number: int) -> None:
            key = number * 7919 % inputs.ORDERS
            assert index.lookup(key, timeout=WAIT).one()[1] == expected.customer[key]

        def scan(number: int) -> None:
            assert not index.peek(col("amount") < 0).rows()

        samples = {"idle": closed(read, reads)}
        with _repeatedly(scan) as scanned:
            samples["behind scans"] = closed(read, reads)
        return Measured(samples, note=f"{scanned[0]} scans")


def publication(interactive: bool) -> Measured:
    """What it costs that nobody reads: hydration of a view, and the memory of the process, then with 200 idle indexes
    besides."""
    with _loaded(interactive) as (system, orders, regions):
        times: list[float] = []
        for number in range(5):
            start = time.perf_counter()
            _churn(system, orders, regions, number)
            times.append(time.perf_counter() - start)
        index = system.create_index(regions, "region", wait=True)
        sizes = {"resident memory": _resident()}
        idle = system.create_table("idle", pa.table({"key": range(1000), "value": range(1000)}))
        for number in range(IDLE_INDEXES):
            view = idle.select("key", value=col("value") + number)
            system.create_index(view, "key", name=f"idle {number}", wait=True)
        sizes["resident memory with 200 idle indexes"] = _resident()
        regions_of = {region: (n, int(total)) for region, n, total in index.peek()}
        return Measured({"hydration": times}, regions_of, sizes)


def view_freshness(interactive: bool, ticks: int) -> Measured:
    """Ticks of one order, idle and while other threads run one-shot joins of a million rows one after the other."""
    with _loaded(interactive) as (system, orders, regions):
        index = system.create_index(regions, "region", wait=True)
        joined = orders.join(system["customers"], on="customer_id")  # type: ignore[arg-type]
        by_customer = joined.group_by("customer_id").agg(n=count(), least=sum(col("amount")))
        system.create_index(orders, "customer_id", name="orders by customer", wait=True)

        def tick(number: int) -> None:
            changed = inputs.tick(number, 1, inputs.ORDERS).rows()
            orders.insert(changed)
            index.lookup(inputs.region_of(changed[0])).one()

        samples = {"idle": closed(tick, ticks)}
        with _repeatedly(lambda number: len(system.query(by_customer, limit=1))) as queried:
            samples["beside one-shot joins"] = closed(lambda number: tick(ticks + number), ticks)
        return Measured(samples, note=f"{queried[0]} joins")


@contextmanager
def _loaded(interactive: bool) -> Iterator[tuple[ActorSystem, Table, Relation]]:
    """A system with the orders and customers, and the view of the regions' counts and sums, which is not kept."""
    with ActorSystem(workers=1, interactive=interactive) as system:
        orders = system.create_table("orders", inputs.orders(inputs.ORDERS).table())
        customers = system.create_table("customers", inputs.customers_table())
        joined = orders.join(customers, on="customer_id")
        yield system, orders, system.view("regions", joined.group_by("region").agg(n=count(), total=sum(col("amount"))))


def _churn(system: ActorSystem, orders: Table, regions: Relation, number: int) -> None:
    """Create, hydrate and drop two indexes over all orders."""
    made = [
        system.create_index(regions, "region", name=f"regions {number}", wait=True),
        system.create_index(orders, "customer_id", name=f"orders {number}", wait=True),
    ]
    for index in made:
        system.drop(index)


def _through_actors(index: Index) -> Read:
    def read(number: int) -> None:
        assert index.lookup(number % KEYS, timeout=WAIT).one() == (number % KEYS, number % KEYS)

    return read


def _direct(index: Index) -> Read:
    def read(number: int) -> None:
        assert index.lookup(number % KEYS).one() == (number % KEYS, number % KEYS)

    return read


@contextmanager
def _repeatedly(work: Callable[[int], object]) -> Iterator[list[int]]:
    """Work in a thread, again and again, while the block runs; how often, once it has ended. What fails there ends the
    benchmark."""
    done, end = [0], threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            while not end.is_set():
                work(done[0])
                done[0] += 1
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        end.set()
        thread.join()
    if failures:
        raise failures[0]


def _resident() -> float:
    """Bytes of memory that the process has, after what is free was given back."""
    pa.default_memory_pool().release_unused()
    return float(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
