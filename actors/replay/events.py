"""What a recording consists of, as a replay sees it: what was sent to replicas and to the storage, and what they
answered, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ...messages.commands import Command
from ...messages.ids import Nonce
from ...messages.responses import Response


@dataclass(frozen=True, slots=True)
class Sent:
    """A command to the replica of this name."""

    sequence: int
    time: float
    replica: str
    command: Command


@dataclass(frozen=True, slots=True)
class Stored:
    """A message to the storage; what has a ``reply`` is told what became of it."""

    sequence: int
    time: float
    message: Any


@dataclass(frozen=True, slots=True)
class Heard:
    """Responses of the replica of this name, on the connection with this nonce."""

    sequence: int
    time: float
    replica: str
    nonce: Nonce
    responses: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The storage's answer to message ``of``: a value, or the text of a refusal."""

    sequence: int
    time: float
    of: int
    value: Any = None
    refused: str | None = None


Event = Sent | Stored | Heard | Acknowledged


class Recording(Protocol):
    """Something that can be replayed."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def last(self) -> int:
        """The sequence of its last message."""
        ...

    @property
    def replicas(self) -> tuple[str, ...]:
        """The replicas that it names, in order."""
        ...

    def events(self) -> Iterator[Event]:
        """Everything that a replay needs, in order. May be called again."""
        ...
