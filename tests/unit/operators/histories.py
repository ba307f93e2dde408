"""Random histories of a collection, run through an operator in chunks and compared with a plain function of each
time's rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from pillion.dataflow.arrangements.updates import Chunk, Updates, error_messages
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.operators.operator import UnaryLogic
from pillion.messages.types import SqlType

Row = tuple[object, ...]
Change = tuple[Row, int, int]
Rows = Counter[Row]
Expected = tuple[Rows, set[str]]

TIMES = 6


def histories(row: st.SearchStrategy[Row], *, valid: bool = True, size: int = 25) -> st.SearchStrategy[list[Change]]:
    """Changes with times below ``TIMES``; when ``valid``, no row's multiplicity is ever negative."""
    change = st.tuples(row, st.integers(0, TIMES - 1), st.sampled_from((1, 1, 1, -1, -1, 2)))
    return st.lists(change, max_size=size).map(make_valid if valid else list)


def make_valid(changes: Sequence[Change]) -> list[Change]:
    """The changes in order of time, without the retractions of what is not there."""
    present: Counter[object] = Counter()
    kept: list[Change] = []
    for row, time, diff in sorted(changes, key=lambda change: change[1]):
        key = canonical(row)
        if present[key] + diff >= 0:
            present[key] += diff
            kept.append((row, time, diff))
    return kept


def cuts() -> st.SearchStrategy[list[int]]:
    """Where the times are divided into chunks."""
    return st.sets(st.integers(1, TIMES - 1)).map(lambda inner: [0, *sorted(inner), TIMES])


def canonical(row: Row) -> Row:
    """Equal for rows that are equal in grouping: one NaN, one zero."""
    return tuple([_canonical(v) if isinstance(v, float) else v for v in row])


def _canonical(value: float) -> object:
    return "NaN" if math.isnan(value) else value + 0.0


def updates_of(changes: Sequence[Change], types: Sequence[SqlType]) -> Updates | None:
    """The changes in columns."""
    if not changes:
        return None
    columns = tuple([column_from_values([row[i] for row, _, _ in changes], t) for i, t in enumerate(types)])
    times = np.array([t for _, t, _ in changes], np.int64)
    return Updates(columns, times, np.array([d for _, _, d in changes], np.int64))


def check(
    logic: UnaryLogic,
    types: Sequence[SqlType],
    changes: Sequence[Change],
    bounds: Sequence[int],
    expected: Callable[[Rows], Expected],
    shown: Callable[[Row], Row] | None = None,
) -> None:
    """Assert that at every time the operator's output is what the function gives for the rows at that time.

    Args:
        expected: the output's rows and the errors for the rows of the input, which have no zero counts.
        shown: what of an output row is compared; rows that are equal in grouping must be equal then.
    """
    shown = shown or canonical
    oks: Counter[Row] = Counter()
    errs: Counter[str] = Counter()
    pending: list[tuple[int, str, object, int]] = []
    for lower, upper in pairwise(bounds):
        part = [c for c in changes if lower <= c[1] < upper]
        out = logic.process(Chunk(lower, upper, updates_of(part, types), None))
        assert (out.lower, out.upper) == (lower, upper)
        for row, time, diff in out.oks.to_tuples() if out.oks is not None else []:
            assert lower <= time < upper and diff
            pending.append((time, "ok", shown(row), diff))
        if out.errs is not None:
            for message, time, diff in zip(
                error_messages(out.errs), out.errs.times.tolist(), out.errs.diffs.tolist(), strict=True
            ):
                assert lower <= time < upper
                pending.append((time, "err", message, diff))
    for time in range(TIMES):
        for when, kind, what, diff in pending:
            if when == time:
                (oks if kind == "ok" else errs)[what] += diff
        rows: Rows = Counter()
        originals: dict[Row, Row] = {}
        for row, when, diff in changes:
            if when <= time:
                rows[originals.setdefault(canonical(row), row)] += diff
        wanted, wanted_errors = expected(Counter({row: n for row, n in rows.items() if n}))
        wanted = Counter({shown(row): n for row, n in wanted.items()})
        assert {r: n for r, n in oks.items() if n} == dict(wanted), time
        assert {m: n for m, n in errs.items() if n} == dict.fromkeys(wanted_errors, 1), time
