"""Lines: connections to a replica, made again and again, on any thread, until the line is stopped."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable

import pytest

from pillion.actors.transport.connection import Connection, Limits
from pillion.actors.transport.errors import ConnectionEnded, HandshakeError, TransportError, Unreachable
from pillion.actors.transport.line import Line
from pillion.actors.transport.opening import Link, accept_connection, confirm_connection
from pillion.actors.transport.secret import Secret
from pillion.actors.transport.wire import Opened

WAIT = 30.0
SECRET = Secret(b"the secret of these tests")
OPENED = Opened(workers=3, interactive=False, trust=True, process=7, message_limit=1 << 20)


class Replica:
    """What a line leads to: ``reach`` does what the test says."""

    name = "there"
    secret = SECRET

    def __init__(self, reach: Callable[[], socket.socket]) -> None:
        self.reach = reach
        self.stopped = threading.Event()

    def provision(self, interactive: bool) -> None:
        """It is what it is."""

    def stop(self) -> None:
        self.stopped.set()


def serve(peers: queue.SimpleQueue[Connection]) -> socket.socket:
    """A socket to a replica that takes everybody who knows the secret."""
    ours, theirs = socket.socketpair()

    def greet() -> None:
        try:
            controller = accept_connection(theirs, SECRET)
        except HandshakeError:
            theirs.close()
            return
        connection = confirm_connection(theirs, controller, OPENED, Limits())
        connection.start(lambda message: None, lambda reason: None)
        peers.put(connection)

    threading.Thread(target=greet).start()
    return ours


@pytest.fixture
def outcomes() -> queue.SimpleQueue[Link | TransportError]:
    return queue.SimpleQueue()


def start(link: Link) -> queue.SimpleQueue[TransportError]:
    """Begin to listen; why the connection ends will be in the queue."""
    ended: queue.SimpleQueue[TransportError] = queue.SimpleQueue()
    link.connection.start(lambda message: None, ended.put)
    return ended


def test_a_line_is_made_again_and_again_and_ends_all_it_made() -> None:
    peers: queue.SimpleQueue[Connection] = queue.SimpleQueue()
    replica = Replica(lambda: serve(peers))
    line = Line(replica)
    assert line.replica is None
    first, second = line.reach(), line.reach()
    assert line.replica == first.replica == OPENED
    reasons = [start(link) for link in (first, second)]
    line.stop()
    assert replica.stopped.is_set()
    assert [str(each.get(timeout=WAIT)) for each in reasons] == ["the system was stopped"] * 2
    assert not first.connection.is_alive
    for _ in range(2):
        peers.get(timeout=WAIT).join()
    line.stop()


def test_dialing_tells_what_came_of_it(outcomes: queue.SimpleQueue[Link | TransportError]) -> None:
    def nobody() -> socket.socket:
        raise Unreachable("there", "nobody listens")

    line = Line(Replica(nobody))
    line.dial(outcomes.put)
    assert isinstance(outcomes.get(timeout=WAIT), Unreachable)
    line.stop()


def test_a_fault_while_dialing_is_told_too(
    outcomes: queue.SimpleQueue[Link | TransportError], caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever waits for the connection would wait for ever."""

    def faulty() -> socket.socket:
        raise ZeroDivisionError("by zero")

    line = Line(Replica(faulty))
    line.dial(outcomes.put)
    assert str(outcomes.get(timeout=WAIT)) == "no replica answers at there: ZeroDivisionError: by zero"
    assert "connecting failed" in caplog.text
    line.stop()


def test_stopping_ends_a_handshake_that_is_under_way(outcomes: queue.SimpleQueue[Link | TransportError]) -> None:
    ours, theirs = socket.socketpair()
    line = Line(Replica(lambda: ours))
    line.dial(outcomes.put)
    with theirs:
        assert theirs.recv(8, socket.MSG_WAITALL) == b"pillion\0"
        line.stop()
        assert isinstance(outcomes.get(timeout=WAIT), HandshakeError)


def test_what_is_reached_too_late_is_ended() -> None:
    peers: queue.SimpleQueue[Connection] = queue.SimpleQueue()
    line = Line(Replica(lambda: serve(peers)))
    line.stop()
    with pytest.raises(ConnectionEnded, match="the line was stopped"):
        line.reach()
    line.dial(lambda outcome: pytest.fail("nobody dials any more"))


def test_somebody_who_does_not_say_who_he_is(outcomes: queue.SimpleQueue[Link | TransportError]) -> None:
    ours, theirs = socket.socketpair()

    def greet() -> None:
        accept_connection(theirs, SECRET)
        theirs.sendall(b"\0\0\0\x01\x07")

    thread = threading.Thread(target=greet)
    thread.start()
    line = Line(Replica(lambda: ours))
    with theirs, pytest.raises(HandshakeError, match="said something else than who it is"):
        line.reach()
    thread.join()
    line.stop()
