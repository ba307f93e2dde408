"""The subscribe sink: every change of a collection, as responses."""

from __future__ import annotations

from ...dataflow.arrangements.updates import Chunk, empty_updates, error_messages
from ...messages.frontiers import Frontier, Timestamp, less_than
from ...messages.ids import GlobalId
from ...messages.responses import DroppedAt, SubscribeBatch, SubscribeResponse
from ...messages.types import Schema
from ..peeks.blocks import update_block
from .link import Link
from .messages import DataflowNumber
from .sinks import Sink


class SubscribeSink(Sink):
    """Answers one batch for each chunk.

    Invariant: the batches are contiguous, consolidated, and start at ``as_of``. The one that reaches the sink's
    ``up_to``, or the end of the collection, has the empty upper: nothing will follow it.
    """

    def __init__(self, link: Link, dataflow: DataflowNumber, id: GlobalId, schema: Schema, as_of: Timestamp) -> None:
        self._link = link
        self._dataflow = dataflow
        self._id = id
        self._schema = schema
        self._upper: Frontier = as_of
        self._nothing = update_block(empty_updates([field.type for field in schema.fields]), schema)

    def absorb(self, chunk: Chunk) -> None:
        lower, upper = self._upper, chunk.upper
        if lower is None or not less_than(lower, upper):
            return
        self._upper = upper
        updates = self._nothing if chunk.oks is None else update_block(chunk.oks, self._schema)
        error = None
        if chunk.errs is not None:
            error = min(error_messages(chunk.errs.filter(chunk.errs.diffs > 0)), default=None)
        batch = SubscribeBatch(lower, upper, updates, error)
        self._link.respond(SubscribeResponse(self._id, batch), self._dataflow)

    def drop(self) -> None:
        if self._upper is not None:
            self._link.respond(SubscribeResponse(self._id, DroppedAt(self._upper)), self._dataflow)
            self._upper = None
