"""Threads that write rows one by one, each as fast as it can."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from . import inputs

Order = tuple[int, int, float]
Write = Callable[[Order], object]
"""Write one row, and return once it is durable."""


class Written(NamedTuple):
    """``rate``: writes per second of all threads together; ``seconds``: that each write took."""

    rate: float
    seconds: list[float]


def write_with(threads: int, each: int, open: Callable[[], Write]) -> Written:
    """Have every thread write so many rows of its own; ``open`` gives it what it writes with."""
    seconds: list[float] = []
    failures: list[BaseException] = []
    start = threading.Barrier(threads + 1)

    def run(number: int) -> None:
        try:
            write = open()
            rows = [(number * each + n, n % inputs.CUSTOMERS, float(n)) for n in range(each)]
            timings: list[float] = []
            start.wait()
            for row in rows:
                begin = time.perf_counter()
                write(row)
                timings.append(time.perf_counter() - begin)
            seconds.extend(timings)
        except BaseException as error:
            failures.append(error)
            start.abort()

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    start.wait()
    begin = time.perf_counter()
    for thread in running:
        thread.join()
    elapsed = time.perf_counter() - begin
    if failures:
        raise failures[0]
    return Written(threads * each / elapsed, seconds)
