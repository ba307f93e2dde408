"""Comparing what became of writes: how many rows each change touched, or why it was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pykka

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
        self._results: dict[int, tuple[str, str | None]] = {}
        """What came of those that were waited for before the recorded answer was met."""

    def __len__(self) -> int:
        """How many writes are on their way."""
        return len(self._replies)

    def sent(self, sequence: int, subject: str, reply: OneShot[Any]) -> None:
        """A message was sent that gets an answer."""
        self._replies[sequence] = (subject, reply)

    def acknowledged(self, event: Acknowledged) -> None:
        """What was recorded; waits for what it is this time."""
        if event.of in self._replies:
            self._wait(event.of)
        subject, now = self._results.pop(event.of, ("", None))
        if not subject:
            return
        before = str(event.value) if event.refused is None else f"refused: {event.refused}"
        verdict = SAME if now == before else Verdict(Outcome.DIFFERENT, (before,), (now or "no answer",))
        self._counts[Answered.WRITES, verdict.outcome] += 1
        if verdict.outcome is not Outcome.SAME:
            self._found(Difference(Answered.WRITES, event.of, event.sequence, subject, verdict))

    def wait_for_oldest(self) -> None:
        """Let the storage catch up."""
        self._wait(next(iter(self._replies)))

    def _wait(self, sequence: int) -> None:
        subject, reply = self._replies.pop(sequence)
        self._results[sequence] = (subject, self._result(reply))

    def _result(self, reply: OneShot[Any]) -> str | None:
        try:
            return str(reply.get(timeout=self._timeout))
        except pykka.Timeout:
            return None
        except Exception as error:  # Whatever made the system fail: what waits for it tells of it as well.
            return f"refused: {error}"
