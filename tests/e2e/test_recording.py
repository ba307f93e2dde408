"""A system that records: what is in its log, and what happens when it cannot be written."""

from __future__ import annotations

import errno
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pillion.actors import ActorSystem, count
from pillion.actors.cli.main import main
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.log.errors import LogError, LogExists, RecordingFailed
from pillion.actors.log.file import LogFile
from pillion.actors.log.writer import LogWriter

ENDLESS = """
import sys
from pillion.actors import ActorSystem
with ActorSystem(record=sys.argv[1]) as system:
    table = system.create_table("t", {"n": int})
    number = 0
    while True:
        table.insert([(number,)])
        number += 1
"""


def use(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "region": str}, key="id")
    regions = system.create_index(orders.group_by("region").agg(count()), key="region", name="regions")
    for number in range(5):
        orders.insert([(number, "north")])
    assert regions.peek().rows() == [("north", 5)]


def test_what_a_log_holds(tmp_path: Path) -> None:
    path = tmp_path / "run.plog"
    with ActorSystem(workers=2, interactive=True, record=path) as system:
        use(system)
    with LogFile.open(path) as log:
        records = list(log.records())
        assert (log.meta.workers, log.meta.interactive, log.meta.outcome) == (2, True, "complete")
        assert log.meta.last == len(records)
    kinds = Counter(record.kind for record in records)
    assert kinds["CommitTables"] == kinds["Answer"] == 5
    assert kinds["Peek"] == kinds["CreateTableShard"] == kinds["Hello"] == 1
    (peek,) = [record for record in records if record.kind == "Peek"]
    message = peek.message()
    assert (peek.sender, peek.receiver) == ("controller-0", "multiplexer-0")
    assert peek.details == {"uuid": message.uuid, "target": str(message.target.id), "timestamp": message.timestamp}
    assert peek.collections == (message.uuid, str(message.target.id))
    (answer,) = [record for record in records if message.uuid in record.details.get("answered", {})]
    assert answer.kind == "FromReplica"
    assert answer.sequence > peek.sequence
    assert answer.details["answered"] == {message.uuid: "rows"}
    commits = [record.sequence for record in records if record.kind == "CommitTables"]
    assert [record.reply_to for record in records if record.kind == "Answer"] == commits
    for sender in {record.sender for record in records}:
        times = [record.time for record in records if record.sender == sender]
        assert times == sorted(times), f"what {sender} sent is there in the order of sending"


def test_why_a_peek_waited_is_one_query(tmp_path: Path) -> None:
    path = tmp_path / "run.plog"
    with ActorSystem(record=path) as system:
        table = system.create_table("t", {"n": int})
        index = system.create_index(table, key="n", name="by_n")
        written = table.insert([(1,)])
        assert index.peek(as_of=written.timestamp).rows() == [(1,)]
    # With any SQLite tool: the views are for people.
    with closing(sqlite3.connect(path)) as log:
        ((target, timestamp, outcome, waited),) = log.execute("SELECT target, timestamp, outcome, waited FROM peeks")
        assert (timestamp, outcome) == (written.timestamp, "rows")
        assert waited >= 0
        uppers = [
            upper for (upper,) in log.execute("SELECT upper FROM frontiers WHERE id = ? ORDER BY time", (target,))
        ]
    assert uppers
    assert uppers == sorted(set(uppers)), "a frontier that moved is told, and none goes back"


def test_a_script_recorded_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = Path(__file__).parents[1] / "spec" / "peeks.spec"
    log = tmp_path / "peeks.plog"
    assert main(["spec", str(script), "--record", str(log)]) == 0
    assert main(["replay", str(log), "--workers", "2", "--interactive"]) == 0
    assert main(["spec", str(script), "--record", str(log)]) == 2
    assert "there is such a file already" in capsys.readouterr().err
    assert main(["spec", str(script), str(script), "--record", str(tmp_path / "two.plog")]) == 2
    assert "--record takes one script" in capsys.readouterr().err


def test_a_simulation_records_virtual_time(tmp_path: Path) -> None:
    logs: list[list[tuple[str, float]]] = []
    for run in range(2):
        path = tmp_path / f"{run}.plog"
        with ActorSystem(dispatcher=SimulatedDispatcher(seed=7), record=path) as system:
            use(system)
        with LogFile.open(path) as log:
            logs.append([(record.kind, record.time) for record in log.records()])
    assert logs[0] == logs[1]
    assert ("Peek", 0.0) in logs[0]


def test_a_log_replaces_no_file(tmp_path: Path) -> None:
    path = tmp_path / "run.plog"
    path.write_text("precious")
    before = threading.active_count()
    with pytest.raises(LogExists, match="choose another name"):
        ActorSystem(record=path)
    assert path.read_text() == "precious"
    assert threading.active_count() == before
    with pytest.raises(LogError, match="cannot be written"):
        ActorSystem(record=tmp_path / "nowhere" / "run.plog")


def test_a_full_disk_ends_writing_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append = LogWriter.append
    full = threading.Event()
    tried = threading.Event()

    def append_or_fail(self: LogWriter, rows: Any) -> None:
        if full.is_set():
            tried.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        append(self, rows)

    monkeypatch.setattr(LogWriter, "append", append_or_fail)
    path = tmp_path / "run.plog"
    with ActorSystem(record=path) as system:
        table = system.create_table("t", {"n": int})
        index = system.create_index(table, key="n", name="by_n")
        table.insert([(1,)])
        full.set()
        with pytest.raises(RecordingFailed, match="No space left on device"):
            while True:
                table.insert([(2,)])
        assert tried.is_set()
        with pytest.raises(RecordingFailed):
            system.create_table("u", {"n": int})
        assert index.lookup(1).rows() == [(1,)]
    with LogFile.open(path) as log:
        assert [record.sequence for record in log.records()] == list(range(1, log.last + 1))
        assert log.meta.ended is None


def test_what_was_written_before_a_kill_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.plog"
    child = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], stderr=subprocess.PIPE)
    try:
        last = 0
        while last < 200:
            assert child.poll() is None, child.stderr and child.stderr.read()
            try:
                with LogFile.open(path) as log:
                    last = log.last
            except LogError:
                continue  # It is not made yet.
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    with LogFile.open(path) as log:
        records = list(log.records())
        assert len(records) >= last
        assert log.meta.ended is None
