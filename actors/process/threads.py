"""Where and how eagerly the operating system runs the threads of workers.

Linux knows a thread by a number, by which any other one can move it; elsewhere nothing happens here. What is set ends
with the thread, so there is nothing to restore: the threads are the system's own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence

from ..settings import CORE_AFFINITY, MAINTENANCE_NICENESS, Settings
from ..worker.placement import Placement

_IS_LINUX = platform.system() == "Linux"


def core_of(placement: Placement, worker: int, workers: int, cores: Sequence[int]) -> int | None:
    """The core for a worker's thread, of those that the process may use; None: any of them.

    Worker i of the runtime that maintains gets core i, worker i of the interactive one core ``workers + i``. When there
    are not that many it gets none, and is never put where a maintenance worker is, which would wait for it.
    """
    at = worker + workers if placement is Placement.INTERACTIVE else worker
    return cores[at] if at < len(cores) else None


class WorkerThread:
    """One worker's thread.

    Args:
        thread: its number in the operating system; None where it has none of its own: then nothing happens.
        log: hears a sentence about what the system does not allow.
    """

    def __init__(self, thread: int | None, log: Callable[[str], object]) -> None:
        # Elsewhere, such a number may be that of another process.
        self._thread = thread if _IS_LINUX else None
        self._log = log
        self._cores: tuple[int, ...] = ()
        """Those on which it may run, unless told otherwise."""
        self._core: int | None = None
        self._least = self._niceness = 0
        """What the process was started with, and what it is now."""
        if self._thread is not None:
            try:
                self._cores = tuple(sorted(os.sched_getaffinity(self._thread)))
                self._least = self._niceness = os.getpriority(os.PRIO_PROCESS, self._thread)
            except OSError as error:
                log(f"the thread stays as it is, because the system does not say how that is: {error}")
                self._thread = None

    def settle(self, placement: Placement, worker: int, workers: int, settings: Settings) -> None:
        """Do what the settings say, for worker ``worker`` of ``workers`` in a runtime."""
        self.pin(placement, worker, workers, settings.get(CORE_AFFINITY))
        if placement is Placement.MAINTENANCE:
            self.be_nice(settings.get(MAINTENANCE_NICENESS))

    def pin(self, placement: Placement, worker: int, workers: int, wanted: bool) -> None:
        """Give it a core of its own, or let it run on any."""
        core = core_of(placement, worker, workers, self._cores) if wanted else None
        if self._thread is not None and core != self._core:
            try:
                os.sched_setaffinity(self._thread, self._cores if core is None else (core,))
            except OSError as error:
                self._log(f"the thread stays on the cores that it has: {error}")
            else:
                self._core = core

    def be_nice(self, niceness: int) -> None:
        """Let others go first, at least as much as the process does. To go back takes a privilege that few have."""
        niceness = max(niceness, self._least)
        if self._thread is not None and niceness != self._niceness:
            try:
                os.setpriority(os.PRIO_PROCESS, self._thread, niceness)
            except OSError as error:
                self._log(f"the thread keeps its nice value {self._niceness} instead of {niceness}: {error}")
            else:
                self._niceness = niceness
