"""What a row says of its message outside of the payload: the ids in it, and what people ask for most."""

from __future__ import annotations

from typing import Any

from ...messages.commands import CreateDataflow, Hello, Peek
from ...messages.responses import Frontiers, PeekError, PeekResponse
from ..controller.messages import FromReplica
from ..storage.messages import CommitTables


def nonce_of(message: Any) -> str | None:
    """The connection that a message belongs to, if it names one."""
    return message.nonce if isinstance(message, Hello | FromReplica) else None


def ids_of(message: Any) -> list[str]:
    """The ids of the collections and the uuids of the peeks that a message is about, each once."""
    match message:
        case FromReplica():
            found = [_id_of(response) for response in message.responses]
        case CreateDataflow():
            found = [str(id) for id in message.dataflow.export_ids]
        case Peek():
            found = [message.uuid, str(message.target.id)]
        case CommitTables():
            found = [str(change.table) for change in message.changes]
        case _:
            found = [_id_of(message)]
    return [id for id in dict.fromkeys(found) if id]


def detail_of(message: Any) -> dict[str, Any]:
    """The detail of a row; the views of the log's file read it."""
    match message:
        case Peek():
            return {"uuid": message.uuid, "target": str(message.target.id), "timestamp": message.timestamp}
        case FromReplica():
            answered = {r.uuid: _outcome(r) for r in message.responses if isinstance(r, PeekResponse)}
            written = {
                str(r.id): r.write[0] for r in message.responses if isinstance(r, Frontiers) and r.write is not None
            }
            return ({"answered": answered} if answered else {}) | ({"frontiers": written} if written else {})
        case CreateDataflow():
            return {"name": message.dataflow.debug_name}
        case CommitTables():
            return {"timestamp": message.timestamp}
        case _:
            return {}


def _id_of(message: Any) -> str:
    for name in ("id", "uuid", "shard"):
        value = getattr(message, name, None)
        if value is not None:
            return str(value)
    return ""


def _outcome(response: PeekResponse) -> str:
    result = response.result
    if isinstance(result, PeekError):
        return f"error: {result.message}"
    return type(result).__name__.lower()
