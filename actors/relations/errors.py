"""What can be wrong with a relation or an expression; raised where the mistake is written, not when it runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ...messages.errors import ExpressionError


class RelationError(ExpressionError, ValueError):
    """A relation or an expression that means nothing: duplicate names, a missing key, aggregates out of place, …"""


class ExpressionTypeError(ExpressionError, TypeError):
    """An operation on a type that it is not defined for."""


class UnknownColumnError(RelationError, KeyError):
    """A column that its relation does not have.

    Attributes:
        column: the name that was given.
        columns: the names that exist.
    """

    def __init__(self, column: str, columns: tuple[str, ...], where: str = "the relation") -> None:
        self.column = column
        self.columns = columns
        super().__init__(f"{where} has no column {column!r}{suggestion(column, columns)}")

    def __str__(self) -> str:
        return str(self.args[0])


def kind_of(given: object) -> str:
    """What kind of value was given, with its article: ``a dict``, ``an Index``."""
    name = given.__class__.__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def suggestion(given: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the close matches, else all that exist."""
    names = [str(name) for name in known]
    close = difflib.get_close_matches(str(given), names, n=3, cutoff=0.6)
    if not close:
        close = [name for name in names if name.lower() == str(given).lower()]
    if close:
        return f"; did you mean {' or '.join(repr(name) for name in close)}?"
    return f"; there are {', '.join(repr(name) for name in names)}" if names else "; there are none"
