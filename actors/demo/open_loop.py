"""Reads at fixed moments, however long others take."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

Read = Callable[[int], object]
"""Read the thing of this number, and check the answer."""


@dataclass(frozen=True)
class TimedRead:
    """``due``: when it was to be answered, in seconds after the beginning. ``latency``: seconds from then to its
    answer; where there was none, to the moment at which nobody waited for it any more, so it would have been longer."""

    due: float
    latency: float
    is_answered: bool


class OpenLoop:
    """``rate`` reads per second are due for so many ``seconds``; all that were due are done, or until ``over``.

    Each is timed from the moment at which it was due, so that one that waits for a client to be free counts in full.
    """

    def __init__(self, read: Read, rate: float, seconds: float, begin: float, over: threading.Event) -> None:
        """``begin``: on the clock of ``time.perf_counter``."""
        self._read = read
        self._rate = rate
        self._count = round(rate * seconds)
        self._begin = begin
        self._over = over
        self._next = itertools.count()
        self._latencies: dict[int, float] = {}

    def client(self) -> None:
        """One of the threads that read: the next read that nobody has begun, again and again."""
        for number in self._next:  # one step of the interpreter, so no two clients get the same
            due = self._begin + number / self._rate
            if number >= self._count or self._over.wait(max(due - time.perf_counter(), 0)):
                return
            self._read(number)
            self._latencies[number] = time.perf_counter() - due

    def reads(self, given_up: float) -> list[TimedRead]:
        """Every read that was due, when its clients are done; ``given_up``: when it was over, on the same clock."""
        latencies = dict(self._latencies)
        timed: list[TimedRead] = []
        for number in range(self._count):
            due, latency = number / self._rate, latencies.get(number)
            waited = max(given_up - self._begin - due, 0)
            timed.append(TimedRead(due, waited if latency is None else latency, latency is not None))
        return timed
