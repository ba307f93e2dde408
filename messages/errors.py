"""The errors of the project. Every one says in a sentence what was given, what was expected and what to do, and
carries the ids and frontiers it speaks of as attributes.

Errors of single rows (division by zero, a failed cast) are not exceptions: they are data, the error updates of a
dataflow, and reach a reader as :class:`CollectionError`.
"""

from __future__ import annotations

from typing import Any

from .frontiers import Frontier, Timestamp, show_frontier
from .ids import GlobalId


class PillionError(Exception):
    """Base of every error that this project raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled as "call the class with args" by default, which our own signatures do not fit.
        return _restore, (self.__class__, self.args, self.__dict__)


def _restore(cls: type[PillionError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PillionError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class EncodeError(PillionError):
    """A value that no message can carry."""


class DecodeError(PillionError):
    """Bytes that are not the expected message.

    ``path`` names the field (``$.dataflow.as_of``; ``$`` is the message itself), ``given`` shows what stands there
    (None when the bytes are no message at all), ``problem`` says what was expected.
    """

    def __init__(self, message: str, path: str, given: str | None, problem: str) -> None:
        shown = "" if given is None else f": given {given}"
        super().__init__(f"cannot decode {message}: at {path}{shown}: {problem}")
        self.path = path
        self.given = given
        self.problem = problem


class UserFunctionError(PillionError):
    """A user function that cannot be pickled, loaded or used; ``function`` is its name."""

    def __init__(self, function: str, problem: str) -> None:
        super().__init__(f"user function {function!r}: {problem}")
        self.function = function


class UntrustedFunctionError(UserFunctionError):
    """A user function reached a receiver that was not told to trust its sender."""

    def __init__(self, function: str) -> None:
        super().__init__(
            function,
            "refused, because loading it runs code of whoever sent it; "
            "start the receiver with trust=True (pillion clusterd --trust) if you trust every sender",
        )


class ExpressionError(PillionError):
    """An expression that is ill-formed: an unknown function, a wrong type, a column that does not exist."""


class UnknownFunctionError(ExpressionError):
    """No function has this name."""

    def __init__(self, function: str, similar: tuple[str, ...] = ()) -> None:
        hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
        super().__init__(f"there is no function {function!r}{hint}")
        self.function = function
        self.similar = similar


class FunctionArgumentsError(ExpressionError):
    """A function does not take arguments of these types, or not this many."""

    def __init__(self, function: str, given: tuple[str, ...], expected: str) -> None:
        super().__init__(f"{function}({', '.join(given)}) is not possible: expected {expected}")
        self.function = function
        self.given = given
        self.expected = expected


class ProtocolError(PillionError):
    """A command that breaks the protocol. The replica refuses it, keeps running and loses nothing."""

    def __init__(self, rule: str, id: GlobalId | None = None) -> None:
        super().__init__(rule if id is None else f"{id}: {rule}")
        self.id = id
        self.rule = rule


class NotReadableError(PillionError):
    """A read at a time that was compacted away. ``name``: what an application calls the collection."""

    def __init__(self, id: GlobalId, time: Timestamp, since: Frontier, name: str | None = None) -> None:
        super().__init__(
            f"{id} cannot be read at {time}: it was compacted to {show_frontier(since)}; "
            "read at a later time, or hold back compaction before you need an earlier one"
            if name is None
            else f"{name!r} cannot be read as of {time}: the earliest time that it still holds is {since}; read at a "
            "later time, or keep earlier ones with history= where it is created, or with system.hold(…)"
        )
        self.id = id
        self.time = time
        self.since = since


class WriteBehindUpperError(PillionError):
    """A write at a time that a shard has already declared final."""

    def __init__(self, id: GlobalId, time: Timestamp, upper: Frontier) -> None:
        super().__init__(f"{id} cannot be written at {time}: its upper is {show_frontier(upper)}; write at it or later")
        self.id = id
        self.time = time
        self.upper = upper


class CollectionError(PillionError):
    """The collection contains an error at the time of the read, until the offending row is retracted.

    ``what``: how an application calls the collection.
    """

    def __init__(self, id: GlobalId, time: Timestamp, message: str, what: str | None = None) -> None:
        super().__init__(f"{what or id} has an error at {time}: {message}")
        self.id = id
        self.time = time
        self.message = message
