"""What a worker tells of itself and of the worker of the other runtime with its index."""

from __future__ import annotations

import pytest

from pillion.actors.introspection.relations import ACTIVE_PEEKS, DURATIONS, RELATIONS, WORKERS
from pillion.actors.introspection.rows import ROWS, Rows
from pillion.actors.metrics.system import SystemMetrics
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.state import ComputeState, PeekState, PendingPeek
from pillion.messages.commands import IndexTarget, Peek
from pillion.messages.ids import GlobalId
from pillion.messages.types import Schema

INDEX = GlobalId("u", 1)


class Process:
    """Two workers of each runtime."""

    def __init__(self, *placements: Placement) -> None:
        self.metrics = SystemMetrics()
        self.states: dict[tuple[Placement, int], ComputeState] = {}
        for placement in placements:
            self.metrics.peeks(placement)
            for worker in range(2):
                state = self.states[placement, worker] = ComputeState(worker, placement)
                self.metrics.add_worker(state)

    def rows(self, relation: str, *placements: Placement) -> Rows:
        """What all workers of these runtimes tell."""
        return [
            row for (of, _), s in self.states.items() if of in placements for row in ROWS[relation](s, self.metrics)
        ]


@pytest.fixture
def both() -> Process:
    return Process(Placement.MAINTENANCE, Placement.INTERACTIVE)


def test_every_relation_has_rows_that_fit_it(both: Process) -> None:
    assert set(ROWS) == set(RELATIONS)
    both.metrics.workers[0].figures.steps.add(0.1)
    for name, relation in RELATIONS.items():
        for row in both.rows(name, Placement.MAINTENANCE):
            assert len(row) == len(relation.schema.fields)
            assert all(
                value is not None or field.nullable for value, field in zip(row, relation.schema.fields, strict=True)
            )


def test_the_maintenance_runtime_tells_of_the_workers_of_both(both: Process) -> None:
    shown = both.rows(WORKERS.name, Placement.MAINTENANCE)
    assert sorted(row[:2] for row in shown) == [(0, None), (1, None), (2, "interactive"), (3, "interactive")]


def test_the_only_runtime_tells_of_itself() -> None:
    process = Process(Placement.SOLO)
    assert [row[:2] for row in process.rows(WORKERS.name, Placement.SOLO)] == [(0, None), (1, None)]


def test_peeks_of_the_interactive_runtime_are_shown(both: Process) -> None:
    state = both.states[Placement.INTERACTIVE, 1]
    state.peeks["p"] = PendingPeek(Peek("p", IndexTarget(INDEX), 7, Schema(())), PeekState.QUEUED)
    assert both.rows(ACTIVE_PEEKS.name, Placement.MAINTENANCE) == [("p", 3, "u1", 7, "queued")]
    (row,) = [row for row in both.rows(WORKERS.name, Placement.MAINTENANCE) if row[0] == 3]
    assert dict(zip([f.name for f in WORKERS.schema.fields], row, strict=True))["queued_peeks"] == 1


def test_durations_are_told_once_for_the_process(both: Process) -> None:
    for state in both.states.values():
        state.figures.steps.add(0.0002)
    both.metrics.peeks(Placement.INTERACTIVE).answered(total=20.5, service=0.5)
    assert sorted(both.rows(DURATIONS.name, Placement.MAINTENANCE), key=repr) == sorted(
        [
            ("step", None, 0.00025, 2),
            ("step", "interactive", 0.00025, 2),
            ("peek queue", "interactive", None, 1),
            ("peek service", "interactive", 0.5, 1),
        ],
        key=repr,
    )
