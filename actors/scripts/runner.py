"""Running scripts: each against a fresh replica, every output compared with what the script expects."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pykka

from ...messages.errors import PillionError
from ..log.errors import LogError
from ..transport.line import Target
from .errors import ScriptSyntaxError
from .language import Step, read_steps
from .parse import Script, parse_script
from .session import Session

PASSED = 0
DIFFERENT = 1
UNREADABLE = 2

DEFAULT_TIMEOUT = 30.0
"""Seconds that a directive may wait."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stanza that printed something else than expected."""

    step: Step
    output: tuple[str, ...]

    def show(self, path: Path) -> str:
        """File, line and a unified diff."""
        stanza = self.step.stanza
        diff = difflib.unified_diff(
            stanza.expected, self.output, "expected", f"printed by {stanza.directive}", lineterm=""
        )
        return "\n".join((f"{path}:{stanza.line}: {stanza.directive} printed something else", *diff))


def run_script(
    script: Script,
    workers: int = 1,
    timeout: float = DEFAULT_TIMEOUT,
    target: Target | None = None,
    *,
    interactive: bool = False,
    record: Path | None = None,
) -> list[tuple[str, ...]]:
    """What each stanza of a script prints, run on a fresh replica: in this process, with a second runtime or without,
    or where ``target`` is; recorded in a new message log, if ``record`` names one.

    Raises:
        ScriptSyntaxError: the script cannot be read; nothing was run.
        LogExists, LogMissing: nothing can be recorded there.
        TransportError: the replica cannot be reached.
    """
    steps = read_steps(script)
    with Session(workers, timeout, target, interactive=interactive, record=record) as session:
        return [run_step(session, step) for step in steps]


def differences(script: Script, outputs: Iterable[tuple[str, ...]]) -> list[Difference]:
    """The stanzas that printed something else than expected."""
    pairs = zip(read_steps(script), outputs, strict=True)
    return [Difference(step, output) for step, output in pairs if output != step.stanza.expected]


def run_scripts(
    paths: Iterable[Path | str],
    *,
    workers: int = 1,
    rewrite: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    interactive: bool = False,
    target: Target | None = None,
    record: Path | None = None,
    out: TextIO | None = None,
) -> int:
    """Run scripts, and print a summary and every difference.

    Args:
        workers: of each replica.
        rewrite: write what came out into the files.
        timeout: seconds that a directive may wait, unless it says otherwise.
        interactive: with a second runtime, which answers reads.
        target: a replica in another process, which has workers of its own; each script finds it empty.
        record: the message log of a single script.
        out: where to print; the standard output when None.

    Returns:
        ``PASSED``, ``DIFFERENT`` or ``UNREADABLE``, whichever is worst.

    Raises:
        TransportError: the replica cannot be reached.
        LogExists, LogMissing: nothing can be recorded there.
    """
    printed = out or sys.stdout
    worst, count = PASSED, 0
    for path in map(Path, paths):
        worst = max(worst, _run_file(path, workers, rewrite, timeout, target, interactive, record, printed))
        count += 1
    if worst == PASSED:
        done = "rewritten" if rewrite else "passed"
        of_each = (
            f"{_counted(workers, 'worker')} of each of two runtimes" if interactive else _counted(workers, "worker")
        )
        where = of_each if target is None else f"replica at {target.name}"
        print(f"{_counted(count, 'script')} {done} ({where})", file=printed)
    return worst


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _run_file(
    path: Path,
    workers: int,
    rewrite: bool,
    timeout: float,
    target: Target | None,
    interactive: bool,
    record: Path | None,
    out: TextIO,
) -> int:
    try:
        script = parse_script(path.read_text(encoding="utf-8"))
        outputs = run_script(script, workers, timeout, target, interactive=interactive, record=record)
    except ScriptSyntaxError as error:
        print(f"{path}:{error.line}: {error.problem}", file=out)
        return UNREADABLE
    except LogError:
        raise
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}", file=out)
        return UNREADABLE
    except UnicodeDecodeError as error:
        print(f"{path} cannot be read: {error}", file=out)
        return UNREADABLE
    if rewrite:
        path.write_text(script.rewrite(outputs), encoding="utf-8")
        return PASSED
    found = differences(script, outputs)
    for difference in found:
        print(difference.show(path), file=out)
    return DIFFERENT if found else PASSED


def run_step(session: Session, step: Step) -> tuple[str, ...]:
    """What one directive prints; a failure prints an error."""
    try:
        return tuple(step.directive.run(session, step.arguments, step.body))
    except PillionError as error:
        cause = session.failure or error
        return tuple(f"error: {cause}".splitlines())
    except pykka.Timeout:
        return (f"error: timed out after {session.timeout:g} s: the replica is busy",)
