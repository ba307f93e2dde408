"""The worker actor: hears commands in the order of ``docs/protocol.md``, and the messages that its work depends on.

A handler ends by telling what it has to say, and by sending itself a :class:`Turn` when something is left to do; so
long work and messages alternate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pykka

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
from ...messages.dataflows import DataflowClass
from ...messages.errors import PillionError, ProtocolError
from ...messages.frontiers import MINIMUM, Timestamp
from ...messages.ids import GlobalId
from ..dispatch.base import SystemActor
from ..introspection.distant import DistantIntrospection
from ..introspection.log import Introspection
from ..metrics.system import SystemMetrics
from ..process.memory import Memory
from ..process.threads import WorkerThread
from ..registry.messages import Bound, Released
from ..settings import IDLE_SECONDS
from ..storage.messages import Appended, ShardChanges, ShardRead, ShardSnapshot, SnapshotRefused, UpperMismatch
from .appends import Appends
from .counters import COMMANDS_REFUSED, read_counters
from .dataflows import Dataflows
from .feeds import Feeds
from .link import Link
from .memory import LOOK_EVERY, MemoryWatch
from .messages import (
    Barrier,
    BarrierReached,
    Exchanged,
    Idle,
    Impatient,
    Introspect,
    Joined,
    LookAtMemory,
    OpenPublication,
    ReadCounters,
    Sealed,
    SinkPart,
    Turn,
)
from .peeks import Peeks
from .peers import Peers
from .placement import Placement
from .process_globals import ProcessGlobals, apply_settings, withdraw_settings
from .publishing import Publishing
from .reconciliation import Reconciler
from .refusals import refusal_of
from .state import ComputeState
from .stepping import Stepping

_FEW_ROWS = 10_000
"""A commit with no more of them is soon done."""
_LONG_TURN = 0.02
"""Seconds: where one turn took longer, the next one may as well."""


class Worker(SystemActor):
    """One worker of a runtime.

    Args:
        worker: its index, from 0.
        placement: the role of its runtime.
        process_globals: whether it applies the settings of which the process has one value.
        trust: load the Python functions in plans, which runs code of whoever sent them.
        metrics: where it shows what it measures.
        memory: that of its process, of which it tells when it is too much; None: it is not looked at.
        registry: where the two runtimes of a process meet; None when there is one.
    """

    handlers: ClassVar = {
        Hello: "hello",
        CreateInstance: "command",
        InitializationComplete: "initialization_complete",
        UpdateConfiguration: "command",
        CreateDataflow: "command",
        Schedule: "command",
        AllowWrites: "command",
        AllowCompaction: "command",
        Peek: "peek",
        CancelPeek: "command",
        ShardChanges: "changes",
        ShardSnapshot: "snapshot",
        SnapshotRefused: "snapshot_refused",
        ShardRead: "shard_read",
        Appended: "append_answered",
        UpperMismatch: "append_answered",
        Exchanged: "exchanged",
        SinkPart: "exchanged",
        Turn: "turn",
        Idle: "idle",
        LookAtMemory: "look_at_memory",
        Joined: "joined",
        Bound: "bound",
        Sealed: "sealed",
        Released: "released",
        Introspect: "introspect",
        Impatient: "impatient",
        Barrier: "barrier",
        OpenPublication: "open_publication",
        ReadCounters: "read_counters",
    }

    def __init__(
        self,
        worker: int,
        storage: pykka.ActorRef[Any],
        *,
        placement: Placement = Placement.SOLO,
        process_globals: ProcessGlobals = ProcessGlobals.APPLY,
        trust: bool = False,
        metrics: SystemMetrics | None = None,
        memory: Memory | None = None,
        registry: pykka.ActorRef[Any] | None = None,
    ) -> None:
        super().__init__(worker=worker)
        self._process_globals = process_globals
        self.state = ComputeState(worker, placement)
        metrics = metrics or SystemMetrics()
        metrics.add_worker(self.state)
        clock = self.services.clock
        self._link = Link(self.state, self.actor_ref, storage)
        self._feeds = Feeds(self.state, self._link)
        self._appends = Appends(self._link)
        self._peeks = Peeks(self.state, self._link, trust, clock)
        self._stepping = Stepping(self.state, self._link, self._peeks, clock)
        self._peers = Peers(self.state, self._link, self._stepping, registry, trust)
        self._publishing = Publishing(self.state, self._link, registry)
        self._dataflows = Dataflows(
            self.state,
            self._link,
            self._feeds,
            self._appends,
            self._stepping,
            self._peers,
            self._publishing,
            trust,
        )
        self._reconciler = Reconciler(self.state, self._dataflows, self._peers, self._stepping)
        renders = placement.renders(DataflowClass.MAINTAINED)
        keep = self._dataflows.render if renders else self._peers.record
        self._introspection = Introspection(self.state, keep, self._stepping.run, clock.now, metrics)
        self._distant = DistantIntrospection(self.state, self._peers, self._link, self.after)
        self._commands: dict[type, Callable[[Any], None]] = {
            CreateInstance: self._create_instance,
            UpdateConfiguration: self._update_configuration,
            CreateDataflow: self._create_dataflow,
            Schedule: self._dataflows.schedule,
            AllowWrites: self._dataflows.allow_writes,
            AllowCompaction: self._dataflows.allow_compaction,
            Peek: self._peek,
            CancelPeek: self._peeks.cancel,
        }
        tells = process_globals is ProcessGlobals.APPLY and worker == 0
        self._memory = MemoryWatch(self.state, self._link, memory if tells else None)
        self._thread: WorkerThread | None = None
        """None until all settings are known: a nice value can be raised later, not lowered."""
        self._turn_is_coming = False
        self._idle_is_coming = False
        self._busy_until = clock.now()
        self._latest: Timestamp = MINIMUM
        """The latest time of which changes were heard."""

    def takes_little(self, message: Any) -> bool:
        if message.__class__ is ShardChanges:
            return sum([len(chunk.oks) for _, chunk in message.chunks if chunk.oks is not None]) <= _FEW_ROWS
        if message.__class__ is Exchanged:
            return message.chunk.oks is None or len(message.chunk.oks) <= _FEW_ROWS
        if message.__class__ is Idle:
            return self._busy_until > self.services.clock.now()
        return message.__class__ is Peek or message.__class__ is LookAtMemory

    # --- Commands ---

    def hello(self, command: Hello) -> None:
        self._peeks.forget()
        self._reconciler.begin(command.nonce)
        self._finish()

    def initialization_complete(self, command: InitializationComplete) -> None:
        self._reconciler.complete(self._handle)
        self._memory.connected()
        self._look_at_memory()
        if self._thread is None:
            self._thread = WorkerThread(self.dispatcher.thread_of(self), self.log.warning)
            self._apply_process_settings()
        self._stepping.turn()
        self._finish()

    def command(self, command: Command) -> None:
        if self.state.replay is not None:
            self.state.replay.append(command)
            return
        self._handle(command)
        self._finish()

    def peek(self, command: Peek) -> None:
        if self.state.replay is not None:
            self.state.replay.append(command)
            return
        self._peek(command)
        self._finish()

    def _handle(self, command: Command) -> None:
        """Do what a command says, or refuse it: then it has changed nothing."""
        try:
            self._commands[command.__class__](command)
        except PillionError as error:
            if not self._tells_of(command):
                return
            name = type(command).__name__
            self.state.counters[COMMANDS_REFUSED] += 1
            refused = error if isinstance(error, ProtocolError) else ProtocolError(str(error))
            # Every worker refuses it alike: one tells.
            if self.state.worker == 0:
                self.log.info("refused a command", command=name, reason=str(error))
                self._link.respond(refusal_of(name, refused))

    def _tells_of(self, command: Command) -> bool:
        """Whether it is this runtime that tells when a command is refused, which both do alike."""
        placement = self.state.placement
        if isinstance(command, CreateDataflow):
            return placement.renders(command.dataflow.dataflow_class)
        return placement.renders(DataflowClass.MAINTAINED)

    def _create_instance(self, command: CreateInstance) -> None:
        if self.state.config is not None:
            raise ProtocolError("the instance is created already; a new connection may create it again")
        self._introspection.create(command.config)

    def _update_configuration(self, command: UpdateConfiguration) -> None:
        problems = self.state.settings.update(command.updates)
        if self.state.worker == 0:
            for problem in problems:
                self.log.warning("ignored a setting", problem=problem)
        self._apply_process_settings()

    def _apply_process_settings(self) -> None:
        if self._process_globals is ProcessGlobals.APPLY and self.state.worker == 0:
            reads_apart = self.state.placement is Placement.MAINTENANCE
            apply_settings(self.actor_urn, self.state.settings, reads_apart=reads_apart)

        if self._thread is not None:
            fellows = len(self._link.fellows)
            self._thread.settle(self.state.placement, self.state.worker, fellows, self.state.settings)
            self._memory.configured()
            self._look_at_memory()

    def _create_dataflow(self, command: CreateDataflow) -> None:
        for index in command.dataflow.index_imports:
            self._introspect(index.id, command.dataflow.as_of)
        self._dataflows.create(command)

    def _peek(self, command: Peek) -> None:
        id = command.target.id
        if self._introspection.indexes:
            self._introspect(id, command.timestamp)
        if not self.state.bundles:
            self._peeks.peek(command)
            return
        self._peers.refresh(id)
        self._peeks.peek(command)
        if id in self.state.queued_peeks:
            self._peers.awaited(id)

    def _introspect(self, id: GlobalId, time: Timestamp) -> None:
        """Whoever reads an introspection relation sees the state at this moment."""
        if id in self._introspection.indexes:
            if self.state.placement is Placement.INTERACTIVE:
                self._distant.read(id, time)
            else:
                self._introspection.advance(time)

    # --- From the storage ---

    def changes(self, message: ShardChanges) -> None:
        for running in self._feeds.changes(message):
            self._stepping.activate(running)
        upper = message.chunks[-1][1].upper
        if upper is not None and upper > self._latest:
            self._latest = upper - 1
        self._work()

    def snapshot(self, message: ShardSnapshot) -> None:
        rows = message.chunk.oks
        if rows is not None and len(rows) > _FEW_ROWS:
            self._introspection.expect_long_work()
        running = self._feeds.snapshot(message)
        if running is not None:
            self._stepping.activate(running)
        self._work()

    def snapshot_refused(self, message: SnapshotRefused) -> None:
        running = self._feeds.refused(message)
        if running is not None:
            self._stepping.activate(running)
        self._work()

    def shard_read(self, message: ShardRead) -> None:
        self._peeks.shard_read(message)
        self._finish()

    def append_answered(self, message: Appended | UpperMismatch) -> None:
        self._appends.answered(message)
        self._finish()

    # --- From fellow workers and from itself ---

    def exchanged(self, message: Exchanged | SinkPart) -> None:
        self._dataflows.exchanged(message)
        self._work()

    def turn(self, message: Turn) -> None:
        self._turn_is_coming = False
        self._peeks.slice()
        self._work()

    def idle(self, message: Idle) -> None:
        """Once nothing has happened for a while: merge what is left to merge, and let readers of introspection see
        what has become."""
        rest = self._busy_until - self.services.clock.now()
        if rest > 0:
            self.after(rest, message)
            return
        if self._stepping.tidy():
            self.tell_self(message)
            return
        self._idle_is_coming = False
        if any(running.is_logging and running.importers for running in self.state.dataflows.values()):
            self._introspection.advance(self._latest)
        self._finish()

    # --- From the other runtime ---

    def bound(self, message: Bound) -> None:
        self._peers.bound(message)
        self._finish()

    def sealed(self, message: Sealed) -> None:
        self._peers.sealed(message)
        self._finish()

    def released(self, message: Released) -> None:
        self._publishing.released(message)
        self._dataflows.release_unused()
        self._finish()

    def introspect(self, message: Introspect) -> None:
        self._introspection.advance(message.time)
        self._finish()

    def impatient(self, message: Impatient) -> None:
        self._distant.impatient(message)
        self._finish()

    # --- Wiring, and for tests ---

    def joined(self, message: Joined) -> None:
        self._link.multiplexer = message.multiplexer
        self._link.fellows = message.workers
        self._link.sibling = message.sibling
        self._apply_process_settings()

    def on_stop(self) -> None:
        withdraw_settings(self.actor_urn)

    def barrier(self, message: Barrier) -> None:
        self._finish()
        assert self._link.multiplexer is not None, "barriers come from the multiplexer"
        self._link.multiplexer.tell(BarrierReached(message))

    def open_publication(self, message: OpenPublication) -> None:
        trace = self.state.traces.get(message.id)
        if trace is None or message.id not in self.state.collections:
            message.reply.refuse(ProtocolError("this worker maintains no index with this id", message.id))
        else:
            message.reply.resolve(trace.publish())

    def read_counters(self, message: ReadCounters) -> dict[str, int]:
        return read_counters(self.state)

    def look_at_memory(self, message: LookAtMemory) -> None:
        self._look_at_memory()
        self._finish()

    def _look_at_memory(self) -> None:
        if self._memory.look(self.services.clock.now()):
            self.after(LOOK_EVERY, LookAtMemory())

    def _work(self) -> None:
        """A turn of maintenance; afterwards the worker is idle unless more comes."""
        now = self.services.clock.now
        began = now()
        self._stepping.turn()
        ended = now()
        if ended - began > _LONG_TURN and self.state.ready:
            self._introspection.expect_long_work()
        self._look_at_memory()
        idle_after = self.state.settings.get(IDLE_SECONDS)
        self._busy_until = ended + idle_after
        if not self._idle_is_coming:
            self._idle_is_coming = True
            self.after(idle_after, Idle())
        self._finish()

    def _finish(self) -> None:
        """The end of every handler."""
        self._link.flush()
        if (self.state.ready or self.state.scans) and not self._turn_is_coming:
            self._turn_is_coming = True
            self.tell_self(Turn())
