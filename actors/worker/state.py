"""Everything a worker knows, in one place."""

from __future__ import annotations

import enum
from collections import Counter, deque
from dataclasses import dataclass, field

from ...dataflow.arrangements.peer import PeerArrangement
from ...dataflow.arrangements.publication import Incarnation
from ...dataflow.arrangements.snapshot import Scan
from ...dataflow.arrangements.trace import Trace
from ...dataflow.render import Dataflow
from ...messages.commands import Command, InstanceConfig, Peek
from ...messages.dataflows import RenderDataflow
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId, Nonce, PeekId
from ..metrics.figures import WorkerFigures
from ..peeks.builder import PeekResultBuilder
from ..settings import Settings
from .messages import DataflowNumber, Exchanged, SinkPart
from .placement import Placement
from .reporting import ReportedFrontiers
from .sinks import Sink


class RunningDataflow:
    """A dataflow that this worker renders."""

    __slots__ = (
        "compactions",
        "dataflow",
        "description",
        "exporters",
        "exports",
        "hydrated_after",
        "importers",
        "is_active",
        "number",
        "scheduled_at",
    )

    def __init__(self, number: DataflowNumber, description: RenderDataflow, dataflow: Dataflow) -> None:
        self.number = number
        self.description = description
        self.dataflow = dataflow
        self.exports: dict[GlobalId, Collection] = {}
        """Those that were not dropped."""
        self.compactions: dict[GlobalId, Frontier] = {}
        """The last ``AllowCompaction`` of each export that ever had one, also of those that were dropped."""
        self.exporters: list[RunningDataflow | PeerBundle] = []
        """Those of which it imports an index."""
        self.importers: list[RunningDataflow] = []
        """Those that import one of its indexes: when it moves, they have work."""
        self.is_active = False
        """Whether it waits for its turn."""
        self.scheduled_at: float | None = None
        self.hydrated_after: float | None = None
        """Seconds from being scheduled until every export was complete at ``as_of``."""

    @property
    def is_logging(self) -> bool:
        """Whether it keeps an introspection relation: made by ``CreateInstance``, not by ``CreateDataflow``."""
        return self.number < 0


class Collection:
    """An export of a dataflow that this worker renders. ``sink`` is None for an index."""

    __slots__ = ("id", "reported", "running", "sink")

    def __init__(self, id: GlobalId, running: RunningDataflow, sink: Sink | None) -> None:
        self.id = id
        self.running = running
        self.sink = sink
        self.reported = ReportedFrontiers(id, running.description.as_of)

    @property
    def compaction(self) -> Frontier:
        """What ``AllowCompaction`` allowed last, at first ``as_of``."""
        return self.running.compactions.get(self.id, self.running.description.as_of)


class PeerBundle:
    """An index that the other runtime of the process maintains, as this runtime reads it: its oks and errs, bound to
    the publication of its own incarnation now or later.

    Attributes:
        trace: what peeks and dataflows read; its hold is the last ``AllowCompaction`` that this runtime has applied.
        importers: the dataflows that import it.
        awaited: the time at which the publisher is going to wake this worker, if there is one.
    """

    __slots__ = ("arrangement", "awaited", "importers", "trace")

    def __init__(self, trace: Trace, arrangement: PeerArrangement) -> None:
        self.trace = trace
        self.arrangement = arrangement
        self.importers: list[RunningDataflow] = []
        self.awaited: Timestamp | None = None

    @property
    def slot(self) -> Slot:
        return self.trace.id, self.trace.incarnation


class PeerDataflow:
    """A dataflow that the other runtime of the process renders."""

    __slots__ = ("compactions", "description", "exports", "number")

    def __init__(self, number: DataflowNumber, description: RenderDataflow) -> None:
        self.number = number
        self.description = description
        self.exports: dict[GlobalId, Peer] = {}
        """Those that were not dropped."""
        self.compactions: dict[GlobalId, Frontier] = {}
        """The last ``AllowCompaction`` of each export that ever had one, also of those that were dropped."""

    @property
    def is_logging(self) -> bool:
        """Whether it keeps an introspection relation."""
        return self.number < 0


