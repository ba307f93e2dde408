"""From what was stored to typed values. Each function raises ``ValueError`` when it is no such value."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TypeVar

from ...messages.commands import Setting

E = TypeVar("E", bound=enum.StrEnum)

_WORDS = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


def flag(value: Setting) -> bool:
    """A truth value, or a word for one."""
    found = value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
    if found is None:
        raise ValueError("expected on or off")
    return found


class GcFreeze(enum.StrEnum):
    """Whether garbage collections leave out what there is."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


def gc_freeze(value: Setting) -> GcFreeze:
    """A truth value, or a word for one, or ``auto``."""
    if str(value).strip().lower() == GcFreeze.AUTO:
        return GcFreeze.AUTO
    try:
        return GcFreeze.ON if flag(value) else GcFreeze.OFF
    except ValueError:
        raise ValueError("expected auto, on or off") from None


_INTEGERS = 1 << 63
"""Messages carry whole numbers below this."""
_LONGEST = 1e9
"""Seconds; 30 years. What waits for longer waits for ever, and not every clock can count so far."""


def size(value: Setting) -> int:
    """A whole number from 0 on that a message can carry."""
    try:
        number = int(value)
    except (ValueError, OverflowError):
        number = -1
    is_broken = isinstance(value, float) and not value.is_integer()
    if isinstance(value, bool) or is_broken or not 0 <= number < _INTEGERS:
        raise ValueError("expected a whole number, 0 or more and less than 2**63")
    return number


def count(value: Setting) -> int:
    """A whole number from 1 on."""
    try:
        number = size(value)
    except ValueError:
        number = 0
    if number == 0:
        raise ValueError("expected a whole number, 1 or more and less than 2**63")
    return number


def seconds(value: Setting) -> float:
    """A number from 0 on."""
    number = _number(value)
    if not 0 <= number < _LONGEST:
        raise ValueError("expected a number of seconds, 0 or more and less than 10**9")
    return number


def fraction(value: Setting) -> float:
    """A number from 0 to 1."""
    number = _number(value)
    if not 0 <= number <= 1:
        raise ValueError("expected a number from 0 to 1")
    return number


def up_to(most: int) -> Callable[[Setting], int]:
    """A whole number from 0 to ``most``."""

    def parse(value: Setting) -> int:
        try:
            number = size(value)
        except ValueError:
            number = most + 1
        if number > most:
            raise ValueError(f"expected a whole number from 0 to {most}")
        return number

    return parse


def one_of(choices: type[E]) -> Callable[[Setting], E]:
    """A member of an enumeration, by its value."""

    def parse(value: Setting) -> E:
        try:
            return choices(value)
        except ValueError:
            raise ValueError(f"expected {' or '.join(choices)}") from None

    return parse


def _number(value: Setting) -> float:
    try:
        return -1.0 if isinstance(value, bool) else float(value)
    except ValueError:
        return -1.0
