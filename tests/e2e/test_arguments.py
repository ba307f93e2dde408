"""Arguments that mean nothing are refused where they are given: with a sentence, before anything is changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pillion.actors import (
    ActorSystem,
    ExpressionTypeError,
    PillionError,
    RejectedData,
    RelationError,
    UnknownColumnError,
    UnknownName,
    WrongArgument,
    col,
)

TIMES = [-1, "1", 1.0, True]


@pytest.mark.parametrize("time", TIMES)
def test_times(system: ActorSystem, time: Any) -> None:
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders)
    with system.subscribe(orders) as changes:
        for attempt in (
            lambda: system.query(orders, as_of=time),
            lambda: index.lookup(1, as_of=time),
            lambda: index.wait_until_ready(time),
            lambda: system.hold(orders, as_of=time),
            lambda: system.subscribe(orders, as_of=time),
            lambda: system.subscribe(orders, up_to=time),
            lambda: changes.until(time),
        ):
            with pytest.raises(WrongArgument, match="is a timestamp, a whole number from 0 on"):
                attempt()
    orders.insert((1,))
    assert index.lookup(1).rows() == [(1,)]


@pytest.mark.parametrize("seconds", [-1, "1", float("nan"), True])
def test_seconds(system: ActorSystem, seconds: Any) -> None:
    orders = system.create_table("orders", {"id": int})
    with system.subscribe(orders) as changes:
        for attempt in (lambda: system.query(orders, timeout=seconds), lambda: changes.poll(seconds)):
            with pytest.raises(WrongArgument, match="is a number of seconds from 0 on"):
                attempt()


def test_the_longest_timeouts(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    for seconds in (1e300, float("inf"), 10**400):
        assert system.query(orders, timeout=seconds).rows() == []
        with system.subscribe(orders) as changes:
            assert changes.poll(seconds) is not None


def test_what_belongs_to_another_system(system: ActorSystem) -> None:
    """Ids are the same in every system, so that a handle of another one must not be taken for the own one."""
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders)
    with ActorSystem() as other:
        others = other.create_table("others", {"id": int})
        others_index = other.create_index(others)
        assert (others.id, others_index.id) == (orders.id, index.id)
        for attempt in (
            lambda: system.drop(others),
            lambda: system.drop(others_index),
            lambda: system.hold(others),
            lambda: system.hold(orders, others_index),
            lambda: system.transaction().insert(others, [(1,)]),
        ):
            with pytest.raises(RelationError, match="another system"):
                attempt()
    assert index.lookup(1).rows() == []


@pytest.mark.parametrize("handle", [5, None, ["orders"]])
def test_what_is_no_handle(system: ActorSystem, handle: Any) -> None:
    with pytest.raises(RelationError, match="takes a table, a view or an index"):
        system.drop(handle)
    with pytest.raises(RelationError, match="takes a table, a view or an index"):
        system.hold(handle)


def test_a_transaction_changes_tables(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int}, key="id")
    index = system.create_index(orders)
    transaction = system.transaction()
    not_tables: list[Any] = [5, "orders", system.view("all_orders", orders), index]
    attempts: list[Callable[[Any], None]] = [
        lambda wrong: transaction.insert(wrong, [(1,)]),
        lambda wrong: transaction.upsert(wrong, [(1,)]),
        lambda wrong: transaction.delete(wrong, keys=[1]),
        lambda wrong: transaction.update(wrong, id=1),
    ]
    for wrong in not_tables:
        for attempt in attempts:
            with pytest.raises(RelationError, match=r"a transaction changes tables, and an? "):
                attempt(wrong)


def test_names(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    for name in ("missing", 5, None):
        with pytest.raises(UnknownName, match=r"^there is no table, view or index .*'orders'"):
            system[name]  # type: ignore[index]
        with pytest.raises(KeyError):
            system.get(name)  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        system.drop("missing")
    with pytest.raises(UnknownColumnError, match="the result has no column 'ID'; did you mean 'id'"):
        system.query(orders).column("ID")
    with pytest.raises(RelationError, match="lone surrogates"):
        system.create_table("\ud800", {"id": int})
    with pytest.raises(RelationError, match="lone surrogates"):
        system.create_table("t", {"\ud800": int})
    with pytest.raises(RelationError, match="key takes the name of a column"):
        system.create_table("t", {"id": int}, key=5)  # type: ignore[arg-type]


def test_updates(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "n": int}, key="id")
    orders.insert((1, 1))
    with pytest.raises(RelationError, match="sets column 'n' twice"):
        orders.update({"n": 2}, n=3)
    with pytest.raises(RelationError, match="takes a mapping"):
        orders.update(5)  # type: ignore[arg-type]
    with pytest.raises(UnknownColumnError, match="no column 5"):
        orders.update({5: 1})  # type: ignore[dict-item]
    assert orders.update({"n": 2}).rows == 1
    assert system.query(orders).rows() == [(1, 2)]


def test_reads(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "note": "text?"})
    index = system.create_index(orders, "note")
    with pytest.raises(ExpressionTypeError, match="lone surrogates"):
        index.lookup("\ud800")
    for keys in (5, None):
        with pytest.raises(RelationError, match="for one key, use lookup"):
            index.lookup_many(keys)  # type: ignore[arg-type]
    with pytest.raises(RelationError, match="order_by takes names"):
        index.peek(order_by=5)  # type: ignore[arg-type]
    for descending in ("x", 1, ["yes"]):
        with pytest.raises(RelationError, match="descending takes one bool"):
            index.peek(order_by="id", descending=descending)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="no isolation 'serial'"):
        index.peek(isolation="serial")
    with pytest.raises(RelationError, match="union takes another relation"):
        orders.union(5)  # type: ignore[arg-type]
    with pytest.raises(RelationError, match="is_in takes a list"):
        col("id").is_in(5)  # type: ignore[arg-type]
    with pytest.raises(RelationError, match="percentile takes a fraction"):
        col("id").percentile("x")  # type: ignore[arg-type]


def test_columns_of_two_dimensions(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    with pytest.raises(RejectedData, match="column 'id'"):
        orders.insert({"id": np.array([[1, 2]])})


def test_a_system_that_cannot_start_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    for settings in (5, {"zz": 1}):
        with pytest.raises(WrongArgument):
            ActorSystem(settings=settings)  # type: ignore[arg-type]
    for workers in (0, -1, "x", 1.5, True, 10**9):
        with pytest.raises(PillionError, match="workers is the number"):
            ActorSystem(workers)  # type: ignore[arg-type]
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("what", ["system.query(index)", "system.subscribe(index)", "system.view('v', index)"])
def test_an_index_in_place_of_a_relation(system: ActorSystem, what: str) -> None:
    index = system.create_index(system.create_table("orders", {"id": int}))
    with pytest.raises(RelationError, match="an Index was given; an index is read with its lookup and peek"):
        eval(what, {"system": system, "index": index})


def test_a_name_in_place_of_a_relation_or_a_table(system: ActorSystem) -> None:
    orders: Any = system.create_table("orders", {"id": int})
    name: Any = "orders"
    with pytest.raises(RelationError, match=r"a str was given; system\['orders'\] is the one"):
        system.query(name)
    with pytest.raises(RelationError, match=r"a str was given; system\['orders'\] is"), system.transaction() as tx:
        tx.insert(name, (1,))
    with pytest.raises(AttributeError, match="only a table has it"):
        orders.select("id").insert((1,))


def test_names_of_other_libraries(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    orders.insert([(1,), (2,), (3,)])
    index, result = system.create_index(orders), system.query(orders, order_by="id")
    attempts: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: system.sql, r"a system has no 'sql'; write system\.query"),
        (lambda: index.get, r"an index has no 'get'; write \.lookup"),
        (lambda: result.fetchall, r"a result has no 'fetchall'; write \.rows"),
        (lambda: result.to_panda, "did you mean 'to_pandas'"),
    )
    for attempt, says in attempts:
        with pytest.raises(AttributeError, match=says):
            attempt()
    assert (result[0], result[-1], result[1:]) == ((1,), (3,), [(2,), (3,)])
    column: Any = "id"
    with pytest.raises(RelationError, match=r"use result\.column\('id'\)"):
        result[column]


def test_a_time_from_something_that_has_one(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    written: Any = orders.insert((1,))
    with pytest.raises(WrongArgument, match=r"pass its \.timestamp, 1$"):
        system.query(orders, as_of=written)


def test_a_subscription_that_would_end_before_it_starts(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    latest = orders.insert((1,)).timestamp
    with pytest.raises(WrongArgument, match=r"up_to .* is before"):
        system.subscribe(orders, up_to=latest - 1)
    assert [change.row for batch in system.subscribe(orders, up_to=latest + 1) for change in batch] == [(1,)]


def test_windows_beyond_all_rows(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int})
    index = system.create_index(orders)
    orders.insert([(1,), (2,)])
    for read in (index.peek, lambda **window: system.query(orders, **window)):
        assert read(offset=10**30).rows() == []
        assert read(limit=10**30, offset=10**30).rows() == []
        assert len(read(limit=10**30)) == 2


def test_introspection_of_a_stopped_system_can_be_shown() -> None:
    with ActorSystem() as system:
        pass
    assert "Introspection" in repr(system.introspection)
