"""Embedded systems set values of the process, and give them back."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pillion.actors import ActorSystem, udf
from pillion.actors.errors import SystemFailed
from pillion.actors.system.table import Table
from pillion.actors.worker import process_globals
from pillion.actors.worker.process_globals import ProcessSettings

SETTINGS = {
    "process_switch_interval": 0.002,
    "process_gc_threshold": 5000,
    "process_gc_freeze": "on",
    "process_arrow_cpu_threads": 3,
    "process_arrow_io_threads": 5,
}


def state() -> tuple[object, ...]:
    """Every value of the process that settings reach."""
    return (
        round(sys.getswitchinterval(), 6),
        gc.get_threshold(),
        gc.get_freeze_count() > 0,
        pa.cpu_count(),
        pa.io_thread_count(),
    )


@pytest.fixture(autouse=True)
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[object, ...]]:
    # Of its own: a simulation that another test left where it was still wants its values.
    monkeypatch.setattr(process_globals, "PROCESS_SETTINGS", ProcessSettings())
    found = state()
    yield found
    assert state() == found


def start(interactive: bool, **settings: object) -> ActorSystem:
    system = ActorSystem(settings=settings, interactive=interactive)  # type: ignore[arg-type]
    # The answer to this comes after what the workers were told before.
    system.create_index(system.create_table("orders", {"id": int}), wait=True)
    return system


@pytest.mark.parametrize("interactive", [False, True])
def test_a_system_that_stops_gives_back_what_there_was(interactive: bool) -> None:
    with start(interactive, **SETTINGS):
        assert state() == (0.002, (5000, *gc.get_threshold()[1:]), True, 3, 5)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_several_systems_stop_in_any_order(order: tuple[int, ...], before: tuple[object, ...]) -> None:
    intervals = (0.003, 0.001, 0.002)
    systems = [start(False, process_switch_interval=interval) for interval in intervals]
    assert state()[0] == 0.001
    for at, each in enumerate(order, 1):
        systems[each].stop()
        assert state()[0] == min((intervals[left] for left in order[at:]), default=before[0])


@pytest.mark.parametrize("interactive", [False, True])
def test_a_system_that_fails_gives_back_what_there_was(interactive: bool) -> None:
    @udf("bigint")
    def crash(value: int) -> int:
        raise SystemExit("no ordinary exception")

    with start(interactive, **SETTINGS) as system:
        orders = system["orders"]
        assert isinstance(orders, Table)
        index = system.create_index(orders.select(id=crash("id")), name="crashes")
        orders.insert((1,))
        with pytest.raises(SystemFailed):
            index.peek()


def test_one_worker_of_one_runtime_applies_them(monkeypatch: pytest.MonkeyPatch) -> None:
    owners: list[str] = []
    monkeypatch.setattr(process_globals.PROCESS_SETTINGS, "apply", lambda owner, settings, **_: owners.append(owner))
    with ActorSystem(2, interactive=True) as system:
        system.configure(process_switch_interval=0.001)
        system.create_index(system.create_table("orders", {"id": int}), wait=True)
    assert len(set(owners)) == 1
