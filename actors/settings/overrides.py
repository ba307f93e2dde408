"""The values that one replica has for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...messages.commands import Setting


class Overrides(Mapping[str, Setting]):
    """What was stored for one replica, by the name of the setting, as it was stored.

    Args:
        stored: the overrides at first.
        log: hears a sentence about each one that does not parse, once for each time that it is stored.
    """

    __slots__ = ("_log", "_reported", "_stored")

    def __init__(self, stored: Mapping[str, Setting], log: Callable[[str], object]) -> None:
        self._stored = dict(stored)
        self._log = log
        self._reported: set[str] = set()

    def store(self, name: str, value: Setting) -> None:
        """Override a setting from now on."""
        self._stored[name] = value
        self._reported.discard(name)

    def remove(self, name: str) -> None:
        """The environment's value counts again; no effect when it does already."""
        self._stored.pop(name, None)
        self._reported.discard(name)

    def report(self, name: str, problem: str) -> None:
        """An override cannot be used."""
        if name not in self._reported:
            self._reported.add(name)
            self._log(f"override {name} = {self._stored[name]!r}: {problem}")

    def __getitem__(self, name: str) -> Setting:
        return self._stored[name]

    def __contains__(self, name: object) -> bool:
        return name in self._stored  # Mapping's own tries, and catches the KeyError, which takes a microsecond.

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)
