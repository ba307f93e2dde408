"""Where the figures of a system come together."""

from __future__ import annotations

from collections.abc import Mapping

from ..dispatch.base import Dispatcher
from ..worker.placement import Placement
from ..worker.state import ComputeState
from .figures import Lookups, PeekFigures


class SystemMetrics:
    """The figures of the runtimes of one process, for whoever shows them.

    Actors add theirs when they are made. What is read from here is read while they work: every attribute is replaced
    at once or only grows, and a dictionary is copied before it is looked through.
    """

    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        """``dispatcher``: what executes the actors; without it nobody knows how many messages wait."""
        self._dispatcher = dispatcher
        self.lookups = Lookups()
        """What threads of the application read without asking."""
        self.workers: list[ComputeState] = []
        """Of every runtime, in the order in which they were made."""
        self.peeks_of: dict[Placement, PeekFigures] = {}
        """By the runtime that answered."""

    def add_worker(self, state: ComputeState) -> None:
        """A worker was made."""
        self.workers.append(state)

    def peeks(self, placement: Placement) -> PeekFigures:
        """The figures of the peeks that this runtime answers."""
        return self.peeks_of.setdefault(placement, PeekFigures())

    def mailbox_depths(self) -> Mapping[str, int]:
        """How many messages wait in each lane, by its name."""
        return {} if self._dispatcher is None else self._dispatcher.mailbox_depths()

    def runtime(self, placement: Placement) -> list[ComputeState]:
        """The workers of one runtime, in order."""
        return sorted([state for state in self.workers if state.placement is placement], key=lambda state: state.worker)
