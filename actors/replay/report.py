"""What a replay, or a comparison of two logs, found out: as a table for a person, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .verdict import Answered, Difference, Outcome

SHOWN = 5
"""So many differences are shown in full."""


@dataclass(frozen=True, slots=True)
class Report:
    """
    Attributes:
        what: what was done, as the first words of a sentence.
        counts: how many answers had which outcome.
        differences: in order of the recording.
        ended: why it ended early, if it did.
        messages: how many of the recording were taken.
        recorded_seconds: how long it took to record them.
        seconds: how long it took this time; None when nothing was executed.
        facts: more for the JSON form.
    """

    what: str
    counts: Counter[tuple[Answered, Outcome]]
    differences: Sequence[Difference]
    messages: int
    recorded_seconds: float
    ended: str | None = None
    seconds: float | None = None
    facts: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_same(self) -> bool:
        """Whether every answer that can be compared is the recorded one."""
        return not self.differences

    def of(self, answers: Answered, outcome: Outcome) -> int:
        return self.counts[answers, outcome]


def in_order(differences: Sequence[Difference]) -> list[Difference]:
    """By where they are in the recording: the first is where to begin to look."""
    return sorted(differences, key=lambda d: (d.answered or d.sequence, d.sequence))


def show(report: Report) -> str:
    """Lines for a person."""
    lines = [difference.show() for difference in report.differences[:SHOWN]]
    if len(report.differences) > SHOWN:
        lines.append(f"… and {len(report.differences) - SHOWN} more")
    if lines:
        lines.append("")
    if report.ended is not None:
        lines += [f"It ended early: {report.ended}.", ""]
    lines += [*_table(report), "", _last_sentence(report)]
    return "\n".join(lines)


def to_json(report: Report) -> str:
    """One JSON object; times in seconds."""
    answers = {str(kind): {str(outcome): report.of(kind, outcome) for outcome in Outcome} for kind in Answered}
    found = [
        {
            "answers": str(d.answers),
            "subject": d.subject,
            "sequence": d.sequence,
            "answered": d.answered,
            "outcome": str(d.verdict.outcome),
            "note": d.verdict.note,
            "recorded": d.verdict.recorded,
            "replayed": d.verdict.replayed,
        }
        for d in report.differences
    ]
    told = {
        "same": report.is_same,
        "messages": report.messages,
        "recorded_seconds": report.recorded_seconds,
        "seconds": report.seconds,
        "ended": report.ended,
        **report.facts,
        "answers": answers,
        "differences": found,
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _table(report: Report) -> list[str]:
    rows = [("answers", *map(str, Outcome))]
    rows += [
        (str(kind), *(f"{report.of(kind, outcome):,}" for outcome in Outcome))
        for kind in Answered
        if any(report.of(kind, outcome) for outcome in Outcome)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def _last_sentence(report: Report) -> str:
    verdict = (
        "every answer that can be compared is the same"
        if report.is_same
        else f"{len(report.differences):,} answer{'s are' if len(report.differences) != 1 else ' is'} not the same"
    )
    what = f"{report.what}: {report.messages:,} messages"
    if report.seconds is None:
        return f"{what}; {verdict}."
    speed = f", {report.recorded_seconds / report.seconds:.1f} times as fast" if report.seconds > 0 else ""
    return f"{what} in {report.seconds:.2f} s, recorded in {report.recorded_seconds:.2f} s{speed}; {verdict}."
