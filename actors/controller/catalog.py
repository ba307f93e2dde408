"""The collections that an application named: what they are called, what they are, what they use."""

from __future__ import annotations

from collections.abc import Iterator

from ...dataflow.plans.trees import postorder
from ...messages.ids import GlobalId
from ...messages.relations import Get, Relation
from ..errors import DuplicateName, StillUsed, UnknownCollection, WrongKind
from ..requests import CollectionInfo, CollectionKind


class Catalog:
    """Invariant: names are unique, and everything that a collection depends on is in the catalog, before it."""

    def __init__(self) -> None:
        self._collections: dict[GlobalId, CollectionInfo] = {}
        self._names: dict[str, GlobalId] = {}
        self._indexes: dict[GlobalId, list[CollectionInfo]] = {}

    def __iter__(self) -> Iterator[CollectionInfo]:
        return iter(self._collections.values())

    def __contains__(self, id: GlobalId) -> bool:
        return id in self._collections

    def get(self, id: GlobalId) -> CollectionInfo:
        """
        Raises:
            UnknownCollection: there is none with this id.
        """
        found = self._collections.get(id)
        if found is None:
            raise UnknownCollection(id)
        return found

    def name(self, id: GlobalId) -> str | None:
        """What an application calls it, None when it is not in the catalog."""
        found = self._collections.get(id)
        return None if found is None else found.name

    def check_name(self, name: str) -> None:
        """
        Raises:
            DuplicateName: the name is taken.
        """
        taken = self._names.get(name)
        if taken is not None:
            raise DuplicateName(name, taken)

    def add(self, info: CollectionInfo) -> None:
        self.check_name(info.name)
        self._collections[info.id] = info
        self._names[info.name] = info.id
        if info.on is not None:
            self._indexes.setdefault(info.on, []).append(info)

    def indexes(self, id: GlobalId) -> list[CollectionInfo]:
        """The indexes on a collection, oldest first."""
        return self._indexes.get(id, [])

    def to_drop(self, id: GlobalId, *, cascade: bool) -> list[CollectionInfo]:
        """What goes when this collection goes, users before what they use.

        Raises:
            StillUsed: others use it, and ``cascade`` is false.
        """
        dropped = {self.get(id).id}
        users: list[CollectionInfo] = []
        for info in self._collections.values():
            if dropped.intersection(info.depends_on):
                dropped.add(info.id)
                users.append(info)
        if users and not cascade:
            direct = [info.name for info in users if id in info.depends_on]
            raise StillUsed(self.get(id).name, tuple(direct))
        return [*reversed(users), self.get(id)]

    def remove(self, id: GlobalId) -> None:
        info = self._collections.pop(id)
        del self._names[info.name]
        if info.on is not None:
            self._indexes[info.on].remove(info)

    def uses(self, relation: Relation) -> tuple[GlobalId, ...]:
        """The collections that a relation names, each once.

        Raises:
            UnknownCollection: there is none with such an id.
            WrongKind: it is an index, which has no rows of its own.
        """
        ids = dict.fromkeys(node.id for node in postorder(relation) if isinstance(node, Get))
        for id in ids:
            relation_of(self.get(id))
        return tuple(ids)


def relation_of(info: CollectionInfo) -> CollectionInfo:
    """The collection itself, when a relation may name it.

    Raises:
        WrongKind: it is an index.
    """
    if info.kind is CollectionKind.INDEX:
        raise WrongKind(info.id, info.name, info.kind, "the table or view that it is on")
    return info
