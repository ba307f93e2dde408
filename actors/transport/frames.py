"""Frames: how messages are told apart in a stream of bytes.

A frame is the length of its payload as four bytes, big-endian, and the payload. Invariant: a decoder keeps no more
than one unfinished frame within the limit, and only bytes that came in: a length alone costs no memory.
"""

from __future__ import annotations

import struct

from .errors import FrameError

_LENGTH = struct.Struct("!I")
HEADER_SIZE = _LENGTH.size

FRAME_LIMIT = 1 << 30
"""Bytes of a payload, unless a limit was given."""

LARGEST_LIMIT = (1 << 32) - 1
"""What four bytes can tell."""


def frame(payload: bytes, limit: int = FRAME_LIMIT) -> bytes:
    """The frame of a payload.

    Raises:
        FrameError: it is longer than ``limit``.
    """
    if len(payload) > limit:
        raise FrameError(f"a message of {len(payload)} bytes is longer than a frame may be, {limit} bytes")
    return _LENGTH.pack(len(payload)) + payload


def payload_length(header: bytes, limit: int) -> int:
    """The length that the first four bytes of a frame tell.

    Raises:
        FrameError: it is more than ``limit``.
    """
    (length,) = _LENGTH.unpack(header)
    if length > limit:
        raise FrameError(f"a frame of {length} bytes was announced, and the limit is {limit} bytes")
    return length


class FrameDecoder:
    """Cuts a stream of bytes into payloads. After an error it takes no more."""

    __slots__ = ("_buffer", "_error", "_limit")

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._error: FrameError | None = None

    @property
    def pending(self) -> int:
        """Bytes of the unfinished frame, its header included."""
        return len(self._buffer)

    def feed(self, data: bytes | memoryview) -> list[bytes]:
        """The payloads that are complete with these bytes.

        Raises:
            FrameError: a frame is longer than the limit.
        """
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        buffer += data
        payloads: list[bytes] = []
        start = 0
        while len(buffer) - start >= HEADER_SIZE:
            try:
                length = payload_length(bytes(buffer[start : start + HEADER_SIZE]), self._limit)
            except FrameError as error:
                buffer.clear()
                self._error = error
                raise
            end = start + HEADER_SIZE + length
            if len(buffer) < end:
                break
            with memoryview(buffer) as view:
                payloads.append(bytes(view[start + HEADER_SIZE : end]))
            start = end
        if start:
            del buffer[:start]
        return payloads

    def end(self) -> None:
        """The stream has ended.

        Raises:
            FrameError: in the middle of a frame.
        """
        if self._error is None and self._buffer:
            self._error = FrameError(f"the stream ended after {len(self._buffer)} bytes of a frame")
        if self._error is not None:
            raise self._error
