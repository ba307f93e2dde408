"""What a message refers to and a log cannot hold: actors, futures, streams, shared memory.

An actor is written as its name, a future or a stream as the row of the request that carried it first, and anything else
as a number and its class. Whoever reads a message back decides what stands for them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn, TypeVar

import pykka

from ..dispatch.base import SystemActor
from ..dispatch.oneshot import OneShot, Stream

T = TypeVar("T")


class RecordedActor(pykka.ActorRef[Any]):
    """Stands for an actor that a recorded message names. There is nobody to tell anything."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.actor_class = SystemActor
        self.actor_urn = name

    def tell(self, message: Any) -> NoReturn:
        raise pykka.ActorDeadError(f"{self.name} is the name of an actor in a recording")

    def __repr__(self) -> str:
        return f"RecordedActor({self.name!r})"

    def __str__(self) -> str:
        return self.name


class RecordedReply(OneShot[Any]):
    """Stands for a future. ``request``: the row of the request that carried it first; 0: it is not recorded."""

    __slots__ = ("request",)

    def __init__(self, request: int) -> None:
        super().__init__()
        self.request = request

    def __repr__(self) -> str:
        return f"RecordedReply({self.request})"


class RecordedStream(Stream[Any]):
    """Stands for a stream. ``request``: as of a :class:`RecordedReply`."""

    __slots__ = ("request",)

    def __init__(self, request: int) -> None:
        super().__init__()
        self.request = request

    def __repr__(self) -> str:
        return f"RecordedStream({self.request})"


class References:
    """What stands for what a message refers to. A reader may give :meth:`Record.message` others; these are stand-ins,
    one for each name, so that two messages about one actor agree."""

    def __init__(self) -> None:
        self._actors: dict[str, pykka.ActorRef[Any]] = {}
        self._replies: dict[int, OneShot[Any]] = {}
        self._streams: dict[int, Stream[Any]] = {}
        self._objects: dict[int, Any] = {}

    def actor(self, name: str) -> pykka.ActorRef[Any]:
        """What stands for an actor."""
        return self._actors.setdefault(name, RecordedActor(name))

    def reply(self, request: int) -> OneShot[Any]:
        """What stands for a future."""
        return self._replies.setdefault(request, RecordedReply(request))

    def stream(self, request: int) -> Stream[Any]:
        """What stands for a stream."""
        return self._streams.setdefault(request, RecordedStream(request))

    def object(self, number: int, type: type[T]) -> T:
        """What stands for something in shared memory. It is of the ``type`` that the field has, because messages are
        checked; the stand-in has a ``number`` and none of the attributes."""
        found = self._objects.get(number)
        if found is None:
            found = self._objects[number] = object.__new__(_stand_in(type))
            found.number = number
        return found


@lru_cache(maxsize=64)
def _stand_in(type_: Any) -> Any:
    return type(f"Recorded{type_.__name__}", (type_,), {"__slots__": ("number",)})
