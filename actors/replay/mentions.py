"""What a message is about: the collections and peeks that it names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...messages.commands import CreateDataflow, CreateInstance, Peek
from ...messages.dataflows import MaterializedView, RenderDataflow
from ..controller.messages import FromReplica
from ..worker.messages import FromWorker

_NAMES = ("id", "shard", "uuid", "token")


def mentions(message: Any) -> frozenset[str]:
    """The ids and uuids in a message, as text."""
    match message:
        case CreateDataflow(dataflow):
            return _dataflow(dataflow)
        case CreateInstance(config):
            return frozenset(str(logging.index) for logging in config.logging)
        case Peek(uuid, target):
            return frozenset((uuid, str(target.id)))
        case FromReplica():
            return _all(message.responses)
        case FromWorker():
            return _all(tagged.response for tagged in message.responses)
        case _:
            named = (getattr(message, name, None) for name in _NAMES)
            return frozenset(str(value) for value in named if value is not None)


def _all(messages: Iterable[Any]) -> frozenset[str]:
    return frozenset(name for message in messages for name in mentions(message))


def _dataflow(dataflow: RenderDataflow) -> frozenset[str]:
    sources = [id for source in dataflow.source_imports for id in (source.id, source.shard)]
    indexes = [id for index in dataflow.index_imports for id in (index.id, index.on)]
    built = [build.id for build in dataflow.objects_to_build]
    views = [s.connection.shard for s in dataflow.sink_exports if isinstance(s.connection, MaterializedView)]
    return frozenset(map(str, (*sources, *indexes, *built, *views, *dataflow.export_ids)))


def describe(message: Any) -> str:
    """A message in a few words: its kind, and what it is about."""
    about = ", ".join(sorted(mentions(message)))
    return f"{type(message).__name__}{f' ({about})' if about else ''}"