class Peer:
    """An export of a dataflow that the other runtime renders. ``bundle``: of an index that this runtime reads."""

    __slots__ = ("bundle", "dataflow", "id")

    def __init__(self, id: GlobalId, dataflow: PeerDataflow, bundle: PeerBundle | None) -> None:
        self.id = id
        self.dataflow = dataflow
        self.bundle = bundle

    @property
    def compaction(self) -> Frontier:
        """What ``AllowCompaction`` allowed last, at first ``as_of``."""
        return self.dataflow.compactions.get(self.id, self.dataflow.description.as_of)


Slot = tuple[GlobalId, Incarnation]
"""Where a publication and a bundle meet: an index may have several, one after the other, under one id."""


class PeekState(enum.StrEnum):
    """Why a peek is not answered yet."""

    QUEUED = "queued"
    SCANNING = "scanning"
    READING_SHARD = "reading shard"


@dataclass(slots=True, eq=False)
class PendingPeek:
    """A peek that is not answered yet. ``scan`` and ``builder`` are set while it is scanning; ``worked`` are the
    seconds that were spent on it so far."""

    peek: Peek
    state: PeekState
    scan: Scan | None = None
    builder: PeekResultBuilder | None = None
    worked: float = 0.0

    def __lt__(self, other: PendingPeek) -> bool:
        """Whether it reads at an earlier time."""
        return self.peek.timestamp < other.peek.timestamp


@dataclass(slots=True)
class ComputeState:
    """A worker's state. The collections of one dataflow are in ``collections`` and in its ``exports``.

    Attributes:
        replay: the commands since ``Hello``, while ``InitializationComplete`` has not come, and something was there
            before; else None.
        collections: what this runtime renders, and hence reports.
        traces: the indexes that can be read and imported.
        peers: what the other runtime renders. Never in ``collections``.
        bundles: the peers that this runtime reads, and those that were dropped while a dataflow still reads them.
        published: the indexes that the other runtime reads, until it releases them.
        dataflows: those of which anything is needed, in the order in which they were created: an export that was not
            dropped, or an arrangement that another dataflow re-uses or reads.
        next_dataflow: the number of the next ``CreateDataflow``.
        ready: the dataflows that may have work, in order of their turn.
        early: what fellow workers sent for dataflows that this worker has not been told to create yet.
        peeks: those that are not answered yet.
        counters: how often what happened.
        figures: how long what took.
        queued_peeks: those that wait until an index seals their time, by index: a heap, the earliest time first.
        scans: those that read on at their turn.
    """

    worker: int
    placement: Placement
    settings: Settings = field(default_factory=Settings)
    nonce: Nonce = ""
    replay: list[Command] | None = None
    config: InstanceConfig | None = None
    collections: dict[GlobalId, Collection] = field(default_factory=dict[GlobalId, Collection])
    traces: dict[GlobalId, Trace] = field(default_factory=dict[GlobalId, Trace])
    peers: dict[GlobalId, Peer] = field(default_factory=dict[GlobalId, Peer])
    bundles: dict[Slot, PeerBundle] = field(default_factory=dict[Slot, PeerBundle])
    published: dict[Slot, Trace] = field(default_factory=dict[Slot, Trace])
    dataflows: dict[DataflowNumber, RunningDataflow] = field(default_factory=dict[DataflowNumber, RunningDataflow])
    next_dataflow: DataflowNumber = 0
    ready: deque[RunningDataflow] = field(default_factory=deque[RunningDataflow])
    early: dict[DataflowNumber, list[Exchanged | SinkPart]] = field(
        default_factory=dict[DataflowNumber, list[Exchanged | SinkPart]]
    )
    peeks: dict[PeekId, PendingPeek] = field(default_factory=dict[PeekId, PendingPeek])
    counters: Counter[str] = field(default_factory=Counter[str])
    figures: WorkerFigures = field(default_factory=WorkerFigures)
    queued_peeks: dict[GlobalId, list[PendingPeek]] = field(default_factory=dict[GlobalId, list[PendingPeek]])
    scans: deque[PendingPeek] = field(default_factory=deque[PendingPeek])

    def incarnation(self, number: DataflowNumber) -> Incarnation:
        """Of what a dataflow exports that is created on the present connection. Both runtimes hear the same commands
        and count them alike, so they agree without talking."""
        return self.nonce, number
