"""Values of the process that several owners want set, each for as long as it lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedValue(Generic[T]):
    """One value, on behalf of all who want it set.

    Owners come and go in any order. The first one finds the value as the application had it, and after the last one
    it is like that again, unless the application has set it itself in the meantime.

    Args:
        read: the present value.
        write: sets it.
        choose: of the values that are wanted, the one that suits all.
    """

    def __init__(self, read: Callable[[], T], write: Callable[[T], object], choose: Callable[[Iterable[T]], T]) -> None:
        self._read = read
        self._write = write
        self._choose = choose
        self._lock = threading.Lock()
        self._wanted: dict[str, T] = {}
        self._before: T | None = None
        self._ours: T | None = None
        """What :meth:`_read` said after the value was set here last; None while nobody wants any."""

    def want(self, owner: str, value: T | None) -> None:
        """``owner`` wants this value from now on; None: any is right, as it is for whoever is gone."""
        with self._lock:
            if value is not None:
                if not self._wanted:
                    self._before = self._read()
                self._wanted[owner] = value
            elif self._wanted.pop(owner, None) is None:
                return
            self._set()

    def _set(self) -> None:
        if self._wanted:
            self._write(self._choose(self._wanted.values()))
            self._ours = self._read()
        elif self._before is not None:
            if self._read() == self._ours:
                self._write(self._before)
            self._before = self._ours = None
