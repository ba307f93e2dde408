"""Histograms of seconds that cost a fraction of a microsecond to add to."""

from __future__ import annotations

from bisect import bisect_left

BOUNDS: tuple[float, ...] = (
    *(digit * 10.0**exponent for exponent in range(-5, 1) for digit in (1, 2.5, 5)),
    10.0,
)
"""Seconds: the upper bounds of the buckets, inclusive. One more bucket has what took longer."""


class Durations:
    """How many durations fell into each bucket.

    One thread adds; any thread may read, and finds counts that are right up to the addition that is going on.

    Attributes:
        counts: one number per bucket, not cumulative, the one without a bound last.
        seconds: all durations together.
    """

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    @property
    def count(self) -> int:
        return sum(self.counts)


def together(durations: list[Durations]) -> Durations:
    """The sum of several, as they are now."""
    total = Durations()
    for each in durations:
        total.counts = [a + b for a, b in zip(total.counts, each.counts, strict=True)]
        total.seconds += each.seconds
    return total
