"""Settings of which a process has one value, whatever number of runtimes it has.

Only one runtime of a process applies them (solo, or maintenance); on a process' first connection another one may
handle messages before that, so nothing that runs then may depend on them for correctness.
"""

from __future__ import annotations

import enum
import sys

from ..settings import SWITCH_INTERVAL, Settings


class ProcessGlobals(enum.Enum):
    """Whether a runtime applies the settings of the process, or takes them as they are."""

    APPLY = "apply"
    INHERIT = "inherit"


def apply_settings(settings: Settings) -> None:
    """Give the process the values in these settings."""
    interval = settings.get(SWITCH_INTERVAL)
    if interval > 0 and sys.getswitchinterval() != interval:
        sys.setswitchinterval(interval)
