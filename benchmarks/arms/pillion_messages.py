"""Pillion's own actors: the threaded dispatcher's inbox and future."""

from __future__ import annotations

from typing import ClassVar

from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.threaded import ThreadedDispatcher

from ..child import Measured
from .message_load import load


class Counter(SystemActor):
    is_brief: ClassVar = True  # As the documentation recommends for handlers that never work long.
    handlers: ClassVar = {str: "increment"}

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def increment(self, message: str) -> int:
        self.count += 1
        return self.count


def messages(tells: int, asks: int, bursts: int) -> Measured:
    dispatcher = ThreadedDispatcher()
    try:
        return load(dispatcher.start(Counter), tells, asks, bursts)
    finally:
        dispatcher.stop()
