"""A replica in another process, as its system sees it.

:class:`RemoteReplica` stands where a multiplexer would: the controller tells it commands and hears responses. What the
replica's workers ask of the storage is asked by :class:`RemoteWorker`, one for each of them, so that the storage
cannot tell where a worker runs.

When the connection breaks, the controller is told only once there is another one; it then says again what should be
running, and asks again for what is outstanding. Until then commands go nowhere: the controller remembers them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
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
from ...messages.errors import PillionError
from ...messages.responses import PeekError, PeekResponse
from ..controller.messages import Connect, FromReplica, ReplicaLost, ReplicaUnavailable
from ..dispatch.base import SystemActor
from ..dispatch.oneshot import OneShot
from ..storage.messages import (
    Appended,
    CancelRead,
    ReadShard,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    SubscribeShard,
    UnsubscribeAll,
    UnsubscribeShard,
    UpperMismatch,
)
from ..worker.messages import Barrier
from ..worker.refusals import refusal
from .codec import Append, ForWorker, ToWorker, encode_command
from .columns import weight_of
from .connection import Channel
from .errors import ConnectionEnded, TransportError
from .line import Line
from .opening import Link
from .retry import Retries
from .wire import (
    Answers,
    BarrierForm,
    BarrierReachedForm,
    CancelReadForm,
    Counters,
    CountersAsked,
    Ended,
    ReadForm,
    SubscribeForm,
    UnsubscribeAllForm,
    UnsubscribeForm,
)


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


class Arrived(Message, frozen=True, eq=False):
    """From a connection: what the replica said."""

    link: Link
    message: Any


class Broke(Message, frozen=True, eq=False):
    """From a connection: there is nothing more to come, and why."""

    link: Link
    reason: TransportError


class Dialed(Message, frozen=True, eq=False):
    """From the line: a new connection, or why there is none."""

    outcome: Link | TransportError


class DialAgain(Message, frozen=True, eq=False):
    """To itself: it is time to try once more."""


class AskCounters(Message, frozen=True, eq=False):
    """The replica's counters by name. For scripts."""

    reply: OneShot[dict[str, int]]


class LostReplica(PillionError):
    """The connection to a replica broke, and is not made again."""


class ReplicaFailed(PillionError):
    """A replica in another process failed, with this."""


