"""Seeds, shrinking and the walk through all orders."""

from __future__ import annotations

import pytest

from pillion.actors.dispatch.exhaustive import ExhaustiveSchedule
from pillion.actors.simulation.errors import EmptySeedRange, UnusableSeedRange
from pillion.actors.simulation.explore import parse_seeds
from pillion.actors.simulation.model import Model
from pillion.actors.simulation.runs import Case, run_case
from pillion.actors.simulation.shrink import minimize, shrink


def test_seeds() -> None:
    assert parse_seeds("4711") == range(4711, 4712)
    assert parse_seeds("3..5") == range(3, 5)
    with pytest.raises(EmptySeedRange):
        parse_seeds("5..5")
    with pytest.raises(UnusableSeedRange):
        parse_seeds("a..b")


def test_minimize_finds_what_is_needed() -> None:
    assert minimize(range(40), lambda some: {3, 17, 18} <= set(some)) == [3, 17, 18]


def test_all_orders_within_the_bound_are_walked_once() -> None:
    walk = ExhaustiveSchedule(depth=3, departures=1)
    seen: list[tuple[int, ...]] = []
    while True:
        seen.append(tuple(walk.choose([None, None]) for _ in range(4)))  # type: ignore[list-item]
        if not walk.advance():
            break
    assert sorted(seen) == [(0, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0)]


def test_a_failing_run_is_made_small_and_can_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Model.rows
    monkeypatch.setattr(Model, "rows", lambda self, relation, time: rows(self, relation, max(time - 1, 0)))
    failed = next(outcome for seed in range(10) if (outcome := run_case(Case(seed))).broken)
    smallest = shrink(failed, most_runs=60)
    assert smallest.broken is not None and failed.broken is not None
    assert smallest.broken.rule is failed.broken.rule
    assert len(smallest.journal) < len(failed.journal)
    again = run_case(smallest.case)
    assert again.broken is not None and again.broken.rule is failed.broken.rule
