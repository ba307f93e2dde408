"""What SQLite would drop at the end of a file is counted as SQLite counts."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from pillion.actors.journal.tail import Tail, settle, tail_of

FRAME = 24 + 4096
HEADER = 32


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, bytes]:
    """A database of which everything is in the write-ahead log still, and that log: many transactions."""
    source = tmp_path / "source"
    connection = sqlite3.connect(source, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)")
    for number in range(12):
        connection.execute("INSERT INTO t VALUES (?, ?)", (number, bytes([number]) * (700 * (number % 9))))
    path = tmp_path / "database"
    shutil.copy(source, path)
    data = (tmp_path / "source-wal").read_bytes()
    connection.close()
    return path, data


def recovered(path: Path, log: bytes) -> int:
    """How many bytes of a log SQLite takes."""
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.with_name("copy-wal").write_bytes(log)
    connection = sqlite3.connect(copy)
    frames = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    connection.close()
    return HEADER + max(frames, 0) * FRAME


def dropped(path: Path, log: bytes) -> Tail:
    path.with_name("database-wal").write_bytes(log)
    return tail_of(path)


def test_a_whole_log_drops_nothing(files: tuple[Path, bytes]) -> None:
    path, log = files
    assert dropped(path, log) == Tail(0, 0)
    assert tail_of(path.with_name("none")) == Tail(0, 0)


def test_a_log_cut_anywhere_drops_what_sqlite_drops(files: tuple[Path, bytes]) -> None:
    path, log = files
    ends = range(HEADER, len(log) + 1, FRAME)
    cuts = {cut for end in ends for cut in (end - 1, end, end + 1, end + 30) if HEADER < cut <= len(log)}
    assert len(cuts) > 50
    for cut in cuts:
        assert dropped(path, log[:cut]) == Tail(cut - recovered(path, log[:cut]), 0), cut


@pytest.mark.parametrize("at", [*range(0, HEADER, 5), *range(HEADER, 4 * FRAME, 511), FRAME * 7 + 40, -3])
def test_transactions_behind_a_changed_byte_are_counted(files: tuple[Path, bytes], at: int) -> None:
    path, log = files
    changed = bytearray(log)
    changed[at] ^= 0x10
    tail = dropped(path, bytes(changed))
    assert tail.bytes == len(log) - recovered(path, bytes(changed))
    assert tail.transactions > 0


def test_frames_of_an_earlier_use_of_the_log_are_not_taken_for_lost(tmp_path: Path) -> None:
    path = tmp_path / "database"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t(a BLOB)")
    connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    connection.execute("INSERT INTO t VALUES (1)")
    assert path.with_name("database-wal").stat().st_size > 20 * FRAME
    assert tail_of(path) == Tail(0, 0)
    connection.close()


def test_a_settled_file_is_alone(files: tuple[Path, bytes]) -> None:
    path, log = files
    path.with_name("database-wal").write_bytes(log)
    assert settle(path)
    assert sorted(each.name for each in path.parent.iterdir() if each.name.startswith("database")) == ["database"]
    assert sqlite3.connect(path).execute("SELECT count(*) FROM t").fetchone() == (12,)


def test_an_empty_file_was_never_written(tmp_path: Path) -> None:
    (tmp_path / "database").touch()
    assert not settle(tmp_path / "database")
