"""Values that a process has once."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from pillion.actors.settings import Settings
from pillion.actors.worker import process_globals
from pillion.actors.worker.process_globals import SwitchInterval, apply_settings, withdraw_settings


@pytest.fixture(autouse=True)
def interval() -> Iterator[float]:
    before = sys.getswitchinterval()
    yield before
    sys.setswitchinterval(before)


def test_the_least_value_wanted_holds_until_nobody_wants_one(interval: float) -> None:
    switch = SwitchInterval()
    switch.want("a", 0.002)
    switch.want("b", 0.001)
    assert sys.getswitchinterval() == pytest.approx(0.001)
    switch.forget("b")
    assert sys.getswitchinterval() == pytest.approx(0.002)
    switch.forget("a")
    switch.forget("a")
    assert sys.getswitchinterval() == pytest.approx(interval)


def test_zero_leaves_it_alone(interval: float) -> None:
    switch = SwitchInterval()
    switch.want("a", 0.001)
    switch.want("a", 0.0)
    assert sys.getswitchinterval() == pytest.approx(interval)


def test_the_setting_is_applied_and_withdrawn(interval: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of its own: a simulation that another test left where it was still wants its value.
    monkeypatch.setattr(process_globals, "_SWITCH_INTERVAL", SwitchInterval())
    settings = Settings()
    settings.update([("process_switch_interval", 0.003)])
    apply_settings("a", settings)
    assert sys.getswitchinterval() == pytest.approx(0.003)
    withdraw_settings("a")
    assert sys.getswitchinterval() == pytest.approx(interval)
