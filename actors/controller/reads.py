"""Reads that are under way: each gets exactly one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...messages.commands import (
    AllowCompaction,
    CancelPeek,
    Command,
    CreateDataflow,
    Finishing,
    IndexTarget,
    Peek,
    Schedule,
    ShardTarget,
)
from ...messages.dataflows import CopyTo
from ...messages.errors import CollectionError, PillionError
from ...messages.frontiers import Timestamp, is_sealed, show_frontier
from ...messages.ids import GlobalId, PeekId
from ...messages.plans import MapFilterProject
from ...messages.responses import (
    Canceled as PeekCanceled,
)
from ...messages.responses import (
    Copied,
    CopyError,
    CopyToResponse,
    PeekError,
    PeekResponse,
    Rows,
    Stashed,
)
from ...messages.types import Schema
from ..dispatch.base import Timer
from ..dispatch.oneshot import OneShot
from ..errors import Canceled, ReadTimeout, RejectedData, UnknownCollection
from ..requests import CopyRelation, PeekIndex, Query, Read, ReadResult, WaitUntilReadable
from ..settings import ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS
from ..storage.messages import CommitTables
from .fast_path import Keys, peek_plan
from .planning import at, imports_of, query_dataflow, sink_dataflow
from .state import ControllerState


class TimedOut:
    """To the controller itself: this read has taken too long."""

    __slots__ = ("read",)

    def __init__(self, read: OutstandingRead) -> None:
        self.read = read


@dataclass(slots=True, eq=False)
class OutstandingRead:
    """A read that was sent and not answered.

    Attributes:
        holds: what is kept readable for it.
        peek: what was sent; None for a copy.
        transient: the export of the dataflow that lives for this read, if there is one.
    """

    token: PeekId
    reply: OneShot[Any]
    timestamp: Timestamp
    schema: Schema
    holds: tuple[GlobalId, ...]
    peek: Peek | None = None
    transient: GlobalId | None = None
    timeout: float = 0.0
    timer: Timer | None = field(default=None)


class Reads:
    """All outstanding reads of an application.

    Args:
        fresh: makes names for peeks.
        after: sends the controller a message later.
    """

    def __init__(
        self, state: ControllerState, fresh: Callable[[], str], after: Callable[[float, object], Timer]
    ) -> None:
        self._state = state
        self._fresh = fresh
        self._after = after
        self._outstanding: dict[PeekId, OutstandingRead] = {}
        self._copies: dict[GlobalId, OutstandingRead] = {}
        self._waits: list[tuple[GlobalId, Timestamp, OneShot[Any], Any]] = []

    # --- Choosing the time ---------------------------------------------------------------------------------------

    def select(self, read: Read, ids: tuple[GlobalId, ...]) -> Timestamp:
        """The time at which a read of these collections happens.

        Raises:
            NotReadableError, NotYetReadable: not at the ``as_of`` asked for.
            ReplicaDown: there is nobody to read it, and may not be for long.
        """
        state = self._state
        if state.down is not None:
            raise state.down
        if state.introspection and not state.introspection.isdisjoint(ids) and read.as_of is None:
            return self._select_fresh(ids)
        return state.select(read.isolation, read.as_of, ids)

    def _select_fresh(self, ids: tuple[GlobalId, ...]) -> Timestamp:
        """The time for a read of introspection: one that no reader has sealed, so that it tells the present state."""
        state = self._state
        told = [state.upper(id) for id in ids if id in state.introspection]
        fresh = max([upper for upper in told if upper is not None], default=0)
        if all(id in state.introspection for id in ids):
            return max(fresh, state.since(ids))
        # Together with tables it must be a time of theirs: a transaction without changes makes one.
        time = state.oracle.advance(fresh)
        state.storage.tell(CommitTables(time, (), OneShot()))
        return time

    # --- Peeks ---------------------------------------------------------------------------------------------------

    def peek_index(self, request: PeekIndex) -> None:
        info = self._state.catalog.get(request.index)
        self._state.readable(request.index)
        keys = request.keys
        if keys is not None and any(len(key) != len(info.key) for key in keys):
            wrong = next(key for key in keys if len(key) != len(info.key))
            raise RejectedData(info.name, f"its key has {len(info.key)} parts, the key given {len(wrong)}")
        schema = info.schema if request.schema is None else request.schema
        self._peek(request, IndexTarget(request.index), keys, request.map_filter_project, request.finishing, schema)

    def query(self, request: Query) -> None:
        state = self._state
        state.catalog.uses(request.relation)
        plan = peek_plan(request.relation, state.catalog)
        if plan is not None:
            self._peek(request, plan.target, plan.keys, plan.mfp, request.finishing, request.schema)
            return
        index = state.transient_id()
        dataflow = query_dataflow(
            state.catalog, request.relation, request.schema, object_id=state.transient_id(), index=index
        )
        imports = imports_of(dataflow)
        time = self.select(request, imports)
        token = self._fresh()
        read = self._register(request, token, time, request.schema, imports, index)
        read.peek = Peek(token, IndexTarget(index), time, request.schema, finishing=request.finishing)
        # Decided here, once, so that both runtimes of a replica, and every replay, agree on who renders it.
        one_shot = state.settings.get(ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS)
        state.send(CreateDataflow(at(dataflow, time, time + 1, one_shot_reads=one_shot)))
        state.send(Schedule(index))
        state.tell(read.peek)

    def _peek(
        self,
        request: Read,
        target: IndexTarget | ShardTarget,
        keys: Keys | None,
        mfp: MapFilterProject | None,
        finishing: Finishing,
        schema: Schema,
    ) -> None:
        ids = (target.id,)
        time = self.select(request, ids)
        token = self._fresh()
        read = self._register(request, token, time, schema, ids)
        read.peek = Peek(token, target, time, schema, keys, mfp, finishing)
        self._state.tell(read.peek)

    def _register(
        self,
        request: Read,
        token: PeekId,
        time: Timestamp,
        schema: Schema,
        holds: tuple[GlobalId, ...],
        transient: GlobalId | None = None,
    ) -> OutstandingRead:
        read = OutstandingRead(token, request.reply, time, schema, holds, transient=transient)
        self._outstanding[token] = read
        self._state.hold(token, holds, time)
        if request.timeout is not None:
            read.timeout = request.timeout
            read.timer = self._after(request.timeout, TimedOut(read))
        return read

    def answered(self, response: PeekResponse) -> None:
        """Pass an answer on; one that nobody waits for any more is dropped."""
        read = self._outstanding.get(response.uuid)
        if read is None:
            return
        self._end(read)
        match response.result:
            case Rows(block):
                read.reply.resolve(ReadResult(read.timestamp, read.schema, (block,), response.age))
            case Stashed(parts):
                read.reply.resolve(ReadResult(read.timestamp, read.schema, parts, response.age))
            case PeekError(message):
                id = read.transient or read.holds[0]
                read.reply.refuse(CollectionError(id, read.timestamp, message, self._called(read, id)))
            case PeekCanceled():
                read.reply.refuse(Canceled())

    def _called(self, read: OutstandingRead, id: GlobalId) -> str:
        """What an error says that it is in: the application knows no ids."""
        if read.transient:
            return "the query"
        called = self._state.catalog.name(id)
        name = "what was dropped" if called is None else repr(called)
        # The row program may fail over rows that are fine.
        return name if read.peek is None or read.peek.map_filter_project is None else f"the query of {name}"

    def resend(self, send: Callable[[Command], None]) -> None:
        """Ask a replica for everything that is still wanted: it has forgotten it."""
        for read in self._outstanding.values():
            if read.peek is not None:
                send(read.peek)

    # --- Copies --------------------------------------------------------------------------------------------------

    def copy(self, request: CopyRelation) -> None:
        state = self._state
        state.catalog.uses(request.relation)
        sink = state.transient_id()
        dataflow = sink_dataflow(
            state.catalog,
            f"copy to {request.path}",
            request.relation,
            request.schema,
            object_id=state.transient_id(),
            sink=sink,
            connection=CopyTo(request.path),
        )
        imports = imports_of(dataflow)
        time = self.select(request, imports)
        read = self._register(request, self._fresh(), time, request.schema, imports, sink)
        self._copies[sink] = read
        state.send(CreateDataflow(at(dataflow, time, time + 1)))
        state.send(Schedule(sink))

    def copied(self, response: CopyToResponse) -> None:
        read = self._copies.get(response.id)
        if read is None:
            return
        self._end(read)
        match response.result:
            case Copied(rows):
                read.reply.resolve(rows)
            case CopyError(message):
                read.reply.refuse(CollectionError(response.id, read.timestamp, message, "the copy"))
            case _:
                read.reply.refuse(Canceled())

    # --- Waiting -------------------------------------------------------------------------------------------------

    def wait_until_readable(self, request: WaitUntilReadable) -> None:
        self._state.readable(request.id)
        time = self._state.oracle.latest if request.timestamp is None else request.timestamp
        self.wait(request.id, time, request.reply, None)

    def wait(self, id: GlobalId, time: Timestamp, reply: OneShot[Any], answer: Any) -> None:
        """Resolve ``reply`` when the collection is sealed at ``time``: with ``answer``, or with its upper if None."""
        if self._state.down is not None:
            reply.refuse(self._state.down)
            return
        self._waits.append((id, time, reply, answer))
        self.advanced()

    def advanced(self) -> None:
        """Some frontiers have advanced."""
        if not self._waits:
            return
        waiting: list[tuple[GlobalId, Timestamp, OneShot[Any], Any]] = []
        for wait in self._waits:
            id, time, reply, answer = wait
            upper = self._state.upper(id)
            if id not in self._state.readables or self._state.readables[id].dropped:
                reply.refuse(UnknownCollection(id))
            elif is_sealed(upper, time):
                reply.resolve(upper if answer is None else answer)
            else:
                waiting.append(wait)
        self._waits = waiting

    # --- Ending --------------------------------------------------------------------------------------------------

    def cancel(self, request: OneShot[Any]) -> None:
        """Withdraw whatever waits for this reply."""
        for read in list(self._outstanding.values()):
            if read.reply is request:
                self._withdraw(read)
                request.refuse(Canceled())
        if any(wait[2] is request for wait in self._waits):
            self._waits = [wait for wait in self._waits if wait[2] is not request]
            request.refuse(Canceled())

    def refuse_all(self, error: PillionError) -> None:
        """Nobody is there who could answer."""
        for read in list(self._outstanding.values()):
            self._end(read)
            read.reply.refuse(error)
        waits, self._waits = self._waits, []
        for _, _, reply, _ in waits:
            reply.refuse(error)

    def timed_out(self, message: TimedOut) -> None:
        read = message.read
        if self._outstanding.get(read.token) is not read:
            return
        waiting_for = ", ".join(f"{id} is at {show_frontier(self._state.upper(id))}" for id in read.holds)
        self._withdraw(read)
        read.reply.refuse(ReadTimeout(read.timeout, f"reading at {read.timestamp}: {waiting_for}"))

    def _withdraw(self, read: OutstandingRead) -> None:
        if read.peek is not None:
            self._state.tell(CancelPeek(read.token))
        self._end(read)

    def _end(self, read: OutstandingRead) -> None:
        del self._outstanding[read.token]
        self._state.release(read.token, read.holds)
        if read.transient is not None:
            self._copies.pop(read.transient, None)
            self._state.send(AllowCompaction(read.transient, None))
        if read.timer is not None:
            read.timer.cancel()
