"""Answering peeks: lookups at once, scans in slices, and those whose time is not sealed when it is.

Invariant: every peek that was taken is answered exactly once, or forgotten together with its connection.
"""

from __future__ import annotations

import heapq

from ...dataflow.arrangements.snapshot import NegativeMultiplicity
from ...dataflow.arrangements.trace import Trace
from ...dataflow.columns.column import Column, column_from_values
from ...dataflow.scalars.mfp import MfpProgram
from ...messages.commands import CancelPeek, Peek, ShardTarget
from ...messages.errors import NotReadableError, PillionError
from ...messages.frontiers import is_beyond, is_sealed
from ...messages.ids import GlobalId
from ...messages.plans import MapFilterProject
from ...messages.responses import Canceled, PeekError, PeekResponse, PeekResult
from ...messages.scalars import Literal
from ...messages.types import ColumnType, SqlType
from ..dispatch.services import Clock
from ..peeks.builder import PeekResultBuilder
from ..settings import MAX_RESULT_SIZE, SCAN_SLICE, STASH_THRESHOLD
from ..storage.messages import CancelRead, ReadShard, ShardRead
from .counters import PEEKS_ANSWERED
from .link import Link
from .state import ComputeState, PeekState, PendingPeek

_PROGRAMS = 256
"""So many compiled map/filter/projects are remembered."""


