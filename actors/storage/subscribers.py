"""Who follows which shards, and what each of them hears of a commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pykka

from ...dataflow.arrangements.updates import Chunk
from ...messages.ids import GlobalId
from .messages import ShardChanges, Subscription
from .shard import share


@dataclass(frozen=True, slots=True)
class Following:
    """One subscription of a worker: to its share of a shard."""

    shard: GlobalId
    subscription: Subscription
    worker: int
    workers: int


class Subscribers:
    """The live subscriptions, by the actor that hears them."""

    def __init__(self) -> None:
        self._by_actor: dict[pykka.ActorRef[Any], list[Following]] = {}

    def add(self, actor: pykka.ActorRef[Any], following: Following) -> None:
        self._by_actor.setdefault(actor, []).append(following)

    def remove(self, actor: pykka.ActorRef[Any], subscription: Subscription) -> None:
        followings = self._by_actor.get(actor)
        if followings is None:
            return
        kept = [f for f in followings if f.subscription != subscription]
        if kept:
            self._by_actor[actor] = kept
        else:
            del self._by_actor[actor]

    def remove_actor(self, actor: pykka.ActorRef[Any]) -> None:
        self._by_actor.pop(actor, None)

    def remove_shard(self, shard: GlobalId) -> None:
        for actor, followings in list(self._by_actor.items()):
            kept = [f for f in followings if f.shard != shard]
            if kept:
                self._by_actor[actor] = kept
            else:
                del self._by_actor[actor]

    def announce(self, chunks: Mapping[GlobalId, Chunk]) -> None:
        """Tell every subscriber of these shards its share of their chunks, in one message each."""
        slices: dict[tuple[GlobalId, int, int], Chunk] = {}
        for actor, followings in list(self._by_actor.items()):
            changes: list[tuple[Subscription, Chunk]] = []
            for following in followings:
                chunk = chunks.get(following.shard)
                if chunk is None:
                    continue
                if following.workers > 1 and (chunk.oks is not None or chunk.errs is not None):
                    cut = (following.shard, following.worker, following.workers)
                    found = slices.get(cut)
                    chunk = slices[cut] = found or _cut(chunk, following.worker, following.workers)
                changes.append((following.subscription, chunk))
            if changes:
                self._tell(actor, ShardChanges(tuple(changes)))

    def _tell(self, actor: pykka.ActorRef[Any], message: ShardChanges) -> None:
        try:
            actor.tell(message)
        except pykka.ActorDeadError:
            # A worker that was stopped as planned (its replica restarts) follows nothing any more.
            self.remove_actor(actor)


def _cut(chunk: Chunk, worker: int, workers: int) -> Chunk:
    return Chunk(chunk.lower, chunk.upper, share(chunk.oks, worker, workers), share(chunk.errs, worker, workers))
