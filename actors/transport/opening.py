"""How a connection begins: the handshake, then who is there, then messages."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any, TypeVar

from ...messages.encoding import decode, encode
from ...messages.errors import DecodeError
from .codec import decode_down, decode_up, encode_down, encode_up
from .connection import Connection, Limits
from .errors import HandshakeError
from .frames import HEADER_SIZE, frame, payload_length
from .handshake import HANDSHAKE_SECONDS, greet_client, greet_server
from .secret import Secret
from .timed_socket import TimedSocket
from .wire import Open, Opened

T = TypeVar("T")

OPENING_LIMIT = 1 << 12
"""Bytes of the first message either way."""

OPENED_SECONDS = 60.0
"""That a replica may take to stop what it did for its last controller, and to start anew."""


@dataclass(frozen=True, slots=True)
class Link:
    """A connection to a replica that has not started yet, and what the replica said of itself."""

    connection: Connection
    replica: Opened


def open_connection(connected: socket.socket, secret: Secret, name: str, limits: Limits = Limits()) -> Link:
    """The system's side, on a connected socket, which becomes the connection's own.

    Raises:
        HandshakeError: the peer is not one to talk to, or does not answer in time; the socket is closed.
        FrameError: it answers with something too long.
    """
    try:
        greet_server(connected, secret)
        TimedSocket(connected, HANDSHAKE_SECONDS).send(frame(encode(Open(name, limits.frame)), OPENING_LIMIT))
        opened = _receive(connected, Opened, OPENED_SECONDS)
    except BaseException:
        connected.close()
        raise
    encode_within = encode_down(opened.message_limit)
    return Link(Connection(connected, encode=encode_within, decode=decode_up, limits=limits), opened)


def accept_connection(connected: socket.socket, secret: Secret) -> Open:
    """The replica's side, on an accepted socket: who wants to be the controller.

    Raises:
        HandshakeError: the peer is not one to talk to, or does not say so in time; the socket is still open.
        FrameError: it says something too long.
    """
    greet_client(connected, secret)
    return _receive(connected, Open, HANDSHAKE_SECONDS)


def confirm_connection(connected: socket.socket, controller: Open, opened: Opened, limits: Limits) -> Connection:
    """Tell the new controller that it is one. The socket becomes the connection's own.

    Raises:
        HandshakeError: it has gone away; the socket is closed.
    """
    try:
        TimedSocket(connected, HANDSHAKE_SECONDS).send(frame(encode(opened), OPENING_LIMIT))
    except BaseException:
        connected.close()
        raise
    encode_within = encode_up(controller.message_limit)
    return Connection(connected, encode=encode_within, decode=decode_down, limits=limits)


def _receive(connected: socket.socket, type: type[T], seconds: float) -> T:
    wire = TimedSocket(connected, seconds)
    payload: Any = wire.receive(payload_length(wire.receive(HEADER_SIZE), OPENING_LIMIT))
    try:
        return decode(payload, type)
    except DecodeError as error:
        raise HandshakeError(f"the peer said something else than who it is: {error}") from None
