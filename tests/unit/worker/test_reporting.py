"""What a worker has told of a collection's frontiers."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.worker.reporting import ReportedFrontiers
from pillion.messages.frontiers import Frontier, less_equal, less_than
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Frontiers

ID = GlobalId("u", 1)
FRONTIER = st.one_of(st.none(), st.integers(0, 20))


def test_nothing_before_as_of_is_told() -> None:
    reported = ReportedFrontiers(ID, 5)
    assert reported.report(0, 4, 5) == Frontiers(ID, output=(5,))


def test_only_what_moved_is_told() -> None:
    reported = ReportedFrontiers(ID, 0)
    assert reported.report(1, 2, 1) == Frontiers(ID, (1,), (2,), (1,))
    assert reported.report(1, 2, 1) is None
    assert reported.report(1, 3, 1) == Frontiers(ID, input=(3,))


def test_the_empty_frontier_is_told_once() -> None:
    reported = ReportedFrontiers(ID, 0)
    assert reported.report(1, None, 1) == Frontiers(ID, (1,), (None,), (1,))
    assert reported.finish() == Frontiers(ID, write=(None,), output=(None,))
    assert reported.finish() is None


def test_a_new_connection_hears_everything_again() -> None:
    reported = ReportedFrontiers(ID, 0)
    reported.report(9, 9, 9)
    reported.restart(8)
    assert reported.report(9, 9, 9) == Frontiers(ID, (9,), (9,), (9,))


@given(st.integers(0, 10), st.lists(FRONTIER))
def test_what_is_told_starts_at_as_of_and_never_regresses(as_of: int, frontiers: list[Frontier]) -> None:
    reported = ReportedFrontiers(ID, as_of)
    told: list[Frontier] = []
    for frontier in frontiers:
        response = reported.report(frontier, frontier, frontier)
        if response is not None:
            assert response.write is not None
            told.append(response.write[0])
    assert all(less_equal(as_of, frontier) for frontier in told)
    assert all(less_than(earlier, later) for earlier, later in itertools.pairwise(told))
