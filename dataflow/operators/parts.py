"""Processing a large chunk in parts."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from ..arrangements.updates import Chunk, is_uniform
from ..columns.column import Column
from ..columns.grouping import row_hashes

_MOST_PARTS = 1 << 16
_HALF = np.uint64(32)


class RowLogic(abc.ABC):
    """Makes something of every row by itself (a :class:`~.operator.UnaryLogic`)."""

    @abc.abstractmethod
    def process(self, chunk: Chunk) -> Chunk:
        """See :class:`~.operator.UnaryLogic`."""

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        """See :class:`~.operator.UnaryLogic`."""
        for part in slices(chunk, fuel):
            yield self.process(part)

    def takes_part(self, part: Chunk) -> bool:
        """See :class:`~.operator.UnaryLogic`."""
        return True


class GroupLogic(abc.ABC):
    """Keeps the present state of every group of rows (a :class:`~.operator.UnaryLogic`)."""

    @abc.abstractmethod
    def process(self, chunk: Chunk) -> Chunk:
        """See :class:`~.operator.UnaryLogic`."""

    @abc.abstractmethod
    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        """See :class:`~.operator.UnaryLogic`; a group's rows are all in one part."""

    def takes_part(self, part: Chunk) -> bool:
        """See :class:`~.operator.UnaryLogic`. Other parts may have changes at the first time of the interval, but none
        before it."""
        oks = part.oks
        return oks is None or not len(oks) or (is_uniform(oks.times) and oks.times.item(0) == part.lower)


def slices(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """The chunk's rows in their order, so many at a time, the errors with the first ones."""
    oks, errs = chunk.oks, chunk.errs
    if oks is None:
        yield chunk
        return
    for start in range(0, max(len(oks), 1), size):
        yield Chunk(chunk.lower, chunk.upper, oks.slice(start, min(start + size, len(oks))), errs)
        errs = None


def divisions(chunk: Chunk, columns: Sequence[Column], size: int) -> Iterator[Chunk]:
    """The chunk's rows, about so many at a time, rows that are equal in these columns together; the errors with the
    first ones."""
    oks, errs = chunk.oks, chunk.errs
    if oks is None or len(oks) <= size:
        yield chunk
        return
    count = min(-(-len(oks) // size), _MOST_PARTS)
    # By the greatest bits: other ones have placed the rows on this worker.
    places = ((row_hashes(columns, len(oks)) >> _HALF) * np.uint64(count) >> _HALF).astype(np.uint16)
    order = places.argsort(kind="stable")
    bounds = places.take(order).searchsorted(np.arange(count + 1)).tolist()
    for begin, end in itertools.pairwise(bounds):
        if begin < end or errs is not None:
            yield Chunk(chunk.lower, chunk.upper, oks.take(order[begin:end]), errs)
            errs = None
