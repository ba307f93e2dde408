"""The values that are the same for every replica, of a system or of whoever was sent them: the *environment*."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ...messages.commands import Setting
from .config import Config
from .definitions import CONFIGS

T = TypeVar("T")


class Settings:
    """The present value of every setting: from the last update that parsed, else the default."""

    __slots__ = ("_configs", "_values")

    def __init__(self, configs: Iterable[Config[Any]] = CONFIGS) -> None:
        self._configs = {config.name: config for config in configs}
        self._values: dict[str, Any] = {config.name: config.default for config in self._configs.values()}

    def get(self, config: Config[T]) -> T:
        return self._values[config.name]

    def update(self, updates: Iterable[tuple[str, Setting]]) -> list[str]:
        """Apply updates in order; a sentence for each one that was ignored.

        An unknown name and a value that does not parse change nothing.
        """
        problems: list[str] = []
        for name, value in updates:
            config = self._configs.get(name)
            if config is None:
                problems.append(f"unknown setting {name}")
                continue
            try:
                self._values[name] = config.parse(value)
            except (ValueError, TypeError, OverflowError) as error:
                problems.append(f"setting {name} = {value!r}: {error}; it stays {self._values[name]!r}")
        return problems
