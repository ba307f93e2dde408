"""Functions of text: ``col("name").str.to_uppercase()``. Positions and lengths count characters, from 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from .errors import RelationError
from .expressions import Expression, ExpressionOrValue, as_expression
from .nodes import Call
from .other_names import OF_TEXT, no_attribute


class StringNamespace:
    """What ``expression.str`` offers; every function of NULL is NULL."""

    __slots__ = ("_expression",)

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "expression.str", OF_TEXT)

    def _call(self, function: str, *arguments: ExpressionOrValue) -> Expression:
        nodes = tuple(as_expression(argument).node for argument in arguments)
        return Expression(Call(function, (self._expression.node, *nodes)))

    def to_uppercase(self) -> Expression:
        return self._call("upper")

    def to_lowercase(self) -> Expression:
        return self._call("lower")

    def len_chars(self) -> Expression:
        """How many characters it has."""
        return self._call("length")

    def starts_with(self, prefix: ExpressionOrValue) -> Expression:
        return self._call("starts_with", prefix)

    def ends_with(self, suffix: ExpressionOrValue) -> Expression:
        return self._call("ends_with", suffix)

    def contains(self, part: ExpressionOrValue) -> Expression:
        """Whether this text occurs in it, literally; see :meth:`like` for patterns."""
        return self._call("contains", part)

    def like(self, pattern: str) -> Expression:
        """Whether it matches a SQL pattern: ``%`` stands for any text, ``_`` for any character."""
        return self._call("like", pattern)

    def replace_all(self, part: ExpressionOrValue, by: ExpressionOrValue) -> Expression:
        """Every occurrence of a text replaced, literally."""
        return self._call("replace", part, by)

    def split_part(self, separator: str, index: int) -> Expression:
        """The part at this position, from 0, between separators; empty when there are fewer."""
        return self._call("split_part", separator, index + 1)

    def to_date(self) -> Expression:
        """Read as ``2013-12-31``."""
        return self._expression.cast("date")

    def to_datetime(self) -> Expression:
        """Read as ``2013-12-31 23:59:59``."""
        return self._expression.cast("timestamp")

    def slice(self, offset: int, length: int | None = None) -> Expression:
        """``length`` characters (all that follow when None) from position ``offset`` on."""
        if offset < 0 or (length is not None and length < 0):
            raise RelationError(f"slice takes a position and a length from 0 on, and {offset}, {length} were given")
        return self._call("substr", offset + 1) if length is None else self._call("substr", offset + 1, length)

    def head(self, n: int) -> Expression:
        """The first ``n`` characters."""
        return self.slice(0, n)

    def strip_chars(self, characters: str | None = None) -> Expression:
        """Without these characters (blanks when None) at both ends."""
        return self._strip("trim", characters)

    def strip_chars_start(self, characters: str | None = None) -> Expression:
        """Without these characters (blanks when None) at the start."""
        return self._strip("ltrim", characters)

    def strip_chars_end(self, characters: str | None = None) -> Expression:
        """Without these characters (blanks when None) at the end."""
        return self._strip("rtrim", characters)

    def _strip(self, function: str, characters: str | None) -> Expression:
        return self._call(function) if characters is None else self._call(function, characters)
