"""Transactions that are written and logged, and not durable yet.

Invariant: a transaction is readable, and answered, only once the journal says that it is durable; until then only the
transactions after it see it. So nobody learns of a write that a crash can still undo, not even by a refusal.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import pykka

from ...dataflow.arrangements.updates import Updates, concat_updates
from ...messages.errors import PillionError
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from ..dispatch.oneshot import OneShot
from ..journal.messages import Log, TablesWritten
from ..requests import Committed


class Transaction(NamedTuple):
    """What a commit did: the net updates of each table that it changed, and what its application is told."""

    time: Timestamp
    changed: dict[GlobalId, Updates]
    outcome: Committed | PillionError
    reply: OneShot[Any]


def answer(reply: OneShot[Any], outcome: Any) -> None:
    """Give an application its answer."""
    if isinstance(outcome, PillionError):
        reply.refuse(outcome)
    else:
        reply.resolve(outcome)


class Pending:
    """The transactions that the journal has, and has not written yet, oldest first.

    Attributes:
        failure: why nothing becomes durable any more.
    """

    def __init__(self, journal: pykka.ActorRef[Any], storage: pykka.ActorRef[Any]) -> None:
        self._journal = journal
        self._storage = storage
        self._waiting: deque[Transaction] = deque()
        self.failure: PillionError | None = None

    def log(self, transaction: Transaction) -> None:
        """Have a transaction written. One that changes nothing is, too: its time must not be given out again."""
        self._waiting.append(transaction)
        self._journal.tell(Log(TablesWritten(transaction.time, transaction.changed), transaction.time, self._storage))

    def durable(self, time: Timestamp) -> list[Transaction]:
        """The transactions up to a time, which wait no longer."""
        done: list[Transaction] = []
        while self._waiting and self._waiting[0].time <= time:
            done.append(self._waiting.popleft())
        return done

    def fail(self, failure: PillionError) -> list[Transaction]:
        """All that wait: none of them, and none to come, is durable."""
        self.failure = failure
        lost = list(self._waiting)
        self._waiting.clear()
        return lost


def merged(transactions: list[Transaction]) -> dict[GlobalId, Updates]:
    """What several transactions did to each table."""
    if len(transactions) == 1:
        return transactions[0].changed
    parts: dict[GlobalId, list[Updates]] = {}
    for transaction in transactions:
        for id, updates in transaction.changed.items():
            parts.setdefault(id, []).append(updates)
    return {id: concat_updates(some) for id, some in parts.items()}
