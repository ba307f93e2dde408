"""What the operating system is told about the threads of workers, and what it is not told about the application's."""

from __future__ import annotations

import os
import threading

import pytest

from pillion.actors import ActorSystem


def worker_threads() -> list[int]:
    """Of every runtime."""
    names = ("pillion-worker-", "pillion-interactive-")
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(names)]
    return [thread.native_id for thread in threads if thread.native_id is not None]


@pytest.mark.parametrize("workers", [1, 2])
def test_each_worker_has_a_core_of_its_own_while_that_is_wanted(workers: int) -> None:
    own = os.sched_getaffinity(0)
    with ActorSystem(workers, {"worker_core_affinity": "on"}) as system:
        # The answer to this comes after what the workers were told before.
        system.create_index(system.create_table("orders", {"id": int}), wait=True)
        cores = [os.sched_getaffinity(thread) for thread in worker_threads()]
        assert len(cores) == workers
        expected = [{core} for core in sorted(own)[:workers]] + [own] * (workers - len(own))
        assert sorted(cores, key=sorted) == expected
        system.configure(worker_core_affinity=False)
        system.create_index(system["orders"], name="again", wait=True)  # type: ignore[arg-type]
        assert all(os.sched_getaffinity(thread) == own for thread in worker_threads())
        assert os.sched_getaffinity(0) == own


def test_the_only_runtime_is_not_made_to_wait() -> None:
    with ActorSystem(settings={"maintenance_niceness": 7}) as system:
        system.create_index(system.create_table("orders", {"id": int}), wait=True)
        own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        assert [os.getpriority(os.PRIO_PROCESS, thread) for thread in worker_threads()] == [own]


def test_maintenance_lets_reads_go_first() -> None:
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with ActorSystem(2, {"maintenance_niceness": own + 7}, interactive=True) as system:
        system.create_index(system.create_table("orders", {"id": int}), wait=True).peek()
        values = {
            thread.name: os.getpriority(os.PRIO_PROCESS, thread.native_id)
            for thread in threading.enumerate()
            if thread.native_id in worker_threads()
        }
        assert values == {
            "pillion-worker-0": own + 7,
            "pillion-worker-1": own + 7,
            "pillion-interactive-0": own,
            "pillion-interactive-1": own,
        }
        assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == own


def test_a_nice_value_that_was_lowered_from_the_start_is_never_raised() -> None:
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with ActorSystem(settings={"maintenance_niceness": own}, interactive=True) as system:
        system.create_index(system.create_table("orders", {"id": int}), wait=True).peek()
        assert [os.getpriority(os.PRIO_PROCESS, thread) for thread in worker_threads()] == [own, own]
