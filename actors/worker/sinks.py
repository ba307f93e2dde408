"""What becomes of a collection that a dataflow exports to a sink."""

from __future__ import annotations

from ...dataflow.arrangements.updates import Chunk
from ...messages.frontiers import Frontier


class Sink:
    """One worker's end of a sink."""

    reports_frontiers = False
    """Whether frontiers of the sink are reported (not for subscribes and copy-tos)."""

    def absorb(self, chunk: Chunk) -> None:
        """Take the next changes of the collection on this worker. Chunks are contiguous; times are not before the
        dataflow's ``as_of``."""
        raise NotImplementedError

    def drop(self) -> None:
        """Nobody needs the sink any more: say what there is to say last, and release what it holds."""
        raise NotImplementedError

    def start(self) -> None:
        """The dataflow was scheduled."""

    def allow_writes(self) -> None:
        """From now on the sink may change what others see."""

    def receive(self, sender: int, chunk: Chunk) -> None:
        """On the worker that acts for all: the part of worker ``sender``."""
        raise AssertionError(f"{type(self).__name__} gathers no parts")

    @property
    def write_frontier(self) -> Frontier:
        """How far what the sink writes is written."""
        return None
