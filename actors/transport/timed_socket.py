"""A socket for what is said before a connection carries messages: all of it has one deadline."""

from __future__ import annotations

import socket

from ..dispatch.services import Clock, SystemClock
from .errors import HandshakeError


class TimedSocket:
    """A socket with a deadline for everything that is sent and received together."""

    __slots__ = ("_clock", "_deadline", "_peer", "_seconds")

    def __init__(self, peer: socket.socket, seconds: float, clock: Clock | None = None) -> None:
        self._peer = peer
        self._clock = clock = clock or SystemClock()
        self._seconds = seconds
        self._deadline = clock.now() + seconds

    def send(self, data: bytes) -> None:
        """
        Raises:
            HandshakeError: the peer does not take it in time.
        """
        self._wait()
        try:
            self._peer.sendall(data)
        except OSError as error:
            raise self._failed(error) from None

    def receive(self, size: int) -> bytes:
        """Exactly so many bytes.

        Raises:
            HandshakeError: they do not come in time, or not all of them.
        """
        data = bytearray()
        while len(data) < size:
            self._wait()
            try:
                part = self._peer.recv(size - len(data))
            except OSError as error:
                raise self._failed(error) from None
            if not part:
                raise HandshakeError("the peer went away in the middle of the handshake")
            data += part
        return bytes(data)

    def _wait(self) -> None:
        """Let the next call on the socket take no longer than until the deadline."""
        left = self._deadline - self._clock.now()
        if left <= 0:
            raise self._late()
        self._peer.settimeout(left)

    def _failed(self, error: OSError) -> HandshakeError:
        if isinstance(error, TimeoutError):
            return self._late()
        return HandshakeError(f"the handshake broke off: {error.strerror or error}")

    def _late(self) -> HandshakeError:
        return HandshakeError(f"the peer did not finish the handshake within {self._seconds:g} s")
