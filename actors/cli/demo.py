"""``pillion demo``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import add_command, positive, workers
from .exits import DIFFERENT, DONE

if TYPE_CHECKING:
    from .arguments import Commands

DESCRIPTION = """\
Load the flights that left New York in 2013, define views over them, let December arrive hour by hour while readers
look things up, and tell how fast that was and what the views say, checked against a computation of the whole year at
once. At the end the same lookups are done while views hydrate, with one runtime and with two: side by side, how long
they take. Takes less than a minute. The data comes with `pip install 'pillion[demo]'`."""

EXAMPLES = """\
  pillion demo
  pillion demo --workers 2 --interactive
  pillion demo --plot lookups.html
  pillion demo --record demo.plog && pillion replay demo.plog
  pillion demo --json | python -m json.tool"""


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "demo", "maintain views over a year of real flights", DESCRIPTION, EXAMPLES)
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="worker threads (default: 1)")
    parser.add_argument("--readers", type=positive, default=2, metavar="N", help="threads that read (default: 2)")
    parser.add_argument(
        "--interactive",
        action="store_true",
        help="run all of it with a second runtime of as many workers, which answers reads while the first one keeps "
        "the views up to date; without it, only the comparison at the end has one",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw how long each lookup of the comparison took: FILE.html, which needs nothing else, or FILE.png, "
        "which needs `pip install 'pillion[plot]'`",
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="record a message log, for `pillion replay`")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object, and no progress")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demo."""
    from ..demo.command import run_demo

    is_right = run_demo(
        workers=options.workers,
        readers=options.readers,
        interactive=options.interactive,
        as_json=options.json,
        plot=options.plot,
        record=options.record,
    )
    return DONE if is_right else DIFFERENT
