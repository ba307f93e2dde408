"""Messages that are to be sent at a moment."""

from __future__ import annotations

from .base import SystemActor


class ScheduledMessage:
    """A message that an actor will get when ``deadline`` has come; an entry of a heap, ordered by that.

    Attributes:
        order: which of equal deadlines came first.
        actor: None once it was cancelled.
    """

    __slots__ = ("actor", "deadline", "message", "order")

    def __init__(self, deadline: float, order: int, actor: SystemActor, message: object) -> None:
        self.deadline = deadline
        self.order = order
        self.actor: SystemActor | None = actor
        self.message = message

    def cancel(self) -> None:
        """Do not send it."""
        self.actor = None

    def __lt__(self, other: ScheduledMessage) -> bool:
        return (self.deadline, self.order) < (other.deadline, other.order)
