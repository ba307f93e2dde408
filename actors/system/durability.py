"""A system that keeps its tables, views and indexes in a directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import WrongArgument

if TYPE_CHECKING:
    from ..journal.opening import OpenedJournal

SYNC = ("full", "normal")


def journal_at(
    path: str | os.PathLike[str] | None, sync: object, *, salvage: bool, trust: bool, recorded: bool
) -> OpenedJournal | None:
    """The journal that an application asks for, opened; None: there is none.

    Raises:
        WrongArgument: an argument that does not go together with others.
        JournalError: see :func:`~..journal.opening.open_journal`.
    """
    if path is None:
        given = [name for name, value in (("sync", sync), ("salvage", salvage), ("trust", trust)) if value]
        if given:
            raise WrongArgument(
                f"{given[0]} is for a system with a path, and there is none: give path=, or leave it out"
            )
        return None
    if not isinstance(path, str | os.PathLike) or not str(path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongArgument(f"path is the name of a directory, and {path!r} was given")
    if sync is not None and sync not in SYNC:
        raise WrongArgument(f"sync is 'full' or 'normal', and {sync!r} was given")
    # Here, because a system without a path does without all of it.
    from ..journal.opening import open_journal

    opened = open_journal(Path(path), sync="normal" if sync == "normal" else "full", salvage=salvage, trust=trust)
    if recorded and (opened.state.latest or opened.state.catalog.defined):
        opened.close()
        raise WrongArgument(
            "record= begins with a system that holds nothing, so that it can be replayed, and "
            f"{str(path)!r} holds something: leave out one of the two, or use a new directory"
        )
    return opened
