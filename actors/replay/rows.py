"""Comparing the rows of two answers: as multisets, or place by place where an order was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ...dataflow.arrangements.updates import Updates, concat_updates, empty_updates, uniform
from ...messages.responses import Rows, Stashed
from ...messages.rows import RowBlock
from ...messages.types import Schema
from ..peeks.blocks import rows_of
from ..scripts.values import Row, show_row, sort_key

SHOWN = 5
"""So many rows of each side are shown of a difference."""


@dataclass(frozen=True, slots=True)
class RowsDifference:
    """The rows that one side has and the other has not, with their multiplicities: how many, and the first of them.

    ``recorded`` and ``replayed`` are lines to print.
    """

    only_recorded: int
    only_replayed: int
    recorded: tuple[str, ...]
    replayed: tuple[str, ...]


def blocks_of(result: Rows | Stashed) -> Sequence[RowBlock]:
    """The blocks of an answer that has rows."""
    return (result.block,) if isinstance(result, Rows) else result.parts


def updates_in(blocks: Sequence[RowBlock], schema: Schema) -> Updates:
    """The rows of some blocks, one after the other; every time is 0."""
    parts = [rows_of(block, schema) for block in blocks if block.num_rows]
    return concat_updates(parts) if parts else empty_updates([field.type for field in schema.fields])


def count_rows(updates: Updates) -> int:
    """How many rows these are; one of multiplicity three counts as three."""
    return int(updates.diffs.sum())


def compare_rows(recorded: Updates, replayed: Updates, *, ordered: bool = False) -> RowsDifference | None:
    """What differs between two answers; None when nothing does.

    Args:
        ordered: the rows have places, so that equal rows in another order are another answer.
    """
    if ordered:
        recorded, replayed = _placed(recorded), _placed(replayed)
    return leftover(concat_updates([recorded, replayed.negate()]).consolidate(), with_times=ordered)


def leftover(difference: Updates, *, with_times: bool) -> RowsDifference | None:
    """Tell of a consolidated difference, recorded minus replayed. ``with_times``: show times (or places) as well."""
    if not len(difference):
        return None
    more, less = difference.filter(difference.diffs > 0), difference.filter(difference.diffs < 0).negate()
    return RowsDifference(
        int(more.diffs.sum()), int(less.diffs.sum()), _show(more, with_times), _show(less, with_times)
    )


def _placed(updates: Updates) -> Updates:
    """Each row as often as its multiplicity says, and its place instead of its time."""
    rows = np.repeat(np.arange(len(updates)), updates.diffs)
    taken = updates.take(rows)
    return Updates(taken.columns, np.arange(len(rows), dtype=np.int64), uniform(1, len(rows)))


def _show(updates: Updates, with_times: bool) -> tuple[str, ...]:
    # A difference may be of millions of rows, of which a few are looked at.
    few = updates.slice(0, min(len(updates), 10 * SHOWN)).to_tuples()
    ordered = sorted(few, key=lambda update: (update[1], sort_key(cast(Row, update[0]))))[:SHOWN]
    return tuple([_line(cast(Row, row), time, diff, with_times) for row, time, diff in ordered])


def _line(row: Row, time: int, diff: int, with_times: bool) -> str:
    at = f"[{time}] " if with_times else ""
    times = "" if diff == 1 else f" ×{diff}"
    return f"{at}({show_row(row)}){times}"
