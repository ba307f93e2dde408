"""Words and symbols of the text form of plans, line by line, and a reader over them that reports where it stands."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from .errors import ParseError


class Kind(enum.Enum):
    """What a token is."""

    COLUMN = "a column"
    NUMBER = "a number"
    STRING = "a text in quotes"
    USER = "a user function"
    WORD = "a word"
    SYMBOL = "a symbol"
    END = "the end of the line"


@dataclass(frozen=True, slots=True)
class Token:
    """``text`` is a column's number, a string's value, a user function's name; else what stands there. ``column``
    counts from 1."""

    kind: Kind
    text: str
    column: int


_STRING = r'"(?:[^"\\]|\\.)*"'
_PATTERN = re.compile(
    rf"""\s*(?:
      (?P<annotation>//.*)
    | \#(?P<column>\d+)(?:\{{(?:{_STRING}|[^}}"]*)\}})?
    | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<string>{_STRING})
    | @(?P<user>[A-Za-z_]\w*|{_STRING})
    | (?P<word>[A-Za-z_]\w*)
    | (?P<symbol><=|>=|!=|<>|\|\||::|[-+*/%=<>()\[\],])
    )""",
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "0": "\0", "'": "'"}


class Tokens:
    """Reads the tokens of one line from left to right. ``annotation`` is what follows ``//``, empty without."""

    def __init__(self, text: str, line: int, first_column: int = 1) -> None:
        """Raises:
        ParseError: the line has characters that no plan has.
        """
        self.line = line
        self.annotation = ""
        self._tokens: list[Token] = []
        self._at = 0
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _PATTERN.match(text, position)
            if match is None:
                position += len(text[position:]) - len(text[position:].lstrip())
                raise ParseError(line, first_column + position, f"unexpected {text[position]!r}{_hint(text[position])}")
            group = match.lastgroup or ""
            column = first_column + match.start(group) - (group in ("column", "user"))
            if group == "annotation":
                self.annotation = match[group]
                break
            self._tokens.append(self._token(group, match[group], column))
            position = match.end()
        self._tokens.append(Token(Kind.END, "", first_column + end))

    def _token(self, group: str, text: str, column: int) -> Token:
        kind = Kind[group.upper()]
        return Token(kind, self._unquote(text, column) if text.startswith('"') else text, column)

    def _unquote(self, text: str, column: int) -> str:
        def replace(match: re.Match[str]) -> str:
            code, letter = match[1], match[2]
            if code is not None and int(code, 16) <= 0x10FFFF:
                return chr(int(code, 16))
            if letter in _ESCAPED:
                return _ESCAPED[letter]
            raise ParseError(self.line, column + 1 + match.start(), f"unknown escape {match[0]!r} in a text")

        return _ESCAPE.sub(replace, text[1:-1])

    @property
    def next(self) -> Token:
        """The token that comes next; at the end, again and again the end."""
        return self._tokens[self._at]

    @property
    def kind_after_next(self) -> Kind:
        """The kind of the token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)].kind

    def take(self) -> Token:
        """The next token, which is then read."""
        token = self._tokens[self._at]
        if token.kind is not Kind.END:
            self._at += 1
        return token

    def sees(self, text: str, ahead: int = 0) -> bool:
        """Whether the next token (or the one so many after it) is this symbol, or this word in upper or lower case."""
        token = self._tokens[min(self._at + ahead, len(self._tokens) - 1)]
        return token.kind in (Kind.SYMBOL, Kind.WORD) and token.text.lower() == text

    def accept(self, text: str) -> bool:
        """Read this symbol or word if it is next."""
        found = self.sees(text)
        if found:
            self._at += 1
        return found

    def expect(self, text: str) -> None:
        """Read this symbol or word.

        Raises:
            ParseError: something else is next.
        """
        if not self.accept(text):
            raise self.error(f"expected {text!r}")

    def expect_kind(self, kind: Kind) -> Token:
        """Read a token of this kind.

        Raises:
            ParseError: something else is next.
        """
        if self.next.kind is not kind:
            raise self.error(f"expected {kind.value}")
        return self.take()

    def expect_end(self) -> None:
        """The line ends here.

        Raises:
            ParseError: it does not.
        """
        if self.next.kind is not Kind.END:
            raise self.error("expected the end of the line")

    def expect_count(self) -> int:
        """Read a number that counts something.

        Raises:
            ParseError: something else is next.
        """
        if self.next.kind is not Kind.NUMBER or not self.next.text.isdecimal():
            raise self.error("expected a whole number")
        return int(self.take().text)

    def error(self, expected: str) -> ParseError:
        """An error at the next token."""
        token = self.next
        found = "the line ends" if token.kind is Kind.END else f"found {token.text!r}"
        return ParseError(self.line, token.column, f"{expected}; {found}")


def _hint(character: str) -> str:
    if character == '"':
        return ": the text has no closing quote"
    if character == "'":
        return ': texts stand in double quotes, as in "text"'
    return ": a column is written #0" if character == "#" else ""
