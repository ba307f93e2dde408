"""What an actor may depend on beyond its messages: time, fresh names, chance, a logger.

Everything here is handed in by the dispatcher, so that the same actor runs in production on real time and in a
simulation on counted time, where equal seeds give equal runs.
"""

from __future__ import annotations

import itertools
import logging
import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
from structlog.typing import EventDict, WrappedLogger


class Clock(Protocol):
    """Seconds since some fixed moment; never goes back. For measuring and for timeouts, not for dates."""

    def now(self) -> float: ...


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()


class VirtualClock:
    """Moves only when the simulation moves it."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def advance_to(self, moment: float) -> None:
        assert moment >= self._now, "time does not go back"
        self._now = moment


class IdSource(Protocol):
    """Fresh names for peeks and connections."""

    def fresh(self) -> str: ...


class RandomIds:
    """Random UUIDs."""

    def fresh(self) -> str:
        return str(uuid.uuid4())


class CountedIds:
    """``1``, ``2``, …: for simulations, and where a name need only be unique within one system."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def fresh(self) -> str:
        return str(next(self._next))


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one system, shared by its actors."""

    clock: Clock
    ids: IdSource
    random: random.Random


def make_logger(name: str, **bound: Any) -> structlog.stdlib.BoundLogger:
    """A structured logger that writes to the standard logger ``pillion.<name>``.

    The library configures nothing global: an application that configured nothing sees warnings on stderr, and
    one that configured ``logging`` gets every event with its fields in the record's ``fields`` attribute.
    """
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(f"pillion.{name}"),
        processors=[structlog.stdlib.filter_by_level, structlog.processors.format_exc_info, _render],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger.bind(**bound)


def _render(_logger: WrappedLogger, _method: str, event: EventDict) -> tuple[tuple[str], dict[str, Any]]:
    message = event.pop("event", "")
    trace = event.pop("exception", None)
    fields = " ".join(f"{key}={value}" for key, value in event.items())
    text = " ".join(part for part in (str(message), fields) if part)
    return (text if trace is None else f"{text}\n{trace}",), {"extra": {"fields": dict(event)}}
