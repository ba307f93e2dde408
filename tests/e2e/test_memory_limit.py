"""At the limit of memory an application is refused what takes more, and goes on with the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pillion.actors import ActorSystem, col
from pillion.actors.errors import MemoryLimitReached


@pytest.fixture
def orders(system: ActorSystem) -> Any:
    orders = system.create_table("orders", {"id": int, "region": str}, key="id")
    orders.insert([(1, "north"), (2, "south"), (3, "south")])
    system.create_index(orders, name="by_id", wait=True)
    return orders


def transact(system: ActorSystem, orders: Any) -> None:
    with system.transaction() as tx:
        tx.delete(orders, keys=[1])
        tx.insert(orders, [(4, "east")])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda s, o: o.insert((4, "east")),
        lambda s, o: o.upsert((1, "east")),
        lambda s, o: o.update({"region": "east"}, where=col("id") == 1),
        transact,
        lambda s, o: s.create_table("more", {"id": [1, 2]}),
        lambda s, o: s.create_index(o, "region"),
        lambda s, o: s.materialized_view("copy", o),
    ],
    ids=["insert", "upsert", "update", "transaction", "table", "index", "materialized view"],
)
def test_what_takes_memory_is_refused_and_changes_nothing(
    system: ActorSystem, orders: Any, attempt: Callable[[ActorSystem, Any], object]
) -> None:
    system.configure(process_memory_limit=1 << 20)
    before = system.collections()
    with pytest.raises(
        MemoryLimitReached, match=r"has [\d,]+ MiB of the 1 MiB .* or raise process_memory_limit"
    ) as refused:
        attempt(system, orders)
    assert refused.value.limit == 1 << 20 < refused.value.resident
    assert system.collections() == before
    assert sorted(system.query(orders).rows()) == [(1, "north"), (2, "south"), (3, "south")]
    system.configure(process_memory_limit=None)
    attempt(system, orders)


def test_reads_deletions_and_drops_go_on(system: ActorSystem, orders: Any) -> None:
    system.configure(process_memory_fraction=0.00001)
    assert system.get("by_id").lookup(1).rows() == [(1, "north")]  # type: ignore[union-attr]
    assert len(system.query(orders.filter(col("region") == "south"))) == 2
    orders.delete(where=col("id") == 1)
    system.drop("by_id")
    assert sorted(system.query(orders).rows()) == [(2, "south"), (3, "south")]
    with pytest.raises(MemoryError):
        orders.insert((5, "west"))


def test_a_replica_may_have_a_limit_of_its_own(system: ActorSystem, orders: Any) -> None:
    system.configure(process_memory_limit=1)
    system.configure(replica="r1", process_memory_limit=1 << 50)
    orders.insert((5, "west"))
    system.configure(replica="r1", process_memory_limit=None)
    with pytest.raises(MemoryLimitReached):
        orders.insert((6, "west"))


def test_without_a_limit_nothing_is_refused(system: ActorSystem, orders: Any) -> None:
    system.configure(process_memory_fraction=0)
    orders.insert((5, "west"))


def test_a_replica_in_another_process_says_that_it_has_too_much() -> None:
    with ActorSystem(replica="process") as system:
        orders = system.create_table("orders", {"id": int})
        index = system.create_index(orders, wait=True)
        system.configure(replica="r1", process_memory_limit=1 << 20)
        index.peek()  # What is answered after that comes after what the replica says of its memory.
        with pytest.raises(MemoryLimitReached, match="the process of replica 'r1' has") as refused:
            orders.insert((1,))
        assert refused.value.replica == "r1"
        assert index.peek().rows() == []
        system.configure(replica="r1", process_memory_limit=None)
        index.peek()
        orders.insert((1,))
        assert index.peek().rows() == [(1,)]
