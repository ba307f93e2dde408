"""The text that Prometheus reads."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.metrics.exposition import SystemCollector, exposition
from pillion.actors.metrics.system import SystemMetrics
from pillion.actors.storage.storage import Storage
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.state import ComputeState, PeekState, PendingPeek
from pillion.messages.commands import IndexTarget, Peek
from pillion.messages.ids import GlobalId
from pillion.messages.types import Schema

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(metrics: SystemMetrics) -> Series:
    """Every sample by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(exposition(metrics))
        for sample in family.samples
    }


def value(series: Series, name: str, **labels: str) -> float:
    return series[name, frozenset(labels.items())]


def system(*placements: Placement, workers: int = 1) -> SystemMetrics:
    metrics = SystemMetrics()
    for placement in placements:
        metrics.peeks(placement)
        for worker in range(workers):
            metrics.add_worker(ComputeState(worker, placement))
    return metrics


def test_a_histogram_is_cumulative_and_sums_the_workers_of_a_runtime() -> None:
    metrics = system(Placement.SOLO, workers=2)
    for state, seconds in zip(metrics.workers, (0.00001, 0.3), strict=True):
        state.figures.steps.add(seconds)
    series = parsed(metrics)
    assert [value(series, "pillion_step_seconds_bucket", le=le) for le in ("1e-05", "0.25", "0.5", "+Inf")] == [
        1,
        1,
        2,
        2,
    ]
    assert value(series, "pillion_step_seconds_count") == 2
    assert value(series, "pillion_step_seconds_sum") == pytest.approx(0.30001)


def test_a_second_runtime_renames_no_series() -> None:
    alone = set(parsed(system(Placement.SOLO)))
    both = set(parsed(system(Placement.MAINTENANCE, Placement.INTERACTIVE)))
    assert alone < both
    added = {labels for _, labels in both - alone}
    assert added and all(("runtime", "interactive") in labels for labels in added)


def test_peeks_by_what_they_wait_for() -> None:
    metrics = system(Placement.MAINTENANCE, Placement.INTERACTIVE)
    interactive = metrics.runtime(Placement.INTERACTIVE)[0]
    for number, kind in enumerate((PeekState.QUEUED, PeekState.QUEUED, PeekState.SCANNING)):
        peek = Peek(str(number), IndexTarget(GlobalId("u", 1)), 5, Schema(()))
        interactive.peeks[peek.uuid] = PendingPeek(peek, kind)
    series = parsed(metrics)
    labels = {"worker": "0", "runtime": "interactive"}
    assert value(series, "pillion_peeks", state="queued", **labels) == 2
    assert value(series, "pillion_peeks", state="scanning", **labels) == 1
    assert value(series, "pillion_peeks", state="queued", worker="0") == 0


def test_how_long_the_peeks_of_each_runtime_took() -> None:
    metrics = system(Placement.MAINTENANCE, Placement.INTERACTIVE)
    metrics.peeks(Placement.INTERACTIVE).answered(total=0.5, service=0.2)
    series = parsed(metrics)
    assert value(series, "pillion_peek_queue_seconds_sum", runtime="interactive") == pytest.approx(0.3)
    assert value(series, "pillion_peek_service_seconds_sum", runtime="interactive") == pytest.approx(0.2)
    assert value(series, "pillion_peek_service_seconds_count") == 0


def test_mailboxes_of_a_simulation() -> None:
    dispatcher = SimulatedDispatcher()
    storage = dispatcher.start(Storage)
    metrics = SystemMetrics(dispatcher)
    assert value(parsed(metrics), "pillion_mailbox_depth", lane="storage-0") == 0
    storage.tell(object())
    assert value(parsed(metrics), "pillion_mailbox_depth", lane="storage-0") == 1
    dispatcher.stop()


def test_an_application_may_show_it_among_its_own_metrics() -> None:
    registry = CollectorRegistry(auto_describe=True)
    registry.register(SystemCollector(system(Placement.SOLO)))
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        registry.register(SystemCollector(system(Placement.SOLO)))
