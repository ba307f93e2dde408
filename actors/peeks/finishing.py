"""Order, limit and offset over rows with multiplicities: a row of multiplicity three counts as three rows."""

from __future__ import annotations

import numpy as np

from ...dataflow.arrangements.updates import Updates
from ...dataflow.columns.sorting import SortKey, sort_rows
from ...dataflow.operators.places import MOST, count_within
from ...messages.commands import Finishing


def is_trivial(finishing: Finishing) -> bool:
    """Whether the finishing leaves every result as it is."""
    return not finishing.order_by and finishing.limit is None and finishing.offset == 0


def local_part(finishing: Finishing) -> Finishing:
    """What each worker may apply to its own share, so that the whole finishing over the union is unchanged by it:
    nothing beyond the first ``offset + limit`` rows can be in the result."""
    if finishing.limit is None:
        return Finishing()
    return Finishing(finishing.order_by, min(finishing.limit + finishing.offset, MOST), 0)


def finish(updates: Updates, finishing: Finishing) -> Updates:
    """The rows from ``offset`` to ``offset + limit`` in the order asked for. Ties are in order of the whole row, so
    that the result does not depend on how rows were spread over workers."""
    if finishing.order_by:
        keys = [SortKey(order.column, order.descending, order.nulls_first) for order in finishing.order_by]
        updates = updates.take(sort_rows(np.zeros(len(updates), np.int64), updates.columns, keys))
    if finishing.limit is None and finishing.offset == 0:
        return updates
    return _window(updates, finishing.offset, finishing.limit)


def _window(updates: Updates, offset: int, limit: int | None) -> Updates:
    """The rows at positions ``[offset, offset + limit)``, counted with multiplicity."""
    stop = MOST if limit is None else min(offset + limit, MOST)
    diffs = count_within(updates.diffs, offset, stop)
    rows = np.flatnonzero(diffs > 0)
    first, last = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    kept = updates.slice(first, last)
    return Updates(kept.columns, kept.times, diffs[first:last])
