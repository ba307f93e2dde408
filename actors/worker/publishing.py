"""Publishing: what the maintenance runtime shares with the interactive one.

Invariant: an index is shared from its creation on, held at its ``as_of`` for the other runtime, whether that has heard
of it by then or not; and until the other runtime says that it needs it no more, even when it is dropped here before.
"""

from __future__ import annotations

from typing import Any

import pykka

from ...dataflow.arrangements.trace import Trace
from ..registry.messages import Publish, Released
from .link import Link
from .placement import Placement
from .state import ComputeState


class Publishing:
    """The publications of a worker. ``registry``: where they are found; None when there is no other runtime."""

    def __init__(self, state: ComputeState, link: Link, registry: pykka.ActorRef[Any] | None) -> None:
        self._state = state
        self._link = link
        self._registry = registry if state.placement is Placement.MAINTENANCE else None

    def publish(self, trace: Trace) -> None:
        """Share an index that was just rendered."""
        if self._registry is None:
            return
        publication = trace.publish(standing=True)
        self._state.published[trace.id, trace.incarnation] = trace
        self._registry.tell(Publish(self._state.worker, publication, self._link.own))

    def released(self, message: Released) -> None:
        """The other runtime needs an index no more, and has dropped it."""
        self._state.published.pop((message.id, message.incarnation)).withdraw()
