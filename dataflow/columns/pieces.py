"""What NumPy does with the interpreter's lock held, done piece by piece.

Almost all of NumPy's work on numbers gives the lock away, so that other threads answer reads meanwhile. These functions
do not, and on millions of rows they would hold it for tens of milliseconds; between two pieces others have their turn.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

PIECE = 1 << 15
"""Rows: some 100 microseconds."""


def repeat(values: npt.NDArray[Any], counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
    """Each value so many times: ``values.repeat(counts)``."""
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    if total <= 2 * PIECE:
        return values.repeat(counts)
    # A value that is repeated more often than fills a piece has one of its own.
    cuts = ends.searchsorted(np.arange(PIECE, total, PIECE)).tolist()
    bounds = [0, *dict.fromkeys(cut for cut in cuts if cut), len(values)]
    return np.concatenate([values[a:b].repeat(counts[a:b]) for a, b in itertools.pairwise(bounds)])


def add_at(totals: npt.NDArray[Any], places: npt.NDArray[np.integer[Any]], changes: npt.NDArray[Any]) -> None:
    """Add each change at its place; a place may occur several times: ``np.add.at(totals, places, changes)``."""
    for start in range(0, len(places), PIECE):
        np.add.at(totals, places[start : start + PIECE], changes[start : start + PIECE])
