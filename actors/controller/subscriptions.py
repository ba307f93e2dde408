"""Subscriptions: each application stream gets every batch once, in order, whatever becomes of the replica."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pyarrow.compute as pc

from ...messages.commands import AllowCompaction, Command, CreateDataflow, Schedule
from ...messages.dataflows import RenderDataflow, Subscribe
from ...messages.errors import PillionError
from ...messages.frontiers import Frontier, Timestamp, less_equal, less_than, show_frontier
from ...messages.ids import GlobalId
from ...messages.responses import DroppedAt, SubscribeBatch, SubscribeResponse
from ...messages.rows import UpdateBlock
from ..dispatch.oneshot import Stream
from ..errors import UnknownCollection, WrongArgument
from ..requests import Subscribed, SubscribeTo
from .planning import at, imports_of, sink_dataflow
from .reads import Reads
from .replica import ReplicaState
from .state import ControllerState


@dataclass(slots=True, eq=False)
class _Subscription:
    """``upper``: what was delivered are all changes before it; the snapshot counts as a change at ``as_of``.
    ``uppers``: how far each replica has told it, by name: the slowest one still reads what it is computed from."""

    id: GlobalId
    dataflow: RenderDataflow
    imports: tuple[GlobalId, ...]
    stream: Stream[SubscribeBatch]
    up_to: Frontier
    upper: Timestamp
    uppers: dict[str, Timestamp] = field(default_factory=dict[str, Timestamp])

    @property
    def as_of(self) -> Timestamp:
        return self.dataflow.as_of


class Subscriptions:
    """All live subscriptions. They are not in the command history: a replica that comes later continues each one where
    it stands, which is not what the original commands would do."""

    def __init__(self, state: ControllerState, reads: Reads) -> None:
        self._state = state
        self._reads = reads
        self._live: dict[GlobalId, _Subscription] = {}

    def subscribe(self, request: SubscribeTo) -> Subscribed:
        state = self._state
        state.catalog.uses(request.relation)
        id = state.transient_id()
        dataflow = sink_dataflow(
            state.catalog,
            f"subscribe {id}",
            request.relation,
            request.schema,
            object_id=state.transient_id(),
            sink=id,
            connection=Subscribe(),
            with_snapshot=request.with_snapshot,
            up_to=request.up_to,
        )
        imports = imports_of(dataflow)
        as_of = self._reads.select(request, imports)
        if not less_equal(as_of, request.up_to):
            raise WrongArgument(
                f"up_to {show_frontier(request.up_to)} is before {as_of}, where the subscription starts; give a later "
                "one, or an as_of before it"
            )
        subscription = _Subscription(id, at(dataflow, as_of), imports, request.stream, request.up_to, as_of)
        subscription.uppers = dict.fromkeys(state.replicas, as_of)
        self._live[id] = subscription
        state.hold(str(id), imports, as_of)
        _create(subscription, state.tell)
        return Subscribed(id, as_of)

    def dropped(self) -> None:
        """Something was dropped. What reads a materialized view that was ends after the latest transaction."""
        state = self._state
        gone = {
            id for id, readable in state.readables.items() if readable.dropped and id in state.stored - state.tables
        }
        for id, readable in state.readables.items():
            if not gone.isdisjoint(readable.imports):
                gone.add(id)
        for subscription in list(self._live.values()) if gone else ():
            if gone.isdisjoint(subscription.imports):
                continue
            end = state.oracle.latest + 1
            if less_than(end, subscription.up_to):
                subscription.up_to = end
            if not less_than(subscription.upper, subscription.up_to):
                self._end(subscription)

    def unsubscribe(self, id: GlobalId) -> None:
        subscription = self._live.get(id)
        if subscription is not None:
            self._end(subscription)

    def heard(self, replica: str, response: SubscribeResponse) -> None:
        """Deliver a batch, or end a subscription that ended."""
        subscription = self._live.get(response.id)
        if subscription is None:
            return
        batch = response.result
        if isinstance(batch, DroppedAt):
            self._end(subscription)
            return
        if batch.upper is not None:
            subscription.uppers[replica] = batch.upper
        if not less_than(subscription.upper, batch.upper):
            self._hold(subscription)
            return  # Delivered already, on another connection.
        subscription.stream.put(from_time(batch, subscription.upper))
        if batch.upper is None or not less_than(batch.upper, subscription.up_to):
            self._end(subscription)
            return
        subscription.upper = batch.upper
        self._hold(subscription)

    def _hold(self, subscription: _Subscription) -> None:
        there = [name for name, replica in self._state.replicas.items() if replica.unavailable is None]
        slowest = min([subscription.uppers.get(name, subscription.upper) for name in there], default=subscription.upper)
        time = max(min(slowest, subscription.upper) - 1, subscription.as_of)
        self._state.hold(str(subscription.id), subscription.imports, time)

    def resume(self, replica: ReplicaState) -> None:
        """Create every subscription on a replica, each from where it stands. One that reads a shard that was dropped
        ends with an error: what it has not delivered of it is gone."""
        send = replica.send
        for subscription in list(self._live.values()):
            subscription.uppers[replica.name] = subscription.upper
            gone = next(filter(self._is_gone, subscription.imports), None)
            if gone is not None:
                self._end(subscription, UnknownCollection(gone))
                continue
            if less_equal(subscription.upper, subscription.as_of):
                _create(subscription, send)
                continue
            # The changes from the upper on are those after the time before it, without what there was at that time.
            sinks = tuple(
                msgspec.structs.replace(sink, with_snapshot=False) for sink in subscription.dataflow.sink_exports
            )
            dataflow = msgspec.structs.replace(subscription.dataflow, sink_exports=sinks)
            subscription.dataflow = at(dataflow, subscription.upper - 1)
            _create(subscription, send)

    def _is_gone(self, id: GlobalId) -> bool:
        return id in self._state.tables and self._state.readables[id].dropped

    def _end(self, subscription: _Subscription, error: PillionError | None = None) -> None:
        del self._live[subscription.id]
        self._state.release(str(subscription.id), subscription.imports)
        self._state.tell(AllowCompaction(subscription.id, None))
        subscription.stream.close(error)


def _create(subscription: _Subscription, send: Callable[[Command], None]) -> None:
    send(CreateDataflow(subscription.dataflow))
    send(Schedule(subscription.id))


def from_time(batch: SubscribeBatch, lower: Timestamp) -> SubscribeBatch:
    """The part of a batch that begins at ``lower``."""
    if batch.lower == lower:
        return batch
    assert batch.lower < lower, f"the batches before {batch.lower} are missing from {lower} on"
    updates = batch.updates
    if isinstance(updates.times, int):
        kept = updates if updates.times >= lower else UpdateBlock(updates.columns.slice(0, 0), lower, 1)
    else:
        late = pc.greater_equal(updates.times, lower)
        diffs = updates.diffs if isinstance(updates.diffs, int) else updates.diffs.filter(late)
        kept = UpdateBlock(updates.columns.filter(late), updates.times.filter(late), diffs)
    return SubscribeBatch(lower, batch.upper, kept, batch.error)
