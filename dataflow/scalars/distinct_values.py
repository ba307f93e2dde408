"""Functions of one text column of which few values are distinct: computed once per distinct value."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa

from ..columns.arrow import ArrowColumn
from ..columns.base import Indices
from ..columns.dictionary import DictionaryColumn
from .nodes import Node
from .vectors import Slot, Slots, Vector, spread, take


def by_distinct_values(node: Node, index: int) -> Node:
    """The same expression, of which the column at ``index`` is the only one: computed for the column's dictionary where
    it has one, and then looked up by the rows' codes."""
    inner, type = node.run, node.type

    def run(slots: Slots, size: int) -> Vector:
        column = slots[index]
        if not isinstance(column, DictionaryColumn) or len(column.dictionary) >= size:
            return inner(slots, size)
        values, codes = column.dictionary.values, column.codes
        if column.valid is not None:
            # NULL is one more value, at the end.
            codes = np.where(column.valid, codes, len(values))
            values = ArrowColumn(column.type, pa.concat_arrays([values.array, pa.nulls(1, column.type.arrow)]))
        only: list[Slot | None] = [None] * index
        only.append(values)
        vector = inner(only, len(values))
        found = take((*spread(vector, type, len(values)), vector[2]), cast(Indices, codes))
        return cast(Vector, found)

    return replace(node, run=run)
