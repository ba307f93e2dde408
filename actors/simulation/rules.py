"""What must hold in a simulation, and the error that says that it does not."""

from __future__ import annotations

import enum


class Rule(enum.StrEnum):
    """What a run is checked for. The first ones are checked after every message, the last ones at the end."""

    READABLE = "I1"
    """Nothing is compacted past what somebody may still read."""
    STANDING_HOLD = "I1c"
    """What two runtimes share is compacted only as far as the slower one has heard of."""
    INCARNATION = "incarnation"
    """A bundle is bound to the publication of its own incarnation."""
    ONE_MOMENT = "snapshot"
    """Rows and errors of a snapshot are of the same moment."""
    FRONTIERS = "frontiers"
    """No reported frontier goes back, and none is reported after it was empty."""
    ONE_RESPONSE = "one response"
    """A peek is answered once on each connection."""
    NO_GAPS = "no gaps"
    """The batches of a subscription are contiguous."""
    NO_FAILURE = "no failure"
    """No handler raises."""
    ANSWER = "answer"
    """What an application is told is what the oracle says."""
    NOBODY_WAITS = "nobody waits"
    """When nothing is left to happen, everything that was asked is answered."""
    NOTHING_LEFT = "nothing left"
    """When everything was dropped, no worker has anything of it, and every hold is released."""
    MEMORY = "memory"
    """When everything was dropped, the memory of it is free."""


class RuleBroken(AssertionError):
    """A run found something wrong.

    Attributes:
        rule: which rule was broken.
    """

    def __init__(self, rule: Rule, message: str) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
