"""What travels between a system and a replica in another process.

*Down*, to the replica: commands as they are, and what the storage tells workers. *Up*, to the system: responses, and
what workers ask of the storage. Actors do not travel, so a subscriber is named by a number: workers are counted in the
order in which they first ask for something.

Everything is MessagePack, decoded strictly; rows are Arrow IPC inside it. No byte of it is code.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ...messages.commands import Command
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId, Nonce
from ...messages.responses import Response
from ...messages.rows import UpdateBlock
from ...messages.structs import Message, Natural
from .columns import ChunkForm

MOST_SUBSCRIBERS = 1 << 10
"""Workers of all runtimes of a process."""

WorkerNumber = Annotated[int, msgspec.Meta(ge=0, lt=MOST_SUBSCRIBERS)]
SubscriptionNumber = Natural


class WireStruct(Message, frozen=True, tag=True, tag_field="tag"):
    """Base of what travels besides the compute protocol."""


# --- Opening a connection, before anything else --------------------------------------------------------------------


class Open(WireStruct, frozen=True, tag="open", tag_field="tag"):
    """The system's first message: from now on it is the controller.

    Attributes:
        name: says in a log who that is.
        message_limit: bytes of the largest message that it takes.
    """

    name: Annotated[str, msgspec.Meta(max_length=200)]
    message_limit: Natural


class Opened(WireStruct, frozen=True, tag="opened", tag_field="tag"):
    """The replica's answer, once its runtimes are there, empty.

    Attributes:
        workers: of each runtime.
        interactive: whether there is a second runtime.
        trust: whether it loads Python functions in plans.
        process: the id of its operating-system process.
        message_limit: bytes of the largest message that it takes.
    """

    workers: Natural
    interactive: bool
    trust: bool
    process: Natural
    message_limit: Natural


# --- Down -----------------------------------------------------------------------------------------------------------


class SnapshotForm(WireStruct, frozen=True, tag="snapshot", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    subscription: SubscriptionNumber
    chunk: ChunkForm


class RefusedForm(WireStruct, frozen=True, tag="snapshot_refused", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    subscription: SubscriptionNumber
    message: str


class ChangesForm(WireStruct, frozen=True, tag="changes", tag_field="tag"):
    """One commit for one worker. Subscriptions share chunks: ``subscriptions`` has a subscription and the position of
    its chunk, for each in order."""

    worker: WorkerNumber
    chunks: tuple[ChunkForm, ...]
    subscriptions: tuple[tuple[SubscriptionNumber, Natural], ...]

    def __post_init__(self) -> None:
        if any(position >= len(self.chunks) for _, position in self.subscriptions):
            raise ValueError(f"Expected positions among {len(self.chunks)} chunks")


class ShareForm(WireStruct, frozen=True, tag="share", tag_field="tag"):
    """What was read of a shard."""

    worker: WorkerNumber
    token: str
    updates: UpdateBlock | None
    error: str | None


class AppendedForm(WireStruct, frozen=True, tag="appended", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    upper: Frontier


class MismatchForm(WireStruct, frozen=True, tag="upper_mismatch", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    expected: Timestamp
    upper: Frontier


class BarrierForm(WireStruct, frozen=True, tag="barrier", tag_field="tag"):
    number: Natural


class CountersAsked(WireStruct, frozen=True, tag="counters_asked", tag_field="tag"):
    number: Natural


Down = (
    Command
    | SnapshotForm
    | RefusedForm
    | ChangesForm
    | ShareForm
    | AppendedForm
    | MismatchForm
    | BarrierForm
    | CountersAsked
)

# --- Up -------------------------------------------------------------------------------------------------------------


class Answers(WireStruct, frozen=True, tag="answers", tag_field="tag"):
    """Responses in order, on the connection that ``nonce`` names."""

    nonce: Nonce
    responses: tuple[Response, ...]


class SubscribeForm(WireStruct, frozen=True, tag="subscribe", tag_field="tag"):
    """``slice`` of ``slices`` equal parts is the subscriber's share."""

    worker: WorkerNumber
    shard: GlobalId
    subscription: SubscriptionNumber
    as_of: Timestamp
    slice: Natural
    slices: Annotated[int, msgspec.Meta(ge=1, le=MOST_SUBSCRIBERS)]


class UnsubscribeForm(WireStruct, frozen=True, tag="unsubscribe", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    subscription: SubscriptionNumber


class UnsubscribeAllForm(WireStruct, frozen=True, tag="unsubscribe_all", tag_field="tag"):
    worker: WorkerNumber


class ReadForm(WireStruct, frozen=True, tag="read", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    token: str
    timestamp: Timestamp
    slice: Natural
    slices: Annotated[int, msgspec.Meta(ge=1, le=MOST_SUBSCRIBERS)]


class CancelReadForm(WireStruct, frozen=True, tag="cancel_read", tag_field="tag"):
    worker: WorkerNumber
    token: str


class AppendForm(WireStruct, frozen=True, tag="append", tag_field="tag"):
    worker: WorkerNumber
    shard: GlobalId
    chunk: ChunkForm


class BarrierReachedForm(WireStruct, frozen=True, tag="barrier_reached", tag_field="tag"):
    number: Natural


class Counters(WireStruct, frozen=True, tag="counters", tag_field="tag"):
    number: Natural
    values: dict[str, int]


class Ended(WireStruct, frozen=True, tag="ended", tag_field="tag"):
    """The last message: why the replica ends the connection.

    Attributes:
        again: whether to connect again can be of use.
        failed: whether its runtimes failed; then ``reason`` is what they failed with.
    """

    reason: str
    again: bool
    failed: bool = False


Up = (
    Answers
    | SubscribeForm
    | UnsubscribeForm
    | UnsubscribeAllForm
    | ReadForm
    | CancelReadForm
    | AppendForm
    | BarrierReachedForm
    | Counters
    | Ended
)
