"""``pillion replay``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import add_command, seconds, workers
from .exits import DIFFERENT, DONE, UnusableInput

if TYPE_CHECKING:
    from ..replay.options import ReplayOptions, Until
    from ..replay.recording import LogRecording
    from .arguments import Commands

DESCRIPTION = """\
Feed the commands and the data of a message log to a fresh storage and a fresh replica, and check that every recorded
answer comes out again: the rows of every peek, what every subscription told, what became of every write, and how far
every collection came. The replica need not be the recorded one: it may have another number of workers, another number
of runtimes, or be in another process. With --step, go through it step by step, under commands from the standard input.
With --diff, compare the answers of two logs without executing anything. docs/replay.md has examples."""

EXAMPLES = """\
  pillion replay run.plog
  pillion replay run.plog --workers 3 --interactive
  pillion replay run.plog --replica tcp://127.0.0.1:2101 --secret-file secret
  pillion replay run.plog --until 1200 --json
  pillion replay run.plog --until 2.5s --speed 1
  pillion replay run.plog --step
  pillion replay run.plog --diff other.plog"""


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "replay", "replay a message log and compare every answer", DESCRIPTION, EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="a message log")
    parser.add_argument("--workers", type=workers, metavar="N", help="workers of the replica (default: as recorded)")
    parser.add_argument(
        "--interactive",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="with a second runtime, which answers reads, or without (default: as recorded)",
    )
    parser.add_argument("--replica", metavar="ADDRESS", help="a clusterd to run on, which has workers of its own")
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="holds the secret (default: PILLION_SECRET)")
    parser.add_argument(
        "--until",
        type=until,
        metavar="SEQ|TIME",
        help="end behind this message, such as 1200, or this time since the recording began, such as 2.5s",
    )
    parser.add_argument(
        "--speed",
        type=seconds,
        metavar="X",
        help="how many recorded seconds pass in one; 1: as recorded (default: as fast as answers come)",
    )
    parser.add_argument("--step", action="store_true", help="step by step, under commands from the standard input")
    parser.add_argument("--diff", type=Path, metavar="OTHER", help="compare the answers of two logs; execute nothing")
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=60.0,
        metavar="S",
        help="seconds without any answer after which what was recorded is missing (default: 60)",
    )
    parser.add_argument("--trust", action="store_true", help="run the Python functions that the log has")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object, and no progress")
    parser.set_defaults(run=run)


def until(text: str) -> Until:
    """A sequence, or a time with its unit."""
    from ..replay.options import Until
    from ..scripts.arguments import read_seconds

    if text.isdecimal():
        if int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text!r} is before the first message, which is 1")
        return Until(sequence=int(text))
    try:
        return Until(time=read_seconds(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a message's number, such as 1200, nor a time, such as 2.5s"
        ) from None


def run(options: argparse.Namespace) -> int:
    """Replay, step or compare."""
    from ..log.file import LogFile
    from ..replay.recording import LogRecording
    from ..replay.report import show, to_json

    _check(options)
    with LogFile.open(options.file) as reader:
        recording = LogRecording(reader)
        if options.diff is not None:
            from ..replay.diff import diff

            with LogFile.open(options.diff) as other:
                report = diff(recording, LogRecording(other))
        elif options.step:
            from ..replay.debugger import Debugger, lines_of

            person = sys.stdin.isatty()
            debugger = Debugger(
                recording,
                _options(options, recording),
                sys.stdout if not options.json else sys.stderr,
                prompt="(replay) " if person else "",
                strict=not person,
            )
            report = debugger.run(lines_of(sys.stdin))
        else:
            from ..dispatch.threaded import ThreadedDispatcher
            from ..replay.progress import Bar
            from ..replay.replay import replay

            bar = Bar(sys.stderr, recording.last if not options.json else 0)
            try:
                report = replay(recording, ThreadedDispatcher(), _options(options, recording), bar.advance)
            finally:
                bar.end()
    print(to_json(report) if options.json else show(report))
    return DONE if report.is_same else DIFFERENT


def _check(options: argparse.Namespace) -> None:
    if options.diff is not None and (options.step or options.replica is not None or options.speed is not None):
        raise UnusableInput("--diff executes nothing: leave out --step, --replica and --speed")
    if options.step and (options.replica is not None or options.speed is not None):
        raise UnusableInput("--step runs in a simulation in this process: leave out --replica and --speed")
    if options.replica is not None and (options.workers is not None or options.interactive is not None):
        raise UnusableInput(
            f"the replica at {options.replica} has the workers that it was started with: leave out --workers and "
            "--interactive"
        )


def _options(options: argparse.Namespace, recording: LogRecording) -> ReplayOptions:
    from ..replay.options import ReplayOptions, Until
    from ..replay.recording import NotTrusted

    functions = recording.functions()
    if functions and not options.trust:
        raise NotTrusted(options.file, functions)
    if functions:
        print(f"pillion: runs the Python functions of the log: {', '.join(functions)}", file=sys.stderr)
    target = None
    if options.replica is not None:
        from ..transport.address import parse_address
        from ..transport.line import ListeningReplica
        from ..transport.secret import read_secret

        if len(recording.replicas) > 1:
            raise UnusableInput(
                f"{options.file} has the commands of {len(recording.replicas)} replicas, and --replica is one: leave "
                "it out, or keep one of them with `pillion log filter`"
            )
        target = ListeningReplica(parse_address(options.replica), read_secret(options.secret_file))
    meta = recording.reader.meta
    return ReplayOptions(
        workers=options.workers or meta.workers,
        interactive=meta.interactive if options.interactive is None else options.interactive,
        target=target,
        trust=options.trust,
        until=options.until or Until(),
        speed=options.speed,
        timeout=options.timeout,
    )
