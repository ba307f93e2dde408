"""Waiting and work of a peek."""

from __future__ import annotations

import pytest

from pillion.actors.metrics.durations import Durations
from pillion.actors.metrics.figures import PeekFigures


def test_what_was_not_work_was_waiting() -> None:
    figures = PeekFigures()
    figures.answered(total=0.5, service=0.2)
    assert figures.queue.seconds == pytest.approx(0.3)
    assert figures.service.seconds == pytest.approx(0.2)


def test_clocks_that_were_read_apart_make_no_negative_wait() -> None:
    figures = PeekFigures()
    figures.answered(total=0.1, service=0.2)
    assert figures.queue.seconds == 0.0
    assert figures.queue.count == figures.service.count == 1


def test_adding_allocates_no_history() -> None:
    durations = Durations()
    before = len(durations.counts)
    for _ in range(1000):
        durations.add(0.001)
    assert len(durations.counts) == before
    assert durations.count == 1000
