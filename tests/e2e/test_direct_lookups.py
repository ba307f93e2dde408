"""Lookups on the application's own thread: as fresh, as strict and as safe as those through the actors."""

from __future__ import annotations

import threading

import pytest

from pillion.actors import ActorSystem, count
from pillion.actors.controller.messages import ReplicaLost
from pillion.actors.errors import SystemStopped, UnknownCollection
from pillion.actors.system.index import Index
from pillion.actors.system.table import Table


def total(system: ActorSystem, metric: str) -> float:
    lines = [line for line in system.metrics().splitlines() if line.startswith(metric)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def asked(system: ActorSystem) -> float:
    """How many peeks the workers have answered."""
    return total(system, "pillion_peek_service_seconds_count")


def pairs(system: ActorSystem) -> tuple[Table, Index]:
    table = system.create_table("pairs", {"key": int, "value": int})
    return table, system.create_index(table, "key", wait=True)


def test_a_lookup_sends_no_message(system: ActorSystem) -> None:
    table, index = pairs(system)
    table.insert([(key, key * key) for key in range(100)])
    before = asked(system)
    assert [index.lookup(key).one() for key in range(100)] == [(key, key * key) for key in range(100)]
    assert not index.lookup(100).rows()
    assert asked(system) == before
    assert total(system, "pillion_lookups_total") == 101
    assert index.lookup(7, timeout=60).one() == (7, 49)
    assert asked(system) == before + 1


def test_a_lookup_sees_every_write_that_returned(system: ActorSystem) -> None:
    table, index = pairs(system)
    threads, each = 4, 60
    wrong: list[object] = []

    def write_and_read(thread: int) -> None:
        for number in range(each):
            written = table.insert((thread, number)).timestamp
            found = index.lookup(thread)
            if found.timestamp < written or sorted(value for _, value in found) != list(range(number + 1)):
                wrong.append((thread, number, found))

    running = [threading.Thread(target=write_and_read, args=(thread,)) for thread in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(120)
        assert not thread.is_alive()
    assert not wrong


def test_lookups_see_transactions_whole_and_time_pass(system: ActorSystem) -> None:
    table, _ = pairs(system)
    counts = system.create_index(table.group_by("key").agg(n=count()), "key", wait=True)
    done = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        latest = (0, 0)
        while not done.is_set():
            first, second = counts.lookup(1), counts.lookup(2)
            seen = [0 if row is None else row[1] for row in (first.one_or_none(), second.one_or_none())]
            # Both rows of a transaction come at one time, so a later read of the other has as many or more.
            if not latest <= (first.timestamp, seen[0]) or first.timestamp > second.timestamp or seen[0] > seen[1]:
                wrong.append((latest, first, second))
            latest = (first.timestamp, seen[0])

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(150):
        with system.transaction() as transaction:
            transaction.insert(table, [(1, number), (2, number)])
    done.set()
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive()
    assert not wrong


def test_a_serializable_lookup_waits_for_nothing(system: ActorSystem) -> None:
    table, index = pairs(system)
    table.insert((1, 1))
    assert index.lookup(1).one() == (1, 1)
    assert index.lookup(1, isolation="serializable").one() == (1, 1)


def test_a_dropped_index_is_refused_at_once_and_a_new_one_read(system: ActorSystem) -> None:
    table, index = pairs(system)
    table.insert((1, 1))
    assert index.lookup(1).one() == (1, 1)
    system.drop(index)
    with pytest.raises(UnknownCollection):
        index.lookup(1)
    again = system.create_index(table, "key", wait=True)
    assert again.lookup(1).one() == (1, 1)


def test_lookups_go_on_over_a_reconnect(system: ActorSystem) -> None:
    table, index = pairs(system)
    for number in range(20):
        table.insert((number, number))
        if number % 5 == 0:
            system._running.controller.tell(ReplicaLost("r1"))  # pyright: ignore[reportPrivateUsage]
        assert index.lookup(number).one() == (number, number)


def test_a_lookup_after_the_end_says_so() -> None:
    with ActorSystem() as system:
        table, index = pairs(system)
        table.insert((1, 1))
        assert index.lookup(1).one() == (1, 1)
    with pytest.raises(SystemStopped):
        index.lookup(1)


def test_threads_that_share_an_index_read_on_while_it_is_made_anew(system: ActorSystem) -> None:
    table, index = pairs(system)
    table.insert((1, 1))
    done = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        latest = 0
        try:
            while not done.is_set():
                found = index.lookup(1, isolation="serializable")
                assert found.timestamp >= latest
                latest = found.timestamp
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(30):
        table.insert((2, number))
        if number % 3 == 0:
            system._running.controller.tell(ReplicaLost("r1"))  # pyright: ignore[reportPrivateUsage]
    done.set()
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive()
    assert not failures
