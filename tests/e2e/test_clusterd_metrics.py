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

from pillion.actors.cli.main import main

LAYOUT = '{"workers":1,"process":0,"addresses":["127.0.0.1:0"]}'
COMMAND = ["clusterd", "--controller-listen-addr", "tcp://127.0.0.1:0", "--compute-timely-config", LAYOUT]


class Process:
    """``pillion clusterd`` with metrics, on ports that are free."""

    def __init__(self) -> None:
        second = ["--interactive-compute-timely-config", LAYOUT, "--metrics-listen-addr", "127.0.0.1:0"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pillion.actors.cli.main", *COMMAND, *second],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PILLION_SECRET": "x" * 32},
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


@pytest.mark.parametrize("address", ["unix:///tmp/metrics", "9100", "tcp://127.0.0.1:99999"])
def test_metrics_are_served_on_a_port(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*COMMAND, "--metrics-listen-addr", address])
    assert ended.value.code == 2
    assert f"{address!r} is no address" in capsys.readouterr().err
