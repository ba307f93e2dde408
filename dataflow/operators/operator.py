"""What every operator is.

Invariant: the chunks that an operator consumes and produces are contiguous, and its output for an interval is
complete when it is emitted; so a chunk's ``upper`` is all the progress information there is.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Protocol

from ...messages.frontiers import Frontier, Timestamp
from ..arrangements.updates import Chunk

if TYPE_CHECKING:
    from .agenda import Agenda
    from .queue import InputQueue


class UnaryLogic(Protocol):
    """The work of an operator with one input and one output, apart from queues and scheduling."""

    def process(self, chunk: Chunk) -> Chunk:
        """The output's changes in ``[chunk.lower, chunk.upper)``, correct at every time in it, from the input's.

        ``chunk.oks`` need not be consolidated; what is returned need not be either, unless the operator says so.
        Called in order of time, but not for intervals in which nothing changed; the first chunk begins at the
        dataflow's ``as_of`` with the input's snapshot.
        Errors of the input are passed on, together with the operator's own.
        """
        ...


class Operator(abc.ABC):
    """A node of a dataflow on one worker.

    Attributes:
        upper: how far its output is complete.
        outputs: the inputs that receive its chunks.
        bit: its place on the agenda.
    """

    __slots__ = ("agenda", "bit", "outputs", "upper")

    def __init__(self, agenda: Agenda, lower: Timestamp) -> None:
        self.agenda = agenda
        self.bit = agenda.enroll(self)
        self.upper: Frontier = lower
        self.outputs: list[InputQueue] = []

    @abc.abstractmethod
    def run(self) -> bool:
        """Do everything that the inputs allow; whether there was anything to do."""

    def emit(self, chunk: Chunk) -> None:
        """Pass on the output of the next interval."""
        self.upper = chunk.upper
        for queue in self.outputs:
            queue.push(chunk)
