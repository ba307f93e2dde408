"""Histograms of seconds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.metrics.durations import BOUNDS, Durations, together

SECONDS = st.floats(0, 100) | st.sampled_from(BOUNDS)


def test_bounds_ascend_from_ten_microseconds_to_ten_seconds() -> None:
    assert list(BOUNDS) == sorted(set(BOUNDS))
    assert (BOUNDS[0], BOUNDS[-1]) == (1e-05, 10.0)
    assert all(len(repr(bound)) <= 7 for bound in BOUNDS), "they are shown as they were written"


@given(st.lists(SECONDS, max_size=30))
def test_every_duration_is_in_the_first_bucket_whose_bound_it_does_not_exceed(durations: list[float]) -> None:
    histogram = Durations()
    for seconds in durations:
        histogram.add(seconds)
    lower = (-1.0, *BOUNDS)
    upper = (*BOUNDS, float("inf"))
    expected = [sum(a < seconds <= b for seconds in durations) for a, b in zip(lower, upper, strict=True)]
    assert histogram.counts == expected
    assert histogram.count == len(durations)
    assert abs(histogram.seconds - sum(durations)) < 1e-6


@given(st.lists(st.lists(SECONDS, max_size=5), max_size=4))
def test_together_is_as_if_one_had_counted_all(parts: list[list[float]]) -> None:
    each: list[Durations] = []
    one = Durations()
    for part in parts:
        each.append(Durations())
        for seconds in part:
            each[-1].add(seconds)
            one.add(seconds)
    total = together(each)
    assert total.counts == one.counts
    assert abs(total.seconds - one.seconds) < 1e-6
