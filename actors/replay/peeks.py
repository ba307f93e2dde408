"""Comparing two answers to one peek."""

from __future__ import annotations

from ...messages.commands import IndexTarget, Peek
from ...messages.responses import Canceled, PeekError, PeekResult, Rows, Stashed
from .rows import RowsDifference, blocks_of, compare_rows, count_rows, updates_in
from .verdict import SAME, Outcome, Verdict


def compare_peek(peek: Peek, recorded: PeekResult, replayed: PeekResult, *, cancelled: bool = False) -> Verdict:
    """Whether a peek was answered as it was recorded.

    Rows are compared as multisets; place by place where an order was asked for; and by their number alone where a limit
    or an offset without an order lets the replica choose.

    Args:
        cancelled: somebody asked to cancel it, so that either answer may be ``Canceled``.
    """
    match recorded, replayed:
        case ((Rows() | Stashed()), (Rows() | Stashed())):
            return _compare_rows(peek, recorded, replayed)
        case PeekError(before), PeekError(now):
            return SAME if before == now else Verdict(Outcome.DIFFERENT, (before,), (now,), "another error")
        case Canceled(), Canceled():
            return SAME
        case _ if cancelled and (isinstance(recorded, Canceled) or isinstance(replayed, Canceled)):
            return Verdict(Outcome.NOT_COMPARED, note="cancelled")
        case _:
            return Verdict(Outcome.DIFFERENT, (show_result(peek, recorded),), (show_result(peek, replayed),), "")


def _compare_rows(peek: Peek, recorded: Rows | Stashed, replayed: Rows | Stashed) -> Verdict:
    before, now = (updates_in(blocks_of(result), peek.result) for result in (recorded, replayed))
    finishing = peek.finishing
    if not finishing.order_by and (finishing.limit is not None or finishing.offset):
        if count_rows(before) == count_rows(now):
            return SAME
        return Verdict(
            Outcome.DIFFERENT, (show_result(peek, recorded),), (show_result(peek, replayed),), "another number of rows"
        )
    return rows_verdict(compare_rows(before, now, ordered=bool(finishing.order_by)))


def rows_verdict(found: RowsDifference | None) -> Verdict:
    """What a difference of rows means."""
    if found is None:
        return SAME
    note = f"{_rows(found.only_recorded)} only recorded, {_rows(found.only_replayed)} only replayed"
    return Verdict(Outcome.DIFFERENT, found.recorded, found.replayed, note)


def show_result(peek: Peek, result: PeekResult) -> str:
    """An answer in a few words."""
    match result:
        case Rows() | Stashed():
            return _rows(count_rows(updates_in(blocks_of(result), peek.result)))
        case PeekError(message):
            return f"error: {message}"
        case Canceled():
            return "cancelled"


def show_peek(peek: Peek) -> str:
    """A peek in a few words."""
    kind = "" if isinstance(peek.target, IndexTarget) else "shard "
    return f"peek {peek.uuid} of {kind}{peek.target.id} at {peek.timestamp}"


def _rows(number: int) -> str:
    return f"{number} row{'' if number == 1 else 's'}"
