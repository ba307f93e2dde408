"""What is refused while there is too little memory."""

from __future__ import annotations

import pyarrow as pa

from ...messages.responses import Status
from ..errors import MemoryLimitReached
from ..process.memory import Excess, Memory
from ..requests import Commit, Delete, DeleteKeys, DeleteWhere, Request
from ..settings import MEMORY_FRACTION, MEMORY_LIMIT, Overrides
from .state import ControllerState

_NO_OVERRIDES = Overrides({}, lambda problem: None)
_GIVES_BACK = (Delete, DeleteKeys, DeleteWhere)


class MemoryGuard:
    """Refuses writes and new indexes while this process, or that of a replica, has more memory than it may.

    Everything else goes on: reads, deletions, drops.
    """

    def __init__(self, state: ControllerState, memory: Memory) -> None:
        self._state = state
        self._memory = memory
        self._replicas: dict[str, Excess] = {}

    def check(self, request: Request) -> None:
        """
        Raises:
            MemoryLimitReached: this would take more memory.
        """
        if isinstance(request, Commit) and all(isinstance(change, _GIVES_BACK) for change in request.changes):
            return
        excess = self._excess()
        if excess is not None:
            # What was freed may still be in a pool of this process.
            pa.default_memory_pool().release_unused()
            excess = self._excess()
        if excess is not None:
            raise MemoryLimitReached(excess.resident, excess.limit)
        for name, excess in self._replicas.items():
            raise MemoryLimitReached(excess.resident, excess.limit, name)

    def heard(self, replica: str, status: Status) -> None:
        """A replica said how its process is doing."""
        if status.details["over"]:
            self._replicas[replica] = Excess(int(status.details["resident"]), int(status.details["limit"]))
        else:
            self._replicas.pop(replica, None)

    def connected(self, replica: str) -> None:
        """A replica begins anew: it will say again how it is doing."""
        self._replicas.pop(replica, None)

    def _excess(self) -> Excess | None:
        """What this process has too much, by the settings of the replica that is in it, if one is."""
        state = self._state
        here = next((replica.overrides for replica in state.replicas.values() if replica.workers), _NO_OVERRIDES)
        limit = MEMORY_LIMIT.get_with_overrides(state.settings, here)
        return self._memory.excess(limit, MEMORY_FRACTION.get_with_overrides(state.settings, here))
