"""The file of a log: what was written is read back, and what is no log is told from one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pillion.actors.log.errors import LogDamaged, LogError, LogExists, LogMissing, NewerLog, NotALog, UnknownMessageKind
from pillion.actors.log.file import LogFile
from pillion.actors.log.payloads import PayloadWriter
from pillion.actors.log.verify import verify
from pillion.actors.log.writer import LogWriter
from pillion.messages.commands import Hello
from pillion.messages.log import VERSION, Level, Meta, Row, checksum_of, checksum_of_message, with_handling


def create(path: Path, rows: int = 0, *, rotate_at: int | None = None) -> LogWriter:
    meta = Meta(program="0.1.0", level=Level.COMMANDS, started="2026-01-01T00:00:00+00:00", settings={"a": 1.5})
    writer = LogFile.create(path, meta, rotate_at=rotate_at)
    if rows:
        writer.append([row(number) for number in range(1, rows + 1)])
    return writer


def row(number: int, *, kind: str = "Hello", size: int = 0) -> Row:
    payload = PayloadWriter().write(Hello(f"n{number}" + "x" * size))
    return Row(
        sequence=number, time=number / 4, sender="controller-0", receiver="multiplexer-0", kind=kind, payload=payload
    )


def damage(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.plog"
    create(path, rows=1200).close()
    with LogFile.open(path) as log:
        records = list(log.records())
        assert [record.sequence for record in records] == list(range(1, 1201))
        assert records[6].message() == Hello("n7")
        assert (records[6].time, records[6].checksum) == (1.75, checksum_of(row(7)))
        assert (log.meta.settings, log.meta.last, log.meta.outcome, log.last) == ({"a": 1.5}, 1200, "complete", 1200)
    assert [file.name for file in tmp_path.iterdir()] == ["a.plog"]
    assert verify(path) == []


def test_some_of_the_rows(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rows=4)
    writer.append([row(5, kind="Peek")])
    writer.close()
    with LogFile.open(writer.path) as log:
        assert [r.sequence for r in log.records(kinds=["Peek"])] == [5]
        assert [r.sequence for r in log.records("time > ?", [0.6], until=4)] == [3, 4]
        assert [r.sequence for r in log.records(after=3)] == [4, 5]
        found = log.record(2)
        assert found is not None
        assert found.message() == Hello("n2")
        assert log.record(6) is None
        with pytest.raises(LogError, match="no such column: absent"):
            list(log.records("absent = 1"))
        with pytest.raises(LogError, match="attempt to write a readonly database"):
            log.query("DELETE FROM message")


def test_handling_is_told_later(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rows=1)
    sent = row(1)
    values = tuple(getattr(sent, name) for name in Row.__struct_fields__[:13])
    writer.write((), [(0.5, 1, with_handling(checksum_of_message(values), 0.5, 1), 1)])
    writer.close()
    with LogFile.open(writer.path) as log:
        (record,) = log.records()
        assert (record.handled, record.handled_order) == (0.5, 1)


def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rows=2)
    with LogFile.open(writer.path) as log:
        assert (log.last, log.meta.ended) == (2, None)
        writer.append([row(3)])
        assert [r.sequence for r in log.records(after=2)] == [3]
        writer.close()


def test_a_recording_that_was_not_ended_says_so(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rows=2)
    writer.abandon()
    assert ["not ended" in finding.problem for finding in verify(writer.path)] == [True]


def test_a_large_log_goes_on_in_another_file(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rotate_at=40_000)
    for number in range(1, 31):
        writer.append([row(number, size=4000)])
        if writer.is_full:
            writer.rotate()
    writer.close()
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names[:3] == ["a-2.plog", "a-3.plog", "a-4.plog"]
    with LogFile.open(tmp_path / "a.plog") as log:
        assert [r.sequence for r in log.records()] == list(range(1, 31))
        assert (log.whole_meta.last, log.whole_meta.outcome, log.last) == (30, "complete", 30)
        assert [r.sequence for r in log.records(after=25, until=27)] == [26, 27]
    with LogFile.open(tmp_path / "a-2.plog") as rest:
        first = rest.meta.first
        assert [r.sequence for r in rest.records()] == list(range(first, 31))
    assert verify(tmp_path / "a.plog") == []
    (tmp_path / "a-3.plog").unlink()
    assert verify(tmp_path / "a.plog")[0].path.name == "a-3.plog"


def test_a_file_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.plog"
    path.write_text("precious")
    with pytest.raises(LogExists):
        create(path)
    assert path.read_text() == "precious"
    with pytest.raises(LogMissing, match="cannot be written"):
        create(tmp_path / "nowhere" / "a.plog")


def test_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a.plog"
    with pytest.raises(LogMissing, match="No such file"):
        LogFile.open(path)
    path.write_bytes(b"")
    with pytest.raises(NotALog, match="empty"):
        LogFile.open(path)
    path.write_bytes(b"id,name\n1,x\n")
    with pytest.raises(NotALog, match="no message log"):
        LogFile.open(path)
    path.unlink()
    damage(path, "CREATE TABLE other(id)")
    with pytest.raises(NotALog, match="but no message log"):
        LogFile.open(path)


def test_a_newer_log_is_refused_with_both_versions(tmp_path: Path) -> None:
    create(tmp_path / "a.plog", rows=1).close()
    damage(tmp_path / "a.plog", f"PRAGMA user_version = {VERSION + 6}")
    with pytest.raises(NewerLog, match=rf"version {VERSION + 6}, written by Pillion 0.1.0.* up to {VERSION}:"):
        LogFile.open(tmp_path / "a.plog")


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DELETE FROM message WHERE sequence BETWEEN 2 AND 3", "rows 2 to 3 are missing"),
        ("DELETE FROM message WHERE sequence = 5", "row 5 is missing"),
        ("UPDATE message SET time = time + 1 WHERE sequence = 4", "row 4 is not as it was written"),
        ("UPDATE message SET handled = 1.0 WHERE sequence = 4", "row 4 is not as it was written"),
        ("UPDATE message SET worker = 'x' WHERE sequence = 4", "row 4 is not as it was written"),
    ],
)
def test_what_was_changed_is_found(tmp_path: Path, sql: str, problem: str) -> None:
    path = tmp_path / "a.plog"
    create(path, rows=5).close()
    damage(path, sql)
    with LogFile.open(path) as log, pytest.raises(LogDamaged, match=problem):
        list(log.records())
    assert [finding.problem.split(";")[0] for finding in verify(path)] == [problem]


def test_a_changed_description_is_found(tmp_path: Path) -> None:
    create(tmp_path / "a.plog", rows=1).close()
    damage(tmp_path / "a.plog", "UPDATE meta SET value = '7' WHERE key = 'workers'")
    with pytest.raises(LogDamaged, match="wrong checksum at 'workers'"):
        LogFile.open(tmp_path / "a.plog")
    assert len(verify(tmp_path / "a.plog")) == 1


def test_a_message_of_a_kind_that_is_not_known(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog")
    writer.append([row(1, kind="Levitate")])
    writer.close()
    with LogFile.open(writer.path) as log:
        (record,) = log.records()
        with pytest.raises(UnknownMessageKind, match="row 1 holds a Levitate"):
            record.message()
    assert verify(writer.path) == []


def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    writer = create(tmp_path / "a.plog", rows=3)
    connection = writer._connection  # pyright: ignore[reportPrivateUsage]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        writer.append([row(number, size=3000) for number in range(4, 30)])
    assert writer.last == 3
    writer.close("the disk is full")
    with LogFile.open(writer.path) as log:
        assert [r.sequence for r in log.records()] == [1, 2, 3]
    assert [finding.problem for finding in verify(writer.path)] == ["the recording ended early: the disk is full"]
