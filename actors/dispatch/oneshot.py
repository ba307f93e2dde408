"""A future that is set once, and the queue of results that is closed once.

Both carry results from actors to application threads. Invariant: whoever waits on one is woken, with a result or
with an error: the dispatcher that made it fails it when its system fails or stops.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar, cast

import pykka

T = TypeVar("T")

LONGEST_WAIT = threading.TIMEOUT_MAX
"""Seconds; locks and queues fail with OverflowError when they are asked to wait longer."""

_OptExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]
_UNSET = object()


class OneShot(pykka.Future[T]):
    """A future made of one lock: several times cheaper than pykka's, which makes a condition variable.

    ``get`` waits by acquiring the lock, which Ctrl-C interrupts; the future stays valid after that.
    Set it from any thread, once; a second ``set`` raises ``queue.Full``, as pykka's futures do, while
    :meth:`resolve` and :meth:`refuse` ignore the loser of a race (an answer against a cancellation).
    """

    __slots__ = ("_error", "_forget", "_gate", "_get_hook", "_get_hook_result", "_once", "_value")

    def __init__(self, forget: Callable[[OneShot[T]], object] | None = None) -> None:
        super().__init__()
        self._gate = threading.Lock()
        self._gate.acquire()
        self._once = threading.Lock()
        self._value: object = _UNSET
        self._error: BaseException | None = None
        self._forget = forget

    @property
    def is_set(self) -> bool:
        return self._once.locked()

    @property
    def value(self) -> object:
        """The value, once it is set; only for :meth:`when_set`."""
        return self._value

    @property
    def error(self) -> BaseException | None:
        """The error that it was refused with, if it was."""
        return self._error

    def when_set(self, notice: Callable[[OneShot[T]], object]) -> None:
        """Call this before whoever waits is woken, on the thread that sets the result. For the one who is about to send
        what it answers: nobody may set it before this returns, or the notice may be missed."""
        forget = self._forget

        def both(reply: OneShot[T]) -> None:
            notice(reply)
            if forget is not None:
                forget(reply)

        self._forget = both

    def resolve(self, value: T) -> bool:
        """Set the value, unless a result is set already. Returns whether this call set it."""
        if not self._once.acquire(blocking=False):
            return False
        self._value = value
        self._done()
        return True

    def refuse(self, error: BaseException) -> bool:
        """Set an error, which ``get`` raises, unless a result is set already. Returns whether this call set it."""
        if not self._once.acquire(blocking=False):
            return False
        self._error = error
        self._done()
        return True

    def get(self, *, timeout: float | None = None) -> T:
        """Wait for the result. Raises the error that was set, or :class:`pykka.Timeout`."""
        if self._get_hook is not None:
            return super().get(timeout=timeout)
        if self._gate.acquire(timeout=-1 if timeout is None else min(max(timeout, 0.0), LONGEST_WAIT)):
            self._gate.release()
        else:
            raise pykka.Timeout(f"{timeout} seconds")
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def set(self, value: T | None = None) -> None:
        if self._get_hook is not None or not self.resolve(cast(T, value)):
            raise queue.Full

    def set_exception(self, exc_info: _OptExcInfo | None = None) -> None:
        error = (exc_info or sys.exc_info())[1]
        assert error is not None, "set_exception() without an exception being handled"
        if self._get_hook is not None or not self.refuse(error):
            raise queue.Full

    def set_get_hook(self, func: Callable[[float | None], T]) -> None:
        if self.is_set:
            raise queue.Full
        super().set_get_hook(func)

    def _done(self) -> None:
        if self._forget is not None:
            self._forget(self)
            self._forget = None
        self._gate.release()


class _End:
    """The last item of a closed stream."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Stream(Generic[T]):
    """Results that arrive over time, such as the batches of a subscription. Any actor puts, one thread gets."""

    __slots__ = ("_end", "_forget", "_items")

    def __init__(self, forget: Callable[[Stream[T]], object] | None = None) -> None:
        self._items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
        self._forget = forget
        self._end: _End | None = None

    @property
    def ready(self) -> bool:
        """Whether ``get`` returns, or raises what the stream was closed with, without waiting."""
        return self._end is not None or not self._items.empty()

    def put(self, item: T) -> None:
        """Append a result."""
        self._items.put(item)

    def close(self, error: BaseException | None = None) -> None:
        """No more results: after the ones already put, ``get`` raises ``error``, or ``StopIteration`` when None."""
        if self._forget is not None:
            self._forget(self)
            self._forget = None
        self._items.put(_End(error))

    def get(self, *, timeout: float | None = None) -> T:
        """The next result.

        Raises:
            StopIteration: the stream was closed, and every result was taken.
            pykka.Timeout: nothing arrived in time.
        """
        if self._end is None:
            try:
                item = self._items.get(timeout=None if timeout is None else min(timeout, LONGEST_WAIT))
            except queue.Empty:
                raise pykka.Timeout(f"{timeout} seconds") from None
            if not isinstance(item, _End):
                return item
            self._end = item
        raise StopIteration if self._end.error is None else self._end.error

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        return self.get()
