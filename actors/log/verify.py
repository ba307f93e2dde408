"""What of a log is as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import LogDamaged, LogError, UnknownMessageKind
from .file import LogFile, Name
from .reader import LogReader

MOST_FINDINGS = 1000
"""After so many, verifying ends."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written. ``sequence``: of the first row that is concerned, if it is known."""

    path: Path
    sequence: int | None
    problem: str


def verify(path: Name) -> list[Finding]:
    """Look at every byte and every row of a log; what is wrong, in order, and nothing when it is whole.

    Raises:
        LogMissing, NotALog, NewerLog: there is no log that could be verified.
    """
    findings: list[Finding] = []
    try:
        log = LogFile.open(path)
    except LogDamaged as error:
        return [_finding(error)]
    with log:
        try:
            files = log.files
        except LogError as error:
            findings.append(_finding(error))
            files = (log,)
        for file in files:
            _verify_file(file, findings)
            if len(findings) >= MOST_FINDINGS:
                break
        end = files[-1].meta
        if end.ended is None:
            findings.append(Finding(files[-1].path, None, "the recording was not ended; its last rows may be missing"))
        elif end.outcome not in ("complete", "continued"):
            findings.append(Finding(files[-1].path, end.last, f"the recording ended early: {end.outcome}"))
    return findings


def _verify_file(file: LogReader, findings: list[Finding]) -> None:
    try:
        for (problem,) in file.query("PRAGMA integrity_check(10)"):
            if problem != "ok":
                findings.append(Finding(file.path, None, f"the database is damaged: {problem}"))
    except LogError as error:
        findings.append(_finding(error))
    after = file.meta.first - 1
    while len(findings) < MOST_FINDINGS:
        try:
            for record in file.own_records(after=after):
                after = record.sequence
                try:
                    record.message()
                except UnknownMessageKind:
                    continue  # What was recorded by name only is as it was written.
            return
        except LogDamaged as error:
            findings.append(_finding(error))
            if error.sequence is None or error.until is None:
                return
            after = error.until
        except LogError as error:
            findings.append(_finding(error))
            return


def _finding(error: LogError) -> Finding:
    return Finding(error.path, getattr(error, "sequence", None), error.problem)
