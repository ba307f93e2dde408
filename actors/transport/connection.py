"""A connection: messages both ways over one socket, each way on a thread of its own.

Actors send by putting into a queue and hear by being told, so that no handler waits for a peer. Invariant: the queue
does not grow without end. A peer that leaves more unread than the bound is disconnected; whoever sent to it connects
anew and says everything that still matters again.
"""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ...messages.errors import PillionError
from ..dispatch.services import make_logger
from .errors import ConnectionEnded, PeerClosed, TransportError
from .frames import FRAME_LIMIT, LARGEST_LIMIT, FrameDecoder, frame

_log = make_logger("transport")

_READ_SIZE = 1 << 18
_BATCH_SIZE = 1 << 16
"""Small messages that wait together are sent together, up to about so many bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection may take.

    Attributes:
        frame: bytes of a message that comes in; how large one may be that goes out, the peer says.
        unsent: bytes, estimated, of the messages that wait for a peer to read. One message alone may be larger.
    """

    frame: int = FRAME_LIMIT
    unsent: int = 1 << 30


class Channel(Protocol):
    """What senders need of a connection."""

    def send(self, message: Any, weight: int = 0) -> None:
        """Send a message without waiting. No effect once the connection has ended. ``weight``: about how many bytes
        of memory it keeps while it waits to be sent."""
        ...

    def end(self, reason: TransportError) -> None:
        """End the connection at once, without waiting. The first reason counts."""
        ...


_MESSAGE_WEIGHT = 1 << 9
"""What any message is taken to weigh besides what it carries."""


class Connection:
    """An authenticated socket that carries messages.

    Args:
        connected: from now on the connection's own.
        encode: the bytes of a message; run on the writing thread, so that no sender waits for it.
        decode: the message in these bytes; raises a :class:`PillionError` where there is none.
    """

    def __init__(
        self,
        connected: socket.socket,
        *,
        encode: Callable[[Any], bytes],
        decode: Callable[[bytes], Any],
        limits: Limits = Limits(),
    ) -> None:
        connected.settimeout(None)
        self._socket = connected
        self._encode = encode
        self._decode = decode
        self._limits = limits
        self._unsent: queue.SimpleQueue[tuple[Any, int] | None] = queue.SimpleQueue()
        self._weight = 0
        self._lock = threading.Lock()
        self._reason: TransportError | None = None
        self._reader = threading.Thread(target=self._read, name="pillion-transport-reader", daemon=True)
        self._writer = threading.Thread(target=self._write, name="pillion-transport-writer", daemon=True)
        self._received: Callable[[Any], None] | None = None
        self._ended: Callable[[TransportError], None] | None = None

    def start(self, received: Callable[[Any], None], ended: Callable[[TransportError], None]) -> None:
        """Begin to receive and to send. On the reading thread, ``received`` hears every message in order, then
        ``ended`` once why there are no more. Neither may wait for an actor."""
        self._received = received
        self._ended = ended
        self._writer.start()
        self._reader.start()

    def send(self, message: Any, weight: int = 0) -> None:
        weight += _MESSAGE_WEIGHT
        with self._lock:
            if self._reason is not None:
                return
            is_too_much = self._weight > 0 and self._weight + weight > self._limits.unsent
            if not is_too_much:
                self._weight += weight
                self._unsent.put((message, weight))
        if is_too_much:
            self.end(ConnectionEnded(f"the peer does not read: more than {self._limits.unsent} bytes wait to be sent"))

    def end(self, reason: TransportError) -> None:
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
        self._unsent.put(None)
        # Wakes both threads. The socket is closed when neither uses it any more.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._reader.ident is None:
            self._socket.close()

    def finish(self, reason: TransportError, seconds: float) -> None:
        """Send what waits, for so many seconds at most, then end the connection. For threads that may wait."""
        self._unsent.put(None)
        self._writer.join(seconds)
        self.end(reason)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self._reason is None

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended, or a thread of it still runs."""
        return self._reason is None or self._reader.is_alive() or self._writer.is_alive()

    def join(self) -> None:
        """Wait until both threads have ended. For threads that may wait."""
        for thread in (self._reader, self._writer):
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join()

    def _end_after(self, error: BaseException) -> None:
        """End the connection because of what went wrong on one of its threads."""
        match error:
            case TransportError():
                self.end(error)
            case PillionError():
                self.end(ConnectionEnded(str(error)))
            case OSError():
                self.end(ConnectionEnded(f"the connection broke: {error.strerror or error}"))
            case _:
                # A fault of this program: the peer must not be left waiting for it, nor may it go unseen.
                self.end(ConnectionEnded(f"the connection failed: {type(error).__name__}: {error}"))
                _log.error("a connection failed", exc_info=error)

    # --- Reading -------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self._received is not None, "set by start"
        assert self._ended is not None, "set by start"
        try:
            self._receive(self._received)
        except BaseException as error:
            self._end_after(error)
        self._writer.join()
        self._socket.close()
        assert self._reason is not None, "every way to get here gave one"
        self._ended(self._reason)

    def _receive(self, received: Callable[[Any], None]) -> None:
        decoder = FrameDecoder(self._limits.frame)
        buffer = memoryview(bytearray(_READ_SIZE))
        while self._reason is None:
            size = self._socket.recv_into(buffer)
            if not size:
                break
            for payload in decoder.feed(buffer[:size]):
                received(self._decode(payload))
        if self._reason is None:
            decoder.end()
            raise PeerClosed

    # --- Writing -------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        try:
            while True:
                item = self._unsent.get()
                if item is None or self._reason is not None:
                    return
                data, weight, is_last = self._batch(item)
                self._socket.sendall(data)
                with self._lock:
                    self._weight -= weight
                if is_last:
                    return
        except BaseException as error:
            self._end_after(error)

    def _batch(self, item: tuple[Any, int]) -> tuple[bytes, int, bool]:
        """The bytes of a message and of small ones that wait behind it, their weight, and whether none will follow."""
        message, weight = item
        data = frame(self._encode(message), LARGEST_LIMIT)
        if len(data) >= _BATCH_SIZE or self._unsent.empty():
            return data, weight, False
        batch = bytearray(data)
        while len(batch) < _BATCH_SIZE and not self._unsent.empty():
            following = self._unsent.get()
            if following is None:
                return bytes(batch), weight, True
            batch += frame(self._encode(following[0]), LARGEST_LIMIT)
            weight += following[1]
        return bytes(batch), weight, False
