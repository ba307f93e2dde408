"""Every setting there is. ``docs/settings.md`` lists them for users; a test compares the two."""

from __future__ import annotations

import enum
from typing import Any

from .config import Config, Scope
from .parsing import GcFreeze, count, flag, fraction, gc_freeze, one_of, seconds, size, up_to


class PeekRouting(enum.StrEnum):
    """Which of two runtimes answers the peeks on a maintained index. A matter of speed, never of the answer."""

    INTERACTIVE = "interactive"
    MAINTENANCE = "maintenance"
    HINTED = "hinted"
    """The interactive runtime when the index has sealed the time already, else the maintenance runtime."""


ENABLE_COMPUTE_INTERACTIVE_RUNTIME = Config(
    "enable_compute_interactive_runtime",
    False,
    Scope.REPLICA,
    flag,
    "on or off; whether a replica runs a second runtime that answers reads",
    live=False,
)
ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS = Config(
    "enable_compute_interactive_dataflows",
    True,
    Scope.SYSTEM,
    flag,
    "on or off; whether dataflows of queries run on the interactive runtime, where there is one",
)
PEEK_ROUTING = Config(
    "peek_routing",
    PeekRouting.INTERACTIVE,
    Scope.REPLICA,
    one_of(PeekRouting),
    "interactive, maintenance or hinted; which of two runtimes answers peeks (hinted: the interactive one when it can "
    "answer at once)",
)

MAX_RESULT_SIZE = Config(
    "max_result_size", 1 << 30, Scope.SYSTEM, size, "bytes; a peek with a larger result is an error"
)
STASH_THRESHOLD = Config("peek_stash_threshold", 1 << 24, Scope.SYSTEM, size, "bytes; a larger result travels in parts")
SCAN_SLICE = Config(
    "peek_scan_slice", 1 << 14, Scope.REPLICA, count, "rows that a scan reads before other work gets its turn"
)

TURN_SECONDS = Config(
    "worker_turn_seconds", 0.001, Scope.REPLICA, seconds, "seconds of maintenance before other messages are heard"
)
TURN_STEPS = Config("worker_turn_steps", 1024, Scope.REPLICA, count, "operator steps before other messages are heard")
IDLE_SECONDS = Config(
    "worker_idle_seconds", 0.05, Scope.REPLICA, seconds, "seconds without work after which a worker tidies up"
)
IDLE_SLICE = Config("worker_idle_slice", 1 << 14, Scope.REPLICA, count, "rows that an idle worker merges at a time")
INTERACTIVE_STEP_ROWS = Config(
    "interactive_step_rows",
    1 << 14,
    Scope.REPLICA,
    count,
    "rows of work that the interactive runtime does on a dataflow at a time; no lookup waits longer than for that",
)
INTROSPECTION_PATIENCE = Config(
    "introspection_patience_seconds",
    0.002,
    Scope.REPLICA,
    seconds,
    "seconds that a read of introspection waits for a maintenance runtime that is busy; then it is answered with what "
    "that told last",
)

SWITCH_INTERVAL = Config(
    "process_switch_interval",
    0.0005,
    Scope.REPLICA,
    seconds,
    "seconds; sys.setswitchinterval of the process; 0 leaves it alone",
)
GC_THRESHOLD = Config(
    "process_gc_threshold",
    0,
    Scope.REPLICA,
    up_to((1 << 31) - 1),
    "containers; gc.set_threshold of the youngest generation; 0 leaves it alone",
)
GC_FREEZE = Config(
    "process_gc_freeze",
    GcFreeze.AUTO,
    Scope.REPLICA,
    gc_freeze,
    "auto, on or off; whether garbage collections leave out the objects that there are when it is turned on (auto: on "
    "where there are two runtimes)",
)
ARROW_CPU_THREADS = Config(
    "process_arrow_cpu_threads", 0, Scope.REPLICA, up_to(1024), "threads of Arrow for computing; 0 leaves them alone"
)
ARROW_IO_THREADS = Config(
    "process_arrow_io_threads", 0, Scope.REPLICA, up_to(1024), "threads of Arrow for files; 0 leaves them alone"
)
MEMORY_LIMIT = Config(
    "process_memory_limit",
    0,
    Scope.REPLICA,
    size,
    "bytes of memory beyond which a process refuses writes and new indexes; 0: process_memory_fraction decides",
)
MEMORY_FRACTION = Config(
    "process_memory_fraction",
    0.9,
    Scope.REPLICA,
    fraction,
    "part of the memory of the machine, or of its control group, that a process may have; 0: there is no limit",
)
CORE_AFFINITY = Config(
    "worker_core_affinity", False, Scope.REPLICA, flag, "on or off; whether each worker's thread has a core of its own"
)
MAINTENANCE_NICENESS = Config(
    "maintenance_niceness",
    5,
    Scope.REPLICA,
    up_to(19),
    "nice value of the maintenance runtime's threads where there are two runtimes; it can be raised, not lowered",
)

CONFIGS: tuple[Config[Any], ...] = (
    ENABLE_COMPUTE_INTERACTIVE_RUNTIME,
    ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS,
    PEEK_ROUTING,
    MAX_RESULT_SIZE,
    STASH_THRESHOLD,
    SCAN_SLICE,
    TURN_SECONDS,
    TURN_STEPS,
    IDLE_SECONDS,
    IDLE_SLICE,
    INTERACTIVE_STEP_ROWS,
    INTROSPECTION_PATIENCE,
    SWITCH_INTERVAL,
    GC_THRESHOLD,
    GC_FREEZE,
    ARROW_CPU_THREADS,
    ARROW_IO_THREADS,
    MEMORY_LIMIT,
    MEMORY_FRACTION,
    CORE_AFFINITY,
    MAINTENANCE_NICENESS,
)
"""In the order in which they are documented."""

BY_NAME: dict[str, Config[Any]] = {config.name: config for config in CONFIGS}
