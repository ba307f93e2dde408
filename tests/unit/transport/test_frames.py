"""Frames: what was framed comes out whatever way the bytes are cut, and any bytes are payloads or an error."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.transport.errors import FrameError
from pillion.actors.transport.frames import HEADER_SIZE, FrameDecoder, frame

LIMIT = 64


@st.composite
def cut(draw: st.DrawFn, data: st.SearchStrategy[bytes]) -> list[bytes]:
    """Bytes, and the pieces that they arrive in."""
    whole = draw(data)
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


PAYLOADS = st.lists(st.binary(max_size=LIMIT), max_size=8)


@given(PAYLOADS, st.data())
def test_payloads_come_out_as_they_went_in(payloads: list[bytes], data: st.DataObject) -> None:
    pieces = data.draw(cut(st.just(b"".join(frame(payload, LIMIT) for payload in payloads))))
    decoder = FrameDecoder(LIMIT)
    assert [payload for piece in pieces for payload in decoder.feed(piece)] == payloads
    decoder.end()


@given(cut(st.binary(max_size=400)))
def test_any_bytes_are_payloads_or_an_error_in_bounded_memory(pieces: list[bytes]) -> None:
    decoder = FrameDecoder(LIMIT)
    came, failed = b"", False
    for piece in pieces:
        came += piece
        try:
            payloads = decoder.feed(piece)
        except FrameError:
            failed = True
            break
        assert all(len(payload) <= LIMIT for payload in payloads)
        assert decoder.pending < HEADER_SIZE + LIMIT
    whole, rest, too_long = cut_apart(came)
    assert failed == too_long
    if failed:
        assert decoder.pending == 0
        with pytest.raises(FrameError):
            decoder.feed(b"")
    elif rest:
        assert decoder.pending == len(rest)
        with pytest.raises(FrameError, match=f"after {len(rest)} bytes"):
            decoder.end()
    else:
        decoder.end()
    again = FrameDecoder(LIMIT)
    if not too_long:
        assert again.feed(came) == whole


def cut_apart(data: bytes) -> tuple[list[bytes], bytes, bool]:
    """The payloads in these bytes, what is left over, and whether that begins with too long a frame."""
    payloads: list[bytes] = []
    while len(data) >= 4:
        (length,) = struct.unpack("!I", data[:4])
        if length > LIMIT:
            return payloads, data, True
        if len(data) < 4 + length:
            break
        payloads.append(data[4 : 4 + length])
        data = data[4 + length :]
    return payloads, data, False


def test_a_length_alone_costs_no_memory() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(struct.pack("!I", 1 << 30)) == []
    assert decoder.pending == HEADER_SIZE


def test_too_long_a_frame_is_refused_by_its_length() -> None:
    with pytest.raises(FrameError, match="65 bytes was announced, and the limit is 64 bytes"):
        FrameDecoder(LIMIT).feed(struct.pack("!I", 65))


def test_too_long_a_payload_is_not_framed() -> None:
    with pytest.raises(FrameError, match="65 bytes is longer"):
        frame(bytes(65), LIMIT)
