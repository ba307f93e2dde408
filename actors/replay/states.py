"""An actor's state as lines for a person: every field of it, with large ones by their number and first keys."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Collection as Sized
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

import pykka

from ...messages.ids import GlobalId
from ..dispatch.base import SystemActor

_FIRST = 8
_LONGEST = 160
_WIRING = {"dispatcher", "services", "log", "table", "handlers", "actor_stopped", "actor_inbox", "actor_urn"}


def show_state(actor: SystemActor) -> list[str]:
    """A line for each field."""
    return [f"{name}: {show_value(value)}" for name, value in _fields(getattr(actor, "state", actor))]


def _fields(owner: object) -> list[tuple[str, Any]]:
    """The fields of an object of ours, without what it is wired to."""
    own = {name: getattr(owner, name, None) for name in _slots(type(owner))} | getattr(owner, "__dict__", {})
    named = [(name.lstrip("_"), value) for name, value in own.items()]
    return [(name, value) for name, value in named if name not in _WIRING and not callable(value)]


def _slots(kind: type) -> list[str]:
    return [name for base in reversed(kind.__mro__) for name in getattr(base, "__slots__", ())]


def show_value(value: Any, depth: int = 2) -> str:
    """A value in a line, large ones cut short; of objects their fields, so many levels deep."""
    match value:
        case GlobalId():
            return str(value)
        case enum.Enum():
            return value.name
        case pykka.ActorRef():
            return cast("pykka.ActorRef[Any]", value).actor_class.__name__
        case Mapping():
            pairs = cast(Mapping[Any, Any], value)
            first = islice(pairs.items(), _FIRST)
            return _many([f"{show_value(key, 0)}: {show_value(each, depth - 1)}" for key, each in first], len(pairs))
        case tuple() | list() | set() | frozenset() | deque():
            values = cast("Sized[Any]", value)
            return _many([show_value(each, depth - 1) for each in islice(values, _FIRST)], len(values))
        case Sized() if not isinstance(value, str | bytes):
            text = f"{len(cast('Sized[Any]', value))} × {type(cast(object, value)).__name__}"
        case _ if _is_object(value):
            text = type(value).__name__
            if depth > 0:
                fields = ", ".join(f"{name}={show_value(each, depth - 1)}" for name, each in _fields(value))
                text = f"{text}({fields})"
        case _:
            text = repr(value)
    return _cut(text)


def _is_object(value: object) -> bool:
    """Whether it is an object of ours that does not say what is in it."""
    kind = type(value)
    return kind.__module__.startswith("pillion.") and kind.__repr__ is object.__repr__


def _many(shown: list[str], number: int) -> str:
    if not number:
        return "none"
    return f"{number} [{_cut(', '.join(shown))}{', …' if number > len(shown) else ''}]"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
