"""The timestamp oracle, and the choice of the time at which a read happens.

Time is a counter: each transaction gets the next number, and tables are sealed up to the last one given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...messages.errors import NotReadableError
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ..errors import NotYetReadable
from ..requests import Isolation


class Oracle:
    """Invariant: every transaction up to ``latest`` was sent to the storage before whatever is sent after it.

    Attributes:
        latest: the time of the latest transaction that may be read. Moved by :meth:`advance`; or, once :meth:`resume`
            was called, by :meth:`publish` alone, because what is not durable yet is shown to nobody.
    """

    def __init__(self) -> None:
        self.latest: Timestamp = 0
        self._given: Timestamp = 0
        self._publishes = False

    def resume(self, latest: Timestamp) -> None:
        """Go on after ``latest``, with a journal."""
        self.latest = self._given = latest
        self._publishes = True

    def advance(self, at_least: Timestamp = 0) -> Timestamp:
        """The time of the next transaction: greater than all before."""
        self._given = max(self._given + 1, at_least)
        if not self._publishes:
            self.latest = self._given
        return self._given

    def publish(self, time: Timestamp) -> None:
        """All up to this time may be read."""
        self.latest = max(self.latest, time)


class Input(NamedTuple):
    """A collection that a read needs, with its frontiers now."""

    id: GlobalId
    since: Timestamp
    upper: Frontier


def select_timestamp(
    isolation: Isolation, as_of: Timestamp | None, latest: Timestamp, inputs: Sequence[Input]
) -> Timestamp:
    """The time at which a read of these inputs happens.

    Strict serializable: the time of the latest transaction, so that the read sees every write that returned before
    it, and waits until the inputs are sealed there. Serializable: the latest time at which all inputs are sealed
    already; only what is not readable at any time yet is waited for. An explicit ``as_of`` is that time or an error.

    Raises:
        NotReadableError: an input was compacted past ``as_of``.
        NotYetReadable: ``as_of`` is later than the latest transaction.
    """
    if as_of is not None:
        for input in inputs:
            if as_of < input.since:
                raise NotReadableError(input.id, as_of, input.since)
        if as_of > latest:
            raise NotYetReadable(as_of, latest)
        return as_of
    since = max((input.since for input in inputs), default=0)
    if isolation is Isolation.STRICT_SERIALIZABLE:
        return max(since, latest)
    sealed = min((input.upper - 1 for input in inputs if input.upper is not None), default=latest)
    return max(since, min(sealed, latest))
