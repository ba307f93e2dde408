"""The command history: what the controller replays to a fresh replica, as short as it can be.

Invariant: replaying the history to an empty replica leaves it in the state of one that heard every command in the order
it was appended, except for collections that were dropped and peeks that were answered or cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from .commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Command,
    CreateDataflow,
    CreateInstance,
    Hello,
    InitializationComplete,
    Peek,
    Schedule,
    Setting,
    UpdateConfiguration,
)
from .dataflows import RenderDataflow
from .frontiers import Frontier, maximum, minimum
from .ids import GlobalId, PeekId

MINIMUM_TO_REDUCE = 64
"""A shorter history is not worth reducing."""


class CommandHistory:
    """A list of commands that reduces itself when it has doubled since the last reduction, so that appending costs
    constant time on average and the length stays proportional to what is alive."""

    def __init__(self, commands: Iterable[Command] = ()) -> None:
        self._commands: list[Command] = []
        self._answered: set[PeekId] = set()
        self._reduce_at = MINIMUM_TO_REDUCE
        for command in commands:
            self.append(command)

    def __len__(self) -> int:
        return len(self._commands)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands)

    def append(self, command: Command) -> None:
        """Remember a command that was sent."""
        self._commands.append(command)
        if len(self._commands) >= self._reduce_at:
            self.reduce()

    def peek_answered(self, uuid: PeekId) -> None:
        """Forget a peek, because its response has come."""
        self._answered.add(uuid)

    def reduce(self) -> None:
        """Shorten the history to what a fresh replica needs."""
        self._commands = reduce_history(self._commands, self._answered)
        self._answered.clear()
        self._reduce_at = max(MINIMUM_TO_REDUCE, 2 * len(self._commands))


@dataclass(slots=True)
class _Dataflow:
    """A dataflow of the history, and what was said about its exports after it was created."""

    description: RenderDataflow
    scheduled: list[GlobalId] = field(default_factory=list[GlobalId])
    writing: list[GlobalId] = field(default_factory=list[GlobalId])
    compactions: dict[GlobalId, Frontier] = field(default_factory=dict[GlobalId, Frontier])

    def compact(self, id: GlobalId, frontier: Frontier) -> None:
        self.compactions[id] = maximum((self.compactions.get(id, self.description.as_of), frontier))

    @property
    def as_of(self) -> Frontier:
        """The earliest time that a reader of any export may still need; empty when all were dropped."""
        initial = self.description.as_of
        return minimum(self.compactions.get(id, initial) for id in self.description.export_ids)


def reduce_history(commands: Iterable[Command], answered: Iterable[PeekId] = ()) -> list[Command]:
    """The shortest history with the same meaning.

    Kept are the last ``Hello`` and ``CreateInstance``, one ``UpdateConfiguration`` with the last value of every
    setting, the dataflows that still have an export, created directly at the earliest time that is still needed, their
    schedules, the peeks that are outstanding, the compactions that this leaves to be done, the permissions to write,
    and ``InitializationComplete``, in this order.

    Args:
        commands: the history.
        answered: peeks whose responses have come.
    """
    hello: list[Command] = []
    instance: list[Command] = []
    complete: list[Command] = []
    settings: dict[str, Setting] = {}
    peeks: dict[PeekId, Command] = {}
    dataflows: list[_Dataflow] = []
    exporter: dict[GlobalId, _Dataflow] = {}
    # Collections that no dataflow of the history exports: the indexes on introspection relations.
    others: dict[GlobalId, Frontier] = {}
    forgotten = set(answered)
    for command in commands:
        match command:
            case Hello():
                hello = [command]
            case CreateInstance():
                instance = [command]
            case InitializationComplete():
                complete = [command]
            case UpdateConfiguration(updates):
                settings.update(updates)
            case CreateDataflow(description):
                dataflow = _Dataflow(description)
                dataflows.append(dataflow)
                exporter.update((id, dataflow) for id in description.export_ids)
            case Schedule(id):
                if id in exporter:
                    exporter[id].scheduled.append(id)
            case AllowWrites(id):
                if id in exporter:
                    exporter[id].writing.append(id)
            case AllowCompaction(id, frontier):
                if id in exporter:
                    exporter[id].compact(id, frontier)
                else:
                    others[id] = maximum((others.get(id, 0), frontier))
            case Peek(uuid):
                if uuid not in forgotten:
                    peeks[uuid] = command
            case CancelPeek(uuid):
                peeks.pop(uuid, None)
    reduced = hello + instance
    if settings:
        reduced.append(UpdateConfiguration(tuple(settings.items())))
    alive = [dataflow for dataflow in dataflows if dataflow.as_of is not None]
    early, late = _compactions(alive)
    for position, dataflow in enumerate(alive):
        reduced += early.get(position, ())
        reduced.append(CreateDataflow(_advanced(dataflow)))
        reduced += [Schedule(id) for id in dict.fromkeys(dataflow.scheduled)]
    reduced += peeks.values()
    reduced += late
    reduced += [AllowCompaction(id, frontier) for id, frontier in others.items()]
    reduced += [AllowWrites(id) for dataflow in alive for id in dict.fromkeys(dataflow.writing)]
    reduced += complete
    return reduced


def _advanced(dataflow: _Dataflow) -> RenderDataflow:
    as_of = dataflow.as_of
    assert as_of is not None, "a dataflow without exports is not kept"
    description = dataflow.description
    return description if as_of == description.as_of else msgspec.structs.replace(description, as_of=as_of)


def _compactions(dataflows: list[_Dataflow]) -> tuple[dict[int, list[Command]], list[Command]]:
    """The compactions that creating the dataflows at their later ``as_of`` leaves to be done.

    Returns:
        by dataflow, the drops of collections that it creates anew, to be done before it is created;
        and all the others, to be done after the peeks.
    """
    early: dict[int, list[Command]] = {}
    late: list[Command] = []
    creators: dict[GlobalId, list[int]] = {}
    for position, dataflow in enumerate(dataflows):
        for id in dataflow.description.export_ids:
            creators.setdefault(id, []).append(position)
    for position, dataflow in enumerate(dataflows):
        for id, frontier in dataflow.compactions.items():
            if frontier == dataflow.as_of:
                continue
            again = next((creator for creator in creators[id] if creator > position), None)
            if again is None:
                late.append(AllowCompaction(id, frontier))
            else:
                early.setdefault(again, []).append(AllowCompaction(id, frontier))
    return early, late
