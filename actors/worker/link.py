"""How the parts of a worker reach other actors."""

from __future__ import annotations

from typing import Any

import pykka

from ...messages.responses import Response
from .messages import DataflowNumber, FromWorker, Tagged
from .state import ComputeState

NO_INCARNATION: DataflowNumber = -1


class Link:
    """The worker's neighbours: fellow workers, the storage, and the multiplexer, which gets the responses of one
    handler together."""

    __slots__ = ("_responses", "_state", "fellows", "multiplexer", "own", "sibling", "storage", "worker")

    def __init__(self, state: ComputeState, own: pykka.ActorRef[Any], storage: pykka.ActorRef[Any]) -> None:
        self._state = state
        self._responses: list[Tagged] = []
        self.worker = state.worker
        self.own = own
        self.storage = storage
        self.multiplexer: pykka.ActorRef[Any] | None = None
        """None until the worker joined."""
        self.fellows: tuple[pykka.ActorRef[Any], ...] = (own,)
        """All workers of the runtime, in order, this one included."""
        self.sibling: pykka.ActorRef[Any] | None = None
        """The worker of the same number of the maintenance runtime, if this one is of the interactive runtime."""

    def respond(self, response: Response, incarnation: DataflowNumber = NO_INCARNATION, worked: float = 0.0) -> None:
        """Answer at the end of the handler. ``worked``: seconds spent on the peek that it answers.

        Between ``Hello`` and ``InitializationComplete`` nothing is said: what there would be to say belongs to the
        previous connection, and what is kept reports anew.
        """
        if self._state.replay is None:
            self._responses.append(Tagged(incarnation, response, worked))

    def flush(self) -> None:
        """Tell the multiplexer what was answered since the last flush."""
        if self._responses:
            responses = tuple(self._responses)
            self._responses.clear()
            assert self.multiplexer is not None, "who has not joined was asked nothing"
            self.multiplexer.tell(FromWorker(self._state.worker, self._state.nonce, responses))
