"""A recorded peek as stanzas: as it is when ``peek`` can say it, else through a dataflow that lives for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ...dataflow.plans.raising import apply_mfp
from ...messages.commands import IndexTarget, Peek
from ...messages.dataflows import BuildDesc, IndexExport, IndexImport, RelationDataflow, SourceImport
from ...messages.errors import PillionError
from ...messages.ids import GlobalId
from ...messages.relations import Filter, Get, Relation, TopK
from ...messages.responses import Canceled, PeekError, PeekResult
from ...messages.scalars import Call, Literal, Scalar
from ...messages.types import Schema
from ..replay.peeks import show_peek
from ..replay.rows import blocks_of, updates_in
from .stanzas import Stanzas, show_error, show_rows

T = TypeVar("T")

_FIRST_EPHEMERAL = 800_000_000
"""Transient ids from here on are those of dataflows that live for one peek."""


class Unspeakable(PillionError):
    """A script cannot say it."""


@dataclass(slots=True)
class Readables:
    """What peeks may read, by id: indexes, shards and their columns, and the sink that writes a shard."""

    indexes: dict[GlobalId, IndexImport] = field(default_factory=dict[GlobalId, IndexImport])
    shards: dict[GlobalId, Schema] = field(default_factory=dict[GlobalId, Schema])
    sinks: dict[GlobalId, GlobalId] = field(default_factory=dict[GlobalId, GlobalId])
    peeks: int = 0


def peek_stanzas(stanzas: Stanzas, readables: Readables, peek: Peek, result: PeekResult) -> None:
    """Add what reads as the peek did, and expects what was answered.

    Raises:
        Unspeakable: no directive reads so; nothing was added.
    """
    expected = _expected(peek, result)
    target = peek.target
    plain = peek.literal_constraints is None and (
        peek.map_filter_project is None or peek.map_filter_project.is_identity
    )
    finishing = peek.finishing
    limited = finishing.limit is not None or finishing.offset > 0
    if limited and not finishing.order_by and not isinstance(result, PeekError):
        raise Unspeakable("its limit lets the replica choose")
    if plain and not limited:
        name = target.id if isinstance(target, IndexTarget) else readables.sinks.get(target.id)
        if name is not None:
            stanzas.add(f"peek id={name} ts={peek.timestamp}", (), expected)
            return
    _through_dataflow(stanzas, readables, peek, expected)


def _expected(peek: Peek, result: PeekResult) -> Sequence[str]:
    match result:
        case Canceled():
            raise Unspeakable("it was cancelled")
        case PeekError(message):
            return show_error(message)
        case _:
            return show_rows(updates_in(blocks_of(result), peek.result))


def _through_dataflow(stanzas: Stanzas, readables: Readables, peek: Peek, expected: Sequence[str]) -> None:
    readables.peeks += 1
    first = _FIRST_EPHEMERAL + 3 * readables.peeks
    collection, built, index = (GlobalId("t", first + at) for at in range(3))
    sources: tuple[SourceImport, ...] = ()
    imports: tuple[IndexImport, ...] = ()
    if isinstance(peek.target, IndexTarget):
        imported = _known(readables.indexes, peek)
        imports, collection = (imported,), imported.on
        keys = imported.key
    else:
        sources = (SourceImport(collection, peek.target.id, _known(readables.shards, peek)),)
        keys = ()
    relation: Relation = Get(collection)
    if peek.literal_constraints is not None:
        relation = Filter(relation, (_any([_equal(keys, literals) for literals in peek.literal_constraints]),))
    if peek.map_filter_project is not None:
        relation = apply_mfp(relation, peek.map_filter_project)
    finishing = peek.finishing
    if finishing.limit is not None or finishing.offset:
        relation = TopK(relation, (), finishing.order_by, finishing.limit, finishing.offset)
    dataflow = RelationDataflow(
        debug_name=f"peek {readables.peeks}",
        source_imports=sources,
        index_imports=imports,
        objects_to_build=(BuildDesc(built, relation, peek.result),),
        index_exports=(IndexExport(index, built, ()),),
        sink_exports=(),
        as_of=peek.timestamp,
        until=peek.timestamp + 1,
    )
    stanzas.dataflow(f"peek-{readables.peeks}", dataflow)
    stanzas.add(f"schedule id={index}")
    stanzas.add(f"peek id={index} ts={peek.timestamp}", (), expected)
    stanzas.add(f"allow-compaction id={index} frontier=empty")


def _known(known: Mapping[GlobalId, T], peek: Peek) -> T:
    found = known.get(peek.target.id)
    if found is None:
        raise Unspeakable(f"{show_peek(peek)}: nothing tells what columns it has")
    return found


def _equal(keys: Sequence[Scalar], literals: Sequence[Literal]) -> Scalar:
    """Whether a row has this key; here NULL is equal to NULL."""
    parts = [
        Call("is_null", (key,)) if literal.value is None else Call("=", (key, literal))
        for key, literal in zip(keys, literals, strict=True)
    ]
    return parts[0] if len(parts) == 1 else Call("and", tuple(parts))


def _any(choices: Sequence[Scalar]) -> Scalar:
    return choices[0] if len(choices) == 1 else Call("or", tuple(choices))
