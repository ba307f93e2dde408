"""A system in a simulation: its actors, started one by one, so that the line to its replica can break."""

from __future__ import annotations

import random

from pillion.actors.controller.controller import Controller
from pillion.actors.controller.messages import AddReplica
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.metrics.figures import Lookups
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.storage.storage import Storage
from pillion.actors.system.connection import Connection
from pillion.messages.frontiers import less_equal
from tests.actor.two_runtimes import actor_of, check_invariants

from .line import LaggingSchedule, Line

REPLICA = "r"


class SimulatedSystem:
    """One controller, one storage, and one replica behind a line."""

    def __init__(self, seed: int, *, workers: int, interactive: bool) -> None:
        self.schedule = LaggingSchedule(seed)
        self.dispatcher = SimulatedDispatcher(seed, schedule=self.schedule, keep_trace=False)
        storage = self.dispatcher.start(Storage)
        self.controller = self.dispatcher.start(Controller, storage)
        self.replica = Replica.start(self.dispatcher, storage, workers, interactive=interactive)
        self.line = self.dispatcher.start(Line, self.replica.endpoint, REPLICA)
        self.controller.tell(
            AddReplica(REPLICA, self.line, workers=self.replica.workers, interactive=interactive or None)
        )
        self.connection = Connection(self.dispatcher, self.controller, Lookups())
        self._workers = [actor_of(ref) for ref in (*self.replica.workers, *self.replica.interactive)]

    def deliver(self, most: int) -> None:
        """Deliver so many messages, or fewer when there are no more."""
        for _ in range(most):
            if self.dispatcher.quiet:
                return
            self.dispatcher.step()
            self.check_step()

    def settle(self) -> None:
        """Deliver all messages, without letting time pass."""
        while not self.dispatcher.quiet:
            self.deliver(1000)

    def check_step(self) -> None:
        """What holds after every message."""
        if self.dispatcher.failure is not None:
            raise self.dispatcher.failure

    def check(self) -> None:
        """What holds at any moment between messages."""
        check_invariants(self.replica)
        for worker in self._workers:
            for trace in worker.state.published.values():
                publication = trace.publication
                assert publication is not None and publication.standing_hold is not None
                hold = publication.standing_hold.time
                assert less_equal(publication.snapshot.since, hold), f"{trace.id} is compacted past its standing hold"

    def check_nothing_waits(self) -> None:
        """What holds when there is no message, no time to wait for, and no stalled worker."""
        for worker in self._workers:
            state = worker.state
            assert not state.peeks, f"peeks wait for nothing: {state.peeks}"
            assert not state.queued_peeks and not state.scans and not state.early and not state.ready

    def check_nothing_left(self) -> None:
        """What holds once all collections of the application are dropped, and compaction had its time."""
        for worker in self._workers:
            state = worker.state
            left = [dataflow.description.debug_name for dataflow in state.dataflows.values() if not dataflow.is_logging]
            assert not left, f"dataflows are left: {left}"
            assert all(id.namespace != "u" and not id.is_transient for id in (*state.collections, *state.peers))
            assert all(id.namespace != "u" and not id.is_transient for id, _ in (*state.bundles, *state.published))

    def lag(self, rng: random.Random) -> None:
        """Let another worker fall behind, or none."""
        self.schedule.lagging = {rng.choice(self._workers)} if rng.random() < 0.8 else set()
