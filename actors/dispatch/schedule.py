"""In which order a simulation delivers messages."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pykka

from .base import SystemActor


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message that was handled. ``message`` is the value itself; compare traces by :meth:`line`."""

    step: int
    sender: str
    receiver: str
    message: Any

    def line(self) -> str:
        return f"{self.step} {self.sender} -> {self.receiver}: {type(self.message).__name__}"


class Channel:
    """The messages on their way from one sender to one actor."""

    __slots__ = ("actor", "items", "sender")

    def __init__(self, sender: str, actor: SystemActor) -> None:
        self.sender = sender
        self.actor = actor
        self.items: deque[tuple[Any, pykka.Future[Any] | None]] = deque()


class Schedule(Protocol):
    """Decides which channel delivers next. A function of the seed and of the channels alone."""

    def choose(self, channels: Sequence[Channel]) -> int: ...


class UniformSchedule:
    """Every channel that has a message is as likely as any other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        return self._random.randrange(len(channels)) if len(channels) > 1 else 0
