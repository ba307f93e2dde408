"""Comparing what became of writes: how many rows each change touched, or why it was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pykka

from ...messages.errors import PillionError
from ..dispatch.oneshot import OneShot
from .events import Acknowledged
from .verdict import SAME, Answered, Difference, Outcome, Verdict


class Writes:
    """The storage's answers, by the message that asked. They come soon and in order, so all are waited for."""

    def __init__(
        self, found: Callable[[Difference], object], counts: Counter[tuple[Answered, Outcome]], timeout: float
    ) -> None:
        self._found = found
        self._counts = counts
        self._timeout = timeout
        self._replies: dict[int, tuple[str, OneShot[Any]]] = {}

    def __len__(self) -> int:
        return len(self._replies)

    def sent(self, sequence: int, subject: str, reply: OneShot[Any]) -> None:
        """A message was sent that gets an answer."""
        self._replies[sequence] = (subject, reply)

    def acknowledged(self, event: Acknowledged) -> None:
        """What was recorded; waits for what it is this time."""
        subject, reply = self._replies.pop(event.of, ("", None))
        if reply is None:
            return
        before = _show(event.value) if event.refused is None else f"refused: {event.refused}"
        now = self._result(reply)
        verdict = SAME if now == before else Verdict(Outcome.DIFFERENT, (before,), (now or "no answer",))
        self._counts[Answered.WRITES, verdict.outcome] += 1
        if verdict.outcome is not Outcome.SAME:
            self._found(Difference(Answered.WRITES, event.of, event.sequence, subject, verdict))

    def wait_for_oldest(self) -> None:
        """Let the storage catch up, when no answers were recorded that would be waited for."""
        _, reply = self._replies.pop(next(iter(self._replies)))
        self._result(reply)

    def _result(self, reply: OneShot[Any]) -> str | None:
        try:
            return _show(reply.get(timeout=self._timeout))
        except pykka.Timeout:
            return None
        except PillionError as error:
            return f"refused: {error}"


def _show(value: Any) -> str:
    return str(value)
