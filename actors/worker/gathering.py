"""Sinks that act for all workers in one place."""

from __future__ import annotations

import abc

from ...dataflow.arrangements.updates import Chunk
from ...messages.frontiers import Frontier, Timestamp, minimum
from ...messages.ids import GlobalId
from .link import Link
from .messages import DataflowNumber, SinkPart
from .sinks import Sink


class GatheringSink(Sink):
    """One worker, the *owner*, gets what every worker has of the collection, rows and errors."""

    def __init__(self, link: Link, dataflow: DataflowNumber, id: GlobalId, as_of: Timestamp, owner: int) -> None:
        self._link = link
        self._dataflow = dataflow
        self._id = id
        self._owner = owner
        self._uppers: list[Frontier] = [as_of] * len(link.fellows)

    @property
    def is_owner(self) -> bool:
        """Whether this worker is the one that acts."""
        return self._link.worker == self._owner

    def absorb(self, chunk: Chunk) -> None:
        if self.is_owner:
            self.receive(self._owner, chunk)
        else:
            part = SinkPart(self._dataflow, self._id, self._link.worker, chunk)
            self._link.fellows[self._owner].tell(part)

    def receive(self, sender: int, chunk: Chunk) -> None:
        self._uppers[sender] = chunk.upper
        self.gathered(chunk, minimum(self._uppers))

    @abc.abstractmethod
    def gathered(self, chunk: Chunk, upper: Frontier) -> None:
        """On the owner: take the next changes on some worker; up to ``upper`` those of all workers have come."""
