"""Short names for what the tests of replay are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from pillion.actors.peeks.blocks import row_block, update_block
from pillion.actors.replay.events import Event
from pillion.actors.replay.replay import replicas_of
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Finishing, IndexTarget, Peek
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Rows, SubscribeBatch
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("n", SqlType.BIGINT), Field("t", SqlType.TEXT)))
INDEX = GlobalId("u", 2)
REPLICA = "multiplexer-0"

Update = tuple[int | None, str | None, int, int]
"""Both columns, the time and the multiplicity."""


def updates(*rows: Update) -> Updates:
    numbers, texts, times, diffs = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Updates(
        (column_from_values(list(numbers), SqlType.BIGINT), column_from_values(list(texts), SqlType.TEXT)),
        np.array(times, np.int64),
        np.array(diffs, np.int64),
    )


def rows(*pairs: tuple[int | None, str | None]) -> Rows:
    return Rows(row_block(updates(*[(n, t, 0, 1) for n, t in pairs]), SCHEMA))


def batch(lower: int, upper: Frontier, *changes: Update, error: str | None = None) -> SubscribeBatch:
    return SubscribeBatch(lower, upper, update_block(updates(*changes), SCHEMA), error)


def peek(uuid: str = "p", time: int = 5, finishing: Finishing = Finishing(), on: GlobalId = INDEX) -> Peek:
    return Peek(uuid, IndexTarget(on), time, SCHEMA, finishing=finishing)


class Tape:
    """A recording in memory."""

    name = "tape"

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = list(events)

    @property
    def last(self) -> int:
        return self._events[-1].sequence

    @property
    def replicas(self) -> tuple[str, ...]:
        return replicas_of(self.events())

    def events(self) -> Iterator[Event]:
        return iter(cast(Sequence[Event], self._events))
