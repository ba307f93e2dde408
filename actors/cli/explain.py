"""``pillion explain``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import add_command
from .exits import DONE, UnusableInput

if TYPE_CHECKING:
    from .arguments import Commands

DESCRIPTION = """\
Show how a relational expression is optimized and how workers would execute it. The expression is text, as protocol
scripts have it (docs/protocol-scripts.md); what it reads is declared with --schema, and indexes that it may use with
--index."""

EXAMPLES = """\
  echo 'Filter #0 > 1
    Get u1' | pillion explain --schema 'u1: id bigint, name text?'

  pillion explain totals.txt \\
    --schema 'u1: order_id bigint, customer_id bigint, amount double' \\
    --schema 'u2: customer_id bigint, region text' \\
    --index 'u3 on u2 (customer_id)'"""


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "explain", "show how an expression is executed", DESCRIPTION, EXAMPLES)
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the expression (default: standard input)")
    parser.add_argument(
        "--schema", action="append", default=[], metavar="SCHEMA", help="columns of a collection; repeat for each"
    )
    parser.add_argument(
        "--index", action="append", default=[], metavar="INDEX", help="an index on a collection; repeat for each"
    )
    parser.add_argument("--no-optimize", dest="optimize", action="store_false", help="plan the expression as written")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print both plan levels."""
    from ...dataflow.plans.explain import explain
    from ...dataflow.plans.lower import lower
    from .declarations import parse_dataflow

    written = parse_dataflow(_read(options.file), options.schema, options.index)
    print(explain(written, lower(written, optimize=options.optimize)))
    return DONE


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UnusableInput(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnusableInput(f"{file} is not a text in UTF-8") from None
