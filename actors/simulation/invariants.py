"""What is checked after every message: of the worker that handled it, and of what the controller heard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dataflow.arrangements.trace import Trace
from ...messages.commands import Hello, Peek
from ...messages.frontiers import Frontier, less_equal
from ...messages.ids import GlobalId, PeekId
from ...messages.responses import DroppedAt, Frontiers, PeekResponse, Response, SubscribeResponse
from ..controller.controller import Controller
from ..controller.messages import FromReplica
from ..dispatch.base import SystemActor
from ..multiplexer.multiplexer import Multiplexer
from ..worker.state import ComputeState
from ..worker.worker import Worker
from .replicas import SimulatedReplica
from .rules import Rule, RuleBroken


class Invariants:
    """Watches a simulation. ``failure``: what the system failed with, if it did."""

    def __init__(self, replicas: Sequence[SimulatedReplica], failure: Callable[[], BaseException | None]) -> None:
        self._replicas = replicas
        self._failure = failure
        self._heard = {replica.name: Heard() for replica in replicas}

    def observe(self, sender: str, actor: SystemActor, message: Any) -> None:
        """Check what may have changed by this message.

        Raises:
            RuleBroken: something does not hold.
        """
        if isinstance(actor, Worker):
            self._check_worker(actor)
        elif isinstance(actor, Controller):
            if isinstance(message, FromReplica):
                self._heard[message.replica].answers(message)
        elif isinstance(message, Peek | Hello) and isinstance(actor, Multiplexer):
            self._told(actor, message)
        failure = self._failure()
        if failure is not None:
            raise RuleBroken(Rule.NO_FAILURE, f"{type(failure).__name__}: {failure}") from failure

    def check_answered(self) -> None:
        """Check that every peek was answered, when nothing is left to happen."""
        for name, heard in self._heard.items():
            if heard.asked:
                raise RuleBroken(Rule.ONE_RESPONSE, f"replica {name} never answers {sorted(heard.asked)}")

    @property
    def has_unanswered(self) -> bool:
        """Whether a replica has a peek that it has not answered."""
        return any(heard.asked for heard in self._heard.values())

    def _told(self, actor: Multiplexer, message: Peek | Hello) -> None:
        for replica in self._replicas:
            running = replica.running
            if running is not None and running.endpoint.actor_urn == actor.actor_urn:
                self._heard[replica.name].command(message)

    def _check_worker(self, worker: Worker) -> None:
        for replica in self._replicas:
            if worker in replica.workers:
                check_published(worker.state)
                if replica.readers:
                    publisher, reader = replica.publishers[worker.state.worker], replica.readers[worker.state.worker]
                    check_pair(publisher.state, reader.state)
                return


class Heard:
    """What one replica said on its present connection.

    Attributes:
        asked: the peeks that it has heard of and not answered.
    """

    def __init__(self) -> None:
        self._nonce = ""
        self._frontiers: dict[tuple[GlobalId, str], Frontier] = {}
        self._answered: set[PeekId] = set()
        self._uppers: dict[GlobalId, Frontier] = {}
        self.asked: set[PeekId] = set()
        self._asked_on = ""

    def command(self, command: Peek | Hello) -> None:
        """The replica heard this."""
        if isinstance(command, Hello):
            self._asked_on = command.nonce
            self.asked.clear()
        else:
            self.asked.add(command.uuid)

    def answers(self, message: FromReplica) -> None:
        """The controller heard this.

        Raises:
            RuleBroken: the replica must not say so.
        """
        if message.nonce != self._nonce:
            self._nonce = message.nonce
            self._frontiers.clear()
            self._answered.clear()
            self._uppers.clear()
        for response in message.responses:
            self._check(response, message.nonce)

    def _check(self, response: Response, nonce: str) -> None:
        match response:
            case Frontiers():
                for kind in ("write", "input", "output"):
                    self._check_frontier(response, kind)
            case PeekResponse(uuid=uuid):
                if uuid in self._answered:
                    raise RuleBroken(Rule.ONE_RESPONSE, f"peek {uuid} was answered twice")
                self._answered.add(uuid)
                if nonce == self._asked_on:
                    self.asked.discard(uuid)
            case SubscribeResponse(id=id, result=result) if not isinstance(result, DroppedAt):
                if self._uppers.setdefault(id, result.lower) != result.lower:
                    raise RuleBroken(Rule.NO_GAPS, f"{id} was told up to {self._uppers[id]}, then from {result.lower}")
                self._uppers[id] = result.upper
            case _:
                pass

    def _check_frontier(self, response: Frontiers, kind: str) -> None:
        moved: tuple[Frontier] | None = getattr(response, kind)
        if moved is None:
            return
        key = (response.id, kind)
        known = self._frontiers.get(key, 0)
        if known is None:
            raise RuleBroken(Rule.FRONTIERS, f"the {kind} frontier of {response.id} was reported after it was empty")
        if not less_equal(known, moved[0]):
            raise RuleBroken(Rule.FRONTIERS, f"the {kind} frontier of {response.id} went from {known} to {moved[0]}")
        self._frontiers[key] = moved[0]


def check_published(state: ComputeState) -> None:
    """Check what a worker shares with the other runtime.

    Raises:
        RuleBroken: it is compacted too far, or is not the state of one moment.
    """
    for trace in state.published.values():
        publication = trace.publication
        assert publication is not None and publication.standing_hold is not None, "kept until it is released"
        hold = publication.standing_hold.time
        if not less_equal(publication.snapshot.since, hold):
            raise RuleBroken(
                Rule.STANDING_HOLD, f"{trace.id} is compacted to {publication.snapshot.since}, though held at {hold}"
            )
        _check_one_moment(trace)


def _check_one_moment(trace: Trace) -> None:
    assert trace.publication is not None, "it is shared"
    taken, present = trace.publication.snapshot, trace.arrangement
    if taken.oks is not present.oks.batches or taken.errs is not present.errs.batches:
        raise RuleBroken(Rule.ONE_MOMENT, f"{trace.id} shares rows and errors that are not those of its arrangement")
    if taken.upper != present.upper:
        raise RuleBroken(Rule.ONE_MOMENT, f"{trace.id} shares the upper {taken.upper}; its own is {present.upper}")


def check_pair(kept: ComputeState, read: ComputeState) -> None:
    """Check what holds between the two runtimes of a worker: ``kept`` maintains and ``read`` reads.

    Raises:
        RuleBroken: something does not hold.
    """
    for state in (kept, read):
        both = state.peers.keys() & state.collections.keys()
        if both:
            raise RuleBroken(Rule.FRONTIERS, f"both runtimes render, and would report, {sorted(both)}")
    for slot, bundle in read.bundles.items():
        publication = bundle.arrangement.publication
        if publication is None:
            continue
        if (publication.id, publication.incarnation) != slot:
            found = (publication.id, publication.incarnation)
            raise RuleBroken(Rule.INCARNATION, f"the bundle of {slot} is bound to {found}")
        if publication.closed:
            raise RuleBroken(Rule.READABLE, f"{slot[0]} was withdrawn, though it is still read")
        since, layout = publication.snapshot.since, publication.snapshot.layout
        peer = read.peers.get(slot[0])
        # What introspects was perhaps allowed more by an earlier connection.
        if (
            peer is not None
            and peer.bundle is bundle
            and not peer.dataflow.is_logging
            and not less_equal(since, peer.compaction)
        ):
            raise RuleBroken(
                Rule.STANDING_HOLD, f"{slot[0]} is compacted to {since}; its reader has heard of {peer.compaction}"
            )
        for hold in bundle.arrangement.holds:
            if not less_equal(since, hold.time):
                raise RuleBroken(Rule.READABLE, f"{slot[0]} is compacted to {since}, though held at {hold.time}")
        if layout != bundle.arrangement.layout:
            raise RuleBroken(Rule.INCARNATION, f"{slot[0]} is laid out as {layout}, not as its bundle expects")
