"""How a recording is to be replayed."""

from __future__ import annotations

from dataclasses import dataclass

from ..transport.line import Target
from .events import Event

DEFAULT_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Until:
    """Where a replay ends: behind a sequence, or behind a time in seconds since the recording began."""

    sequence: int | None = None
    time: float | None = None

    def ends_before(self, event: Event) -> bool:
        """Whether this event is not replayed any more."""
        if self.sequence is not None and event.sequence > self.sequence:
            return True
        return self.time is not None and event.time > self.time


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """
    Attributes:
        workers: of each runtime of each replica.
        interactive: with a second runtime, which answers reads.
        target: a replica in another process, instead of one here.
        trust: run the Python functions that the recording has.
        until: where to end.
        speed: how many recorded seconds pass in one; None: as fast as answers come.
        timeout: seconds without any answer after which what was recorded is missing.
    """

    workers: int = 1
    interactive: bool = False
    target: Target | None = None
    trust: bool = False
    until: Until = Until()
    speed: float | None = None
    timeout: float = DEFAULT_TIMEOUT
