"""Reads as a load: one after the other, or each at its moment.

In an *open* loop reads come at fixed moments and are timed from the moment at which they were due, so that one that
waits for another counts in full. Its rate is a fraction of the *capacity*, what a closed loop manages: at more than
that, times only say how long the loop has run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

Read = Callable[[int], object]
"""Read the thing of this number, and check the answer."""

LOAD = 0.3
"""The fraction of the capacity at which reads come."""


def closed(read: Read, count: int) -> list[float]:
    """Seconds of each of so many reads, one after the other."""
    timings: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        read(number)
        timings.append(time.perf_counter() - start)
    return timings


def capacity(read: Read, seconds: float) -> float:
    """How many reads per second one after the other come to, within so many seconds."""
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        read(count)
        count += 1
    return count / (time.perf_counter() - start)


def open_loop(read: Read, rate: float, seconds: float) -> list[float]:
    """Seconds from the moment at which each read was due; ``rate`` reads are due per second."""
    timings: list[float] = []
    begin = time.perf_counter()
    for number in range(int(rate * seconds)):
        due = begin + number / rate
        wait = due - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        read(number)
        timings.append(time.perf_counter() - due)
    return timings
