"""Transactions: several changes of several tables, all at one timestamp, all or none."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from ...messages.errors import PillionError
from ...messages.frontiers import Timestamp
from ..relations.errors import RelationError, kind_of
from ..relations.expressions import ExpressionOrValue
from ..requests import Change, Commit, Committed
from . import changes

if TYPE_CHECKING:
    from .connection import Connection
    from .table import Table


class Written(NamedTuple):
    """What a commit did: reads at ``timestamp`` and later see it; ``rows`` were inserted, deleted or updated."""

    timestamp: Timestamp
    rows: int


class TransactionEnded(PillionError):
    """A change to a transaction that was committed or rolled back."""

    def __init__(self) -> None:
        super().__init__("the transaction has ended; begin another one: with system.transaction() as tx: …")


class Transaction:
    """Collects changes, and commits them when its block ends; an exception in the block discards them all.

    Changes apply in order, each to what the ones before it left. Data and expressions are checked when they are given;
    what depends on the tables' rows (duplicate keys, rows that are not there) when the transaction commits, which then
    raises and changes nothing. A transaction offers no reads: it knows nothing of the tables before it commits.
    Used by one thread at a time.
    """

    __slots__ = ("_changes", "_connection", "_ended", "written")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._changes: list[Change] = []
        self._ended = False
        self.written: Written | None = None
        """What the commit did; None before it."""

    def insert(self, table: Table, data: object) -> None:
        """New rows, in any form that :mod:`pillion.actors.system.ingest` names.

        Raises:
            RejectedData: they do not fit the table.
        """
        self._check(table)
        self._changes.append(changes.insertion(table, data))

    def upsert(self, table: Table, data: object) -> None:
        """New rows that replace the ones with equal keys, in a table with a key.

        Raises:
            RejectedData: they do not fit the table, or it has no key.
        """
        self._check(table)
        self._changes.append(changes.replacement(table, data))

    def delete(
        self, table: Table, rows: object = None, *, keys: object = None, where: ExpressionOrValue | None = None
    ) -> None:
        """Remove rows: given whole (each once), by their keys, or all that meet a condition (``where=True``: all)."""
        self._check(table)
        self._changes.append(changes.deletion(table, rows, keys, where))

    def update(
        self,
        table: Table,
        set: Mapping[str, ExpressionOrValue] | None = None,
        *,
        where: ExpressionOrValue | None = None,
        **named: ExpressionOrValue,
    ) -> None:
        """Set columns to values or to expressions over the old row, in the rows that meet a condition (None: all)."""
        self._check(table)
        self._changes.append(changes.modification(table, changes.assignments(set, named), where))

    def commit(self) -> Written:
        """Apply the changes now. The end of a ``with`` block does it by itself.

        Raises:
            PillionError: they are refused; nothing was changed.
        """
        self._check_open()
        self._ended = True
        pending = changes.merged(self._changes)
        self.written = commit(self._connection, pending) if pending else Written(0, 0)
        return self.written

    def rollback(self) -> None:
        """Discard the changes."""
        self._check_open()
        self._ended = True
        self._changes.clear()

    def __enter__(self) -> Transaction:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if error is None:
            self.commit()
        else:
            self.rollback()

    def _check(self, table: object) -> None:
        self._check_open()
        # What can be written to is what knows its transactions; tables import this module, so it cannot name them.
        check = getattr(table, "check_belongs_to", None)
        if check is None:
            hint = f"; system[{table!r}] is the one of this name" if isinstance(table, str) else ""
            raise RelationError(f"a transaction changes tables, and {kind_of(table)} was given{hint}")
        check(self._connection)

    def _check_open(self) -> None:
        if self._ended:
            raise TransactionEnded


def commit(connection: Connection, pending: tuple[Change, ...]) -> Written:
    """Commit changes and wait until reads see them."""
    committed: Committed = connection.ask(lambda reply: Commit(changes=pending, reply=reply))
    return Written(committed.timestamp, sum(committed.counts))


def commit_one(connection: Connection, change: Change) -> Written:
    """Commit one change."""
    return commit(connection, (change,))
