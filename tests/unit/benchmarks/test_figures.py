"""What samples come to, and how figures are shown and judged."""

from __future__ import annotations

import pytest

from benchmarks.figures import show, summarize
from benchmarks.inputs import customer_regions, expected, orders, tick
from benchmarks.targets import Target


def test_the_spread_is_over_the_repetitions_medians() -> None:
    figure = summarize("b", "q", "arm", "s", [[1.0, 2.0, 9.0], [3.0, 4.0, 5.0]], 0)
    assert (figure.value, figure.low, figure.high) == (3.5, 2.0, 4.0)
    assert (figure.samples, figure.repetitions, figure.maximum) == (6, 2, 9.0)
    assert figure.percentiles == {}


def test_percentiles_need_ten_samples_beyond_them() -> None:
    assert list(summarize("b", "q", "arm", "s", [[1.0] * 999], 0).percentiles) == ["p90"]
    assert list(summarize("b", "q", "arm", "s", [[1.0] * 500, [1.0] * 500], 0).percentiles) == ["p90", "p99"]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (5.5, "s", "5.50 s"),
        (0.0123, "s", "12.3 ms"),
        (227e-6, "s", "227 µs"),
        (1_473_088, "1/s", "1.47 M/s"),
        (1.5 * 2**30, "bytes", "1.50 GiB"),
        (0.0, "s", "0.00 ns"),
    ],
)
def test_show(value: float, unit: str, shown: str) -> None:
    assert show(value, unit) == shown


def test_a_target_is_held_against_the_best_arm_of_each_side() -> None:
    figures = [
        summarize("b", "q", arm, "s", [[value]], 0)
        for arm, value in {"Pillion, 1 worker": 4.0, "Pillion, 2 workers": 2.0, "Pathway, 1 thread": 10.0}.items()
    ]
    target = Target("b", "Pathway over ours", ("Pathway", "q"), ("Pillion", "q"), at_least=5)
    ratio = target.ratio(figures)
    assert ratio == 5.0
    assert target.is_met(ratio)
    assert Target("b", "nothing measured", ("SQLite", "q"), ("Pillion", "q"), at_least=1).ratio(figures) is None


def test_a_target_on_a_percentile_needs_the_samples_for_it() -> None:
    many = [
        summarize("b", "q", arm, "s", [[value] * 990 + [10 * value] * 20], 0) for arm, value in (("x", 2.0), ("y", 1.0))
    ]
    target = Target("b", "p99", ("x", "q"), ("y", "q"), at_least=1, percentile="p99")
    assert target.ratio(many) == 2.0
    assert many[0].percentiles["p99"] == 20.0
    few = [summarize("b", "q", "x", "s", [[2.0] * 100], 0), many[1]]
    assert target.ratio(few) is None


def test_inputs_are_the_same_in_every_process_and_prefixes_agree() -> None:
    few, many = orders(10), orders(1000)
    assert many.customer[:10].tolist() == few.customer.tolist()
    assert many.amount[:10].tolist() == few.amount.tolist()
    assert tick(1, 5, 100).id.tolist() == [105, 106, 107, 108, 109]
    assert tick(1, 5, 100).rows() == tick(1, 5, 100).rows()


def test_expected_is_the_join_grouped_by_region() -> None:
    found = expected([orders(100), tick(0, 10, 100)])
    rows = [*orders(100).rows(), *tick(0, 10, 100).rows()]
    regions = customer_regions()
    by_hand: dict[int, tuple[int, int]] = {}
    for _, customer, amount in rows:
        count, total = by_hand.get(int(regions[customer]), (0, 0))
        by_hand[int(regions[customer])] = (count + 1, total + amount)
    assert found == by_hand
