"""pykka as it comes: ``ThreadingActor`` with its default inbox."""

from __future__ import annotations

import pykka

from ..child import Measured
from .message_load import load


class Counter(pykka.ThreadingActor):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def on_receive(self, message: str) -> int:
        self.count += 1
        return self.count


def messages(tells: int, asks: int, bursts: int) -> Measured:
    actor = Counter.start()
    try:
        return load(actor, tells, asks, bursts)
    finally:
        actor.stop()
