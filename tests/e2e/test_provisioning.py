"""What a replica in a process of its own is started with, the first time and after it ended."""

from __future__ import annotations

import os
import signal

import pytest

from pillion.actors import ActorSystem
from pillion.actors.clusterd.child import ReplicaProcess

FLAG = "enable_compute_interactive_runtime"


def runtimes(system: ActorSystem) -> int:
    """How many runtimes the replica has. A read waits for a replica that is being started."""
    system.configure(introspection_patience_seconds=60)  # a fresh answer, however busy the machine is
    workers = system.query(system.introspection.workers, timeout=120).to_arrow().to_pylist()
    return len({worker["runtime"] for worker in workers})


def end_replica(system: ActorSystem) -> None:
    """End the replica's process, as an operating system does that is short of memory."""
    line = system._running.line  # pyright: ignore[reportPrivateUsage]
    assert line is not None
    replica = line._target  # pyright: ignore[reportPrivateUsage]
    assert isinstance(replica, ReplicaProcess) and replica.pid is not None
    os.kill(replica.pid, signal.SIGKILL)


def test_a_process_that_is_started_again_has_what_is_stored_then(caplog: pytest.LogCaptureFixture) -> None:
    with ActorSystem(replica="process") as system:
        assert runtimes(system) == 1
        system.configure(replica="r1", **{FLAG: "on"})
        assert runtimes(system) == 1
        assert "takes effect when the replica is provisioned the next time" in caplog.text
        end_replica(system)
        assert runtimes(system) == 2
        caplog.clear()
        # It runs with that already.
        system.configure(**{FLAG: "on"})
        assert "takes effect" not in caplog.text


def test_a_process_is_started_as_the_settings_say(caplog: pytest.LogCaptureFixture) -> None:
    with ActorSystem(settings={FLAG: "on"}, replica="process") as system:
        assert runtimes(system) == 2
    assert caplog.records == []
