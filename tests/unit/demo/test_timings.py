"""Percentiles are told when there are samples enough."""

from __future__ import annotations

import pytest

from pillion.actors.demo.timings import summarize


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
