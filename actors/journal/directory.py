"""The files of a journal, as they lie in its directory.

``journal-N.plog`` hold the records, in order; the last one is being written. ``checkpoint-K.plog`` holds what all the
records before ``journal-K.plog`` amount to. Only the newest checkpoint counts, and the journals from its number on;
whatever else there is was left behind by a crash.

A checkpoint gets its name once it is whole and synchronized. So at every moment the directory has a checkpoint (or none
yet) and every record after it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .errors import NotADirectory
from .lock import LOCK

_NAME = re.compile(r"(journal|checkpoint)-(\d+)\.plog")
_UNFINISHED = ".new"
_PARTS = ("", "-wal", "-shm", "-journal")
"""Of an SQLite file."""


class Files(NamedTuple):
    """What there is. ``checkpoint``: the number of the newest one; None: there is none. ``journals``: the numbers of
    those that count, ascending. ``obsolete``: what is not needed."""

    checkpoint: int | None
    journals: tuple[int, ...]
    obsolete: tuple[Path, ...]

    def counted(self, directory: Directory) -> list[Path]:
        """Those that count."""
        journals = [directory.journal(number) for number in self.journals]
        return journals if self.checkpoint is None else [directory.checkpoint(self.checkpoint), *journals]


class Sizes(NamedTuple):
    """Bytes."""

    checkpoint: int
    journals: int


class Directory:
    """Names and moves files; what is in them it does not know."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            NotADirectory: it cannot be one.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotADirectory(path, f"it cannot be used as a directory: {error.strerror}") from None

    def journal(self, number: int) -> Path:
        return self.path / f"journal-{number:06}.plog"

    def checkpoint(self, number: int) -> Path:
        return self.path / f"checkpoint-{number:06}.plog"

    def unfinished_checkpoint(self, number: int) -> Path:
        """Where a checkpoint is written before it gets its name."""
        return self.path / f"checkpoint-{number:06}.plog{_UNFINISHED}"

    def files(self) -> Files:
        """
        Raises:
            NotADirectory: there are files, and none of them is ours.
        """
        found: dict[str, list[int]] = {"journal": [], "checkpoint": []}
        unfinished: list[Path] = []
        others: list[str] = []
        for entry in sorted(self.path.iterdir()):
            match = _NAME.match(entry.name)
            if match is None:
                others.append(entry.name)
            elif match.end() == len(entry.name):
                found[match[1]].append(int(match[2]))
            elif _UNFINISHED in entry.name[match.end() :]:
                unfinished.append(entry)
        others = [name for name in others if name != LOCK]
        if others and not any(found.values()) and not unfinished:
            raise NotADirectory(
                self.path, f"it holds other files ({others[0]}, …), and no journal: use a directory of its own"
            )
        newest = max(found["checkpoint"], default=None)
        first = newest or 0
        obsolete = [self.journal(n) for n in found["journal"] if n < first]
        obsolete += [self.checkpoint(n) for n in found["checkpoint"] if n < first]
        journals = tuple(sorted(n for n in found["journal"] if n >= first))
        return Files(newest, journals, (*obsolete, *unfinished))

    def sizes(self, files: Files) -> Sizes:
        """How large the files that count are."""
        checkpoint = 0 if files.checkpoint is None else size_of(self.checkpoint(files.checkpoint))
        return Sizes(checkpoint, sum(size_of(self.journal(number)) for number in files.journals))

    def publish_checkpoint(self, number: int) -> None:
        """Give a checkpoint, closed, its name; it counts from now on.

        Raises:
            OSError: it still has its other name, or the change is not sure to last.
        """
        unfinished = self.unfinished_checkpoint(number)
        _synchronize(unfinished)
        unfinished.rename(self.checkpoint(number))
        self.synchronize()

    def synchronize(self) -> None:
        """Have the names of files survive a loss of power."""
        _synchronize(self.path)

    def remove(self, paths: Iterable[Path]) -> int:
        """Remove files, oldest first, with what SQLite keeps beside them; returns how many bytes they had."""
        size = 0
        for path in sorted(paths):
            for part in _parts(path):
                size += part.stat().st_size
                part.unlink()
        return size

    def copy_aside(self, paths: Iterable[Path]) -> Path:
        """Copy files into a directory of their own beside the others, and return that."""
        number = 1
        while (aside := self.path / f"damaged-{number}").exists():
            number += 1
        aside.mkdir()
        for path in paths:
            for part in _parts(path):
                shutil.copy2(part, aside)
        _synchronize(aside)
        self.synchronize()
        return aside


def size_of(path: Path) -> int:
    """How many bytes a file has, with what SQLite keeps beside it."""
    return sum(part.stat().st_size for part in _parts(path))


def _parts(path: Path) -> list[Path]:
    return [part for end in _PARTS if (part := path.with_name(path.name + end)).exists()]


def _synchronize(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
