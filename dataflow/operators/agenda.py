"""The order in which a dataflow's operators run."""

from __future__ import annotations

from .operator import Operator


class Agenda:
    """Which operators may have something to do.

    Operators are enrolled in topological order and each is one bit of ``pending``; the lowest runs first, so what an
    interval changes travels through the dataflow in one pass, and an operator that is not concerned costs nothing.
    """

    __slots__ = ("operators", "pending")

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.pending: int = 0

    def enroll(self, operator: Operator) -> int:
        """The bit of this operator, which runs after all that were enrolled before."""
        self.operators.append(operator)
        return 1 << (len(self.operators) - 1)

    def step(self) -> bool:
        """Run one operator that is ready, to completion; False when none is."""
        while self.pending:
            lowest = self.pending & -self.pending
            self.pending ^= lowest
            if self.operators[lowest.bit_length() - 1].run():
                return True
        return False

    def close(self) -> None:
        """Run nothing any more. Operators and their agenda refer to each other: parting them here frees what they keep
        at once, where a garbage collector, which sees few objects and not their size, would come late."""
        self.operators.clear()
        self.pending = 0
