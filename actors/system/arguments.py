"""Checks of what an application passes to a system, before anything is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...messages.commands import Setting
from ..dispatch.oneshot import LONGEST_WAIT
from ..errors import WrongArgument
from ..relations.errors import RelationError, suggestion
from ..relations.types import is_valid_text
from ..requests import ReadPolicy
from ..settings import BY_NAME


def check_name(name: object, what: str) -> None:
    """Check the name of a new collection.

    Raises:
        RelationError: it is no text, or empty.
    """
    if not isinstance(name, str) or not name:
        raise RelationError(f"{what} takes a name, a text that is not empty, and {name!r} was given")
    if not is_valid_text(name):
        raise RelationError(f"{what} takes a name in valid Unicode, without lone surrogates, and {name!r} was given")


def read_policy(history: Any) -> ReadPolicy:
    """How much history a collection keeps: a number of timestamps, or None for all.

    Raises:
        RelationError: it is neither.
    """
    if history is not None and (not isinstance(history, int) or isinstance(history, bool) or history < 0):
        raise RelationError(f"history is a number of timestamps from 0 on, or None for all, and {history!r} was given")
    return ReadPolicy(history)


def table_key(key: str | Sequence[str] | None, what: str) -> tuple[str, ...]:
    """The columns of a table's key.

    Raises:
        RelationError: it is no name or list of names, or one is there twice.
    """
    if key is not None and not isinstance(key, str | Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"{what}: key takes the name of a column or a list of them, and {key!r} was given")
    columns = (key,) if isinstance(key, str) else tuple(key or ())
    check_no_repetition(columns, what)
    return columns


def check_no_repetition(columns: Iterable[object], what: str) -> None:
    """Check that no part of a key is there twice.

    Raises:
        RelationError: one is.
    """
    seen: set[object] = set()
    for column in columns:
        if column in seen:
            raise RelationError(f"{what} has {column!r} twice in its key")
        seen.add(column)


def check_time(time: object, what: str) -> None:
    """Check a timestamp, where None means that none was given.

    Raises:
        WrongArgument: it is no whole number from 0 on.
    """
    if time is not None and (not isinstance(time, int) or isinstance(time, bool) or time < 0):
        found = getattr(time, "timestamp", None)
        hint = f"; pass its .timestamp, {found}" if isinstance(found, int) else ""
        raise WrongArgument(f"{what} is a timestamp, a whole number from 0 on, and {time!r} was given{hint}")


def checked_seconds(seconds: object, what: str) -> float | None:
    """A duration, where None means without end; at most what the platform can wait for.

    Raises:
        WrongArgument: it is no number of seconds from 0 on.
    """
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds >= 0:
        raise WrongArgument(f"{what} is a number of seconds from 0 on, and {seconds!r} was given")
    return min(seconds, LONGEST_WAIT)


def checked_settings(settings: Mapping[str, Setting | None]) -> tuple[tuple[str, Setting | None], ...]:
    """Settings and their values, as they will be; None takes back what was stored.

    Raises:
        WrongArgument: there is no such setting, or it does not take this value.
    """
    if not isinstance(settings, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongArgument(f"settings is a mapping of names to values, and {settings!r} was given")
    checked: list[tuple[str, Setting | None]] = []
    for name, value in settings.items():
        config = BY_NAME.get(name)
        if config is None:
            raise WrongArgument(f"there is no setting {name!r}{suggestion(name, BY_NAME)}")
        try:
            checked.append((name, None if value is None else config.parse(value)))
        except (ValueError, TypeError, OverflowError) as error:
            raise WrongArgument(f"setting {name!r} ({config.description}) cannot be {value!r}: {error}") from None
    return tuple(checked)
