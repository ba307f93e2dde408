"""Types of command-line arguments, and what all subcommands have in common."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .exits import EXPLANATION

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]


def add_command(
    commands: Commands, name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """A subcommand whose ``--help`` ends with examples and the exit codes."""
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}\n\n{EXPLANATION}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return number


def seconds(text: str) -> float:
    """A time that is longer than nothing."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return number
