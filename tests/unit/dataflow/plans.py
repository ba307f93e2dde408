"""Small dataflows for tests: descriptions, a driver of several workers, and a multiset evaluator to compare with."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pillion.dataflow.arrangements.snapshot import Snapshot
from pillion.dataflow.arrangements.trace import Trace
from pillion.dataflow.arrangements.updates import Chunk, Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.render import Dataflow
from pillion.messages.dataflows import (
    BuildDesc,
    IndexExport,
    IndexImport,
    RenderDataflow,
    SinkConnection,
    SinkExport,
    SourceImport,
    Subscribe,
)
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.plans import PlanNode, RenderPlan
from pillion.messages.scalars import ColumnRef, Scalar
from pillion.messages.types import ColumnType, Field, Schema, SqlType

Row = tuple[object, ...]
Update = tuple[Row, int, int]
"""``(row, time, diff)``."""

BIGINT = ColumnType(SqlType.BIGINT)
TEXT = ColumnType(SqlType.TEXT)


def user(number: int) -> GlobalId:
    return GlobalId("u", number)


def key(*columns: int) -> tuple[Scalar, ...]:
    return tuple(ColumnRef(c) for c in columns)


def schema(types: Sequence[ColumnType]) -> Schema:
    return Schema(tuple(Field(f"c{i}", t.type, t.nullable) for i, t in enumerate(types)))


def source(id: GlobalId, types: Sequence[ColumnType]) -> SourceImport:
    return SourceImport(id, id, schema(types))


def index_import(id: GlobalId, on: GlobalId, by: tuple[Scalar, ...], types: Sequence[ColumnType]) -> IndexImport:
    return IndexImport(id, on, by, schema(types))


def build(id: GlobalId, *nodes: PlanNode) -> BuildDesc[RenderPlan]:
    return BuildDesc(id, RenderPlan(nodes), schema(nodes[-1].types))


def subscribe(
    id: GlobalId,
    on: GlobalId,
    *,
    connection: SinkConnection | None = None,
    with_snapshot: bool = True,
    up_to: Frontier = None,
) -> SinkExport:
    return SinkExport(id, on, connection or Subscribe(), with_snapshot, up_to)


def describe(
    *,
    sources: Iterable[SourceImport] = (),
    imports: Iterable[IndexImport] = (),
    objects: Iterable[BuildDesc[RenderPlan]] = (),
    indexes: Iterable[IndexExport] = (),
    sinks: Iterable[SinkExport] = (),
    as_of: int = 0,
    until: Frontier = None,
) -> RenderDataflow:
    return RenderDataflow(
        "test", tuple(sources), tuple(imports), tuple(objects), tuple(indexes), tuple(sinks), as_of, until
    )


def chunk(types: Sequence[ColumnType], lower: int, upper: Frontier, updates: Iterable[Update]) -> Chunk:
    """A chunk of these updates."""
    return Chunk(lower, upper, updates_of(types, updates))


def updates_of(types: Sequence[ColumnType], updates: Iterable[Update]) -> Updates | None:
    listed = list(updates)
    if not listed:
        return None
    import numpy as np

    columns = tuple(column_from_values([row[i] for row, _, _ in listed], t.type) for i, t in enumerate(types))
    times = np.array([time for _, time, _ in listed], np.int64)
    return Updates(columns, times, np.array([diff for _, _, diff in listed], np.int64))


class Workers:
    """The workers of one dataflow, with the messages between them moved by hand.

    Args:
        fuel: of every step.
    """

    def __init__(
        self,
        description: RenderDataflow,
        peers: int = 1,
        traces: Sequence[Mapping[GlobalId, Trace]] | None = None,
        *,
        fuel: int | None = None,
    ) -> None:
        self.description = description
        self.fuel = fuel
        self.peers = peers
        given = traces if traces is not None else [{} for _ in range(peers)]
        self.dataflows = [Dataflow(description, traces=given[w], worker=w, peers=peers) for w in range(peers)]
        self.traces = [{**given[w], **self.dataflows[w].indexes} for w in range(peers)]
        self._streams: dict[GlobalId, list[Update]] = {}

    def feed(
        self, source: GlobalId, types: Sequence[ColumnType], lower: int, upper: Frontier, updates: Iterable[Update]
    ) -> None:
        """Cut the updates among the workers, round robin: so related rows begin on different workers."""
        listed = list(updates)
        for worker in range(self.peers):
            self.feed_worker(worker, source, types, lower, upper, listed[worker :: self.peers])

    def feed_worker(
        self,
        worker: int,
        source: GlobalId,
        types: Sequence[ColumnType],
        lower: int,
        upper: Frontier,
        updates: Iterable[Update],
    ) -> None:
        self.dataflows[worker].feed(source, chunk(types, lower, upper, updates))

    def run(self) -> None:
        """Until nothing is ready and nothing is on its way."""
        while self.advance():
            pass

    def advance(self, steps: int | None = None) -> bool:
        """Let every worker do what is ready, or only so many steps of it; whether there was something to do."""
        busy = False
        for worker, dataflow in enumerate(self.dataflows):
            for _ in itertools.repeat(None) if steps is None else range(steps):
                if not dataflow.step(self.fuel):
                    break
                busy = True
            sent, dataflow.outbox[:] = list(dataflow.outbox), []
            for peer, channel, part in sent:
                busy = True
                self.dataflows[peer].receive(channel, worker, part)
        return busy

    def upper(self, export: GlobalId) -> Frontier:
        uppers = {dataflow.upper(export) for dataflow in self.dataflows}
        assert len(uppers) == 1, uppers
        return uppers.pop()

    def index(self, id: GlobalId, time: int) -> Counter[Row]:
        """The rows of an index at a time, over all workers, by a scan in small steps."""
        rows: Counter[Row] = Counter()
        for worker in self.traces:
            rows += scan(worker[id].snapshot(), time)
        return rows

    def errors(self, id: GlobalId, time: int) -> list[str]:
        found = [worker[id].snapshot().error_at(time) for worker in self.traces]
        return [message for message in found if message is not None]

    def stream(self, sink: GlobalId) -> list[Update]:
        """Everything that a sink has shown, checked to be contiguous."""
        shown = self._streams.setdefault(sink, [])
        for dataflow in self.dataflows:
            queue = dataflow.sinks[sink]
            while queue.chunks:
                chunk = queue.chunks.popleft()
                if chunk.oks is not None:
                    shown += chunk.oks.to_tuples()
                    assert all(
                        chunk.lower <= t and (chunk.upper is None or t < chunk.upper)
                        for _, t, _ in chunk.oks.to_tuples()
                    )
        return shown


def scan(snapshot: Snapshot, time: int, fuel: int = 3) -> Counter[Row]:
    """The rows of a snapshot at a time, each of which must come in one piece."""
    rows: Counter[Row] = Counter()
    reading = snapshot.scan(time)
    while not reading.done:
        step = reading.step(fuel)
        if step is not None:
            for row, _, diff in step.to_tuples():
                assert row not in rows and diff > 0
                rows[row] += diff
    return rows


def at(updates: Iterable[Update], time: int) -> Counter[Row]:
    """The multiset at a time; multiplicities of zero are left out, negative ones are not."""
    rows: Counter[Row] = Counter()
    for row, t, diff in updates:
        if t <= time:
            rows[row] += diff
    return Counter({row: n for row, n in rows.items() if n})


def joined(left: Counter[Row], right: Counter[Row], on: Sequence[tuple[int, int]]) -> Counter[Row]:
    """The rows of both with equal values at these pairs of positions; None equals nothing."""
    result: Counter[Row] = Counter()
    for a, n in left.items():
        for b, m in right.items():
            if all(a[i] is not None and a[i] == b[j] for i, j in on):
                result[a + b] += n * m
    return Counter({row: n for row, n in result.items() if n})
