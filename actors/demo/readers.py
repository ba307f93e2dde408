"""Threads that look things up at fixed times, whatever else the system is doing."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ..requests import Isolation
from ..system.index import Index

LOOKUPS_PER_SECOND = 50
"""By each thread. Latency counts from the scheduled time, so a lookup that has to wait for its turn shows it."""

Target = tuple[Index, Sequence[tuple[Any, ...]]]
"""An index, and keys to look up in it."""


class Readers:
    """Starts when its block begins and has stopped when it ends.

    Even threads read strictly (every write that returned before is seen, so a read may wait for maintenance), odd ones
    serializably (the latest complete time, never waiting).
    """

    def __init__(self, threads: int, targets: Sequence[Target], seed: int = 2013) -> None:
        levels = (Isolation.STRICT_SERIALIZABLE, Isolation.SERIALIZABLE)
        self.latencies: dict[Isolation, list[float]] = {level: [] for level in levels}
        """Seconds by isolation level."""
        self.kept_up = True
        """False once a thread was more than a second late with a lookup."""
        self._targets = targets
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._threads = [
            threading.Thread(
                target=self._run, args=(levels[number % 2], random.Random(seed + number)), name=f"reader-{number}"
            )
            for number in range(threads)
        ]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def _run(self, level: Isolation, chooser: random.Random) -> None:
        try:
            scheduled = time.perf_counter()
            while True:
                scheduled += 1 / LOOKUPS_PER_SECOND
                if self._stop.wait(max(scheduled - time.perf_counter(), 0)):
                    return
                index, keys = chooser.choice(self._targets)
                index.lookup(*chooser.choice(keys), isolation=level)
                latency = time.perf_counter() - scheduled
                self.latencies[level].append(latency)
                if latency > 1:
                    self.kept_up = False
        except Exception as error:
            self._failure = error
