"""The introspection relations: their names, columns and keys.

Each is exported under the index id that ``CreateInstance`` gives it. Rows are per worker, column ``worker``, because
each worker tells of itself. Where there is an interactive runtime, worker i of the maintenance runtime tells of worker
i of the interactive one as well, under the number *workers + i*. A frontier is a number, or NULL when it is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...messages.ids import GlobalId
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Field, Schema, SqlType


@dataclass(frozen=True, slots=True)
class IntrospectionRelation:
    """A relation about the replica.

    Attributes:
        source: the id of the collection itself; the index has the id that the controller chose.
        key: positions of the columns by which it is indexed.
    """

    name: str
    source: GlobalId
    schema: Schema
    key: tuple[int, ...]
    description: str

    @property
    def key_expressions(self) -> tuple[Scalar, ...]:
        return tuple(ColumnRef(column) for column in self.key)


def _column(name: str, type: SqlType, nullable: bool = False) -> Field:
    return Field(name, type, nullable)


_ID = _column("id", SqlType.TEXT)
_WORKER = _column("worker", SqlType.BIGINT)

DATAFLOWS = IntrospectionRelation(
    "dataflows",
    GlobalId("si", 1),
    Schema(
        (
            _column("dataflow", SqlType.BIGINT),
            _WORKER,
            _column("name", SqlType.TEXT),
            _column("exports", SqlType.TEXT),
            _column("class", SqlType.TEXT),
            _column("as_of", SqlType.BIGINT),
            _column("scheduled", SqlType.BOOLEAN),
        )
    ),
    (0,),
    "Every dataflow that is rendered; exports are separated by blanks.",
)

FRONTIERS = IntrospectionRelation(
    "frontiers",
    GlobalId("si", 2),
    Schema(
        (
            _ID,
            _WORKER,
            _column("since", SqlType.BIGINT, True),
            _column("write", SqlType.BIGINT, True),
            _column("input", SqlType.BIGINT, True),
            _column("output", SqlType.BIGINT, True),
        )
    ),
    (0,),
    "How far each collection has come, and from when on it is readable.",
)

HYDRATION = IntrospectionRelation(
    "hydration",
    GlobalId("si", 3),
    Schema(
        (
            _ID,
            _WORKER,
            _column("hydrated", SqlType.BOOLEAN),
            _column("scheduled_at", SqlType.DOUBLE, True),
            _column("seconds", SqlType.DOUBLE, True),
        )
    ),
    (0,),
    "Whether each collection is complete at its as_of; when its dataflow was scheduled, in seconds of the system's "
    "clock, and how many seconds hydrating took.",
)

ARRANGEMENT_SIZES = IntrospectionRelation(
    "arrangement_sizes",
    GlobalId("si", 4),
    Schema(
        (
            _ID,
            _WORKER,
            _column("records", SqlType.BIGINT),
            _column("batches", SqlType.BIGINT),
            _column("bytes", SqlType.BIGINT),
        )
    ),
    (0,),
    "Updates, batches and bytes of memory of each index.",
)

ACTIVE_PEEKS = IntrospectionRelation(
    "active_peeks",
    GlobalId("si", 5),
    Schema(
        (
            _column("uuid", SqlType.TEXT),
            _WORKER,
            _ID,
            _column("time", SqlType.BIGINT),
            _column("state", SqlType.TEXT),
        )
    ),
    (0,),
    "Every peek that is not answered yet: queued, scanning, or reading a shard.",
)

WORKERS = IntrospectionRelation(
    "workers",
    GlobalId("si", 6),
    Schema(
        (
            _WORKER,
            _column("runtime", SqlType.TEXT, True),
            _column("dataflows", SqlType.BIGINT),
            _column("ready", SqlType.BIGINT),
            _column("queued_peeks", SqlType.BIGINT),
            _column("scanning_peeks", SqlType.BIGINT),
            _column("steps", SqlType.BIGINT),
            _column("step_seconds", SqlType.DOUBLE),
            _column("merges", SqlType.BIGINT),
            _column("publications", SqlType.BIGINT),
        )
    ),
    (0,),
    "Each worker of each runtime (interactive, or NULL): what it has to do now, and what it did. Merges and "
    "publications are those of the indexes that it maintains now.",
)

DURATIONS = IntrospectionRelation(
    "durations",
    GlobalId("si", 7),
    Schema(
        (
            _column("what", SqlType.TEXT),
            _column("runtime", SqlType.TEXT, True),
            _column("at_most", SqlType.DOUBLE, True),
            _column("count", SqlType.BIGINT),
        )
    ),
    (0,),
    "Histograms by runtime (interactive, or NULL): how many steps, peeks that waited (peek queue) and peeks that were "
    "worked on (peek service) took at most so many seconds and more than the next lower number; NULL: longer than any.",
)

COMPACTION_GAPS = IntrospectionRelation(
    "compaction_gaps",
    GlobalId("si", 8),
    Schema(
        (
            _ID,
            _WORKER,
            _column("maintenance", SqlType.BIGINT, True),
            _column("interactive", SqlType.BIGINT, True),
            _column("gap", SqlType.BIGINT),
        )
    ),
    (0,),
    "The compaction that each runtime has applied last to what both have, and how many timestamps the interactive one "
    "is behind. Without an interactive runtime there are no rows.",
)

RELATIONS: dict[str, IntrospectionRelation] = {
    relation.name: relation
    for relation in (
        DATAFLOWS,
        FRONTIERS,
        HYDRATION,
        ARRANGEMENT_SIZES,
        ACTIVE_PEEKS,
        WORKERS,
        DURATIONS,
        COMPACTION_GAPS,
    )
}
"""By name, in the order in which they are documented."""
