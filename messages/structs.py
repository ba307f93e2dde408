"""The base of everything that travels between actors, and the ranges of its numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec

Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A position, a count or a limit."""

Signed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A multiplicity: a signed 64-bit number."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An immutable value. Decoding refuses fields that it does not know: a sender that says more than the receiver
    understands must learn that, rather than be half obeyed."""
