"""Ctrl-C while the main thread runs handlers."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

# What the module ``signal`` wraps with conversions to and from enumerations, which take fifteen times as long.
_unwrapped: Any = importlib.import_module("_signal")
_set_handler: Callable[[int, Any], Any] = _unwrapped.signal
_get_handler: Callable[[int], Any] = _unwrapped.getsignal
_SIGINT = int(signal.SIGINT)


class InterruptsDeferred:
    """Let Ctrl-C wait until the block has ended: raised inside of a handler it would leave an actor half changed.

    On other threads than the main one it does nothing, because nothing is raised there.
    """

    __slots__ = ("_handler", "_interrupted_in")

    def __init__(self) -> None:
        self._handler: Callable[[int, FrameType | None], object] | None = None
        self._interrupted_in: FrameType | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            handler = _get_handler(_SIGINT)
            if callable(handler):
                self._handler = handler
                _set_handler(_SIGINT, self._interrupted)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._interrupted_in = frame

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        handler = self._handler
        if handler is not None:
            _set_handler(_SIGINT, handler)
            if self._interrupted_in is not None:
                handler(_SIGINT, self._interrupted_in)
