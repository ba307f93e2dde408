"""The recorder: writes what was noted, on a thread of its own."""

from __future__ import annotations

from typing import ClassVar

from ..dispatch.base import SystemActor
from .messages import Write, WriteNow
from .recording import Recording

WAIT = 0.05
"""Seconds from the first message of a group to its being written: so long, no thread is woken for those that follow."""


class Recorder(SystemActor):
    """Writes a recording in groups. It is the one actor whose handlers wait for a disk."""

    handlers: ClassVar = {Write: "wait", WriteNow: "write"}

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording

    def wait(self, message: Write) -> None:
        self.after(WAIT, WriteNow())

    def write(self, message: WriteNow) -> None:
        had_failed = self._recording.failure is not None
        self._recording.write()
        failure = self._recording.failure
        if failure is not None and not had_failed:
            self.log.error("the recording ended", exc_info=failure)
