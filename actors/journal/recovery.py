"""Reading a journal back: every record that is intact, in order, and what is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ...messages.errors import DecodeError
from ..log.errors import LogDamaged, LogError, NewerLog
from ..log.file import LogFile
from ..log.reader import LogReader
from .directory import Directory, Files
from .records import Checkpoint, Record, record_in
from .state import JournalState
from .tail import Tail, settle, tail_of


@dataclass(slots=True)
class Recovery:
    """What a directory holds.

    Attributes:
        state: what its intact records amount to.
        last: the number of the last of them.
        damage: what is missing or not as it was written, a sentence each; empty: all that was acknowledged is there.
        unfinished: bytes of writes that a crash cut short, and that nobody was told of.
        partial: whether some of a checkpoint is damaged, so that what is intact may not add up.
        unused: the last journal, when there is no record in it.
        aside: where a copy of all files is, made before anything was changed.
    """

    state: JournalState = field(default_factory=JournalState)
    last: int = 0
    damage: list[str] = field(default_factory=list[str])
    unfinished: int = 0
    partial: bool = False
    unused: int | None = None
    aside: Path | None = None


def recover(directory: Directory, files: Files, *, salvage: bool) -> Recovery:
    """Read everything that counts. Files that a crash left open are closed by this; nothing else is changed, and
    nothing at all where that would lose what is damaged, unless ``salvage`` says to keep a copy.

    Of a damaged checkpoint everything else is read; of the journals, what comes before the damage.

    Raises:
        NewerLog: a newer program wrote it.
    """
    found = Recovery()
    tails = [(number, tail_of(directory.journal(number))) for number in files.journals]
    if any(tail.transactions for _, tail in tails) and salvage:
        found.aside = directory.copy_aside(files.counted(directory))
    expected = 1
    if files.checkpoint is not None:
        expected = files.checkpoint
        _read_checkpoint(directory.checkpoint(expected), found)
    for number, tail in tails:
        if number != expected:
            found.damage.append(f"{directory.journal(expected).name} is missing")
            break
        if not _read_journal(directory.journal(number), number, tail, found, is_last=number == files.journals[-1]):
            break
        expected = number + 1
    return found


def _read_checkpoint(path: Path, found: Recovery) -> None:
    def apply(record: Record) -> None:
        if isinstance(record, Checkpoint):
            found.last = record.last
        found.state.apply(record)

    try:
        with LogFile.open(path) as log:
            after = 0
            while after is not None:
                after = _read_records(log, after, found, apply)
    except NewerLog:
        raise
    except LogError as error:
        found.damage.append(f"{path.name}: {error.problem}")
    found.partial = bool(found.damage)


def _read_journal(path: Path, number: int, tail: Tail, found: Recovery, *, is_last: bool) -> bool:
    """Whether all of it is intact."""

    def apply(record: Record) -> None:
        found.last += 1
        found.state.apply(record)

    if tail.transactions:
        found.damage.append(
            f"{path.name}: {tail.transactions} groups of writes at its end are not as they were written"
        )
        if found.aside is None:
            return False
    found.unfinished += tail.bytes
    try:
        if not settle(path) and is_last:
            found.unused = number
            return True
        with LogFile.open(path) as log:
            if log.meta.first != found.last + 1:
                found.damage.append(f"{path.name}: records {found.last + 1} to {log.meta.first - 1} are missing")
                return False
            if _read_records(log, found.last, found, apply) is not None:
                found.damage[-1] += f", so that it and {log.last - found.last - 1} records after it are left out"
                return False
            if is_last and found.last < log.meta.first:
                found.unused = number
            return not tail.transactions
    except NewerLog:
        raise
    except LogError as error:
        found.damage.append(f"{path.name}: {error.problem}")
    except sqlite3.Error as error:
        found.damage.append(f"{path.name}: {error}")
    return False


def _read_records(log: LogReader, after: int, found: Recovery, apply: Callable[[Record], None]) -> int | None:
    """Apply the records after this one; None: all of them. Else there is damage, and this is where to go on."""
    try:
        for row in log.own_records(after=after):
            apply(record_in(row))
            after = row.sequence
    except LogDamaged as error:
        if error.sequence is None:
            raise
        found.damage.append(f"{log.path.name}: {error.problem}")
        return error.sequence if error.until is None else error.until
    except (DecodeError, ValueError) as error:
        found.damage.append(f"{log.path.name}: row {after + 1}: {error}")
        return after + 1
    return None
