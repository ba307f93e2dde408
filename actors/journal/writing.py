"""Writing the files of a journal."""

from __future__ import annotations

import importlib.metadata
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from ...messages.log import Level, Meta, Row
from ..log.file import LogFile
from ..log.writer import Sync, now
from .directory import Directory
from .records import Record, row_of

_GROUP_BYTES = 1 << 22
"""Of a checkpoint, in one transaction and one step."""


class JournalFile:
    """The file at the end of a journal. A method that raises ``sqlite3.Error`` or ``OSError`` wrote nothing."""

    def __init__(self, directory: Directory, number: int, last: int, sync: Sync) -> None:
        """Make a new, empty file, for the records after ``last``.

        Raises:
            LogError, OSError: it cannot be made.
        """
        self.number = number
        self.last = last
        """The last record."""
        self.bytes = 0
        """About how large it is."""
        path = directory.journal(number)
        try:
            self._writer = LogFile.create(path, _meta(last + 1, sync), sync=sync)
            directory.synchronize()
        except BaseException:
            with suppress(OSError):
                directory.remove([path])  # Nothing is in it.
            raise

    def append(self, records: Sequence[Record], elapsed: float) -> None:
        """Write records, all of them or none; with ``sync="full"`` they are on the disk when this returns.

        Args:
            elapsed: seconds since the system was started.
        """
        rows = [row_of(record, sequence, elapsed) for sequence, record in enumerate(records, self.last + 1)]
        self._writer.append(rows)
        self.last += len(rows)
        self.bytes += sum(map(_weight, rows))

    def close(self) -> None:
        """Close it. May be called again, and after an error: what was written stays."""
        with suppress(sqlite3.Error):
            self._writer.close()


def write_checkpoint(directory: Directory, number: int, records: Iterable[Record]) -> Iterator[None]:
    """Write a checkpoint, a step at each ``next``. It counts once all steps are done.

    Raises:
        LogError, OSError, sqlite3.Error: it was not written; nothing else has changed.
    """
    path = directory.unfinished_checkpoint(number)
    directory.remove([path])
    # Synchronized as a whole, before it gets its name.
    writer = LogFile.create(path, _meta(1, "full"), sync="normal")
    try:
        rows: list[Row] = []
        weight = 0
        for sequence, record in enumerate(records, 1):
            rows.append(row_of(record, sequence, 0.0))
            weight += _weight(rows[-1])
            if weight >= _GROUP_BYTES:
                writer.append(rows)
                rows, weight = [], 0
                yield
        writer.append(rows)
        writer.close()
    except BaseException:
        writer.abandon()
        raise
    directory.publish_checkpoint(number)


def _weight(row: Row) -> int:
    return len(row.payload) + 200


def _meta(first: int, sync: Sync) -> Meta:
    program = importlib.metadata.version("pillion")
    return Meta(program=program, level=Level.COMMANDS, started=now(), first=first, more={"sync": sync})
