"""What a directive is.

It gets its arguments read and its body's lines, and returns the lines that it prints. One that fails raises a
:class:`~pillion.messages.errors.PillionError`; then it prints ``error: MESSAGE``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .arguments import Signature
from .session import Session

Arguments = Mapping[str, Any]
Output = Sequence[str]

OK: Output = ("ok",)


@dataclass(frozen=True, slots=True)
class Body:
    """A directive's body."""

    lines: Sequence[str]

    @property
    def content(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.lines if line]


class BodyKind(enum.Enum):
    """Whether a directive has a body."""

    NONE = enum.auto()
    INDENTED = enum.auto()
    LOOSE = enum.auto()
    """Its lines may stand at column 0."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive of the language."""

    run: Callable[[Session, Arguments, Body], Output]
    signature: Signature = field(default_factory=Signature)
    body: BodyKind = BodyKind.NONE
