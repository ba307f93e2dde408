"""Turns: running dataflows for a while, then telling what came of it."""

from __future__ import annotations

from collections import deque

from ...messages.frontiers import less_equal
from ...messages.ids import GlobalId
from ..dispatch.services import Clock
from ..settings import IDLE_SLICE, INTERACTIVE_STEP_ROWS, TURN_SECONDS, TURN_STEPS
from .link import Link
from .messages import Exchanged
from .peeks import Peeks
from .placement import Placement
from .state import Collection, ComputeState, RunningDataflow


class Stepping:
    """Gives dataflows that have work their turns.

    A turn runs operators to completion, one after the other, until time is up; then whatever else the worker was sent
    comes first. On the interactive runtime an operator that has much to do stops in the middle. A dataflow that came to
    rest is *settled*: its sinks take what it produced, its frontiers are reported, and the peeks that waited for it are
    looked at again.
    """

    def __init__(self, state: ComputeState, link: Link, peeks: Peeks, clock: Clock) -> None:
        self._state = state
        self._link = link
        self._peeks = peeks
        self._clock = clock
        self._visits: deque[RunningDataflow] = deque()
        """The dataflows that are still to be tidied."""

    def now(self) -> float:
        return self._clock.now()

    def activate(self, running: RunningDataflow) -> None:
        """A dataflow may have work."""
        if not running.is_active and running.scheduled_at is not None:
            running.is_active = True
            if running.is_logging:
                # It has little to do, and who asks how hydration is coming along must not wait for it.
                self._state.ready.appendleft(running)
            else:
                self._state.ready.append(running)

    def run(self, running: RunningDataflow) -> None:
        """Run a dataflow until it comes to rest, before all others. For those that have little to do."""
        while running.dataflow.step():
            self._send(running)
        self._settle(running)

    def deactivate(self, running: RunningDataflow) -> None:
        """A dataflow was dropped."""
        if running.is_active:
            running.is_active = False
            self._state.ready.remove(running)

    def index_sealed(self, id: GlobalId) -> None:
        """An index of the other runtime moved, for which peeks wait: answer those of them that need not wait on."""
        self._peeks.sealed(id)

    def index_dropped(self, id: GlobalId) -> None:
        """Nobody will read an index any more: answer those who wait for it."""
        self._peeks.index_dropped(id)

    def turn(self) -> None:
        """Run dataflows until nothing is ready or the turn is over."""
        ready, state = self._state.ready, self._state
        if not ready:
            return
        # Whoever maintains gains nothing by stopping in the middle; whoever answers reads must not be long.
        fuel = state.settings.get(INTERACTIVE_STEP_ROWS) if state.placement is Placement.INTERACTIVE else None
        clock = self._clock
        now = clock.now()
        end = now + state.settings.get(TURN_SECONDS)
        for _ in range(state.settings.get(TURN_STEPS)):
            running = ready[0]
            progressed = running.dataflow.step(fuel)
            if running.dataflow.outbox:
                self._send(running)
            if not progressed:
                ready.popleft()
                running.is_active = False
                self._settle(running)
                if not ready:
                    return
            began, now = now, clock.now()
            if progressed:
                state.figures.steps.add(now - began)
            if now >= end:
                break
        # The next turn begins with another one, so that no dataflow waits for all of another's work.
        ready.rotate(-1)

    def tidy(self) -> bool:
        """Merge what is left to merge while nobody waits, for one turn; whether there is more to do. Every dataflow is
        visited until it is tidy; the next visits begin with the next call after that."""
        state, visits = self._state, self._visits
        if not visits:
            visits.extend(state.dataflows.values())
        fuel = state.settings.get(IDLE_SLICE)
        end = self._clock.now() + state.settings.get(TURN_SECONDS)
        while visits:
            running = visits[0]
            if running.number not in state.dataflows or not running.dataflow.maintain(fuel):
                visits.popleft()
            if self._clock.now() >= end:
                return bool(visits)
        return False

    def _send(self, running: RunningDataflow) -> None:
        outbox = running.dataflow.outbox
        own = self._state.worker
        for peer, channel, chunk in outbox:
            self._link.fellows[peer].tell(Exchanged(running.number, channel, own, chunk))
        outbox.clear()

    def _settle(self, running: RunningDataflow) -> None:
        dataflow = running.dataflow
        input_upper = dataflow.input_upper()
        for collection in running.exports.values():
            self._settle_export(collection, input_upper)
        if running.hydrated_after is None:
            as_of = running.description.as_of
            if all(not less_equal(dataflow.upper(id), as_of) for id in running.exports):
                assert running.scheduled_at is not None
                running.hydrated_after = self._clock.now() - running.scheduled_at
        for importer in running.importers:
            self.activate(importer)

    def _settle_export(self, collection: Collection, input_upper: int | None) -> None:
        id, running, sink = collection.id, collection.running, collection.sink
        output = running.dataflow.upper(id)
        if sink is None:
            write = self._state.traces[id].upper
            if id in self._state.queued_peeks:
                self._peeks.sealed(id)
        else:
            chunks = running.dataflow.sinks[id].chunks
            while chunks:
                sink.absorb(chunks.popleft())
            if not sink.reports_frontiers:
                return
            write = sink.write_frontier
        moved = collection.reported.report(write, input_upper, output)
        if moved is not None:
            self._link.respond(moved, running.number)
