"""Uniting the workers' answers to one peek: an error wins, a cancel wins over rows, rows are united and finished."""

from __future__ import annotations

from collections.abc import Sequence

from ...dataflow.arrangements.updates import concat_updates
from ...messages.commands import Finishing
from ...messages.responses import Canceled, PeekError, PeekResult, Rows, Stashed
from ...messages.rows import RowBlock
from ...messages.types import Schema
from .blocks import empty_block, row_block, rows_of
from .finishing import finish, is_trivial


def unite(
    results: Sequence[PeekResult], finishing: Finishing, schema: Schema, max_bytes: int, stash_bytes: int
) -> PeekResult:
    """The one answer, given every worker's.

    Args:
        results: in order of the workers.
        max_bytes: a larger result is an error instead.
        stash_bytes: a larger result stays in parts.
    """
    blocks: list[RowBlock] = []
    errors: list[str] = []
    canceled = False
    for result in results:
        match result:
            case PeekError(message):
                errors.append(message)
            case Canceled():
                canceled = True
            case Rows(block):
                if block.num_rows:
                    blocks.append(block)
            case Stashed(parts):
                blocks += parts
    if errors:
        # As each worker does with its own: which one it is must not depend on how rows are spread.
        return PeekError(min(errors))
    if canceled:
        return Canceled()
    if not blocks:
        return Rows(empty_block(schema))
    if len(blocks) == 1 and is_trivial(finishing):
        # The usual case, and the worker has checked the size.
        return Rows(blocks[0])
    if not is_trivial(finishing):
        united = concat_updates([rows_of(block, schema) for block in blocks])
        blocks = [row_block(finish(united, finishing), schema)]
    size = sum(block.columns.nbytes for block in blocks)
    if size > max_bytes:
        return too_large(max_bytes)
    if len(blocks) == 1:
        return Rows(blocks[0])
    if size > stash_bytes:
        return Stashed(tuple(blocks))
    return Rows(row_block(concat_updates([rows_of(block, schema) for block in blocks]), schema))


def too_large(max_bytes: int) -> PeekError:
    """The answer to a peek whose result is larger than the setting ``max_result_size`` allows."""
    return PeekError(
        f"the result is larger than max_result_size = {max_bytes} bytes: "
        "ask for fewer rows or columns, or raise the setting"
    )
