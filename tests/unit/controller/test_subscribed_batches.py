"""A batch that a slower replica tells again, cut to what was not delivered."""

from __future__ import annotations

import pyarrow as pa

from pillion.actors.controller.subscriptions import from_time
from pillion.messages.responses import SubscribeBatch
from pillion.messages.rows import UpdateBlock


def test_rows_of_one_time_that_were_delivered_are_left_out_with_their_multiplicities() -> None:
    rows = pa.record_batch({"a": pa.array([1, 2], pa.int64())})
    batch = SubscribeBatch(3, 5, UpdateBlock(rows, 3, pa.array([1, 2], pa.int64())))
    cut = from_time(batch, 4)
    assert (cut.lower, cut.upper, cut.updates.num_rows) == (4, 5, 0)
    assert isinstance(cut.updates.diffs, int)
