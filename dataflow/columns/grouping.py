"""Exact grouping of rows by hash, and what follows from it: row hashes, equality of rows, sharding.

Invariant: equal rows always have equal hashes, and two rows are only ever called equal after their columns were
compared. A hash collision therefore costs time and never an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import hashing
from .column import ArrowColumn, Column, FixedColumn, Indices, Mask
from .hashing import Hashes

Columns = Sequence[Column]


def all_true(mask: Mask) -> bool:
    """``mask.all()``, which takes ten times as long on a handful of rows, and four times on some more."""
    if len(mask) <= _HANDFUL:
        return False not in mask.tolist()
    return np.count_nonzero(mask) == len(mask)


_HANDFUL = 16


_RADIX = 2_000
"""From so many rows on a radix sort is faster."""


def sort_order(order: Hashes) -> Indices:
    """A permutation that sorts these numbers.

    From the least significant sixteen bits to the most, each pass stable: for so few bits NumPy has a radix sort, which
    makes this twice as fast as its sort of 64 bits, from thousands to hundreds of thousands of rows.
    """
    if len(order) < _RADIX:
        return order.argsort()
    permutation = order.astype(np.uint16).argsort(kind="stable")
    for shift in _SHIFTS:
        digits = (order >> shift).astype(np.uint16)
        permutation = permutation.take(digits.take(permutation).argsort(kind="stable"))
    return permutation


_SHIFTS = (np.uint64(16), np.uint64(32), np.uint64(48))


def row_hashes(columns: Columns, size: int) -> Hashes:
    """One hash per row of these columns (``size`` rows; needed when there are no columns)."""
    if not columns:
        return np.full(size, hashing.EMPTY_HASH, np.uint64)
    if size <= hashing.FEW:
        return np.array(row_hash_numbers(columns, size), np.uint64)
    result = columns[0].hashes()
    for column in columns[1:]:
        result = hashing.combine(result, column.hashes())
    return result


def row_hash_numbers(columns: Columns, size: int) -> list[int]:
    """The same for a few rows (see ``hashing.FEW``), as Python's integers."""
    if not columns:
        return [int(hashing.EMPTY_HASH)] * size
    result = columns[0].hash_numbers()
    for column in columns[1:]:
        result = [hashing.combine_numbers(a, b) for a, b in zip(result, column.hash_numbers(), strict=True)]
    return result


def shard_of(columns: Columns, size: int, peers: int) -> npt.NDArray[np.int64]:
    """The worker, from 0, on which each row of an arrangement with this key lives among ``peers`` workers."""
    # The upper half: a product's low bits depend on its factors' low bits alone.
    return ((row_hashes(columns, size) >> np.uint64(32)) % np.uint64(peers)).astype(np.int64)


def look(column: Column, rows: Indices) -> Column:
    """The values at these positions, to be compared and not kept: a single one shares the column's memory, which for
    texts takes a tenth of the time of a copy."""
    if len(rows) == 1:
        row = rows.item()
        return column.slice(row, row + 1)
    return column.take(rows)


def rows_equal(left: Columns, left_rows: Indices, right: Columns, right_rows: Indices) -> Mask:
    """Whether row ``left_rows[i]`` of ``left`` equals row ``right_rows[i]`` of ``right``, for each i."""
    result: Mask | None = None
    for a, b in zip(left, right, strict=True):
        same = look(a, left_rows).equal(look(b, right_rows))
        result = same if result is None else result & same
    return np.ones(len(left_rows), np.bool_) if result is None else result


def rows_equal_one(columns: Columns, one: Columns, size: int) -> Mask:
    """Whether each of ``size`` rows equals a single one."""
    result: Mask | None = None
    for column, value in zip(columns, one, strict=True):
        same = column.equal_one(value)
        result = same if result is None else result & same
    return np.ones(size, np.bool_) if result is None else result


def exact_codes(columns: Columns, rows: Indices) -> npt.NDArray[np.int64]:
    """Numbers that are equal exactly where these rows are; the slow and certain way, for rows whose hashes collide."""
    codes = np.zeros(len(rows), np.int64)
    for column in columns:
        taken = column.take(rows)
        if isinstance(taken, FixedColumn):
            values = taken.sort_codes()
            inverse = np.unique(values, return_inverse=True)[1].astype(np.int64)
        else:
            assert isinstance(taken, ArrowColumn)
            inverse = taken.array.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
            inverse = inverse.astype(np.int64) + 1
        valid = taken.validity()
        if valid is not None:
            inverse = np.where(valid, inverse, -1)
        pairs = np.stack((codes, inverse))
        codes = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return codes


