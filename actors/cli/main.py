"""Entry point of the ``pillion`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from ...messages.errors import PillionError
from . import clusterd, demo, explain, replay, simulate, spec
from .exits import EXPLANATION, INTERRUPTED, UNUSABLE

EPILOG = f"""\
examples:
  pillion demo
  pillion demo --workers 2 --json
  pillion spec tests/spec/peeks.spec
  echo 'Filter #0 > 1
    Get u1' | pillion explain --schema 'u1: id bigint, name text?'

{EXPLANATION}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (the process' own when None). Returns its exit code."""
    parser = command_line()
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except PillionError as error:
        print(f"pillion: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("pillion: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE
    except OSError as error:
        print(f"pillion: {error.strerror or error}", file=sys.stderr)
        return UNUSABLE


def command_line() -> argparse.ArgumentParser:
    """What reads the command line."""
    parser = argparse.ArgumentParser(
        prog="pillion",
        description="Keep indexes over changing data incrementally up to date, and read them consistently.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pillion {metadata.version('pillion')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (demo, spec, explain, clusterd, replay, simulate):
        command.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
