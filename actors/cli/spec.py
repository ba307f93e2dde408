"""``pillion spec``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import add_command, seconds, workers
from .exits import UnusableInput

if TYPE_CHECKING:
    from ..transport.line import Target
    from .arguments import Commands

DESCRIPTION = """\
Run protocol scripts, each against a fresh replica, and compare what every directive prints with what the script
expects. A difference is shown as a diff with its file and line. The replica is in this process or, with --connect, a
clusterd. docs/protocol-scripts.md has the format."""

EXAMPLES = """\
  pillion spec tests/spec/*.spec
  pillion spec --workers 2 --timeout 10 peeks.spec
  pillion spec --interactive tests/spec/*.spec
  pillion spec --rewrite peeks.spec
  pillion spec --record peeks.plog peeks.spec
  pillion spec --connect tcp://127.0.0.1:2101 --secret-file secret peeks.spec"""


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "spec", "run protocol scripts", DESCRIPTION, EXAMPLES)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a protocol script")
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="workers of the replica (default: 1)")
    parser.add_argument("--interactive", action="store_true", help="with a second runtime, which answers reads")
    parser.add_argument("--rewrite", action="store_true", help="write what came out into the scripts")
    parser.add_argument(
        "--timeout", type=seconds, default=30.0, metavar="S", help="seconds that a directive may wait (default: 30)"
    )
    parser.add_argument("--connect", metavar="ADDR", help="a clusterd to run on, which has workers of its own")
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="holds the secret (default: PILLION_SECRET)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="record a message log of the script")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the scripts. The exit code of the worst one."""
    from ..scripts.runner import run_scripts

    if options.record is not None and len(options.files) > 1:
        raise UnusableInput(
            f"--record takes one script, because each has a log of its own; {len(options.files)} were given"
        )
    return run_scripts(
        options.files,
        workers=options.workers,
        rewrite=options.rewrite,
        timeout=options.timeout,
        interactive=options.interactive,
        target=None if options.connect is None else _target(options),
        record=options.record,
    )


def _target(options: argparse.Namespace) -> Target:
    from ..transport.address import parse_address
    from ..transport.line import ListeningReplica
    from ..transport.secret import read_secret

    if options.workers != 1 or options.interactive:
        raise UnusableInput(
            f"the replica at {options.connect} has the workers that it was started with: leave out --workers and "
            "--interactive"
        )
    return ListeningReplica(parse_address(options.connect), read_secret(options.secret_file))
