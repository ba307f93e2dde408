"""One-shot futures and streams."""

from __future__ import annotations

import queue
import threading

import pykka
import pytest

from pillion.actors.dispatch.oneshot import OneShot, Stream


def test_a_future_gives_its_value_to_every_get() -> None:
    future: OneShot[int] = OneShot()
    threading.Thread(target=lambda: future.resolve(3)).start()
    assert future.get(timeout=10) == 3
    assert future.get() == 3


def test_the_first_result_wins() -> None:
    future: OneShot[int] = OneShot()
    assert future.refuse(ValueError("no"))
    assert not future.resolve(1)
    with pytest.raises(ValueError, match="no"):
        future.get()
    with pytest.raises(queue.Full):
        future.set(1)


def test_a_future_times_out_and_is_still_usable() -> None:
    future: OneShot[int] = OneShot()
    with pytest.raises(pykka.Timeout):
        future.get(timeout=0.001)
    future.set(2)
    assert future.get() == 2


def test_it_is_a_pykka_future() -> None:
    future: OneShot[int] = OneShot()
    doubled = future.map(lambda value: value * 2)
    future.set(4)
    assert doubled.get() == 8
    try:
        raise KeyError("k")
    except KeyError:
        failed: OneShot[int] = OneShot()
        failed.set_exception()
    with pytest.raises(KeyError):
        pykka.get_all([future, failed])


def test_a_stream_ends_with_its_error_every_time() -> None:
    stream: Stream[int] = Stream()
    stream.put(1)
    stream.close(ValueError("broken"))
    assert stream.get() == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            stream.get()


def test_a_closed_stream_iterates_what_it_has() -> None:
    stream: Stream[int] = Stream()
    for number in range(3):
        stream.put(number)
    stream.close()
    assert list(stream) == [0, 1, 2]
    assert list(stream) == []
