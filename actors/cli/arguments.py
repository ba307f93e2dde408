"""Types of command-line arguments, and what all subcommands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..multiplexer.replica import MOST_WORKERS
from .exits import EXPLANATION

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

N = TypeVar("N", int, float)


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
    number = _number(int, text)
    if number is None or number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def workers(text: str) -> int:
    """How many workers a replica has."""
    number = _number(int, text)
    if number is None or not 1 <= number <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_WORKERS}")
    return number


def seconds(text: str) -> float:
    """A time that is longer than nothing."""
    number = _number(float, text)
    if number is None or not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number


def _number(read: Callable[[str], N], text: str) -> N | None:
    try:
        return read(text)
    except ValueError:
        return None
