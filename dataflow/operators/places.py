"""Places of rows with multiplicities: a row of multiplicity three takes three places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..columns.packed_sort import begins

Counts = npt.NDArray[np.int64]

MOST = 2**63 - 1
"""More places than there can be."""


def count_within(counts: Counts, start: int, stop: int, groups: npt.NDArray[np.int64] | None = None) -> Counts:
    """How many of each row's places are from ``start`` up to ``stop`` of its group; none where it is not positive.

    Args:
        counts: the multiplicities of rows in order.
        groups: the group of each row, ascending; None when there is one group.
    """
    # No more of a row than is asked for, lest many rows together have more places than 64 bits can tell.
    counts, start = np.minimum(counts, stop), min(start, stop)
    places = counts.cumsum() - counts
    if groups is not None:
        first = begins(groups)
        places -= places[first][first.cumsum() - 1]
    return np.minimum(places, stop - counts) + counts - np.maximum(places, start)
