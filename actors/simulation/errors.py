"""Errors of whoever asks for a simulation."""

from __future__ import annotations

from collections.abc import Iterable

from ...messages.errors import PillionError


class UnknownChoice(PillionError):
    """A fault, schedule or scenario that does not exist."""

    def __init__(self, what: str, given: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {what} {given!r}; there are {', '.join(known)}")
        self.given = given


class EmptySeedRange(PillionError):
    """A range of seeds without any."""

    def __init__(self, text: str) -> None:
        super().__init__(f"--seeds {text} has no seed: A..B are the seeds from A up to, not including, B")


class UnusableSeedRange(PillionError):
    """Something that is no range of seeds."""

    def __init__(self, text: str) -> None:
        super().__init__(f"--seeds {text!r} is neither one seed, such as 4711, nor a range A..B, such as 0..100")
