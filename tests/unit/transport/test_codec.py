"""What travels comes back as it was, and what is no message is refused, whatever its bytes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.storage.messages import (
    Appended,
    CompareAndAppend,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    UpperMismatch,
)
from pillion.actors.transport.codec import (
    Append,
    ForWorker,
    ToWorker,
    decode_down,
    decode_up,
    encode_down,
    encode_up,
)
from pillion.actors.transport.columns import MalformedBlock, check_times
from pillion.actors.transport.frames import FRAME_LIMIT
from pillion.actors.transport.wire import (
    Answers,
    BarrierForm,
    BarrierReachedForm,
    CancelReadForm,
    Counters,
    Ended,
    ReadForm,
    SubscribeForm,
    UnsubscribeAllForm,
    UnsubscribeForm,
)
from pillion.dataflow.arrangements.updates import Chunk, Updates, error_updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Hello
from pillion.messages.encoding import encode
from pillion.messages.errors import DecodeError, PillionError
from pillion.messages.ids import GlobalId
from pillion.messages.responses import PeekError, PeekResponse, Rows, SubscribeBatch, SubscribeResponse
from pillion.messages.rows import RowBlock, UpdateBlock
from pillion.messages.types import SqlType

SHARD = GlobalId("u", 7)

VALUES: dict[SqlType, list[Any]] = {
    SqlType.BOOLEAN: [True, None, False],
    SqlType.SMALLINT: [-(2**15), None, 2**15 - 1],
    SqlType.INTEGER: [1, 2, None],
    SqlType.BIGINT: [2**63 - 1, -(2**63), None],
    SqlType.REAL: [0.5, None, float("inf")],
    SqlType.DOUBLE: [0.1, -0.0, None],
    SqlType.NUMERIC: [Decimal("1.500000000"), None, Decimal("-12345678901234567890.000000001")],
    SqlType.TEXT: ["", None, "naïve \0 text"],
    SqlType.BYTEA: [b"\0\xff", b"", None],
    SqlType.DATE: [datetime.date(2013, 12, 31), None, datetime.date(1, 1, 1)],
    SqlType.TIMESTAMP: [datetime.datetime(2026, 12, 1, 15, 0, 0, 1), None, datetime.datetime(1969, 1, 1)],
}


def updates(times: list[int] | None = None) -> Updates:
    """Three rows with a column of every type."""
    columns = tuple(column_from_values(values, type) for type, values in VALUES.items())
    return Updates(columns, np.array(times or [3, 4, 3]), np.array([1, -2, 3]))


def no_columns() -> Updates:
    return Updates.of((), 3, 2, size=4)


def down(message: Any) -> Any:
    return decode_down(encode_down(FRAME_LIMIT)(message))


def up(message: Any) -> Any:
    return decode_up(encode_up(FRAME_LIMIT)(message))


def told(message: ToWorker) -> Any:
    """What the worker hears of what the storage tells it."""
    decoded = down(ForWorker(3, message))
    assert isinstance(decoded, ForWorker)
    assert decoded.worker == 3
    return decoded.message


def same(a: Updates | None, b: Updates | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.types == b.types and a.to_tuples() == b.to_tuples()


def same_chunk(a: Chunk, b: Chunk) -> bool:
    return (a.lower, a.upper) == (b.lower, b.upper) and same(a.oks, b.oks) and same(a.errs, b.errs)


def test_every_type_has_a_value_here() -> None:
    assert set(VALUES) == set(SqlType)


CHUNKS = [
    Chunk(0, 5, updates()),
    Chunk(0, None, no_columns()),
    Chunk(3, 4),
    Chunk(0, 9, updates().slice(0, 0), error_updates(["division by zero"], np.array([8]), np.array([1]))),
]


@pytest.mark.parametrize("chunk", CHUNKS, ids=["rows", "no columns", "nothing", "errors"])
def test_chunks(chunk: Chunk) -> None:
    snapshot = told(ShardSnapshot(SHARD, 5, chunk))
    assert isinstance(snapshot, ShardSnapshot)
    assert (snapshot.shard, snapshot.subscription) == (SHARD, 5)
    assert same_chunk(snapshot.chunk, chunk)
    changes = told(ShardChanges(((5, chunk), (6, chunk))))
    assert [number for number, _ in changes.chunks] == [5, 6]
    assert all(same_chunk(came, chunk) for _, came in changes.chunks)
    append = up(Append(2, SHARD, chunk)).message("writer")
    assert isinstance(append, CompareAndAppend)
    assert (append.shard, append.lower, append.upper, append.writer) == (SHARD, chunk.lower, chunk.upper, "writer")
    assert same(append.updates, chunk.oks)
    assert same(append.errors, chunk.errs)


def test_a_chunk_that_several_subscriptions_share_travels_once() -> None:
    chunk = Chunk(0, 5, updates())
    one, many = (encode_down(FRAME_LIMIT)(ForWorker(0, ShardChanges(((0, chunk),) * n))) for n in (1, 50))
    assert len(many) < len(one) + 50 * 10
    came = told(ShardChanges(((0, chunk), (1, Chunk(0, 5)), (2, chunk))))
    assert came.chunks[0][1] is came.chunks[2][1]
    assert came.chunks[1][1].oks is None


def test_a_long_column_of_few_texts_travels() -> None:
    column = column_from_values(["north", "south"] * 5000, SqlType.TEXT)
    read = told(ShardRead("token", Updates.of((column,), 7)))
    assert same(read.updates, Updates.of((column,), 7))


def test_what_else_the_storage_tells() -> None:
    assert told(SnapshotRefused(SHARD, 5, "no")).message == "no"
    assert told(ShardRead("token", None, "gone")).error == "gone"
    assert told(Appended(SHARD, None)).upper is None
    mismatch = told(UpperMismatch(SHARD, 3, 4))
    assert (mismatch.expected, mismatch.upper) == (3, 4)


@pytest.mark.parametrize(
    "form",
    [
        SubscribeForm(0, SHARD, 1, 2, 1, 2),
        UnsubscribeForm(0, SHARD, 1),
        UnsubscribeAllForm(9),
        ReadForm(0, SHARD, "token", 3, 0, 1),
        CancelReadForm(0, "token"),
        BarrierReachedForm(4),
        Counters(4, {"peers": 1}),
        Ended("stopped", True),
        Answers("nonce", (PeekResponse("uuid", PeekError("no")),)),
    ],
    ids=lambda form: type(form).__name__,
)
def test_forms(form: Any) -> None:
    assert up(form) == form


def test_commands_travel_as_they_are() -> None:
    assert down(Hello("nonce")) == Hello("nonce")
    assert down(BarrierForm(3)) == BarrierForm(3)


# --- What is too large ----------------------------------------------------------------------------------------------

BIG = Updates.of((column_from_values(list(range(10_000)), SqlType.BIGINT),), 0)


def test_a_snapshot_that_is_too_large_is_refused_instead() -> None:
    payload = encode_down(10_000)(ForWorker(0, ShardSnapshot(SHARD, 5, Chunk(0, 1, BIG))))
    refused = decode_down(payload).message
    assert isinstance(refused, SnapshotRefused)
    assert refused.subscription == 5
    assert "do not fit into a message between processes, which has 10000 at most" in refused.message


def test_a_share_that_is_too_large_is_an_error_instead() -> None:
    read = decode_down(encode_down(10_000)(ForWorker(0, ShardRead("token", BIG)))).message
    assert read.updates is None
    assert "do not fit" in read.error


def test_an_answer_that_is_too_large_is_an_error_instead_and_others_stay() -> None:
    columns = pa.record_batch({"a": pa.array(range(10_000))})
    small = PeekResponse("small", Rows(RowBlock(columns.slice(0, 1))))
    answers = Answers("n", (small, PeekResponse("large", Rows(RowBlock(columns)))))
    first, second = decode_up(encode_up(10_000)(answers)).responses
    assert isinstance(first.result, Rows)
    assert isinstance(second.result, PeekError)
    assert "do not fit" in second.result.message


def test_what_cannot_be_told_otherwise_fails() -> None:
    columns = pa.record_batch({"a": pa.array(range(10_000))})
    batch = SubscribeResponse(SHARD, SubscribeBatch(0, 1, UpdateBlock(columns, 0, 1)))
    with pytest.raises(PillionError, match="do not fit"):
        encode_up(10_000)(Answers("n", (batch,)))
    with pytest.raises(PillionError, match="do not fit"):
        encode_down(10_000)(ForWorker(0, ShardChanges(((0, Chunk(0, 1, BIG)),))))


# --- What is no message ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", [decode_down, decode_up])
@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_an_error(decoder: Any, payload: bytes) -> None:
    try:
        message = decoder(payload)
    except PillionError:
        return
    assert isinstance(message, msgspec.Struct)


@given(st.data())
def test_a_message_with_other_bytes_in_it_is_a_message_or_an_error(data: st.DataObject) -> None:
    """Mutations of real ones reach deeper than random bytes: into Arrow's own format."""
    whole = data.draw(st.sampled_from(WHOLE))
    payload = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    payload = payload[: data.draw(st.integers(0, len(payload)))] if data.draw(st.booleans()) else payload
    for decoder in (decode_down, decode_up):
        try:
            decoder(bytes(payload))
        except PillionError:
            continue


