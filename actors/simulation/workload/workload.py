"""One run of the workload: actions in the order given, whatever order the messages take, and what comes of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from ...errors import SystemFailed
from ...requests import Configure, CreateTable
from ...settings import PEEK_ROUTING
from ..answers import expect
from ..model import TABLE
from ..replicas import ReplicaHere, SimulatedReplica
from ..rules import Rule, RuleBroken
from ..simulation import Simulation
from .actions import Action
from .following import Follows

PATIENCE = 5
"""Seconds that introspection may take."""

SETTINGS: dict[str, tuple[bool | int | str, ...]] = {
    "enable_compute_interactive_dataflows": (True, False),
    "enable_compute_interactive_runtime": (True, False),
    PEEK_ROUTING.name: ("interactive", "maintenance", "hinted"),
    "peek_scan_slice": (1, 3, 16384),
    "worker_turn_steps": (1, 1024),
    "interactive_step_rows": (1, 4, 65536),
    "peek_stash_threshold": (1, 1 << 24),
}
SYSTEM_WIDE = {"enable_compute_interactive_dataflows", "peek_stash_threshold"}


class Died(Exception):
    """A worker died. A fault of the simulation."""


class Workload(Follows):
    """What an application does with a system, and what happens to it.

    Attributes:
        died: whether a worker did, in the process of the system, so that all of it has failed.
        done: how many actions were begun.
    """

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self.died = False
        self.done = 0
        self._patience = PATIENCE
        self._kinds: dict[str, Callable[[], None]] = {
            "commit": self.commit,
            "peek": self.peek,
            "query": self.query,
            "lookup": self.lookup,
            "introspect": self.introspect,
            "wait": self.wait,
            "create table": self.create_table,
            "create view": self.create_view,
            "create index": self.create_index,
            "create materialized view": self.create_materialized_view,
            "drop": self.drop,
            "subscribe": self.subscribe,
            "unsubscribe": self.unsubscribe,
            "hold": self.hold,
            "release": self.release,
            "configure": self.configure,
            "elapse": self.elapse,
            "deliver": self.deliver,
            "settle": self.settle,
            "stall": self.stall,
            "disconnect": self.disconnect,
            "restart": self.restart,
            "cancel": self.cancel,
            "create-and-cancel": self.create_and_cancel,
            "die": self.die,
        }

    def run(self, actions: Sequence[Action], seed: int) -> None:
        """Do all of this; then everything is dropped. ``seed``: of what happens at the end.

        Raises:
            RuleBroken: an answer is not right, or something does not hold.
        """
        for action in actions:
            self.act(action)
            if self.died:
                return
        self._reseed(seed)
        self.end()

    def act(self, action: Action) -> None:
        """Do one thing, and check what came of it and of everything before."""
        self.done += 1
        self._reseed(action.seed)
        self._kinds[action.kind]()
        if self.died:
            return
        self.simulation.memory.look(self.simulation.workers)
        self.take_answers()

    def _reseed(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.simulation.reseed(seed)

    # --- What may happen -----------------------------------------------------------------------------------------

    def configure(self) -> None:
        """A setting changes, of a replica or of all."""
        name = self.rng.choice(list(SETTINGS))
        value = self.rng.choice([*SETTINGS[name], None])
        chosen = self.rng.choice(self.simulation.replicas).name
        replica = chosen if name not in SYSTEM_WIDE and self.rng.random() < 0.5 else None
        self.send(
            "configure",
            f"configure {name} = {value} of {replica}",
            Configure,
            self._none,
            updates=((name, value),),
            replica=replica,
        )

    def elapse(self) -> None:
        """Time passes, while messages are on their way."""
        seconds = self.rng.choice([0.02, 0.1, 1.0])
        self.journal.append(f"let {seconds} s pass")
        self.simulation.dispatcher.elapse(seconds)

    def deliver(self) -> None:
        """Some messages are delivered."""
        self.simulation.deliver(self.rng.randrange(80))

    def stall(self) -> None:
        """Another worker falls behind, or none."""
        self.simulation.stall(self.rng)

    def disconnect(self) -> None:
        """The connection to a replica breaks, and is made again; at times the controller only thinks so."""
        replica = self.rng.choice(self.simulation.replicas)
        self.journal.append(f"drop the connection to {replica.name}")
        self._doubt()
        if isinstance(replica, ReplicaHere) and self.rng.random() < 0.5:
            replica.reconnect()
        else:
            replica.drop()
        self._lost()

    def restart(self) -> None:
        """A replica loses everything that it has, and is connected again."""
        replica = self.rng.choice(self.simulation.replicas)
        self.journal.append(f"restart {replica.name}")
        self._doubt()
        replica.restart()
        self._lost()

    def create_and_cancel(self) -> None:
        """Something is made, and its maker says at once that it is not needed."""
        kind = self.rng.choice([self.query, self.create_index, self.create_materialized_view, self.subscribe])
        before = len(self._asked)
        there = {known.name for known in self.model.collections}
        kind()
        if len(self._asked) == before:
            return
        asked = self._asked[-1]
        if asked.kind == "query":
            self._cancel_one(asked)
            return
        # Its id comes with the answer; what follows from it may not have happened by then.
        self.simulation.run_until(lambda: asked.reply.is_set)
        self.take_answers()
        made = [known for known in self.model.collections if known.name not in there and known.id is not None]
        if made and not made[0].dropped:
            self._drop_one(made[0], cascade=True)
        elif asked.kind == "subscribe" and self._followed and self._followed[-1][1] is asked.reply:
            self._unsubscribe_one(*self._followed[-1])

    def die(self) -> None:
        """A worker dies, and with it its process: that of a replica elsewhere, or the system's own, which then fails as
        a whole."""
        replica = self.rng.choice(self.simulation.replicas)
        if replica.is_elsewhere:
            self.journal.append(f"a worker of {replica.name} dies")
            self._doubt()
            replica.restart()
            self._lost()
        elif self.rng.random() < 0.1:
            self.journal.append(f"a worker of {replica.name} dies, and with it the system")
            self._fail(replica)

    def _fail(self, replica: SimulatedReplica) -> None:
        self.died = True
        simulation, death = self.simulation, Died("a worker")
        simulation.dispatcher.observer = None
        simulation.dispatcher.fail(self.rng.choice(replica.workers), death)
        for asked in self._asked:
            expect(asked.reply.is_set, f"{asked.what}: not refused, though the system failed")
            try:
                asked.reply.get()
            except Died:
                self.checked["failed"] += 1
            except Exception as error:
                # It was refused before.
                expect(not isinstance(error, SystemFailed), f"{asked.what}: refused with {error!r}, not with its cause")
        try:
            simulation.connection.send(lambda reply: CreateTable(name="late", schema=TABLE, reply=reply))
        except SystemFailed as error:
            expect(error.__cause__ is death, f"what failed the system is not told: {error}")
        else:
            expect(False, "a system that failed takes requests")

    def _doubt(self) -> None:
        for followed in self._subscribed:
            followed.resumed = True

    def _lost(self) -> None:
        """What waits from now on may be refused, where a replica is elsewhere: nobody may reach it for a while."""
        if self._elsewhere:
            self.may_be_down = True
            for asked in self._asked:
                asked.may_be_down = True

    # --- The end -------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everything happen that can happen: then nobody waits."""
        self.simulation.settle()
        self.take_answers()
        while self._patience and self._awaits_introspection():
            # A worker that did not know of it yet when it was asked is asked again after a while.
            self._patience -= 1
            self.simulation.dispatcher.elapse(1.0)
            self.simulation.settle()
            self.take_answers()
        self._patience = PATIENCE
        if self._asked:
            raise RuleBroken(Rule.NOBODY_WAITS, f"never answered: {[asked.what for asked in self._asked]}")
        self.simulation.check_nothing_waits()

    def _awaits_introspection(self) -> bool:
        if self._asked:
            return all(asked.kind == "introspect" for asked in self._asked)
        # One replica has answered; the other still looks.
        return self.simulation.invariants.has_unanswered

    def end(self) -> None:
        """End what is followed, release what is held, drop everything: then nothing is left.

        Raises:
            RuleBroken: something is.
        """
        simulation = self.simulation
        simulation.schedule.stalled = set()
        self.settle()
        for followed, _ in self._followed:
            is_complete = followed.closed or followed.upper is None or followed.upper == self.model.latest + 1
            expect(is_complete, f"a subscription has come to {followed.upper} of {self.model.latest + 1}")
        self.journal.append("drop everything")
        for known in list(self.model.collections):
            if not known.dropped:
                self._drop_one(known, cascade=True)
        if self.rng.random() < 0.5:
            self.settle()
            simulation.dispatcher.elapse(10.0)
            self.settle()
        # Whoever still reads is the last that needs it.
        for each in self._followed:
            self._unsubscribe_one(*each)
        while self._held:
            self.release()
        self.settle()
        expect(all(followed.closed for followed, _ in self._followed), "a subscription goes on after its end")
        simulation.dispatcher.elapse(10.0)
        self.settle()
        self._indexes.clear()
        simulation.check_nothing_left()
