"""What a replica in a process of its own says of its memory."""

from __future__ import annotations

from ...messages.responses import Status
from ..process.memory import OVER_LIMIT, Memory
from ..settings import MEMORY_FRACTION, MEMORY_LIMIT
from .link import Link
from .state import ComputeState

LOOK_EVERY = 0.1
"""Seconds between two looks at the memory of the process."""


class MemoryWatch:
    """Tells the controller when the process comes to have more memory than it may, and when it has no longer.

    A replica refuses no command: its controller has promised the application what it asks for. So it is the controller
    that refuses, and it has to know.

    Args:
        memory: of this process; None: it is not looked at.
    """

    def __init__(self, state: ComputeState, link: Link, memory: Memory | None) -> None:
        self._state = state
        self._link = link
        self._memory = memory
        self._next = 0.0
        self._over = False

    def look(self, now: float) -> bool:
        """Look at the memory, unless somebody did a moment ago. Whether to look again when time has passed, though
        nothing happens: who is refused everything does nothing."""
        if self._memory is None or now < self._next:
            return False
        self._next = now + LOOK_EVERY
        settings = self._state.settings
        excess = self._memory.excess(settings.get(MEMORY_LIMIT), settings.get(MEMORY_FRACTION))
        if excess is not None and not self._over:
            self._link.respond(Status(OVER_LIMIT, {"over": True, "resident": excess.resident, "limit": excess.limit}))
        elif excess is None and self._over:
            self._link.respond(Status(OVER_LIMIT, {"over": False}))
        self._over = excess is not None
        return self._over

    def connected(self) -> None:
        """A new connection knows nothing yet."""
        self._over = False
        self.configured()

    def configured(self) -> None:
        """The process may have more, or less: look again as soon as can be."""
        self._next = 0.0
