"""Rows are compared as multisets, or in their order; every value is equal to itself alone."""

from __future__ import annotations

import math

import pytest

from pillion.actors.peeks.blocks import row_block
from pillion.actors.replay.peeks import compare_peek
from pillion.actors.replay.rows import compare_rows
from pillion.actors.replay.verdict import Outcome
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Finishing
from pillion.messages.relations import Order
from pillion.messages.responses import Canceled, PeekError, PeekResult, Rows, Stashed
from pillion.messages.types import SqlType

from .build import peek, rows

ORDERED = Finishing(order_by=(Order(0),))


def outcome(recorded: PeekResult, replayed: PeekResult, finishing: Finishing = Finishing()) -> Outcome:
    return compare_peek(peek(finishing=finishing), recorded, replayed).outcome


def test_the_order_counts_only_where_one_was_asked_for() -> None:
    one, other = rows((1, "a"), (2, "b")), rows((2, "b"), (1, "a"))
    assert outcome(one, other) is Outcome.SAME
    assert outcome(one, other, ORDERED) is Outcome.DIFFERENT
    assert outcome(one, one, ORDERED) is Outcome.SAME


def test_multiplicities_count_however_they_are_told() -> None:
    twice = Rows(row_block(updates_twice(), peek().result))
    assert outcome(rows((1, "a"), (1, "a")), twice) is Outcome.SAME
    assert outcome(rows((1, "a"), (1, "a")), twice, ORDERED) is Outcome.SAME
    assert outcome(rows((1, "a")), twice) is Outcome.DIFFERENT


def updates_twice() -> Updates:
    columns = (column_from_values([1], SqlType.BIGINT), column_from_values(["a"], SqlType.TEXT))
    return Updates.of(columns, 0, 2)


def test_parts_are_one_answer() -> None:
    whole = rows((1, "a"), (2, None))
    parts = Stashed((rows((2, None)).block, rows().block, rows((1, "a")).block))
    assert outcome(whole, parts) is Outcome.SAME


def test_a_difference_names_rows_of_both_sides() -> None:
    verdict = compare_peek(peek(), rows((1, "a"), (2, "b")), rows((1, "a"), (None, "c"), (None, "c")))
    assert verdict.outcome is Outcome.DIFFERENT
    assert verdict.recorded == ('(2 "b")',)
    assert verdict.replayed == ('(null "c") ×2',)
    assert verdict.note == "1 row only recorded, 2 rows only replayed"


def test_places_are_shown_where_an_order_was_asked_for() -> None:
    verdict = compare_peek(peek(finishing=ORDERED), rows((1, "a"), (2, "b")), rows((2, "b"), (1, "a")))
    assert verdict.recorded == ('[0] (1 "a")', '[1] (2 "b")')


@pytest.mark.parametrize("finishing", [Finishing(limit=2), Finishing(offset=1)])
def test_a_limit_without_an_order_leaves_the_choice(finishing: Finishing) -> None:
    assert outcome(rows((1, "a"), (2, "b")), rows((3, "c"), (2, "b")), finishing) is Outcome.SAME
    assert outcome(rows((1, "a"), (2, "b")), rows((1, "a")), finishing) is Outcome.DIFFERENT


def test_errors_are_compared_by_their_text() -> None:
    assert outcome(PeekError("x"), PeekError("x")) is Outcome.SAME
    assert outcome(PeekError("x"), PeekError("y")) is Outcome.DIFFERENT
    assert outcome(PeekError("x"), rows()) is Outcome.DIFFERENT


def test_a_cancelled_peek_may_have_been_answered_or_not() -> None:
    one = peek()
    assert compare_peek(one, Canceled(), rows(), cancelled=True).outcome is Outcome.NOT_COMPARED
    assert compare_peek(one, rows(), Canceled(), cancelled=True).outcome is Outcome.NOT_COMPARED
    assert compare_peek(one, rows((1, "a")), rows(), cancelled=True).outcome is Outcome.DIFFERENT
    assert compare_peek(one, rows(), Canceled()).outcome is Outcome.DIFFERENT


def test_floats_are_equal_to_themselves() -> None:
    values = [math.nan, -0.0, math.inf, None]
    columns = (column_from_values(values, SqlType.DOUBLE),)
    other = (column_from_values(values[::-1], SqlType.DOUBLE),)
    assert compare_rows(Updates.of(columns, 0), Updates.of(other, 0)) is None
    assert compare_rows(Updates.of(columns, 0), Updates.of(columns, 0), ordered=True) is None
    found = compare_rows(Updates.of(columns, 0), Updates.of(columns, 0).slice(1, 4))
    assert found is not None
    assert (found.only_recorded, found.recorded) == (1, ("(nan)",))


def test_rows_without_columns_are_counted() -> None:
    assert compare_rows(Updates.of((), 0, size=3), Updates.of((), 0, size=3)) is None
    found = compare_rows(Updates.of((), 0, size=3), Updates.of((), 0, size=1))
    assert found is not None
    assert found.only_recorded == 2


def test_few_rows_of_a_large_difference_are_shown() -> None:
    many = Updates.of((column_from_values(list(range(1000)), SqlType.BIGINT),), 0)
    found = compare_rows(many, many.slice(0, 0))
    assert found is not None
    assert found.only_recorded == 1000
    assert len(found.recorded) == 5
