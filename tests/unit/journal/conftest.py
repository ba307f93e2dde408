"""Journals as files, without a system."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pillion.actors.journal.messages import Defined, TablesWritten
from pillion.actors.journal.opening import OpenedJournal, open_journal
from pillion.actors.journal.records import Record
from pillion.actors.requests import CollectionInfo, CollectionKind
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.ids import GlobalId
from pillion.messages.types import Field, Schema, SqlType

TABLE = GlobalId("u", 1)
SCHEMA = Schema((Field("id", SqlType.BIGINT, False), Field("text", SqlType.TEXT)))


def table(number: int = 1, name: str = "t") -> Defined:
    return Defined(CollectionInfo(GlobalId("u", number), name, CollectionKind.TABLE, SCHEMA, table_key=(0,)), 0)


def written(time: int, *ids: int, size: int = 8, diff: int = 1, to: GlobalId = TABLE) -> TablesWritten:
    columns = (
        column_from_values(list(ids), SqlType.BIGINT),
        column_from_values([f"{id:0{size}}" for id in ids], SqlType.TEXT),
    )
    return TablesWritten(time, {to: Updates.of(columns, time, diff)})


class Journals:
    """Opens journals, and makes what a killed process leaves of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: list[OpenedJournal] = []

    def open(self, directory: Path | None = None, *, salvage: bool = False, trust: bool = False) -> OpenedJournal:
        opened = open_journal(directory or self.path / "journal", sync="normal", salvage=salvage, trust=trust)
        self._opened.append(opened)
        return opened

    def write(self, opened: OpenedJournal, *groups: list[Record]) -> None:
        for group in groups:
            opened.file.append(group, 0.0)

    def left_by_a_kill(self, opened: OpenedJournal) -> Path:
        """A copy of the directory as it is now, while it is open."""
        copy = self.path / f"copy-{len(list(self.path.iterdir()))}"
        shutil.copytree(opened.directory.path, copy)
        return copy

    def ids(self, opened: OpenedJournal) -> list[int]:
        """What the table holds."""
        updates = opened.state.contents().get(TABLE)
        if updates is None:
            return []
        return sorted(row[0] for row, _, diff in updates.at(0).consolidate().to_tuples() for _ in range(diff))

    def close(self) -> None:
        for opened in self._opened:
            opened.close()


@pytest.fixture
def journals(tmp_path: Path) -> Iterator[Journals]:
    made = Journals(tmp_path)
    yield made
    made.close()
