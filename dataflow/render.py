"""A running dataflow on one worker."""

from __future__ import annotations

from collections.abc import Mapping

from ..messages.dataflows import RenderDataflow
from ..messages.frontiers import Frontier, minimum
from ..messages.ids import GlobalId
from .arrangements.trace import Trace
from .arrangements.updates import Chunk
from .builder import Builder
from .operators.exchange import Outbox
from .operators.sink import SinkQueue


class Dataflow:
    """One dataflow on one worker: operators, their queues and what they maintain. Single-threaded and pure: it is fed
    chunks, and works when it is told to.

    Args:
        description: what to render; ``traces`` has every index that it imports.
        worker: which of the ``peers`` workers this is, from 0.
        incarnation: given to the index exports (see :class:`Trace`).
        trust: whether user functions may be loaded.

    Attributes:
        outbox: ``(peer, channel, part)`` for fellow workers. Drained by the owner after every step.
        indexes: the index exports.
        sinks: what is ready for the owner to send or write, by sink export.

    Raises:
        KeyError: an imported index is not in ``traces``.
        ValueError: an imported index is compacted past ``as_of``.
    """

    def __init__(
        self,
        description: RenderDataflow,
        *,
        traces: Mapping[GlobalId, Trace],
        worker: int,
        peers: int,
        incarnation: tuple[str, int] = ("", 0),
        trust: bool = False,
    ) -> None:
        self.description = description
        self.outbox: Outbox = []
        built = Builder(description, traces, worker, peers, self.outbox, trust)
        self._agenda = built.agenda
        self._sources = built.sources
        self._channels = built.channels
        self._watches = tuple(built.watches.values())
        self._arrangements = tuple(built.arrangements)
        self._intakes = tuple(built.intakes)
        self.sinks: Mapping[GlobalId, SinkQueue] = built.sinks
        self.indexes: Mapping[GlobalId, Trace] = {
            id: Trace(id, incarnation, arranged.key, arranged.arrangement, description.as_of)
            for id, arranged in built.indexes.items()
        }

    def feed(self, source: GlobalId, chunk: Chunk) -> None:
        """The next chunk of a source import. Chunks are contiguous; the first has ``lower`` 0 and the snapshot."""
        self._sources[source].input.push(chunk)

    def receive(self, channel: int, sender: int, chunk: Chunk) -> None:
        """The next part that a fellow worker has for this one."""
        self._channels[channel].inputs[sender].push(chunk)

    def step(self, fuel: int | None = None) -> bool:
        """Run operators that are ready; False when none is until something arrives.

        Args:
            fuel: about how many rows of work to do. An operator that has more to do than that stops in the middle and
                goes on with the next step; frontiers advance when its interval is complete. None: to completion, of
                one operator or of several that have little to do. Sorting a batch is not divided.
        """
        agenda = self._agenda
        if agenda.step(fuel):
            return True
        for watch in self._watches:
            upper = watch.arrangement.upper
            if upper != watch.upper:
                watch.upper = upper
                agenda.pending |= watch.followers
        return agenda.step(fuel)

    def upper(self, export: GlobalId) -> Frontier:
        """How far this export is complete.

        Raises:
            KeyError: there is no such export.
        """
        sink = self.sinks.get(export)
        return sink.upper if sink is not None else self.indexes[export].upper

    def input_upper(self) -> Frontier:
        """How far everything that this dataflow reads is complete."""
        uppers = [source.input.upper for source in self._sources.values()]
        uppers += [watch.arrangement.upper for watch in self._watches]
        return minimum(uppers)

    def maintain(self, fuel: int) -> bool:
        """Merge about ``fuel`` rows of what this dataflow maintains while nobody waits; whether there is more to do."""
        return any(arrangement.maintain(fuel) for arrangement in self._arrangements)

    @property
    def in_use(self) -> bool:
        """Whether anybody else needs an arrangement that this dataflow maintains: an index that was not dropped, of
        this dataflow or another one that re-uses the arrangement, or the operators of another dataflow. As long as
        that is so the dataflow has to run on, even if all its own exports were dropped."""
        own = {id(intake.hold) for intake in self._intakes}
        return any(id(hold) not in own for arrangement in self._arrangements for hold in arrangement.holds)

    def close(self) -> None:
        """Let go of the arrangements that it reads, and of its own. Nothing may be called afterwards."""
        for intake in self._intakes:
            intake.close()
        self._agenda.close()
