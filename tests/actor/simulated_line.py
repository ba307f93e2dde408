"""A replica in another process, without the process: everything is encoded and decoded as between two of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pillion.actors.dispatch.base import Dispatcher
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.transport.codec import decode_down, decode_up, encode_down, encode_up
from pillion.actors.transport.errors import ConnectionEnded, TransportError
from pillion.actors.transport.frames import FRAME_LIMIT
from pillion.actors.transport.opening import Link
from pillion.actors.transport.remote_system import FromSystem, RemoteSystem, Serve
from pillion.actors.transport.wire import Opened


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
        self._received, self._ended = received, ended
        early, self._early = self._early, []
        for payload in early:
            self._arrive(payload)
        if self._reason is not None:
            ended(self._reason)

    def send(self, message: Any, weight: int = 0) -> None:
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
        """Both ends hear that there is nothing more to come."""
        for end in (self, self.other):
            if end._reason is None:
                end._reason = reason
                if end._ended is not None:
                    end._ended(reason)


class SimulatedLine:
    """Each connection leads to a replica of its own. What an older one still does, nobody hears."""

    name = "simulation"

    def __init__(self, dispatcher: Dispatcher, workers: int, *, interactive: bool) -> None:
        self._dispatcher = dispatcher
        self._workers = workers
        self._interactive = interactive
        self._present: End | None = None

    def reach(self) -> Link:
        """A connection to a fresh replica."""
        ours = self._present = End(encode_down(FRAME_LIMIT), decode_up)
        theirs = ours.other = End(encode_up(FRAME_LIMIT), decode_down)
        theirs.other = ours
        system = self._dispatcher.start(RemoteSystem, theirs, lambda told: None)
        replica = Replica.start(self._dispatcher, system, self._workers, interactive=self._interactive)
        system.tell(Serve(replica.endpoint))
        theirs.start(lambda message: system.tell(FromSystem(message)), lambda reason: None)
        return Link(ours, Opened(self._workers, self._interactive, False, 1, FRAME_LIMIT))  # type: ignore[arg-type]

    def dial(self, told: Callable[[Link | TransportError], None]) -> None:
        told(self.reach())

    def break_off(self) -> None:
        """The present connection breaks; what is on its way is lost."""
        assert self._present is not None
        self._present.end(ConnectionEnded("it broke"))
