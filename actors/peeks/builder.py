"""From the rows that a lookup or the slices of a scan find to a worker's share of a peek's result."""

from __future__ import annotations

from ...dataflow.arrangements.updates import Updates, concat_updates, error_messages
from ...dataflow.scalars.mfp import MfpProgram
from ...messages.commands import Peek
from ...messages.responses import PeekError, PeekResult, Rows, Stashed
from .blocks import empty_block, row_block
from .finishing import finish, local_part
from .union import too_large

_COMPACT_ROWS = 1 << 14


class PeekResultBuilder:
    """Applies a peek's map/filter/project to rows as they are found, and keeps no more than the result can need."""

    __slots__ = ("_bytes", "_error", "_finishing", "_max_bytes", "_parts", "_peek", "_program", "_rows", "_stash_bytes")

    def __init__(self, peek: Peek, program: MfpProgram | None, max_bytes: int, stash_bytes: int) -> None:
        """``program`` is ``peek.map_filter_project``, compiled; None when there is none."""
        self._peek = peek
        self._program = program
        self._finishing = local_part(peek.finishing)
        self._max_bytes = max_bytes
        self._stash_bytes = stash_bytes
        self._parts: list[Updates] = []
        self._rows = 0
        self._bytes = 0
        self._error: PeekError | None = None

    def add(self, found: Updates) -> bool:
        """Take rows with their multiplicities; whether no more are needed."""
        if self._program is not None:
            oks, errs = self._program.apply(found)
            if errs is not None and len(errs):
                self._error = PeekError(min(error_messages(errs)))
                return True
            if oks is None or not len(oks):
                return False
            found = oks
        self._parts.append(found)
        self._bytes += found.nbytes
        limit = self._finishing.limit
        if limit is not None:
            self._rows += int(found.diffs.sum())
            if not self._finishing.order_by:
                return self._rows >= limit
            if len(self._parts) > 1 and self._rows > 2 * limit + _COMPACT_ROWS:
                self._compact()
        if self._bytes > self._max_bytes:
            self._error = too_large(self._max_bytes)
            return True
        return False

    def result(self) -> PeekResult:
        """The share of the result in everything that was added."""
        if self._error is not None:
            return self._error
        schema = self._peek.result
        if not self._parts:
            return Rows(empty_block(schema))
        if self._finishing.limit is not None:
            self._compact()
        if len(self._parts) > 1 and self._bytes > self._stash_bytes:
            return Stashed(tuple(row_block(part, schema) for part in self._parts))
        only = self._parts[0] if len(self._parts) == 1 else None
        return Rows(row_block(concat_updates(self._parts) if only is None else only.owned(), schema))

    def _compact(self) -> None:
        kept = finish(concat_updates(self._parts), self._finishing)
        self._parts = [kept]
        self._rows = int(kept.diffs.sum())
        self._bytes = kept.nbytes
