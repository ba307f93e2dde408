"""What comparing a recorded answer with the one that came out again may tell."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Outcome(enum.StrEnum):
    """Of one recorded answer."""

    SAME = "same"
    DIFFERENT = "different"
    MISSING = "missing"
    """None came this time."""
    NOT_COMPARED = "not compared"
    """It depends on more than the commands and the data."""


class Answered(enum.StrEnum):
    """Kinds of answers, in the order of the summary."""

    PEEKS = "peeks"
    SUBSCRIBES = "subscribes"
    COPIES = "copies"
    WRITES = "writes"
    REFUSALS = "refusals"
    FRONTIERS = "final frontiers"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, and for a difference what each side said, as lines to print."""

    outcome: Outcome
    recorded: tuple[str, ...] = ()
    replayed: tuple[str, ...] = ()
    note: str = ""
    """A few words: in what they differ, or why they are not compared."""


SAME = Verdict(Outcome.SAME)


@dataclass(frozen=True, slots=True)
class Difference:
    """A recorded answer that did not come out again.

    Attributes:
        sequence: of the message that asked; 0 when none did.
        answered: of the recorded answer; None when there was none.
        subject: what was asked, in a few words.
    """

    answers: Answered
    sequence: int
    answered: int | None
    subject: str
    verdict: Verdict

    def show(self) -> str:
        """Several lines for a person."""
        verdict = self.verdict
        where = f"message {self.sequence}" + ("" if self.answered is None else f", answered in {self.answered}")
        lines = [f"{self.subject} ({where}): {verdict.note or verdict.outcome}"]
        lines += [f"  - {line}" for line in verdict.recorded]
        lines += [f"  + {line}" for line in verdict.replayed]
        return "\n".join(lines)
