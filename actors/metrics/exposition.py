"""Metrics in the form of Prometheus.

Series of the interactive runtime have the label ``runtime="interactive"``; those of the maintenance runtime, or of the
only one, have no such label, so that a second runtime renames none of the series that were there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from ..process.memory import Memory
from ..worker.placement import Placement
from ..worker.state import ComputeState, PeekState
from .durations import BOUNDS, Durations, together
from .gaps import compaction_gaps
from .system import SystemMetrics

Labels = dict[str, str]


def runtime_label(placement: Placement) -> Labels:
    """What tells the series of one runtime from those of the other."""
    return {"runtime": "interactive"} if placement is Placement.INTERACTIVE else {}


def exposition(metrics: SystemMetrics) -> str:
    """All metrics as text (version 0.0.4 of the format, which every Prometheus reads).

    Takes a moment of every number, not one moment of all.
    """
    registry = CollectorRegistry()
    registry.register(SystemCollector(metrics))
    return generate_latest(registry).decode()


class SystemCollector(Collector):
    """Gives a system's figures to a registry whenever that is scraped."""

    def __init__(self, metrics: SystemMetrics) -> None:
        self._metrics = metrics

    def describe(self) -> Iterable[Metric]:
        """The names alone, for a registry that looks for duplicates."""
        return [Metric(metric.name, metric.documentation, metric.type) for metric in self.collect()]

    def collect(self) -> Iterator[Metric]:
        yield self._steps()
        yield from self._peeks()
        yield self._lookups()
        yield from self._workers()
        yield from self._indexes()
        yield self._gaps()
        yield self._mailboxes()
        yield self._memory()

    def _steps(self) -> Metric:
        metric = Metric("pillion_step_seconds", "Steps of dataflows, with telling what came of them.", "histogram")
        for placement in Placement:
            workers = self._metrics.runtime(placement)
            if workers:
                _histogram(metric, runtime_label(placement), together([state.figures.steps for state in workers]))
        return metric

    def _peeks(self) -> Iterator[Metric]:
        queue = Metric(
            "pillion_peek_queue_seconds",
            "How long peeks waited: for a worker to hear of them, for their index to be sealed, and for their turn.",
            "histogram",
        )
        service = Metric("pillion_peek_service_seconds", "How long peeks were worked on.", "histogram")
        for placement, figures in self._metrics.peeks_of.copy().items():
            _histogram(queue, runtime_label(placement), figures.queue)
            _histogram(service, runtime_label(placement), figures.service)
        yield queue
        yield service

    def _lookups(self) -> Metric:
        metric = Metric("pillion_lookups", "Lookups that threads of the application answered themselves.", "counter")
        _number(metric, {}, self._metrics.lookups.total, "_total")
        return metric

    def _workers(self) -> Iterator[Metric]:
        peeks = Metric("pillion_peeks", "Peeks that are not answered yet, by what they wait for.", "gauge")
        dataflows = Metric("pillion_dataflows", "Dataflows that are rendered.", "gauge")
        ready = Metric("pillion_dataflows_ready", "Dataflows that may have work, and wait for their turn.", "gauge")
        for state in self._metrics.workers:
            labels = _worker_labels(state)
            pending = [peek.state for peek in list(state.peeks.values())]
            for kind in PeekState:
                _number(peeks, labels | {"state": str(kind)}, pending.count(kind))
            _number(dataflows, labels, sum(number >= 0 for number in list(state.dataflows)))
            _number(ready, labels, len(state.ready))
        yield from (peeks, dataflows, ready)

    def _indexes(self) -> Iterator[Metric]:
        merges = Metric("pillion_index_merges", "Merges of batches that were completed.", "counter")
        published = Metric("pillion_index_publications", "States that were published to other threads.", "counter")
        for state in self._metrics.workers:
            for id, collection in list(state.collections.items()):
                trace = state.traces.get(id)
                if trace is None or collection.running.is_logging:
                    continue
                labels = _worker_labels(state) | {"collection": str(id)}
                _number(merges, labels, trace.arrangement.merges, "_total")
                _number(published, labels, trace.arrangement.published, "_total")
        yield from (merges, published)

    def _gaps(self) -> Metric:
        metric = Metric(
            "pillion_compaction_gap",
            "Timestamps by which the interactive runtime holds back what the maintenance runtime may compact.",
            "gauge",
        )
        for gap in compaction_gaps(self._metrics):
            _number(metric, {"collection": str(gap.id), "worker": str(gap.worker)}, gap.timestamps)
        return metric

    def _mailboxes(self) -> Metric:
        metric = Metric("pillion_mailbox_depth", "Messages that wait in a lane, a thread's queue.", "gauge")
        for lane, depth in self._metrics.mailbox_depths().items():
            _number(metric, {"lane": lane}, depth)
        return metric

    def _memory(self) -> Metric:
        metric = Metric(
            "pillion_resident_bytes", "Memory that the process has, as far as the platform says it.", "gauge"
        )
        resident = Memory().resident
        if resident is not None:
            _number(metric, {}, resident)
        return metric


def _worker_labels(state: ComputeState) -> Labels:
    return {"worker": str(state.worker)} | runtime_label(state.placement)


def _number(metric: Metric, labels: Labels, value: float, suffix: str = "") -> None:
    metric.samples.append(Sample(metric.name + suffix, labels, value))


def _histogram(metric: Metric, labels: Labels, durations: Durations) -> None:
    counts = list(accumulate(durations.counts))
    for bound, count in zip((*map(repr, BOUNDS), "+Inf"), counts, strict=True):
        _number(metric, labels | {"le": bound}, count, "_bucket")
    _number(metric, labels, counts[-1], "_count")
    _number(metric, labels, durations.seconds, "_sum")
