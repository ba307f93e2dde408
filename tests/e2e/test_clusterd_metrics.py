"""A replica's process serves what its runtimes measure."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from pillion.actors import ActorSystem
from pillion.actors.cli.main import main

LAYOUT = '{"workers":1,"process":0,"addresses":["127.0.0.1:0"]}'
COMMAND = ["clusterd", "--controller-listen-addr", "tcp://127.0.0.1:0", "--compute-timely-config", LAYOUT]

SECRET = "the secret of these tests, and of no others"


class Process:
    """``pillion clusterd`` with metrics, on ports that are free."""

    def __init__(self) -> None:
        second = ["--interactive-compute-timely-config", LAYOUT, "--metrics-listen-addr", "127.0.0.1:0"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pillion.actors.cli.main", *COMMAND, *second],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PILLION_SECRET": SECRET},
        )
        assert self._process.stdout is not None
        self._lines = self._process.stdout
        self.metrics = self._address(r"metrics on tcp://(.*)")
        self.controller = self._address(r"listening on (.*)")

    def _address(self, pattern: str) -> str:
        found = re.search(pattern, self._lines.readline())
        assert found is not None
        return found[1]

    def get(self) -> str:
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=30) as response:
            return response.read().decode()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(60)
        self._lines.close()
        return status


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process()
    yield made
    assert made.stop() == 0


def test_without_a_controller_there_is_nothing_to_measure(process: Process) -> None:
    assert process.get() == ""


def test_it_serves_what_is_measured_for_the_controller_that_is_connected(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILLION_SECRET", SECRET)
    # The settings need not say what the process was started with.
    with ActorSystem(settings={"enable_compute_interactive_runtime": "on"}, replica=process.controller) as system:
        index = system.create_index(system.create_table("orders", {"id": int}), wait=True)
        index.peek()
        text = process.get()
        assert "pillion_peek_service_seconds_count" in text
        assert 'pillion_step_seconds_count{runtime="interactive"}' in text
        assert f'pillion_index_publications_total{{collection="{index.id}",worker="0"}}' in text
        # The system's own process has no runtime.
        assert "pillion_dataflows{" not in system.metrics()


@pytest.mark.parametrize("address", ["unix:///tmp/metrics", "9100", "tcp://127.0.0.1:99999"])
def test_metrics_are_served_on_a_port(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*COMMAND, "--metrics-listen-addr", address])
    assert ended.value.code == 2
    assert f"{address!r} is no address" in capsys.readouterr().err
