"""Many runs, one after the other, until one fails; told as they go, and summed up."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TextIO

from .errors import EmptySeedRange, UnusableSeedRange
from .runs import EXHAUSTIVE, Case, Outcome, Shape, run_case, run_paths

_RANGE = re.compile(r"(?P<first>\d+)(?:\.\.(?P<end>\d+))?")
_TOLD_EVERY = 0.2
"""Seconds."""


def parse_seeds(text: str) -> range:
    """Read ``4711`` or ``0..100``, which does not include 100.

    Raises:
        UnusableSeedRange, EmptySeedRange: it is neither, or has no seed.
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise UnusableSeedRange(text)
    first = int(match["first"])
    seeds = range(first, first + 1 if match["end"] is None else int(match["end"]))
    if not seeds:
        raise EmptySeedRange(text)
    return seeds


@dataclass
class Summary:
    """What came of many runs.

    Attributes:
        runs, messages: how many there were.
        seconds: of computing time.
        checked: how many answers of each kind were compared.
        failed: the first run that failed.
        unfinished: the seeds of which not all orders within the bound were run.
    """

    runs: int = 0
    messages: int = 0
    seconds: float = 0.0
    checked: Counter[str] = field(default_factory=Counter[str])
    failed: Outcome | None = None
    unfinished: int = 0

    @property
    def throughput(self) -> float:
        """Messages per second of computing time."""
        return self.messages / self.seconds if self.seconds else 0.0

    def line(self) -> str:
        """One line of what there was."""
        answers = self.checked.total()
        return (
            f"{self.runs:,} runs, {self.messages:,} messages ({self.throughput:,.0f} per second), "
            f"{answers:,} answers compared with the oracle"
        )


def explore(seeds: Sequence[int], like: Case, *, most_orders: int, progress: TextIO | None = None) -> Summary:
    """Run a case under every seed, until one fails.

    Args:
        most_orders: with the exhaustive schedule, how many orders of each seed are run at most.
        progress: where it is told how far it is; None: nowhere.
    """
    summary = Summary()
    begin, told = time.process_time(), 0.0
    for number, seed in enumerate(seeds):
        case = replace(like, seed=seed)
        before = summary.runs
        for outcome in _runs(case, most_orders):
            summary.runs += 1
            summary.messages += outcome.messages
            summary.checked += outcome.checked
            summary.seconds = time.process_time() - begin
            if outcome.broken is not None:
                summary.failed = outcome
                break
            if progress is not None and time.monotonic() - told > _TOLD_EVERY:
                told = time.monotonic()
                progress.write(f"\rseed {seed} ({number + 1} of {len(seeds)}): {summary.line()}")
                progress.flush()
        if like.schedule == EXHAUSTIVE and summary.runs - before >= most_orders:
            summary.unfinished += 1
        if summary.failed is not None:
            break
    if progress is not None:
        progress.write("\r\x1b[K")
        progress.flush()
    return summary


def _runs(case: Case, most_orders: int) -> Iterator[Outcome]:
    if case.schedule == EXHAUSTIVE and case.departures is None:
        yield from run_paths(case, most_orders)
    else:
        yield run_case(case)


def progress_of(stream: TextIO = sys.stderr) -> TextIO | None:
    """Where progress is told: on a terminal, and nowhere else."""
    return stream if stream.isatty() else None


def tell_failure(failed: Outcome, smallest: Outcome) -> str:
    """What a person needs to know of a run that failed, and of the smallest like it."""
    case = smallest.case
    actions = "\n".join(f"  {line}" for line in smallest.journal)
    trace = "\n".join(f"  {delivery.line()}" for delivery in smallest.trace[-_SHOWN:])
    skipped = max(0, len(smallest.trace) - _SHOWN)
    return (
        f"seed {failed.case.seed} ({Shape.of(failed.case.seed)}) breaks a rule after {failed.messages} messages:\n"
        f"  {failed.broken}\n"
        f"again: {failed.case.command}\n"
        f"\nshrunk to {len(smallest.journal)} actions and {smallest.messages} messages:\n"
        f"  {smallest.broken}\n"
        f"again: {case.command}\n"
        f"\nactions:\n{actions}\n"
        f"\nmessages{f' (the last {_SHOWN} of {len(smallest.trace)})' if skipped else ''}:\n{trace}"
    )


_SHOWN = 40
