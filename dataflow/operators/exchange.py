"""Exchange: send every row to the worker on which it belongs.

Every chunk becomes one for each worker, empty ones too, with the chunk's interval. Workers may cut time
differently; the receiving :class:`~.linear.Union` of all senders releases what is before the least of their uppers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ...messages.frontiers import Timestamp, less_than
from ..arrangements.updates import Chunk, Updates
from ..columns.grouping import shard_of
from .agenda import Agenda
from .linear import Union
from .operator import Operator
from .parts import slices
from .queue import InputQueue

Shards = npt.NDArray[np.int64]

Routing = Callable[[Updates], Shards]
"""The worker for each row."""

Outbox = list[tuple[int, int, Chunk]]
"""``(peer, channel, part)``."""


class Exchange(Operator):
    """The sending side. Errors go by their message, so that a retraction finds the error that it retracts."""

    __slots__ = ("_channel", "_outbox", "_peers", "_receiver", "_routing", "_worker", "input")

    def __init__(
        self, agenda: Agenda, lower: Timestamp, routing: Routing, channel: int, worker: int, peers: int, outbox: Outbox
    ) -> None:
        super().__init__(agenda, lower)
        self._routing = routing
        self._channel = channel
        self._worker = worker
        self._peers = peers
        self._outbox = outbox
        self.input = InputQueue(agenda, self.bit, lower)
        self._receiver = Union(agenda, lower, peers)

    @property
    def receiver(self) -> Union:
        """The receiving side: an input per worker."""
        return self._receiver

    def run(self, fuel: int | None) -> int:
        if self.work is not None:
            return self.resume(self.work, fuel)
        available = self.input.upper
        if less_than(self.upper, available):
            chunk = self.input.take(available)
        else:
            part = self.input.take_parts(lambda _: True)
            if part is None:
                return 0
            chunk = part
        if fuel is not None and chunk.size > fuel:
            return self.begin(self._in_parts(chunk, fuel), fuel)
        self._send(chunk)
        return chunk.size + 1

    def _in_parts(self, chunk: Chunk, fuel: int) -> Iterator[int]:
        for part in slices(chunk, fuel):
            self._send(Chunk(chunk.lower, chunk.lower, part.oks, part.errs))
            yield fuel
        self._send(Chunk(chunk.lower, chunk.upper))

    def _send(self, chunk: Chunk) -> None:
        peers = self._peers
        oks = _divide(chunk.oks, self._routing, peers)
        errs = _divide(chunk.errs, lambda errors: shard_of(errors.columns, len(errors), peers), peers)
        for peer in range(peers):
            part = Chunk(chunk.lower, chunk.upper, oks.get(peer), errs.get(peer))
            if part.upper == part.lower and part.oks is None and part.errs is None:
                continue
            if peer == self._worker:
                self._receiver.inputs[peer].push(part)
            else:
                self._outbox.append((peer, self._channel, part))
        self.upper = chunk.upper


def _divide(updates: Updates | None, routing: Routing, peers: int) -> dict[int, Updates]:
    """The rows of each worker that has some."""
    if updates is None or not len(updates):
        return {}
    shards = routing(updates)
    if len(shards) == 1:
        return {int(shards[0]): updates}
    order = np.argsort(shards, kind="stable")
    bounds = shards[order].searchsorted(np.arange(peers + 1))
    parts: dict[int, Updates] = {}
    for peer in range(peers):
        begin, end = int(bounds[peer]), int(bounds[peer + 1])
        if end - begin == len(shards):
            return {peer: updates}
        if begin < end:
            parts[peer] = updates.take(order[begin:end])
    return parts


def by_columns(positions: tuple[int, ...], peers: int) -> Routing:
    """Route by the hash of these columns."""

    def route(updates: Updates) -> Shards:
        return shard_of([updates.columns[p] for p in positions], len(updates), peers)

    return route
