"""The report's tables on a terminal of 80 columns."""

from __future__ import annotations

import io

from rich.console import Console

from pillion.actors.demo.comparison import DIRECT, SOLO, TWO_RUNTIMES, Arm, Comparison
from pillion.actors.demo.report import Report, show
from pillion.actors.demo.session import HydratedIndex, IndexMemory, LiveMonth, LoadedTable
from pillion.actors.demo.timings import Timings, summarize
from pillion.actors.requests import Isolation

SLOW = summarize([0.0999] * 9_999 + [9.999])
FEW = summarize([0.001] * 740)


def report(reads: Timings, unanswered: int = 0) -> Report:
    at_least = ["p99", "maximum"] if unanswered else []
    return Report(
        workers=2,
        interactive=True,
        readers=2,
        read_files_seconds=1.0,
        tables=[LoadedTable("flights", 308_641, 10.5)],
        indexes=[HydratedIndex("flights_by_aircraft", "top 3 per airport", 308_641, 308_641, 10.5)],
        live=LiveMonth(740, 58_414, 18.5, True, FEW, FEW, dict.fromkeys(Isolation, reads), FEW),
        memory=[IndexMemory("flights_by_aircraft", 337_010, 5, 35 << 20), IndexMemory("maker_seats", 87, 1, 3000)],
        answers={"Who built the aircraft that most seats flew on?": "Boeing, with 13,855,352 of 37,227,971 seats."},
        differences={"maker_seats": []},
        comparison=Comparison(
            rate=300,
            clients=64,
            rounds=2,
            seconds=2.0,
            source_rows=336_776,
            arms=[Arm(name, reads, unanswered, at_least, 10_000) for name in (SOLO, TWO_RUNTIMES, DIRECT)],
        ),
        seconds=30.0,
        peak_rss_bytes=500 << 20,
    )


def screen(shown: Report) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    show(shown, console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_no_row_of_figures_is_wrapped_or_cut() -> None:
    lines = screen(report(summarize([0.0999] * 1_500), unanswered=1_000))
    assert max(map(len, lines)) <= 80
    answers = next(number for number, line in enumerate(lines) if line.startswith("What the views say"))
    compared = next(number for number, line in enumerate(lines) if line.startswith("One runtime or two"))
    figures = lines[:answers] + lines[compared:]
    assert not any("…" in line or line.startswith("│  ") for line in figures)


def test_a_percentile_without_enough_samples_is_a_dash_that_is_explained() -> None:
    assert "too few samples" in "\n".join(screen(report(SLOW)))
    assert "p99" not in "\n".join(screen(report(FEW)))
    assert "too few samples" not in "\n".join(screen(report(FEW)))


def test_figures_that_would_be_greater_are_marked_and_explained() -> None:
    shown = "\n".join(screen(report(summarize([1.5] * 1_000), unanswered=7)))
    assert "≥ 1.50 s" in shown
    assert "of two runtimes, 7 lookups had no answer yet" in shown
    assert "≥" not in "\n".join(screen(report(summarize([1.5] * 1_000))))


def test_both_runtimes_are_told_of() -> None:
    assert "2 workers in each of two runtimes" in " ".join(screen(report(FEW)))