class RemoteReplica(SystemActor):
    """The endpoint of a replica in another process.

    Args:
        storage: the storage that the replica's workers read and write.
        line: makes connections to it.
        link: the first one.
        retries: when to connect again; None: a broken connection fails the system (for scripts, which have nobody who
            would say everything again).
        worker_lane: of the workers' stand-ins.
    """

    handlers: ClassVar = {
        Connect: "connect",
        Hello: "hello",
        CreateInstance: "command",
        InitializationComplete: "command",
        UpdateConfiguration: "command",
        CreateDataflow: "command",
        Schedule: "command",
        AllowWrites: "command",
        AllowCompaction: "command",
        Peek: "command",
        CancelPeek: "command",
        Barrier: "barrier",
        AskCounters: "ask_counters",
        Arrived: "arrived",
        Broke: "broke",
        Dialed: "dialed",
        DialAgain: "dial_again",
    }

    def __init__(
        self,
        storage: pykka.ActorRef[Any],
        line: Line,
        link: Link,
        retries: Retries | None = None,
        *,
        worker_lane: str | None = None,
    ) -> None:
        super().__init__(replica=line.name)
        self._storage = storage
        self._line = line
        self._link: Link | None = link
        self._retries = retries
        self._worker_lane = worker_lane
        self._controller: pykka.ActorRef[Any] | None = None
        self._replica = ""
        self._nonce = ""
        self._speaking = False
        """Whether commands belong on the present connection: since its first ``Hello``."""
        self._workers: dict[int, pykka.ActorRef[RemoteWorker]] = {}
        self._replies: dict[int, OneShot[Any]] = {}
        """Who waits for a barrier or for counters."""
        self._questions = 0
        self._last_words: Ended | None = None

    def on_start(self) -> None:
        assert self._link is not None, "given"
        if self._retries is not None:
            self._retries.connected(self.services.clock.now())
        self._start(self._link)

    def on_stop(self) -> None:
        if self._link is not None:
            self._link.connection.end(ConnectionEnded("the system was stopped"))

    # --- From the controller -------------------------------------------------------------------------------------

    def connect(self, message: Connect) -> None:
        self._controller = message.controller
        self._replica = message.replica

    def hello(self, command: Hello) -> None:
        self._nonce = command.nonce
        self._speaking = self._link is not None
        self.command(command)

    def command(self, command: Command) -> None:
        if self._link is None or not self._speaking:
            return
        try:
            payload = encode_command(command, self._link.replica.message_limit)
        except PillionError as error:
            # Refused alone, as a worker would; sent, it would break the connection, now and every time again.
            self._refuse(command, error)
            return
        self._link.connection.send(payload, len(payload))

    def _refuse(self, command: Command, error: PillionError) -> None:
        assert self._controller is not None, "commands come from one that connected"
        if isinstance(command, Peek):
            refused = PeekResponse(command.uuid, PeekError(str(error)))
        else:
            refused = refusal(type(command).__name__, str(error))
        self._controller.tell(FromReplica(self._replica, self._nonce, (refused,)))

    def barrier(self, message: Barrier) -> None:
        self._ask(message.reply, BarrierForm)

    def ask_counters(self, message: AskCounters) -> None:
        self._ask(message.reply, CountersAsked)

    def _ask(self, reply: OneShot[Any], question: type[BarrierForm | CountersAsked]) -> None:
        if self._link is None:
            reply.refuse(LostReplica(f"the replica at {self._line.name} is not connected"))
            return
        self._questions += 1
        self._replies[self._questions] = reply
        self._link.connection.send(question(self._questions))

    # --- From the replica ----------------------------------------------------------------------------------------

    def arrived(self, arrived: Arrived) -> None:
        if arrived.link is not self._link:
            return
        message = arrived.message
        match message:
            case Answers():
                if self._controller is not None:
                    self._controller.tell(FromReplica(self._replica, message.nonce, message.responses))
            case BarrierReachedForm():
                self._answer(message.number, None)
            case Counters():
                self._answer(message.number, message.values)
            case Ended():
                self._last_words = message
            case _:
                self._storage.tell(self._for_storage(message))

    def _answer(self, question: int, answer: Any) -> None:
        reply = self._replies.pop(question, None)
        if reply is not None:
            reply.resolve(answer)

    def _for_storage(self, form: Any) -> Any:
        worker = self._worker(form.worker)
        match form:
            case SubscribeForm():
                return SubscribeShard(form.shard, form.subscription, form.as_of, form.slice, form.slices, worker)
            case UnsubscribeForm():
                return UnsubscribeShard(form.shard, form.subscription, worker)
            case UnsubscribeAllForm():
                return UnsubscribeAll(worker)
            case ReadForm():
                return ReadShard(form.shard, form.token, form.timestamp, form.slice, form.slices, worker)
            case CancelReadForm():
                return CancelRead(form.token, worker)
            case _:
                assert isinstance(form, Append), "everything else that decodes is handled above"
                return form.message(worker)

    def _worker(self, number: int) -> pykka.ActorRef[RemoteWorker]:
        found = self._workers.get(number)
        if found is None:
            assert self._link is not None, "it arrived on one"
            channel = self._link.connection
            found = self._workers[number] = self.dispatcher.start(RemoteWorker, number, channel, lane=self._worker_lane)
        return found

    # --- Connections ---------------------------------------------------------------------------------------------

    def _start(self, link: Link) -> None:
        own = self.actor_ref

        def received(message: Any) -> None:
            own.tell(Arrived(link, message))

        def ended(reason: TransportError) -> None:
            try:
                own.tell(Broke(link, reason))
            except pykka.ActorDeadError:
                return  # The system has ended, too.

        link.connection.start(received, ended)

    def broke(self, message: Broke) -> None:
        """Forget the connection and everything that was said on it."""
        if message.link is not self._link:
            return
        self._link = None
        self._speaking = False
        for worker in self._workers.values():
            self._storage.tell(UnsubscribeAll(worker))
            self.dispatcher.stop_actor(worker)
        self._workers.clear()
        last_words, self._last_words = self._last_words, None
        reason = str(message.reason) if last_words is None else last_words.reason
        lost = LostReplica(f"the connection to the replica at {self._line.name} ended: {reason}")
        if last_words is not None and last_words.failed:
            lost = ReplicaFailed(reason)
        for reply in self._replies.values():
            reply.refuse(lost)
        self._replies.clear()
        if self._retries is None:
            raise lost
        self.log.warning("lost the replica", reason=reason)
        if last_words is not None and not last_words.again:
            self._give_up(reason)
        else:
            self._retry(self._retries, reason)

    def dialed(self, message: Dialed) -> None:
        outcome = message.outcome
        assert self._retries is not None, "else nobody dials"
        if isinstance(outcome, TransportError):
            self.log.warning("cannot reach the replica", reason=str(outcome))
            self._retry(self._retries, str(outcome))
            return
        self._link = outcome
        self._retries.connected(self.services.clock.now())
        self._start(outcome)
        if self._controller is not None:
            # It says Hello, and everything that should be running.
            self._controller.tell(ReplicaLost(self._replica, outcome.replica.interactive))

    def dial_again(self, message: DialAgain) -> None:
        own = self.actor_ref

        def told(outcome: Link | TransportError) -> None:
            try:
                own.tell(Dialed(outcome))
            except pykka.ActorDeadError:
                return  # The system has ended; whoever stopped the line ends the connection.

        self._line.dial(told)

    def _retry(self, retries: Retries, reason: str) -> None:
        wait = retries.failed(self.services.clock.now())
        if retries.are_many:
            self._give_up(reason)
        self.after(wait, DialAgain())

    def _give_up(self, reason: str) -> None:
        """Let nobody wait any longer for what may not come."""
        if self._controller is not None:
            self._controller.tell(ReplicaUnavailable(self._replica, f"{self._line.name}: {reason}"))


class RemoteWorker(SystemActor):
    """Stands for a worker in another process, on one connection: passes on what the storage tells it."""

    handlers: ClassVar = {
        ShardChanges: "changes",
        ShardSnapshot: "passed_on",
        SnapshotRefused: "passed_on",
        ShardRead: "read",
        Appended: "passed_on",
        UpperMismatch: "passed_on",
    }

    def __init__(self, number: int, channel: Channel) -> None:
        super().__init__(worker=number)
        self._number = number
        self._channel = channel

    def passed_on(self, message: ToWorker) -> None:
        # A snapshot shares the memory of its shard: while it waits it weighs nothing.
        self._channel.send(ForWorker(self._number, message))

    def changes(self, message: ShardChanges) -> None:
        chunks = {id(chunk): chunk for _, chunk in message.chunks}.values()
        weight = sum(weight_of(chunk.oks) + weight_of(chunk.errs) for chunk in chunks)
        self._channel.send(ForWorker(self._number, message), weight)

    def read(self, message: ShardRead) -> None:
        self._channel.send(ForWorker(self._number, message), weight_of(message.updates))
