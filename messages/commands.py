"""Commands, from one controller to a replica, in the order sent. The rules are in docs/protocol.md."""

from __future__ import annotations

from .dataflows import RenderDataflow
from .frontiers import Frontier, Timestamp
from .ids import GlobalId, Nonce, PeekId
from .plans import MapFilterProject
from .relations import Order
from .scalars import Literal
from .structs import Message, Natural
from .types import Schema


class CommandStruct(Message, frozen=True, tag=True, tag_field="tag", omit_defaults=True):
    """Base of every command."""


class Hello(CommandStruct, frozen=True, tag="hello", tag_field="tag"):
    """Opens a connection; what belonged to an older nonce is discarded."""

    nonce: Nonce


class LoggingIndex(Message, frozen=True):
    """Which introspection relation is exported under which index id."""

    relation: str
    index: GlobalId


class InstanceConfig(Message, frozen=True):
    """Create-time settings; an incompatible one on reconnect stops the process with a clear error."""

    logging: tuple[LoggingIndex, ...] = ()
    expiration_offset: Natural | None = None
    arrangement_dictionary_compression: bool = False


class CreateInstance(CommandStruct, frozen=True, tag="create_instance", tag_field="tag"):
    config: InstanceConfig


class InitializationComplete(CommandStruct, frozen=True, tag="initialization_complete", tag_field="tag"):
    """Ends the replay of what the replica should be running: reconcile now."""


Setting = bool | int | float | str


class UpdateConfiguration(CommandStruct, frozen=True, tag="update_configuration", tag_field="tag"):
    """Settings by name, applied at once, to existing dataflows and peeks too."""

    updates: tuple[tuple[str, Setting], ...]


class CreateDataflow(CommandStruct, frozen=True, tag="create_dataflow", tag_field="tag"):
    dataflow: RenderDataflow


class Schedule(CommandStruct, frozen=True, tag="schedule", tag_field="tag"):
    """Starts the dataflow that exports ``id``; it was rendered suspended."""

    id: GlobalId


class AllowWrites(CommandStruct, frozen=True, tag="allow_writes", tag_field="tag"):
    """The materialized-view sink ``id`` may write its shard from now on."""

    id: GlobalId


class AllowCompaction(CommandStruct, frozen=True, tag="allow_compaction", tag_field="tag"):
    """External readers need times from ``frontier`` on. The empty frontier drops the collection."""

    id: GlobalId
    frontier: Frontier


class IndexTarget(Message, frozen=True, tag="index", tag_field="tag"):
    id: GlobalId


class ShardTarget(Message, frozen=True, tag="shard", tag_field="tag"):
    id: GlobalId


class Finishing(Message, frozen=True, omit_defaults=True):
    """Order, limit and offset over the whole result, after ``map_filter_project``."""

    order_by: tuple[Order, ...] = ()
    limit: Natural | None = None
    offset: Natural = 0


class Peek(CommandStruct, frozen=True, tag="peek", tag_field="tag"):
    """Read an index (or a shard) at exactly one timestamp.

    ``literal_constraints``: key values, one tuple per key, or None for a scan.
    ``result``: names and types of the columns after ``map_filter_project`` (None: identity).
    """

    uuid: PeekId
    target: IndexTarget | ShardTarget
    timestamp: Timestamp
    result: Schema
    literal_constraints: tuple[tuple[Literal, ...], ...] | None = None
    map_filter_project: MapFilterProject | None = None
    finishing: Finishing = Finishing()


class CancelPeek(CommandStruct, frozen=True, tag="cancel_peek", tag_field="tag"):
    uuid: PeekId


Command = (
    Hello
    | CreateInstance
    | InitializationComplete
    | UpdateConfiguration
    | CreateDataflow
    | Schedule
    | AllowWrites
    | AllowCompaction
    | Peek
    | CancelPeek
)
