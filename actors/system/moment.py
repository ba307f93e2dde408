"""Moments: one state of several collections that stays readable for as long as it is needed."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from ...messages.frontiers import Timestamp
from ..requests import Held, ReleaseRead

if TYPE_CHECKING:
    from .connection import Connection


class Moment:
    """A timestamp that stays readable in the collections it was made for, until it is released.

    Pass :attr:`timestamp` as ``as_of`` to any number of reads: together they see one state.
    """

    __slots__ = ("_connection", "_hold", "timestamp")

    def __init__(self, connection: Connection, held: Held) -> None:
        self._connection = connection
        self._hold: str | None = held.hold
        self.timestamp: Timestamp = held.timestamp

    def release(self) -> None:
        """Let the system forget it. May be called again."""
        hold, self._hold = self._hold, None
        if hold is not None and not self._connection.is_closed:
            self._connection.ask(lambda reply: ReleaseRead(hold=hold, reply=reply))

    def __enter__(self) -> Moment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"Moment({self.timestamp}{'' if self._hold is not None else ', released'})"
