"""What the recorder tells itself."""

from __future__ import annotations

import msgspec


class Write(msgspec.Struct, frozen=True, eq=False):
    """Something was noted: write it in a moment, together with what comes until then."""


class WriteNow(msgspec.Struct, frozen=True, eq=False):
    """The moment has come."""
