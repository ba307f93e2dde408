"""Replaying a log on a replica in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pillion.actors.cli.main import main
from pillion.actors.clusterd.process import ready_address
from pillion.actors.transport.secret import SECRET_VARIABLE
from tests.unit.replay.logs import write_log
from tests.unit.replay.world import world

LAYOUT = '{"workers":2,"process":0,"addresses":["127.0.0.1:2103"]}'
SECRET = "what a replay and its replica both know"


@pytest.fixture(params=["tcp", "unix"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a clusterd: with one runtime by TCP, with two by a Unix socket."""
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    is_unix = request.param == "unix"
    listen = f"unix://{tmp_path}/socket" if is_unix else "tcp://127.0.0.1:0"
    layout = ["--interactive-compute-timely-config", LAYOUT] if is_unix else []
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pillion.actors.cli.main", "clusterd"),
            *("--controller-listen-addr", listen, "--compute-timely-config", LAYOUT, *layout),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stdout is not None
    found = ready_address(process.stdout.readline())
    assert found is not None
    yield found
    process.kill()
    process.communicate(timeout=60)


def test_the_same_answers_and_a_changed_one(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(world(), tmp_path / "world.plog")
    assert main(["replay", str(log), "--replica", address]) == 0
    assert f"replayed world.plog on the replica at {address}" in capsys.readouterr().out
    changed = write_log(world(answers=[(1, "y")]), tmp_path / "changed.plog")
    assert main(["replay", str(changed), "--replica", address]) == 1
    assert '  - (1 "y")\n  + (1 "x")' in capsys.readouterr().out


def test_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    log = write_log(world(), tmp_path / "world.plog")
    assert main(["replay", str(log), "--replica", f"unix://{tmp_path}/nobody"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pillion: ")
    assert error.count("\n") == 1
