"""``pillion replay``: what it says and returns for right and wrong logs and arguments."""

from __future__ import annotations

import dataclasses
import io
import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from pillion.actors.cli.main import main
from pillion.actors.log.writer import row_values
from pillion.actors.replay.events import Event, Sent, Stored
from pillion.actors.requests import DeleteWhere
from pillion.actors.storage.messages import CommitTables
from pillion.messages.commands import Hello
from pillion.messages.functions import pickle_function
from pillion.messages.log import COLUMNS, Level, Row
from pillion.messages.scalars import CallUser, ColumnRef
from pillion.messages.types import ColumnType, SqlType
from tests.unit.replay.build import Tape
from tests.unit.replay.logs import write_log
from tests.unit.replay.world import TABLE, world

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The exit code, the standard output and the standard error."""

    def runs(*arguments: str | Path) -> tuple[int, str, str]:
        code = main(["replay", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runs


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(world(), tmp_path / "world.plog")


def kept(events: Iterable[Event], path: Path) -> Path:
    return write_log(Tape(events), path)


@pytest.mark.parametrize("mode", [["--workers", "1"], ["--workers", "2", "--interactive"], ["--no-interactive"]])
def test_the_same_answers(log: Path, run: Run, mode: list[str]) -> None:
    code, out, err = run(log, *mode)
    assert (code, err) == (0, "")
    assert "peeks               5          0        0             0" in out
    assert "every answer that can be compared is the same." in out


def test_a_changed_answer(tmp_path: Path, run: Run) -> None:
    log = write_log(world(answers=[(1, "y")]), tmp_path / "changed.plog")
    code, out, _ = run(log)
    assert code == 1
    assert out.startswith("peek p1 of u2 at 1 (message 12, answered in 14): 1 row only recorded, 1 row only replayed\n")
    assert '  - (1 "y")\n  + (1 "x")\n' in out


def test_json(log: Path, run: Run) -> None:
    code, out, err = run(log, "--json", "--until", "30", "--speed", "100")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["same"], report["messages"], report["workers"]) == (True, 30, 1)
    assert report["answers"]["peeks"]["same"] == 3


def test_a_log_that_changed_on_its_way(log: Path, run: Run) -> None:
    with sqlite3.connect(log) as database:
        database.execute("UPDATE message SET time = time + 1 WHERE sequence = 14")
    code, out, err = run(log)
    assert (code, out) == (2, "")
    assert "row 14 is not as it was written" in err


def test_missing_rows(log: Path, run: Run) -> None:
    with sqlite3.connect(log) as database:
        database.execute("DELETE FROM message WHERE sequence BETWEEN 20 AND 22")
    code, _, err = run(log)
    assert code == 2
    assert "rows 20 to 22 are missing" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("size", [0, 10, 5000])
def test_a_truncated_file(log: Path, run: Run, size: int) -> None:
    log.write_bytes(log.read_bytes()[:size])
    code, out, err = run(log)
    assert (code, out) == (2, "")
    assert err.startswith("pillion: ")
    assert err.count("\n") == 1


def test_no_log(tmp_path: Path, run: Run) -> None:
    code, _, err = run(tmp_path / "none.plog")
    assert code == 2
    assert "none.plog: cannot be read: No such file or directory" in err


def test_a_kind_of_message_that_this_program_does_not_know(log: Path, run: Run) -> None:
    events = list(world().events())
    path = log.with_name("odd.plog")
    kept(events, path)
    with sqlite3.connect(path) as database:
        values = database.execute(f"SELECT {', '.join(COLUMNS)} FROM message WHERE sequence = 2").fetchone()
        row = Row(**{**dict(zip(COLUMNS, values, strict=True)), "kind": "FromReplica", "sender": "multiplexer-0"})
        database.execute("DELETE FROM message WHERE sequence = 2")
        database.execute(f"INSERT INTO message VALUES ({', '.join('?' * len(COLUMNS))})", row_values(row))
    code, _, err = run(path)
    assert code == 2
    assert "row 2" in err


def test_a_log_without_a_connection(tmp_path: Path, run: Run) -> None:
    log = kept([e for e in world().events() if isinstance(e, Stored)][:1], tmp_path / "data.plog")
    code, _, err = run(log)
    assert code == 2
    assert "has no Hello of a controller to a replica" in err


def test_a_log_without_data(tmp_path: Path, run: Run) -> None:
    events = [e for e in world().events() if not isinstance(e, Stored)]
    log = kept([numbered(e, at) for at, e in enumerate(events, 1)], tmp_path / "clusterd.plog")
    code, _, err = run(log)
    assert code == 2
    assert "message 4 reads shard u1, of which the log has no data" in err


def numbered(event: Event, sequence: int) -> Event:
    """The same event with another sequence."""
    return dataclasses.replace(event, sequence=sequence)


def test_functions_run_for_those_who_trust_them_only(tmp_path: Path, run: Run) -> None:
    function = pickle_function(lambda n: [each == 3 for each in n.to_pylist()], ColumnType(SqlType.BOOLEAN), "is_three")
    events: list[Event] = []
    for event in world().events():
        if isinstance(event, Stored) and isinstance(event.message, CommitTables) and event.message.timestamp == 5:
            removed = DeleteWhere(TABLE, CallUser(function, (ColumnRef(0),)))
            changed = msgspec.structs.replace(event.message, changes=(*event.message.changes, removed))
            event = Stored(event.sequence, event.time, changed)
        events.append(event)
    log = kept(events, tmp_path / "functions.plog")
    code, out, err = run(log)
    assert (code, out) == (2, "")
    assert "has the Python function is_three, and replaying it would run that code: give --trust" in err
    code, out, err = run(log, "--trust")
    assert code == 1, "the row with 3 is gone"
    assert "runs the Python functions of the log: is_three" in err
    assert '  - (3 "x")\n' in out


def test_two_replicas(tmp_path: Path, run: Run) -> None:
    events = list(world().events())
    last = events[-1]
    events.append(Sent(last.sequence + 1, last.time, "multiplexer-1", Hello("second")))
    log = kept(events, tmp_path / "two.plog")
    assert run(log)[0] == 0
    code, _, err = run(log, "--replica", "tcp://127.0.0.1:9")
    assert code == 2
    assert "has the commands of 2 replicas, and --replica is one" in err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--diff", "x", "--step"], "--diff executes nothing"),
        (["--step", "--speed", "1"], "--step runs in a simulation"),
        (["--replica", "unix:/x", "--workers", "2"], "has the workers that it was started with"),
    ],
)
def test_arguments_that_contradict_each_other(log: Path, run: Run, arguments: list[str], problem: str) -> None:
    code, _, err = run(log, *arguments)
    assert code == 2
    assert problem in err


@pytest.mark.parametrize("until", ["0", "soon", "-3"])
def test_an_end_that_is_none(log: Path, capsys: pytest.CaptureFixture[str], until: str) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["replay", str(log), f"--until={until}"])
    assert "argument --until" in capsys.readouterr().err


def test_steps_from_the_standard_input(log: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("break p2\ncontinue\nfrontiers\ncontinue\ndelete p2\ncontinue\n"))
    code, out, err = run(log, "--step", "--interactive")
    assert (code, err) == (0, "")
    assert "breakpoint p2\n    19  to multiplexer-0: Peek (p2, u2)\n" in out


def test_a_breakpoint_that_names_nothing(log: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("break u99\ncontinue\n"))
    code, _, err = run(log, "--step")
    assert code == 2
    assert err.startswith("pillion: nothing in this log is called 'u99'")
    assert err.count("\n") == 1


def test_two_logs(log: Path, tmp_path: Path, run: Run) -> None:
    assert run(log, "--diff", log)[0] == 0
    other = write_log(world(answers=[(2, "x")]), tmp_path / "other.plog")
    code, out, _ = run(log, "--diff", other)
    assert code == 1
    assert '  - (1 "x")\n  + (2 "x")\n' in out


def test_both_levels_replay_alike(tmp_path: Path, run: Run) -> None:
    log = write_log(world(), tmp_path / "all.plog", Level.ALL)
    assert run(log)[0] == 0
