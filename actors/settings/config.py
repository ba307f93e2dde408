"""What a setting is: a name, a type, a default, and for whom it may differ."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from ...messages.commands import Setting

if TYPE_CHECKING:
    from .overrides import Overrides
    from .values import Settings

T = TypeVar("T")


class Scope(enum.StrEnum):
    """For whom a setting may have a value of its own."""

    SYSTEM = "system"
    """One value for the system, because what it says must not depend on which replica answers."""
    REPLICA = "replica"
    """A replica may have a value of its own, its *override*."""


@dataclass(frozen=True, slots=True)
class Config(Generic[T]):
    """One setting.

    Attributes:
        parse: turns what was stored into the value; raises ``ValueError`` when it is none.
        description: what it is for, with its unit.
        live: whether a change reaches a replica that runs; otherwise it takes effect when one is provisioned.
    """

    name: str
    default: T
    scope: Scope
    parse: Callable[[Setting], T]
    description: str
    live: bool = True

    def get_with_overrides(self, config_set: Settings, overrides: Overrides) -> T:
        """The value for one replica: its override, else the environment's value, else the default.

        An override that does not parse is as good as none (the value is the environment's, not the default), and
        ``overrides`` says so once.
        """
        if self.scope is Scope.REPLICA and self.name in overrides:
            try:
                return self.parse(overrides[self.name])
            except (ValueError, TypeError, OverflowError) as error:
                value = config_set.get(self)
                overrides.report(self.name, f"{error}; the environment's value {value!r} counts")
                return value
        return config_set.get(self)
