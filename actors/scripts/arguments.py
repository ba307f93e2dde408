"""The words of a directive line: ``name key=value flag key="a b" key=[1, 2]``.

Every directive states its arguments in a :class:`Signature`, so that an unknown, missing or malformed one is found
when the script is parsed and not halfway through a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages.frontiers import TIME_LIMIT
from ...messages.ids import GlobalId

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_ESCAPES = {"n": "\n", "t": "\t"}

Reader = Callable[[str], Any]
"""Turns the text of an argument into its value.

Raises:
    ValueError: the text is not one.
"""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of one directive: readers by name, which ones must be there, and the bare words."""

    required: Mapping[str, Reader] = field(default_factory=dict[str, Reader])
    optional: Mapping[str, Reader] = field(default_factory=dict[str, Reader])
    flags: frozenset[str] = frozenset()
    bare: str | None = None
    """The name under which one bare word that is no flag is kept (``metrics NAME``)."""

    def read(self, directive: str, words: list[str]) -> dict[str, Any]:
        """The arguments by name; flags are True when given and False when not, absent optional ones are left out.

        Raises:
            ValueError: an argument is unknown, given twice, missing or malformed.
        """
        arguments: dict[str, Any] = dict.fromkeys(self.flags, False)
        for word in words:
            name, equals, text = word.partition("=")
            reader = self.required.get(name) or self.optional.get(name)
            if equals and reader is not None:
                if name in arguments:
                    raise ValueError(f"{directive}: {name}= is given twice")
                try:
                    arguments[name] = reader(unquote(text))
                except ValueError as error:
                    raise ValueError(f"{directive}: {name}={text}: {error}") from None
            elif not equals and word in self.flags:
                arguments[word] = True
            elif not equals and self.bare is not None and self.bare not in arguments:
                arguments[self.bare] = unquote(word)
            else:
                raise ValueError(f"{directive} has no argument {word!r}; it takes {self._describe()}")
        missing = [f"{name}=" for name in self.required if name not in arguments]
        if self.bare is not None and self.bare not in arguments:
            missing.append(self.bare.upper())
        if missing:
            raise ValueError(f"{directive} needs {' and '.join(missing)}")
        return arguments

    def _describe(self) -> str:
        names = [f"{name}=" for name in self.required] + [f"[{name}=]" for name in self.optional]
        names += [f"[{flag}]" for flag in sorted(self.flags)]
        return " ".join(names) or "none"


def split_words(text: str) -> list[str]:
    """Split at blanks, but not inside ``"…"`` or ``[…]``. Quotes stay; :func:`unquote` removes them.

    Raises:
        ValueError: a quote or bracket is not closed.
    """
    words: list[str] = []
    word = ""
    depth = 0
    quoted = False
    position = 0
    while position < len(text):
        character = text[position]
        if quoted:
            word += character
            if character == "\\" and position + 1 < len(text):
                position += 1
                word += text[position]
            elif character == '"':
                quoted = False
        elif character.isspace() and depth == 0:
            if word:
                words.append(word)
            word = ""
        else:
            word += character
            if character == '"':
                quoted = True
            elif character == "[":
                depth += 1
            elif character == "]":
                depth -= 1
                if depth < 0:
                    raise ValueError("there is a ] without a [")
        position += 1
    if quoted:
        raise ValueError('a quote " is not closed')
    if depth:
        raise ValueError("a bracket [ is not closed")
    if word:
        words.append(word)
    return words


def unquote(text: str) -> str:
    """The text without its quotes, when it has them. ``\\n``, ``\\t``, ``\\"`` and ``\\\\`` are escapes."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1], flags=re.DOTALL)


def quote(text: str) -> str:
    """The inverse of :func:`unquote`, always with quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def is_name(text: str) -> bool:
    """Whether the text can be the name of a directive or of an argument."""
    return _NAME.fullmatch(text) is not None


def read_number(text: str) -> int:
    """A natural number."""
    if not text.isascii() or not text.isdigit():
        raise ValueError("expected a number such as 12")
    return int(text)


def read_time(text: str) -> int:
    """A timestamp."""
    time = read_number(text)
    if time >= TIME_LIMIT:
        raise ValueError("a time must be below 2**63 - 1")
    return time


def read_frontier(text: str) -> int | None:
    """A frontier: a time, or the empty one: ``empty``, ``[]``, ``{}``, ``none`` or nothing."""
    return None if text in ("empty", "[]", "{}", "none", "") else read_time(text)


def read_id(text: str) -> GlobalId:
    """An id; a bare number is in the user namespace."""
    return GlobalId.parse(text)


def read_seconds(text: str) -> float:
    """A duration: seconds as a number, or with a unit (``250ms``, ``5s``, ``2m``)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|ms|s|secs?|m|min|h|d)?", text)
    if match is None:
        raise ValueError("expected a duration such as 5, 250ms or 2m")
    units = {"us": 1e-6, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    return float(match[1]) * units.get(match[2] or "s", 1.0)


def read_list(text: str) -> tuple[str, ...]:
    """``[a, b, [c, d]]`` into the texts of its elements."""
    if not (text.startswith("[") and text.endswith("]")):
        raise ValueError("expected a list such as [0, 1]")
    elements: list[str] = []
    element = ""
    depth = 0
    quoted = False
    for position, character in enumerate(text[1:-1]):
        escaped = quoted and position > 0 and text[position] == "\\"
        if character == '"' and not escaped:
            quoted = not quoted
        elif not quoted and character in "[(":
            depth += 1
        elif not quoted and character in "])":
            depth -= 1
        if character == "," and depth == 0 and not quoted:
            elements.append(element.strip())
            element = ""
        else:
            element += character
    if element.strip() or elements:
        elements.append(element.strip())
    return tuple(elements)


def read_columns(text: str) -> tuple[int, ...]:
    """``[0, 1]`` or ``[#0, #1]`` into column positions."""
    return tuple(read_number(element.removeprefix("#")) for element in read_list(text))


def read_boolean(text: str) -> bool:
    """``true`` or ``false``."""
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"


def read_text(text: str) -> str:
    """Any text but the empty one."""
    if not text:
        raise ValueError("expected a word")
    return text
