"""What is intact of a damaged journal, made into something whole."""

from __future__ import annotations

from ...messages.ids import GlobalId
from .messages import Defined, TableContents
from .recovery import Recovery
from .state import JournalState


def salvaged(found: Recovery) -> tuple[JournalState, list[str]]:
    """The state with everything in it that can be, and a sentence for each collection that cannot.

    Where rows of a checkpoint are gone, later deletions of them delete nothing.
    """
    if not found.partial:
        return found.state, []
    state, left_out = found.state, list[str]()
    kept: dict[GlobalId, Defined] = {}
    for id, defined in state.catalog.defined.items():
        if all(each in kept for each in defined.info.depends_on if each.namespace == "u"):
            kept[id] = defined
        else:
            left_out.append(f"{defined.info.name!r} is left out, because what it uses is lost")
    state.catalog.defined = kept
    for id, updates in state.contents().items():
        rows = updates.at(state.latest).consolidate()
        state.parts[id] = [rows.filter(rows.diffs > 0)]
    return state, left_out


def as_tables(state: JournalState) -> dict[GlobalId, TableContents]:
    """What the tables of a state hold, as a checkpoint takes it."""
    tables: dict[GlobalId, TableContents] = {}
    for id, parts in state.parts.items():
        lag, since = state.catalog.defined[id].lag, state.catalog.defined[id].since
        tables[id] = TableContents(since if lag is None else max(since, state.latest - lag), tuple(parts))
    return tables
