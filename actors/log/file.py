"""A log's file: made, and opened for reading.

with LogFile.open("run.plog") as log:
    for record in log.records(kinds=["Peek"]):
        print(record.sequence, record.time, record.message())
"""

from __future__ import annotations

import os
from pathlib import Path

from ...messages.log import Meta
from .reader import LogReader
from .writer import LogWriter, Sync

Name = str | os.PathLike[str]


class LogFile:
    """Where logs come from."""

    @staticmethod
    def create(path: Name, meta: Meta, *, sync: Sync = "normal", rotate_at: int | None = None) -> LogWriter:
        """A new log, empty.

        Args:
            sync: ``normal``: what was written survives the end of the process, and the log stays consistent when the
                machine loses its power; ``full``: what was written survives that, too.
            rotate_at: bytes. A file that has become larger is followed by another, ``NAME-2.plog`` and so on.

        Raises:
            LogExists: there is a file that is not empty.
            LogMissing: it cannot be written there.
        """
        return LogWriter.create(Path(path), meta, sync=sync, rotate_at=rotate_at)

    @staticmethod
    def open(path: Name) -> LogReader:
        """A log to be read, also while it is being written. Of a log in several files, from this file on.

        Raises:
            LogMissing: there is no such file, or it may not be read.
            NotALog: it is something else, or empty.
            NewerLog: a newer program wrote it.
            LogDamaged: it was a log.
        """
        return LogReader(Path(path))
