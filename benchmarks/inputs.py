"""The common input, written once below ``benchmarks/data`` and read by every arm, and the results to expect.

Orders ``(order_id, customer_id, amount)`` join customers ``(customer_id, region)``; the maintained result is count and
sum by region.
Everything follows from one seed, so each process can compute the rows of a tick for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

DATA = Path(__file__).parent / "data"
ORDERS = 1_000_000
CUSTOMERS = 50_000
REGIONS = 50
SEED = 7

Integers = npt.NDArray[np.int64]
Regions = dict[int, tuple[int, int]]
"""Count and sum of each region: the result that every arm must have."""


@dataclass(frozen=True)
class Orders:
    """Columns of as many orders as there are elements."""

    id: Integers
    customer: Integers
    amount: Integers

    def __len__(self) -> int:
        return len(self.id)

    def table(self) -> pa.Table:
        return pa.table({"order_id": self.id, "customer_id": self.customer, "amount": self.amount})

    def rows(self) -> list[tuple[int, int, int]]:
        return list(zip(self.id.tolist(), self.customer.tolist(), self.amount.tolist(), strict=True))


def orders(count: int) -> Orders:
    """The first orders; a longer prefix of one sequence does not change a shorter one's rows."""
    return Orders(np.arange(count), _draw("customer", count, 0, CUSTOMERS), _draw("amount", count, 1, 1001))


def customer_regions() -> Integers:
    """The region of each customer, by id."""
    return _draw("region", CUSTOMERS, 0, REGIONS)


def tick(number: int, size: int, loaded: int) -> Orders:
    """The rows of one tick, for ``loaded`` orders before the first; ticks of one size are numbered from 0."""
    generator = np.random.default_rng([SEED, size, number])
    first = loaded + number * size
    return Orders(
        np.arange(first, first + size), generator.integers(0, CUSTOMERS, size), generator.integers(1, 1001, size)
    )


def expected(parts: list[Orders]) -> Regions:
    """The result over all these orders."""
    region_of = customer_regions()
    counts, sums = np.zeros(REGIONS, np.int64), np.zeros(REGIONS, np.int64)
    for part in parts:
        region = region_of[part.customer]
        np.add.at(counts, region, 1)
        np.add.at(sums, region, part.amount)
    return {region: (int(counts[region]), int(sums[region])) for region in range(REGIONS) if counts[region]}


def region_of(order: tuple[int, int, int]) -> int:
    """The region whose result an order changes."""
    return int(_regions()[order[1]])


@cache
def _regions() -> Integers:
    return customer_regions()


def orders_csv() -> Path:
    """A million orders as CSV; written when missing."""
    path = DATA / "orders.csv"
    if not path.exists():
        _write_csv(orders(ORDERS).table(), path)
    return path


def customers_csv() -> Path:
    """The customers as CSV; written when missing."""
    path = DATA / "customers.csv"
    if not path.exists():
        _write_csv(customers_table(), path)
    return path


def customers_table() -> pa.Table:
    return pa.table({"customer_id": np.arange(CUSTOMERS), "region": customer_regions()})


def _draw(column: str, count: int, low: int, high: int) -> Integers:
    generator = np.random.default_rng([SEED, *column.encode()])
    return generator.integers(low, high, count)


def _write_csv(table: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    pyarrow.csv.write_csv(table, unfinished)
    unfinished.rename(path)
