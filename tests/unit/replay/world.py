"""A small recording, written by hand: a table, an index on it, a subscription to it, and reads at times that are soon
compacted away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.replay.events import Acknowledged, Event, Heard, Sent, Stored
from pillion.actors.requests import Committed, Insert
from pillion.actors.storage.messages import CommitTables, CompactShard, CreateTableShard
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.plans.lower import lower
from pillion.messages.commands import (
    AllowCompaction,
    Command,
    CreateDataflow,
    CreateInstance,
    Hello,
    InitializationComplete,
    InstanceConfig,
    Schedule,
)
from pillion.messages.dataflows import IndexExport, RelationDataflow, SinkExport, SourceImport, Subscribe
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.responses import DroppedAt, Frontiers, PeekResponse, Response, SubscribeResponse
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

from .build import INDEX, REPLICA, SCHEMA, Tape, batch, peek, rows

TABLE, SINK = GlobalId("u", 1), GlobalId("t", 3)
COMMITS = 6


class Script:
    """Events, numbered as they are added, a hundredth of a second apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    @property
    def _next(self) -> tuple[int, float]:
        return len(self.events) + 1, len(self.events) / 100

    def send(self, *commands: Command) -> None:
        for command in commands:
            self.events.append(Sent(*self._next, REPLICA, command))

    def store(self, message: Any) -> int:
        self.events.append(Stored(*self._next, message))
        return len(self.events)

    def hear(self, *responses: Response) -> None:
        self.events.append(Heard(*self._next, REPLICA, "n", responses))

    def acknowledge(self, of: int, value: object) -> None:
        self.events.append(Acknowledged(*self._next, of, value))


def dataflow(id: GlobalId, sinks: tuple[SinkExport, ...] = (), key: tuple[int, ...] = ()) -> CreateDataflow:
    indexes = () if sinks else (IndexExport(id, TABLE, tuple(ColumnRef(column) for column in key)),)
    source = SourceImport(TABLE, TABLE, SCHEMA)
    return CreateDataflow(lower(RelationDataflow("d", (source,), (), (), indexes, sinks, 0)))


def moved(frontier: Frontier) -> Frontiers:
    return Frontiers(INDEX, (frontier,), (frontier,), (frontier,))


def insert(number: int) -> Insert:
    columns = (column_from_values([number], SqlType.BIGINT), column_from_values(["x"], SqlType.TEXT))
    return Insert(TABLE, columns)


def world(answers: Iterable[tuple[int, str]] = ((1, "x"),)) -> Tape:
    """A recording in which every read is answered before the next transaction. ``answers``: to the first read."""
    script = Script()
    script.send(Hello("n"), CreateInstance(InstanceConfig()), InitializationComplete())
    script.store(CreateTableShard(TABLE, "numbers", SCHEMA, 0))
    script.send(dataflow(INDEX, key=(0,)), Schedule(INDEX))
    script.send(dataflow(SINK, (SinkExport(SINK, TABLE, Subscribe()),)), Schedule(SINK))
    script.hear(moved(1), SubscribeResponse(SINK, batch(0, 1)))
    for time in range(1, COMMITS):
        asked = script.store(CommitTables(time, (insert(time),), OneShot()))
        script.acknowledge(asked, Committed(time, (1,)))
        script.send(peek(f"p{time}", time))
        script.hear(moved(time + 1), SubscribeResponse(SINK, batch(time, time + 1, (time, "x", time, 1))))
        expected = [*answers] if time == 1 else [(number, "x") for number in range(1, time + 1)]
        script.hear(PeekResponse(f"p{time}", rows(*expected)))
        script.send(AllowCompaction(INDEX, time))
        script.store(CompactShard(TABLE, time))
    script.send(AllowCompaction(SINK, None))
    script.hear(SubscribeResponse(SINK, DroppedAt(COMMITS)))
    return Tape(script.events)
