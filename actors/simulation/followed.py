"""A subscription under a workload: what it told so far, against the oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...messages.relations import Relation
from ...messages.responses import SubscribeBatch
from ..dispatch.oneshot import Stream
from ..errors import UnknownCollection
from .answers import expect
from .model import Model, Row, Rows


@dataclass(eq=False)
class Followed:
    """A subscription: the changes that came so far, integrated.

    Attributes:
        with_snapshot: whether it starts with the rows that are there.
        upper: how far its batches went; None: to the end.
        rows: what came so far, integrated.
        resumed: whether a replica was lost, so that it may have begun anew.
        may_end: whether it is allowed to end.
    """

    model: Model
    relation: Relation
    stream: Stream[SubscribeBatch]
    with_snapshot: bool
    up_to: int | None
    as_of: int | None = None
    upper: int | None = None
    rows: Rows | None = None
    resumed: bool = False
    closed: bool = False
    may_end: bool = False

    def started(self, as_of: int) -> None:
        """It begins at this time."""
        self.as_of = self.upper = as_of
        self.rows = Counter() if self.with_snapshot else Counter(self.model.rows(self.relation, as_of).rows)

    def check(self) -> None:
        """Take every batch that came, and compare the rows at every time in it.

        Raises:
            RuleBroken: they are not right.
        """
        while not self.closed and self.stream.ready:
            try:
                batch = self.stream.get()
            except StopIteration:
                self.closed = True
                ended = self.up_to is not None and self.upper is not None and self.upper >= self.up_to
                gone = self.upper is None or self.model.lost(self.relation)
                expect(self.may_end or ended or gone, "a subscription ended by itself")
                return
            except UnknownCollection as error:
                # Its table was dropped, and the replica lost what it had of it.
                expect(self.model.lost(self.relation), error)
                self.closed = True
                return
            if batch.error is not None:
                expect("it was dropped" in batch.error and self.model.lost(self.relation), batch.error)
                self.closed = True
                return
            expect(batch.lower == self.upper, f"a batch from {batch.lower} on, after one up to {self.upper}")
            self._integrate(batch)

    def _integrate(self, batch: SubscribeBatch) -> None:
        assert self.rows is not None, "it has started"
        if (self.resumed or not self.with_snapshot) and self.model.lost(self.relation):
            # Its table was dropped before it was read (again): without a snapshot, the error is not shown either.
            self.upper = batch.upper
            return
        updates = batch.updates
        size = updates.num_rows
        times: list[int] = [updates.times] * size if isinstance(updates.times, int) else updates.times.to_pylist()
        diffs: list[int] = [updates.diffs] * size if isinstance(updates.diffs, int) else updates.diffs.to_pylist()
        rows: list[Row] = [tuple(row.values()) for row in updates.columns.to_pylist()]
        changes = list(zip(times, diffs, rows, strict=True))
        last = self.model.latest if batch.upper is None else batch.upper - 1
        if self.up_to is not None:
            last = min(last, self.up_to - 1)
        for time in range(batch.lower, last + 1):
            for at, diff, row in changes:
                if at == time:
                    self.rows[row] += diff
            expected = self.model.rows(self.relation, time).rows
            if +self.rows != expected:
                expect(False, f"a subscription at {time}: {+self.rows}, the oracle has {expected}")
        inside = all(batch.lower <= at <= last for at in times)
        expect(inside, f"changes outside of [{batch.lower}, {batch.upper})")
        self.upper = batch.upper
