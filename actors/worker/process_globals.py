"""Settings of which a process has one value, whatever number of systems and runtimes it has.

Only one runtime of a system applies them (solo, or maintenance); on a process' first connection another one may
handle messages before that, so nothing that runs then may depend on them for correctness.
"""

from __future__ import annotations

import enum
import sys
import threading

from ..settings import SWITCH_INTERVAL, Settings


class ProcessGlobals(enum.Enum):
    """Whether a runtime applies the settings of the process, or takes them as they are."""

    APPLY = "apply"
    INHERIT = "inherit"


class SwitchInterval:
    """``sys.setswitchinterval`` on behalf of the runtimes that want a value for it: the least one of those wanted, and
    what it was before when none is wanted any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: dict[str, float] = {}
        self._before = sys.getswitchinterval()

    def want(self, owner: str, seconds: float) -> None:
        """``owner`` wants this value from now on; 0: any is right."""
        with self._lock:
            if not self._wanted:
                self._before = sys.getswitchinterval()
            if seconds > 0:
                self._wanted[owner] = seconds
            else:
                self._wanted.pop(owner, None)
            self._set()

    def forget(self, owner: str) -> None:
        """``owner`` is gone."""
        with self._lock:
            if self._wanted.pop(owner, None) is not None:
                self._set()

    def _set(self) -> None:
        sys.setswitchinterval(min(self._wanted.values(), default=self._before))


_SWITCH_INTERVAL = SwitchInterval()


def apply_settings(owner: str, settings: Settings) -> None:
    """Give the process the values in these settings, as long as ``owner`` lives."""
    _SWITCH_INTERVAL.want(owner, settings.get(SWITCH_INTERVAL))


def withdraw_settings(owner: str) -> None:
    """Give the process back the values that it had, unless others want theirs."""
    _SWITCH_INTERVAL.forget(owner)
