"""The demo's progress bars."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from .session import Progress as Advance


@contextlib.contextmanager
def bars(console: Console) -> Generator[Advance]:
    """A bar for each thing that is reported, in the order of the first reports."""
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        tasks: dict[str, TaskID] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done)

        yield advance


@contextlib.contextmanager
def no_bars() -> Generator[Advance]:
    """Nothing is shown."""
    yield lambda what, done, total: None
