"""A transaction over tables: every change is checked and drafted before the first is applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ...dataflow.arrangements.updates import Updates
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from ..errors import UnknownCollection
from ..requests import Change, Delete, DeleteKeys, DeleteWhere, Insert, UpdateWhere, Upsert
from .draft import Draft
from .shard import Shard


def draft_transaction(
    shards: Mapping[GlobalId, Shard], changes: tuple[Change, ...], time: Timestamp, *, trust: bool
) -> tuple[dict[GlobalId, Updates], tuple[int, ...]]:
    """The net updates of each table that changes, and how many rows each change affects.

    Raises:
        PillionError: a change is refused; then none is to be applied.
    """
    drafts: dict[GlobalId, Draft] = {}
    counts: list[int] = []
    for change in changes:
        draft = drafts.get(change.table)
        if draft is None:
            shard = shards.get(change.table)
            if shard is None or shard.timeline is None:
                raise UnknownCollection(change.table)
            draft = drafts[change.table] = Draft(shard, time, trust=trust)
        counts.append(_apply(draft, change))
    results = {table: draft.result() for table, draft in drafts.items()}
    return {table: result for table, result in results.items() if result is not None}, tuple(counts)


def _apply(draft: Draft, change: Change) -> int:
    match change:
        case Insert():
            return draft.insert(change.columns)
        case Upsert():
            return draft.upsert(change.columns)
        case Delete():
            return draft.delete(change.columns)
        case DeleteKeys():
            return draft.delete_keys(change.keys)
        case DeleteWhere():
            return draft.delete_where(change.predicate)
        case UpdateWhere():
            return draft.update_where(change.predicate, change.assignments)
        case _:
            assert_never(change)
