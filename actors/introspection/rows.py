"""The rows of each introspection relation, from a worker's state. What introspects is not shown itself.

A worker of the maintenance runtime also tells of the worker with its index of the interactive one. That one works
meanwhile, on another thread: what is read of it is a number, or a list of what there is, which is taken at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ...messages.scalars import Value
from ..metrics.durations import BOUNDS, together
from ..metrics.gaps import compaction_gaps
from ..metrics.system import SystemMetrics
from ..worker.placement import Placement
from ..worker.state import ComputeState, PeekState, RunningDataflow
from .relations import (
    ACTIVE_PEEKS,
    ARRANGEMENT_SIZES,
    COMPACTION_GAPS,
    DATAFLOWS,
    DURATIONS,
    FRONTIERS,
    HYDRATION,
    WORKERS,
)

Rows = list[tuple[Value, ...]]


def _dataflows(worker: int, state: ComputeState) -> Rows:
    return [
        (
            running.number,
            worker,
            running.description.debug_name,
            " ".join([str(id) for id in list(running.exports)]),
            str(running.description.dataflow_class),
            running.description.as_of,
            running.scheduled_at is not None,
        )
        for running in _shown(state)
    ]


def _frontiers(state: ComputeState, metrics: SystemMetrics) -> Rows:
    rows: Rows = []
    for running in _shown(state):
        input = running.dataflow.input_upper()
        for id, collection in running.exports.items():
            output = running.dataflow.upper(id)
            write = output if collection.sink is None else collection.sink.write_frontier
            rows.append((str(id), state.worker, collection.compaction, write, input, output))
    return rows


def _hydration(worker: int, state: ComputeState) -> Rows:
    return [
        (str(id), worker, running.hydrated_after is not None, running.scheduled_at, running.hydrated_after)
        for running in _shown(state)
        for id in list(running.exports)
    ]


def _arrangement_sizes(state: ComputeState, metrics: SystemMetrics) -> Rows:
    return [
        (str(id), state.worker, *state.traces[id].sizes())
        for running in _shown(state)
        for id, collection in running.exports.items()
        if collection.sink is None
    ]


def _active_peeks(worker: int, state: ComputeState) -> Rows:
    return [
        (uuid, worker, str(pending.peek.target.id), pending.peek.timestamp, str(pending.state))
        for uuid, pending in list(state.peeks.items())
    ]


def _workers(worker: int, state: ComputeState) -> Rows:
    peeks = [pending.state for pending in list(state.peeks.values())]
    traces = [state.traces.get(id) for running in _shown(state) for id in list(running.exports)]
    arrangements = [trace.arrangement for trace in traces if trace is not None]
    steps = state.figures.steps
    return [
        (
            worker,
            _runtime(state.placement),
            len(_shown(state)),
            len(state.ready),
            peeks.count(PeekState.QUEUED),
            peeks.count(PeekState.SCANNING),
            steps.count,
            steps.seconds,
            sum([arrangement.merges for arrangement in arrangements]),
            sum([arrangement.published for arrangement in arrangements]),
        )
    ]


def _durations(state: ComputeState, metrics: SystemMetrics) -> Rows:
    """Of the whole process; one worker tells."""
    if state.worker:
        return []
    histograms = [
        ("step", placement, together([worker.figures.steps for worker in metrics.runtime(placement)]))
        for placement in Placement
    ]
    for placement, figures in metrics.peeks_of.copy().items():
        histograms += [("peek queue", placement, figures.queue), ("peek service", placement, figures.service)]
    return [
        (what, _runtime(placement), at_most, count)
        for what, placement, durations in histograms
        for at_most, count in zip((*BOUNDS, None), durations.counts, strict=True)
        if count
    ]


def _compaction_gaps(state: ComputeState, metrics: SystemMetrics) -> Rows:
    return [
        (str(gap.id), gap.worker, gap.maintenance, gap.interactive, gap.timestamps)
        for gap in compaction_gaps(metrics)
        if gap.worker == state.worker
    ]


def _shown(state: ComputeState) -> list[RunningDataflow]:
    return [running for running in list(state.dataflows.values()) if not running.is_logging]


def _runtime(placement: Placement) -> str | None:
    return "interactive" if placement is Placement.INTERACTIVE else None


def _of_both(rows: Callable[[int, ComputeState], Rows]) -> Callable[[ComputeState, SystemMetrics], Rows]:
    """The rows of a worker, and of the one with its index in the interactive runtime."""

    def together(state: ComputeState, metrics: SystemMetrics) -> Rows:
        found = rows(state.worker, state)
        if state.placement is Placement.MAINTENANCE:
            workers = len(metrics.runtime(Placement.MAINTENANCE))
            for other in metrics.runtime(Placement.INTERACTIVE):
                if other.worker == state.worker:
                    found += rows(workers + other.worker, other)
        return found

    return together


ROWS: dict[str, Callable[[ComputeState, SystemMetrics], Rows]] = {
    DATAFLOWS.name: _of_both(_dataflows),
    FRONTIERS.name: _frontiers,
    HYDRATION.name: _of_both(_hydration),
    ARRANGEMENT_SIZES.name: _arrangement_sizes,
    ACTIVE_PEEKS.name: _of_both(_active_peeks),
    WORKERS.name: _of_both(_workers),
    DURATIONS.name: _durations,
    COMPACTION_GAPS.name: _compaction_gaps,
}
"""By the name of the relation: the rows that a worker tells, from its state and from what its process measures."""
