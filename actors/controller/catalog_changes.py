"""Changes of the catalog: what applications create and drop.

Without a journal a change takes effect when it is asked for. With one, changes come one after the other: each is
checked, logged, and takes effect once it is durable, so that nobody sees or uses what a crash can still undo.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pykka

from ...messages.errors import PillionError
from ..dispatch.oneshot import OneShot
from ..journal.messages import Defined, Dropped, Log


class Prepared(NamedTuple):
    """A change that was checked: what is logged of it, and what carries it out and answers."""

    entry: Defined | Dropped
    effect: Callable[[], None]


class _Change(NamedTuple):
    reply: OneShot[Any]
    prepare: Callable[[], Prepared]


class CatalogChanges:
    """Carries out changes in the order in which they come."""

    def __init__(self) -> None:
        self._journal: pykka.ActorRef[Any] | None = None
        self._sender: pykka.ActorRef[Any] | None = None
        self._numbers = itertools.count(1)
        self._current: tuple[_Change, Prepared] | None = None
        """What is being logged."""
        self._waiting: deque[_Change] = deque()
        self._failure: PillionError | None = None

    def use_journal(self, journal: pykka.ActorRef[Any], sender: pykka.ActorRef[Any]) -> None:
        """From now on, log changes. ``sender``: who hears from the journal, and passes it on to here."""
        self._journal = journal
        self._sender = sender

    def submit(self, reply: OneShot[Any], prepare: Callable[[], Prepared]) -> None:
        """Carry out a change, now or when its turn comes.

        Args:
            prepare: checks it; raises PillionError to refuse it.

        Raises:
            PillionError: it is refused already.
        """
        if self._failure is not None:
            raise self._failure
        if self._journal is None:
            prepare().effect()
        elif self._current is None:
            self._log(_Change(reply, prepare))
        else:
            self._waiting.append(_Change(reply, prepare))

    def durable(self) -> None:
        """What was being logged is durable."""
        assert self._current is not None, "one change is logged at a time"
        (_, prepared), self._current = self._current, None
        prepared.effect()
        while self._waiting and self._current is None:
            change = self._waiting.popleft()
            try:
                self._log(change)
            except PillionError as error:
                change.reply.refuse(error)

    def fail(self, error: PillionError) -> None:
        """Nothing becomes durable any more, so nothing changes any more."""
        self._failure = error
        if self._current is not None:
            self._waiting.appendleft(self._current[0])
            self._current = None
        for change in self._waiting:
            change.reply.refuse(error)
        self._waiting.clear()

    def _log(self, change: _Change) -> None:
        assert self._journal is not None and self._sender is not None, "changes are logged with a journal"
        prepared = change.prepare()
        self._current = change, prepared
        self._journal.tell(Log(prepared.entry, next(self._numbers), self._sender))
