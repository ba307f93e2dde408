"""Threads that work on a system beside the thread that measures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from ..errors import SystemStopped


class Crew:
    """Starts threads, and has joined them when its block ends. What fails in one of them ends the others, and is raised
    by the block.

    The system that they use must be stopped before that, so its block goes inside:

        with Crew() as crew, ActorSystem() as system:
            reading = crew.start("reading", read)
            crew.wait_for([reading], seconds=3)
    """

    def __init__(self) -> None:
        self.over = threading.Event()
        """Set when everybody is to stop. A system that is stopped later fails nobody."""
        self._threads: list[threading.Thread] = []
        self._failure: BaseException | None = None

    def start(self, name: str, work: Callable[[], None]) -> threading.Thread:
        """Work in a thread of this name. ``work`` looks at ``over`` between two things that it does."""

        def run() -> None:
            try:
                work()
            except BaseException as error:
                if not (isinstance(error, SystemStopped) and self.over.is_set()):
                    self._failure = self._failure or error
                    self.over.set()

        thread = threading.Thread(target=run, name=name)
        self._threads.append(thread)
        thread.start()
        return thread

    def wait_for(self, threads: list[threading.Thread], seconds: float) -> None:
        """Wait until these are done, but no longer than so many seconds; then it is over for everybody."""
        deadline = time.perf_counter() + seconds
        for thread in threads:
            thread.join(max(deadline - time.perf_counter(), 0))
        self.over.set()

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()
        if self._failure is not None and error is None:
            raise self._failure
