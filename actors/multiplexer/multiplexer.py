"""The controller endpoint of a process.

It passes every command on to every worker, in order, and makes one stream of responses out of theirs. What a worker
answers on an older connection is dropped: each answer names the connection (the nonce of the last ``Hello`` that the
worker had handled).

With two runtimes both hear every command, in one order; only a peek, and its cancellation, goes to one of them. Of
every collection one runtime reports, the one that renders it, so their responses are merged as if they came from one.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from ...messages.dataflows import Subscribe
from ...messages.frontiers import MINIMUM, Frontier, is_sealed
from ...messages.ids import GlobalId, Nonce, PeekId
from ...messages.responses import Canceled, Frontiers, PeekResponse, PeekResult, Response, SubscribeResponse
from ..controller.messages import Connect, FromReplica
from ..dispatch.base import SystemActor
from ..metrics.figures import PeekFigures
from ..metrics.system import SystemMetrics
from ..peeks.union import unite
from ..settings import MAX_RESULT_SIZE, PEEK_ROUTING, STASH_THRESHOLD, PeekRouting, Settings
from ..worker.messages import Barrier, BarrierReached, DataflowNumber, FromWorker, Joined, Tagged
from ..worker.placement import Placement
from ..worker.refusals import refusal
from .frontiers import FrontierMerge
from .subscribes import SubscribeMerge

Incarnation = tuple[GlobalId, DataflowNumber]


@dataclass(frozen=True, slots=True, eq=False)
class _Runtime:
    """The workers of a runtime in order, and what is measured of the peeks that it answers."""

    workers: tuple[pykka.ActorRef[Any], ...]
    figures: PeekFigures


class _OutstandingPeek:
    """A peek and the workers' answers so far.

    Attributes:
        runtime: which answers it.
        since: when it came.
        worked: the most seconds that a worker spent on it.
        age: of the oldest state that a worker read, in seconds.
    """

    __slots__ = ("age", "missing", "peek", "results", "runtime", "since", "worked")

    def __init__(self, peek: Peek, runtime: _Runtime, since: float) -> None:
        self.peek = peek
        self.runtime = runtime
        self.age: float | None = None
        self.results: list[PeekResult | None] = [None] * len(runtime.workers)
        self.missing = len(runtime.workers)
        self.since = since
        self.worked = 0.0


class Multiplexer(SystemActor):
    """Broadcasts commands, merges responses."""

    is_brief: ClassVar = True

    handlers: ClassVar = {
        Hello: "hello",
        CreateInstance: "create_instance",
        InitializationComplete: "broadcast",
        UpdateConfiguration: "update_configuration",
        CreateDataflow: "create_dataflow",
        Schedule: "broadcast",
        AllowWrites: "broadcast",
        AllowCompaction: "broadcast",
        Peek: "peek",
        CancelPeek: "cancel_peek",
        FromWorker: "from_worker",
        Connect: "connect",
        Barrier: "barrier",
        BarrierReached: "barrier_reached",
    }

    def __init__(
        self,
        workers: tuple[pykka.ActorRef[Any], ...],
        metrics: SystemMetrics | None = None,
        *,
        interactive: tuple[pykka.ActorRef[Any], ...] = (),
    ) -> None:
        """
        Args:
            workers: in order of their index: of the only runtime, or of the one that maintains.
            metrics: where it shows what it measures.
            interactive: the workers of the runtime that reads, if there is one.
        """
        super().__init__()
        shown = metrics or SystemMetrics()
        placement = Placement.MAINTENANCE if interactive else Placement.SOLO
        self._maintenance = _Runtime(workers, shown.peeks(placement))
        self._interactive: _Runtime | None = None
        if interactive:
            assert len(interactive) == len(workers), "a worker reads what the one of the same number maintains"
            self._interactive = _Runtime(interactive, shown.peeks(Placement.INTERACTIVE))
        self._workers = workers
        self._all = workers + interactive
        self._controller: pykka.ActorRef[Any] | None = None
        self._replica = ""
        self._nonce: Nonce = ""
        self._settings = Settings()
        self._peeks: dict[PeekId, _OutstandingPeek] = {}
        self._frontiers: dict[Incarnation, FrontierMerge] = {}
        self._subscribes: dict[Incarnation, SubscribeMerge] = {}
        self._uppers: dict[GlobalId, Frontier] = {}
        """The write frontiers that were told on this connection: a hint which runtime can answer at once."""
        self._introspection: set[GlobalId] = set()
        self._dataflows: DataflowNumber = 0
        self._barriers: dict[Barrier, int] = {}

    # --- Wiring ---

    def on_start(self) -> None:
        # Told by the one who sends the commands, so that it comes before all of them.
        for worker in self._workers:
            worker.tell(Joined(self.actor_ref, self._workers))
        if self._interactive is not None:
            readers = self._interactive.workers
            for worker, sibling in zip(readers, self._workers, strict=True):
                worker.tell(Joined(self.actor_ref, readers, sibling))

    def connect(self, message: Connect) -> None:
        self._controller = message.controller
        self._replica = message.replica

    # --- Commands ---

    def hello(self, command: Hello) -> None:
        self._nonce = command.nonce
        self._peeks.clear()
        self._frontiers.clear()
        self._subscribes.clear()
        self._uppers.clear()
        self.broadcast(command)

    def broadcast(self, command: Command | Barrier) -> None:
        for worker in self._all:
            worker.tell(command)

    def create_instance(self, command: CreateInstance) -> None:
        self._introspection = {logging.index for logging in command.config.logging}
        self.broadcast(command)

    def update_configuration(self, command: UpdateConfiguration) -> None:
        # The workers log what is wrong with it.
        self._settings.update(command.updates)
        self.broadcast(command)

    def create_dataflow(self, command: CreateDataflow) -> None:
        dataflow = command.dataflow
        if len(self._workers) > 1:
            for sink in dataflow.sink_exports:
                if isinstance(sink.connection, Subscribe):
                    merge = SubscribeMerge(sink.id, dataflow.schema_of(sink.on), dataflow.as_of, len(self._workers))
                    self._subscribes[sink.id, self._dataflows] = merge
        self._dataflows += 1
        self.broadcast(command)

    def peek(self, command: Peek) -> None:
        if command.uuid in self._peeks:
            self._tell(refusal("peek", f"peek {command.uuid} is outstanding already: every peek has its own uuid"))
            return
        runtime = self._route(command)
        self._peeks[command.uuid] = _OutstandingPeek(command, runtime, self.services.clock.now())
        for worker in runtime.workers:
            worker.tell(command)

    def cancel_peek(self, command: CancelPeek) -> None:
        outstanding = self._peeks.get(command.uuid)
        if outstanding is not None:
            for worker in outstanding.runtime.workers:
                worker.tell(command)

    def _route(self, peek: Peek) -> _Runtime:
        """The runtime that answers a peek. Either would give the same answer, but for the index of a query, which the
        interactive runtime alone has when it rendered the query, and can always read."""
        interactive = self._interactive
        if interactive is None:
            return self._maintenance
        id = peek.target.id
        routing = self._settings.get(PEEK_ROUTING)
        if id.is_transient or routing is PeekRouting.INTERACTIVE:
            return interactive
        if routing is PeekRouting.MAINTENANCE:
            return self._maintenance
        # Introspection is not sealed before it is read; only the interactive runtime reads it without waiting for long.
        answers_at_once = id in self._introspection or is_sealed(self._uppers.get(id, MINIMUM), peek.timestamp)
        return interactive if answers_at_once else self._maintenance

    # --- Responses ---

    def from_worker(self, message: FromWorker) -> None:
        if message.nonce != self._nonce:
            return
        merged: list[Response] = []
        for tagged in message.responses:
            self._merge(message.worker, tagged, merged)
        if merged:
            self._tell(*merged)

    def _merge(self, worker: int, tagged: Tagged, merged: list[Response]) -> None:
        """Append what a worker's response changes for the whole replica."""
        response = tagged.response
        match response:
            case PeekResponse():
                answer = self._merge_peek(worker, response, tagged.worked)
                if answer is not None:
                    merged.append(answer)
            case Frontiers():
                moved = self._merge_frontiers(worker, tagged.incarnation, response)
                if moved is not None:
                    merged.append(moved)
                    self._remember(moved)
            case SubscribeResponse() if len(self._workers) > 1:
                merged += self._merge_subscribe(worker, tagged.incarnation, response)
            case _:
                # One worker speaks for all: the only one, or the one that owns a sink or tells of a refusal.
                merged.append(response)

    def _remember(self, moved: Frontiers) -> None:
        if self._interactive is None or moved.write is None or moved.id.is_transient:
            return
        (upper,) = moved.write
        if upper is None:
            # It ended or was dropped; of neither there need be a trace here for ever.
            self._uppers.pop(moved.id, None)
        else:
            self._uppers[moved.id] = upper

    def _merge_peek(self, worker: int, response: PeekResponse, worked: float) -> PeekResponse | None:
        outstanding = self._peeks[response.uuid]
        outstanding.results[worker] = response.result
        outstanding.missing -= 1
        if response.age is not None:
            outstanding.age = max(outstanding.age or 0.0, response.age)
        outstanding.worked = max(outstanding.worked, worked)
        if outstanding.missing:
            return None
        del self._peeks[response.uuid]
        peek = outstanding.peek
        united = unite(
            [result for result in outstanding.results if result is not None],
            peek.finishing,
            peek.result,
            self._settings.get(MAX_RESULT_SIZE),
            self._settings.get(STASH_THRESHOLD),
        )
        if not isinstance(united, Canceled):
            outstanding.runtime.figures.answered(self.services.clock.now() - outstanding.since, outstanding.worked)
        return PeekResponse(response.uuid, united, outstanding.age)

    def _merge_frontiers(self, worker: int, incarnation: DataflowNumber, response: Frontiers) -> Frontiers | None:
        if len(self._workers) == 1:
            return response
        key = (response.id, incarnation)
        merge = self._frontiers.get(key)
        if merge is None:
            merge = self._frontiers[key] = FrontierMerge(response.id, len(self._workers))
        merged = merge.absorb(worker, response)
        if merge.is_finished:
            del self._frontiers[key]
        return merged

    def _merge_subscribe(
        self, worker: int, incarnation: DataflowNumber, response: SubscribeResponse
    ) -> list[SubscribeResponse]:
        key = (response.id, incarnation)
        merge = self._subscribes[key]
        merged = merge.absorb(worker, response)
        if merge.is_finished:
            del self._subscribes[key]
        return merged

    def _tell(self, *responses: Response) -> None:
        if self._controller is not None:
            self._controller.tell(FromReplica(self._replica, self._nonce, responses))

    # --- Barriers ---

    def barrier(self, message: Barrier) -> None:
        self._barriers[message] = len(self._all)
        self.broadcast(message)

    def barrier_reached(self, message: BarrierReached) -> None:
        barrier = message.barrier
        self._barriers[barrier] -= 1
        if not self._barriers[barrier]:
            del self._barriers[barrier]
            barrier.reply.resolve(None)
