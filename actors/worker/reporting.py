"""What a worker has told of a collection's frontiers, so that it tells each move once."""

from __future__ import annotations

from ...messages.frontiers import Frontier, Timestamp, less_than
from ...messages.ids import GlobalId
from ...messages.responses import Frontiers

Moved = tuple[Frontier] | None


class ReportedFrontiers:
    """The frontiers of one collection that were reported on this connection.

    Invariant: each kind starts no lower than ``as_of``, never regresses, and ends with the empty frontier once.
    """

    __slots__ = ("_as_of", "_id", "_input", "_output", "_write")

    def __init__(self, id: GlobalId, as_of: Timestamp) -> None:
        self._id = id
        self._as_of = as_of
        self._write: Moved = None
        self._input: Moved = None
        self._output: Moved = None

    def report(self, write: Frontier, input: Frontier, output: Frontier) -> Frontiers | None:
        """The response that tells how far the collection has come; None when nothing moved."""
        moved_write = self._moved(self._write, write)
        moved_input = self._moved(self._input, input)
        moved_output = self._moved(self._output, output)
        if moved_write is None and moved_input is None and moved_output is None:
            return None
        self._write = moved_write or self._write
        self._input = moved_input or self._input
        self._output = moved_output or self._output
        return Frontiers(self._id, moved_write, moved_input, moved_output)

    def finish(self) -> Frontiers | None:
        """The last response: empty frontiers, for the kinds that had not come to them."""
        return self.report(None, None, None)

    def restart(self, as_of: Timestamp) -> None:
        """Report again as if from scratch, on a new connection."""
        self._as_of = as_of
        self._write = self._input = self._output = None

    def _moved(self, reported: Moved, frontier: Frontier) -> Moved:
        if reported is None:
            return None if less_than(frontier, self._as_of) else (frontier,)
        return (frontier,) if less_than(reported[0], frontier) else None
