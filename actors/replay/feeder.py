"""Feeding a recording to a stand, and its answers to the ledgers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pykka

from ...messages.commands import AllowCompaction, AllowWrites, Command, CreateDataflow, Hello
from ...messages.frontiers import MINIMUM, Frontier, maximum
from ..controller.messages import FromReplica
from ..dispatch.oneshot import OneShot
from ..dispatch.simulated import NeverAnswered
from ..storage.messages import AppendRows, CommitTables
from .copies import redirected
from .dependents import EVERYTHING, Dependents, Needs
from .events import Acknowledged, Event, Heard, Sent, Stored
from .ledger import Ledger
from .stand import Stand
from .verdict import Answered, Difference, Outcome
from .writes import Writes

T = TypeVar("T")

_BARRIER_EVERY = 256
"""So many messages are sent between two barriers, and no more than a few times as many are on their way: a recording
may be longer than what fits into memory."""
_BARRIERS = 3
_WRITES = 1024


class _Ended(Exception):
    """The replay goes no further."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Feeder:
    """Takes the events of a recording in order.

    Attributes:
        differences: those that are known so far, the most important first: in the order in which they came out.
        counts: how many answers had which outcome.
        last: the sequence of the last event that was taken.
        ended: why the replay ended early: what did not come, or what made the replica fail.
    """

    def __init__(
        self, stand: Stand, replicas: tuple[str, ...], copies: Path, *, timeout: float, speed: float | None = None
    ) -> None:
        """
        Args:
            copies: a directory for the files that are copied to.
            timeout: seconds without any answer after which nothing more is waited for.
            speed: how many recorded seconds pass in one; None: as fast as answers come.
        """
        self._stand = stand
        self._copies = copies
        self._timeout = timeout
        self._speed = speed
        self._clock = stand.dispatcher.services.clock
        self._began: float | None = None
        self.differences: list[Difference] = []
        self.counts: Counter[tuple[Answered, Outcome]] = Counter()
        self.ledgers = {name: Ledger(self.differences.append, self.counts) for name in replicas}
        self._dependents = {name: Dependents() for name in replicas}
        self._writes = Writes(self.differences.append, self.counts, timeout)
        self._written: Frontier = MINIMUM
        self._barriers: deque[list[OneShot[Any]]] = deque()
        self._since_barrier = 0
        self.last = 0
        self.ended: str | None = None

    def take(self, event: Event) -> None:
        """Send a message, as soon as it may be sent, or note an answer. Once the replay has ended early, nothing is
        sent, and every answer is missing that is recorded from there on."""
        self.last = event.sequence
        try:
            self._take(event)
        except _Ended as ended:
            self.ended = ended.why

    def settle(self) -> None:
        """Wait for every answer that was recorded."""
        try:
            for ledger in self.ledgers.values():
                self._wait(ledger, EVERYTHING)
            if self.ended is None:
                # What it makes of the last messages may be a failure, which no answer tells of.
                self._pass(self._stand.barriers())
                self._absorb_ready()
        except _Ended as ended:
            self.ended = ended.why

    def _take(self, event: Event) -> None:
        self._pace(event.time)
        match event:
            case Sent():
                self._send(event)
            case Stored():
                self._store(event)
            case Heard(sequence, _, replica, nonce, responses):
                self.ledgers[replica].record(sequence, nonce, responses)
            case Acknowledged():
                self._writes.acknowledged(event)
        self._absorb_ready()

    def close(self) -> None:
        """Compare what there is."""
        for ledger in self.ledgers.values():
            ledger.written = self._written
            ledger.close()

    def missing(self) -> str | None:
        """Something that was recorded and has not come, if there is anything."""
        return next((m for ledger in self.ledgers.values() if (m := ledger.missing(EVERYTHING)) is not None), None)

    # --- Sending -------------------------------------------------------------------------------------------------

    def _send(self, event: Sent) -> None:
        command, ledger, dependents = event.command, self.ledgers[event.replica], self._dependents[event.replica]
        # A view's shard is everybody's, whichever replica writes it.
        for name in self.ledgers if isinstance(command, AllowWrites) else (event.replica,):
            self._wait(self.ledgers[name], self._dependents[name].needs(command))
        ledger.written = self._written
        ledger.sent(event.sequence, command)
        self._note(dependents, command)
        if self.ended is not None:
            return
        if isinstance(command, CreateDataflow):
            command = CreateDataflow(redirected(command.dataflow, self._copies))
        self._stand.send(event.replica, command)
        self._sent()

    def _note(self, dependents: Dependents, command: Command) -> None:
        match command:
            case Hello():
                dependents.forget()
            case CreateDataflow(dataflow):
                dependents.created(dataflow)
                self._written = maximum((self._written, dataflow.as_of))
            case AllowCompaction(id, None):
                dependents.dropped(id)
            case _:
                pass

    def _store(self, event: Stored) -> None:
        if self.ended is not None:
            return
        message = event.message
        for name, ledger in self.ledgers.items():
            self._wait(ledger, self._dependents[name].needs(message))
        match message:
            case CommitTables(timestamp=time):
                self._written = maximum((self._written, time + 1))
                message = self._with_reply(event.sequence, f"transaction at {time}", message)
            case AppendRows(shard=shard, upper=upper):
                self._written = maximum((self._written, upper))
                message = self._with_reply(event.sequence, f"append to shard {shard} up to {upper}", message)
            case _:
                pass
        self._stand.storage.tell(message)
        self._sent()

    def _with_reply(self, sequence: int, subject: str, message: Any) -> Any:
        while len(self._writes) > _WRITES:
            self._writes.wait_for_oldest()
        reply = self._stand.dispatcher.reply()
        self._writes.sent(sequence, subject, reply)
        return msgspec.structs.replace(message, reply=reply)

    def _sent(self) -> None:
        self._since_barrier += 1
        if self._since_barrier < _BARRIER_EVERY:
            return
        self._since_barrier = 0
        self._barriers.append(self._stand.barriers())
        if len(self._barriers) > _BARRIERS:
            self._pass(self._barriers.popleft())

    def _pass(self, barrier: list[OneShot[Any]]) -> None:
        for reply in barrier:
            self._attempt(partial(reply.get, timeout=self._timeout), "the end of what the replica is busy with")

    def _pace(self, time: float) -> None:
        """Wait until it is time, at the speed asked for."""
        if self._speed is None:
            return
        now = self._clock.now
        if self._began is None:
            self._began = now() - time / self._speed
        due = self._began + time / self._speed
        while self.ended is None and (left := due - now()) > 0:
            try:
                message = self._stand.heard.get(timeout=left)
            except (pykka.Timeout, NeverAnswered):
                return
            except Exception:
                if self._stand.failure is None:
                    raise
                return  # The next attempt to hear something tells of it.
            self._absorb(message)

    # --- Hearing -------------------------------------------------------------------------------------------------

    def _wait(self, ledger: Ledger, needs: Needs) -> None:
        while self.ended is None and (missing := ledger.missing(needs)) is not None:
            self._absorb(self._attempt(lambda: self._stand.heard.get(timeout=self._timeout), missing))

    def _absorb_ready(self) -> None:
        heard = self._stand.heard
        while self.ended is None and heard.ready:
            self._absorb(self._attempt(heard.get, ""))

    def _attempt(self, get: Callable[[], T], missing: str) -> T:
        """What comes of waiting for the replica.

        Raises:
            _Ended: nothing, because it does not come in time or because the replica failed.
        """
        try:
            return get()
        except (pykka.Timeout, NeverAnswered):
            raise _Ended(f"after message {self.last}, {missing} did not come") from None
        except Exception as error:
            failure = self._stand.failure
            if failure is None:
                raise
            raise _Ended(f"after message {self.last}, the replica failed: {failure}") from error

    def _absorb(self, message: FromReplica) -> None:
        self.ledgers[message.replica].replay(message.nonce, message.responses)
