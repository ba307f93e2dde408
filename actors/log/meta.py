"""What a log says about itself, as rows of its table ``meta``: one for each field of ``Meta``, its value as JSON."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import msgspec

from ...messages.log import Meta


def meta_rows(meta: Meta) -> list[tuple[str, str, int]]:
    """The rows: key, value, checksum."""
    return [
        (key, text := msgspec.json.encode(value).decode(), _checksum(key, text))
        for key, value in msgspec.to_builtins(meta).items()
    ]


def meta_in(rows: Iterable[tuple[str, str, int]]) -> Meta:
    """The inverse of :func:`meta_rows`.

    Raises:
        ValueError: a row is not as it was written, or one is missing.
    """
    values: dict[str, object] = {}
    for key, text, checksum in rows:
        if _checksum(key, text) != checksum:
            raise ValueError(f"the table meta has a wrong checksum at {key!r}")
        values[key] = msgspec.json.decode(text)
    try:
        return msgspec.convert(values, Meta)
    except msgspec.ValidationError as error:
        raise ValueError(f"the table meta is incomplete: {error}") from None


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(f"{key}={text}".encode())
