"""Making a failing run small: as few actions, and as few departures from the order of sending, as still fail.

Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): leave out halves,
then quarters, and so on; whatever still breaks the same rule is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from .runs import Case, Outcome, run_case

T = TypeVar("T")

MOST_RUNS = 400
"""That shrinking may take."""


class Shrinking:
    """The search for a smaller run that breaks the same rule.

    Attributes:
        smallest: the least that was found.
    """

    def __init__(self, failed: Outcome, most_runs: int = MOST_RUNS) -> None:
        assert failed.broken is not None, "only what fails is made small"
        self.smallest = failed
        self._rule = failed.broken.rule
        self._runs_left = most_runs

    def run(self) -> Outcome:
        """The outcome of the smallest run, with its trace."""
        self._leave_out_actions()
        if self._try(replace(self.smallest.case, departures={})):
            # It takes no special order; with none to keep, more can be left out.
            self._leave_out_actions()
        else:
            self._leave_out_departures()
        traced = run_case(self.smallest.case, keep_trace=True)
        return traced if traced.broken is not None else replace(self.smallest, trace=traced.trace)

    def _leave_out_actions(self) -> None:
        case = self.smallest.case
        kept = case.kept if case.kept is not None else tuple(range(len(case.actions[1])))
        # What came after the failure has nothing to do with it.
        first = kept[: self.smallest.done]
        minimize(first, lambda some: self._try(replace(self.smallest.case, kept=tuple(some))))

    def _leave_out_departures(self) -> None:
        given = self.smallest.departures if self.smallest.case.departures is None else self.smallest.case.departures
        minimize(sorted(given.items()), lambda some: self._try(replace(self.smallest.case, departures=dict(some))))

    def _try(self, case: Case) -> bool:
        if self._runs_left <= 0:
            return False
        self._runs_left -= 1
        outcome = run_case(case)
        fails = outcome.broken is not None and outcome.broken.rule is self._rule
        if fails:
            self.smallest = outcome
        return fails


def shrink(failed: Outcome, most_runs: int = MOST_RUNS) -> Outcome:
    """The smallest run found that breaks the same rule as this one, with its trace."""
    return Shrinking(failed, most_runs).run()


def minimize(items: Sequence[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """A part of ``items`` that fails, of which no item alone can be left out. ``items`` fail as a whole."""
    kept = list(items)
    size = max(1, len(kept) // 2)
    while kept:
        begin, left_out = 0, False
        while begin < len(kept):
            rest = kept[:begin] + kept[begin + size :]
            if fails(rest):
                kept, left_out = rest, True
            else:
                begin += size
        if size == 1 and not left_out:
            break
        size = max(1, size // 2) if not left_out or size > 1 else 1
    return kept
