"""Whole systems under a random workload, with one runtime and with two, on one worker and on two: whatever is asked, in
whatever order the messages arrive, and whatever breaks meanwhile, every answer is the oracle's.

More seeds: ``PILLION_WORKLOAD_SEEDS=1000 python -m pytest tests/property/test_two_runtimes_workload.py``.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from .workload.seeds import run_seed

SEEDS = int(os.environ.get("PILLION_WORKLOAD_SEEDS", "240"))
AT_ONCE = 20


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_every_answer_is_the_oracles(first: int) -> None:
    answered: Counter[str] = Counter()
    for seed in range(first, min(first + AT_ONCE, SEEDS)):
        answered += run_seed(seed).checked
    if SEEDS - first >= AT_ONCE:
        # All kinds of requests are there.
        assert {
            "commit",
            "refused",
            "create",
            "drop",
            "peek",
            "query",
            "direct",
            "wait",
            "introspect",
        } <= answered.keys()
        assert {"subscribe", "unsubscribe", "hold", "release", "configure"} <= answered.keys()


def test_equal_seeds_are_equal_runs() -> None:
    first, second = run_seed(3), run_seed(3)
    assert first.journal == second.journal
    assert first.system.dispatcher.steps == second.system.dispatcher.steps


def test_a_failure_says_how_to_run_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from .workload.model import Model

    rows = Model.rows
    monkeypatch.setattr(Model, "rows", lambda self, relation, time: rows(self, relation, max(time - 1, 0)))
    with pytest.raises(AssertionError, match=r"again: python -m tests\.property\.workload --seed \d+ --steps \d+"):
        for seed in range(10):
            run_seed(seed)
