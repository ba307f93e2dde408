"""Whole systems under a random workload, with one runtime and with two, with replicas here and elsewhere: whatever is
asked, in whatever order the messages arrive, and whatever breaks meanwhile, every answer is the oracle's.

More seeds: ``pillion simulate --seeds 0..10000``.
"""

from __future__ import annotations

from collections import Counter

import pytest

from pillion.actors.simulation.model import Model
from pillion.actors.simulation.rules import Rule
from pillion.actors.simulation.runs import Case, run_case

SEEDS = 100
AT_ONCE = 20


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
@pytest.mark.parametrize("schedule", ["uniform", "priority"])
def test_every_answer_is_the_oracles(first: int, schedule: str) -> None:
    answered: Counter[str] = Counter()
    for seed in range(first, first + AT_ONCE):
        outcome = run_case(Case(seed, schedule=schedule))
        assert outcome.broken is None, f"{outcome.broken}\nagain: {outcome.case.command}"
        answered += outcome.checked
    # All kinds of requests are there.
    assert {"commit", "refused", "create", "drop", "peek", "query", "direct", "wait"} <= answered.keys()
    assert {"introspect", "subscribe", "unsubscribe", "hold", "release", "configure"} <= answered.keys()


def test_equal_seeds_are_equal_runs() -> None:
    first, second = (run_case(Case(7), keep_trace=True) for _ in range(2))
    assert first.journal == second.journal
    assert [delivery.line() for delivery in first.trace] == [delivery.line() for delivery in second.trace]
    assert first.trace


def test_a_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Model.rows
    monkeypatch.setattr(Model, "rows", lambda self, relation, time: rows(self, relation, max(time - 1, 0)))
    broken = [run_case(Case(seed)).broken for seed in range(10)]
    assert Rule.ANSWER in {error.rule for error in broken if error is not None}
