"""What wakes the main thread of a process that otherwise sleeps."""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from types import TracebackType
from typing import Any

_STOP = (signal.SIGTERM, signal.SIGINT)
_OTHER = b"\0"
"""No signal has this number."""


class Bell:
    """What the main thread waits for: a signal, a failure, or the end of the input.

    It waits for a byte, because a signal may interrupt another thread than this one, which would then sleep on; the
    byte of a signal is written wherever it comes in. A context manager: signals mean what they meant when it is left.
    """

    def __init__(self) -> None:
        self._heard, self._rung = socket.socketpair()
        self._rung.setblocking(False)
        self._failure: BaseException | None = None
        self._handlers: dict[int, Any] = {}
        self._descriptor = -1

    def __enter__(self) -> Bell:
        self._descriptor = signal.set_wakeup_fd(self._rung.fileno(), warn_on_full_buffer=False)
        # Handlers do nothing, but without them the process would end.
        self._handlers = {each: signal.signal(each, lambda number, frame: None) for each in _STOP}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._descriptor)
        for each, handler in self._handlers.items():
            signal.signal(each, handler)
        self._heard.close()
        self._rung.close()

    def fail(self, error: BaseException) -> None:
        """A runtime failed. On any thread."""
        self._failure = self._failure or error
        self.stop()

    def stop(self) -> None:
        """It is time to stop. On any thread."""
        # Full, or closed: it has rung already.
        with suppress(OSError):
            self._rung.send(_OTHER)

    def wait(self) -> BaseException | None:
        """Wait for what ends the process: what a runtime failed with, or None when it was told to stop."""
        while self._heard.recv(1)[0] not in (*_STOP, *_OTHER):
            continue  # A signal that is none of ours.
        return self._failure
