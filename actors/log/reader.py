"""Reading a log: in pages, in order, every row checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from urllib.parse import quote

import msgspec

from ...messages.log import COLUMNS, VERSION, Meta, checksum_of
from .errors import LogDamaged, LogError, LogMissing, NewerLog, NotALog
from .meta import meta_in
from .payloads import PayloadReader
from .record import Record
from .schema import APPLICATION_ID

PAGE = 512
"""Rows that are read at once."""

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM message"
_SQLITE = b"SQLite format 3\x00"


class LogReader:
    """One log, which may have been rotated into several files. Not for two threads at once.

    Attributes:
        path: the file that was opened.
        meta: what it says about itself.
    """

    def __init__(self, path: Path) -> None:
        """See :meth:`LogFile.open`."""
        self.path = path
        self._connection = _connect(path)
        self._messages = PayloadReader()
        self._next: LogReader | None = None
        try:
            self.meta: Meta = _read_meta(path, self._connection)
        except BaseException:
            self._connection.close()
            raise

    @property
    def files(self) -> tuple[LogReader, ...]:
        """The readers of this file and of those that follow it.

        Raises:
            LogError: a file that should follow is not there or damaged.
        """
        found: list[LogReader] = [self]
        while (following := found[-1]._following()) is not None:
            found.append(following)
        return tuple(found)

    @property
    def whole_meta(self) -> Meta:
        """``meta``, with the end of the last file."""
        end = self.files[-1].meta
        return msgspec.structs.replace(self.meta, next=None, ended=end.ended, last=end.last, outcome=end.outcome)

    def records(
        self,
        where: str = "",
        parameters: Sequence[Any] = (),
        *,
        kinds: Collection[str] | None = None,
        after: int = 0,
        until: int | None = None,
    ) -> Iterator[Record]:
        """The rows in order of their sequence, read in pages. One that is being written is read on with ``after``.

        Args:
            where: SQL, a condition on the columns of the table ``message``, such as ``"sender = ?"``; ``parameters``
                are its values.
            kinds: only these kinds.
            after: only rows with a greater sequence.
            until: only rows with this sequence or a lesser one.

        Raises:
            LogDamaged: a row is not as it was written or, where all rows are asked for, one is missing. The rows before
                it were given.
            LogError: the condition is no SQL, or a file that should follow is not there.
        """
        for file in self.files:
            if until is not None and file.meta.first > until:
                return
            yield from file.own_records(where, tuple(parameters), kinds=kinds, after=after, until=until)

    def record(self, sequence: int) -> Record | None:
        """The row with this sequence, if there is one.

        Raises:
            LogError: as :meth:`records`.
        """
        return next(self.records(after=sequence - 1, until=sequence), None)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a SELECT over the tables and views of **this file**: :attr:`files` has the others.

        Raises:
            LogError: it is no SQL, or it would change the log.
        """
        return list(self._pages(sql, tuple(parameters)))

    @property
    def last(self) -> int:
        """The sequence of the last row there is now; one less than ``meta.first`` when there is none."""
        file = self.files[-1]
        ((last,),) = file.query("SELECT max(sequence) FROM message")
        return file.meta.first - 1 if last is None else cast(int, last)

    def close(self) -> None:
        """Close its files. May be called again."""
        self._connection.close()
        if self._next is not None:
            self._next.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _following(self) -> LogReader | None:
        if self.meta.next is None and self.meta.ended is None:
            self.meta = _read_meta(self.path, self._connection)  # It may have been rotated since.
        if self._next is None and self.meta.next is not None:
            following = LogReader(self.path.with_name(self.meta.next))
            if following.meta.previous != self.path.name or following.meta.first != (self.meta.last or 0) + 1:
                following.close()
                raise LogDamaged(following.path, f"it is not the file that follows {self.path.name}")
            self._next = following
        return self._next

    def own_records(
        self,
        where: str = "",
        parameters: tuple[Any, ...] = (),
        *,
        kinds: Collection[str] | None = None,
        after: int = 0,
        until: int | None = None,
    ) -> Iterator[Record]:
        """As :meth:`records`, of this file alone."""
        conditions = ["sequence > ?"]
        rest: list[Any] = []
        if until is not None:
            conditions.append("sequence <= ?")
            rest.append(until)
        if kinds is not None:
            conditions.append(f"kind IN ({', '.join('?' * len(kinds))})")
            rest += kinds
        if where:
            conditions.append(f"({where})")
            rest += parameters
        sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY sequence LIMIT {PAGE}"
        every = kinds is None and not where and self.meta.gapless
        expected = max(after + 1, self.meta.first)
        while True:
            page = list(self._pages(sql, (after, *rest)))
            for values in page:
                record = self._record(values)
                if every and record.sequence != expected:
                    self._missing(expected, record.sequence - 1)
                expected = record.sequence + 1
                after = record.sequence
                yield record
            if len(page) < PAGE:
                break
        last = self.meta.last
        if every and last is not None and expected <= (last if until is None else min(until, last)):
            self._missing(expected, last)

    def _missing(self, first: int, last: int) -> None:
        which = f"row {first} is" if first == last else f"rows {first} to {last} are"
        raise LogDamaged(self.path, f"{which} missing", first, last)

    def _record(self, values: tuple[Any, ...]) -> Record:
        columns = dict(zip(COLUMNS, values, strict=True))
        try:
            record = msgspec.convert({**columns, "path": self.path, "reader": self._messages}, Record, strict=True)
            whole = checksum_of(record) == record.checksum
        except (msgspec.ValidationError, TypeError, OverflowError, ValueError):
            whole = False
            record = None
        if not whole or record is None:
            raise LogDamaged(self.path, f"row {values[0]} is not as it was written", values[0])
        return record

    def _pages(self, sql: str, parameters: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(sql, parameters)
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
            raise _explained(self.path, error) from None


def _connect(path: Path) -> sqlite3.Connection:
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise LogMissing(path, f"cannot be read: {error.strerror or error}") from None
    if not head:
        raise NotALog(path, "the file is empty, so it is no log")
    if head != _SQLITE:
        raise NotALog(path, "this is no message log: expected an SQLite database that Pillion wrote")
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise LogMissing(path, f"cannot be read: {error}") from None
    # What stands in the file as SQL may call no function that does more than compute.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _read_meta(path: Path, connection: sqlite3.Connection) -> Meta:
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise NotALog(path, "this is an SQLite database, but no message log")
        rows = connection.execute("SELECT key, value, checksum FROM meta").fetchall()
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        raise LogDamaged(path, f"the database is damaged: {error}") from None
    if version > VERSION:
        program = next((value for key, value, _ in rows if key == "program"), "?")
        raise NewerLog(path, version, VERSION, str(program).strip('"'))
    if version < 1:
        raise LogDamaged(path, f"it says that it has version {version}")
    try:
        return meta_in(rows)
    except (ValueError, TypeError, AttributeError) as error:
        raise LogDamaged(path, str(error)) from None


def _explained(path: Path, error: Exception) -> LogError:
    text = str(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "utf-8" in text.lower():
        return LogDamaged(path, f"the database is damaged: {text}")
    return LogError(path, text)
