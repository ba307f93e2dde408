"""What the same reads during the same hydration came to, by arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .churn import Hydration
from .open_loop import TimedRead
from .timings import Timings, duration, summarize

SOLO = "one runtime"
TWO_RUNTIMES = "two runtimes"
DIRECT = "direct lookup"


@dataclass(frozen=True)
class Course:
    """How one arm went, in seconds of measuring: one round after the other, and nothing in between."""

    arm: str
    reads: list[TimedRead]
    hydrations: list[Hydration]


@dataclass(frozen=True)
class Arm:
    """``unanswered``: reads, among ``reads``, that count with the time that they had waited when their round was over.
    ``at_least``: the figures that would be greater, had they been waited for. ``hydrations``: how many views were
    created, hydrated and dropped meanwhile."""

    name: str
    reads: Timings
    unanswered: int
    at_least: list[str]
    hydrations: int

    @property
    def figures(self) -> dict[str, float]:
        """Seconds by name: ``p50`` and so on, ``maximum``."""
        return _figures(self.reads)


@dataclass(frozen=True)
class Comparison:
    """``rate``: lookups per second, by so many ``clients``. ``seconds``: of each of the ``rounds``. ``source_rows``:
    the flights that each view is computed from."""

    rate: float
    clients: int
    rounds: int
    seconds: float
    source_rows: int
    arms: list[Arm]


def verdict(comparison: Comparison) -> str:
    """The comparison in a sentence."""
    arms = {arm.name: arm for arm in comparison.arms}
    solo, two = arms[SOLO], arms[TWO_RUNTIMES]
    if "p99" in solo.figures and "p99" in two.figures:
        slow = f"one lookup in a hundred took {duration(solo.figures['p99'])} or longer"
        fast = f"that was {shown(two, 'p99')}"
    else:
        slow = f"the slowest lookup took {shown(solo, 'maximum')}"
        fast = f"it took {shown(two, 'maximum')}"
    return (
        f"With one runtime {slow}, because lookups wait while a view is computed; with two, where a runtime of its own "
        f"answers them from the same memory, {fast}."
    )


def shown(arm: Arm, figure: str) -> str:
    """A figure of an arm for a person."""
    at_least = "≥ " if figure in arm.at_least else ""
    return at_least + duration(arm.figures.get(figure))


def summarized(course: Course) -> Arm:
    """What the reads of an arm come to."""
    timings = summarize([read.latency for read in course.reads])
    given_up = [read.latency for read in course.reads if not read.is_answered]
    figures = _figures(timings)
    return Arm(
        name=course.arm,
        reads=timings,
        unanswered=len(given_up),
        at_least=[name for name, value in figures.items() if given_up and min(given_up) <= value],
        hydrations=sum(hydration.end is not None for hydration in course.hydrations),
    )


def joined(arm: str, rounds: Sequence[Course], seconds: float) -> Course:
    """Rounds of so many seconds as one course. What was still hydrated then had no end; lookups that were due were
    waited for a little longer, and what began after that is left out."""
    reads: list[TimedRead] = []
    hydrations: list[Hydration] = []
    for number, course in enumerate(rounds):
        shift = number * seconds
        reads += [TimedRead(shift + read.due, read.latency, read.is_answered) for read in course.reads]
        hydrations += [
            Hydration(one.view, shift + one.begin, None if one.end is None or one.end > seconds else shift + one.end)
            for one in course.hydrations
            if one.begin < seconds
        ]
    return Course(arm, reads, hydrations)


def _figures(timings: Timings) -> dict[str, float]:
    return {**timings.percentiles, "maximum": timings.maximum}
