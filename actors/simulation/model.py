"""What there should be: the collections, and their rows at every time, by the oracle."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...dataflow.plans.trees import postorder
from ...dataflow.plans.typing import Types, relation_types
from ...messages.ids import GlobalId
from ...messages.relations import Get, Relation
from ...messages.scalars import ColumnRef
from ...messages.types import Field, Schema, SqlType
from ..requests import CollectionKind
from .oracle.relations import Collection, Oracle

Row = tuple[Any, ...]
Rows = Counter[Row]
TABLE = Schema((Field("a", SqlType.BIGINT, False), Field("b", SqlType.BIGINT, False)))


@dataclass(eq=False)
class Known:
    """One collection. ``users``: those that a drop without cascade is refused for. ``may_fail``: rows may be errors.

    ``must_fail``: no plan can do without the expression that fails.
    """

    name: str
    kind: CollectionKind
    schema: Schema
    relation: Relation | None = None
    on: Known | None = None
    key: tuple[ColumnRef, ...] = ()
    uses: tuple[Known, ...] = ()
    may_fail: bool = False
    must_fail: bool = False
    id: GlobalId | None = None
    dropped: bool = False
    contents: list[tuple[int, Rows]] = field(default_factory=lambda: [(0, Counter[Row]())])
    """Of a table: its rows from each time on."""

    @property
    def get(self) -> Relation:
        assert self.id is not None, "it was created"
        return Get(self.id)

    @property
    def latest(self) -> Rows:
        return self.contents[-1][1]


class Model:
    """Collections in the order in which their creation was asked for. Transactions are numbered, and their number is
    their time: nobody else advances it."""

    def __init__(self) -> None:
        self.collections: list[Known] = []
        self.latest = 0
        """The time of the last transaction that was asked for."""
        self._evaluated: dict[tuple[object, int], Collection] = {}

    def there(self, *kinds: CollectionKind) -> list[Known]:
        """Those of these kinds that are not dropped and whose ids are known."""
        return [known for known in self.collections if not known.dropped and known.id and known.kind in kinds]

    def users(self, of: Known) -> list[Known]:
        """Those that are dropped with it, not those that are dropped already."""
        found = [of]
        for known in self.collections:
            if not known.dropped and not set(found).isdisjoint(known.uses):
                found.append(known)
        return found[1:]

    def schema(self, relation: Relation) -> Schema:
        types = relation_types(relation, self._types())
        return Schema(tuple(Field(name, t.type, t.nullable) for name, t in zip("ab", types, strict=True)))

    def rows(self, relation: Relation, time: int) -> Collection:
        """The rows and errors of a relation at a time."""
        key = (relation, time)
        if key not in self._evaluated:
            self._evaluated[key] = Oracle(_AtTime(self, time), self._types()).evaluate(relation)
        return self._evaluated[key]

    def collection(self, id: GlobalId, time: int) -> Collection:
        known = self.by_id(id)
        if known.relation is not None:
            return self.rows(known.relation, time)
        at = bisect.bisect_right(known.contents, time, key=lambda entry: entry[0])
        return Collection(Counter(known.contents[at - 1][1]))

    def lost(self, relation: Relation) -> bool:
        """Whether what a relation reads was dropped."""
        return any(self.by_id(node.id).dropped for node in postorder(relation) if isinstance(node, Get))

    def by_id(self, id: GlobalId) -> Known:
        return next(known for known in self.collections if known.id == id)

    def _types(self) -> dict[GlobalId, Types]:
        return {known.id: known.schema.types for known in self.collections if known.id is not None}


class _AtTime(Mapping[GlobalId, Collection]):
    """All collections at one time."""

    def __init__(self, model: Model, time: int) -> None:
        self._model = model
        self._time = time

    def __getitem__(self, id: GlobalId) -> Collection:
        return self._model.collection(id, self._time)

    def __iter__(self) -> Iterator[GlobalId]:
        return iter(known.id for known in self._model.collections if known.id is not None)

    def __len__(self) -> int:
        return len(self._model.collections)
