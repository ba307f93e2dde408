"""Two arms to draw: one that answers slowly and not all, and one that answers at once."""

from __future__ import annotations

from pillion.actors.demo.churn import Hydration
from pillion.actors.demo.comparison import SOLO, TWO_RUNTIMES, Comparison, Course, summarized
from pillion.actors.demo.open_loop import TimedRead

SECONDS = 2.0
"""Of each of two rounds."""
READS = 40
"""Of each arm."""
UNANSWERED = 5
"""Of the first one."""


def courses() -> list[Course]:
    dues = [number / 10 for number in range(READS)]
    slow = [
        TimedRead(due, 0.5 if number < READS - UNANSWERED else 2.0, number < READS - UNANSWERED)
        for number, due in enumerate(dues)
    ]
    hydrations = [
        Hydration("long_lasting", 0.0, 1.5),
        Hydration("<short>", 1.5, None),
        Hydration("long_lasting", 2.0, 3.25),
    ]
    return [Course(SOLO, slow, hydrations), Course(TWO_RUNTIMES, [TimedRead(due, 0.0005, True) for due in dues], [])]


def comparison(of: list[Course]) -> Comparison:
    return Comparison(10, 4, 2, SECONDS, 336_776, [summarized(course) for course in of])
