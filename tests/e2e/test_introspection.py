"""What the runtimes say about themselves, as relations."""

from __future__ import annotations

from typing import Any

from pillion.actors import ActorSystem, col


def workers_of(system: ActorSystem) -> list[dict[str, Any]]:
    system.configure(introspection_patience_seconds=60)  # a fresh answer, however busy the machine is
    rows = system.query(system.introspection.workers, order_by="worker").to_arrow().to_pylist()
    return [dict(row) for row in rows]


def test_every_worker_of_every_runtime_is_shown(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int}, key="id")
    index = system.create_index(orders, wait=True)
    for number in range(100):
        orders.insert((number,))
        index.peek()
    workers = workers_of(system)
    assert [worker["worker"] for worker in workers] == list(range(len(workers)))
    maintaining = [worker for worker in workers if worker["runtime"] is None]
    reading = [worker for worker in workers if worker["runtime"] == "interactive"]
    assert maintaining + reading == workers
    assert len(reading) in (0, len(maintaining))
    for worker in maintaining:
        assert worker["dataflows"] == 1
        assert worker["steps"] > 0 and worker["step_seconds"] > 0
        assert worker["publications"] > 0 or not reading
    assert sum(worker["merges"] for worker in maintaining) > 0
    assert all(worker["merges"] == worker["publications"] == 0 for worker in reading)


def test_durations_by_runtime(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders, wait=True)
    orders.insert([(1,), (2,)])
    for _ in range(5):
        index.peek()
    system.configure(introspection_patience_seconds=60)
    durations = system.query(system.introspection.durations).to_arrow().to_pylist()
    interactive = any(worker["runtime"] for worker in workers_of(system))
    peeks = [row for row in durations if row["what"] == "peek service"]
    assert {row["runtime"] for row in peeks} == {"interactive" if interactive else None}
    assert sum(row["count"] for row in peeks) >= 5
    assert any(row["what"] == "step" and row["runtime"] is None for row in durations)


def test_compaction_gaps_are_of_what_both_runtimes_have(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders, wait=True)
    system.configure(introspection_patience_seconds=60)
    gaps = system.query(system.introspection.compaction_gaps.filter(col("id") == str(index.id))).to_arrow().to_pylist()
    workers = workers_of(system)
    if not any(worker["runtime"] for worker in workers):
        assert gaps == []
        return
    assert sorted(gap["worker"] for gap in gaps) == list(range(len(workers) // 2))
    for gap in gaps:
        assert gap["gap"] == max(0, gap["maintenance"] - gap["interactive"])
