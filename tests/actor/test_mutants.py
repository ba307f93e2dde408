"""The simulation of a replica with two runtimes finds faults that are put into it: each takes away one mechanism."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import closing

import pytest

from pillion.actors.multiplexer import replica
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.publishing import Publishing
from pillion.actors.worker.state import ComputeState
from pillion.dataflow.arrangements.peer import PeerArrangement
from pillion.dataflow.arrangements.publication import Publication
from pillion.dataflow.arrangements.trace import Trace
from pillion.messages.frontiers import TIME_LIMIT, Frontier
from tests.actor.test_replica import World, check_random_commands
from tests.actor.test_two_runtimes_holds import ById

SEEDS = 30
Mutation = Callable[[pytest.MonkeyPatch], None]


def broadcast_without_standing_hold(patch: pytest.MonkeyPatch) -> None:
    publish = Publishing.publish

    def without_hold(self: Publishing, trace: Trace) -> None:
        publish(self, trace)
        publication = trace.publication
        assert publication is not None and publication.standing_hold is not None
        publication.standing_hold.downgrade(TIME_LIMIT)

    patch.setattr(Publishing, "publish", without_hold)


def unpublished_is_empty_for_ever(patch: pytest.MonkeyPatch) -> None:
    begin = PeerArrangement.__init__

    def with_the_empty_frontier(self: PeerArrangement, *arguments: object) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        self.upper = None

    patch.setattr(PeerArrangement, "__init__", with_the_empty_frontier)


def bundles_go_by_id(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replica, "SharingRegistry", ById)
    patch.setattr(ComputeState, "incarnation", lambda self, number: ("", 0))  # pyright: ignore


def a_wake_up_is_lost(patch: pytest.MonkeyPatch) -> None:
    wake, calls = Publication._wake, itertools.count(1)  # pyright: ignore[reportPrivateUsage]

    def sometimes(self: Publication, upper: Frontier) -> None:
        if next(calls) % 5 == 0:
            self._waiting.clear()  # pyright: ignore[reportPrivateUsage]
        wake(self, upper)

    patch.setattr(Publication, "_wake", sometimes)


def both_runtimes_render_and_report(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Placement, "renders", lambda self, dataflow_class: True)  # pyright: ignore


def peeks_read_what_is_not_sealed(patch: pytest.MonkeyPatch) -> None:
    refresh = PeerArrangement.refresh

    def too_far(self: PeerArrangement) -> bool:
        moved = refresh(self)
        if self.upper is not None and self.publication is not None:
            self.upper += 1
        return moved

    patch.setattr(PeerArrangement, "refresh", too_far)


MUTATIONS: list[Mutation] = [
    broadcast_without_standing_hold,
    unpublished_is_empty_for_ever,
    bundles_go_by_id,
    a_wake_up_is_lost,
    both_runtimes_render_and_report,
    peeks_read_what_is_not_sealed,
]


def holds(seed: int) -> bool:
    """Whether a run finds nothing wrong."""
    try:
        with closing(World(seed, 1 + seed % 2, interactive=True)) as world:
            check_random_commands(world)
    except (Exception, pytest.fail.Exception):
        return False
    return True


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_simulation_finds_what_is_taken_away(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    assert not all(holds(seed) for seed in range(SEEDS))
    monkeypatch.undo()
    assert all(holds(seed) for seed in range(2))
