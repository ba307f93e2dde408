"""The engine's updates as blocks that travel as Arrow IPC, and back.

A stream's types are its Arrow types: every SQL type has one of its own, so a block needs no schema beside it.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from ...dataflow.arrangements.updates import Chunk, Updates, is_uniform
from ...messages.frontiers import Frontier, Timestamp
from ...messages.rows import UpdateBlock
from ...messages.structs import Message
from ...messages.types import Field, Schema, SqlType
from ..peeks.blocks import update_block, updates_of
from .errors import TransportError

MOST_EMPTY_ROWS = 1 << 24
"""Rows without columns in one block. They take no bytes, so that nothing else bounds their number."""


class MalformedBlock(TransportError):
    """A block of updates that no stream has."""


class ChunkForm(Message, frozen=True, array_like=True):
    """A chunk as it travels."""

    lower: Timestamp
    upper: Frontier
    oks: UpdateBlock | None
    errs: UpdateBlock | None


def block_of(updates: Updates | None) -> UpdateBlock | None:
    """The block that carries these updates."""
    return None if updates is None else update_block(updates, _unnamed(updates.types))


def updates_in(block: UpdateBlock | None) -> Updates | None:
    """The inverse of :func:`block_of`.

    Raises:
        MalformedBlock: a column's type is none of ours, its buffers are none, or there are more rows than bytes could
            tell of.
    """
    if block is None:
        return None
    types = _types_of(block.columns.schema)
    if not types and block.num_rows > MOST_EMPTY_ROWS:
        raise MalformedBlock(f"{block.num_rows} rows came without a column; {MOST_EMPTY_ROWS} are the most")
    try:
        return updates_of(block, _unnamed(types))
    except (ValueError, OverflowError, pa.ArrowException) as error:
        raise MalformedBlock(f"rows came that cannot be read: {error}") from None


def chunk_form(chunk: Chunk) -> ChunkForm:
    """The form in which a chunk travels."""
    return ChunkForm(chunk.lower, chunk.upper, block_of(chunk.oks), block_of(chunk.errs))


def chunk_in(form: ChunkForm) -> Chunk:
    """The inverse of :func:`chunk_form`.

    Raises:
        MalformedBlock: a column's type is none of ours.
    """
    return Chunk(form.lower, form.upper, updates_in(form.oks), updates_in(form.errs))


def check_times(chunk: Chunk) -> None:
    """Check a chunk that is to be written. (In a snapshot times may lie beyond its upper: they are advanced.)

    Raises:
        MalformedBlock: a time lies outside of the interval that the chunk is said to cover.
    """
    for updates in (chunk.oks, chunk.errs):
        _check_times(updates, chunk.lower, chunk.upper)


def _check_times(updates: Updates | None, lower: Timestamp, upper: Frontier) -> None:
    if updates is None or not len(updates):
        return
    times = updates.times[:1] if is_uniform(updates.times) else updates.times
    first, last = int(times.min()), int(times.max())
    if first < lower or (upper is not None and last >= upper):
        raise MalformedBlock(f"updates from {first} to {last} came in a chunk of [{lower}, {upper})")


def weight_of(updates: Updates | None) -> int:
    """About how many bytes of memory updates keep while they wait to be sent."""
    return 0 if updates is None else updates.nbytes


@lru_cache(maxsize=1024)
def _unnamed(types: tuple[SqlType, ...]) -> Schema:
    return Schema(tuple(Field(str(position), type) for position, type in enumerate(types)))


_SQL_TYPES = {type.arrow: type for type in SqlType}


@lru_cache(maxsize=1024)
def _types_of(schema: pa.Schema) -> tuple[SqlType, ...]:
    unknown = next((type for type in schema.types if type not in _SQL_TYPES), None)
    if unknown is not None:
        raise MalformedBlock(f"updates came with a column of Arrow type {unknown}, which is no type of a collection")
    return tuple(_SQL_TYPES[type] for type in schema.types)
