"""A replica in another process, without the process: what is said goes through the codecs of the transport."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import pykka

from ..dispatch.simulated import SimulatedDispatcher
from ..multiplexer.replica import Replica
from ..transport.codec import decode_down, decode_up, encode_down, encode_up
from ..transport.errors import ConnectionEnded, TransportError, Unreachable
from ..transport.frames import FRAME_LIMIT
from ..transport.opening import Link
from ..transport.remote_system import FromSystem, RemoteSystem, Serve
from ..transport.wire import Opened

UNREACHABLE = 0.2
"""How likely it is that an attempt to connect again fails."""


class End:
    """One end of a connection; what is sent there arrives at the other at once, where an actor is told."""

    def __init__(self, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> None:
        self._encode = encode
        self._decode = decode
        self._received: Callable[[Any], None] | None = None
        self._ended: Callable[[TransportError], None] | None = None
        self._early: list[bytes] = []
        self._reason: TransportError | None = None
        self.other: End = self

    def start(self, received: Callable[[Any], None], ended: Callable[[TransportError], None]) -> None:
        """Hear what the other end says."""
        self._received, self._ended = received, ended
        early, self._early = self._early, []
        for payload in early:
            self._arrive(payload)
        if self._reason is not None:
            ended(self._reason)

    def send(self, message: Any, weight: int = 0) -> None:
        """Say something; nobody hears it when the connection has ended."""
        if self._reason is None:
            self.other._arrive(self._encode(message))

    def _arrive(self, payload: bytes) -> None:
        if self._reason is not None:
            return
        if self._received is None:
            self._early.append(payload)
        else:
            self._received(self._decode(payload))

    def end(self, reason: TransportError) -> None:
        """Let both ends hear that there is nothing more to come."""
        for end in (self, self.other):
            if end._reason is None:
                end._reason = reason
                if end._ended is not None:
                    end._ended(reason)


class LineElsewhere:
    """Makes connections to a replica that is elsewhere. Each leads to runtimes of its own, as a process has them; those
    of an older connection end with it."""

    name = "elsewhere"

    def __init__(self, dispatcher: SimulatedDispatcher, seed: int, workers: int, *, interactive: bool) -> None:
        self._dispatcher = dispatcher
        self._random = random.Random(seed)
        self._workers = workers
        self._interactive = interactive
        self._present: End | None = None
        self._system: pykka.ActorRef[Any] | None = None
        self.running: Replica | None = None
        """What serves the present connection."""

    def reach(self) -> Link:
        """A connection to fresh runtimes."""
        ours = self._present = End(encode_down(FRAME_LIMIT), decode_up)
        theirs = ours.other = End(encode_up(FRAME_LIMIT), decode_down)
        theirs.other = ours
        system = self._system = self._dispatcher.start(RemoteSystem, cast(Any, theirs), _count_nothing)
        self.running = Replica.start(self._dispatcher, system, self._workers, interactive=self._interactive)
        system.tell(Serve(self.running.endpoint))

        def received(message: Any) -> None:
            if system.is_alive():
                system.tell(FromSystem(message))

        theirs.start(received, lambda reason: None)
        opened = Opened(self._workers, self._interactive, trust=False, process=1, message_limit=FRAME_LIMIT)
        return Link(cast(Any, ours), opened)

    def dial(self, told: Callable[[Link | TransportError], None]) -> None:
        """Connect again, if the replica can be reached."""
        if self._random.random() < UNREACHABLE:
            told(Unreachable(self.name, "nobody listens"))
        else:
            told(self.reach())

    def break_off(self) -> None:
        """The connection breaks, or the process dies: either way the runtimes end where they stand, and what is on its
        way from them may be lost."""
        running, system, present = self.running, self._system, self._present
        if running is None or system is None or present is None:
            return
        self.running = None
        registry = () if running.registry is None else (running.registry,)
        self._dispatcher.kill((*running.workers, *running.interactive, *registry, running.endpoint, system))
        present.end(ConnectionEnded("it broke"))


def _count_nothing(told: object) -> None:
    """Nobody asks for counters."""
