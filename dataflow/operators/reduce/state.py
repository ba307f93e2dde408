"""The state of the accumulable aggregates of all groups: row counts, and each accumulator's sums, in one matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrangements.hash_index import Entries
from ...arrangements.updates import Diffs
from ...columns.column import Mask
from ..events import Events, Numbers
from .accumulator import Accumulator, Argument, Outcome


class GroupSums:
    """One column of numbers per group: how many rows it has, then every accumulator's block."""

    __slots__ = ("_accumulators", "_totals")

    def __init__(self, accumulators: Sequence[Accumulator], capacity: int) -> None:
        self._accumulators = tuple(accumulators)
        self._totals: Numbers = np.zeros((1 + sum(a.width for a in accumulators), capacity), np.int64)

    def reserve(self, capacity: int) -> None:
        """Make room for groups below ``capacity``."""
        totals = self._totals
        if totals.shape[1] < capacity:
            self._totals = np.zeros((len(totals), capacity), np.int64)
            self._totals[:, : totals.shape[1]] = totals

    def add(self, events: Events, diffs: Diffs, arguments: Sequence[Argument]) -> Numbers:
        """Add a chunk.

        Returns:
            The numbers in every state (see :class:`Events`).
        """
        totals = self._totals
        changes: list[Numbers] = [diffs[None]]
        widened: list[tuple[slice, Numbers]] = []
        first = 1
        for accumulator, argument in zip(self._accumulators, arguments, strict=True):
            if accumulator.is_told(argument):
                continue
            block = slice(first, first + accumulator.width)
            first = block.stop
            added, adapted = accumulator.add(argument, totals[block], totals[0])
            changes.append(added)
            if adapted is not None:
                widened.append((block, adapted))
        if widened:
            for block, adapted in reversed(widened):
                totals = np.concatenate((totals[: block.start], adapted, totals[block.stop :]))
            self._totals = totals
        return events.accumulate(totals, np.concatenate(changes))

    def results(self, states: Numbers) -> list[Outcome]:
        """The aggregates in these states."""
        outcomes: list[Outcome] = []
        first = 1
        rows = states[0]
        for accumulator in self._accumulators:
            stop = first + accumulator.width
            outcomes.append(accumulator.result(states[first:stop], rows))
            first = stop
        return outcomes

    def is_zero(self, states: Numbers) -> Mask:
        """Whether nothing is accumulated in these states."""
        zero = states[0] == 0
        first = 1
        for accumulator in self._accumulators:
            stop = first + accumulator.width
            zero &= accumulator.is_zero(states[first:stop])
            first = stop
        return zero

    def clear(self, groups: Entries) -> None:
        """Forget these groups, whose state is zero (though perhaps not written as zeros)."""
        self._totals[:, groups] = 0
