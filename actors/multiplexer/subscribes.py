"""Merging the batches of a subscription: aligned to the minimum of the workers' uppers, and consolidated."""

from __future__ import annotations

from ...dataflow.arrangements.updates import Updates, concat_updates, empty_updates
from ...messages.frontiers import TIME_LIMIT, Frontier, Timestamp, less_than, minimum
from ...messages.ids import GlobalId
from ...messages.responses import DroppedAt, SubscribeBatch, SubscribeResponse
from ...messages.types import Schema
from ..peeks.blocks import update_block, updates_of


class SubscribeMerge:
    """One subscription on all workers.

    Invariant: the merged batches are contiguous, and each holds everything that any worker has in its interval.
    """

    __slots__ = ("_dropped", "_errors", "_held", "_id", "_lower", "_schema", "_uppers", "is_finished")

    def __init__(self, id: GlobalId, schema: Schema, as_of: Timestamp, workers: int) -> None:
        self._id = id
        self._schema = schema
        self._lower: Frontier = as_of
        self._uppers: list[Frontier] = [as_of] * workers
        self._held: list[Updates] = []
        self._errors: list[tuple[Timestamp, str]] = []
        self._dropped: set[int] = set()
        self.is_finished = False
        """Whether nothing will ever be said again."""

    def absorb(self, worker: int, response: SubscribeResponse) -> list[SubscribeResponse]:
        """Take one worker's response; what the whole replica has to say because of it."""
        said: list[SubscribeResponse] = []
        match response.result:
            case DroppedAt():
                self._dropped.add(worker)
            case SubscribeBatch() as batch:
                self._uppers[worker] = batch.upper
                if batch.updates.num_rows:
                    self._held.append(updates_of(batch.updates, self._schema))
                if batch.error is not None:
                    self._errors.append((batch.lower, batch.error))
                merged = self._advance()
                if merged is not None:
                    said.append(merged)
        if self._lower is None:
            self.is_finished = True
        elif self._dropped and all(w in self._dropped or upper is None for w, upper in enumerate(self._uppers)):
            # A worker on which the subscription had come to its end before the drop says nothing more.
            self.is_finished = True
            said.append(SubscribeResponse(self._id, DroppedAt(self._lower)))
        return said

    def _advance(self) -> SubscribeResponse | None:
        lower, upper = self._lower, minimum(self._uppers)
        if lower is None or not less_than(lower, upper):
            return None
        early, self._held = _split(self._held, upper)
        errors = sorted(error for error in self._errors if less_than(error[0], upper))
        self._errors = [error for error in self._errors if not less_than(error[0], upper)]
        self._lower = upper
        updates = concat_updates(early).consolidate() if early else _nothing(self._schema)
        error = errors[0][1] if errors else None
        return SubscribeResponse(self._id, SubscribeBatch(lower, upper, update_block(updates, self._schema), error))


def _split(parts: list[Updates], upper: Frontier) -> tuple[list[Updates], list[Updates]]:
    """What is before ``upper``, and the rest."""
    limit = TIME_LIMIT if upper is None else upper
    early = [part for part in (part.before(limit) for part in parts) if len(part)]
    late = [part.filter(part.times >= limit) for part in parts]
    return early, [part for part in late if len(part)]


def _nothing(schema: Schema) -> Updates:
    return empty_updates([field.type for field in schema.fields])
