"""What every operator is.

Invariant: the chunks that an operator consumes and produces are contiguous, and its output for an interval is
complete when it is emitted; so a chunk's ``upper`` is all the progress information there is. A large output may be
emitted in *parts* before: chunks whose ``upper`` is their ``lower``, with updates of the interval that begins there.
Who can use a part right away does so; for everybody else it waits in the queue until the interval is complete.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
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

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        """The same, of about ``fuel`` rows at a time; together these are what :meth:`process` gives."""
        ...

    def takes_part(self, part: Chunk) -> bool:
        """Whether this part of an interval may be processed before the others are there."""
        ...


class Operator(abc.ABC):
    """A node of a dataflow on one worker.

    Attributes:
        upper: how far its output is complete.
        outputs: the inputs that receive its chunks.
        bit: its place on the agenda.
        work: what is left to do of an interval in which the operator stopped: yields numbers of rows done.
    """

    __slots__ = ("agenda", "bit", "outputs", "upper", "work")

    def __init__(self, agenda: Agenda, lower: Timestamp) -> None:
        self.agenda = agenda
        self.bit = agenda.enroll(self)
        self.upper: Frontier = lower
        self.outputs: list[InputQueue] = []
        self.work: Iterator[int] | None = None

    @abc.abstractmethod
    def run(self, fuel: int | None) -> int:
        """Do what the inputs allow: all of one interval or, of a large one, about ``fuel`` rows.

        Returns:
            How many rows that were, and one more; zero when there was nothing to do.
        """

    def begin(self, work: Iterator[int], fuel: int | None) -> int:
        """Do about ``fuel`` rows of this work, and the rest later; as :meth:`run`."""
        done = 1
        for rows in work:
            done += rows
            if fuel is not None and done > fuel:
                self.work = work
                self.agenda.unfinished |= self.bit
                return done
        return done

    def resume(self, work: Iterator[int], fuel: int | None) -> int:
        """Go on with what was begun; as :meth:`run`."""
        self.work = None
        done = self.begin(work, fuel)
        if self.work is None:
            # The inputs may have moved on meanwhile.
            self.agenda.pending |= self.bit
        return done

    def emit(self, chunk: Chunk) -> None:
        """Pass on the output of the next interval, or a part of it."""
        self.upper = chunk.upper
        for queue in self.outputs:
            queue.push(chunk)
