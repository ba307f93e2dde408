"""What is encoded comes back equal, and what comes from elsewhere is refused with a message that says where and why."""

from __future__ import annotations

import base64
import contextlib
import datetime
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.messages.commands import AllowCompaction, Command, Hello, IndexTarget, Peek
from pillion.messages.dataflows import RelationDataflow, RenderDataflow
from pillion.messages.encoding import Format, decode, encode
from pillion.messages.errors import DecodeError, EncodeError
from pillion.messages.ids import GlobalId
from pillion.messages.plans import PlanNode, RenderPlan
from pillion.messages.relations import Get, Negate, Relation
from pillion.messages.responses import PeekResponse, Response, Rows
from pillion.messages.rows import RowBlock, UpdateBlock
from pillion.messages.scalars import Literal, Scalar
from pillion.messages.types import Schema, SqlType

from . import strategies

FORMATS = list(Format)


def round_trip(message: Any, type: Any) -> None:
    for format in FORMATS:
        data = encode(message, format)
        back = decode(data, type, format)
        assert same(back, message)
        assert encode(back, format) == data


def same(left: Any, right: Any) -> bool:
    """Equality that looks into blocks, which compare by identity."""
    if isinstance(left, RowBlock | UpdateBlock):
        return type(left) is type(right) and all(
            same(getattr(left, name), getattr(right, name)) for name in left.__slots__
        )
    if isinstance(left, pa.RecordBatch):
        # Printed, NaN equals NaN.
        return left.schema.equals(right.schema) and repr(left.to_pylist()) == repr(right.to_pylist())
    if isinstance(left, pa.Array):
        return left.equals(right)
    if isinstance(left, msgspec.Struct):
        return type(left) is type(right) and all(
            same(getattr(left, name), getattr(right, name)) for name in left.__struct_fields__
        )
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and type(left) is type(right)


@settings(max_examples=30)
@given(strategies.command_messages)
def test_commands_round_trip(message: Command) -> None:
    round_trip(message, Command)


@given(strategies.response_messages)
def test_responses_round_trip(message: Response) -> None:
    round_trip(message, Response)


@given(strategies.relation_expressions)
def test_relations_round_trip(message: Relation) -> None:
    round_trip(message, Relation)


@given(strategies.scalar_expressions)
def test_scalars_round_trip(message: Scalar) -> None:
    round_trip(message, Scalar)


@settings(max_examples=30)
@given(strategies.render_plans())
def test_render_plans_round_trip(message: RenderPlan) -> None:
    round_trip(message, RenderPlan)


@settings(max_examples=30)
@given(strategies.render_dataflows)
def test_render_dataflows_round_trip(message: RenderDataflow) -> None:
    round_trip(message, RenderDataflow)


@settings(max_examples=30)
@given(strategies.relation_dataflows)
def test_relation_dataflows_round_trip(message: RelationDataflow) -> None:
    round_trip(message, RelationDataflow)


@given(strategies.schemas)
def test_schemas_round_trip(message: Schema) -> None:
    round_trip(message, Schema)


@given(strategies.row_blocks | strategies.update_blocks)
def test_blocks_round_trip(message: RowBlock | UpdateBlock) -> None:
    round_trip(message, type(message))


def test_blocks_keep_the_metadata_of_their_columns() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1])], schema=pa.schema([("a", pa.int64())], {"k": "v"}))
    assert decode(encode(RowBlock(batch)), RowBlock).columns.schema.metadata == {b"k": b"v"}


def tags(union: Any) -> set[str]:
    return {member.__struct_config__.tag for member in get_args(union)}


def test_every_member_of_a_union_has_its_own_tag() -> None:
    for union in (Command, Response, Relation, Scalar, PlanNode):
        assert len(tags(union)) == len(get_args(union))


