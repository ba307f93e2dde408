"""Lines of a plan's text as a tree by indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import ParseError
from .trees import MAX_DEPTH

MAX_NESTED_LINES = 2 * MAX_DEPTH + 2
"""A binding takes two levels of lines and one of the relation."""


@dataclass(slots=True)
class Line:
    """One line and the lines indented below it. ``number`` counts lines, ``column`` characters, both from 1."""

    number: int
    column: int
    text: str
    below: list[Line] = field(default_factory=list["Line"])


def line_tree(lines: Sequence[str], first_line: int) -> list[Line]:
    """The outermost lines. Blank lines and comments (``//`` to the end of the line) are passed over.

    Raises:
        ParseError: a line is indented less than the first, or between two lines above it, by tabs, or too deep.
    """
    roots: list[Line] = []
    open_lines: list[Line] = []
    for number, raw in enumerate(lines, start=first_line):
        text = raw.strip()
        if not text or text.startswith("//"):
            continue
        indent = raw[: len(raw) - len(raw.lstrip())]
        if indent.strip(" "):
            raise ParseError(number, 1, "lines are indented by blanks, not by tabs")
        line = Line(number, len(indent) + 1, text)
        dedented = False
        while open_lines and open_lines[-1].column > line.column:
            open_lines.pop()
            dedented = True
        if open_lines and open_lines[-1].column == line.column:
            open_lines.pop()
        elif dedented:
            raise ParseError(number, line.column, "this line is indented like none of the lines above it")
        (open_lines[-1].below if open_lines else roots).append(line)
        open_lines.append(line)
        if len(open_lines) > MAX_NESTED_LINES:
            raise ParseError(number, line.column, f"lines nest deeper than {MAX_NESTED_LINES}")
    return roots


def bottom_up(roots: Sequence[Line]) -> list[Line]:
    """Every line, those below a line before it."""
    order: list[Line] = []
    stack = list(roots)
    while stack:
        line = stack.pop()
        order.append(line)
        stack.extend(line.below)
    order.reverse()
    return order
