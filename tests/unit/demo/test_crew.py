"""Threads beside the one that measures end with it, and it fails with them."""

from __future__ import annotations

import threading

import pytest

from pillion.actors.demo.crew import Crew
from pillion.actors.errors import SystemStopped


class Broken(Exception):
    """What fails in a test."""


def broken() -> None:
    raise Broken


def test_a_failure_ends_the_others_and_is_raised() -> None:
    threads: list[threading.Thread] = []
    with pytest.raises(Broken), Crew() as crew:
        threads.append(crew.start("waiting", lambda: assert_over(crew)))
        threads.append(crew.start("failing", broken))
        crew.wait_for(threads, seconds=30)
    assert not any(thread.is_alive() for thread in threads)


def assert_over(crew: Crew) -> None:
    assert crew.over.wait(30)


def test_an_error_of_the_block_comes_first() -> None:
    with pytest.raises(KeyboardInterrupt), Crew() as crew:
        crew.start("failing", broken).join()
        raise KeyboardInterrupt


def test_a_system_that_is_stopped_when_it_is_over_fails_nobody() -> None:
    def work() -> None:
        assert_over(crew)
        raise SystemStopped

    with Crew() as crew:
        working = crew.start("working", work)
        crew.wait_for([working], seconds=0)
    assert not working.is_alive()


def test_a_system_that_was_stopped_too_early_is_a_failure() -> None:
    def work() -> None:
        raise SystemStopped

    with pytest.raises(SystemStopped), Crew() as crew:
        crew.wait_for([crew.start("working", work)], seconds=30)
