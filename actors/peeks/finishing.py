"""Order, limit and offset over rows with multiplicities: a row of multiplicity three counts as three rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...dataflow.arrangements.updates import Updates
from ...dataflow.columns.column import Column, Indices
from ...messages.commands import Finishing
from ...messages.relations import Order


def is_trivial(finishing: Finishing) -> bool:
    """Whether the finishing leaves every result as it is."""
    return not finishing.order_by and finishing.limit is None and finishing.offset == 0


def local_part(finishing: Finishing) -> Finishing:
    """What each worker may apply to its own share, so that the whole finishing over the union is unchanged by it:
    nothing beyond the first ``offset + limit`` rows can be in the result."""
    if finishing.limit is None:
        return Finishing()
    return Finishing(finishing.order_by, finishing.limit + finishing.offset, 0)


def finish(updates: Updates, finishing: Finishing) -> Updates:
    """The rows from ``offset`` to ``offset + limit`` in the order asked for. Ties are in order of the whole row, so
    that the result does not depend on how rows were spread over workers."""
    if finishing.order_by:
        updates = updates.take(ordering(updates.columns, len(updates), finishing.order_by))
    if finishing.limit is None and finishing.offset == 0:
        return updates
    return _window(updates, finishing.offset, finishing.limit)


def ordering(columns: tuple[Column, ...], size: int, order_by: tuple[Order, ...]) -> Indices:
    """The permutation that sorts rows by these columns, then by the whole row."""
    keys: list[npt.NDArray[np.uint64]] = []
    named = {order.column for order in order_by}
    rest = tuple(Order(i) for i in range(len(columns)) if i not in named)
    for order in (*order_by, *rest):
        column = columns[order.column]
        codes = column.sort_codes()
        valid = column.validity()
        if order.descending:
            codes = ~codes
        if valid is not None:
            codes = np.where(valid, codes, np.uint64(0))
            keys.append((valid if order.nulls_first else ~valid).astype(np.uint64))
        keys.append(codes)
    # lexsort takes its most significant key last.
    return np.lexsort(keys[::-1]) if keys else np.arange(size)


def _window(updates: Updates, offset: int, limit: int | None) -> Updates:
    """The rows at positions ``[offset, offset + limit)``, counted with multiplicity."""
    ends = np.cumsum(updates.diffs)
    starts = ends - updates.diffs
    stop = np.iinfo(np.int64).max if limit is None else offset + limit
    diffs = np.minimum(ends, stop) - np.maximum(starts, offset)
    rows = np.flatnonzero(diffs > 0)
    first, last = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    kept = updates.slice(first, last)
    return Updates(kept.columns, kept.times, diffs[first:last])
