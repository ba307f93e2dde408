"""Figures: samples summed up by rules that keep them honest, one JSON line each.

A percentile is reported only when there are at least ten samples beyond it, so p99 needs a thousand; a maximum is
called a maximum. The spread is over repetitions, each of which ran in a process of its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

SAMPLES_BEYOND = 10
PERCENTILES = (0.9, 0.99, 0.999)


@dataclass(frozen=True)
class Figure:
    """One measured quantity of one arm.

    ``value`` is the median over all samples; ``low`` and ``high`` are the least and greatest median of a repetition.
    """

    benchmark: str
    quantity: str
    arm: str
    unit: str
    value: float
    low: float
    high: float
    repetitions: int
    samples: int
    percentiles: dict[str, float]
    maximum: float
    peak_rss_bytes: int
    note: str = ""

    def json(self) -> dict[str, object]:
        return asdict(self)


def summarize(
    benchmark: str,
    quantity: str,
    arm: str,
    unit: str,
    repetitions: Sequence[Sequence[float]],
    peak_rss_bytes: int,
    note: str = "",
) -> Figure:
    """The figure of samples taken in one or more repetitions, none of them empty."""
    samples = sorted(sample for repetition in repetitions for sample in repetition)
    medians = [statistics.median(repetition) for repetition in repetitions]
    return Figure(
        benchmark=benchmark,
        quantity=quantity,
        arm=arm,
        unit=unit,
        value=statistics.median(samples),
        low=min(medians),
        high=max(medians),
        repetitions=len(medians),
        samples=len(samples),
        percentiles=percentiles(samples),
        maximum=samples[-1],
        peak_rss_bytes=peak_rss_bytes,
        note=note,
    )


def percentiles(ordered: Sequence[float]) -> dict[str, float]:
    """The percentiles that this many samples support."""
    supported = [q for q in PERCENTILES if round(len(ordered) * (1 - q), 6) >= SAMPLES_BEYOND]
    return {f"p{100 * q:g}": ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in supported}


_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "1/s": ((1e6, "M/s"), (1e3, "k/s"), (1, "/s")),
    "bytes": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
}


def show(value: float, unit: str) -> str:
    """Three significant digits with a prefix: ``1.23 ms``, ``822 k/s``."""
    scales = _SCALES.get(unit)
    if scales is None:
        return f"{value:.3g} {unit}"
    factor, name = next((scale for scale in scales if abs(value) >= scale[0]), scales[-1])
    scaled = value / factor
    digits = max(0, 2 - len(str(int(abs(scaled)))) + 1)
    return f"{scaled:.{digits}f} {name}"
