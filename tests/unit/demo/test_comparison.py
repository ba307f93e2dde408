"""What lookups come to by arm, in figures and in a sentence."""

from __future__ import annotations

from pillion.actors.demo.churn import Hydration
from pillion.actors.demo.comparison import (
    SOLO,
    TWO_RUNTIMES,
    Arm,
    Comparison,
    Course,
    joined,
    shown,
    summarized,
    verdict,
)
from pillion.actors.demo.open_loop import TimedRead
from pillion.actors.demo.timings import summarize


def answered(*latencies: float) -> list[TimedRead]:
    return [TimedRead(number / 100, latency, True) for number, latency in enumerate(latencies)]


def waiting(*latencies: float) -> list[TimedRead]:
    return [TimedRead(number / 100, latency, False) for number, latency in enumerate(latencies)]


def compared(solo: list[TimedRead], two: list[TimedRead]) -> Comparison:
    arms = [summarized(Course(name, reads, [])) for name, reads in ((SOLO, solo), (TWO_RUNTIMES, two))]
    return Comparison(100, 8, 2, 10, 336_776, arms)


def test_lookups_without_an_answer_are_not_dropped() -> None:
    arm = summarized(Course(SOLO, [*answered(*[0.001] * 990), *waiting(*[2.0] * 10)], []))
    assert arm.reads.samples == 1000
    assert arm.unanswered == 10
    assert arm.reads.percentiles["p50"] == 0.001
    assert arm.figures["p99"] == arm.figures["maximum"] == 2.0
    assert arm.at_least == ["p99", "maximum"]
    assert (shown(arm, "p50"), shown(arm, "p99"), shown(arm, "p99.9")) == ("1.00 ms", "≥ 2.00 s", "–")


def test_only_hydrations_that_ended_are_counted() -> None:
    hydrations = [Hydration("a", 0.0, 0.5), Hydration("b", 0.5, None)]
    assert summarized(Course(SOLO, answered(0.1), hydrations)).hydrations == 1


def test_rounds_follow_each_other() -> None:
    one = Course(SOLO, answered(0.1), [Hydration("a", 0.0, 0.5), Hydration("b", 0.5, None)])
    whole = joined(SOLO, [one, one], 2.0)
    assert [read.due for read in whole.reads] == [0.0, 2.0]
    assert whole.hydrations == [
        Hydration("a", 0.0, 0.5),
        Hydration("b", 0.5, None),
        Hydration("a", 2.0, 2.5),
        Hydration("b", 2.5, None),
    ]


def test_the_sentence_speaks_of_p99_when_both_arms_have_it() -> None:
    sentence = verdict(compared(answered(*[0.5] * 1000), answered(*[0.002] * 1000)))
    assert "one lookup in a hundred took 500 ms or longer" in sentence
    assert sentence.endswith("2.00 ms.")


def test_the_sentence_speaks_of_the_slowest_when_there_are_too_few_lookups() -> None:
    sentence = verdict(compared(answered(*[0.5] * 1000), answered(*[0.002] * 999)))
    assert "the slowest lookup took 500 ms" in sentence
    assert "or longer" not in sentence


def test_the_figures_of_an_arm_are_those_of_its_lookups() -> None:
    arm = Arm(SOLO, summarize([0.1] * 20), 0, [], 0)
    assert arm.figures == {"p50": 0.1, "maximum": 0.1}
