"""What the plot of the comparison shows, before it is drawn: latency over time, a panel per arm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .comparison import DIRECT, SOLO, TWO_RUNTIMES, Arm, Comparison, Course, shown, verdict

COLOURS = {SOLO: "#c2410c", TWO_RUNTIMES: "#0f766e", DIRECT: "#4f46e5"}
CAPTIONS = {
    SOLO: "One runtime keeps views up to date and answers lookups",
    TWO_RUNTIMES: "Two runtimes: one keeps views up to date, one answers lookups",
    DIRECT: "Direct lookup: on the caller's own thread, one runtime",
}
DOTS = "Each dot is a lookup, at the moment when it was due. Shaded: a view is being hydrated."
TRIANGLES = "A triangle is one that had no answer yet when its round was over."
DASHES = "At a dashed line the next round begins, with a system of its own."
LEAST = 1e-6
"""Seconds. A logarithmic axis has no zero, and no lookup is faster."""
ROOM = 0.5
"""Decades."""

Point = tuple[float, float]
"""When a lookup was due, and its latency; both in seconds."""


@dataclass(frozen=True)
class Band:
    """A view was hydrated from ``begin`` to ``end``. ``shade``: 0 or 1, the same for the same view, and another for
    the one that follows."""

    view: str
    begin: float
    end: float
    shade: int


@dataclass(frozen=True)
class Panel:
    """One arm. ``waiting``: lookups that had waited so long when nobody waited any more."""

    title: str
    colour: str
    answered: list[Point]
    waiting: list[Point]
    bands: list[Band]


@dataclass(frozen=True)
class Picture:
    """All arms over the same time, ``seconds`` long, and the same latencies: from ``10**bottom`` to ``10**highest``
    seconds, the lowest decade that is marked being ``10**lowest``. ``rounds``: where a round begins and another has
    ended."""

    heading: str
    sentence: str
    panels: list[Panel]
    seconds: float
    rounds: list[float]
    lowest: int
    highest: int

    @property
    def bottom(self) -> float:
        """Leaves room for the names of views below all dots."""
        return self.lowest - ROOM

    @property
    def legend(self) -> list[str]:
        """How to read it, sentence by sentence."""
        triangles = [TRIANGLES] if any(panel.waiting for panel in self.panels) else []
        return [DOTS, *triangles, *([DASHES] if self.rounds else [])]

    @property
    def decades(self) -> list[tuple[float, str]]:
        """Latencies that are marked on the axis, and how they are written."""
        return [(10.0**power, _decade(power)) for power in range(self.lowest, self.highest + 1)]


def picture_of(comparison: Comparison, courses: Sequence[Course]) -> Picture:
    """The picture of a comparison and the courses of its arms."""
    latencies = [max(read.latency, LEAST) for course in courses for read in course.reads] or [1.0]
    lowest = math.floor(math.log10(min(latencies)))
    arms = {arm.name: arm for arm in comparison.arms}
    views = list(dict.fromkeys(one.view for course in courses for one in course.hydrations))
    return Picture(
        heading=f"{comparison.rate:.0f} lookups a second while views of {comparison.source_rows:,} flights hydrate",
        sentence=verdict(comparison),
        panels=[_panel(course, arms[course.arm], views, comparison.seconds) for course in courses],
        seconds=comparison.rounds * comparison.seconds,
        rounds=[number * comparison.seconds for number in range(1, comparison.rounds)],
        lowest=lowest,
        highest=max(math.ceil(math.log10(max(latencies))), lowest + 1),
    )


def _panel(course: Course, arm: Arm, views: Sequence[str], round_seconds: float) -> Panel:
    def points(answered: bool) -> list[Point]:
        return [(read.due, max(read.latency, LEAST)) for read in course.reads if read.is_answered is answered]

    return Panel(
        title=f"{CAPTIONS[arm.name]} ({', '.join(f'{name} {shown(arm, name)}' for name in _named(arm))})",
        colour=COLOURS[arm.name],
        answered=points(True),
        waiting=points(False),
        bands=[
            Band(
                view=one.view,
                begin=one.begin,
                end=_end_of_round(one.begin, round_seconds) if one.end is None else one.end,
                shade=views.index(one.view) % 2,
            )
            for one in course.hydrations
        ],
    )


def _named(arm: Arm) -> list[str]:
    """The figures that are told beside the plot: percentiles for which there are samples enough, else the maximum."""
    return [name for name in ("p50", "p99") if name in arm.figures] or ["maximum"]


def _end_of_round(moment: float, round_seconds: float) -> float:
    return (math.floor(moment / round_seconds) + 1) * round_seconds


def _decade(power: int) -> str:
    """``100 µs`` of -4."""
    unit, exponent = next((unit, power - least) for unit, least in (("s", 0), ("ms", -3), ("µs", -6)) if power >= least)
    return f"{10**exponent:,} {unit}"
