"""What a subscription told is one, however it was cut into batches."""

from __future__ import annotations

import pytest

from pillion.actors.replay.subscribes import SubscribeComparison
from pillion.actors.replay.verdict import Outcome
from pillion.messages.responses import DroppedAt, SubscribeBatch

from .build import SCHEMA, batch


def comparison(
    recorded: list[SubscribeBatch | DroppedAt], replayed: list[SubscribeBatch | DroppedAt]
) -> SubscribeComparison:
    compared = SubscribeComparison(SCHEMA, 0)
    for each in recorded:
        compared.record(each)
    for each in replayed:
        compared.replay(each)
    return compared


def test_batches_may_be_cut_anywhere() -> None:
    recorded = [batch(0, 2, (1, "a", 0, 1)), batch(2, 5, (1, "a", 3, -1), (2, "b", 4, 1))]
    replayed = [batch(0, 5, (2, "b", 4, 1), (1, "a", 3, -1), (1, "a", 0, 1))]
    assert comparison([*recorded], [*replayed]).verdict().outcome is Outcome.SAME


def test_what_was_told_beyond_the_recording_does_not_count() -> None:
    compared = comparison([batch(0, 2, (1, "a", 0, 1))], [batch(0, 9, (1, "a", 0, 1), (5, "e", 7, 1))])
    assert compared.verdict().outcome is Outcome.SAME


def test_a_change_at_another_time_is_another_change() -> None:
    verdict = comparison([batch(0, 3, (1, "a", 0, 1))], [batch(0, 3, (1, "a", 1, 1))]).verdict()
    assert verdict.outcome is Outcome.DIFFERENT
    assert verdict.recorded == ('[0] (1 "a")',)
    assert verdict.replayed == ('[1] (1 "a")',)


def test_less_than_recorded_is_missing_unless_it_was_dropped() -> None:
    compared = comparison([batch(0, 3, (1, "a", 2, 1))], [batch(0, 2)])
    assert compared.is_behind
    assert compared.verdict().outcome is Outcome.MISSING
    assert compared.verdict(dropped=True).outcome is Outcome.SAME


def test_the_empty_upper_is_the_end() -> None:
    assert comparison([batch(0, None)], [batch(0, 7)]).is_behind
    assert not comparison([batch(0, None)], [batch(0, 7), batch(7, None)]).is_behind


@pytest.mark.parametrize(
    ("recorded", "replayed", "outcome"),
    [
        ("x", "x", Outcome.SAME),
        ("x", None, Outcome.DIFFERENT),
        (None, "x", Outcome.DIFFERENT),
    ],
)
def test_errors(recorded: str | None, replayed: str | None, outcome: Outcome) -> None:
    assert comparison([batch(0, 3, error=recorded)], [batch(0, 3, error=replayed)]).verdict().outcome is outcome


def test_a_later_error_than_recorded_does_not_count() -> None:
    assert comparison([batch(0, 3)], [batch(0, 3), batch(3, 6, error="x")]).verdict().outcome is Outcome.SAME


def test_equal_updates_need_no_memory() -> None:
    compared = SubscribeComparison(SCHEMA, 0)
    for time in range(200):
        changes = [(n, "x", time, 1) for n in range(500)]
        compared.record(batch(time, time + 1, *changes))
        compared.replay(batch(time, time + 1, *changes))
    assert compared.kept < 40_000
    assert compared.verdict().outcome is Outcome.SAME
