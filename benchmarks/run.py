"""Runs a benchmark: every arm once, then every arm again, so that a slow minute of the machine falls on all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from .child import Answer, ArmFailed, run_arm
from .figures import Figure, summarize
from .suite import Arm, Benchmark


def run(benchmark: Benchmark, repetitions: int, progress: Callable[[str], None]) -> list[Figure]:
    """The figures of one benchmark, arm by arm.

    Raises:
        ArmFailed: an arm did not run, or its result was not the expected one.
    """
    answers: dict[str, list[Answer]] = {arm.name: [] for arm in benchmark.arms}
    expected = cache(lambda index: benchmark.expected(benchmark.arms[index].options)) if benchmark.expected else None
    for repetition in range(repetitions):
        for index, arm in enumerate(benchmark.arms):
            progress(f"{benchmark.name}: {arm.name} ({repetition + 1}/{repetitions})")
            answer = run_arm(arm.module, benchmark.workload, arm.options, arm.environment)
            if expected is not None and answer.regions != expected(index):
                raise ArmFailed(f"{arm.name} has a wrong result; its times mean nothing")
            answers[arm.name].append(answer)
    return [figure for arm in benchmark.arms for figure in _figures(benchmark, arm, answers[arm.name])]


def _figures(benchmark: Benchmark, arm: Arm, answers: list[Answer]) -> list[Figure]:
    peak, note = max(answer.peak_rss_bytes for answer in answers), answers[0].note
    return [
        summarize(
            benchmark.name,
            quantity,
            arm.name,
            benchmark.units.get(quantity, "s"),
            [answer.samples[quantity] for answer in answers],
            peak,
            note,
        )
        for quantity in answers[0].samples
    ] + [
        summarize(benchmark.name, quantity, arm.name, "bytes", [[answer.sizes[quantity]] for answer in answers], peak)
        for quantity in answers[0].sizes
    ]
