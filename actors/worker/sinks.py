"""What becomes of a collection that a dataflow exports to a sink."""

from __future__ import annotations

import abc

from ...dataflow.arrangements.updates import Chunk
from ...messages.frontiers import Frontier


class Sink(abc.ABC):
    """One worker's end of a sink."""

    reports_frontiers = False
    """Whether frontiers of the sink are reported (not for subscribes and copy-tos)."""

    @abc.abstractmethod
    def absorb(self, chunk: Chunk) -> None:
        """Take the next changes of the collection on this worker. Chunks are contiguous; times are not before the
        dataflow's ``as_of``."""

    @abc.abstractmethod
    def drop(self) -> None:
        """Nobody needs the sink any more: say what there is to say last, and release what it holds."""

    def start(self) -> None:  # noqa: B027 - most sinks have nothing to do
        """The dataflow was scheduled."""

    def allow_writes(self) -> None:  # noqa: B027 - most sinks have nothing to do
        """From now on the sink may change what others see."""

    def receive(self, sender: int, chunk: Chunk) -> None:
        """On the worker that acts for all: the part of worker ``sender``."""
        raise AssertionError(f"{type(self).__name__} gathers no parts")

    @property
    def write_frontier(self) -> Frontier:
        """How far what the sink writes is written."""
        return None
