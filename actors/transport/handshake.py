"""The handshake: both sides prove that they know the shared secret before either decodes anything of the other.

    client -> server   magic, version, nonce of the client
    server -> client   magic, version, nonce of the server
    client -> server   proof of the client
    server -> client   verdict; when it is good, proof of the server

A proof is HMAC-SHA256 under the secret over the side's name, both versions and both nonces, so that it is good for one
connection, one direction and one pair of versions. Everything has a fixed size, and all of it a common deadline. The
server tells nothing that depends on the secret to somebody who has not proved that he knows it.

The handshake says who is there; it does not encrypt what follows.
"""

from __future__ import annotations

import enum
import hmac
import secrets
import socket
import struct
from collections.abc import Callable

from ..dispatch.services import Clock
from .errors import HandshakeError, WrongSecret, WrongVersion
from .secret import Secret
from .timed_socket import TimedSocket

VERSION = 1
"""Of the transport: raised whenever the other release would misunderstand what is sent."""

HANDSHAKE_SECONDS = 10.0
"""That the whole handshake may take."""

_MAGIC = b"pillion\0"
_NONCE_SIZE = 32
_PROOF_SIZE = 32
_GREETING = struct.Struct(f"!{len(_MAGIC)}sH{_NONCE_SIZE}s")
GREETING_SIZE = _GREETING.size

MakeNonce = Callable[[int], bytes]


class _Verdict(enum.Enum):
    GOOD = b"\x01"
    WRONG_SECRET = b"\x02"


def greet_server(
    peer: socket.socket,
    secret: Secret,
    *,
    seconds: float = HANDSHAKE_SECONDS,
    version: int = VERSION,
    make_nonce: MakeNonce = secrets.token_bytes,
    clock: Clock | None = None,
) -> None:
    """The client's side of the handshake, on a connected socket.

    Raises:
        WrongVersion, WrongSecret: what the names say.
        HandshakeError: the peer is no pillion process, or did not answer in time.
    """
    wire = TimedSocket(peer, seconds, clock)
    nonce = make_nonce(_NONCE_SIZE)
    wire.send(_GREETING.pack(_MAGIC, version, nonce))
    theirs, their_nonce = _read_greeting(wire)
    if theirs != version:
        raise WrongVersion(version, theirs)
    said = struct.pack("!HH", version, theirs) + nonce + their_nonce
    wire.send(_prove(secret, b"client", said))
    if wire.receive(1) != _Verdict.GOOD.value:
        raise WrongSecret("the replica's process")
    if not hmac.compare_digest(wire.receive(_PROOF_SIZE), _prove(secret, b"server", said)):
        raise WrongSecret("the replica's process")


def greet_client(
    peer: socket.socket,
    secret: Secret,
    *,
    seconds: float = HANDSHAKE_SECONDS,
    version: int = VERSION,
    make_nonce: MakeNonce = secrets.token_bytes,
    clock: Clock | None = None,
) -> None:
    """The server's side of the handshake, on an accepted socket.

    Raises:
        WrongVersion, WrongSecret: what the names say.
        HandshakeError: the peer is no pillion process, or did not answer in time.
    """
    wire = TimedSocket(peer, seconds, clock)
    theirs, their_nonce = _read_greeting(wire)
    nonce = make_nonce(_NONCE_SIZE)
    # Also to one of another version, which learns from it which one this is.
    wire.send(_GREETING.pack(_MAGIC, version, nonce))
    if theirs != version:
        raise WrongVersion(version, theirs)
    said = struct.pack("!HH", theirs, version) + their_nonce + nonce
    if not hmac.compare_digest(wire.receive(_PROOF_SIZE), _prove(secret, b"client", said)):
        wire.send(_Verdict.WRONG_SECRET.value)
        raise WrongSecret("the peer")
    wire.send(_Verdict.GOOD.value + _prove(secret, b"server", said))


def _prove(secret: Secret, side: bytes, said: bytes) -> bytes:
    return hmac.digest(secret.value, b"pillion handshake " + side + b"\0" + said, "sha256")


def _read_greeting(wire: TimedSocket) -> tuple[int, bytes]:
    """The version and the nonce of the peer."""
    # The magic first: whoever speaks something else may send less than a greeting, and wait.
    magic = wire.receive(len(_MAGIC))
    if magic != _MAGIC:
        raise HandshakeError(f"the peer is no pillion process: it began with {magic!r}")
    _, version, nonce = _GREETING.unpack(magic + wire.receive(GREETING_SIZE - len(_MAGIC)))
    return version, nonce
