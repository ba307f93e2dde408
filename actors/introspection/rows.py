"""The rows of each introspection relation, from a worker's state. What introspects is not shown itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...messages.scalars import Value
from ..worker.state import ComputeState, RunningDataflow
from .relations import ACTIVE_PEEKS, ARRANGEMENT_SIZES, DATAFLOWS, FRONTIERS, HYDRATION

Rows = list[tuple[Value, ...]]


def _dataflows(state: ComputeState) -> Rows:
    return [
        (
            running.number,
            state.worker,
            running.description.debug_name,
            " ".join(str(id) for id in running.exports),
            str(running.description.dataflow_class),
            running.description.as_of,
            running.scheduled_at is not None,
        )
        for running in _shown(state)
    ]


def _frontiers(state: ComputeState) -> Rows:
    rows: Rows = []
    for running in _shown(state):
        input = running.dataflow.input_upper()
        for id, collection in running.exports.items():
            output = running.dataflow.upper(id)
            write = output if collection.sink is None else collection.sink.write_frontier
            rows.append((str(id), state.worker, collection.compaction, write, input, output))
    return rows


def _hydration(state: ComputeState) -> Rows:
    return [
        (str(id), state.worker, running.hydrated_after is not None, running.scheduled_at, running.hydrated_after)
        for running in _shown(state)
        for id in running.exports
    ]


def _arrangement_sizes(state: ComputeState) -> Rows:
    return [
        (str(id), state.worker, *state.traces[id].sizes())
        for running in _shown(state)
        for id, collection in running.exports.items()
        if collection.sink is None
    ]


def _active_peeks(state: ComputeState) -> Rows:
    return [
        (uuid, state.worker, str(pending.peek.target.id), pending.peek.timestamp, str(pending.state))
        for uuid, pending in state.peeks.items()
    ]


def _shown(state: ComputeState) -> Iterator[RunningDataflow]:
    return (running for running in state.dataflows.values() if not running.is_logging)


ROWS: dict[str, Callable[[ComputeState], Rows]] = {
    DATAFLOWS.name: _dataflows,
    FRONTIERS.name: _frontiers,
    HYDRATION.name: _hydration,
    ARRANGEMENT_SIZES.name: _arrangement_sizes,
    ACTIVE_PEEKS.name: _active_peeks,
}
