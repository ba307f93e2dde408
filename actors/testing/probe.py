"""A probe stands in an actor's place and remembers what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import pykka

from ..dispatch.base import Dispatcher, SystemActor
from ..dispatch.oneshot import Stream

M = TypeVar("M")


class UnexpectedMessages(AssertionError):
    """A probe did not hear what was expected, or heard what was not."""


class _Listener(SystemActor):
    def __init__(self, heard: Stream[Any]) -> None:
        super().__init__()
        self._heard = heard

    def receive(self, message: Any) -> Any:
        if type(message).__module__.startswith("pykka"):
            return super().receive(message)
        self._heard.put(message)
        return None


class Probe:
    """An actor that only listens. Give others :attr:`ref`; use the rest from the test.

        probe = Probe(dispatcher)
        storage.tell(SubscribeShard(..., subscriber=probe.ref))
        snapshot = probe.expect(ShardSnapshot, subscription=1)

    In a simulation, waiting runs the simulation; with threads, it waits up to ``within`` seconds.
    """

    def __init__(self, dispatcher: Dispatcher, *, within: float = 10.0) -> None:
        self._heard: Stream[Any] = dispatcher.stream()
        self.ref: pykka.ActorRef[Any] = dispatcher.start(_Listener, self._heard)
        self._within = within
        self._kept: list[Any] = []

    def expect(self, kind: type[M], where: Callable[[M], bool] | None = None, **fields: Any) -> M:
        """The next message, which must be of this kind, satisfy ``where`` and have these attributes.

        Raises:
            UnexpectedMessages: it is another one, or none came.
        """
        message = self._next(f"{kind.__name__} {fields or ''}")
        if not self._matches(message, kind, where, fields):
            raise UnexpectedMessages(f"expected {kind.__name__} {fields or ''}, heard {message!r}")
        return cast(M, message)

    def find(self, kind: type[M], where: Callable[[M], bool] | None = None, **fields: Any) -> M:
        """The first message of this kind, whatever comes before it. What was passed over is heard again later."""
        passed: list[Any] = []
        try:
            while True:
                message = self._next(f"{kind.__name__} {fields or ''} after {passed!r}")
                if self._matches(message, kind, where, fields):
                    return cast(M, message)
                passed.append(message)
        finally:
            self._kept = passed + self._kept

    def expect_none(self, kind: type = object) -> None:
        """No message of this kind is there. In a simulation, first let everything settle with ``run()``."""
        messages = self.take_all()
        self._kept = messages
        found = [m for m in messages if isinstance(m, kind)]
        if found:
            raise UnexpectedMessages(f"expected no {kind.__name__}, heard {found!r}")

    def take_all(self) -> list[Any]:
        """What has been heard up to now, without waiting."""
        messages, self._kept = self._kept, []
        while self._heard.ready:
            messages.append(self._heard.get())
        return messages

    def _next(self, what: str) -> Any:
        if self._kept:
            return self._kept.pop(0)
        try:
            return self._heard.get(timeout=self._within)
        except Exception as error:
            raise UnexpectedMessages(f"expected {what}, heard nothing: {error}") from error

    @staticmethod
    def _matches(message: Any, kind: type[M], where: Callable[[M], bool] | None, fields: dict[str, Any]) -> bool:
        if not isinstance(message, kind):
            return False
        if any(getattr(message, name, None) != value for name, value in fields.items()):
            return False
        return where is None or where(message)
