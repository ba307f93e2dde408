"""How far the two runtimes are apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from pillion.actors.metrics.gaps import CompactionGap, compaction_gaps
from pillion.actors.metrics.system import SystemMetrics
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.state import Collection, ComputeState, Peer
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId

KEPT, DROPPED, OWN = GlobalId("u", 1), GlobalId("u", 2), GlobalId("t", 3)


def applied(frontier: Frontier) -> SimpleNamespace:
    """A collection or a peer of which this compaction was applied last."""
    return SimpleNamespace(compaction=frontier, running=SimpleNamespace(is_logging=False))


@pytest.mark.parametrize(
    ("maintenance", "interactive", "timestamps"),
    [(5, 3, 2), (5, 5, 0), (3, 5, 0), (None, 5, 0), (5, None, 0)],
)
def test_only_a_runtime_that_is_behind_holds_something_back(
    maintenance: Frontier, interactive: Frontier, timestamps: int
) -> None:
    assert CompactionGap(KEPT, 0, maintenance, interactive).timestamps == timestamps


def test_gaps_are_those_of_what_both_runtimes_have_worker_by_worker() -> None:
    metrics = SystemMetrics()
    for worker in range(2):
        maintenance = ComputeState(worker, Placement.MAINTENANCE)
        maintenance.collections[KEPT] = cast(Collection, applied(10 + worker))
        interactive = ComputeState(worker, Placement.INTERACTIVE)
        interactive.peers[KEPT] = cast(Peer, applied(7))
        interactive.peers[DROPPED] = cast(Peer, applied(7))
        interactive.collections[OWN] = cast(Collection, applied(7))
        metrics.add_worker(interactive)
        metrics.add_worker(maintenance)
    gaps = list(compaction_gaps(metrics))
    assert gaps == [CompactionGap(KEPT, 0, 10, 7), CompactionGap(KEPT, 1, 11, 7)]
    assert [gap.timestamps for gap in gaps] == [3, 4]


def test_a_single_runtime_has_none() -> None:
    metrics = SystemMetrics()
    metrics.add_worker(ComputeState(0, Placement.SOLO))
    assert list(compaction_gaps(metrics)) == []
