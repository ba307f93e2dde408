"""A directory belongs to one system at a time."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from .errors import JournalInUse, NotADirectory

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this platform
    fcntl = None

LOCK = "lock"
"""The name of the file that is locked."""


class DirectoryLock:
    """Held from its making until :meth:`release`, or the end of the process, however it ends.

    Raises:
        JournalInUse: another system holds it, in this process or another one.
        NotADirectory: the file cannot be made.
    """

    def __init__(self, directory: Path) -> None:
        if fcntl is None:  # pragma: no cover - not on this platform
            raise NotADirectory(directory, "this platform has no locks for files, without which path= is not safe")
        path = directory / LOCK
        try:
            self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise NotADirectory(directory, f"it cannot be locked: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 32, 0).strip()
            os.close(self._file)
            raise JournalInUse(directory, int(holder) if holder.isdigit() else None) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        _LOCKS.add(self)

    def release(self) -> None:
        """May be called again."""
        _LOCKS.discard(self)
        if self._file is not None:
            os.close(self._file)
            self._file = None


_LOCKS: weakref.WeakSet[DirectoryLock] = weakref.WeakSet()


def _after_fork() -> None:
    # A child shares the lock, and would hold it when its parent has died.
    for lock in list(_LOCKS):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
