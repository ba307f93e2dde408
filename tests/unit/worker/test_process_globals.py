"""Values that a process has once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pillion.actors.settings import Settings
from pillion.actors.worker.process_globals import ProcessSettings
from pillion.messages.commands import Setting

State = tuple[float, tuple[int, int, int], int, int, int]


def state() -> State:
    """Every value of the process that settings reach."""
    switch_interval = round(sys.getswitchinterval(), 6)
    return switch_interval, gc.get_threshold(), gc.get_freeze_count(), pa.cpu_count(), pa.io_thread_count()


@pytest.fixture(autouse=True)
def before() -> Iterator[State]:
    gc.unfreeze()
    found = state()
    yield found
    assert state() == found


def settings(**values: Setting) -> Settings:
    made = Settings()
    assert made.update(values.items()) == []
    return made


ALL = settings(
    process_switch_interval=0.003,
    process_gc_threshold=5000,
    process_gc_freeze=True,
    process_arrow_cpu_threads=3,
    process_arrow_io_threads=5,
)


def test_every_setting_is_applied_and_withdrawn() -> None:
    process = ProcessSettings()
    process.apply("a", ALL)
    switch_interval, thresholds, frozen, cpu, io = state()
    assert (switch_interval, thresholds[0], frozen > 0, cpu, io) == (0.003, 5000, True, 3, 5)
    process.withdraw("a")


def test_the_value_that_suits_all_holds_until_the_last_is_gone() -> None:
    process = ProcessSettings()
    process.apply("a", ALL)
    process.apply("b", settings(process_switch_interval=0.001, process_gc_threshold=900, process_arrow_cpu_threads=4))
    assert (state()[0], state()[1][0], state()[3]) == (0.001, 5000, 4)
    process.withdraw("a")
    assert (state()[0], state()[1][0], state()[2], state()[3]) == (0.001, 900, 0, 4)
    process.withdraw("b")
    process.withdraw("b")


def test_by_default_only_the_switch_interval_is_set(before: State) -> None:
    process = ProcessSettings()
    process.apply("a", Settings())
    assert state() == (0.0005, *before[1:])
    process.withdraw("a")


def test_zero_leaves_it_alone_also_when_it_was_set_before(before: State) -> None:
    process = ProcessSettings()
    process.apply("a", ALL)
    process.apply(
        "a",
        settings(process_switch_interval=0, process_gc_threshold=0, process_gc_freeze=False),
    )
    assert state() == before


def test_what_there_is_is_frozen_by_default_where_reads_are_apart() -> None:
    process = ProcessSettings()
    process.apply("solo", Settings())
    assert not gc.get_freeze_count()
    process.apply("two", Settings(), reads_apart=True)
    assert gc.get_freeze_count()
    process.withdraw("two")
    assert not gc.get_freeze_count()
    process.apply("off", settings(process_gc_freeze="off"), reads_apart=True)
    assert not gc.get_freeze_count()
    process.withdraw("solo")
    process.withdraw("off")
