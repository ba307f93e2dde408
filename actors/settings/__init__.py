"""Settings: typed, named values that change how a system runs while it runs.

A value is looked up in this order: what was stored for the replica (its override), what was stored for the whole
system (the environment's value), the default.

    ENABLE_COMPUTE_INTERACTIVE_RUNTIME.get_with_overrides(settings, overrides)

A replica is sent the values that hold for it, and looks them up in the :class:`Settings` that it keeps.
"""

from __future__ import annotations

from .config import Config as Config
from .config import Scope as Scope
from .definitions import ARROW_CPU_THREADS as ARROW_CPU_THREADS
from .definitions import ARROW_IO_THREADS as ARROW_IO_THREADS
from .definitions import BY_NAME as BY_NAME
from .definitions import CONFIGS as CONFIGS
from .definitions import CORE_AFFINITY as CORE_AFFINITY
from .definitions import ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS as ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS
from .definitions import ENABLE_COMPUTE_INTERACTIVE_RUNTIME as ENABLE_COMPUTE_INTERACTIVE_RUNTIME
from .definitions import GC_FREEZE as GC_FREEZE
from .definitions import GC_THRESHOLD as GC_THRESHOLD
from .definitions import IDLE_SECONDS as IDLE_SECONDS
from .definitions import IDLE_SLICE as IDLE_SLICE
from .definitions import INTERACTIVE_STEP_ROWS as INTERACTIVE_STEP_ROWS
from .definitions import INTROSPECTION_PATIENCE as INTROSPECTION_PATIENCE
from .definitions import MAINTENANCE_NICENESS as MAINTENANCE_NICENESS
from .definitions import MAX_RESULT_SIZE as MAX_RESULT_SIZE
from .definitions import MEMORY_FRACTION as MEMORY_FRACTION
from .definitions import MEMORY_LIMIT as MEMORY_LIMIT
from .definitions import PEEK_ROUTING as PEEK_ROUTING
from .definitions import SCAN_SLICE as SCAN_SLICE
from .definitions import STASH_THRESHOLD as STASH_THRESHOLD
from .definitions import SWITCH_INTERVAL as SWITCH_INTERVAL
from .definitions import TURN_SECONDS as TURN_SECONDS
from .definitions import TURN_STEPS as TURN_STEPS
from .definitions import PeekRouting as PeekRouting
from .overrides import Overrides as Overrides
from .values import Settings as Settings
