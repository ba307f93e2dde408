"""What can go wrong with a protocol script."""

from __future__ import annotations

from ...messages.errors import PillionError


class ScriptSyntaxError(PillionError):
    """A script that cannot be parsed. ``line`` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"line {line}: {problem}")
        self.problem = problem
        self.line = line


class DirectiveError(PillionError):
    """A directive that failed while the script ran; its message is the directive's output, ``error: MESSAGE``."""
