"""What a recorded message must not overtake.

A peek, a subscription and a snapshot of a shard are answered at a time of their own, whatever is written later: they
need not be waited for, as long as nothing that they read is compacted, dropped or forgotten. When the log was recorded,
whoever sent such a message had seen the answers that came before it in the log; a replay that sends faster than its
replica answers has not. So these messages, and only these, wait until this run has told what the recording had:

* a compaction or a drop of a collection: for the peeks of it, and for how far it had come;
* a compaction or a drop of a shard: for the peeks of it, and for whatever reads or writes it;
* an append to a shard that a materialized view writes as well: for the view, because what the view finds there when it
  comes to write is part of what it writes;
* permission to write a shard that others write as well: for them and for the peeks of the shard, because whoever comes
  first writes, and a later view has nothing for the times before its own;
* settings, and a new connection, which forgets everything outstanding: for all there is.

Everything else is safe by the order of the commands: a dataflow holds what it imports from the moment on at which its
creation is handled, and a write is never before a time that is sealed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...messages.commands import AllowCompaction, AllowWrites, Hello, UpdateConfiguration
from ...messages.dataflows import MaterializedView, RenderDataflow
from ...messages.ids import GlobalId
from ..storage.messages import AppendRows, CompactShard, DropShard


@dataclass(frozen=True, slots=True)
class Needs:
    """What must have come: answers to the peeks of ``target``, and what ``exports`` had told. ``all``: everything."""

    target: GlobalId | None = None
    exports: tuple[GlobalId, ...] = ()
    all: bool = False


NOTHING = Needs()
EVERYTHING = Needs(all=True)


@dataclass(slots=True)
class Dependents:
    """Which living exports read or write which shard."""

    _users: dict[GlobalId, set[GlobalId]] = field(default_factory=dict[GlobalId, set[GlobalId]])
    _writers: dict[GlobalId, set[GlobalId]] = field(default_factory=dict[GlobalId, set[GlobalId]])

    def created(self, dataflow: RenderDataflow) -> None:
        """A dataflow was created."""
        for source in dataflow.source_imports:
            self._users.setdefault(source.shard, set()).update(dataflow.export_ids)
        for sink in dataflow.sink_exports:
            if isinstance(sink.connection, MaterializedView):
                self._users.setdefault(sink.connection.shard, set()).add(sink.id)
                self._writers.setdefault(sink.connection.shard, set()).add(sink.id)

    def dropped(self, id: GlobalId) -> None:
        """An export was dropped."""
        for by_shard in (self._users, self._writers):
            for users in by_shard.values():
                users.discard(id)

    def forget(self) -> None:
        """A new connection: what is running will be told again."""
        self._users.clear()
        self._writers.clear()

    def needs(self, message: Any) -> Needs:
        """What a message must not overtake, given everything that was sent before it."""
        match message:
            case Hello() | UpdateConfiguration():
                return EVERYTHING
            case AllowCompaction(id):
                return Needs(id, (id,))
            case AllowWrites(id):
                shard = next((shard for shard, writers in self._writers.items() if id in writers), None)
                return NOTHING if shard is None else Needs(shard, tuple(sorted(self._writers[shard])))
            case CompactShard(shard=shard) | DropShard(shard=shard):
                return Needs(shard, tuple(sorted(self._users.get(shard, ()))))
            case AppendRows(shard=shard):
                return Needs(None, tuple(sorted(self._writers.get(shard, ()))))
            case _:
                return NOTHING
