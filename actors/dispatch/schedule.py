"""In which order a simulation delivers messages.

A schedule picks among the channels that have a message, which are listed in the order in which they came to have one:
number 0 has waited longest. Messages of one channel stay in order whatever is picked.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pykka

from .base import SystemActor


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message that was handled. ``message`` is the value itself; compare traces by :meth:`line`.

    Attributes:
        time: seconds of the simulation's clock.
        sent_after: the number of the last step that was done when it was sent.
    """

    step: int
    sender: str
    receiver: str
    message: Any
    time: float = 0.0
    sent_after: int = 0

    def line(self) -> str:
        return f"{self.step} {self.sender} -> {self.receiver}: {type(self.message).__name__}"


class Channel:
    """The messages on their way from one sender to one actor, each with its reply and when it was sent."""

    __slots__ = ("actor", "items", "sender")

    def __init__(self, sender: str, actor: SystemActor) -> None:
        self.sender = sender
        self.actor = actor
        self.items: deque[tuple[Any, pykka.Future[Any] | None, int]] = deque()


class Schedule(Protocol):
    """Decides which channel delivers next. A function of the seed and of the channels alone."""

    def choose(self, channels: Sequence[Channel]) -> int: ...


class ReseededSchedule(Schedule, Protocol):
    """A schedule whose chance can begin anew, so that what is chosen later does not depend on how much was before."""

    def reseed(self, seed: int) -> None: ...


class UniformSchedule:
    """Every channel that has a message is as likely as any other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def reseed(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        return self._random.randrange(len(channels)) if len(channels) > 1 else 0


class PrioritySchedule:
    """The channel with the highest priority delivers, and priorities seldom change: probabilistic concurrency testing
    (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", 2010).

    Every channel draws a priority when it first has a message. At random moments the channel that would deliver gets
    a lower one than all others. So one message may be overtaken by hundreds, which hardly happens when every choice
    is drawn alone.

    Args:
        change_after: how many messages there are between two changes, on average.
    """

    def __init__(self, seed: int, change_after: int = 100) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._change_after = change_after
        self._priorities: dict[Channel, float] = {}
        self._lowest = 0.0
        self._until_change = self._draw_gap()

    def reseed(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        if len(channels) == 1:
            return 0
        priorities = [self._priority(channel) for channel in channels]
        best = priorities.index(max(priorities))
        self._until_change -= 1
        if self._until_change <= 0:
            self._until_change = self._draw_gap()
            self._lowest -= 1.0
            self._priorities[channels[best]] = priorities[best] = self._lowest
            best = priorities.index(max(priorities))
        return best

    def _priority(self, channel: Channel) -> float:
        found = self._priorities.get(channel)
        if found is None:
            found = self._priorities[channel] = self._random.random()
        return found

    def _draw_gap(self) -> int:
        return 1 + int(self._random.random() * 2 * self._change_after)


class GivenSchedule:
    """The channel that has waited longest delivers, except where something else is given; and remembers what was
    picked.

    Args:
        departures: by the number of the choice (they are counted from 0): which channel delivers instead.
    """

    def __init__(self, departures: Mapping[int, int] | None = None) -> None:
        self._departures = dict(departures or {})
        self.choices = 0

    def reseed(self, seed: int) -> None:
        """Nothing is left to chance."""

    def choose(self, channels: Sequence[Channel]) -> int:
        choice, self.choices = self.choices, self.choices + 1
        return min(self._departures.get(choice, 0), len(channels) - 1)


class StallingSchedule:
    """Another schedule, except that actors in ``stalled`` are delivered something only when nobody else is."""

    def __init__(self, inner: ReseededSchedule) -> None:
        self.stalled: set[SystemActor] = set()
        self._inner = inner

    def reseed(self, seed: int) -> None:
        self._inner.reseed(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        stalled = self.stalled
        if not stalled:
            return self._inner.choose(channels)
        ahead = [at for at, channel in enumerate(channels) if channel.actor not in stalled]
        if not ahead or len(ahead) == len(channels):
            return self._inner.choose(channels)
        return ahead[self._inner.choose([channels[at] for at in ahead])]


class RecordingSchedule:
    """Another schedule; ``departures`` are the choices in which it did not pick the channel that waited longest, as
    :class:`GivenSchedule` takes them."""

    def __init__(self, inner: ReseededSchedule) -> None:
        self._inner = inner
        self.choices = 0
        self.departures: dict[int, int] = {}

    def reseed(self, seed: int) -> None:
        self._inner.reseed(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        picked = self._inner.choose(channels)
        if picked:
            self.departures[self.choices] = picked
        self.choices += 1
        return picked
