"""The workers' answers to one peek as one."""

from __future__ import annotations

from pillion.actors.peeks.blocks import empty_block, row_block, rows_of
from pillion.actors.peeks.union import unite
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Finishing
from pillion.messages.relations import Order
from pillion.messages.responses import Canceled, PeekError, PeekResult, Rows, Stashed
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("n", SqlType.BIGINT, False),))
LARGE = 1 << 20


def rows(*numbers: int) -> Rows:
    return Rows(row_block(Updates.of((column_from_values(numbers, SqlType.BIGINT),), 0), SCHEMA))


def numbers(result: PeekResult) -> list[object]:
    assert isinstance(result, Rows)
    return [row[0] for row, _, _ in rows_of(result.block, SCHEMA).to_tuples()]


def united(*results: PeekResult, finishing: Finishing = Finishing(), max_bytes: int = LARGE) -> PeekResult:
    return unite(results, finishing, SCHEMA, max_bytes, LARGE)


def test_rows_are_united() -> None:
    assert numbers(united(rows(1, 2), rows(), rows(3))) == [1, 2, 3]
    assert numbers(united(rows(), rows())) == []


def test_an_error_wins_over_rows_and_over_a_cancel() -> None:
    assert united(rows(1), Canceled(), PeekError("no")) == PeekError("no")


def test_of_several_errors_the_same_is_told_however_rows_are_spread() -> None:
    assert united(PeekError("a"), PeekError("b")) == united(PeekError("b"), PeekError("a")) == PeekError("a")


def test_a_cancel_wins_over_rows() -> None:
    assert united(rows(1), Canceled()) == Canceled()


def test_order_and_limit_apply_to_the_whole() -> None:
    finishing = Finishing((Order(0, descending=True),), limit=3, offset=1)
    assert numbers(united(rows(1, 5), rows(4, 2), finishing=finishing)) == [4, 2, 1]


def test_a_result_that_is_too_large_as_a_whole_is_an_error() -> None:
    result = united(rows(*range(10)), rows(*range(10)), max_bytes=100)
    assert isinstance(result, PeekError)
    assert "max_result_size = 100" in result.message


def test_a_large_result_stays_in_parts() -> None:
    result = unite([rows(*range(10)), rows(7)], Finishing(), SCHEMA, LARGE, 50)
    assert isinstance(result, Stashed)
    assert [part.num_rows for part in result.parts] == [10, 1]


def test_rows_without_columns_are_counted() -> None:
    schema = Schema(())
    block = row_block(Updates.of((), 0, size=3), schema)
    assert block.num_rows == 3
    assert empty_block(schema).num_rows == 0
