"""A replica with two runtimes of one worker each, of which either can be made to fall behind."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pykka

from pillion.actors.controller.messages import Connect, FromReplica
from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.schedule import Channel
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.peeks.blocks import rows_of
from pillion.actors.storage.messages import AppendRows, CreateShard
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    Command,
    CreateDataflow,
    Hello,
    IndexTarget,
    InitializationComplete,
    Peek,
    Schedule,
)
from pillion.messages.dataflows import DataflowClass, IndexExport, IndexImport, RenderDataflow, SourceImport
from pillion.messages.frontiers import Frontier, Timestamp, less_equal
from pillion.messages.ids import GlobalId
from pillion.messages.responses import PeekResponse, PeekResult, Response, Rows
from pillion.messages.scalars import ColumnRef, Literal
from pillion.messages.types import Field, Schema, SqlType

SHARD, OTHER_SHARD = GlobalId("s", 1), GlobalId("s", 2)
SOURCE, INDEX, SHARED = (GlobalId("u", number) for number in range(1, 4))
READ, AGAIN = GlobalId("t", 1), GlobalId("t", 2)
SCHEMA = Schema((Field("key", SqlType.BIGINT, False), Field("value", SqlType.BIGINT, False)))
KEY, OTHER_KEY = (ColumnRef(0),), (ColumnRef(1),)
Row = tuple[int, int]


class Stalled(Exception):
    """Only actors that are stalled have messages."""


class StallingSchedule:
    """Delivers in a random order; never to an actor that is stalled."""

    def __init__(self, seed: int) -> None:
        self.stalled: set[SystemActor] = set()
        self._random = random.Random(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        free = [at for at, channel in enumerate(channels) if channel.actor not in self.stalled]
        if not free:
            raise Stalled
        return self._random.choice(free)


def actor_of(ref: pykka.ActorRef[Any]) -> Worker:
    actor = getattr(ref, "_actor", None)
    assert isinstance(actor, Worker)
    return actor


def maintained(*exports: IndexExport, as_of: Timestamp = 0, shard: GlobalId = SHARD, **changes: Any) -> CreateDataflow:
    """An index on a shard."""
    dataflow = RenderDataflow(
        debug_name="maintained",
        source_imports=(SourceImport(SOURCE, shard, SCHEMA),),
        index_imports=(),
        objects_to_build=(),
        index_exports=exports or (IndexExport(INDEX, SOURCE, KEY),),
        sink_exports=(),
        as_of=as_of,
        **changes,
    )
    return CreateDataflow(dataflow)


def importing(
    *exports: IndexExport, as_of: Timestamp = 0, until: Frontier = None, imported: GlobalId = INDEX
) -> CreateDataflow:
    """A dataflow over an index; with ``until``, and exports that are all transient, a one-shot read."""
    dataflow = RenderDataflow(
        debug_name="importing",
        source_imports=(),
        index_imports=(IndexImport(imported, SOURCE, KEY, SCHEMA),),
        objects_to_build=(),
        index_exports=exports,
        sink_exports=(),
        as_of=as_of,
        until=until,
    ).classified()
    return CreateDataflow(dataflow)


def one_shot(*exports: IndexExport, as_of: Timestamp, imported: GlobalId = INDEX) -> CreateDataflow:
    """A read of an index at one time."""
    command = importing(
        *(exports or (IndexExport(READ, SOURCE, KEY),)), as_of=as_of, until=as_of + 1, imported=imported
    )
    assert command.dataflow.dataflow_class is DataflowClass.ONE_SHOT_READ
    return command


def peek(time: Timestamp, uuid: str = "p", id: GlobalId = INDEX, keys: tuple[int, ...] | None = None) -> Peek:
    literals = None if keys is None else tuple((Literal.of(key, SqlType.BIGINT),) for key in keys)
    return Peek(uuid, IndexTarget(id), time, SCHEMA, literals)


def rows_in(result: PeekResult) -> list[Row]:
    assert isinstance(result, Rows), result
    found: Counter[Row] = Counter()
    for row, _, diff in rows_of(result.block, SCHEMA).to_tuples():
        found[row] += diff  # type: ignore[index]
    return sorted(found.elements())


class TwoRuntimes:
    """The replica, its controller, and its storage."""

    def __init__(self, seed: int = 0) -> None:
        self.schedule = StallingSchedule(seed)
        self.dispatcher = SimulatedDispatcher(seed, schedule=self.schedule)
        self.storage = self.dispatcher.start(Storage)
        for shard in (SHARD, OTHER_SHARD):
            self.storage.tell(CreateShard(shard, SCHEMA))
        self.replica = Replica.start(self.dispatcher, self.storage, 1, interactive=True)
        self.maintenance = actor_of(self.replica.workers[0])
        self.interactive = actor_of(self.replica.interactive[0])
        self.controller = Probe(self.dispatcher)
        self.replica.endpoint.tell(Connect("replica", self.controller.ref))
        self.nonce = ""
        self.connect("a")

    def connect(self, nonce: str, *commands: Command) -> list[Response]:
        self.nonce = nonce
        return self.send(Hello(nonce), *commands, InitializationComplete())

    def send(self, *commands: Command) -> list[Response]:
        """Send commands, and run what is not stalled until nothing is left to do."""
        for command in commands:
            self.replica.endpoint.tell(command)
        return self.run()

    def run(self) -> list[Response]:
        """Run what is not stalled until nothing is left to do; what was answered on the present connection."""
        with contextlib.suppress(Stalled):
            self.dispatcher.run()
        assert self.dispatcher.failure is None, self.dispatcher.failure
        responses: list[Response] = []
        for message in self.controller.take_all():
            assert isinstance(message, FromReplica)
            responses += message.responses if message.nonce == self.nonce else ()
        return responses

    def stall(self, actor: SystemActor) -> None:
        """Let an actor handle nothing until it resumes."""
        self.schedule.stalled.add(actor)

    def let_time_pass(self) -> list[Response]:
        """Let every timer of this moment fire, though somebody is stalled."""
        for _ in range(len(self.dispatcher._timers)):  # pyright: ignore[reportPrivateUsage]
            self.dispatcher._fire_timer()  # pyright: ignore[reportPrivateUsage]
        return self.run()

    def resume(self) -> list[Response]:
        """Let everybody catch up."""
        self.schedule.stalled.clear()
        return self.run()

    def write(self, time: Timestamp, *rows: Row, diff: int = 1, shard: GlobalId = SHARD) -> list[Response]:
        """Write rows at a time, and seal it."""
        columns = tuple(column_from_values([row[at] for row in rows], SqlType.BIGINT) for at in range(2))
        updates = Updates(columns, np.full(len(rows), time, np.int64), np.full(len(rows), diff, np.int64))
        self.storage.tell(AppendRows(shard, SCHEMA, updates, time + 1, self.dispatcher.reply()))
        return self.run()

    def start(self, *creations: CreateDataflow) -> list[Response]:
        """Create dataflows and schedule them."""
        commands: list[Command] = []
        for creation in creations:
            commands += [creation, Schedule(creation.dataflow.export_ids[0])]
        return self.send(*commands)

    def read(self, time: Timestamp, id: GlobalId = INDEX) -> list[Row]:
        """The rows of an index at a time."""
        return rows_in(answered(self.send(peek(time, "read", id)), "read"))

    def check(self) -> None:
        """What holds after every message."""
        check_invariants(self.replica)

    def close(self) -> None:
        self.dispatcher.stop()


def answered(responses: list[Response], uuid: str = "p") -> PeekResult:
    (result,) = [r.result for r in responses if isinstance(r, PeekResponse) and r.uuid == uuid]
    return result


def unanswered(responses: list[Response]) -> bool:
    return not any(isinstance(response, PeekResponse) for response in responses)


def check_invariants(replica: Replica) -> None:
    """What holds between the two runtimes after every message.

    I1: nothing is compacted past what this runtime may read. I1c: nor past what it has heard that it may. A bundle is
    bound to its own incarnation. What one runtime renders, the other one does not.
    """
    for publisher, reader in zip(replica.workers, replica.interactive, strict=bool(replica.interactive)):
        kept, read = actor_of(publisher).state, actor_of(reader).state
        for state in (kept, read):
            assert not state.peers.keys() & state.collections.keys()
        for slot, bundle in read.bundles.items():
            publication = bundle.arrangement.publication
            if publication is None:
                continue
            assert (publication.id, publication.incarnation) == slot
            assert not publication.closed
            peer = read.peers.get(slot[0])
            # What introspects was perhaps allowed more by an earlier connection.
            if peer is not None and peer.bundle is bundle and not peer.dataflow.is_logging:
                assert less_equal(publication.snapshot.since, peer.compaction)
            for hold in bundle.arrangement.holds:
                assert less_equal(publication.snapshot.since, hold.time)
            assert publication.snapshot.layout == bundle.arrangement.layout
