"""A log as a protocol script, which gives the same answers when it is run.

A script is synchronous: a directive waits for what it asks. So a read stands where its answer was recorded, and before
it whatever that answer may depend on. Transactions become the rows that they changed; the tables' common upper becomes
that of each table, which is moved on before something waits for it.

What a script cannot say is left out, with a comment that says what and why: reads that were cancelled, that tell of the
replica itself, or whose limit lets the replica choose; copies to files; what was refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ...dataflow.arrangements.updates import Updates, concat_updates
from ...dataflow.plans.raising import raise_plan
from ...messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Command,
    CreateDataflow,
    CreateInstance,
    Hello,
    InitializationComplete,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from ...messages.dataflows import (
    BuildDesc,
    CopyTo,
    IndexImport,
    MaterializedView,
    RelationDataflow,
    RenderDataflow,
    Subscribe,
)
from ...messages.errors import PillionError
from ...messages.frontiers import Frontier, Timestamp
from ...messages.functions import functions_in
from ...messages.ids import GlobalId, PeekId
from ...messages.responses import Frontiers, PeekResponse, Response, Status, SubscribeBatch, SubscribeResponse
from ...messages.types import Schema
from ..peeks.blocks import updates_of
from ..replay.events import Event, Heard, Sent, Stored
from ..replay.peeks import show_peek
from ..scripts.values import Row, show_row, sort_key
from ..storage.messages import AppendRows, CommitTables, CreateTableShard
from ..storage.shard import Shard, Timeline
from ..storage.transaction import draft_transaction
from ..worker.refusals import REFUSED
from .script_peeks import Readables, Unspeakable, peek_stanzas
from .stanzas import Stanzas, show, show_error


def script_of(events: Iterable[Event], name: str = "a log", *, trust: bool = False) -> str:
    """The text of a script that says to one replica what a log says.

    Args:
        events: of one replica.
        trust: run the Python functions in predicates of transactions.

    Raises:
        Unspeakable: the log has several replicas, or a view with a Python function.
        UntrustedFunctionError: a transaction has a Python function.
    """
    exporter = _Exporter(trust=trust)
    exporter.stanzas.comment(f"Exported from {name}.")
    for event in events:
        exporter.take(event)
    exporter.end()
    return exporter.stanzas.text()


@dataclass(slots=True, eq=False)
class _Subscription:
    schema: Schema
    as_of: Timestamp
    upper: Frontier
    parts: list[Updates] = field(default_factory=list[Updates])
    error: str | None = None


class _Exporter:
    def __init__(self, *, trust: bool) -> None:
        self.stanzas = Stanzas()
        self._trust = trust
        self._replica: str | None = None
        self._nonce: str | None = None
        self._timeline = Timeline(1)
        self._tables: dict[GlobalId, Shard] = {}
        self._sealed: dict[GlobalId, Timestamp] = {}
        """How far the script has sealed each shard."""
        self._readables = Readables()
        self._peeks: dict[PeekId, Peek] = {}
        self._subscriptions: dict[GlobalId, _Subscription] = {}
        self._frontiers: dict[GlobalId, Frontier] = {}
        self._dataflows = 0
        self._volatile: set[GlobalId] = set()
        self._absent: set[GlobalId] = set()
        """Exports of dataflows that were left out."""

    def take(self, event: Event) -> None:
        """The next event."""
        match event:
            case Sent(replica=replica, command=command):
                if self._replica not in (None, replica):
                    raise Unspeakable(
                        f"the log has commands to {self._replica} and to {replica}, and a script drives one replica: "
                        "keep one of them with `pillion log filter`"
                    )
                self._replica = replica
                self._command(command)
            case Stored(message=message):
                self._stored(message)
            case Heard(nonce=nonce, responses=responses):
                if nonce == self._nonce:
                    for response in responses:
                        self._response(response)
            case _:
                pass

    def end(self) -> None:
        """What the log ends with: how far everything has come."""
        self._await_subscriptions()
        for id, frontier in self._frontiers.items():
            if frontier is not None and id not in self._volatile | self._absent:
                self._seal()
                self.stanzas.add(f"await-frontier id={id} ts={frontier}")

    # --- Commands ------------------------------------------------------------------------------------------------

    def _command(self, command: Command) -> None:
        add = self.stanzas.add
        match command:
            case Hello(nonce):
                if self._nonce is not None:
                    self._await_subscriptions()
                    add("reconnect")
                self._nonce = nonce
                self._peeks.clear()
                self._frontiers.clear()
            case CreateInstance(config):
                self._volatile.update(logging.index for logging in config.logging)
                self.stanzas.instance(config)
            case InitializationComplete():
                add("initialization-complete")
            case UpdateConfiguration(updates):
                self.stanzas.settings(updates)
            case CreateDataflow(dataflow):
                self._create(dataflow)
            case Schedule(id) if id not in self._absent:
                add(f"schedule id={id}")
            case AllowWrites(id) if id not in self._absent:
                add(f"allow-writes id={id}")
            case AllowCompaction(id, frontier) if id not in self._absent:
                self._await_subscription(id)
                if frontier is None:
                    self._frontiers.pop(id, None)
                add(f"allow-compaction id={id} frontier={show(frontier)}")
            case Peek():
                self._peeks[command.uuid] = command
            case CancelPeek(uuid) if uuid in self._peeks:
                self.stanzas.comment(f"Left out, because it was to be cancelled: {show_peek(self._peeks.pop(uuid))}")
            case _:
                pass

    def _create(self, dataflow: RenderDataflow) -> None:
        if any(isinstance(sink.connection, CopyTo) for sink in dataflow.sink_exports):
            self._absent.update(dataflow.export_ids)
            self.stanzas.comment(f"Left out, because it writes a file: {dataflow.debug_name}")
            return
        function = next(functions_in(dataflow), None)
        if function is not None:
            raise Unspeakable(
                f"{dataflow.debug_name} uses the Python function {function.name}, which a script cannot hold; export "
                "the log in another format"
            )
        self._absent.difference_update(dataflow.export_ids)
        self._volatile.difference_update(dataflow.export_ids)
        if not self._volatile.isdisjoint(index.id for index in dataflow.index_imports):
            self._volatile.update(dataflow.export_ids)
        self._dataflows += 1
        self.stanzas.dataflow(f"dataflow-{self._dataflows}", raise_dataflow(dataflow))
        for index in dataflow.index_exports:
            schema = dataflow.schema_of(index.on)
            self._readables.indexes[index.id] = IndexImport(index.id, index.on, index.key, schema)
        for sink in dataflow.sink_exports:
            schema = dataflow.schema_of(sink.on)
            match sink.connection:
                case MaterializedView(shard):
                    self._readables.sinks[shard] = sink.id
                    self._readables.shards.setdefault(shard, schema)
                case Subscribe():
                    self._subscriptions[sink.id] = _Subscription(schema, dataflow.as_of, dataflow.as_of)
                case CopyTo():
                    pass

    # --- Data ----------------------------------------------------------------------------------------------------

    def _stored(self, message: object) -> None:
        match message:
            case CreateTableShard(shard=id):
                self._tables[id] = Shard(
                    id, message.schema, name=message.name, key=message.key, timeline=self._timeline
                )
                self._readables.shards[id] = message.schema
                self._sealed[id] = 0
            case CommitTables(timestamp=time, changes=changes):
                try:
                    changed, _ = draft_transaction(self._tables, changes, time, trust=self._trust)
                except PillionError as error:
                    if next(functions_in(changes), None) is not None and not self._trust:
                        raise
                    self.stanzas.comment(f"Left out, because it was refused: the transaction at {time}: {error}")
                    changed = {}
                for id, updates in changed.items():
                    table = self._tables[id]
                    table.append(updates, None, time + 1)
                    self._write(id, table.schema, time, updates)
                self._timeline.upper = time + 1
            case AppendRows(shard=id, schema=schema, updates=updates, upper=upper):
                self._readables.shards.setdefault(id, schema)
                times = np.unique(updates.times) if len(updates) else np.empty(0, np.int64)
                for time in times.tolist():
                    self._write(id, schema, time, updates.filter(updates.times == time))
                if self._sealed.get(id, 0) < upper:
                    self._write(id, schema, upper - 1, None)
            case _:
                pass

    def _write(self, shard: GlobalId, schema: Schema, time: Timestamp, updates: Updates | None) -> None:
        self.stanzas.write(shard, schema, time, updates)
        self._sealed[shard] = time + 1

    def _seal(self) -> None:
        """Something is about to wait: let no table be behind the others."""
        upper = self._timeline.upper
        for id, table in self._tables.items():
            if self._sealed[id] < upper:
                self._write(id, table.schema, upper - 1, None)

    # --- Answers -------------------------------------------------------------------------------------------------

    def _response(self, response: Response) -> None:
        match response:
            case PeekResponse(uuid, result) if uuid in self._peeks:
                peek = self._peeks.pop(uuid)
                self._seal()
                try:
                    if peek.target.id in self._volatile:
                        raise Unspeakable("it tells of the replica itself")
                    peek_stanzas(self.stanzas, self._readables, peek, result)
                except Unspeakable as why:
                    self.stanzas.comment(f"Left out, because {why}: {show_peek(peek)}")
            case Frontiers(id=id, output=output) if output is not None and id in self._readables.indexes:
                self._frontiers[id] = output[0]
            case SubscribeResponse(id=id, result=SubscribeBatch() as batch) if id in self._subscriptions:
                subscription = self._subscriptions[id]
                subscription.upper = batch.upper
                subscription.error = subscription.error or batch.error
                if batch.updates.num_rows:
                    subscription.parts.append(updates_of(batch.updates, subscription.schema))
            case Status(kind=kind, details=details) if kind == REFUSED:
                self.stanzas.refused(str(details.get("message")))
            case _:
                pass

    def _await_subscriptions(self) -> None:
        for id in list(self._subscriptions):
            self._await_subscription(id)

    def _await_subscription(self, id: GlobalId) -> None:
        """Before a subscription ends: what it has told."""
        subscription = self._subscriptions.pop(id, None)
        if subscription is None or subscription.upper == subscription.as_of:
            return
        self._seal()
        updates = concat_updates(subscription.parts).consolidate() if subscription.parts else None
        upper = subscription.upper
        if upper is None:
            last = int(updates.times.max()) if updates is not None and len(updates) else subscription.as_of
            upper = last + 1
        expected = show_error(subscription.error) if subscription.error is not None else _show_updates(updates)
        self.stanzas.add(f"await-subscribe id={id} up-to={upper}", (), expected)


def raise_dataflow(dataflow: RenderDataflow) -> RelationDataflow:
    """A dataflow as somebody could have written it."""
    indexed = {index.id: index.on for index in dataflow.index_imports}
    objects = tuple(BuildDesc(b.id, raise_plan(b.plan, indexed), b.schema) for b in dataflow.objects_to_build)
    return RelationDataflow(
        debug_name=dataflow.debug_name,
        source_imports=dataflow.source_imports,
        index_imports=dataflow.index_imports,
        objects_to_build=objects,
        index_exports=dataflow.index_exports,
        sink_exports=dataflow.sink_exports,
        as_of=dataflow.as_of,
        until=dataflow.until,
    )


def _show_updates(updates: Updates | None) -> list[str]:
    """As ``await-subscribe`` prints them."""
    if updates is None:
        return []
    told = cast(list[tuple[Row, int, int]], updates.to_tuples())
    ordered = sorted(told, key=lambda update: (update[1], update[2], sort_key(update[0])))
    return [f"{time} {diff} {show_row(row)}".rstrip() for row, time, diff in ordered]
