"""MessagePack and JSON forms of messages.

Strict both ways: decoding accepts exactly what encoding produces (unknown fields, unknown tags, wrong types and values
out of range are refused, with the path of the field), and never runs code of the sender. Row and update blocks travel
as an Arrow IPC stream (base64 in JSON).
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from . import blocks
from .errors import DecodeError, EncodeError
from .expectations import explain
from .rows import RowBlock, UpdateBlock

T = TypeVar("T")


class Format(enum.Enum):
    """How a message is written: ``MSGPACK`` between processes, ``JSON`` for people and logs."""

    MSGPACK = "msgpack"
    JSON = "json"


def encode(message: Any, format: Format = Format.MSGPACK) -> bytes:
    """The bytes of a message.

    Raises:
        EncodeError: it contains a value that no message can carry, or is nested too deeply.
    """
    encoder = _MSGPACK if format is Format.MSGPACK else _JSON
    try:
        return encoder.encode(message)
    except RecursionError:
        raise EncodeError(f"cannot encode a {type(message).__name__}: it is nested too deeply") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise EncodeError(f"cannot encode a {type(message).__name__}: {error}") from error


def decode(data: bytes, type: type[T] | Any, format: Format = Format.MSGPACK) -> T:
    """The message of this type (``Command``, ``Response``, ``Relation``, …) in these bytes.

    Raises:
        DecodeError: they contain no such message; says which field, what stands there, and what was expected.
    """
    try:
        return _decoder(type, format).decode(data)
    except RecursionError:
        raise DecodeError(_name(type), "$", None, "it is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise _explain(error, data, type, format) from None
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        raise DecodeError(_name(type), "$", None, f"this is not {format.value}: {error}") from None


def _encode_other(value: object) -> bytes:
    if isinstance(value, RowBlock):
        return blocks.row_block_to_ipc(value)
    if isinstance(value, UpdateBlock):
        return blocks.update_block_to_ipc(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}, which travels in no message")


def _decode_other(type: type, value: Any) -> Any:
    if not isinstance(value, bytes):
        raise ValueError(f"Expected `bytes`, got `{value.__class__.__name__}`")
    return blocks.row_block_from_ipc(value) if type is RowBlock else blocks.update_block_from_ipc(value)


def _decode_base64(type: type, value: Any) -> Any:
    return _decode_other(type, msgspec.convert(value, bytes))


_MSGPACK = msgspec.msgpack.Encoder(enc_hook=_encode_other)
_JSON = msgspec.json.Encoder(enc_hook=_encode_other)


@lru_cache(maxsize=64)
def _decoder(type: Any, format: Format) -> Any:
    if format is Format.MSGPACK:
        return msgspec.msgpack.Decoder(type, dec_hook=_decode_other)
    return msgspec.json.Decoder(type, dec_hook=_decode_base64)


def _explain(error: msgspec.ValidationError, data: bytes, type: Any, format: Format) -> DecodeError:
    untyped = msgspec.msgpack.decode if format is Format.MSGPACK else msgspec.json.decode
    try:
        raw = untyped(data)
    except (msgspec.DecodeError, RecursionError):
        # The typed decoder stopped at the first fault; behind it there may be anything.
        raw = None
    path, given, problem = explain(error, raw, type)
    return DecodeError(_name(type), path, None if raw is None else given, problem)


def _name(type: Any) -> str:
    name = getattr(type, "__name__", None)
    return f"a {name}" if name else "a message"
