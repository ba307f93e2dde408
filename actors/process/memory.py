"""How much memory the process has, and how much it may have.

The limit is a soft one. Beyond it the system refuses what would take more, and goes on to answer reads and to take
what gives memory back: deletions, drops. A process that the operating system ends for its memory does neither.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

OVER_LIMIT = "memory limit"
"""The kind of the status by which a replica in another process says that it has more memory than it may, and that it
has no longer: ``over``, ``resident`` and ``limit``, in bytes."""

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_UNLIMITED = 1 << 60
"""Version 1 of control groups says that there is no limit by a number of this size or more."""


@dataclass(frozen=True, slots=True)
class Excess:
    """The process has more memory than it may.

    Attributes:
        resident, limit: bytes.
    """

    resident: int
    limit: int


class Memory:
    """The memory of this process. Cheap enough to look at on every request: some two microseconds."""

    @property
    def resident(self) -> int | None:
        """Bytes of memory that the process has; None where the platform does not say."""
        statm = _statm(os.getpid())
        return None if statm is None else int(os.pread(statm, 256, 0).split(b" ", 2)[1]) * _page_size()

    def excess(self, limit: int, fraction: float) -> Excess | None:
        """Whether the process has too much.

        Args:
            limit: bytes that it may have; 0: ``fraction`` decides.
            fraction: the part that it may have of what there is; 0: there is no limit.
        """
        allowed = limit or int(fraction * available_memory())
        if not allowed:
            return None
        resident = self.resident
        return Excess(resident, allowed) if resident is not None and resident > allowed else None


@functools.cache
def _page_size() -> int:
    return os.sysconf("SC_PAGE_SIZE")


@functools.cache
def _statm(process: int) -> int | None:
    """What Linux says about the memory of this process, open; a forked child opens its own."""
    try:
        return os.open(f"/proc/{process}/statm", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None  # Another system, which says what a process had at most, and not what it has.


@functools.cache
def available_memory() -> int:
    """Bytes: the memory of the machine, or what the control groups of the process leave of it; 0 when unknown."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    return min([machine, *group_limits(_CGROUPS, _OWN_GROUPS)])


def group_limits(root: Path, own: Path) -> list[int]:
    """The memory limits, in bytes, of the control groups of a process and of those around them.

    Args:
        root: where the control groups are mounted.
        own: the file that says which groups the process is in.
    """
    limits: list[int] = []
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return limits
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = top / path.lstrip("/")
        # A container may see its own group at the top, under the path that it has outside.
        for folder in {top, *(each for each in (group, *group.parents) if each.is_relative_to(top))}:
            try:
                text = (folder / name).read_text().strip()
            except OSError:
                continue
            if text.isdecimal() and int(text) < _UNLIMITED:
                limits.append(int(text))
    return limits
