"""Errors of a system that keeps a journal."""

from __future__ import annotations

from pathlib import Path

from ...messages.errors import PillionError


class JournalError(PillionError):
    """Base of the errors of journals. ``path`` is the directory."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class NotADirectory(JournalError):
    """The path cannot be a directory of ours: it is a file, say, or cannot be written to."""


class JournalInUse(JournalError):
    """Another system has the directory open. ``process`` is the number of its process, if it is known."""

    def __init__(self, path: Path, process: int | None) -> None:
        who = "another process" if process is None else f"process {process}"
        super().__init__(path, f"{who} has it open; stop the system there first, or use another directory")
        self.process = process


class JournalDamaged(JournalError):
    """The journal is not as it was written: what was acknowledged may be missing. ``lost``: one sentence for each thing
    that cannot be read."""

    def __init__(self, path: Path, lost: tuple[str, ...]) -> None:
        super().__init__(
            path,
            f"the journal is damaged: {'; '.join(lost)}. Restore a copy of the directory, or open what is intact with "
            "salvage=True, which keeps the damaged files aside",
        )
        self.lost = lost


class UntrustedFunctions(JournalError):
    """Views or indexes in the journal use Python functions, and loading them runs code that is stored there.

    ``functions`` are their names, ``users`` those of the views and indexes."""

    def __init__(self, path: Path, functions: tuple[str, ...], users: tuple[str, ...]) -> None:
        super().__init__(
            path,
            f"{_listed(users)} use{'s' if len(users) == 1 else ''} the Python function"
            f"{'' if len(functions) == 1 else 's'} {_listed(functions)}, and to load what is stored is to run it: "
            "open it with trust=True if nobody else could have written to this directory",
        )
        self.functions = functions
        self.users = users


class WritesRefused(JournalError):
    """The journal cannot be written any more: a full disk, say. What was acknowledged stays, and reads go on."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            path,
            f"refused, because the journal cannot be written any more ({reason}); what was acknowledged before is kept "
            "and can be read: mend the cause, and start the system again",
        )
        self.reason = reason


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) for name in names)
