"""Opening a journal when a system starts."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import structlog

from ..dispatch.services import make_logger
from ..log.errors import LogError
from ..log.writer import Sync
from .checkpoint import checkpoint_records
from .directory import Directory, Files
from .errors import JournalDamaged, JournalError, NotADirectory
from .functions import check_trusted
from .lock import DirectoryLock
from .recovery import Recovery, recover
from .salvage import as_tables, salvaged
from .state import JournalState
from .writing import JournalFile, write_checkpoint


@dataclass(slots=True)
class OpenedJournal:
    """A journal that this process has.

    Attributes:
        state: what it amounts to.
        file: its last file, empty; what is written from now on comes there.
        lost: what is not there of what was written, a sentence each.
    """

    directory: Directory
    sync: Sync
    state: JournalState
    file: JournalFile
    lock: DirectoryLock
    lost: tuple[str, ...]

    def close(self) -> None:
        """Let others have it. May be called again."""
        self.file.close()
        self.lock.release()


def open_journal(path: Path, *, sync: Sync, salvage: bool = False, trust: bool = False) -> OpenedJournal:
    """Open the journal in a directory, which is made if there is none.

    Args:
        sync: see :meth:`~..log.file.LogFile.create`.
        salvage: open what is intact of a damaged one; its files are kept in ``damaged-N`` beside the new ones.
        trust: load the Python functions that definitions in it use.

    Raises:
        JournalInUse: another system has it.
        JournalDamaged: something is missing that was acknowledged.
        UntrustedFunctions: there are functions, and ``trust`` is false.
        NotADirectory, JournalError: it cannot be read or written.
    """
    directory = Directory(path)
    lock = DirectoryLock(path)
    try:
        return _open(directory, lock, sync, salvage=salvage, trust=trust)
    except OSError as error:
        lock.release()
        raise NotADirectory(path, f"it cannot be used: {error.strerror or error}") from error
    except sqlite3.Error as error:
        lock.release()
        raise JournalError(path, f"it cannot be used: {error}") from error
    except BaseException:
        lock.release()
        raise


def _open(directory: Directory, lock: DirectoryLock, sync: Sync, *, salvage: bool, trust: bool) -> OpenedJournal:
    log: structlog.stdlib.BoundLogger = make_logger("journal", path=str(directory.path))
    files = directory.files()
    directory.remove(files.obsolete)
    found = recover(directory, files, salvage=salvage)
    if found.damage and not salvage:
        raise JournalDamaged(directory.path, tuple(found.damage))
    functions = check_trusted(directory.path, found.state.catalog.defined.values(), trust=trust)
    if functions:
        log.info("loads the Python functions in it", functions=", ".join(functions))
    lost: list[str] = []
    if found.damage:
        state, number, lost = _salvage(directory, files, found)
    else:
        state, number = found.state, _next_number(files, found)
        if found.unused is not None:
            directory.remove([directory.journal(found.unused)])
    for each in lost:
        log.warning("the journal is damaged, and what is intact is opened", lost=each)
    if found.unfinished:
        lost.append(f"{found.unfinished} bytes of writes that were not finished, and that nobody was told of")
        log.info("the last process that had it was ended while it wrote", lost=lost[-1])
    return OpenedJournal(directory, sync, state, JournalFile(directory, number, found.last, sync), lock, tuple(lost))


def _next_number(files: Files, found: Recovery) -> int:
    if found.unused is not None:
        return found.unused
    return files.journals[-1] + 1 if files.journals else files.checkpoint or 1


def _salvage(directory: Directory, files: Files, found: Recovery) -> tuple[JournalState, int, list[str]]:
    """Keep the damaged files aside, and begin again with what is intact."""
    state, left_out = salvaged(found)
    number = max((*files.journals, files.checkpoint or 0)) + 1
    counted = files.counted(directory)
    aside = found.aside or directory.copy_aside(counted)
    records = checkpoint_records(
        state.latest, state.catalog.next_id, state.catalog.defined.values(), as_tables(state), found.last
    )
    try:
        for _ in write_checkpoint(directory, number, records):
            pass
    except LogError as error:
        raise JournalError(directory.path, f"what is intact cannot be written: {error.problem}") from error
    directory.remove(counted)
    return state, number, [*found.damage, *left_out, f"the damaged files are in {aside.name}"]
