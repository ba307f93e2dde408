"""A recording under way: what was noted and is not written yet, and the log it goes to."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import deque
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import pykka

from ...messages.commands import Setting
from ...messages.log import ANSWER, APPLICATION, Level, Meta, Row
from ..dispatch.oneshot import OneShot, Stream
from ..dispatch.services import Clock
from ..errors import SystemFailed, SystemStopped
from ..log.errors import RecordingFailed
from ..log.file import LogFile, Name
from ..log.payloads import Answer, Namer, PayloadWriter
from ..log.writer import LogWriter, Sync, now
from .described import detail_of, ids_of, nonce_of
from .messages import Write

GROUP = 2048
"""Rows are written so many at a time."""


class Noted(NamedTuple):
    """A message on its way. ``of``: of an answer, the future that the request carried."""

    time: float
    sender: str
    receiver: str
    message: Any
    of: OneShot[Any] | None = None


class _Names(Namer):
    """Futures are named by the row of the request that carried them first."""

    def __init__(self) -> None:
        self.rows: WeakKeyDictionary[OneShot[Any] | Stream[Any], int] = WeakKeyDictionary()

    def request(self, result: OneShot[Any] | Stream[Any]) -> int:
        return self.rows.get(result, 0)


class Recording:
    """Notes messages, on the threads that send them, and writes them on the recorder's.

    To note one is to remember it: messages never change, so everything else can wait.

    Attributes:
        path: of the log's first file.
        failure: why nothing is written any more, if so.
    """

    def __init__(self, writer: LogWriter) -> None:
        self.path: Path = writer.path
        self.failure: RecordingFailed | None = None
        self._writer = writer
        self._noted: deque[Noted] = deque()
        self._names = _Names()
        self._payloads = PayloadWriter(self._names)
        self._writing = threading.Lock()
        self._closed = False
        self._asleep = True
        self._recorder: pykka.ActorRef[Any] | None = None

    def start(self, recorder: pykka.ActorRef[Any], clock: Clock) -> None:
        """``recorder`` will write what is noted from now on, which is the moment 0 of the log."""
        self._recorder = recorder
        self._now = clock.now
        self._began = clock.now()

    def note(self, sender: str, receiver: str, message: Any, of: OneShot[Any] | None = None) -> None:
        """Remember a message that is about to be sent."""
        self._noted.append(Noted(self._now() - self._began, sender, receiver, message, of))
        if self._asleep:
            self._asleep = False
            assert self._recorder is not None, "noted before it was started"
            # Of a system that stops or failed, closing the log writes what is left.
            with suppress(pykka.ActorDeadError, SystemStopped, SystemFailed):
                self._recorder.tell(Write())

    def answered(self, sender: str, reply: OneShot[Any]) -> None:
        """Remember what a request was answered with."""
        error = reply.error
        value = Answer(error=(type(error).__name__, str(error))) if error is not None else Answer(reply.value)
        self.note(sender, APPLICATION, value, reply)

    def write(self) -> None:
        """Write what was noted up to now. For one thread at a time; never raises: see ``failure``."""
        with self._writing:
            self._asleep = True
            # Whoever notes something after this line finds nobody awake, and wakes the recorder.
            while self._noted and not self._closed:
                rows: list[Row] = []
                while self._noted and len(rows) < GROUP:
                    rows.append(self._row(self._noted.popleft(), self._writer.last + len(rows) + 1))
                if self.failure is not None:
                    continue
                try:
                    self._writer.append(rows)
                    if self._writer.is_full:
                        self._writer.rotate()
                except (sqlite3.Error, OSError) as error:
                    self.failure = RecordingFailed(self._writer.path, str(error), self._writer.last)

    def close(self, outcome: str) -> None:
        """Write what is left, and end the log. May be called again."""
        self.write()
        with self._writing:
            if self._closed:
                return
            self._closed = True
            try:
                if self.failure is None:
                    self._writer.close(outcome)
                else:
                    self._writer.abandon()
            except (sqlite3.Error, OSError) as error:
                self.failure = RecordingFailed(self._writer.path, str(error), self._writer.last)

    def _row(self, noted: Noted, sequence: int) -> Row:
        message = noted.message
        reply = getattr(message, "reply", None)
        if isinstance(reply, OneShot):
            self._names.rows.setdefault(cast("OneShot[Any]", reply), sequence)
        is_answer = isinstance(message, Answer)
        return Row(
            sequence=sequence,
            time=noted.time,
            sender=noted.sender,
            receiver=noted.receiver,
            nonce=nonce_of(message),
            kind=ANSWER if is_answer else type(message).__name__,
            ids="[]" if is_answer else json.dumps(ids_of(message)),
            reply_to=None if noted.of is None else self._names.rows.get(noted.of),
            detail="{}" if is_answer else json.dumps(detail_of(message)),
            payload=self._payloads.write(message),
        )


def begin_recording(
    path: Name, sync: Sync, *, workers: int, interactive: bool, settings: dict[str, Setting | None]
) -> Recording:
    """A recording of a system that is about to start, in a new log.

    Raises:
        LogExists, LogMissing: there is a file, or none can be there.
    """
    meta = Meta(
        program=metadata.version("pillion"),
        level=Level.COMMANDS,
        started=now(),
        workers=workers,
        interactive=interactive,
        settings={name: value for name, value in settings.items() if value is not None},
    )
    return Recording(LogFile.create(path, meta, sync=sync))
