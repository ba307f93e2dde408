"""How far the two runtimes of a process are apart.

Both hear the same commands in the same order. An index that both use compacts only as far as the slower one has heard
that it may: a runtime that falls behind holds back compaction, and memory grows. That is the gap, per collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...messages.frontiers import Frontier
from ...messages.ids import GlobalId
from ..worker.placement import Placement
from .system import SystemMetrics


@dataclass(frozen=True, slots=True)
class CompactionGap:
    """One index on one worker of each runtime.

    Attributes:
        maintenance: the compaction that the maintenance runtime has applied last.
        interactive: the one that the interactive runtime has applied last, its standing hold.
    """

    id: GlobalId
    worker: int
    maintenance: Frontier
    interactive: Frontier

    @property
    def timestamps(self) -> int:
        """By how much the interactive runtime is behind; 0 when it is ahead, which holds nothing back."""
        if self.maintenance is None or self.interactive is None:
            return 0
        return max(0, self.maintenance - self.interactive)


def compaction_gaps(metrics: SystemMetrics) -> Iterator[CompactionGap]:
    """The gaps of all collections that the maintenance runtime keeps and the interactive one knows as peers, apart from
    introspection."""
    maintained = {state.worker: state for state in metrics.runtime(Placement.MAINTENANCE)}
    for state in metrics.runtime(Placement.INTERACTIVE):
        keeper = maintained.get(state.worker)
        if keeper is None:
            continue
        for id, peer in list(state.peers.items()):
            collection = keeper.collections.get(id)
            if collection is not None and not collection.running.is_logging:
                yield CompactionGap(id, state.worker, collection.compaction, peer.compaction)