@pytest.mark.parametrize(
    ("json", "type", "path", "given", "problem"),
    [
        (b'{"tag":"hello","nonce":1}', Command, "$.nonce", "1", "Expected `str`, got `int`"),
        (b'{"tag":"hello"}', Command, "$", "{'tag': 'hello'}", "missing required field `nonce`"),
        (b'{"tag":"hello","nonce":"a","x":1}', Command, "$", "'x': 1", "unknown field `x`"),
        (b'{"tag":"helo","nonce":"a"}', Command, "$.tag", "'helo'", "Expected one of hello, create_instance, "),
        (b'{"nonce":"a"}', Command, "$", "{'nonce': 'a'}", "missing required field `tag`"),
        (
            b'{"tag":"allow_compaction","id":["v",1],"frontier":1}',
            Command,
            "$.id[0]",
            "'v'",
            "Expected one of s, si, t, u",
        ),
        (b'{"tag":"allow_compaction","id":["u",-1],"frontier":1}', Command, "$.id[1]", "-1", "Expected `int` >= 0"),
        (b'{"tag":"allow_compaction","id":["u",1,2],"frontier":1}', Command, "$.id", "['u', 1, 2]", "length 2"),
        (b'{"tag":"allow_compaction","id":["u",1],"frontier":-1}', Command, "$.frontier", "-1", "Expected `int` >= 0"),
        (
            b'{"tag":"allow_compaction","id":["u",1],"frontier":9223372036854775808}',
            Command,
            "$.frontier",
            "9223372036854775808",
            "Expected `int` <= 9223372036854775807",
        ),
        (
            b'{"tag":"filter","input":{"tag":"get","id":["u",1]},"predicates":[{"tag":"culumn","index":1}]}',
            Relation,
            "$.predicates[0].tag",
            "'culumn'",
            "Expected one of column, literal, error, call, cast, if, call_user",
        ),
        (
            b'{"tag":"cast","input":{"tag":"column","index":0},"type":"int"}',
            Scalar,
            "$.type",
            "'int'",
            "Expected one of boolean, smallint, integer",
        ),
        (b'{"fields":[["a","bigint"],["a","text"]]}', Schema, "$", "[['a', 'bigint'], ['a', 'text']]", "named 'a'"),
        (b'{"fields":[["a","bigint",true,1]]}', Schema, "$", "['a', 'bigint', True, 1]", "at most length 3"),
        (b'{"tag":"literal","raw":40000,"type":"smallint"}', Scalar, "$", "40000", "expected -32768 to 32767"),
        (b'{"tag":"literal","raw":true,"type":"bigint"}', Scalar, "$", "True", "expected an integer"),
        (b'{"tag":"literal","raw":"2013-02-30","type":"date"}', Scalar, "$", "2013-02-30", "expected a date as"),
        (b'{"tag":"literal","raw":"1e5","type":"numeric"}', Scalar, "$", "1e5", "expected decimal digits"),
        (b'{"nodes":[]}', RenderPlan, "$", "{'nodes': []}", "at least one node"),
        (
            b'{"nodes":[{"tag":"negate","types":[],"input":0}]}',
            RenderPlan,
            "$",
            "'input': 0",
            "node 0 of a plan reads node 0",
        ),
        (b"[1]", Command, "$", "[1]", "Expected `object`, got `array`"),
        (b'"AAAA"', RowBlock, "$", "'AAAA'", "Arrow IPC stream"),
        (b"7", RowBlock, "$", "7", "Expected `bytes`, got `int`"),
        (b'{"tag', Command, "$", None, "this is not json"),
        (b"", Command, "$", None, "this is not json"),
    ],
)
def test_what_is_wrong_is_said(json: bytes, type: Any, path: str, given: str | None, problem: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(json, type, Format.JSON)
    assert caught.value.path == path
    assert (caught.value.given is None) if given is None else (given in str(caught.value.given))
    assert problem in caught.value.problem
    assert caught.value.path in str(caught.value)
    assert problem in str(caught.value)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_decoded(data: bytes) -> None:
    for type in (Command, Response, Relation, RowBlock):
        for format in FORMATS:
            with contextlib.suppress(DecodeError):
                decode(data, type, format)


@given(strategies.response_messages, st.data())
def test_a_damaged_message_is_refused_or_decoded(message: Response, data: st.DataObject) -> None:
    encoded = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DecodeError):
        decode(bytes(encoded), Response)


def test_hostile_depth_is_an_error() -> None:
    deep = b'{"tag":"negate","input":' * 100_000
    with pytest.raises(DecodeError, match="nested too deeply"):
        decode(deep, Relation, Format.JSON)
    with pytest.raises(DecodeError, match="nested too deeply"):
        decode(b"\x81\xa5input" * 100_000, Any, Format.MSGPACK)
    relation: Relation = Get(GlobalId("u", 1))
    for _ in range(100_000):
        relation = Negate(relation)
    with pytest.raises(EncodeError, match="nested too deeply"):
        encode(relation)


