"""What every operator is.

Invariant: the chunks that an operator consumes and produces are contiguous, and its output for an interval is
complete when it is emitted; so a chunk's ``upper`` is all the progress information there is.
"""

from __future__ import annotations

from typing import Protocol

from ..arrangements.updates import Chunk


class UnaryLogic(Protocol):
    """The work of an operator with one input and one output, apart from queues and scheduling."""

    def process(self, chunk: Chunk) -> Chunk:
        """The output's changes in ``[chunk.lower, chunk.upper)``, correct at every time in it, from the input's.

        ``chunk.oks`` need not be consolidated; what is returned need not be either, unless the operator says so.
        Called with contiguous chunks; the first begins at the dataflow's ``as_of`` with the input's snapshot.
        Errors of the input are passed on, together with the operator's own.
        """
        ...
