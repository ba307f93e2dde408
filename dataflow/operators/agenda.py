"""The order in which a dataflow's operators run."""

from __future__ import annotations

from .operator import Operator

_ENOUGH = 4096
"""Rows of work after which a step ends in any case."""


class Agenda:
    """Which operators may have something to do.

    Operators are enrolled in topological order and each is one bit of ``pending``; the lowest runs first, so what an
    interval changes travels through the dataflow in one pass, and an operator that is not concerned costs nothing.
    An operator that stopped in the middle is one bit of ``unfinished`` instead, and goes on when no other one is
    ready: so those that read it have done their part before it makes more.
    """

    __slots__ = ("operators", "pending", "unfinished")

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.pending: int = 0
        self.unfinished: int = 0

    def enroll(self, operator: Operator) -> int:
        """The bit of this operator, which runs after all that were enrolled before."""
        self.operators.append(operator)
        return 1 << (len(self.operators) - 1)

    def step(self, fuel: int | None) -> bool:
        """Run operators that are ready until they have done about ``fuel`` rows of work (None: each to completion,
        until that was some work); False when none is ready."""
        operators = self.operators
        enough = _ENOUGH if fuel is None else fuel
        done = 0
        while done < enough:
            ready = self.pending
            if not ready:
                ready, self.unfinished = self.unfinished, 0
                if not ready:
                    break
            lowest = ready & -ready
            self.pending = ready ^ lowest
            done += operators[lowest.bit_length() - 1].run(fuel)
        return done > 0

    def close(self) -> None:
        """Run nothing any more. Operators and their agenda refer to each other, and so do an operator and its work:
        parting them here frees what they keep at once, where a garbage collector, which sees few objects and not their
        size, would come late."""
        for operator in self.operators:
            operator.work = None
        self.operators.clear()
        self.pending = self.unfinished = 0
