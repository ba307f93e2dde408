"""What the measurements are held against: ratios between arms of one run, never absolute times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .figures import Figure
from .results import Run


@dataclass(frozen=True)
class Target:
    """A ratio of two figures and the bound that it should keep. Arms are named by prefix; the best of them counts."""

    benchmark: str
    statement: str
    numerator: tuple[str, str]
    """Arm and quantity."""
    denominator: tuple[str, str]
    at_least: float | None = None
    at_most: float | None = None
    percentile: str | None = None
    """Which percentile of both sides is compared, such as ``p99``; None: the medians."""

    def ratio(self, figures: Iterable[Figure]) -> float | None:
        """The measured ratio, or None when a figure is missing."""
        figures = list(figures)
        numerator, denominator = (_best(figures, *side, self.percentile) for side in (self.numerator, self.denominator))
        return None if numerator is None or denominator is None else numerator / denominator

    def is_met(self, ratio: float) -> bool:
        return (self.at_least is None or ratio >= self.at_least) and (self.at_most is None or ratio <= self.at_most)

    @property
    def bound(self) -> str:
        return f"≥ {self.at_least:g}×" if self.at_least is not None else f"≤ {self.at_most:g}×"


CSV, MEMORY = "hydration from CSV", "hydration from memory"
BATCH, SINGLE, READ = "tick of 1,000", "tick of 1", "point read"
DIRECT = "direct lookup"
SOLO, TWO = "Pillion, solo", "Pillion, two runtimes"
WHOLE = f"{SINGLE}, whole result"

TARGETS = (
    Target("hydration", "Pathway's time from CSV over ours", ("Pathway", CSV), ("Pillion", CSV), at_least=10),
    Target("hydration", "our time from CSV over DuckDB's one-shot", ("Pillion", CSV), ("DuckDB", CSV), at_most=20),
    Target(
        "hydration",
        "our time from memory over DuckDB's query of loaded tables",
        ("Pillion", MEMORY),
        ("DuckDB", MEMORY),
        at_most=20,
    ),
    Target("freshness", "1,000 rows: Pathway's time over ours", ("Pathway", BATCH), ("Pillion", BATCH), at_least=3),
    Target("freshness", "1,000 rows: SQLite's triggers over ours", ("SQLite", BATCH), ("Pillion", BATCH), at_least=1),
    Target("freshness", "one row: Pathway's time over ours", ("Pathway", SINGLE), ("Pillion", SINGLE), at_least=1),
    Target(
        "freshness",
        "one row: DuckDB recomputing the result over ours",
        ("DuckDB", WHOLE),
        ("Pillion", SINGLE),
        at_least=40,
    ),
    Target(
        "growth",
        "one row at 10,000,000: DuckDB recomputing the result over ours",
        ("DuckDB, 1 thread, 10,000,000", WHOLE),
        ("Pillion, 1 worker, 10,000,000", SINGLE),
        at_least=300,
    ),
    Target(
        "growth",
        "one row: at 10,000,000 over at 10,000 (log n allows 1.75)",
        ("Pillion, 1 worker, 10,000,000", SINGLE),
        ("Pillion, 1 worker, 10,000 rows", SINGLE),
        at_most=1.75,
    ),
    Target(
        "point-read",
        "DuckDB's point query over ours, through the actors",
        ("DuckDB", READ),
        ("Pillion", READ),
        at_least=1,
    ),
    Target(
        "point-read", "DuckDB's point query over our direct lookup", ("DuckDB", READ), ("Pillion", DIRECT), at_least=10
    ),
    Target(
        "isolation",
        "p99 of reads under churn: solo over two runtimes",
        (SOLO, "sealed, under churn"),
        (TWO, "sealed, under churn"),
        at_least=37,
        percentile="p99",
    ),
    Target(
        "isolation",
        "p99 of reads with two runtimes: under churn over idle",
        (TWO, "sealed, under churn"),
        (TWO, "sealed, idle"),
        at_most=3,
        percentile="p99",
    ),
    Target(
        "introspection",
        "introspection under churn: solo over two runtimes",
        (SOLO, "under churn"),
        (TWO, "under churn"),
        at_least=100,
    ),
    Target(
        "expensive-peeks",
        "p99 of point reads with two runtimes: behind full scans over idle",
        (TWO, "behind scans"),
        (TWO, "idle"),
        at_most=3,
        percentile="p99",
    ),
    Target(
        "publication",
        "hydration with nobody reading: two runtimes over solo",
        (TWO, "hydration"),
        (SOLO, "hydration"),
        at_most=1.03,
    ),
    Target(
        "publication",
        "memory with nobody reading: two runtimes over solo",
        (TWO, "resident memory"),
        (SOLO, "resident memory"),
        at_most=1.02,
    ),
    Target(
        "publication",
        "memory with 200 idle indexes: two runtimes over solo",
        (TWO, "resident memory with 200 idle indexes"),
        (SOLO, "resident memory with 200 idle indexes"),
        at_most=1.02,
    ),
    Target(
        "view-freshness",
        "ticks with two runtimes: beside one-shot joins over idle",
        (TWO, "beside one-shot joins"),
        (TWO, "idle"),
        at_most=2,
    ),
    Target("messages", "our tells per second over pykka's", ("Pillion", "tell"), ("stock pykka", "tell"), at_least=5),
    Target("messages", "pykka's time of an ask over ours", ("stock pykka", "ask"), ("Pillion", "ask"), at_least=1),
)


def judged(runs: Mapping[str, Run]) -> list[tuple[Target, float]]:
    """Every target whose figures were measured, with its ratio."""
    found: list[tuple[Target, float]] = []
    for target in TARGETS:
        run = runs.get(target.benchmark)
        ratio = target.ratio(run.figures) if run else None
        if ratio is not None:
            found.append((target, ratio))
    return found


def _best(figures: list[Figure], arm: str, quantity: str, percentile: str | None) -> float | None:
    """The best value among the arms whose name starts with ``arm``: the least time, the greatest rate; or a percentile,
    where there are enough samples for it."""
    found = [figure for figure in figures if figure.arm.startswith(arm) and figure.quantity == quantity]
    if not found:
        return None
    if percentile is not None:
        return min([f.percentiles[percentile] for f in found if percentile in f.percentiles], default=None)
    values = [figure.value for figure in found]
    return max(values) if found[0].unit == "1/s" else min(values)
