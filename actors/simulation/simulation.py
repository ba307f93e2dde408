"""A system in a simulation: its actors, started one by one, so that the lines to its replicas can break."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from ..controller.controller import Controller
from ..dispatch.base import SystemActor
from ..dispatch.schedule import Delivery, ReseededSchedule, StallingSchedule, UniformSchedule
from ..dispatch.simulated import SimulatedDispatcher
from ..metrics.figures import Lookups
from ..storage.storage import Storage
from ..system.connection import Connection
from ..testing.probe import Probe
from ..worker.worker import Worker
from .invariants import Invariants
from .memory import DroppedMemory
from .replicas import ReplicaElsewhere, ReplicaHere, SimulatedReplica
from .rules import Rule, RuleBroken


class Simulation:
    """One controller, one storage and any number of replicas; the same arguments give the same run.

        simulation = Simulation(4711, interactive=True)
        reply = simulation.connection.send(lambda reply: CreateTable(name="t", schema=schema, reply=reply))
        simulation.run_until(lambda: reply.is_set)
        print([delivery.line() for delivery in simulation.trace])
        simulation.stop()

    After every message it is checked what :class:`~.invariants.Invariants` lists.

    Args:
        seed: of the schedule and of the services that actors get.
        workers: of each runtime of each replica.
        interactive: whether replicas have a second runtime.
        replicas: where each is: ``here`` or ``elsewhere``.
        schedule: what decides whose message is next; uniformly random by default.
        keep_trace: remember every message in ``trace``. It keeps alive what they refer to.
    """

    def __init__(
        self,
        seed: int,
        *,
        workers: int = 1,
        interactive: bool = False,
        replicas: Sequence[str] = ("here",),
        schedule: ReseededSchedule | None = None,
        keep_trace: bool = True,
    ) -> None:
        self.schedule = StallingSchedule(schedule or UniformSchedule(seed))
        self.dispatcher = SimulatedDispatcher(seed, schedule=self.schedule, keep_trace=keep_trace)
        self.storage = self.dispatcher.start(Storage)
        self.controller = self.dispatcher.start(Controller, self.storage)
        self.replicas: list[SimulatedReplica] = []
        for number, place in enumerate(replicas, 1):
            self._add_replica(f"r{number}", place, seed, workers, interactive)
        self.connection = Connection(self.dispatcher, self.controller, Lookups())
        self.invariants = Invariants(self.replicas, lambda: self.dispatcher.failure)
        self.dispatcher.observer = self.invariants.observe
        self.memory = DroppedMemory()
        self._keeps_trace = keep_trace

    def _add_replica(self, name: str, place: str, seed: int, workers: int, interactive: bool) -> None:
        here = (name, self.dispatcher, self.controller, self.storage)
        if place == "here":
            self.replicas.append(ReplicaHere(*here, workers, interactive=interactive))
        else:
            self.replicas.append(ReplicaElsewhere(*here, seed, workers, interactive=interactive))

    # --- Running -------------------------------------------------------------------------------------------------

    @property
    def trace(self) -> list[Delivery]:
        """Every message so far, in the order in which they were handled."""
        return self.dispatcher.trace

    def step(self) -> bool:
        """Deliver one message, or let time jump to the next timer. False when there is neither.

        Raises:
            RuleBroken: something does not hold after it.
        """
        return self.dispatcher.step()

    def run_until(self, predicate: Callable[[], bool], max_steps: int = 1_000_000) -> int:
        """Step until the predicate is true. Returns the number of steps.

        Raises:
            StepsExhausted, NeverAnswered: it does not become true.
            RuleBroken: something does not hold after a step.
        """
        return self.dispatcher.run_until(predicate, max_steps)

    def deliver(self, most: int) -> None:
        """Deliver so many messages, or fewer when there are no more."""
        for _ in range(most):
            if self.dispatcher.quiet:
                return
            self.dispatcher.step()

    def settle(self) -> None:
        """Deliver all messages. Time passes only as far as a lost replica needs to be there again."""
        self.dispatcher.run()
        while any(replica.running is None for replica in self.replicas):
            self.dispatcher.step()
            self.dispatcher.run()

    def probe(self) -> Probe:
        """An actor that only listens, to stand in another's place."""
        return Probe(self.dispatcher)

    def reseed(self, seed: int) -> None:
        """Let what is random from now on depend on this seed, whatever happened before."""
        self.schedule.reseed(seed)

    def stop(self) -> None:
        """Stop the actors."""
        self.dispatcher.observer = None
        self.dispatcher.stop()

    # --- Faults --------------------------------------------------------------------------------------------------

    @property
    def workers(self) -> list[Worker]:
        """Of all replicas."""
        return [worker for replica in self.replicas for worker in replica.workers]

    def stall(self, rng: random.Random) -> None:
        """Let another worker fall behind, or none: it handles nothing while anybody else has something to do."""
        workers = self.workers
        stalled: set[SystemActor] = {rng.choice(workers)} if workers and rng.random() < 0.8 else set()
        self.schedule.stalled = stalled

    # --- Checks at moments ---------------------------------------------------------------------------------------

    def check_nothing_waits(self) -> None:
        """Check what holds when there is no message, no time to wait for, and no stalled worker."""
        self.invariants.check_answered()
        for worker in self.workers:
            state = worker.state
            waits: dict[str, Any] = {
                "peeks": state.peeks,
                "queued peeks": state.queued_peeks,
                "scans": state.scans,
                "messages for dataflows that do not come": state.early,
                "dataflows that have work": state.ready,
            }
            for what, there in waits.items():
                if there:
                    raise RuleBroken(Rule.NOBODY_WAITS, f"nothing is left to happen, and there are {what}: {there}")

    def check_nothing_left(self) -> None:
        """Check what holds once all collections of the application are dropped, and compaction had its time."""
        for worker in self.workers:
            state = worker.state
            left = [each.description.debug_name for each in state.dataflows.values() if not each.is_logging]
            ids = [*state.collections, *state.peers, *(id for id, _ in (*state.bundles, *state.published))]
            left += [str(id) for id in ids if id.namespace == "u" or id.is_transient]
            if left:
                raise RuleBroken(Rule.NOTHING_LEFT, f"everything was dropped, and there are still {left}")
        if not self._keeps_trace:
            self.memory.check_free(self.workers)
