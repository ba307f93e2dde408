"""Percentiles are told when there are samples enough."""

from __future__ import annotations

import pytest

from pillion.actors.demo.timings import duration, summarize


@pytest.mark.parametrize(
    ("samples", "names"),
    [(0, []), (19, []), (20, ["p50"]), (100, ["p50", "p90"]), (999, ["p50", "p90"]), (1000, ["p50", "p90", "p99"])],
)
def test_depth_follows_the_number_of_samples(samples: int, names: list[str]) -> None:
    timings = summarize([float(sample) for sample in range(samples)])
    assert list(timings.percentiles) == names
    assert timings.samples == samples


def test_values() -> None:
    timings = summarize([float(sample) for sample in reversed(range(1000))])
    assert timings.percentiles == {"p50": 500.0, "p90": 900.0, "p99": 990.0}
    assert timings.maximum == 999.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0000123, "12 µs"),
        (0.00123, "1.23 ms"),
        (0.0999, "99.90 ms"),
        (0.123, "123 ms"),
        (1.0, "1.00 s"),
        (12.345, "12.35 s"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text