def test_a_hostile_length_is_an_error() -> None:
    with pytest.raises(DecodeError, match="truncated"):
        decode(b"\xdd\xff\xff\xff\xff", Any)


def test_arrow_of_something_else_is_no_block() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1])], names=["a"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    text = b'"' + base64.b64encode(sink.getvalue().to_pybytes()) + b'"'
    with pytest.raises(DecodeError, match="of a row or update block"):
        decode(text, RowBlock, Format.JSON)


def test_an_update_block_is_no_row_block() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1])], names=["a"])
    data = encode(UpdateBlock(batch, 3, 2))
    with pytest.raises(DecodeError, match="expected multiplicities or 1"):
        decode(data, RowBlock)


def test_a_value_that_cannot_travel_is_an_error() -> None:
    with pytest.raises(EncodeError, match="travels in no message"):
        encode(AllowCompaction(GlobalId("u", 1), object()))  # type: ignore[arg-type]
    with pytest.raises(EncodeError, match="cannot encode a Hello"):
        encode(Hello("\ud800"))


def test_a_peek_is_short() -> None:
    peek = Peek("7", IndexTarget(GlobalId("u", 1)), 3, Schema(()))
    assert len(encode(peek)) < 80


@pytest.mark.parametrize(
    ("value", "type", "raw"),
    [
        (Decimal("1.50"), SqlType.NUMERIC, "1.5"),
        (Decimal("-0.0000000005"), SqlType.NUMERIC, "-0.000000001"),
        (Decimal("1E+3"), SqlType.NUMERIC, "1000"),
        (Decimal("-1E-40"), SqlType.NUMERIC, "0"),
        (7, SqlType.NUMERIC, "7"),
        (float("nan"), SqlType.DOUBLE, "nan"),
        (float("-inf"), SqlType.REAL, "-inf"),
        (1, SqlType.DOUBLE, 1.0),
        (b"\x00\xff", SqlType.BYTEA, "00ff"),
        (datetime.date(2013, 1, 2), SqlType.DATE, "2013-01-02"),
        (datetime.datetime(2013, 1, 2, 3, 4, 5, 60), SqlType.TIMESTAMP, "2013-01-02T03:04:05.000060"),
        (None, SqlType.DATE, None),
    ],
)
def test_literals_have_one_spelling(value: Any, type: SqlType, raw: Any) -> None:
    assert Literal.of(value, type).raw == raw


@pytest.mark.parametrize(
    ("value", "type", "error", "message"),
    [
        ("1", SqlType.BIGINT, TypeError, "'1' is a str, which is no value of type bigint"),
        (True, SqlType.BIGINT, TypeError, "True is a bool"),
        (2**63, SqlType.BIGINT, ValueError, "expected -9223372036854775808 to 9223372036854775807"),
        (1e39, SqlType.REAL, ValueError, "range of 32-bit floats"),
        (Decimal("NaN"), SqlType.NUMERIC, ValueError, "neither NaN nor infinity"),
        (Decimal(10) ** 29, SqlType.NUMERIC, ValueError, "at most 29 digits before the point"),
        (datetime.datetime(2013, 1, 1), SqlType.DATE, TypeError, "no value of type date"),
        (datetime.datetime(2013, 1, 1, tzinfo=datetime.UTC), SqlType.TIMESTAMP, TypeError, "has a time zone"),
        ("\ud800", SqlType.TEXT, ValueError, "lone surrogates"),
    ],
)
def test_values_that_are_no_literal(value: Any, type: SqlType, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Literal.of(value, type)


@given(strategies.sql_types.flatmap(lambda type: st.tuples(strategies.values(type), st.just(type))))
def test_literals_give_their_value_back(drawn: tuple[Any, SqlType]) -> None:
    value, type = drawn
    back = Literal.of(value, type).value
    assert back == value or (value != value and back != back)


def test_rows_share_their_arrow_buffers_until_encoded() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2])], names=["a"])
    response = PeekResponse("1", Rows(RowBlock(batch)))
    assert isinstance(response.result, Rows)
    assert response.result.block.columns is batch
