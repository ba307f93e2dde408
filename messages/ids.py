"""Names of things that travel between actors: collections, peeks, connections."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .structs import Natural

Namespace = Literal["u", "s", "si", "t"]
"""``u`` user, ``s`` system, ``si`` introspection source, ``t`` transient."""

_GLOBAL_ID = re.compile(r"(si|u|s|t)?(\d+)")


class GlobalId(NamedTuple):
    """The name of one collection (a shard, an index, a view, a sink) in a system.

    A named tuple rather than a struct, because ids are dictionary keys on every path and a tuple hashes and
    compares in C. Printed as ``u12``.
    """

    namespace: Namespace
    number: Natural

    def __str__(self) -> str:
        return f"{self.namespace}{self.number}"

    @classmethod
    def parse(cls, text: str) -> GlobalId:
        """Read ``u12``, ``si3``, ``t4`` or ``s5``; a bare number is in the user namespace.

        Raises:
            ValueError: the text is none of these.
        """
        match = _GLOBAL_ID.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not an id: expected a number with an optional prefix u, s, si or t")
        return cls(match.group(1) or "u", int(match.group(2)))  # type: ignore[arg-type]

    @property
    def is_transient(self) -> bool:
        return self.namespace == "t"


PeekId = str
"""The uuid of one peek, as text; counted in a simulation."""

Nonce = str
"""The name of one connection of a controller to a replica; a new connection has a fresh one."""
