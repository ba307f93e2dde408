"""Settings as an application sees them."""

from __future__ import annotations

import numpy as np
import pytest

from pillion.actors import ActorSystem
from pillion.actors.errors import NotForOneReplica, UnknownReplica, WrongArgument
from pillion.actors.settings import CONFIGS


def test_present_values(system: ActorSystem) -> None:
    assert system.settings()["peek_scan_slice"] == 1 << 14
    system.configure(peek_scan_slice="10")
    system.configure(replica="r1", peek_scan_slice=20)
    assert (system.settings()["peek_scan_slice"], system.settings("r1")["peek_scan_slice"]) == (10, 20)
    system.configure({"peek_scan_slice": None}, replica="r1")
    assert system.settings("r1") == system.settings()


def test_settings_from_the_start_are_there_when_the_replica_is_provisioned(caplog: pytest.LogCaptureFixture) -> None:
    with ActorSystem(settings={"peek_scan_slice": 3, "peek_routing": "hinted"}) as system:
        assert system.settings("r1")["peek_scan_slice"] == 3
        assert system.settings()["peek_routing"] == "hinted"
    assert caplog.records == []


def test_the_largest_values_are_taken_and_larger_ones_are_refused(system: ActorSystem) -> None:
    """What a setting does must not fail on the worker that applies it, which would fail the system."""
    for config in CONFIGS:
        if isinstance(config.default, int | float) and not isinstance(config.default, bool):
            with pytest.raises(WrongArgument):
                system.configure({config.name: 1 << 63})
    largest = {"process_gc_threshold": (1 << 31) - 1, "process_switch_interval": 0.05}
    threads = {"process_arrow_cpu_threads": 1024, "process_arrow_io_threads": 1024, "worker_idle_slice": (1 << 63) - 1}
    system.configure({**largest, **threads, "peek_scan_slice": np.int64(5)})  # type: ignore[dict-item]
    orders = system.create_table("orders", {"id": int})
    orders.insert([(number,) for number in range(100)])
    assert len(system.create_index(orders).peek()) == 100
    assert type(system.settings()["peek_scan_slice"]) is int


def test_mistakes_change_nothing(system: ActorSystem) -> None:
    before = system.settings()
    with pytest.raises(UnknownReplica, match="no replica 'r2'; there is 'r1'"):
        system.configure(replica="r2", peek_scan_slice=1)
    with pytest.raises(NotForOneReplica, match="max_result_size"):
        system.configure(replica="r1", max_result_size=1)
    with pytest.raises(WrongArgument, match="expected interactive or maintenance or hinted"):
        system.configure(peek_routing="fast")
    with pytest.raises(WrongArgument, match="did you mean 'peek_routing'"):
        system.configure(peek_ruting=None)
    assert system.settings() == system.settings("r1") == before


def runtimes(system: ActorSystem) -> int:
    """How many runtimes the replica has."""
    system.configure(introspection_patience_seconds=60)  # a fresh answer, however busy the machine is
    workers = system.query(system.introspection.workers).to_arrow().to_pylist()
    return len({worker["runtime"] for worker in workers})


@pytest.mark.parametrize(
    ("interactive", "stored", "expected"),
    [(None, None, 1), (None, "on", 2), (None, "off", 1), (True, None, 2), (True, "on", 2), (False, None, 1)],
)
def test_the_setting_decides_unless_the_application_does(
    interactive: bool | None, stored: str | None, expected: int, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {} if stored is None else {"enable_compute_interactive_runtime": stored}
    with ActorSystem(settings=settings, interactive=interactive) as system:
        assert runtimes(system) == expected
        assert system.settings("r1")["enable_compute_interactive_runtime"] is (expected == 2)
    assert caplog.records == []


def test_the_application_and_its_settings_do_not_contradict_each_other() -> None:
    with pytest.raises(WrongArgument, match=r"interactive=True and the setting .* contradict each other; give one"):
        ActorSystem(settings={"enable_compute_interactive_runtime": "off"}, interactive=True)


@pytest.mark.parametrize("interactive", [False, True])
def test_a_running_replica_keeps_its_runtimes_and_says_so(interactive: bool, caplog: pytest.LogCaptureFixture) -> None:
    with ActorSystem(interactive=interactive) as system:
        system.configure(replica="r1", enable_compute_interactive_runtime=not interactive)
        assert runtimes(system) == 1 + interactive
        assert system.settings("r1")["enable_compute_interactive_runtime"] is not interactive
    (said,) = [record.getMessage() for record in caplog.records]
    assert "takes effect when the replica is provisioned the next time" in said
