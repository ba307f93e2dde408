"""The load that both message arms put on an actor that counts its messages and answers an ask with the count."""

from __future__ import annotations

import time
from typing import Any

import pykka

from ..child import Measured


def load(actor: pykka.ActorRef[Any], tells: int, asks: int, bursts: int) -> Measured:
    """Tells per second, from the first to the last one handled, and the time of one ask."""
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
    return Measured({"tell": rates, "ask": timings})
