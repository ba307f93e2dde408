"""Views that come and go."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass

from ..system.system import ActorSystem
from .views import VIEWS, Relations


@dataclass(frozen=True)
class Hydration:
    """An index of a view was created, and was up to date at ``end``; both in seconds after the beginning. Without an
    end, it was still at work when everything was over."""

    view: str
    begin: float
    end: float | None


class Churn:
    """Creates the demo's views one after the other, waits until each is hydrated, drops it, and begins anew."""

    def __init__(self, system: ActorSystem, tables: Relations, begin: float, over: threading.Event) -> None:
        """``begin``: on the clock of ``time.perf_counter``."""
        self.hydrations: list[Hydration] = []
        self._system = system
        self._tables = tables
        self._begin = begin
        self._over = over

    def run(self) -> None:
        """Hydrate until it is over."""
        for definition in itertools.cycle(VIEWS):
            if self._over.is_set():
                return
            begin = time.perf_counter() - self._begin
            self.hydrations.append(Hydration(definition.name, begin, None))
            view = self._system.view(definition.name, definition.define(self._tables))
            index = self._system.create_index(view, definition.key, wait=True)
            end = time.perf_counter() - self._begin
            self.hydrations[-1] = Hydration(definition.name, begin, end)
            self._system.drop(index)
            self._system.drop(view)
