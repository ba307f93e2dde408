"""Checks of what an application passes to a system, before anything is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...messages.commands import Setting
from ..relations.errors import RelationError, suggestion
from ..requests import ReadPolicy
from ..settings import CONFIGS


def check_name(name: object, what: str) -> None:
    """Check the name of a new collection.

    Raises:
        RelationError: it is no text, or empty.
    """
    if not isinstance(name, str) or not name:
        raise RelationError(f"{what} takes a name, a text that is not empty, and {name!r} was given")


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
        RelationError: one is there twice.
    """
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


def checked_settings(settings: Mapping[str, Setting]) -> tuple[tuple[str, Setting], ...]:
    """Settings and their values.

    Raises:
        ValueError: there is no such setting, or it does not take this value.
    """
    known = {config.name: config for config in CONFIGS}
    for name, value in settings.items():
        config = known.get(name)
        if config is None:
            raise ValueError(f"there is no setting {name!r}{suggestion(name, known)}")
        try:
            config.parse(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"setting {name!r} ({config.description}) cannot be {value!r}: {error}") from None
    return tuple(settings.items())
