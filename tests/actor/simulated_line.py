"""A replica in another process, without the process: everything is encoded and decoded as between two of them."""

from __future__ import annotations

from collections.abc import Callable

from pillion.actors.dispatch.base import Dispatcher
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.simulation.elsewhere import End
from pillion.actors.transport.codec import decode_down, decode_up, encode_down, encode_up
from pillion.actors.transport.errors import ConnectionEnded, TransportError
from pillion.actors.transport.frames import FRAME_LIMIT
from pillion.actors.transport.opening import Link
from pillion.actors.transport.remote_system import FromSystem, RemoteSystem, Serve
from pillion.actors.transport.wire import Opened


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
