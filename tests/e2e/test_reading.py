"""Lookups, peeks, queries and their results; isolation, times, timeouts, interruption."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pillion.actors import (
    ActorSystem,
    CollectionError,
    ExpressionTypeError,
    Index,
    NotReadableError,
    NotYetReadable,
    PillionError,
    ReadTimeout,
    RelationError,
    Table,
    UnknownCollection,
    UnknownColumnError,
    WrongRowCount,
    col,
    count,
    sum,
    udf,
)

ROWS = [(1, "north", 10.0), (2, "north", None), (3, "south", 2.5), (4, None, 4.0), (5, "south", -1.5)]


def orders_of(system: ActorSystem, history: int | None = 0) -> Table:
    orders = system.create_table(
        "orders", {"id": "bigint", "region": "text?", "amount": "double?"}, key="id", history=history
    )
    orders.insert(ROWS)
    return orders


def ids(rows: Any) -> list[int]:
    return sorted(row[0] for row in rows)


def test_lookup(system: ActorSystem) -> None:
    orders = orders_of(system)
    by_region = system.create_index(orders, key="region")
    assert ids(by_region.lookup("north")) == [1, 2]
    assert ids(by_region.lookup("west")) == []
    assert ids(by_region.lookup_many(["north", "south", "north"])) == [1, 2, 3, 5]
    assert ids(by_region.lookup_many([])) == []
    two = system.create_index(orders, key=["region", "id"], name="two")
    assert two.lookup("south", 3).one() == (3, "south", 2.5)
    assert ids(two.lookup_many([("south", 3), ("north", 1), ("north", 3)])) == [1, 3]
    computed = system.create_index(orders, key=col("id") % 2, name="parity")
    assert ids(computed.lookup(1)) == [1, 3, 5]


def test_peek_filters_selects_orders_and_limits(system: ActorSystem) -> None:
    index = system.create_index(orders_of(system))
    assert ids(index.peek()) == [1, 2, 3, 4, 5]
    assert ids(index.peek(col("amount") > 2)) == [1, 3, 4]
    assert ids(index.peek([col("amount") > 2, col("region").is_not_null()])) == [1, 3]
    selected = index.peek(col("id") < 4, select=["region", (col("amount") * 2).alias("double")], order_by="double")
    assert selected.columns == ("region", "double")
    assert selected.rows() == [("south", 5.0), ("north", 20.0), ("north", None)]
    assert index.peek(select="id", order_by="id", descending=True, limit=2, offset=1).rows() == [(4,), (3,)]
    assert index.peek(order_by=["region", "id"], descending=[True, False], nulls_first=[True, False]).column("id") == [
        4, 3, 5, 1, 2,
    ]  # fmt: skip
    assert ids(index.peek(limit=0)) == []


def test_a_filter_on_the_whole_key_is_a_lookup(system: ActorSystem) -> None:
    index = system.create_index(orders_of(system), key=["region", "id"])
    wanted = (col("id") == 3) & (col("region") == "south") & (col("amount") < 3)
    assert index.peek(wanted, select="amount").rows() == [(2.5,)]
    assert index.peek((col("id") == 3) & (col("region") == "north")).rows() == []
    assert ids(index.peek(col("region") == "south")) == [3, 5]


def test_query_any_relation(system: ActorSystem) -> None:
    orders = orders_of(system)
    assert system.query(orders.agg(count(), sum("amount"))).one() == (5, 15.0)
    ordered = system.query(orders, order_by=["amount"], descending=True, limit=2)
    assert ordered.rows() == [(1, "north", 10.0), (4, None, 4.0)]
    system.create_index(orders)
    assert ids(system.query(orders.filter(col("id") > 3))) == [4, 5]
    assert system.query(orders.filter(col("id") == 3).select("region")).scalar() == "south"


def test_results(system: ActorSystem) -> None:
    orders = orders_of(system)
    result = system.query(orders.select("id", "amount"), order_by="id", limit=2)
    assert result.rows() == list(result) == [(1, 10.0), (2, None)]
    assert result.dicts() == [{"id": 1, "amount": 10.0}, {"id": 2, "amount": None}]
    assert result.column("amount") == [10.0, None]
    assert len(result) == 2
    assert result.to_arrow().equals(
        pa.table(
            [[1, 2], [10.0, None]],
            schema=pa.schema([pa.field("id", pa.int64(), False), pa.field("amount", pa.float64())]),
        )
    )
    assert duckdb.sql("select sum(amount) from result").fetchall() == [(10.0,)]
    with pytest.raises(WrongRowCount, match="expected one row, and the result has 2"):
        result.one()
    with pytest.raises(WrongRowCount, match="at most one"):
        result.one_or_none()
    with pytest.raises(KeyError, match="no column 'x'"):
        result.column("x")
    nothing = system.query(orders.filter(col("id") > 9))
    assert nothing.one_or_none() is None
    assert nothing.to_arrow().num_rows == 0
    assert nothing.to_arrow().schema.equals(orders.schema.to_arrow())


def test_rows_that_are_there_twice_appear_twice(system: ActorSystem) -> None:
    orders = orders_of(system)
    regions = system.create_index(orders.select("region"), name="regions")
    result = regions.peek()
    assert len(result) == len(result.rows()) == result.to_arrow().num_rows == 5
    assert regions.lookup("north").rows() == [("north",), ("north",)]
    assert regions.peek(order_by="region", limit=3).rows() == [("north",), ("north",), ("south",)]


@pytest.mark.parametrize(
    ("read", "error", "says"),
    [
        (lambda index: index.lookup("a", 1), RelationError, r"has the key .* and 2 values were given"),
        (lambda index: index.lookup(), RelationError, "0 values were given"),
        (lambda index: index.lookup("a"), ExpressionTypeError, "'a' is no bigint"),
        (lambda index: index.lookup(1.5), ExpressionTypeError, "1.5 is no bigint"),
        (lambda index: index.peek(col("amuont") > 1), UnknownColumnError, "did you mean 'amount'"),
        (lambda index: index.peek(col("region")), ExpressionTypeError, "takes a condition"),
        (lambda index: index.peek(select=sum("amount")), RelationError, "aggregates many rows"),
        (lambda index: index.peek(select=["id", "id"]), RelationError, "appears twice"),
        (lambda index: index.peek(order_by="nothing"), UnknownColumnError, "no column 'nothing'"),
        (lambda index: index.peek(order_by=[col("id")]), RelationError, "takes names of result columns"),
        (lambda index: index.peek(limit=-1), RelationError, "from 0 on"),
        (lambda index: index.peek(order_by="id", descending=[True, False]), RelationError, "one for each"),
        (lambda index: index.peek(isolation="snapshot"), ValueError, "no isolation 'snapshot'"),
        (lambda index: index.peek(as_of=-1), ValueError, "from 0 on"),
        (lambda index: index.peek(timeout=-1), ValueError, "from 0 on"),
    ],
)
def test_mistakes(system: ActorSystem, read: Any, error: type[Exception], says: str) -> None:
    index = system.create_index(orders_of(system))
    with pytest.raises(error, match=says):
        read(index)
    assert len(index.peek()) == 5


def test_reads_see_every_write_that_returned_before(system: ActorSystem) -> None:
    orders = orders_of(system)
    total = system.create_index(orders.agg(sum("amount")), name="total")
    for number in range(6, 40):
        written = orders.insert((number, None, 1.0))
        result = total.peek()
        assert result.timestamp >= written.timestamp
        assert result.scalar() == 15.0 + number - 5


def test_serializable_reads_a_moment_of_the_past_that_is_complete(system: ActorSystem) -> None:
    orders = orders_of(system)
    index = system.create_index(orders, wait=True)
    for number in range(6, 20):
        orders.insert((number, None, 1.0))
        rows = index.peek(isolation="serializable").rows()
        assert 5 <= len(rows) <= number


def test_reading_the_past(system: ActorSystem) -> None:
    orders = orders_of(system, history=100)
    index = system.create_index(orders, history=100, wait=True)
    before = index.peek().timestamp
    written = orders.delete(where=True)
    assert len(index.peek(as_of=before)) == len(system.query(orders, as_of=before)) == 5
    assert len(index.peek(as_of=written.timestamp)) == 0
    with pytest.raises(NotYetReadable, match="the latest commit is"):
        index.peek(as_of=written.timestamp + 1000)


def test_the_past_is_forgotten(system: ActorSystem) -> None:
    orders = orders_of(system)
    index = system.create_index(orders, wait=True)
    first = index.peek().timestamp
    refused = threading.Event()
    for number in range(6, 10_000):
        orders.insert((number, None, 1.0))
        try:
            index.peek(as_of=first)
        except NotReadableError as error:
            assert str(error).startswith("'orders_by_id' cannot be read as of 1: the earliest time that it still holds")
            refused.set()
            break
    assert refused.is_set()
    assert len(index.peek()) == number  # type: ignore[possibly-undefined]


def test_a_moment_stays_readable_until_it_is_released(system: ActorSystem) -> None:
    orders = orders_of(system)
    index = system.create_index(orders, wait=True)
    total = system.view("total", orders.agg(count()))
    with system.hold(orders, index, total) as moment:
        for number in range(6, 300):
            orders.insert((number, None, 1.0))
        assert len(index.peek(as_of=moment.timestamp)) == 5
        assert system.query(total, as_of=moment.timestamp).scalar() == 5
    moment.release()
    assert len(index.peek()) == 299
    with pytest.raises(RelationError, match="takes the tables"):
        system.hold()


def test_an_error_of_a_row_reaches_the_reader_until_the_row_is_gone(system: ActorSystem) -> None:
    orders = orders_of(system)
    shares = system.create_index(orders.select("id", share=1 / col("amount")), key="id", name="shares")
    assert shares.lookup(1).one() == (1, 0.1)
    orders.insert((6, None, 0.0))
    with pytest.raises(CollectionError, match=r"^'shares' has an error at 2: division by zero"):
        shares.lookup(1)
    with pytest.raises(CollectionError, match=r"^the query of 'orders' has an error at 2: division by zero"):
        system.query(orders.select(share=1 / col("amount")))
    with pytest.raises(CollectionError, match=r"^the query has an error at 2: division by zero"):
        system.query(orders.agg(sum(1 / col("amount"))))
    orders.delete(keys=[6])
    assert shares.lookup(1).one() == (1, 0.1)


class Gate:
    """What a user function waits at. A pipe, because a function is pickled, and a path is a value."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "gate"
        os.mkfifo(self.path)

    def wait_for_the_first(self) -> None:
        """Until the function is called and waits."""
        self._writer = self.path.open("w")

    def open(self) -> None:
        """Let pass who waits, and whoever comes."""
        self.path.unlink()
        self._writer.close()


