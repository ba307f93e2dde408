"""Protocol scripts as text: stanzas, comments, expected output.

A file is stanzas separated by blank lines: a directive line, an optional indented body, a line ``----``, and the
expected output up to the next blank line, or, when the output contains blank lines, between a doubled opening and a
doubled closing ``----``. A ``#`` in column 0 starts a comment. A :class:`Script` keeps the file's lines as they are,
so that a rewrite changes the expected blocks and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from .arguments import is_name, split_words
from .errors import ScriptSyntaxError

SEPARATOR = "----"


@dataclass(frozen=True, slots=True)
class Stanza:
    """One directive and what it is expected to print. Line numbers count from 1."""

    directive: str
    words: tuple[str, ...]
    body: tuple[str, ...]
    """The body's lines with their indentation; blank where a comment stands."""
    body_line: int
    line: int
    expected: tuple[str, ...]
    separator: int
    """The line of the first ``----``."""
    end: int
    """The line after the last one of the stanza."""


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed file: its lines, and the stanzas found in them."""

    lines: tuple[str, ...]
    stanzas: tuple[Stanza, ...]

    def rewrite(self, outputs: list[tuple[str, ...]]) -> str:
        """The file's text with each stanza's expected block replaced by these outputs (one per stanza)."""
        result: list[str] = []
        position = 0
        for stanza, output in zip(self.stanzas, outputs, strict=True):
            result += self.lines[position : stanza.separator - 1]
            result += _expected_block(output)
            position = stanza.end - 1
        result += self.lines[position:]
        return "".join(f"{line}\n" for line in result)


def parse_script(text: str) -> Script:
    """Read a script.

    Raises:
        ScriptSyntaxError: the text is not one; names the line.
    """
    lines = tuple(text.splitlines())
    stanzas: list[Stanza] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        if not line.strip() or line.startswith("#"):
            position += 1
            continue
        stanza = _parse_stanza(lines, position)
        stanzas.append(stanza)
        position = stanza.end - 1
    return Script(lines, tuple(stanzas))


def _parse_stanza(lines: tuple[str, ...], start: int) -> Stanza:
    first = lines[start]
    if first[0].isspace():
        raise ScriptSyntaxError("an indented line that belongs to no directive", start + 1)
    if first.rstrip() == SEPARATOR:
        raise ScriptSyntaxError(f"a {SEPARATOR} without a directive above it", start + 1)
    try:
        words = split_words(first)
    except ValueError as error:
        raise ScriptSyntaxError(str(error), start + 1) from None
    if not is_name(words[0]):
        raise ScriptSyntaxError(f"expected a directive such as peek, found {words[0]!r}", start + 1)
    body: list[str] = []
    position = start + 1
    while position < len(lines) and lines[position].rstrip() != SEPARATOR:
        line = lines[position]
        if not line.strip() and not _body_goes_on(lines, position):
            break
        # Comments count as blank lines, so that a line's place in the body says its number in the file.
        body.append("" if line.startswith("#") else line.rstrip())
        position += 1
    if position >= len(lines) or lines[position].rstrip() != SEPARATOR:
        raise ScriptSyntaxError(f"{words[0]} has no line {SEPARATOR} before its expected output", start + 1)
    separator = position
    position += 1
    if position < len(lines) and lines[position].rstrip() == SEPARATOR:
        expected, end = _doubled_block(lines, position + 1, separator)
    else:
        end = position
        while end < len(lines) and lines[end].strip():
            end += 1
        expected = lines[position:end]
    return Stanza(
        words[0], tuple(words[1:]), tuple(body), start + 2, start + 1, tuple(expected), separator + 1, end + 1
    )


def _body_goes_on(lines: tuple[str, ...], position: int) -> bool:
    """Whether the first line after this blank one still belongs to the body, because it is indented."""
    while position < len(lines) and (not lines[position].strip() or lines[position].startswith("#")):
        position += 1
    return position < len(lines) and lines[position][0].isspace()


def _doubled_block(lines: tuple[str, ...], start: int, separator: int) -> tuple[tuple[str, ...], int]:
    for position in range(start, len(lines) - 1):
        if lines[position].rstrip() == SEPARATOR and lines[position + 1].rstrip() == SEPARATOR:
            return lines[start:position], position + 2
    raise ScriptSyntaxError(f"the doubled {SEPARATOR} is not closed by another doubled one", separator + 1)


def _expected_block(output: tuple[str, ...]) -> list[str]:
    if any(not line.strip() for line in output) or (output and output[0].rstrip() == SEPARATOR):
        return [SEPARATOR, SEPARATOR, *output, SEPARATOR, SEPARATOR]
    return [SEPARATOR, *output]
