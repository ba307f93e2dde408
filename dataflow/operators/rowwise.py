"""Operators that compute something for each row by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...messages.plans import MapFilterProject
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import ColumnType
from ..arrangements.updates import Chunk, Updates, concat_optional, error_updates
from ..scalars.typing import scalar_type


class MapFilter:
    """A map/filter/project that computes something; rows that fail become errors."""

    def __init__(self, mfp: MapFilterProject, types: Sequence[ColumnType], *, trust: bool) -> None:
        from ..scalars.mfp import MfpProgram

        self.program = MfpProgram(mfp, types, trust=trust).apply

    def process(self, chunk: Chunk) -> Chunk:
        if chunk.oks is None:
            return chunk
        oks, errs = self.program(chunk.oks)
        return Chunk(chunk.lower, chunk.upper, oks, chunk.errs if errs is None else concat_optional([chunk.errs, errs]))


class AppendKey:
    """Appends the columns of a key that are computed; a row whose key fails becomes an error.

    Attributes:
        types: of the appended columns.
        positions: of all columns of the key.
    """

    def __init__(self, key: Sequence[Scalar], inputs: Sequence[ColumnType], *, trust: bool) -> None:
        from ..scalars.program import compile_scalar

        computed = [scalar for scalar in key if not isinstance(scalar, ColumnRef)]
        self._programs = [compile_scalar(scalar, inputs, trust=trust) for scalar in computed]
        self.types: tuple[ColumnType, ...] = tuple([scalar_type(scalar, inputs) for scalar in computed])
        arity = len(inputs)
        place = iter(range(arity, arity + len(computed)))
        self.positions = tuple([s.index if isinstance(s, ColumnRef) else next(place) for s in key])

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None:
            return chunk
        columns, size = oks.columns, len(oks)
        good = np.ones(size, np.bool_)
        errs = [chunk.errs]
        for program in self._programs:
            evaluated = program(oks.columns, size)
            columns = (*columns, evaluated.column)
            if evaluated.errors is not None:
                failed, messages = evaluated.errors
                failed = failed & good
                if failed.any():
                    rows = np.flatnonzero(failed)
                    errs.append(error_updates([messages[r] for r in rows], oks.times[rows], oks.diffs[rows]))
                    good &= ~failed
        oks = Updates(columns, oks.times, oks.diffs)
        if not good.all():
            oks = oks.filter(good)
        return Chunk(chunk.lower, chunk.upper, oks if len(oks) else None, concat_optional(errs))