WHOLE = [
    *(encode_down(FRAME_LIMIT)(ForWorker(1, ShardChanges(((1, chunk), (2, chunk))))) for chunk in CHUNKS),
    *(encode_up(FRAME_LIMIT)(Append(1, SHARD, chunk)) for chunk in CHUNKS),
    encode_up(FRAME_LIMIT)(SubscribeForm(0, SHARD, 1, 2, 1, 2)),
]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"tag": "nothing"}, "nothing"),
        ({"tag": "hello", "nonce": 7}, "nonce"),
        ({"tag": "hello", "nonce": "n", "extra": 1}, "extra"),
        ({"tag": "appended", "worker": 1024, "shard": ["u", 7], "upper": 1}, "worker"),
        ({"tag": "changes", "worker": 0, "chunks": [], "subscriptions": [[0, 0]]}, "positions among 0 chunks"),
    ],
)
def test_what_is_no_message_of_ours_is_told(message: Any, problem: str) -> None:
    with pytest.raises(DecodeError, match=problem):
        decode_down(msgspec.msgpack.encode(message))


def test_a_column_of_a_foreign_type_is_refused() -> None:
    block = UpdateBlock(pa.record_batch({"a": pa.array([1], pa.uint8())}), 0, 1)
    form = {"tag": "append", "worker": 0, "shard": SHARD, "chunk": [0, 1, block, None]}
    with pytest.raises(MalformedBlock, match="a column of Arrow type uint8, which is no type of a collection"):
        decode_up(encode(form))


@pytest.mark.parametrize("chunk", [Chunk(4, 9, updates()), Chunk(0, 4, updates())], ids=["before", "after"])
def test_times_outside_of_what_is_appended_are_refused(chunk: Chunk) -> None:
    with pytest.raises(MalformedBlock, match="updates from 3 to 4 came in a chunk of"):
        up(Append(0, SHARD, chunk))


def test_rows_that_take_no_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillion.actors.transport.columns.MOST_EMPTY_ROWS", 3)
    with pytest.raises(MalformedBlock, match="4 rows came without a column; 3 are the most"):
        up(Append(0, SHARD, Chunk(0, 9, no_columns())))


def test_checking_times_takes_no_longer_for_more_rows_of_one_time() -> None:
    check_times(Chunk(0, 9, Updates.of((), 3, 1, size=1 << 60)))


def test_a_snapshot_may_be_of_a_later_time_than_its_shard_is_sealed_at() -> None:
    assert same(told(ShardSnapshot(SHARD, 0, Chunk(0, 2, updates()))).chunk.oks, updates())
