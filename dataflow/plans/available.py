"""The collections that the plans of one dataflow may ``Get``: streams, and arrangements of imported indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...messages.dataflows import IndexImport, RelationDataflow
from ...messages.ids import GlobalId
from ...messages.plans import GetNode, ImportIndex
from ...messages.scalars import Scalar
from .graph import PlanGraph
from .typing import Types


class Available:
    """Which collections there are, what types they have, and how a plan gets at them."""

    def __init__(self, dataflow: RelationDataflow, available: Iterable[IndexImport] = ()) -> None:
        """``available`` are indexes that plans may use beyond those that the dataflow imports."""
        self.env: dict[GlobalId, Types] = {}
        self._streams: set[GlobalId] = set()
        self._indexes: defaultdict[GlobalId, list[IndexImport]] = defaultdict(list)
        for source in dataflow.source_imports:
            self.env[source.id] = source.schema.types
            self._streams.add(source.id)
        for index in (*dataflow.index_imports, *available):
            self.env.setdefault(index.on, index.schema.types)
            self._indexes[index.on].append(index)

    def build(self, id: GlobalId, types: Types) -> None:
        """From now on the object ``id`` is available."""
        self.env[id] = types
        self._streams.add(id)

    def has_index(self, id: GlobalId) -> bool:
        """Whether the collection is arranged by any key."""
        return bool(self._indexes[id])

    def get(self, graph: PlanGraph, id: GlobalId) -> int:
        """The collection as a stream; an arrangement serves when there is no other."""
        if id in self._streams:
            return graph.add(GetNode(self.env[id], id))
        index = self._indexes[id][0]
        return graph.add(ImportIndex(self.env[id], index.id, index.key))

    def arranged(self, graph: PlanGraph, id: GlobalId, key: Sequence[Scalar]) -> int | None:
        """The imported arrangement of the collection by exactly this key, if there is one."""
        for index in self._indexes[id]:
            if index.key == tuple(key):
                return graph.add(ImportIndex(self.env[id], index.id, index.key))
        return None

    def index_keys(self, id: GlobalId) -> list[tuple[Scalar, ...]]:
        """The keys by which the collection is arranged."""
        return [index.key for index in self._indexes[id]]
