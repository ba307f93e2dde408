"""What goes wrong between two processes."""

from __future__ import annotations

from ...messages.errors import PillionError


class TransportError(PillionError):
    """Base of the errors between two processes."""


class AddressError(TransportError):
    """An address that is none, or that cannot be listened on."""


class SecretError(TransportError):
    """There is no shared secret, or it cannot be used."""


class Unreachable(TransportError):
    """Nobody answers at an address. ``address`` is the one tried."""

    def __init__(self, address: str, problem: str) -> None:
        super().__init__(f"no replica answers at {address}: {problem}")
        self.address = address


class HandshakeError(TransportError):
    """The peer is not one to talk to."""


class WrongSecret(HandshakeError):
    """The two sides have different secrets."""

    def __init__(self, side: str) -> None:
        super().__init__(f"{side} has another secret; give both sides the same one")


class WrongVersion(HandshakeError):
    """The two sides speak different versions of the transport."""

    def __init__(self, ours: int, theirs: int) -> None:
        super().__init__(
            f"the peer speaks version {theirs} of the transport, this process version {ours}; "
            "run the same release on both sides"
        )
        self.ours = ours
        self.theirs = theirs


class FrameError(TransportError):
    """Bytes that are no frame: too long, or cut off."""


class ConnectionEnded(TransportError):
    """Why a connection is no more."""


class PeerClosed(ConnectionEnded):
    """The other side ended it, or is no more."""

    def __init__(self) -> None:
        super().__init__("the peer closed the connection")
