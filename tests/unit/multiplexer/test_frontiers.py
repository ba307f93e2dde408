"""Frontiers of several workers as one."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.multiplexer.frontiers import FrontierMerge
from pillion.messages.frontiers import Frontier, less_than, minimum
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Frontiers

ID = GlobalId("u", 1)


def moved(frontier: Frontier) -> Frontiers:
    return Frontiers(ID, (frontier,), (frontier,), (frontier,))


def test_nothing_is_told_before_every_worker_reported() -> None:
    merge = FrontierMerge(ID, 2)
    assert merge.absorb(0, moved(5)) is None
    assert merge.absorb(1, moved(3)) == moved(3)


def test_only_a_move_of_the_minimum_is_told() -> None:
    merge = FrontierMerge(ID, 2)
    merge.absorb(0, moved(3))
    merge.absorb(1, moved(3))
    assert merge.absorb(0, moved(7)) is None
    assert merge.absorb(1, moved(5)) == moved(5)


def test_kinds_are_told_apart() -> None:
    merge = FrontierMerge(ID, 1)
    assert merge.absorb(0, Frontiers(ID, write=(4,))) == Frontiers(ID, write=(4,))
    assert not merge.is_finished
    assert merge.absorb(0, Frontiers(ID, write=(None,), input=(None,), output=(None,))) == moved(None)
    assert merge.is_finished


@given(st.data(), st.integers(1, 4))
def test_what_is_told_follows_the_minimum_and_never_regresses(data: st.DataObject, workers: int) -> None:
    merge = FrontierMerge(ID, workers)
    reported: list[tuple[Frontier] | None] = [None] * workers
    told: list[Frontier] = []
    for _ in range(data.draw(st.integers(0, 30))):
        worker = data.draw(st.integers(0, workers - 1))
        before = reported[worker]
        if before is not None and before[0] is None:
            continue
        low = 0 if before is None or before[0] is None else before[0] + 1
        frontier = data.draw(st.one_of(st.integers(low, low + 5), st.none()))
        reported[worker] = (frontier,)
        response = merge.absorb(worker, moved(frontier))
        if response is not None:
            assert response.write is not None
            told.append(response.write[0])
    known = [report[0] for report in reported if report is not None]
    assert all(less_than(earlier, later) for earlier, later in itertools.pairwise(told))
    if len(known) == workers:
        assert told[-1] == minimum(known)
    else:
        assert told == []
