"""Where a replay that goes step by step stops: at a kind of message, an id, an actor or a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...messages.errors import PillionError
from .events import Acknowledged, Event, Heard, Sent, Stored
from .mentions import mentions


class NamesNothing(PillionError):
    """A breakpoint that is nowhere in the log."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        super().__init__(
            f"nothing in this log is called {text!r}: a breakpoint is a kind of message ({_some(vocabulary.kinds)}), "
            f"an actor ({_some(vocabulary.actors)}), an id or the uuid of a peek ({_some(vocabulary.ids)}), or a "
            f"sequence from 1 to {vocabulary.last}"
        )


@dataclass(slots=True)
class Vocabulary:
    """Everything that a breakpoint may name."""

    actors: set[str]
    kinds: set[str] = field(default_factory=set[str])
    ids: set[str] = field(default_factory=set[str])
    last: int = 0

    def learn(self, events: Iterable[Event]) -> None:
        """Take the names that are in a log."""
        for event in events:
            self.last = max(self.last, event.sequence)
            for message in messages_of(event):
                self.kinds.add(type(message).__name__)
                self.ids |= mentions(message)


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One of the four is set."""

    text: str
    sequence: int | None = None
    kind: str | None = None
    name: str | None = None
    actor: str | None = None

    def meets_event(self, event: Event) -> bool:
        """Whether this message of the log is one to stop at."""
        if self.sequence is not None:
            return event.sequence == self.sequence
        return any(self._meets(message) for message in messages_of(event))

    def meets(self, sender: str, receiver: str, message: Any) -> bool:
        """Whether this message between actors is one to stop at."""
        return self.actor in (sender, receiver) if self.actor is not None else self._meets(message)

    def _meets(self, message: Any) -> bool:
        if self.kind is not None:
            return type(message).__name__ == self.kind
        return self.name is not None and self.name in mentions(message)


def read_breakpoint(text: str, vocabulary: Vocabulary) -> Breakpoint:
    """
    Raises:
        NamesNothing: there is nothing of this name.
    """
    if text.isdecimal() and 1 <= int(text) <= vocabulary.last:
        return Breakpoint(text, sequence=int(text))
    if text in vocabulary.actors:
        return Breakpoint(text, actor=text)
    if text in vocabulary.kinds:
        return Breakpoint(text, kind=text)
    if text in vocabulary.ids:
        return Breakpoint(text, name=text)
    raise NamesNothing(text, vocabulary)


def messages_of(event: Event) -> Iterator[Any]:
    """The messages that an event is about."""
    match event:
        case Sent(command=command):
            yield command
        case Stored(message=message):
            yield message
        case Heard(responses=responses):
            yield from responses
        case Acknowledged():
            return


def _some(names: set[str]) -> str:
    some = sorted(names)[:4]
    return ", ".join(some) + (", …" if len(names) > len(some) else "") if some else "there is none"
