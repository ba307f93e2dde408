"""Keeps the introspection relations: what a worker tells of itself, as indexes like any other.

Time stands still in these relations until somebody asks: a read at a time that is not sealed yet records the present
state as the state from then on, and seals the time. Reading at an index' write frontier hence gives a fresh answer,
and reading at an earlier time the answer that was given then. A relation costs nothing while nobody reads it.

Where another runtime answers the reads, a worker that is busy for long cannot record when it is asked. So it also
records of its own accord: before and between pieces of work that take long, which the cost of recording is little of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from ...dataflow.arrangements.updates import Chunk, Updates, uniform
from ...dataflow.columns.column import column_from_values
from ...messages.commands import InstanceConfig
from ...messages.dataflows import DataflowClass, IndexExport, RenderDataflow, SourceImport
from ...messages.errors import ProtocolError
from ...messages.frontiers import MINIMUM, Timestamp
from ...messages.ids import GlobalId
from ...messages.scalars import Value
from ..metrics.system import SystemMetrics
from ..settings import INTROSPECTION_PATIENCE
from ..worker.placement import Placement
from ..worker.state import ComputeState, RunningDataflow
from .relations import RELATIONS, IntrospectionRelation
from .rows import ROWS

Row = tuple[Value, ...]

_INTERVAL = 0.05
"""Seconds: a worker records no more often of its own accord."""
_SHARE = 50
"""Nor so often that it takes a greater part of its time than one in so many."""
_PATIENT = 1.0
"""Seconds: readers who wait for so long get the present state, and need no record from before; it would seal a time
that a protocol script has not read yet."""


class Introspection:
    """The indexes on introspection relations of one worker.

    Args:
        keep: renders a dataflow under a number; or records it, when the other runtime of the process renders it.
        run: runs a dataflow at once, before all others.
        now: seconds of the system's clock.
        metrics: what the workers of the process measure.
    """

    def __init__(
        self,
        state: ComputeState,
        keep: Callable[[int, RenderDataflow], RunningDataflow | None],
        run: Callable[[RunningDataflow], None],
        now: Callable[[], float],
        metrics: SystemMetrics,
    ) -> None:
        self._state = state
        self._keep = keep
        self._run = run
        self._now = now
        self._metrics = metrics
        self._logs: list[_Log] = []
        self._not_before = now()
        self.indexes: set[GlobalId] = set()
        """The ids under which the relations are readable."""

    def create(self, config: InstanceConfig) -> None:
        """Export the relations that the configuration names.

        Raises:
            ProtocolError: there is no such relation, or its index id is taken.
        """
        ids = [logging.index for logging in config.logging]
        for logging in config.logging:
            if logging.relation not in RELATIONS:
                known = ", ".join(RELATIONS)
                raise ProtocolError(
                    f"there is no introspection relation {logging.relation!r}; there are {known}", logging.index
                )
            taken = logging.index in self._state.collections or logging.index in self._state.peers
            if taken or ids.count(logging.index) > 1:
                raise ProtocolError("an export with this id exists already", logging.index)
        self._state.config = config
        for position, logging in enumerate(config.logging):
            relation = RELATIONS[logging.relation]
            # Creations are numbered from 0 and -1 stands for none.
            running = self._keep(-2 - position, _description(relation, logging.index))
            self.indexes.add(logging.index)
            if running is not None:
                # It runs from the beginning, and nobody but this log feeds it.
                running.scheduled_at = self._now()
                log = _Log(relation, running)
                # There is nothing yet, and the relation says so.
                log.recorded(self._now())
                self._logs.append(log)

    def advance(self, time: Timestamp) -> None:
        """Seal every relation through ``time``."""
        # Those that were dropped and are read no more are not kept.
        self._logs = [log for log in self._logs if log.running.number in self._state.dataflows]
        for log in self._logs:
            if time >= log.upper:
                # Before anybody can see the record: an age that is a moment too short misleads nobody who still waits.
                log.recorded(self._now())
                log.record(ROWS[log.relation.name](self._state, self._metrics), time)
                self._run(log.running)

    def expect_long_work(self) -> None:
        """The worker will not listen for a while: readers elsewhere get the state as it is before that."""
        now = self._now()
        if (
            self._state.placement is not Placement.MAINTENANCE
            or self._state.settings.get(INTROSPECTION_PATIENCE) > _PATIENT
        ):
            return
        if self._logs and now >= self._not_before:
            self.advance(max([log.upper for log in self._logs]))
            spent = self._now() - now
            self._not_before = now + max(_INTERVAL, _SHARE * spent)


class _Log:
    """One relation, and what was recorded in it last."""

    __slots__ = ("_rows", "relation", "running", "upper")

    def __init__(self, relation: IntrospectionRelation, running: RunningDataflow) -> None:
        self.relation = relation
        self.running = running
        self.upper: Timestamp = MINIMUM
        self._rows: Counter[Row] = Counter()

    def recorded(self, now: float) -> None:
        """Say when the rows were recorded, to readers elsewhere."""
        for trace in self.running.dataflow.indexes.values():
            if trace.publication is not None:
                trace.publication.recorded_at = now

    def record(self, rows: list[Row], time: Timestamp) -> None:
        """These are the rows from ``time`` on."""
        present = Counter(rows)
        changes = {row: present[row] - self._rows[row] for row in present.keys() | self._rows.keys()}
        changed = [(row, diff) for row, diff in changes.items() if diff]
        oks = self._updates(changed, time) if changed else None
        self.running.dataflow.feed(self.relation.source, Chunk(self.upper, time + 1, oks))
        self.upper = time + 1
        self._rows = present

    def _updates(self, changed: list[tuple[Row, int]], time: Timestamp) -> Updates:
        fields = self.relation.schema.fields
        columns = [column_from_values([row[i] for row, _ in changed], field.type) for i, field in enumerate(fields)]
        diffs = np.array([diff for _, diff in changed], np.int64)
        return Updates(tuple(columns), uniform(time, len(changed)), diffs)


def _description(relation: IntrospectionRelation, index: GlobalId) -> RenderDataflow:
    return RenderDataflow(
        debug_name=f"introspection {relation.name}",
        source_imports=(SourceImport(relation.source, relation.source, relation.schema),),
        index_imports=(),
        objects_to_build=(),
        index_exports=(IndexExport(index, relation.source, relation.key_expressions),),
        sink_exports=(),
        as_of=MINIMUM,
        dataflow_class=DataflowClass.MAINTAINED,
    )
