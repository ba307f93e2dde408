"""Reconciliation: which installed dataflows survive the reconnection of a controller.

A pure function of what is installed and what is requested. Both runtimes of a process install (or record as peers) the
same dataflows in the same order and hear the same commands, so they reach the same decision without talking; that is
why an installed dataflow is described by what the command stream said, never by how far its rendering has come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from .dataflows import CopyTo, RenderDataflow, Subscribe
from .frontiers import Frontier, Timestamp, less_equal, show_frontier
from .ids import GlobalId

Exports = frozenset[GlobalId]


@dataclass(frozen=True, slots=True)
class InstalledDataflow:
    """A dataflow of the previous connection.

    ``compactions`` has the last ``AllowCompaction`` of each of its exports that ever had one.
    """

    description: RenderDataflow
    compactions: Mapping[GlobalId, Frontier] = field(default_factory=dict[GlobalId, Frontier])


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What to do at ``InitializationComplete``: drop, keep, then create, each in this order.

    ``keep`` has the new descriptions, whose ``as_of`` may be later than the installed one's. ``reasons`` says, by the
    exports of each dataflow that was dropped or is created, why it was not kept.
    """

    keep: tuple[RenderDataflow, ...]
    drop: tuple[InstalledDataflow, ...]
    create: tuple[RenderDataflow, ...]
    reasons: Mapping[Exports, str]


def reconcile(
    installed: Sequence[InstalledDataflow],
    requested: Sequence[RenderDataflow],
    logging: Collection[GlobalId] = (),
) -> Reconciliation:
    """Compare what is installed with what the controller replayed.

    Args:
        installed: the dataflows of the previous connection of which some export was not dropped.
        requested: the dataflows created between ``Hello`` and ``InitializationComplete``, in that order.
        logging: the indexes on introspection relations, which always stay.
    """
    candidates = {_exports(dataflow.description): dataflow for dataflow in installed}
    repeated = _repeated(id for description in requested for id in description.export_ids)
    staying = set(logging)
    kept: dict[Exports, InstalledDataflow] = {}
    keep: list[RenderDataflow] = []
    create: list[RenderDataflow] = []
    reasons: dict[Exports, str] = {}
    for description in requested:
        exports = _exports(description)
        candidate = candidates.get(exports)
        reason = _reason_to_recreate(candidate, description, staying, repeated)
        if reason is not None:
            create.append(description)
            reasons[exports] = reason
            continue
        assert candidate is not None
        kept[exports] = candidate
        keep.append(description)
        staying |= exports
    drop = tuple(dataflow for dataflow in installed if kept.get(_exports(dataflow.description)) is not dataflow)
    for dataflow in drop:
        reasons.setdefault(_exports(dataflow.description), "it is no longer requested")
    return Reconciliation(tuple(keep), drop, tuple(create), reasons)


def _reason_to_recreate(
    candidate: InstalledDataflow | None,
    description: RenderDataflow,
    staying: Collection[GlobalId],
    repeated: Collection[GlobalId],
) -> str | None:
    """Why the candidate cannot serve as what is requested; None when it can."""
    if candidate is None:
        return "no dataflow with these exports is installed"
    for id in description.export_ids:
        if id in repeated:
            return f"{id} is created more than once"
    for sink in description.sink_exports:
        if isinstance(sink.connection, (Subscribe, CopyTo)):
            return (
                f"{sink.id} is a {'subscribe' if isinstance(sink.connection, Subscribe) else 'copy-to'}: it starts anew"
            )
    difference = _difference(candidate.description, description)
    if difference is not None:
        return difference
    for id in description.export_ids:
        compaction = candidate.compactions.get(id, candidate.description.as_of)
        if not less_equal(compaction, description.as_of):
            return f"{id} was allowed to compact to {show_frontier(compaction)}, past the as_of {description.as_of}"
    for index in description.index_imports:
        if index.id not in staying:
            return f"it imports {index.id}, which is not kept"
    return None


def _difference(old: RenderDataflow, new: RenderDataflow) -> str | None:
    """In what two descriptions differ; None when the old one computes what the new one asks for."""
    if old.as_of > new.as_of:
        return f"its as_of {old.as_of} is later than the requested {new.as_of}"
    before, after = _comparable(old, new.as_of), _comparable(new, new.as_of)
    if before == after:
        return None
    names = [name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    return f"it differs in {', '.join(names)}"


def _comparable(description: RenderDataflow, as_of: Timestamp) -> RenderDataflow:
    """Without what may differ: the name, the ``as_of``, and how far the sources had come when it was written."""
    sources = tuple(msgspec.structs.replace(source, upper=0) for source in description.source_imports)
    return msgspec.structs.replace(description, debug_name="", as_of=as_of, source_imports=sources)


def _exports(description: RenderDataflow) -> Exports:
    return frozenset(description.export_ids)


def _repeated(ids: Iterable[GlobalId]) -> set[GlobalId]:
    seen: set[GlobalId] = set()
    return {id for id in ids if id in seen or seen.add(id)}
