"""pykka as it comes: ``ThreadingActor`` with its default inbox."""

from __future__ import annotations

import time
from typing import Any

import pykka

from ..child import Measured


class Counter(pykka.ThreadingActor):
    """Counts what it is told, and answers with the count when it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def on_receive(self, message: Any) -> int:
        self.count += 1
        return self.count


def messages(tells: int, asks: int, bursts: int) -> Measured:
    """Tells per second, from the first to the last one handled, and the time of one ask."""
    actor = Counter.start()
    try:
        rates: list[float] = []
        for _ in range(bursts):
            before = actor.ask("before")
            start = time.perf_counter()
            for _ in range(tells):
                actor.tell("message")
            after = actor.ask("after")
            rates.append(tells / (time.perf_counter() - start))
            assert after == before + tells + 1
        timings: list[float] = []
        for _ in range(asks):
            start = time.perf_counter()
            actor.ask("message")
            timings.append(time.perf_counter() - start)
    finally:
        actor.stop()
    return Measured({"tell": rates, "ask": timings})
