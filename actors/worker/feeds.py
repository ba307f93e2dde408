"""Which changes of shards go where: to the sources of dataflows, and to the sinks that keep a shard equal to something.

Each consumer has a subscription of its own, because each has its own ``as_of``; the changes after the snapshot come
once for all of them.
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
        self._waiting: dict[Subscription, Feed] = {}
        """Those whose snapshot has not come."""
        self._feeds: dict[GlobalId, list[Feed]] = {}
        """By shard, those that get its changes."""

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
        ended = [feed for feed in self._waiting.values() if feed.running is running]
        for shard in list(self._feeds):
            kept = [feed for feed in self._feeds[shard] if feed.running is not running]
            ended += [feed for feed in self._feeds[shard] if feed.running is running]
            if kept:
                self._feeds[shard] = kept
            else:
                del self._feeds[shard]
        for feed in ended:
            self._waiting.pop(feed.subscription, None)
            self._link.storage.tell(UnsubscribeShard(feed.shard, feed.subscription, self._link.own))

    def snapshot(self, message: ShardSnapshot) -> RunningDataflow | None:
        """Take a shard's snapshot; the dataflow that may have work because of it."""
        feed = self._waiting.pop(message.subscription, None)
        if feed is None:
            return None
        self._feeds.setdefault(feed.shard, []).append(feed)
        feed.take(message.chunk)
        return feed.running

    def refused(self, message: SnapshotRefused) -> RunningDataflow | None:
        """Take that a shard cannot be read; the dataflow that may have work because of it."""
        feed = self._waiting.pop(message.subscription, None)
        if feed is None:
            return None
        feed.refuse(message.message)
        return feed.running

    def changes(self, message: ShardChanges) -> list[RunningDataflow]:
        """Take the changes of one commit; the dataflows that may have work because of it."""
        feeds = self._feeds
        touched: list[RunningDataflow] = []
        for shard, chunk in message.chunks:
            for feed in feeds.get(shard, ()):
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
        self._waiting[subscription] = Feed(shard, subscription, running, take, refuse)
        self._link.storage.tell(SubscribeShard(shard, subscription, as_of, worker, workers, self._link.own))
