"""Systems with an interactive runtime, on threads."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pillion.actors import ActorSystem, Relation, SystemFailed, Table, count, udf


@udf("bigint")
def crash(value: int) -> int:
    raise SystemExit("no ordinary exception")


def in_maintenance(system: ActorSystem, failing: Relation) -> Any:
    return system.create_index(failing, name="crashes", wait=True)


def in_the_interactive_runtime(system: ActorSystem, failing: Relation) -> Any:
    return system.query(failing)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("attempt", [in_maintenance, in_the_interactive_runtime])
def test_a_crash_in_either_runtime_fails_both(attempt: Callable[[ActorSystem, Relation], Any], workers: int) -> None:
    before = set(threading.enumerate())
    with ActorSystem(workers, interactive=True) as system:
        orders = system.create_table("orders", {"id": int})
        orders.insert([(1,), (2,)])
        index = system.create_index(orders, wait=True)
        # What no index answers is a dataflow of its own.
        failing = orders.select(id=crash("id")).distinct()
        for later in (lambda: attempt(system, failing), index.peek, lambda: orders.insert((3,))):
            with pytest.raises(SystemFailed, match="SystemExit: no ordinary exception"):
                later()
    assert set(threading.enumerate()) <= before


def count_rows(system: ActorSystem, table: Table) -> int:
    return system.query(table.agg(n=count())).scalar()


@pytest.mark.parametrize("workers", [1, 2])
def test_flipping_the_settings_while_queries_run_changes_no_answer(workers: int) -> None:
    with ActorSystem(workers, interactive=True) as system:
        orders = system.create_table("orders", {"id": int}, key="id")
        index = system.create_index(orders, wait=True)
        written, done = itertools.count(), threading.Event()
        latest = [0]
        wrong: list[str] = []

        def write() -> None:
            while not done.is_set():
                number = next(written)
                orders.insert((number,))
                latest[0] = number + 1

        def read(answer: Callable[[], int]) -> None:
            while not done.is_set():
                least = latest[0]
                found = answer()
                # An insert that has not returned may be there already.
                if not least <= found <= latest[0] + 1:
                    wrong.append(f"{found} rows, though there were {least} to {latest[0] + 1}")

        reads = [lambda: count_rows(system, orders), lambda: len(index.peek().rows())]
        threads = [threading.Thread(target=write)]
        threads += [threading.Thread(target=read, args=(answer,)) for answer in reads]
        for thread in threads:
            thread.start()
        routings = ("interactive", "hinted", "maintenance")
        for flip in range(30):
            system.configure(enable_compute_interactive_dataflows=flip % 2, peek_routing=routings[flip % 3])
            assert count_rows(system, orders) >= 0
        done.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert count_rows(system, orders) == latest[0] == len(index.peek().rows())
