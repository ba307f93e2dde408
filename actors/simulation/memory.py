"""Whether the memory of what was dropped is free, by weak references to it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from typing import Any

from ...messages.ids import GlobalId
from ..worker.worker import Worker
from .rules import Rule, RuleBroken


class DroppedMemory:
    """Remembers, weakly, the batches of every index that an application made."""

    def __init__(self) -> None:
        self._batches: dict[int, tuple[weakref.ref[Any], GlobalId, Worker]] = {}
        """By the address of what is remembered, so that nothing is remembered twice."""

    def look(self, workers: Iterable[Worker]) -> None:
        """Remember what these workers have now."""
        known = self._batches
        for worker in workers:
            for id, trace in worker.state.traces.items():
                if id.namespace != "u":
                    continue
                arrangement = trace.arrangement
                for batch in (*arrangement.oks.batches, *arrangement.errs.batches):
                    # The rows' order is an array of the batch alone, and can be referred to weakly.
                    order = batch.order
                    found = known.get(id_of(order))
                    if found is None or found[0]() is not order:
                        known[id_of(order)] = (weakref.ref(order), id, worker)

    def check_free(self, workers: Iterable[Worker]) -> None:
        """Check the workers that there are: what a process had that has died is not looked at.

        Raises:
            RuleBroken: something is still there.
        """
        there = set(workers)
        left = self._left(there)
        if left:
            # It may be garbage that refers to itself, which is free as soon as somebody looks for it.
            gc.collect()
            left = self._left(there)
        if left:
            raise RuleBroken(Rule.MEMORY, f"batches of dropped collections are still there: {sorted(left)}")

    def _left(self, workers: set[Worker]) -> set[GlobalId]:
        return {id for order, id, worker in self._batches.values() if worker in workers and order() is not None}


def id_of(value: object) -> int:
    """Its address, which ``id`` hides here."""
    return id(value)
