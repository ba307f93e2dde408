"""When to connect again."""

from __future__ import annotations

import random

from pillion.actors.transport.retry import Backoff, Retries

BACKOFF = Backoff(first=1.0, longest=8.0, stable=10.0, many=3)


class Slowest(random.Random):
    """Waits as long as may be."""

    def uniform(self, a: float, b: float) -> float:
        return b


def test_it_waits_ever_longer_up_to_a_bound() -> None:
    retries = Retries(Slowest(), BACKOFF)
    assert [retries.failed(0.0) for _ in range(6)] == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert all(retries.failed(0.0) == 8.0 for _ in range(2000))


def test_a_connection_that_lasted_starts_anew() -> None:
    retries = Retries(Slowest(), BACKOFF)
    for _ in range(3):
        retries.failed(0.0)
    assert retries.are_many
    retries.connected(100.0)
    assert retries.failed(110.0) == 1.0
    assert not retries.are_many


def test_one_that_broke_at_once_does_not() -> None:
    """Else a replica that always fails the same way would be started again without end, as fast as it goes."""
    retries = Retries(Slowest(), BACKOFF)
    waits: list[float] = []
    for attempt in range(4):
        retries.connected(20.0 * attempt)
        waits.append(retries.failed(20.0 * attempt + 9.9))
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert retries.are_many


def test_attempts_are_spread() -> None:
    waits = {Retries(random.Random(seed), BACKOFF).failed(0.0) for seed in range(20)}
    assert len(waits) > 10
    assert all(0.5 <= wait <= 1.0 for wait in waits)
