"""What a replica is sent of the settings, and what the controller says of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pillion.actors.controller.controller import Controller
from pillion.actors.controller.messages import AddReplica, ReplicaLost
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import NotForOneReplica, UnknownReplica
from pillion.actors.requests import Configure, ReadSettings
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.messages.commands import InitializationComplete, Setting, UpdateConfiguration

FLAG = "enable_compute_interactive_runtime"

Start = Callable[..., "Bench"]


class Bench:
    """A controller with two probes as its replicas, ``a`` and ``b``."""

    def __init__(self, **overrides: Setting) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.controller = self.dispatcher.start(Controller, self.dispatcher.start(Storage), introspection=())
        self.replicas = {name: Probe(self.dispatcher) for name in "ab"}
        self.add("a", **overrides)
        self.add("b")

    def add(self, name: str, **overrides: Setting) -> None:
        self.controller.tell(AddReplica(name, self.replicas[name].ref, tuple(overrides.items())))
        self.dispatcher.run()

    def configure(self, replica: str | None = None, **updates: Setting | None) -> None:
        reply = self.dispatcher.reply()
        self.controller.tell(Configure(updates=tuple(updates.items()), replica=replica, reply=reply))
        reply.get()

    def settings(self, replica: str | None = None) -> dict[str, Any]:
        reply = self.dispatcher.reply()
        self.controller.tell(ReadSettings(replica=replica, reply=reply))
        return reply.get()

    def heard(self, name: str) -> dict[str, Setting]:
        """What a replica has been sent since the last call, the latest value of each."""
        self.dispatcher.run()
        sent: dict[str, Setting] = {}
        for message in self.replicas[name].take_all():
            if isinstance(message, UpdateConfiguration):
                sent.update(message.updates)
        return sent


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a bench, with overrides of its first replica."""
    benches: list[Bench] = []

    def make(**overrides: Setting) -> Bench:
        benches.append(Bench(**overrides))
        return benches[-1]

    yield make
    for bench in benches:
        assert bench.dispatcher.failure is None
        bench.dispatcher.stop()


def test_each_replica_is_sent_the_values_that_hold_for_it(start: Start) -> None:
    bench = start(peek_scan_slice=5)
    assert bench.heard("a") == {"peek_scan_slice": 5}
    bench.configure(peek_scan_slice=10, max_result_size=20)
    assert bench.heard("a") == {"peek_scan_slice": 5, "max_result_size": 20}
    assert bench.heard("b") == {"peek_scan_slice": 10, "max_result_size": 20}
    bench.configure("b", peek_scan_slice="7")
    assert (bench.heard("a"), bench.heard("b")) == ({}, {"peek_scan_slice": 7})
    assert [bench.settings(of)["peek_scan_slice"] for of in (None, "a", "b")] == [10, 5, 7]


def test_an_override_that_was_removed_leaves_the_environment_s_value_and_then_the_default(start: Start) -> None:
    bench = start(peek_scan_slice=5)
    bench.configure(peek_scan_slice=10)
    bench.heard("a")
    bench.configure("a", peek_scan_slice=None)
    assert bench.heard("a") == {"peek_scan_slice": 10}
    bench.configure(peek_scan_slice=None, nobody_knows=None)
    assert bench.heard("a") == {"peek_scan_slice": 1 << 14}


def test_an_override_that_does_not_parse_falls_back_to_the_environment_and_is_logged_once(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    bench = start(peek_routing="fast")
    bench.configure(peek_routing="hinted")
    assert bench.heard("a") == {"peek_routing": "hinted"}
    assert bench.settings("a")["peek_routing"] == "hinted"
    bench.configure(peek_routing="maintenance")
    assert bench.heard("a") == {"peek_routing": "maintenance"}
    said = [record.getMessage() for record in caplog.records if "override" in record.getMessage()]
    assert len(said) == 1
    assert "replica=a" in said[0] and "'fast'" in said[0]


def test_a_replica_that_connects_again_has_its_overrides_again(start: Start) -> None:
    bench = start()
    bench.configure(peek_scan_slice=10)
    bench.configure("a", peek_scan_slice=5)
    bench.heard("a")
    bench.controller.tell(ReplicaLost("a"))
    bench.dispatcher.run()
    messages = bench.replicas["a"].take_all()
    end = next(at for at, message in enumerate(messages) if isinstance(message, InitializationComplete))
    updates = [m.updates for m in messages[:end] if isinstance(m, UpdateConfiguration)]
    assert updates == [(("peek_scan_slice", 10),), (("peek_scan_slice", 5),)]


def test_what_is_read_at_provisioning_takes_effect_then_and_says_so(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    bench = start()
    bench.configure("a", **{FLAG: "on"})
    (said,) = [record.getMessage() for record in caplog.records]
    assert "takes effect when the replica is provisioned the next time" in said
    assert f"replica=a setting={FLAG} stored=True runs_with=False" in said
    caplog.clear()
    bench.configure("a", **{FLAG: "off"})
    assert caplog.records == []  # it runs with that already

    # Provisioned anew, it runs with what is stored, and there is nothing to say any more.
    bench.configure(**{FLAG: "on"})
    caplog.clear()
    bench.add("b")
    bench.configure("b", **{FLAG: "on"})
    assert caplog.records == []


def test_a_setting_of_the_system_is_not_for_one_replica(start: Start) -> None:
    bench = start()
    with pytest.raises(NotForOneReplica, match="'max_result_size' has one value for all replicas"):
        bench.configure("a", peek_scan_slice=1, max_result_size=5)
    assert bench.heard("a") == {}
    assert bench.settings("a") == bench.settings()


def test_there_is_no_such_replica(start: Start) -> None:
    bench = start()
    with pytest.raises(UnknownReplica, match="no replica 'c'; there is 'a', 'b'"):
        bench.configure("c", peek_scan_slice=1)
    with pytest.raises(UnknownReplica, match="no replica ''"):
        bench.settings("")


def test_a_replica_may_say_itself_what_it_runs(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    bench = start()
    bench.controller.tell(ReplicaLost("a", True))
    bench.dispatcher.run()
    bench.configure("a", **{FLAG: "on"})
    assert caplog.records == []  # it was provisioned with it in the meantime
    bench.controller.tell(ReplicaLost("a"))
    bench.configure("a", **{FLAG: "off"})
    (said,) = [record.getMessage() for record in caplog.records]
    assert "stored=False runs_with=True" in said
