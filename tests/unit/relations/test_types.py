"""Types as users write them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from pillion.actors.relations import ExpressionTypeError, RelationError
from pillion.actors.relations.types import column_type, schema_of
from pillion.messages.types import ColumnType, SqlType


@pytest.mark.parametrize(
    ("given", "type", "nullable"),
    [
        ("bigint", SqlType.BIGINT, False),
        ("bigint?", SqlType.BIGINT, True),
        (" BIGINT  NOT NULL ", SqlType.BIGINT, False),
        ("double precision null", SqlType.DOUBLE, True),
        ("Text ?", SqlType.TEXT, True),
        (int, SqlType.BIGINT, False),
        (int | None, SqlType.BIGINT, True),
        (bool, SqlType.BOOLEAN, False),
        (float, SqlType.DOUBLE, False),
        (Decimal, SqlType.NUMERIC, False),
        (datetime.date, SqlType.DATE, False),
        (datetime.datetime | None, SqlType.TIMESTAMP, True),
        (SqlType.REAL, SqlType.REAL, False),
        (pa.uint8(), SqlType.SMALLINT, True),
        (pa.timestamp("ns", "UTC"), SqlType.TIMESTAMP, True),
        (pa.dictionary(pa.int32(), pa.string()), SqlType.TEXT, True),
    ],
)
def test_column_type(given: object, type: SqlType, nullable: bool) -> None:
    assert column_type(given) == ColumnType(type, nullable)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("bigin", "did you mean 'bigint'"),
        (list, "list is no type"),
        (int | str, "no type"),
        (pa.list_(pa.int8()), "no SQL"),
    ],
)
def test_what_is_no_type(given: object, says: str) -> None:
    with pytest.raises(ExpressionTypeError, match=says):
        column_type(given)  # type: ignore[arg-type]


def test_schemas() -> None:
    schema = schema_of(pa.schema([pa.field("a", pa.int64(), False), pa.field("b", pa.string())]))
    assert [str(type) for type in schema.types] == ["bigint", "text?"]
    with pytest.raises(ExpressionTypeError, match="column 'a'"):
        schema_of({"a": "nonsense"})
    with pytest.raises(RelationError, match="not empty"):
        schema_of({"": "bigint"})
    with pytest.raises(RelationError, match="twice"):
        schema_of(pa.schema([pa.field("a", pa.int64()), pa.field("a", pa.int64())]))
