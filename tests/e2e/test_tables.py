"""Tables and transactions: what is written, what is refused, and that refusing changes nothing."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pillion.actors import (
    ActorSystem,
    DuplicateKey,
    DuplicateName,
    ExpressionTypeError,
    NoSuchRow,
    PillionError,
    RejectedData,
    RelationError,
    Table,
    TransactionEnded,
    UnknownColumnError,
    col,
    count,
    lit,
)

EVERYTHING = {
    "b": "boolean?", "s": "smallint?", "i": "integer?", "l": "bigint?", "r": "real?", "d": "double?",
    "n": "numeric?", "t": "text?", "y": "bytea?", "day": "date?", "at": "timestamp?",
}  # fmt: skip
ROW = (
    True, -1, 2, 2**62, 0.5, 2.25, Decimal("1.500000000"), "ö", b"\x00", datetime.date(1, 1, 1),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
)  # fmt: skip


def keyed(system: ActorSystem) -> Table:
    table = system.create_table("items", {"id": "bigint", "name": "text?", "amount": "double"}, key="id")
    table.insert([(1, "one", 1.0), (2, None, 2.0), (3, "three", 3.0)])
    return table


def rows(system: ActorSystem, table: Table) -> list[Any]:
    return system.query(table, order_by="id").rows()


def test_values_of_every_type_come_back_as_they_went_in(system: ActorSystem) -> None:
    table = system.create_table("everything", EVERYTHING)
    nulls = (None,) * len(ROW)
    table.insert([ROW, nulls, ROW])
    assert sorted(system.query(table), key=lambda row: row[0] is None) == [ROW, ROW, nulls]
    index = system.create_index(table, key=["t", "day"])
    assert index.lookup("ö", datetime.date(1, 1, 1)).rows() == [ROW, ROW]
    assert index.peek().to_arrow().schema.equals(table.schema.to_arrow())


def test_a_table_from_data(system: ActorSystem) -> None:
    data = pa.table({"id": [1, 2], "name": ["a", None]})
    table = system.create_table("t", data, key="id")
    assert [str(type) for type in table.schema.types] == ["bigint", "text?"]
    assert rows(system, table) == [(1, "a"), (2, None)]
    from_duckdb = system.create_table("d", duckdb.sql("select 7::integer as id, date '2013-01-01' as day"))
    assert rows(system, from_duckdb) == [(7, datetime.date(2013, 1, 1))]
    assert rows(system, system.create_table("m", {"id": [5]})) == [(5,)]
    assert rows(system, system.create_table("r", data.to_reader())) == [(1, "a"), (2, None)]
    assert rows(system, system.create_table("l", [{"id": 5}, {"id": 6}])) == [(5,), (6,)]


def test_a_schema_without_rows(system: ActorSystem) -> None:
    table = system.create_table("t", pa.schema([pa.field("id", pa.int32(), False), pa.field("x", pa.float32())]))
    assert [str(type) for type in table.schema.types] == ["integer", "real?"]
    assert rows(system, table) == []
    assert table.insert([]).rows == 0


def test_insert_delete_update_upsert(system: ActorSystem) -> None:
    items = keyed(system)
    assert items.insert({"id": [4], "amount": [4.0]}).rows == 1
    assert items.delete([(1, "one", 1.0)]).rows == 1
    assert items.delete(keys=[2]).rows == 1
    assert items.update(amount=col("amount") * 10, name="x", where=col("id") > 3).rows == 1
    assert items.upsert([(3, "drei", 33.0), (5, None, 5.0)]).rows == 2
    assert rows(system, items) == [(3, "drei", 33.0), (4, "x", 40.0), (5, None, 5.0)]
    assert items.update({"name": lit(None)}).rows == 3
    assert items.delete(where=col("amount") > 30).rows == 2
    assert rows(system, items) == [(5, None, 5.0)]
    assert items.delete(where=True).rows == 1
    assert rows(system, items) == []


def test_rows_without_a_key_repeat(system: ActorSystem) -> None:
    table = system.create_table("t", {"id": "bigint"})
    table.insert([(1,), (1,), (2,)])
    table.delete([(1,)])
    assert rows(system, table) == [(1,), (2,)]
    with pytest.raises(NoSuchRow):
        table.delete([(1,), (1,)])
    assert rows(system, table) == [(1,), (2,)]


def test_a_transaction_is_one_moment(system: ActorSystem) -> None:
    items, log = keyed(system), system.create_table("log", {"id": "bigint"})
    with system.transaction() as tx:
        tx.insert(items, (4, None, 4.0))
        tx.insert(items, (5, None, 5.0))
        tx.insert(log, [(4,)])
        tx.delete(items, keys=[4])
        tx.update(items, amount=0.0, where=col("id") == 5)
        tx.upsert(items, (1, "uno", 1.0))
    assert tx.written is not None
    assert system.query(log).timestamp == tx.written.timestamp
    assert rows(system, items) == [(1, "uno", 1.0), (2, None, 2.0), (3, "three", 3.0), (5, None, 0.0)]


def test_an_exception_discards_a_transaction(system: ActorSystem) -> None:
    items = keyed(system)
    with pytest.raises(ZeroDivisionError), system.transaction() as tx:
        tx.delete(items, where=True)
        raise ZeroDivisionError
    assert len(rows(system, items)) == 3
    with pytest.raises(TransactionEnded):
        tx.insert(items, (9, None, 9.0))
    with pytest.raises(TransactionEnded):
        tx.commit()


def test_commit_and_rollback_by_hand(system: ActorSystem) -> None:
    items = keyed(system)
    tx = system.transaction()
    tx.insert(items, (4, None, 4.0))
    assert tx.commit().rows == 1
    tx = system.transaction()
    tx.insert(items, (5, None, 5.0))
    tx.rollback()
    with system.transaction():
        pass
    assert len(rows(system, items)) == 4


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda tx, items: tx.insert(items, (1, None, 0.0)), DuplicateKey, "id=1"),
        (lambda tx, items: tx.insert(items, [(7, None, 0.0), (7, None, 1.0)]), DuplicateKey, "id=7"),
        (lambda tx, items: tx.delete(items, (1, "one", 9.0)), NoSuchRow, "no such row"),
        (lambda tx, items: tx.delete(items, keys=[99]), NoSuchRow, "99"),
        (lambda tx, items: tx.update(items, amount=1 / (col("amount") - 2)), PillionError, "division by zero"),
        (lambda tx, items: tx.update(items, amount=col("id").null_if(1).cast("double")), PillionError, "NULL"),
        (lambda tx, items: tx.update(items, id=1), DuplicateKey, "id=1"),
        (lambda tx, items: tx.insert(items, (1, None)), RejectedData, "row 0 has 2 values"),
        (lambda tx, items: tx.insert(items, [("x", None, 1.0)]), RejectedData, "column 'id': 'x'"),
        (lambda tx, items: tx.update(items, amuont=1), UnknownColumnError, "did you mean 'amount'"),
        (lambda tx, items: tx.update(items, amount="x"), ExpressionTypeError, "'x' is no double"),
        (lambda tx, items: tx.update(items, name=col("id")), ExpressionTypeError, "use .cast"),
        (lambda tx, items: tx.update(items, amount=None), ExpressionTypeError, "takes no NULL"),
        (lambda tx, items: tx.update(items), RelationError, "takes what to set"),
        (lambda tx, items: tx.delete(items), RelationError, "exactly one"),
        (lambda tx, items: tx.delete(items, where=col("name")), ExpressionTypeError, "takes a condition"),
    ],
)
def test_what_is_refused_changes_nothing(system: ActorSystem, change: Any, error: type[Exception], says: str) -> None:
    items, log = keyed(system), system.create_table("log", {"id": "bigint"})
    before = rows(system, items)
    with pytest.raises(error, match=says), system.transaction() as tx:
        tx.insert(log, (1,))
        tx.insert(items, (6, None, 6.0))
        change(tx, items)
    assert rows(system, items) == before
    assert system.query(log.agg(count())).scalar() == 0
    items.insert((6, None, 6.0))
    assert len(rows(system, items)) == 4


def test_tables_without_a_key_have_no_keys(system: ActorSystem) -> None:
    table = system.create_table("t", {"id": "bigint"})
    with pytest.raises(RejectedData, match="upsert needs a key"):
        table.upsert((1,))
    with pytest.raises(RejectedData, match="delete by key needs a key"):
        table.delete(keys=[1])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("t", {}), RelationError, "at least one column"),
        (("t", {"a": "bogus"}), ExpressionTypeError, "column 'a': 'bogus' is no type"),
        (("t", 5), RelationError, "takes a mapping of column to type"),
        (("t", {"a": [1, 2], "b": [1]}), RelationError, "no columns of one type and length"),
        (("t", {"a": [1, "x"]}), RelationError, "no columns of one type and length"),
        (("t", [(1, 2)]), RelationError, "takes a mapping of column to type"),
        (("items", {"a": "bigint"}), DuplicateName, "'items' is taken"),
    ],
)
def test_tables_that_cannot_be(system: ActorSystem, arguments: Any, error: type[Exception], says: str) -> None:
    keyed(system)
    with pytest.raises(error, match=says):
        system.create_table(*arguments)
    with pytest.raises(UnknownColumnError, match="no column 'b'"):
        system.create_table("other", {"a": "bigint"}, key="b")


def test_another_systems_table(system: ActorSystem) -> None:
    with ActorSystem() as other:
        foreign, own = keyed(other), keyed(system)
        with pytest.raises(RelationError, match="another system"), system.transaction() as tx:
            tx.insert(foreign, (9, None, 9.0))
        with pytest.raises(RelationError, match="two different systems"):
            own.union(foreign)
        with pytest.raises(RelationError, match="another system"):
            system.query(foreign)


def test_a_table_whose_rows_are_refused_is_not_made(system: ActorSystem) -> None:
    before = system.collections()
    with pytest.raises(DuplicateKey):
        system.create_table("orders", {"id": [1, 1]}, key="id")
    assert system.collections() == before
    assert len(system.query(system.create_table("orders", {"id": [1, 2]}, key="id"))) == 2
