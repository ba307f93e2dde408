"""Putting values at chosen positions of a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .column import ArrowColumn, Column, FixedColumn, Indices


def spread(column: Column, positions: Indices, size: int) -> Column:
    """A column of ``size`` values: ``column``'s at these positions (ascending, different), and NULL elsewhere."""
    if len(positions) == size:
        return column
    if isinstance(column, FixedColumn):
        values = np.zeros(size, column.values.dtype)
        values[positions] = column.values
        valid = np.zeros(size, np.bool_)
        valid[positions] = True if column.valid is None else column.valid
        return FixedColumn(column.type, values, valid)
    assert isinstance(column, ArrowColumn)
    sources = np.full(size, -1)
    sources[positions] = np.arange(len(positions))
    return ArrowColumn(column.type, column.array.take(pa.array(sources, mask=sources < 0)))