class Peeks:
    """The commands about peeks."""

    def __init__(self, state: ComputeState, link: Link, trust: bool, clock: Clock) -> None:
        self._state = state
        self._link = link
        self._trust = trust
        self._now = clock.now
        self._began = clock.now()
        """Since when the present peek is worked on, had it been without pause."""
        self._programs: dict[tuple[MapFilterProject, tuple[SqlType, ...]], MfpProgram] = {}

    def peek(self, peek: Peek) -> None:
        """Answer a peek, or begin to."""
        self._began = self._now()
        target = peek.target
        if isinstance(target, ShardTarget):
            self._read_shard(peek, target.id)
            return
        trace = self._state.traces.get(target.id)
        if trace is None:
            self._answer(peek, PeekError(f"{target.id}: there is no index with this id to peek"))
            return
        if is_beyond(trace.since, peek.timestamp):
            self._answer(peek, PeekError(str(NotReadableError(target.id, peek.timestamp, trace.since))))
            return
        upper = trace.upper
        if upper is not None and upper <= peek.timestamp:
            pending = PendingPeek(peek, PeekState.QUEUED)
            self._state.peeks[peek.uuid] = pending
            heapq.heappush(self._state.queued_peeks.setdefault(target.id, []), pending)
            return
        self._read(peek, trace)

    def cancel(self, command: CancelPeek) -> None:
        """Answer a peek with ``Canceled``, unless it is answered already."""
        pending = self._withdraw(command.uuid)
        if pending is not None:
            self._began = self._now() - pending.worked
            self._respond(pending.peek, Canceled())

    def forget(self) -> None:
        """Drop every peek without an answer: the connection that asked is gone."""
        for uuid in list(self._state.peeks):
            self._withdraw(uuid)

    def sealed(self, id: GlobalId) -> None:
        """An index moved: answer the peeks that waited for what it has sealed."""
        waiting = self._state.queued_peeks[id]
        upper = self._state.traces[id].upper
        while waiting and is_sealed(upper, waiting[0].peek.timestamp):
            pending = heapq.heappop(waiting)
            del self._state.peeks[pending.peek.uuid]
            self.peek(pending.peek)
        if not waiting:
            del self._state.queued_peeks[id]

    def index_dropped(self, id: GlobalId) -> None:
        """An index is gone: the peeks that wait for it wait in vain."""
        self._began = self._now()
        for pending in self._state.queued_peeks.pop(id, ()):
            self._answer(pending.peek, PeekError(f"{id}: the index was dropped while the peek waited for it"))

    def slice(self) -> None:
        """Read on for the scan whose turn it is."""
        scans = self._state.scans
        if scans:
            pending = scans.popleft()
            self._began = self._now() - pending.worked
            if not self._go_on(pending):
                scans.append(pending)

    def shard_read(self, message: ShardRead) -> None:
        """Take what the storage read for a peek."""
        pending = self._state.peeks.get(message.token)
        if pending is None or pending.state is not PeekState.READING_SHARD:
            return
        self._began = self._now()
        peek = pending.peek
        if message.error is not None:
            self._answer(peek, PeekError(message.error))
            return
        updates = message.updates
        # The rows say of what types they are; without rows there is nothing to compute either.
        builder = self._new_builder(peek, None) if updates is None else self._builder(peek, updates.types)
        if isinstance(builder, PeekError):
            self._answer(peek, builder)
            return
        if updates is not None:
            builder.add(updates)
        self._answer(peek, builder.result())

    def _read_shard(self, peek: Peek, shard: GlobalId) -> None:
        if peek.literal_constraints is not None:
            self._answer(peek, PeekError(f"{shard}: a shard has no key to look up; filter instead"))
            return
        self._state.peeks[peek.uuid] = PendingPeek(peek, PeekState.READING_SHARD)
        worker, workers = self._state.worker, len(self._link.fellows)
        self._link.storage.tell(ReadShard(shard, peek.uuid, peek.timestamp, worker, workers, self._link.own))

    def _read(self, peek: Peek, trace: Trace) -> None:
        """Read an index that is sealed at the peek's time."""
        snapshot = trace.snapshot()
        message = snapshot.error_at(peek.timestamp)
        if message is not None:
            self._answer(peek, PeekError(message))
            return
        builder = self._builder(peek, trace.types)
        if isinstance(builder, PeekError):
            self._answer(peek, builder)
            return
        constraints = peek.literal_constraints
        if constraints is None:
            pending = PendingPeek(peek, PeekState.SCANNING, snapshot.scan(peek.timestamp), builder)
            # A scan that others are ahead of waits; most are over with their first slice.
            if self._state.scans or not self._go_on(pending):
                self._state.peeks[peek.uuid] = pending
                self._state.scans.append(pending)
            return
        try:
            found = snapshot.lookup(_key_columns(constraints, trace), peek.timestamp) if constraints else None
        except (NegativeMultiplicity, _WrongKey) as error:
            self._answer(peek, PeekError(str(error)))
            return
        if found is not None:
            builder.add(found)
        self._answer(peek, builder.result())

    def _go_on(self, pending: PendingPeek) -> bool:
        """Read one slice; whether the peek is answered."""
        scan, builder = pending.scan, pending.builder
        assert scan is not None and builder is not None, "only scans go on"
        try:
            found = scan.step(self._state.settings.get(SCAN_SLICE))
        except NegativeMultiplicity as error:
            self._answer(pending.peek, PeekError(str(error)))
            return True
        enough = found is not None and builder.add(found)
        if not enough and not scan.done:
            pending.worked = self._now() - self._began
            return False
        self._answer(pending.peek, builder.result())
        return True

    def _builder(self, peek: Peek, types: tuple[SqlType, ...]) -> PeekResultBuilder | PeekError:
        program = None
        if peek.map_filter_project is not None and not peek.map_filter_project.is_identity:
            try:
                program = self._program(peek.map_filter_project, types)
            except PillionError as error:
                return PeekError(str(error))
        return self._new_builder(peek, program)

    def _new_builder(self, peek: Peek, program: MfpProgram | None) -> PeekResultBuilder:
        settings = self._state.settings
        return PeekResultBuilder(peek, program, settings.get(MAX_RESULT_SIZE), settings.get(STASH_THRESHOLD))

    def _program(self, mfp: MapFilterProject, types: tuple[SqlType, ...]) -> MfpProgram:
        key = (mfp, types)
        program = self._programs.get(key)
        if program is None:
            if len(self._programs) >= _PROGRAMS:
                self._programs.clear()
            program = self._programs[key] = MfpProgram(mfp, [ColumnType(type) for type in types], trust=self._trust)
        return program

    def _answer(self, peek: Peek, result: PeekResult) -> None:
        self._state.peeks.pop(peek.uuid, None)
        self._respond(peek, result)

    def _respond(self, peek: Peek, result: PeekResult) -> None:
        self._state.counters[PEEKS_ANSWERED] += 1
        now = self._now()
        self._link.respond(PeekResponse(peek.uuid, result, self._age(peek, now)), worked=now - self._began)

    def _age(self, peek: Peek, now: float) -> float | None:
        """How old the state is that a relation of the other runtime tells, when it tells of something that is."""
        peer = self._state.peers.get(peek.target.id)
        if peer is None or peer.bundle is None or peer.bundle.arrangement.publication is None:
            return None
        recorded_at = peer.bundle.arrangement.publication.recorded_at
        return None if recorded_at is None else max(0.0, now - recorded_at)

    def _withdraw(self, uuid: str) -> PendingPeek | None:
        """Stop working on a peek."""
        state = self._state
        pending = state.peeks.pop(uuid, None)
        if pending is None:
            return None
        target = pending.peek.target
        match pending.state:
            case PeekState.QUEUED:
                waiting = state.queued_peeks[target.id]
                waiting.remove(pending)
                heapq.heapify(waiting)
                if not waiting:
                    del state.queued_peeks[target.id]
            case PeekState.SCANNING:
                state.scans.remove(pending)
            case PeekState.READING_SHARD:
                self._link.storage.tell(CancelRead(uuid, self._link.own))
        return pending


class _WrongKey(Exception):
    """Literal constraints that do not fit the key of the index."""


def _key_columns(constraints: tuple[tuple[Literal, ...], ...], trace: Trace) -> tuple[Column, ...]:
    """The keys to look up, each once, side by side."""
    types = trace.key_types
    for key in constraints:
        if len(key) != len(types):
            raise _WrongKey(
                f"{trace.id}: a key of this index has {len(types)} columns, but {len(key)} values were given"
            )
    if len(constraints) == 1:
        rows = [tuple([literal.value for literal in constraints[0]])]
    else:
        rows = list(dict.fromkeys(tuple([literal.value for literal in key]) for key in constraints))
    try:
        return tuple([column_from_values([row[i] for row in rows], type) for i, type in enumerate(types)])
    except (TypeError, ValueError, OverflowError) as error:
        raise _WrongKey(f"{trace.id}: {error}, in a key of types {', '.join(types)}") from None
