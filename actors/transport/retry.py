"""When to connect again: soon at first, then ever less often, within a bound."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after failures in a row.

    Attributes:
        first: seconds after the first one; it doubles with each.
        longest: seconds at most.
        stable: a connection that lasted for so many seconds was none.
        many: after so many in a row, nobody is to wait for the replica any longer.
    """

    first: float = 0.05
    longest: float = 5.0
    stable: float = 10.0
    many: int = 6


class Retries:
    """Failures in a row, and what follows from them. ``random`` spreads the attempts of many."""

    def __init__(self, random: random.Random, backoff: Backoff = Backoff()) -> None:
        self._random = random
        self._backoff = backoff
        self._failures = 0
        self._connected_at: float | None = None

    def connected(self, now: float) -> None:
        """A connection was made at this moment."""
        self._connected_at = now

    def failed(self, now: float) -> float:
        """A connection broke, or was not made; seconds until the next attempt."""
        backoff = self._backoff
        if self._connected_at is not None and now - self._connected_at >= backoff.stable:
            self._failures = 0
        self._connected_at = None
        wait = min(backoff.longest, backoff.first * 2.0**self._failures)
        self._failures = min(self._failures + 1, 1000)
        return wait * self._random.uniform(0.5, 1.0)

    @property
    def are_many(self) -> bool:
        """Whether it failed so often in a row that nobody should wait for it."""
        return self._failures >= self._backoff.many
