"""A bar on a terminal that tells how far a replay has come."""

from __future__ import annotations

import time
from typing import TextIO

_WIDTH = 30
_EVERY = 0.1
"""Seconds between two drawings."""


class Bar:
    """Draws over its own line; nothing when ``out`` is no terminal."""

    def __init__(self, out: TextIO, total: int) -> None:
        self._out = out
        self._total = max(total, 1)
        self._shown = out.isatty()
        self._next = 0.0
        self._began = time.monotonic()

    def advance(self, done: int) -> None:
        """So many messages were taken."""
        if not self._shown:
            return
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            filled = min(_WIDTH, _WIDTH * done // self._total)
            bar = "━" * filled + "╺" * (_WIDTH - filled)
            self._out.write(f"\r{bar} {done:,}/{self._total:,} messages, {now - self._began:.0f} s ")
            self._out.flush()

    def end(self) -> None:
        """Leave the line empty."""
        if self._shown:
            self._out.write("\r\x1b[2K")
            self._out.flush()
