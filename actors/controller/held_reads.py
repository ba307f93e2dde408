"""Holds that an application asks for, to read one state several times."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...messages.ids import GlobalId
from ...messages.relations import Get
from ..requests import CollectionKind, Held, HoldRead, Isolation, ReleaseRead
from .catalog import Catalog
from .expansion import expand
from .state import ControllerState


class HeldReads:
    """The holds that were given out and not released."""

    def __init__(self, state: ControllerState, fresh: Callable[[], str]) -> None:
        self._state = state
        self._fresh = fresh
        self._held: dict[str, tuple[GlobalId, ...]] = {}

    def hold(self, request: HoldRead) -> Held:
        state = self._state
        ids = what_is_read(state.catalog, request.ids)
        time = state.select(Isolation.STRICT_SERIALIZABLE, request.as_of, ids)
        token = self._fresh()
        self._held[token] = ids
        state.hold(token, ids, time)
        return Held(token, time)

    def release(self, request: ReleaseRead) -> None:
        self._state.release(request.hold, self._held.pop(request.hold, ()))


def what_is_read(catalog: Catalog, ids: Iterable[GlobalId]) -> tuple[GlobalId, ...]:
    """The shards and indexes from which the rows of these collections may be read."""
    result: dict[GlobalId, None] = {}
    for id in ids:
        info = catalog.get(id)
        if info.kind is CollectionKind.INDEX:
            result[id] = None
            continue
        for leaf in expand(Get(id), catalog).leaves:
            if leaf.kind in (CollectionKind.TABLE, CollectionKind.MATERIALIZED_VIEW):
                result[leaf.id] = None
            result.update((index.id, None) for index in catalog.indexes(leaf.id))
    return tuple(result)