def stuck(system: ActorSystem, orders: Table, gate: Gate) -> Index:
    """An index that is not ready before the gate opens."""
    path = str(gate.path)

    @udf("bigint")
    def wait(value: int) -> int:
        with contextlib.suppress(FileNotFoundError), open(path) as pipe:
            pipe.read()
        return value

    return system.create_index(orders.select(id=wait("id")), name="stuck")


def test_a_read_gives_up_after_its_timeout(system: ActorSystem, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    index = stuck(system, orders_of(system), gate)
    with pytest.raises(ReadTimeout, match=r"not answered within 0\.05 s"):
        index.peek(timeout=0.05)
    gate.wait_for_the_first()
    gate.open()
    assert ids(index.peek(timeout=30)) == [1, 2, 3, 4, 5]


def test_an_interrupted_read_is_withdrawn_and_the_system_goes_on(system: ActorSystem, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    index = stuck(system, orders_of(system), gate)

    def interrupt() -> None:
        gate.wait_for_the_first()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    # A test runner may ignore the signal.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupter.start()
            index.peek()
    finally:
        signal.signal(signal.SIGINT, usual)
    interrupter.join()
    gate.open()
    assert ids(index.peek()) == [1, 2, 3, 4, 5]


def test_what_was_dropped_cannot_be_read(system: ActorSystem) -> None:
    orders = orders_of(system)
    index = system.create_index(orders)
    system.drop(index)
    with pytest.raises(UnknownCollection):
        index.peek()
    assert len(system.query(orders)) == 5
    system.drop(orders)
    with pytest.raises(PillionError):
        orders.insert((9, None, 1.0))
    with pytest.raises(PillionError):
        system.query(orders)
