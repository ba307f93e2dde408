"""Writing a log: groups of rows, each group in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from ...messages.log import (
    COLUMNS,
    VERSION,
    Meta,
    Row,
    checksum_of,
)
from .errors import LogExists, LogMissing
from .meta import meta_rows
from .schema import APPLICATION_ID, TABLES, VIEWS

Sync = Literal["normal", "full"]

PAGE = 4096
"""Bytes of a page of the file."""

_ROWS = 32
"""In one statement: between statements the interpreter's lock changes hands, which takes longer than a row does."""

_ONE = f"({', '.join('?' * len(COLUMNS))})"
_INSERT = f"INSERT INTO message({', '.join(COLUMNS)}) VALUES "
_INSERT_ONE = _INSERT + _ONE
_INSERT_MANY = _INSERT + ", ".join([_ONE] * _ROWS)


def row_values(row: Row) -> tuple[Any, ...]:
    """The columns of a row in order, with the checksum that it has to have."""
    return (*[getattr(row, name) for name in COLUMNS[:-1]], checksum_of(row))


class LogWriter:
    """Appends to a log. Not for two threads at once; any one thread may use it.

    A method that raises ``sqlite3.Error`` or ``OSError`` wrote nothing; what was written before stays.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, meta: Meta, rotate_at: int | None, sync: Sync
    ) -> None:
        self.path = path
        """The present file."""
        self.meta = meta
        self.last = meta.first - 1
        """The last row."""
        self._connection = connection
        self._rotate_at = rotate_at
        self._sync: Sync = sync
        self._number = 1
        self._stem = path

    @staticmethod
    def create(path: Path, meta: Meta, *, sync: Sync = "normal", rotate_at: int | None = None) -> LogWriter:
        """See :meth:`LogFile.create`."""
        return LogWriter(path, _create(path, meta, sync), meta, rotate_at, sync)

    def append(self, rows: Iterable[Row]) -> None:
        """Write rows, whose sequences go on where the last ones ended. Their checksums are made here."""
        self.write([row_values(row) for row in rows], ())

    def write(self, rows: Sequence[tuple[Any, ...]], handled: Sequence[tuple[float, int, int, int]]) -> None:
        """Write a group: rows as :func:`row_values` makes them, and ``(handled, handled_order, checksum, sequence)`` of
        rows that were written before."""
        if not rows and not handled:
            return
        with self._transaction() as connection:
            whole = len(rows) - len(rows) % _ROWS
            for begin in range(0, whole, _ROWS):
                connection.execute(_INSERT_MANY, [value for row in rows[begin : begin + _ROWS] for value in row])
            connection.executemany(_INSERT_ONE, rows[whole:])
            connection.executemany(
                "UPDATE message SET handled = ?, handled_order = ?, checksum = ? WHERE sequence = ?", handled
            )
        if rows:
            self.last = rows[-1][0]

    def say(self, **changes: Any) -> None:
        """Change what the log says about itself."""
        meta = msgspec.structs.replace(self.meta, **changes)
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", meta_rows(meta))
        self.meta = meta

    @property
    def is_full(self) -> bool:
        """Whether the file is larger than it may be."""
        if self._rotate_at is None:
            return False
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        return pages * PAGE > self._rotate_at

    def rotate(self) -> None:
        """Go on in another file. Messages in this one can no longer be marked as handled."""
        path = self._stem.with_name(f"{self._stem.stem}-{self._number + 1}{self._stem.suffix}")
        meta = msgspec.structs.replace(self.meta, first=self.last + 1, previous=self.path.name, next=None)
        connection = _create(path, meta, self._sync)
        try:
            self.say(next=path.name, ended=now(), last=self.last, outcome="continued")
            self._close()
        except BaseException:
            connection.close()
            raise
        self.path, self.meta, self._connection = path, meta, connection
        self._number += 1

    def close(self, outcome: str = "complete") -> None:
        """Write how it ended, and close the file, which is one file then, unless somebody reads it."""
        try:
            self.say(ended=now(), last=self.last, outcome=outcome)
        finally:
            self._close()

    def abandon(self) -> None:
        """Close the file as it is."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        connection = self._connection
        connection.execute("BEGIN")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # A full disk may have rolled it back already.
                connection.execute("ROLLBACK")
            raise

    def _close(self) -> None:
        # A file without its WAL can be copied, and read where nothing can be written. Somebody who reads it may be in
        # the way; then the WAL stays until that one closes it.
        with suppress(sqlite3.OperationalError), closing(self._connection):
            self._connection.execute("PRAGMA journal_mode = DELETE").fetchone()


def now() -> str:
    """The wall clock, as logs say it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _create(path: Path, meta: Meta, sync: Sync) -> sqlite3.Connection:
    if path.exists() and (not path.is_file() or path.stat().st_size):
        raise LogExists(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise LogMissing(path, f"cannot be written: {error}") from None
    try:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute(f"PRAGMA synchronous = {sync}")
        connection.execute("BEGIN")
        for statement in (TABLES + VIEWS).split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.executemany("INSERT INTO meta VALUES (?, ?, ?)", meta_rows(meta))
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        raise LogMissing(path, f"cannot be written: {error}") from None
    return connection
