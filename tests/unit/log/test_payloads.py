"""Messages become payloads and messages again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.log.errors import UnknownMessageKind
from pillion.actors.log.file import LogFile
from pillion.actors.log.payloads import Answer, NotReadable, PayloadReader, PayloadWriter
from pillion.actors.log.references import RecordedActor, RecordedReply
from pillion.actors.requests import Committed, Delete, DeleteWhere, Insert, Upsert
from pillion.actors.storage.messages import AppendRows, CommitTables, ShardChanges, SubscribeShard
from pillion.dataflow.arrangements.updates import Chunk, Updates
from pillion.dataflow.columns.column import Column, column_from_values
from pillion.messages.errors import DecodeError
from pillion.messages.functions import pickle_function
from pillion.messages.ids import GlobalId
from pillion.messages.log import Level, Meta, Row
from pillion.messages.scalars import CallUser, ColumnRef
from pillion.messages.types import ColumnType, Field, Schema, SqlType

U1 = GlobalId("u", 1)


def again(message: Any, kind: str | None = None) -> Any:
    return PayloadReader().read(kind or type(message).__name__, PayloadWriter().write(message))


def columns() -> tuple[Column, ...]:
    return (
        column_from_values([1, None, 3], SqlType.BIGINT),
        column_from_values(["a", None, "ä"], SqlType.TEXT),
        column_from_values([True, False, None], SqlType.BOOLEAN),
    )


def test_a_transaction() -> None:
    changes = (Insert(U1, columns()), Upsert(U1, columns()[:1]), Delete(U1, columns()[1:]), DeleteWhere(U1, None))
    read = again(CommitTables(7, changes, OneShot()))
    assert (read.timestamp, [type(change) for change in read.changes]) == (7, [Insert, Upsert, Delete, DeleteWhere])
    assert [column.to_values() for column in read.changes[0].columns] == [column.to_values() for column in columns()]
    assert isinstance(read.reply, RecordedReply)


@pytest.mark.parametrize("size", [0, 3])
def test_updates(size: int) -> None:
    updates = Updates.of(tuple(column.slice(0, size) for column in columns()), 5, 2)
    schema = Schema((Field("a", SqlType.BIGINT), Field("b", SqlType.TEXT), Field("c", SqlType.BOOLEAN)))
    read = again(AppendRows(U1, schema, updates, 9, OneShot()))
    assert (read.updates.to_tuples(), read.schema, read.upper) == (updates.to_tuples(), schema, 9)
    changes = again(ShardChanges(((1, Chunk(0, 5, updates)), (2, Chunk(0, None)))))
    assert changes.chunks[0][1].oks.to_tuples() == updates.to_tuples()
    assert (changes.chunks[1][1].upper, changes.chunks[1][1].oks) == (None, None)


def test_rows_without_columns() -> None:
    read = again(ShardChanges(((1, Chunk(0, 5, Updates.of((), 3, 1, 4))),)))
    assert read.chunks[0][1].oks.to_tuples() == [((), 3, 1)] * 4


def test_an_actor_is_a_name() -> None:
    read = again(SubscribeShard(U1, 1, 0, 0, 1, RecordedActor("worker-1")))
    assert read.subscriber.name == "worker-1"


@pytest.mark.parametrize("value", [None, 3, "x", {"a": 1}, U1, (U1, GlobalId("t", 2)), Committed(4, (1, 2))])
def test_an_answer(value: object) -> None:
    assert again(Answer(value)).value == value


def test_a_refusal_and_an_answer_that_cannot_be_written() -> None:
    assert again(Answer(error=("DuplicateName", "taken"))).error == ("DuplicateName", "taken")
    with pytest.raises(NotReadable, match="by name only"):
        again(Answer(object()))


def test_what_is_no_message(tmp_path: Path) -> None:
    with pytest.raises(NotReadable):
        again(object(), "Hello")
    with pytest.raises(NotReadable, match="another version"):
        PayloadReader().read("Levitate", b"\x80")
    for payload in (b"", b"\x80", b"\xc1", b"\x91" * 5000):
        with pytest.raises(DecodeError):
            PayloadReader().read("CommitTables", payload)


def test_functions_are_named_and_not_run(tmp_path: Path) -> None:
    type_ = ColumnType(SqlType.BIGINT)
    function = pickle_function(_touch, type_, "touch")
    message = CommitTables(1, (DeleteWhere(U1, CallUser(function, (ColumnRef(0),))),), OneShot())
    meta = Meta(program="0", level=Level.COMMANDS, started="2026-01-01T00:00:00+00:00")
    writer = LogFile.create(tmp_path / "a.plog", meta)
    payload = PayloadWriter().write(message)
    writer.append([Row(sequence=1, time=0.0, sender="a", receiver="b", kind="CommitTables", payload=payload)])
    writer.close()
    with LogFile.open(writer.path) as log:
        (record,) = log.records()
        assert record.functions() == ("touch",)
        assert record.message().changes[0].predicate == CallUser(function, (ColumnRef(0),))


def _touch(values: object) -> object:
    raise AssertionError("nobody runs this")


def test_an_unknown_kind_names_its_row(tmp_path: Path) -> None:
    meta = Meta(program="0", level=Level.ALL, started="2026-01-01T00:00:00+00:00")
    writer = LogFile.create(tmp_path / "a.plog", meta)
    payload = PayloadWriter().write(object())
    writer.append([Row(sequence=1, time=0.0, sender="a", receiver="b", kind="TimedOut", payload=payload)])
    writer.close()
    with LogFile.open(writer.path) as log, pytest.raises(UnknownMessageKind, match="row 1 holds a TimedOut"):
        next(log.records()).message()
