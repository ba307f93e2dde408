"""Which changes of shards go where: to the sources of dataflows, and to the sinks that keep a shard equal to something.

Each consumer has a subscription of its own, because each has its own ``as_of`` and its own share of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...dataflow.arrangements.updates import Chunk, error_updates, uniform
from ...messages.dataflows import SourceImport
from ...messages.frontiers import MINIMUM
from ...messages.ids import GlobalId
from ...messages.responses import Status
from ..storage.messages import (
    ShardChanges,
    ShardSnapshot,
    SnapshotRefused,
    SubscribeShard,
    Subscription,
    UnsubscribeShard,
)
from .link import Link
from .state import ComputeState, RunningDataflow

Take = Callable[[Chunk], None]


@dataclass(frozen=True, slots=True, eq=False)
class Feed:
    """A consumer of a shard's chunks."""

    shard: GlobalId
    subscription: Subscription
    running: RunningDataflow
    take: Take
    refuse: Callable[[str], None]


class Feeds:
    """This worker's subscriptions to shards."""

    def __init__(self, state: ComputeState, link: Link) -> None:
        self._state = state
        self._link = link
        self._next: Subscription = 0
        self._feeds: dict[Subscription, Feed] = {}

    def follow(self, running: RunningDataflow, source: SourceImport) -> None:
        """Feed a source of a dataflow with this worker's share of its shard."""
        dataflow, id, as_of = running.dataflow, source.id, running.description.as_of

        def take(chunk: Chunk) -> None:
            dataflow.feed(id, chunk)

        def refuse(message: str) -> None:
            # An error of the collection at every time, so that no reader waits for what will not come.
            errors = error_updates([message], uniform(as_of, 1), uniform(1, 1))
            dataflow.feed(id, Chunk(MINIMUM, None, None, errors))

        self._subscribe(running, source.shard, take, refuse, self._state.worker, len(self._link.fellows))

    def follow_whole(self, running: RunningDataflow, shard: GlobalId, take: Take) -> None:
        """Give a consumer all of a shard, from the ``as_of`` of its dataflow on."""

        def refuse(message: str) -> None:
            self._link.respond(Status("sink stuck", {"shard": str(shard), "message": message}))

        self._subscribe(running, shard, take, refuse, 0, 1)

    def leave(self, running: RunningDataflow) -> None:
        """End every subscription of a dataflow and its sinks."""
        for feed in [feed for feed in self._feeds.values() if feed.running is running]:
            del self._feeds[feed.subscription]
            self._link.storage.tell(UnsubscribeShard(feed.shard, feed.subscription, self._link.own))

    def snapshot(self, message: ShardSnapshot) -> RunningDataflow | None:
        """Take a shard's snapshot; the dataflow that may have work because of it."""
        feed = self._feeds.get(message.subscription)
        if feed is None:
            return None
        feed.take(message.chunk)
        return feed.running

    def refused(self, message: SnapshotRefused) -> RunningDataflow | None:
        """Take that a shard cannot be read; the dataflow that may have work because of it."""
        feed = self._feeds.pop(message.subscription, None)
        if feed is None:
            return None
        feed.refuse(message.message)
        return feed.running

    def changes(self, message: ShardChanges) -> list[RunningDataflow]:
        """Take the changes of one commit; the dataflows that may have work because of it."""
        feeds = self._feeds
        touched: list[RunningDataflow] = []
        for subscription, chunk in message.chunks:
            feed = feeds.get(subscription)
            if feed is not None:
                feed.take(chunk)
                touched.append(feed.running)
        return touched

    def _subscribe(
        self,
        running: RunningDataflow,
        shard: GlobalId,
        take: Take,
        refuse: Callable[[str], None],
        worker: int,
        workers: int,
    ) -> None:
        subscription = self._next
        self._next += 1
        as_of = running.description.as_of
        self._feeds[subscription] = Feed(shard, subscription, running, take, refuse)
        self._link.storage.tell(SubscribeShard(shard, subscription, as_of, worker, workers, self._link.own))
