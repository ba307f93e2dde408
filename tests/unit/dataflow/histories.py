"""Random histories: updates, and how they are cut into chunks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.types import ColumnType

from .plans import Row, Update, Workers, at

END = 12
"""Histories change at times before this one."""


def random_history(rng: random.Random, rows: Sequence[Row], size: int, *, negative: bool = False) -> list[Update]:
    """Updates in order of time. Unless ``negative``, no row is ever retracted more often than it was inserted."""
    updates: list[Update] = []
    for time in sorted(rng.randrange(END) for _ in range(size)):
        row = rng.choice(rows)
        if rng.random() < 0.4 and (negative or at(updates, time)[row] > 0):
            updates.append((row, time, -1))
        else:
            updates.append((row, time, rng.choice((1, 1, 1, 2))))
    return updates


def pieces(
    rng: random.Random, updates: Sequence[Update], end: Frontier = END
) -> Iterator[tuple[int, Frontier, list[Update]]]:
    """Contiguous ``(lower, upper, updates)`` from 0 to ``end``, cut at random; within a piece in no order."""
    last = END if end is None else end
    cuts = [*sorted(rng.sample(range(1, last), rng.randrange(0, last // 2))), last]
    lower = 0
    for upper in cuts:
        piece = [u for u in updates if lower <= u[1] < upper]
        rng.shuffle(piece)
        yield lower, end if upper == last else upper, piece
        lower = upper


def play(
    rng: random.Random,
    workers: Workers,
    inputs: Sequence[tuple[GlobalId, Sequence[ColumnType], Sequence[Update]]],
    *,
    end: Frontier = END,
) -> None:
    """Feed every input in random pieces, the inputs interleaved at random, working and merging in between."""
    # A finished input is one more thing that may happen.
    ends = [end if end != END or rng.random() < 0.7 else None for _ in inputs]
    waiting = [
        (source, types, list(pieces(rng, updates, e))) for (source, types, updates), e in zip(inputs, ends, strict=True)
    ]
    while waiting:
        turn = rng.choice(waiting)
        source, types, rest = turn
        lower, upper, piece = rest.pop(0)
        workers.feed(source, types, lower, upper, piece)
        if not rest:
            waiting.remove(turn)
        if rng.random() < 0.6:
            workers.run()
        else:
            workers.advance(rng.randrange(4))
        if rng.random() < 0.5:
            for dataflow in workers.dataflows:
                dataflow.maintain(rng.choice((1, 10, 1000)))
    workers.run()
