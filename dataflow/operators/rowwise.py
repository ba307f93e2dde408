"""Operators that compute something for each row by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...messages.plans import FlatMapNode, MapFilterProject
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import ColumnType
from ..arrangements.updates import Chunk, Updates, concat_optional, error_updates, take_numbers
from ..columns.column import Indices, Mask
from ..scalars.compile import compile_scalar
from ..scalars.mfp import MfpProgram
from ..scalars.table_functions import TableProgram
from ..scalars.vectors import Errors
from .parts import RowLogic


class MapFilter(RowLogic):
    """A map/filter/project that computes something; rows that fail become errors."""

    def __init__(self, mfp: MapFilterProject, types: Sequence[ColumnType], *, trust: bool) -> None:
        self.program = MfpProgram(mfp, types, trust=trust).apply

    def process(self, chunk: Chunk) -> Chunk:
        if chunk.oks is None:
            return chunk
        oks, errs = self.program(chunk.oks)
        return Chunk(chunk.lower, chunk.upper, oks, chunk.errs if errs is None else concat_optional([chunk.errs, errs]))


class FlatMap(RowLogic):
    """For each row, itself with each of the rows that a table function yields for it."""

    def __init__(self, node: FlatMapNode, types: Sequence[ColumnType], *, trust: bool) -> None:
        self._program = TableProgram(node.function, node.arguments, types, trust=trust)

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None:
            return chunk
        rows, columns, errors = self._program(oks.columns, len(oks))
        result = oks.take(rows)
        result = Updates((*result.columns, *columns), result.times, result.diffs)
        errs = chunk.errs
        if errors is not None:
            errs = concat_optional([errs, _failed(oks, errors, errors.mask.nonzero()[0])])
        return Chunk(chunk.lower, chunk.upper, result if len(result) else None, errs)

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        oks, errs = chunk.oks, chunk.errs
        start, size, most = 0, 1, chunk.size
        while oks is not None and start < most:
            stop = min(start + size, most)
            part = self.process(Chunk(chunk.lower, chunk.upper, oks.slice(start, stop), errs))
            yield part
            # A few rows may become very many; what these did is what to expect of the next.
            each = max(1, part.size // (stop - start))
            start, size, errs = stop, max(1, min(2 * size, fuel // each)), None


class AppendKey(RowLogic):
    """Appends the columns of a key that are computed; a row whose key fails becomes an error.

    Attributes:
        types: of the appended columns.
        positions: of all columns of the key.
    """

    def __init__(self, key: Sequence[Scalar], inputs: Sequence[ColumnType], *, trust: bool) -> None:
        computed = [scalar for scalar in key if not isinstance(scalar, ColumnRef)]
        self._programs = [compile_scalar(scalar, inputs, trust=trust) for scalar in computed]
        self.types: tuple[ColumnType, ...] = tuple([program.type for program in self._programs])
        arity = len(inputs)
        place = iter(range(arity, arity + len(computed)))
        self.positions = tuple([s.index if isinstance(s, ColumnRef) else next(place) for s in key])

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None:
            return chunk
        columns, size = oks.columns, len(oks)
        good: Mask | None = None
        errs = [chunk.errs]
        for program in self._programs:
            evaluated = program(oks.columns, size)
            columns = (*columns, evaluated.column)
            errors = evaluated.errors
            if errors is not None:
                # A row has one error: the first.
                failed = errors.mask if good is None else errors.mask & good
                rows = failed.nonzero()[0]
                if len(rows):
                    errs.append(_failed(oks, errors, rows))
                    good = ~failed if good is None else good & ~failed
        oks = Updates(columns, oks.times, oks.diffs)
        if good is not None:
            oks = oks.filter(good)
        return Chunk(chunk.lower, chunk.upper, oks if len(oks) else None, concat_optional(errs))


def _failed(oks: Updates, errors: Errors, rows: Indices) -> Updates:
    """The errors of these rows, with the rows' times and multiplicities."""
    messages: list[str] = errors.messages[rows].tolist()
    return error_updates(messages, take_numbers(oks.times, rows), take_numbers(oks.diffs, rows))