def cluster(
    order: Hashes,
    columns: Columns,
    times: npt.NDArray[np.int64] | None = None,
    permutation: Indices | None = None,
) -> tuple[Indices, Indices | None]:
    """Bring equal rows together.

    Args:
        order: one number per row, equal for equal rows (a hash).
        columns: what makes rows equal.
        times: when given, rows are equal only at equal times, and equal rows are in order of time.
        permutation: a permutation that sorts ``order`` already.

    Returns:
        ``(permutation, starts)``: row positions sorted by ``order`` with equal rows adjacent, and the position in the
        permutation where each group of equal rows begins; None when every row is a group of its own.
    """
    size = len(order)
    if permutation is None:
        permutation = sort_order(order)
    if size < 2:
        return permutation, None
    sorted_order = order.take(permutation)
    repeats: Mask = sorted_order[1:] == sorted_order[:-1]
    if not np.count_nonzero(repeats):
        return permutation, None
    # Only rows in runs of one order value need a closer look; most often they are few.
    pairs: Indices = repeats.nonzero()[0]
    rows, next_rows = permutation.take(pairs), permutation.take(pairs + 1)
    simultaneous: Mask | None = None
    if times is not None and times.strides != (0,):
        earlier, later = times.take(rows), times.take(next_rows)
        if np.count_nonzero(earlier > later):
            return _cluster_runs(columns, times, permutation, sorted_order, repeats)
        simultaneous = earlier == later
    if not all_true(rows_equal(columns, rows, columns, next_rows)):
        return _cluster_runs(columns, times, permutation, sorted_order, repeats)
    # As most often: what has one order value is equal, and in order of time already.
    begins = np.ones(size, np.bool_)
    if simultaneous is None:
        np.logical_not(repeats, begins[1:])
    else:
        begins[pairs[simultaneous] + 1] = False
    return permutation, begins.nonzero()[0]


def _cluster_runs(
    columns: Columns,
    times: npt.NDArray[np.int64] | None,
    permutation: Indices,
    sorted_order: Hashes,
    repeats: Mask,
) -> tuple[Indices, Indices]:
    """As :func:`cluster`, when there are runs of one order value that have to be brought in order.

    Args:
        permutation: sorts the order.
        repeats: for every two neighbours in it, whether their order values are equal.
    """
    size = len(permutation)
    in_run = np.zeros(size, np.bool_)
    in_run[1:] = repeats
    in_run[:-1] |= repeats
    places = in_run.nonzero()[0]
    rows = permutation.take(places)
    run_order = sorted_order.take(places)
    if times is not None and times.strides != (0,):
        by_time = np.lexsort((times[rows], run_order))
        rows = rows[by_time]
    else:
        times = None
    same_run = run_order[1:] == run_order[:-1]
    pairs = same_run.nonzero()[0]
    same = rows_equal(columns, rows[pairs], columns, rows[pairs + 1])
    if not all_true(same):
        rows = _separate(columns, rows, run_order, same_run, pairs[~same], times)
        same = rows_equal(columns, rows[pairs], columns, rows[pairs + 1])
    if times is not None:
        row_times = times[rows]
        same &= row_times[pairs] == row_times[pairs + 1]
    permutation = permutation.copy()
    permutation[places] = rows
    begins = np.ones(size, np.bool_)
    begins[places[pairs[same] + 1]] = False
    return permutation, begins.nonzero()[0]


def _separate(
    columns: Columns,
    rows: Indices,
    run_order: Hashes,
    same_run: Mask,
    differing: Indices,
    times: npt.NDArray[np.int64] | None,
) -> Indices:
    """Reorder the rows of the runs in which different rows share one order value, so that equal ones are adjacent."""
    run_of = np.concatenate(([0], np.cumsum(~same_run)))
    colliding = np.zeros(int(run_of[-1]) + 1, np.bool_)
    colliding[run_of[differing]] = True
    places = colliding[run_of].nonzero()[0]
    chosen = rows[places]
    codes = exact_codes(columns, chosen)
    keys = (codes, run_order[places]) if times is None else (times[chosen], codes, run_order[places])
    rows = rows.copy()
    rows[places] = chosen[np.lexsort(keys)]
    return rows
