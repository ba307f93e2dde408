"""Cores and nice values of workers' threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.process import threads
from pillion.actors.process.threads import WorkerThread, core_of
from pillion.actors.worker.placement import Placement


@given(st.integers(1, 8), st.integers(0, 20))
def test_no_two_workers_have_a_core_in_common(workers: int, count: int) -> None:
    cores = [100 + core for core in range(count)]
    runtimes = (Placement.MAINTENANCE, Placement.INTERACTIVE)
    given = [core_of(placement, worker, workers, cores) for placement in runtimes for worker in range(workers)]
    assert given == [*cores, *[None] * (2 * workers)][: 2 * workers]


def test_with_one_runtime_worker_i_has_core_i() -> None:
    assert [core_of(Placement.SOLO, worker, 3, (4, 6)) for worker in range(3)] == [4, 6, None]


class Other:
    """A thread that waits."""

    def __init__(self) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._end.wait)
        self._thread.start()
        assert self._thread.native_id is not None
        self.number = self._thread.native_id

    def end(self) -> None:
        self._end.set()
        self._thread.join()


@pytest.fixture
def other() -> Iterator[Other]:
    made = Other()
    yield made
    made.end()


def test_a_thread_gets_a_core_and_gives_it_back(other: Other) -> None:
    before, own = os.sched_getaffinity(other.number), os.sched_getaffinity(0)
    thread = WorkerThread(other.number, pytest.fail)
    thread.pin(Placement.MAINTENANCE, 0, 1, True)
    assert os.sched_getaffinity(other.number) == {min(before)}
    thread.pin(Placement.MAINTENANCE, 0, 1, False)
    assert os.sched_getaffinity(other.number) == before
    thread.pin(Placement.INTERACTIVE, len(before), 1, True)
    assert os.sched_getaffinity(other.number) == before, "there are not that many cores"
    assert os.sched_getaffinity(0) == own


def test_a_thread_lets_others_go_first_and_they_do_not_change(other: Other) -> None:
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    WorkerThread(other.number, pytest.fail).be_nice(own + 3)
    assert os.getpriority(os.PRIO_PROCESS, other.number) == own + 3
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == own


def test_a_thread_never_goes_before_the_rest_of_its_process(other: Other) -> None:
    os.setpriority(os.PRIO_PROCESS, other.number, 6)
    thread = WorkerThread(other.number, pytest.fail)
    thread.be_nice(4)
    assert os.getpriority(os.PRIO_PROCESS, other.number) == 6
    thread.be_nice(8)
    assert os.getpriority(os.PRIO_PROCESS, other.number) == 8


def test_what_the_system_does_not_allow_is_said(other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError("not you")

    monkeypatch.setattr(os, "setpriority", refuse)
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    said: list[str] = []
    thread = WorkerThread(other.number, said.append)
    thread.be_nice(5)
    thread.pin(Placement.MAINTENANCE, 0, 1, True)
    assert said == [
        "the thread keeps its nice value 0 instead of 5: not you",
        "the thread stays on the cores that it has: not you",
    ]


def test_where_the_system_says_nothing_nothing_is_done(other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError("not you")

    monkeypatch.setattr(os, "getpriority", refuse)
    said: list[str] = []
    thread = WorkerThread(other.number, said.append)
    thread.pin(Placement.MAINTENANCE, 0, 1, True)
    thread.be_nice(5)
    assert said == ["the thread stays as it is, because the system does not say how that is: not you"]
    assert os.sched_getaffinity(other.number) == os.sched_getaffinity(0)


def test_elsewhere_than_on_linux_nothing_happens(other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_IS_LINUX", False)
    own = os.getpriority(os.PRIO_PROCESS, other.number)
    thread = WorkerThread(other.number, pytest.fail)
    thread.be_nice(own + 5)
    thread.pin(Placement.MAINTENANCE, 0, 1, True)
    assert os.getpriority(os.PRIO_PROCESS, other.number) == own
    assert os.sched_getaffinity(other.number) == os.sched_getaffinity(0)


def test_without_a_thread_of_its_own_nothing_happens() -> None:
    own = os.sched_getaffinity(0)
    thread = WorkerThread(None, pytest.fail)
    thread.pin(Placement.MAINTENANCE, 0, 1, True)
    thread.be_nice(19)
    assert os.sched_getaffinity(0) == own
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == os.getpriority(os.PRIO_PROCESS, 0)
