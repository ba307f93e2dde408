"""What wakes the main thread."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from pillion.actors.clusterd.bell import Bell


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_of_the_process(number: signal.Signals) -> None:
    with Bell() as bell:
        os.kill(os.getpid(), number)
        assert bell.wait() is None


def test_a_signal_that_interrupts_another_thread() -> None:
    """The main thread sleeps in a system call, which that does not interrupt."""
    go, gone = threading.Event(), threading.Event()

    def interrupted() -> None:
        go.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        gone.set()

    thread = threading.Thread(target=interrupted)
    thread.start()
    with Bell() as bell:
        go.set()
        assert bell.wait() is None
        gone.wait()
    thread.join()


def test_a_failure_on_any_thread_and_the_first_counts() -> None:
    first, second = ZeroDivisionError("first"), ZeroDivisionError("second")
    with Bell() as bell:
        thread = threading.Thread(target=lambda: (bell.fail(first), bell.fail(second), bell.stop()))
        thread.start()
        assert bell.wait() is first
        thread.join()


def test_other_signals_do_not_stop_it() -> None:
    before = signal.signal(signal.SIGUSR1, lambda number, frame: None)
    try:
        with Bell() as bell:
            os.kill(os.getpid(), signal.SIGUSR1)
            bell.stop()
            assert bell.wait() is None
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_signals_mean_afterwards_what_they_meant() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with Bell() as bell:
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    bell.stop()
