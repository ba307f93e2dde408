"""The controller actor: hears the application and the replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import pykka

from ...messages.commands import CreateInstance, Hello, InitializationComplete, InstanceConfig
from ...messages.errors import PillionError
from ...messages.responses import CopyToResponse, Frontiers, PeekResponse, Status, SubscribeResponse
from ..dispatch.base import SystemActor
from ..introspection.relations import RELATIONS, IntrospectionRelation
from ..journal.messages import Dropped, Durable, JournalFailed, TablesPublished
from ..process.memory import OVER_LIMIT, Memory
from ..requests import (
    Cancel,
    Commit,
    Configure,
    CopyRelation,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    Explain,
    Explained,
    HoldRead,
    ListCollections,
    OpenReader,
    PeekIndex,
    Query,
    ReaderOpened,
    ReadSettings,
    ReleaseRead,
    Request,
    SetReadPolicy,
    SubscribeTo,
    Unsubscribe,
    WaitUntilReadable,
)
from ..storage.messages import CommitTables, ResumeTables
from ..storage.pending import answer
from .catalog_changes import CatalogChanges, Prepared
from .configuration import Configuration
from .definitions import Creation, Definitions, Planned
from .explanation import explain
from .held_reads import HeldReads
from .memory import MemoryGuard
from .messages import (
    AddReplica,
    CompactNow,
    Connect,
    FromReplica,
    ReplicaLost,
    ReplicaUnavailable,
    ResumeCollections,
)
from .reads import Reads, TimedOut
from .replica import ReplicaState
from .state import ControllerState
from .subscriptions import Subscriptions

COMPACT_AFTER = 0.1
"""Seconds: so often, and only while time advances, collections are allowed to compact."""


class Controller(SystemActor):
    """Decides what the replicas compute, at which times reads happen, and what may be forgotten.

    Args:
        storage: the storage actor.
        introspection: the relations about a replica that can be read.
        memory: that of this process.
    """

    is_brief: ClassVar = True

    handlers: ClassVar = {
        Commit: "commit",
        PeekIndex: "answer_later",
        Query: "answer_later",
        CopyRelation: "answer_later",
        WaitUntilReadable: "answer_later",
        CreateTable: "answer_later",
        CreateView: "answer_later",
        CreateIndex: "answer_later",
        CreateMaterializedView: "answer_later",
        Drop: "answer_later",
        SetReadPolicy: "answer",
        ListCollections: "answer",
        SubscribeTo: "answer",
        Unsubscribe: "answer",
        HoldRead: "answer",
        ReleaseRead: "answer",
        OpenReader: "answer",
        Explain: "answer",
        Configure: "answer",
        ReadSettings: "answer",
        Cancel: "cancel",
        FromReplica: "from_replica",
        AddReplica: "add_replica",
        ReplicaLost: "replica_lost",
        ReplicaUnavailable: "replica_unavailable",
        TimedOut: "timed_out",
        CompactNow: "compact",
        ResumeCollections: "resume",
        TablesPublished: "published",
        Durable: "durable",
        JournalFailed: "journal_failed",
    }

    def __init__(
        self,
        storage: pykka.ActorRef[Any],
        *,
        introspection: Iterable[IntrospectionRelation] = tuple(RELATIONS.values()),
        memory: Memory | None = None,
    ) -> None:
        super().__init__()
        self._compaction_is_coming = False
        self._state = state = ControllerState(storage, self._compact_later)
        self._definitions = Definitions(state, introspection)
        self._reads = Reads(state, self.services.ids.fresh, self.after)
        self._subscriptions = Subscriptions(state, self._reads)
        self._configuration = Configuration(state, self.log)
        self._changes = CatalogChanges()
        self._memory = MemoryGuard(state, memory or Memory())
        held = HeldReads(state, self.services.ids.fresh)
        self._answers: dict[type, Callable[[Any], Any]] = {
            PeekIndex: self._reads.peek_index,
            Query: self._reads.query,
            CopyRelation: self._reads.copy,
            WaitUntilReadable: self._reads.wait_until_readable,
            CreateTable: self._create,
            CreateView: self._create,
            CreateIndex: self._create,
            CreateMaterializedView: self._create,
            Drop: self._drop,
            SetReadPolicy: self._definitions.set_read_policy,
            ListCollections: self._list_collections,
            SubscribeTo: self._subscriptions.subscribe,
            Unsubscribe: self._unsubscribe,
            HoldRead: held.hold,
            ReleaseRead: held.release,
            OpenReader: self._open_reader,
            Explain: self._explain,
            Configure: self._configuration.configure,
            ReadSettings: self._configuration.read,
        }
        state.send(CreateInstance(InstanceConfig(logging=tuple(self._definitions.logging))))

    # --- The application -----------------------------------------------------------------------------------------

    def commit(self, request: Commit) -> None:
        """The storage answers."""
        try:
            self._memory.check(request)
        except PillionError as error:
            request.reply.refuse(error)
            return
        state = self._state
        state.storage.tell(CommitTables(state.oracle.advance(), request.changes, request.reply))
        self._compact_later()

    def answer(self, request: Request) -> None:
        """Requests that are answered at once."""
        try:
            result = self._answers[request.__class__](request)
        except PillionError as error:
            request.reply.refuse(error)
        else:
            request.reply.resolve(result)

    def answer_later(self, request: Request) -> None:
        """Requests whose answer comes later, or from somebody else."""
        try:
            self._answers[request.__class__](request)
        except PillionError as error:
            request.reply.refuse(error)

    def cancel(self, request: Cancel) -> None:
        self._reads.cancel(request.request)

    def timed_out(self, message: TimedOut) -> None:
        self._reads.timed_out(message)

    def _open_reader(self, request: OpenReader) -> ReaderOpened:
        state, id = self._state, request.index
        readable = state.readable(id)
        # Introspection is sealed by reading it.
        near = [] if id in state.introspection else [r.workers for r in state.replicas.values() if r.workers]
        return ReaderOpened(state.oracle, readable, near[0] if near else ())

    def _create(self, request: Creation) -> None:
        self._changes.submit(request.reply, lambda: self._prepare(request))

    def _prepare(self, request: Creation) -> Prepared:
        if isinstance(request, CreateIndex | CreateMaterializedView):
            self._memory.check(request)
        planned = self._definitions.define(request)
        return Prepared(planned.defined, lambda: self._created(request, planned))

    def _created(self, request: Creation, planned: Planned) -> None:
        if isinstance(request, CreateTable):
            self._definitions.create(planned, request.reply)
            return
        id = self._definitions.create(planned)
        if isinstance(request, CreateIndex | CreateMaterializedView) and request.wait:
            self._reads.wait(id, self._state.oracle.latest, request.reply, id)
        else:
            request.reply.resolve(id)

    def _drop(self, request: Drop) -> None:
        self._changes.submit(request.reply, lambda: self._prepare_drop(request))

    def _prepare_drop(self, request: Drop) -> Prepared:
        infos = self._definitions.to_drop(request)
        dropped = tuple(info.id for info in infos)

        def drop() -> None:
            self._definitions.drop(infos)
            self._subscriptions.dropped()
            self._reads.advanced()
            request.reply.resolve(dropped)

        return Prepared(Dropped(dropped), drop)

    def _list_collections(self, request: ListCollections) -> Any:
        return tuple(self._state.catalog)

    def _unsubscribe(self, request: Unsubscribe) -> None:
        self._subscriptions.unsubscribe(request.id)

    def _explain(self, request: Explain) -> Explained:
        return explain(self._state.catalog, request)

    # --- Replicas ------------------------------------------------------------------------------------------------

    def add_replica(self, message: AddReplica) -> None:
        replica = ReplicaState(message.replica, message.endpoint, message.workers)
        self._configuration.provisioned(replica, dict(message.overrides), message.interactive)
        self._state.replicas[message.replica] = replica
        self._connect(replica)

    def replica_lost(self, message: ReplicaLost) -> None:
        replica = self._state.replicas.get(message.replica)
        if replica is not None:
            self._configuration.runs(replica, message.interactive)
            self._connect(replica)

    def replica_unavailable(self, message: ReplicaUnavailable) -> None:
        replica = self._state.replicas.get(message.replica)
        if replica is None:
            return
        replica.unavailable = message.reason
        down = self._state.down
        if down is not None:
            self._reads.refuse_all(down)

    def _connect(self, replica: ReplicaState) -> None:
        """Tell a replica everything that it should be running, and ask again for what is outstanding."""
        replica.connected(self.services.ids.fresh())
        self._memory.connected(replica.name)
        replica.endpoint.tell(Connect(replica.name, self.actor_ref))
        replica.send(Hello(replica.nonce))
        self._state.history.reduce()
        for command in self._state.history:
            replica.send(command)
        self._configuration.connected(replica)
        replica.send(InitializationComplete())
        self._subscriptions.resume(replica)
        self._reads.resend(replica.send)

    def from_replica(self, message: FromReplica) -> None:
        replica = self._state.replicas.get(message.replica)
        if replica is None or message.nonce != replica.nonce:
            return
        advanced = False
        for response in message.responses:
            match response:
                case Frontiers():
                    advanced |= replica.report(response)
                case PeekResponse():
                    self._reads.answered(response)
                case SubscribeResponse():
                    self._subscriptions.heard(message.replica, response)
                case CopyToResponse():
                    self._reads.copied(response)
                case Status(kind=kind) if kind == OVER_LIMIT:
                    self._memory.heard(message.replica, response)
                case Status():
                    # A replica refuses nothing that a controller in order asks of it.
                    self.log.warning(response.kind, replica=message.replica, **response.details)
        if advanced:
            self._reads.advanced()
            self._compact_later()

    # --- The journal ---------------------------------------------------------------------------------------------

    def resume(self, message: ResumeCollections) -> None:
        self._state.resume(message.latest, message.next_id)
        # Before the tables are created: they have what they held from the beginning.
        self._state.storage.tell(ResumeTables(message.journal, self.actor_ref, message.latest, message.contents))
        self._definitions.restore(message.definitions)
        self._changes.use_journal(message.journal, self.actor_ref)

    def published(self, message: TablesPublished) -> None:
        # First this, so that whoever has an answer reads at its time or later.
        self._state.oracle.publish(message.latest)
        for reply, outcome in message.answers:
            answer(reply, outcome)
        self._reads.advanced()
        self._compact_later()

    def durable(self, message: Durable) -> None:
        self._changes.durable()

    def journal_failed(self, message: JournalFailed) -> None:
        self._changes.fail(message.error)

    # --- Compaction ----------------------------------------------------------------------------------------------

    def compact(self, message: CompactNow) -> None:
        self._compaction_is_coming = False
        self._state.compact()

    def _compact_later(self) -> None:
        if not self._compaction_is_coming:
            self._compaction_is_coming = True
            self.after(COMPACT_AFTER, CompactNow())
