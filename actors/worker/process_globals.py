"""Settings of which a process has one value, whatever number of systems and runtimes it has.

One runtime of a process applies them: the maintenance runtime, or the only one. The interactive runtime inherits what
is there. Where several systems want different values, the one that suits all of them is chosen. When the last system
has stopped, the process has the values that the application had given it.

**The window on a process' first connection.** Both runtimes hear of the settings in the same order, but each at its own
pace: the interactive runtime may handle the first messages before the maintenance runtime has applied what it heard,
with the values that the process had before. Nothing that it does then may depend on them for being correct. Nothing
does: they decide how fast and how evenly threads run and when memory is refused, never what a read returns.
"""

from __future__ import annotations

import enum
import sys

import pyarrow as pa

from ..process.garbage import Freezing, set_young_threshold, young_threshold
from ..process.shared_value import SharedValue
from ..settings import ARROW_CPU_THREADS, ARROW_IO_THREADS, GC_FREEZE, GC_THRESHOLD, SWITCH_INTERVAL, Settings
from ..settings.parsing import GcFreeze


class ProcessGlobals(enum.Enum):
    """Whether a runtime applies the settings of the process, or takes them as they are."""

    APPLY = "apply"
    INHERIT = "inherit"


class ProcessSettings:
    """The settings of the process, and who wants which values."""

    def __init__(self) -> None:
        self._switch_interval = SharedValue(sys.getswitchinterval, sys.setswitchinterval, min)
        self._gc_threshold = SharedValue(young_threshold, set_young_threshold, max)
        self._gc_freeze = Freezing()
        self._cpu_threads = SharedValue(pa.cpu_count, pa.set_cpu_count, max)
        self._io_threads = SharedValue(pa.io_thread_count, pa.set_io_thread_count, max)

    def apply(self, owner: str, settings: Settings, *, reads_apart: bool = False) -> None:
        """Give the process the values in these settings, as long as ``owner`` lives. Zero: any value is right.

        ``reads_apart``: a second runtime answers reads, which a full collection would delay."""
        self._switch_interval.want(owner, settings.get(SWITCH_INTERVAL) or None)
        self._gc_threshold.want(owner, settings.get(GC_THRESHOLD) or None)
        freeze = settings.get(GC_FREEZE)
        self._gc_freeze.want(owner, reads_apart if freeze is GcFreeze.AUTO else freeze is GcFreeze.ON)
        self._cpu_threads.want(owner, settings.get(ARROW_CPU_THREADS) or None)
        self._io_threads.want(owner, settings.get(ARROW_IO_THREADS) or None)

    def withdraw(self, owner: str) -> None:
        """``owner`` is gone."""
        for value in (self._switch_interval, self._gc_threshold, self._cpu_threads, self._io_threads):
            value.want(owner, None)
        self._gc_freeze.want(owner, False)


PROCESS_SETTINGS = ProcessSettings()
"""Of this process."""


def apply_settings(owner: str, settings: Settings, *, reads_apart: bool) -> None:
    """Give the process the values in these settings, as long as ``owner`` lives."""
    PROCESS_SETTINGS.apply(owner, settings, reads_apart=reads_apart)


def withdraw_settings(owner: str) -> None:
    """Give the process back the values that it had, unless others want theirs."""
    PROCESS_SETTINGS.withdraw(owner)
