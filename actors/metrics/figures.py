"""The numbers that actors keep of themselves. Each is written by one actor or thread and read by
anybody."""

from __future__ import annotations

from threading import get_ident

from .durations import Durations


class Lookups:
    """How many lookups threads of the application answered themselves. Each thread counts its own, so that no count is
    lost without a lock."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self) -> None:
        """One more, by the present thread."""
        thread = get_ident()
        self._counts[thread] = self._counts.get(thread, 0) + 1

    @property
    def total(self) -> int:
        """Of all threads."""
        return sum(self._counts.copy().values())


class WorkerFigures:
    """What a worker measures.

    Attributes:
        steps: seconds that a step of a dataflow took, with telling what came of it.
    """

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = Durations()


class PeekFigures:
    """How long the peeks took that one runtime answered, from the multiplexer's hearing of them to the answer of the
    last worker.

    Attributes:
        queue: seconds of that in which a peek waited: for the worker to hear of it, for the index to be there and
            sealed, and for its turn.
        service: seconds of that in which it was worked on; with several workers, by the one that worked longest.
    """

    __slots__ = ("queue", "service")

    def __init__(self) -> None:
        self.queue = Durations()
        self.service = Durations()

    def answered(self, total: float, service: float) -> None:
        """A peek was answered ``total`` seconds after it had come, ``service`` of which were spent on it."""
        self.service.add(service)
        self.queue.add(total - service if total > service else 0.0)
