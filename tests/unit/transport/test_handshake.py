"""The handshake: both sides come to know each other, or both learn in a sentence why not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from pillion.actors.transport.errors import HandshakeError, TransportError, WrongSecret, WrongVersion
from pillion.actors.transport.handshake import GREETING_SIZE, greet_client, greet_server
from pillion.actors.transport.secret import Secret

SECRET = Secret(b"0123456789abcdef")
OTHER = Secret(b"fedcba9876543210")


@dataclass
class Ends:
    client: socket.socket
    server: socket.socket


@pytest.fixture
def ends() -> Iterator[Ends]:
    client, server = socket.socketpair()
    with client, server:
        yield Ends(client, server)


def outcomes(ends: Ends, client: Callable[[], None], server: Callable[[], None]) -> tuple[object, object]:
    """What both sides end with: None, or the error. A side that fails hangs up, as processes do."""
    ended: dict[str, object] = {}

    def side(name: str, run: Callable[[], None], end: socket.socket) -> None:
        try:
            run()
        except TransportError as error:
            end.close()
            ended[name] = error
        else:
            ended[name] = None

    thread = threading.Thread(target=side, args=("server", server, ends.server))
    thread.start()
    side("client", client, ends.client)
    thread.join()
    return ended["client"], ended["server"]


def test_the_same_secret_is_good(ends: Ends) -> None:
    assert outcomes(ends, lambda: greet_server(ends.client, SECRET), lambda: greet_client(ends.server, SECRET)) == (
        None,
        None,
    )


def test_another_secret_is_refused_on_both_sides(ends: Ends) -> None:
    client, server = outcomes(ends, lambda: greet_server(ends.client, OTHER), lambda: greet_client(ends.server, SECRET))
    assert isinstance(client, WrongSecret)
    assert isinstance(server, WrongSecret)
    assert "give both sides the same one" in str(client)


def test_another_version_is_refused_and_both_are_named(ends: Ends) -> None:
    client, server = outcomes(
        ends, lambda: greet_server(ends.client, SECRET, version=7), lambda: greet_client(ends.server, SECRET, version=3)
    )
    assert isinstance(client, WrongVersion)
    assert isinstance(server, WrongVersion)
    assert (client.ours, client.theirs) == (7, 3)
    assert (server.ours, server.theirs) == (3, 7)
    assert "version 3 of the transport, this process version 7" in str(client)


def test_a_server_that_does_not_know_the_secret_is_refused(ends: Ends) -> None:
    def impostor() -> None:
        ends.server.recv(GREETING_SIZE, socket.MSG_WAITALL)
        ends.server.sendall(b"pillion\0\0\x01" + bytes(32))
        ends.server.recv(32, socket.MSG_WAITALL)
        ends.server.sendall(b"\x01" + bytes(32))

    client, _ = outcomes(ends, lambda: greet_server(ends.client, SECRET), impostor)
    assert isinstance(client, WrongSecret)


def test_a_proof_is_good_for_one_connection(ends: Ends) -> None:
    """Whoever recorded what a client said cannot say it again: the server's nonce is another one."""
    said: list[bytes] = []

    class Recorded:
        def settimeout(self, seconds: float) -> None:
            ends.client.settimeout(seconds)

        def sendall(self, data: bytes) -> None:
            said.append(data)
            ends.client.sendall(data)

        def recv(self, size: int) -> bytes:
            return ends.client.recv(size)

    assert outcomes(
        ends,
        lambda: greet_server(Recorded(), SECRET),  # type: ignore[arg-type]
        lambda: greet_client(ends.server, SECRET),
    ) == (None, None)
    client, server = socket.socketpair()
    with client, server:
        client.sendall(b"".join(said))
        with pytest.raises(WrongSecret):
            greet_client(server, SECRET)


def test_a_proof_is_not_good_in_the_other_direction(ends: Ends) -> None:
    """A server that sends the client's own proof back has proved nothing."""

    def mirror() -> None:
        ends.server.sendall(ends.server.recv(GREETING_SIZE, socket.MSG_WAITALL))
        ends.server.sendall(b"\x01" + ends.server.recv(32, socket.MSG_WAITALL))

    client, _ = outcomes(ends, lambda: greet_server(ends.client, SECRET), mirror)
    assert isinstance(client, WrongSecret)


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", bytes(200), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"])
def test_garbage_is_refused(ends: Ends, garbage: bytes) -> None:
    ends.client.sendall(garbage)
    with pytest.raises(HandshakeError, match="no pillion process: it began with"):
        greet_client(ends.server, SECRET)


@pytest.mark.parametrize("size", [0, 3, GREETING_SIZE - 1, GREETING_SIZE, GREETING_SIZE + 31])
def test_a_peer_that_goes_away_is_noticed(ends: Ends, size: int) -> None:
    ends.client.sendall((b"pillion\0\0\x01" + bytes(64))[:size])
    ends.client.shutdown(socket.SHUT_WR)
    with pytest.raises(HandshakeError, match="went away in the middle"):
        greet_client(ends.server, SECRET)


def test_a_peer_that_stays_silent_is_given_up(ends: Ends) -> None:
    with pytest.raises(HandshakeError, match=r"did not finish the handshake within 0\.05 s"):
        greet_client(ends.server, SECRET, seconds=0.05)


def test_a_peer_that_dribbles_is_given_up(ends: Ends) -> None:
    """The deadline is for all of it, however many bytes come one by one."""

    class Clock:
        moment = 0.0

        def now(self) -> float:
            self.moment += 1.0
            return self.moment

    ends.client.sendall(b"pillion\0\0\x01")
    with pytest.raises(HandshakeError, match="did not finish the handshake within 2 s"):
        greet_client(ends.server, SECRET, seconds=2.0, clock=Clock())


def test_a_secret_is_not_shown() -> None:
    assert "0123" not in f"{SECRET!r} {SECRET}"
