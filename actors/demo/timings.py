"""Samples of how long something took, summed up no deeper than their number allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SAMPLES_BEYOND = 10
"""A percentile is told only when so many samples lie beyond it: p99 needs a thousand."""
PERCENTILES = (0.5, 0.9, 0.99, 0.999)


@dataclass(frozen=True)
class Timings:
    """``percentiles`` by name (``p50``), in seconds; those for which there were enough samples."""

    samples: int
    percentiles: dict[str, float]
    maximum: float


def summarize(samples: Sequence[float]) -> Timings:
    """What these samples, in seconds, come to."""
    ordered = sorted(samples)
    supported = [q for q in PERCENTILES if round(len(ordered) * (1 - q), 6) >= SAMPLES_BEYOND]
    return Timings(
        samples=len(ordered),
        percentiles={f"p{100 * q:g}": ordered[min(int(q * len(ordered)), len(ordered) - 1)] for q in supported},
        maximum=ordered[-1] if ordered else 0.0,
    )


def duration(seconds: float | None) -> str:
    """Seconds for a person, of a figure for which there may be too few samples."""
    if seconds is None:
        return "–"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.2f} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.2f} s"
