"""Errors of message logs."""

from __future__ import annotations

from pathlib import Path

from ...messages.errors import PillionError


class LogError(PillionError):
    """Base of the errors of logs. ``path`` is the file."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class LogMissing(LogError, FileNotFoundError):
    """There is no such file, or it cannot be opened."""


class LogExists(LogError, FileExistsError):
    """A log was to be written where there is a file already."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "there is such a file already: choose another name or delete it")


class NotALog(LogError):
    """The file is something else."""


class NewerLog(LogError):
    """A newer program wrote it.

    Attributes:
        version: of the log's schema.
        known: the newest that this program reads.
    """

    def __init__(self, path: Path, version: int, known: int, program: str) -> None:
        super().__init__(
            path,
            f"the log has version {version}, written by Pillion {program}, and this program reads versions up to "
            f"{known}: read it with a newer Pillion",
        )
        self.version = version
        self.known = known


class LogDamaged(LogError):
    """Something in the log is not as it was written. ``sequence`` and ``until``: the first and the last row that are
    concerned, if they are known."""

    def __init__(self, path: Path, problem: str, sequence: int | None = None, until: int | None = None) -> None:
        super().__init__(path, f"{problem}; pillion.actors.log.verify tells what is intact")
        self.problem = problem
        self.sequence = sequence
        self.until = sequence if until is None else until


class UnknownMessageKind(LogError):
    """A row holds a message of a kind that this program does not have, or one that was recorded by name only."""

    def __init__(self, path: Path, sequence: int, kind: str, why: str) -> None:
        super().__init__(path, f"row {sequence} holds a {kind}, which cannot be made again: {why}")
        self.sequence = sequence
        self.kind = kind


class RecordingFailed(LogError):
    """A recording ended early: the disk is full, say. What was written before stays in the log."""

    def __init__(self, path: Path, reason: str, last: int) -> None:
        super().__init__(
            path,
            f"the recording ended after row {last}, because {reason}; nothing is written any more, as it would not be "
            "recorded: start a new system, with another file or without one",
        )
        self.last = last
        self.reason = reason

    def again(self) -> RecordingFailed:
        """The same, to be raised once more: an error collects the traceback of every raise."""
        return RecordingFailed(self.path, self.reason, self.last)
