"""Batches of several workers as one subscription."""

from __future__ import annotations

import numpy as np

from pillion.actors.multiplexer.subscribes import SubscribeMerge
from pillion.actors.peeks.blocks import update_block, updates_of
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.frontiers import Frontier, Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.responses import DroppedAt, SubscribeBatch, SubscribeResponse
from pillion.messages.types import Field, Schema, SqlType

ID = GlobalId("u", 1)
SCHEMA = Schema((Field("n", SqlType.BIGINT, False),))
Change = tuple[int, Timestamp, int]


def batch(lower: Timestamp, upper: Frontier, *changes: Change, error: str | None = None) -> SubscribeResponse:
    columns = (column_from_values([n for n, _, _ in changes], SqlType.BIGINT),)
    times = np.array([time for _, time, _ in changes], np.int64)
    diffs = np.array([diff for _, _, diff in changes], np.int64)
    return SubscribeResponse(
        ID, SubscribeBatch(lower, upper, update_block(Updates(columns, times, diffs), SCHEMA), error)
    )


def shown(responses: list[SubscribeResponse]) -> list[object]:
    result: list[object] = []
    for response in responses:
        if isinstance(response.result, DroppedAt):
            result.append(response.result)
            continue
        updates = updates_of(response.result.updates, SCHEMA).to_tuples()
        result.append((response.result.lower, response.result.upper, sorted(updates), response.result.error))
    return result


def test_batches_are_aligned_to_the_least_upper() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    assert merge.absorb(0, batch(0, 10, (1, 2, 1), (2, 7, 1))) == []
    assert shown(merge.absorb(1, batch(0, 5, (3, 4, 1)))) == [(0, 5, [((1,), 2, 1), ((3,), 4, 1)], None)]
    assert shown(merge.absorb(1, batch(5, 20))) == [(5, 10, [((2,), 7, 1)], None)]


def test_what_cancels_across_workers_is_not_told() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    merge.absorb(0, batch(0, 1, (1, 0, 1)))
    assert shown(merge.absorb(1, batch(0, 1, (1, 0, -1)))) == [(0, 1, [], None)]


def test_an_error_is_told_with_the_batch_that_reaches_it() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    merge.absorb(0, batch(0, 3))
    merge.absorb(0, batch(3, 5, error="late"))
    assert shown(merge.absorb(1, batch(0, 3))) == [(0, 3, [], None)]
    assert shown(merge.absorb(1, batch(3, 5))) == [(3, 5, [], "late")]


def test_the_end_is_told_once_every_worker_came_to_it() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 2, 2)
    merge.absorb(0, batch(2, None, (1, 2, 1)))
    assert shown(merge.absorb(1, batch(2, None))) == [(2, None, [((1,), 2, 1)], None)]
    assert merge.is_finished


def test_a_drop_is_told_at_the_common_upper() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    merge.absorb(0, batch(0, 9))
    merge.absorb(1, batch(0, 4))
    assert merge.absorb(0, SubscribeResponse(ID, DroppedAt(9))) == []
    assert merge.absorb(1, SubscribeResponse(ID, DroppedAt(4))) == [SubscribeResponse(ID, DroppedAt(4))]
    assert merge.is_finished


def test_a_worker_that_had_come_to_the_end_is_not_waited_for_by_a_drop() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    merge.absorb(0, batch(0, None))
    merge.absorb(1, batch(0, 4))
    assert merge.absorb(1, SubscribeResponse(ID, DroppedAt(4))) == [SubscribeResponse(ID, DroppedAt(4))]


def test_a_batch_that_completes_an_interval_after_a_drop_is_still_told() -> None:
    merge = SubscribeMerge(ID, SCHEMA, 0, 2)
    merge.absorb(0, batch(0, 5, (1, 1, 1)))
    merge.absorb(0, SubscribeResponse(ID, DroppedAt(5)))
    responses = merge.absorb(1, batch(0, None))
    assert shown(responses) == [(0, 5, [((1,), 1, 1)], None), DroppedAt(5)]
