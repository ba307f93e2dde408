"""``docs/metrics.md`` lists every metric as it is."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from pillion.actors import ActorSystem
from pillion.actors.metrics.exposition import SystemCollector
from pillion.actors.metrics.system import SystemMetrics

DOCUMENT = Path(__file__).parents[3] / "docs" / "metrics.md"


def documented() -> list[list[str]]:
    """Name, type, labels and description of each metric."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `pillion_")]


def test_the_table_has_every_metric_and_no_other() -> None:
    metrics = SystemCollector(SystemMetrics()).collect()
    suffix = {"counter": "_total"}
    expected = [(f"`{m.name}{suffix.get(m.type, '')}`", m.type, m.documentation) for m in metrics]
    assert [(name, kind, description) for name, kind, _, description in documented()] == expected


def test_the_labels_are_those_that_are_documented() -> None:
    allowed = {name.strip("`").removesuffix("_total"): set(labels.split(", ")) for name, _, labels, _ in documented()}
    with ActorSystem(2) as system:
        system.create_index(system.create_table("orders", {"id": int}), wait=True)
        text = system.metrics()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert set(sample.labels) - {"le"} <= allowed[family.name], sample
