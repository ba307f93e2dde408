"""A dashboard's numbers while orders come in: writers on one thread, readers on others, every read one moment.

The sum over the regions always equals the sum over the customers, because both indexes change with each transaction
as a whole; the readers check it.
"""

from __future__ import annotations

import random
import threading

from pillion.actors import ActorSystem, col, count
from pillion.actors import sum as sum_of

REGIONS = ("north", "east", "south", "west")
CUSTOMERS = 200
TRANSACTIONS = 100


def main() -> None:
    chance = random.Random(2013)
    with ActorSystem(workers=2) as system:
        customers = system.create_table("customers", {"customer": int, "region": str}, key="customer")
        orders = system.create_table("orders", {"id": int, "customer": int, "cents": int}, key="id")
        customers.insert([(customer, chance.choice(REGIONS)) for customer in range(CUSTOMERS)])

        sales = orders.join(customers, on="customer")
        by_region = system.view("by_region", sales.group_by("region").agg(orders=count(), cents=sum_of("cents")))
        by_person = system.view("by_person", orders.group_by("customer").agg(cents=sum_of("cents")))
        regions, people = system.create_index(by_region, "region"), system.create_index(by_person, "customer")

        done = threading.Event()
        checked: list[int] = []

        def read() -> None:
            while not done.is_set():
                with system.hold(regions, people) as moment:
                    by_region = regions.peek(as_of=moment.timestamp)
                    by_person = people.peek(as_of=moment.timestamp)
                assert sum(by_region.column("cents")) == sum(by_person.column("cents"))
                checked.append(moment.timestamp)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for number in range(TRANSACTIONS):
                with system.transaction() as tx:
                    tx.insert(
                        orders,
                        [
                            (number * 10 + i, chance.randrange(CUSTOMERS), chance.randrange(100, 10_000))
                            for i in range(10)
                        ],
                    )
                    if number > 10:
                        tx.delete(orders, where=col("id") == (number - 10) * 10)
        finally:
            done.set()
            for reader in readers:
                reader.join()

        for region, number, cents in sorted(regions.peek()):
            print(f"{region:6} {number:5} orders {cents / 100:12,.2f}")
        print(f"{len(checked)} reads on two threads, each of one moment")


if __name__ == "__main__":
    main()
