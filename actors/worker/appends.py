"""Which sink an append's answer is for.

The storage answers the appends of one worker to one shard in their order, so the answer belongs to the sink whose
append has been waiting longest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ...messages.ids import GlobalId
from ..storage.messages import Appended, CompareAndAppend, UpperMismatch
from .link import Link

Answer = Appended | UpperMismatch


class Appends:
    """The appends of this worker's sinks that are not answered yet."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._waiting: dict[GlobalId, deque[Callable[[Answer], None]]] = {}

    def send(self, append: CompareAndAppend, answered: Callable[[Answer], None]) -> None:
        """Have the storage append; ``answered`` hears what became of it."""
        self._waiting.setdefault(append.shard, deque()).append(answered)
        self._link.storage.tell(append)

    def answered(self, answer: Answer) -> None:
        """Take an answer of the storage."""
        waiting = self._waiting[answer.shard]
        waiting.popleft()(answer)
        if not waiting:
            del self._waiting[answer.shard]
