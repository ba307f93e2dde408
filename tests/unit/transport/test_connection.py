"""Connections: messages in order both ways, and an end with a reason whatever goes wrong."""

from __future__ import annotations

import queue
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from pillion.actors.transport.connection import Connection, Limits
from pillion.actors.transport.errors import ConnectionEnded, PeerClosed, TransportError
from pillion.actors.transport.frames import FrameDecoder, frame
from pillion.messages.errors import DecodeError, EncodeError

WAIT = 30.0
"""Seconds; long before they pass, something is wrong."""


def encode(message: Any) -> bytes:
    if not isinstance(message, str):
        raise EncodeError(f"cannot encode {message!r}")
    return message.encode()


def decode(payload: bytes) -> str:
    try:
        return payload.decode("ascii")
    except UnicodeDecodeError:
        raise DecodeError("a text", "$", repr(payload), "expected ASCII") from None


class End:
    """A connection, and what came of it."""

    def __init__(self, connected: socket.socket, limits: Limits = Limits()) -> None:
        self.heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.ended: queue.SimpleQueue[TransportError] = queue.SimpleQueue()
        self.connection = Connection(connected, encode=encode, decode=decode, limits=limits)

    def start(self) -> End:
        self.connection.start(self.heard.put, self.ended.put)
        return self

    def hear(self) -> str:
        return self.heard.get(timeout=WAIT)

    def reason(self) -> TransportError:
        return self.ended.get(timeout=WAIT)


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


Pair = tuple[socket.socket, socket.socket]


def test_messages_come_in_order_both_ways(sockets: Pair) -> None:
    ours, theirs = End(sockets[0]).start(), End(sockets[1]).start()
    texts = [str(number) * (number % 50) for number in range(500)] + ["x" * 1_000_000, "after a large one"]
    for text in texts:
        ours.connection.send(text)
        theirs.connection.send(text.upper())
    assert [theirs.hear() for _ in texts] == texts
    assert [ours.hear() for _ in texts] == [text.upper() for text in texts]
    ours.connection.end(ConnectionEnded("enough"))
    assert str(ours.reason()) == "enough"
    assert isinstance(theirs.reason(), PeerClosed)
    for end in (ours, theirs):
        end.connection.join()
        assert not end.connection.is_alive


def test_what_waits_is_sent_before_a_finish(sockets: Pair) -> None:
    ours, theirs = End(sockets[0]).start(), End(sockets[1]).start()
    for number in range(100):
        ours.connection.send(str(number))
    ours.connection.finish(ConnectionEnded("done"), WAIT)
    assert [theirs.hear() for _ in range(100)] == [str(number) for number in range(100)]
    assert isinstance(theirs.reason(), PeerClosed)
    assert str(ours.reason()) == "done"


def test_the_first_reason_counts_and_nothing_is_sent_after_it(sockets: Pair) -> None:
    ours = End(sockets[0]).start()
    ours.connection.end(ConnectionEnded("first"))
    ours.connection.end(ConnectionEnded("second"))
    ours.connection.send("late")
    assert str(ours.reason()) == "first"
    assert sockets[1].recv(100) == b""


def test_a_connection_that_never_started_ends(sockets: Pair) -> None:
    ours = End(sockets[0])
    ours.connection.end(ConnectionEnded("no need"))
    ours.connection.join()
    assert sockets[1].recv(100) == b""


def test_one_that_ended_before_it_started_tells_so(sockets: Pair) -> None:
    ours = End(sockets[0])
    ours.connection.end(ConnectionEnded("too early"))
    ours.start()
    assert str(ours.reason()) == "too early"


def test_a_peer_that_does_not_read_is_disconnected(sockets: Pair) -> None:
    """At the bound, not later: what waits stays within it."""
    ours = End(sockets[0], Limits(unsent=1 << 20)).start()
    sent = 0
    while ours.connection.is_open:
        ours.connection.send("x" * 1000, 1000)
        sent += 1
        assert sent < 100_000, "the bound is never reached"
    assert "does not read: more than 1048576 bytes wait" in str(ours.reason())
    ours.connection.join()
    read = 0
    while data := sockets[1].recv(1 << 16):
        read += len(data)
    assert sent * 1000 - read <= 1 << 20


def test_a_peer_that_reads_may_be_sent_any_amount(sockets: Pair) -> None:
    ours, theirs = End(sockets[0], Limits(unsent=1 << 16)).start(), End(sockets[1]).start()
    for _ in range(200):
        ours.connection.send("x" * 10_000, 10_000)
        assert len(theirs.hear()) == 10_000
    # One message alone may weigh more than the bound.
    ours.connection.send("y" * 200_000, 200_000)
    assert theirs.hear() == "y" * 200_000
    assert ours.connection.is_open


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (struct.pack("!I", 1001) + b"x", "a frame of 1001 bytes was announced, and the limit is 1000 bytes"),
        (frame(b"whole") + frame(b"cut off")[:-1], "the stream ended after 10 bytes of a frame"),
        (b"\0\0", "the stream ended after 2 bytes of a frame"),
        (frame("ü".encode()), "expected ASCII"),
        (b"", "the peer closed the connection"),
    ],
)
def test_bad_input_ends_the_connection(sockets: Pair, data: bytes, reason: str) -> None:
    ours = End(sockets[0], Limits(frame=1000)).start()
    sockets[1].sendall(data)
    sockets[1].shutdown(socket.SHUT_WR)
    assert reason in str(ours.reason())
    ours.connection.join()
    assert sockets[1].recv(1) == b""


def test_what_cannot_be_encoded_ends_the_connection(sockets: Pair) -> None:
    ours = End(sockets[0]).start()
    ours.connection.send("good")
    ours.connection.send(7)
    assert str(ours.reason()) == "cannot encode 7"
    decoder, payloads = FrameDecoder(), []
    while data := sockets[1].recv(100):
        payloads += decoder.feed(data)
    assert payloads in ([b"good"], [])


def test_a_fault_of_a_listener_is_told_and_seen(sockets: Pair, caplog: pytest.LogCaptureFixture) -> None:
    ours = End(sockets[0])

    def fail(message: str) -> None:
        raise ZeroDivisionError(message)

    ours.connection.start(fail, ours.ended.put)
    sockets[1].sendall(frame(b"boom"))
    assert str(ours.reason()) == "the connection failed: ZeroDivisionError: boom"
    assert "a connection failed" in caplog.text
