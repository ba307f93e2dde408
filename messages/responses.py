"""Responses, from a replica to its controller. The rules are in docs/protocol.md."""

from __future__ import annotations

from typing import Any

from .frontiers import Frontier, Timestamp
from .ids import GlobalId, PeekId
from .rows import RowBlock, UpdateBlock
from .structs import Message, Natural


class ResponseStruct(Message, frozen=True, tag=True, tag_field="tag", omit_defaults=True):
    """Base of every response."""


class Frontiers(ResponseStruct, frozen=True, tag="frontiers", tag_field="tag"):
    """For indexes and materialized views. A field is None when it did not move; a moved one is ``(frontier,)``,
    because the frontier itself may be the empty one."""

    id: GlobalId
    write: tuple[Frontier] | None = None
    input: tuple[Frontier] | None = None
    output: tuple[Frontier] | None = None


class Rows(Message, frozen=True, tag="rows", tag_field="tag"):
    """Rows with multiplicities, after map/filter/project; ordered and limited when the peek asked for it."""

    block: RowBlock


class Stashed(Message, frozen=True, tag="stashed", tag_field="tag"):
    """A large result, in parts."""

    parts: tuple[RowBlock, ...]


class PeekError(Message, frozen=True, tag="error", tag_field="tag"):
    message: str


class Canceled(Message, frozen=True, tag="canceled", tag_field="tag"):
    """Only ever after a ``CancelPeek``."""


PeekResult = Rows | Stashed | PeekError | Canceled


class PeekResponse(ResponseStruct, frozen=True, tag="peek_response", tag_field="tag"):
    """Exactly one per peek. ``age``: of an introspection relation, when it was not read where it is kept, how many
    seconds before the answer its state was recorded."""

    uuid: PeekId
    result: PeekResult
    age: float | None = None


class SubscribeBatch(Message, frozen=True, tag="batch", tag_field="tag"):
    """All changes with ``lower <= time < upper``, consolidated. ``error``: the collection has one in this interval."""

    lower: Timestamp
    upper: Frontier
    updates: UpdateBlock
    error: str | None = None


class DroppedAt(Message, frozen=True, tag="dropped_at", tag_field="tag"):
    frontier: Frontier


class SubscribeResponse(ResponseStruct, frozen=True, tag="subscribe_response", tag_field="tag"):
    id: GlobalId
    result: SubscribeBatch | DroppedAt


class Copied(Message, frozen=True, tag="rows", tag_field="tag"):
    rows: Natural


class CopyError(Message, frozen=True, tag="error", tag_field="tag"):
    message: str


class CopyDropped(Message, frozen=True, tag="dropped", tag_field="tag"):
    pass


class CopyToResponse(ResponseStruct, frozen=True, tag="copy_to_response", tag_field="tag"):
    """Exactly one per copy-to."""

    id: GlobalId
    result: Copied | CopyError | CopyDropped


class Status(ResponseStruct, frozen=True, tag="status", tag_field="tag"):
    """Informational; no answer may depend on it."""

    kind: str
    details: dict[str, Any] = {}


Response = Frontiers | PeekResponse | SubscribeResponse | CopyToResponse | Status
