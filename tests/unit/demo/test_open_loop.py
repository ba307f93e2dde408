"""Reads are timed from the moment at which they were due."""

from __future__ import annotations

import threading
import time

from pillion.actors.demo.open_loop import OpenLoop


def test_a_read_that_was_due_long_ago_counts_from_then() -> None:
    """Everything was due before the loop began to run, at two moments half a second apart."""
    done: list[int] = []
    begin = time.perf_counter() - 10
    loop = OpenLoop(done.append, rate=2, seconds=1, begin=begin, over=threading.Event())
    loop.client()
    end = time.perf_counter()
    first, second = loop.reads(given_up=end)
    assert done == [0, 1]
    assert (first.due, second.due) == (0.0, 0.5)
    assert 10 <= first.latency <= end - begin
    assert 9.5 <= second.latency <= end - begin - 0.5
    assert first.is_answered and second.is_answered


def test_what_has_no_answer_counts_as_late_as_it_is() -> None:
    over = threading.Event()

    def read(number: int) -> None:
        if number == 1:
            over.set()
            raise TimeoutError

    begin = time.perf_counter() - 10
    loop = OpenLoop(read, rate=1, seconds=4, begin=begin, over=over)
    try:
        loop.client()
    except TimeoutError:
        loop.client()
    answered, *others = loop.reads(given_up=begin + 12)
    assert answered.is_answered
    assert [(read.due, round(read.latency, 6), read.is_answered) for read in others] == [
        (1.0, 11.0, False),
        (2.0, 10.0, False),
        (3.0, 9.0, False),
    ]


def test_clients_share_the_reads() -> None:
    """One that waits for its answer does not keep the others from theirs."""
    answer = threading.Event()
    done: list[int] = []

    def read(number: int) -> None:
        if number == 0:
            assert answer.wait(10)
        done.append(number)
        if len(done) == 3:
            answer.set()

    loop = OpenLoop(read, rate=1000, seconds=0.004, begin=time.perf_counter(), over=threading.Event())
    clients = [threading.Thread(target=loop.client) for _ in range(2)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert done == [1, 2, 3, 0]
    assert all(read.is_answered for read in loop.reads(given_up=time.perf_counter()))


def test_a_loop_that_is_over_reads_nothing_that_is_due_later() -> None:
    over = threading.Event()
    over.set()
    done: list[int] = []
    loop = OpenLoop(done.append, rate=1, seconds=2, begin=time.perf_counter() + 3600, over=over)
    loop.client()
    assert done == []
