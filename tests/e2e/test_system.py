"""The life of a system: starting, stopping, failing; names; many threads; introspection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from pillion.actors import (
    ActorSystem,
    DuplicateName,
    Index,
    MaterializedView,
    PillionError,
    RelationError,
    StillUsed,
    SystemFailed,
    SystemStopped,
    Table,
    View,
    col,
    count,
    sum,
    udf,
    values,
)


def test_starting_and_stopping_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    system = ActorSystem(workers=3)
    assert set(threading.enumerate()) > before
    system.stop()
    system.stop()
    assert set(threading.enumerate()) == before


def test_what_is_asked_of_a_stopped_system_is_refused() -> None:
    with ActorSystem() as system:
        orders = system.create_table("orders", {"id": int}, key="id")
        index = system.create_index(orders)
        subscription = system.subscribe(orders)
    attempts: list[Callable[[], Any]] = [
        lambda: system.create_table("t", {"a": int}),
        lambda: orders.insert((1,)),
        lambda: index.lookup(1),
        lambda: system.query(orders),
        lambda: system.collections(),
        lambda: system.subscribe(orders),
        lambda: list(subscription),
    ]
    for attempt in attempts:
        with pytest.raises(SystemStopped):
            attempt()
    subscription.close()


def test_stopping_refuses_what_is_outstanding() -> None:
    system = ActorSystem()
    orders = system.create_table("orders", {"id": int})
    subscription = system.subscribe(orders)
    next(subscription)
    outcome: list[BaseException] = []

    def follow() -> None:
        try:
            next(subscription)
        except BaseException as error:
            outcome.append(error)

    follower = threading.Thread(target=follow)
    follower.start()
    system.stop()
    follower.join()
    assert isinstance(outcome[0], SystemStopped)


def test_a_worker_that_crashes_fails_the_system_and_not_the_application() -> None:
    before = set(threading.enumerate())

    @udf("bigint")
    def crash(value: int) -> int:
        raise SystemExit("no ordinary exception")

    with ActorSystem(workers=2) as system:
        orders = system.create_table("orders", {"id": int})
        other = system.create_index(orders)
        index = system.create_index(orders.select(id=crash("id")), name="crashes")
        subscription = system.subscribe(orders)
        with system.transaction() as tx:
            tx.insert(orders, [(1,), (2,)])
        for attempt in (
            index.peek,
            lambda: list(subscription),
            other.peek,
            lambda: orders.insert((3,)),
            lambda: system.query(orders),
        ):
            with pytest.raises(SystemFailed, match="SystemExit: no ordinary exception") as raised:
                attempt()
            assert isinstance(raised.value.__cause__, SystemExit)
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("workers", [0, -1, True, "2", 1.5])
def test_a_number_of_workers_that_is_none(workers: Any) -> None:
    with pytest.raises(ValueError, match="from 1 to"):
        ActorSystem(workers=workers)


def test_names(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "region": str}, key="id")
    view = system.view("regions", orders.group_by("region").agg(count()))
    stored = system.materialized_view("stored", view)
    index = system.create_index(view, key="region")
    orders.insert([(1, "north"), (2, "north")])
    for handle, kind in ((orders, Table), (view, View), (stored, MaterializedView), (index, Index)):
        found = system[handle.name]
        assert type(found) is kind
        assert found.id == handle.id
    found = system.get("orders")
    assert isinstance(found, Table)
    assert found.key == ("id",)
    found.insert((3, "south"))
    by_name = system.get(index.name)
    assert isinstance(by_name, Index)
    assert by_name.lookup("north").one() == ("north", 2)
    with pytest.raises(KeyError, match="did you mean 'orders'"):
        system.get("order")
    with pytest.raises(DuplicateName):
        system.view("orders", view)


def test_dropping_what_others_use(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    view = system.view("view", orders.filter(col("id") > 1))
    index = system.create_index(view, name="index")
    with pytest.raises(StillUsed, match="'orders' is used by") as raised:
        system.drop(orders)
    assert "view" in raised.value.users
    orders.insert([(1,), (2,)])
    assert index.peek().rows() == [(2,)]
    system.drop("orders", cascade=True)
    names = {info.name for info in system.collections()}
    assert not names & {"orders", "view", "index"}
    assert system.create_table("orders", {"id": int}).insert((1,)).rows == 1


def test_an_index_on_a_relation_makes_a_view_of_it(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    first = system.create_index(orders.filter(col("id") > 1))
    second = system.create_index(orders.filter(col("id") > 2))
    orders.insert([(1,), (2,), (3,)])
    assert (len(first.peek()), len(second.peek())) == (2, 1)


def test_relations_of_constants(system: ActorSystem) -> None:
    codes = values({"code": "text", "name": "text"}, [("UA", "United"), ("AA", "American")])
    assert sorted(system.query(codes)) == [("AA", "American"), ("UA", "United")]
    flights = system.create_table("flights", {"code": "text"})
    index = system.create_index(flights.join(codes, on="code", how="left"), key="code", name="named")
    flights.insert([("UA",), ("XX",)])
    assert sorted(index.peek()) == [("UA", "United"), ("XX", None)]


def test_many_threads_write_and_read(system: ActorSystem) -> None:
    accounts = system.create_table("accounts", {"id": int, "cents": int}, key="id", history=20)
    accounts.insert([(id, 100) for id in range(10)])
    total = system.create_index(accounts.agg(count(), sum("cents")), name="total")
    failures: list[BaseException] = []

    def transfer(thread: int) -> None:
        for step in range(25):
            source, target = (thread + step) % 10, (thread + 3 * step + 1) % 10
            with system.transaction() as tx:
                tx.update(accounts, cents=col("cents") - 7, where=col("id") == source)
                tx.update(accounts, cents=col("cents") + 7, where=col("id") == target)

    def read() -> None:
        latest = 0
        for _ in range(25):
            result = total.peek()
            assert result.one() == (10, 1000)
            assert result.timestamp >= latest
            latest = result.timestamp

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        return run

    threads = [threading.Thread(target=guarded(lambda n=n: transfer(n))) for n in range(3)]
    threads += [threading.Thread(target=guarded(read)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert total.peek().one() == (10, 1000)


def test_introspection_can_be_read_joined_and_followed(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int}, key="id")
    index = system.create_index(orders, wait=True)
    orders.insert([(n,) for n in range(100)])
    index.peek()
    about = system.introspection
    assert {"frontiers", "dataflows", "hydration", "arrangement_sizes", "active_peeks"} <= set(about)
    frontiers = system.query(about.frontiers.filter(col("id") == str(index.id)))
    assert len(frontiers) >= 1
    sizes = about.arrangement_sizes.filter(col("id") == str(index.id)).agg(records=sum("records"))
    with system.subscribe(sizes) as changes:
        for batch in changes:
            if any(diff > 0 and row == (100,) for _, diff, row in batch):
                break
    with pytest.raises(AttributeError, match="did you mean 'frontiers'"):
        _ = about.frontier
    with pytest.raises(RelationError):
        system.query("orders")  # type: ignore[arg-type]


def test_explain(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "region": str}, key="id")
    computed = orders.group_by("region").agg(count()).explain()
    assert "Reduce group_by=[#1{region}]" in computed
    assert "Get u1 // orders" in computed
    system.create_index(orders, name="by_id")
    assert "Index by_id" in system.explain(orders.filter(col("id") == 5))
    assert "Constant" in values({"a": "bigint"}, [(1,)]).explain()


def test_settings(system: ActorSystem) -> None:
    system.configure(peek_scan_slice=10)
    orders = system.create_table("orders", {"id": int})
    orders.insert([(n,) for n in range(1000)])
    assert len(system.create_index(orders).peek()) == 1000


@pytest.mark.parametrize(
    ("attempt", "error", "says"),
    [
        (lambda s, o: s.create_table("", {"a": int}), RelationError, "takes a name"),
        (lambda s, o: s.view(None, o), RelationError, "takes a name"),
        (lambda s, o: s.materialized_view(5, o), RelationError, "takes a name"),
        (lambda s, o: s.create_index(o, name=""), RelationError, "takes a name"),
        (lambda s, o: s.create_table("t", {"a": int}, history=-1), RelationError, "history is a number"),
        (lambda s, o: s.create_index(o, history=1.5), RelationError, "history is a number"),
        (lambda s, o: s.create_table("t", {"a": int}, key=["a", "a"]), RelationError, "'a' twice"),
        (lambda s, o: s.create_index(o, ["id", "id"]), RelationError, "twice in its key"),
        (lambda s, o: s.create_index(o, []), RelationError, "key is empty"),
        (lambda s, o: s.configure(peek_scan_slize=1), ValueError, "did you mean 'peek_scan_slice'"),
        (lambda s, o: s.configure(peek_scan_slice="x"), ValueError, "cannot be 'x'"),
        (lambda s, o: s.copy_to(o, "/orders.txt"), PillionError, "name the file .csv or .parquet"),
    ],
)
def test_mistakes(system: ActorSystem, attempt: Any, error: type[Exception], says: str) -> None:
    orders = system.create_table("orders", {"id": int})
    before = system.collections()
    with pytest.raises(error, match=says):
        attempt(system, orders)
    assert system.collections() == before
    assert orders.insert((1,)).rows == 1


def test_copy_to_a_file(system: ActorSystem, tmp_path: Any) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    orders = system.create_table("orders", {"id": int, "name": "text?"})
    orders.insert([(1, "a"), (2, None), (2, None)])
    assert system.copy_to(orders, tmp_path / "orders.parquet") == 3
    assert sorted(pyarrow.parquet.read_table(tmp_path / "orders.parquet").column("id").to_pylist()) == [1, 2, 2]
    assert system.copy_to(orders.filter(col("id") == 1), tmp_path / "orders.csv") == 1
    assert pyarrow.csv.read_csv(tmp_path / "orders.csv").to_pylist() == [{"id": 1, "name": "a"}]
