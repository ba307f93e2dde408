"""Replaying a reduced history leads where replaying the whole history leads."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Command,
    CreateDataflow,
    CreateInstance,
    Hello,
    IndexTarget,
    InitializationComplete,
    InstanceConfig,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.dataflows import MaterializedView
from pillion.messages.history import MINIMUM_TO_REDUCE, CommandHistory, reduce_history
from pillion.messages.ids import GlobalId

from .descriptions import SCHEMA, dataflow, user


def peek(uuid: str, id: int = 1, time: int = 0) -> Peek:
    return Peek(uuid, IndexTarget(user(id)), time, SCHEMA)


def test_the_last_connection_and_configuration_remain() -> None:
    assert reduce_history(
        [
            Hello("a"),
            CreateInstance(InstanceConfig()),
            UpdateConfiguration((("x", 1), ("y", True))),
            InitializationComplete(),
            Hello("b"),
            CreateInstance(InstanceConfig(expiration_offset=1)),
            UpdateConfiguration((("x", 2),)),
        ]
    ) == [
        Hello("b"),
        CreateInstance(InstanceConfig(expiration_offset=1)),
        UpdateConfiguration((("x", 2), ("y", True))),
        InitializationComplete(),
    ]


def test_as_of_advances_to_the_least_compaction_of_the_exports() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1, 2, as_of=3)),
        Schedule(user(1)),
        AllowCompaction(user(1), 4),
        AllowCompaction(user(1), 9),
        AllowCompaction(user(2), 7),
    ]
    assert reduce_history(commands) == [
        CreateDataflow(dataflow(1, 2, as_of=7)),
        Schedule(user(1)),
        AllowCompaction(user(1), 9),
    ]


def test_an_export_that_was_never_compacted_keeps_the_initial_as_of() -> None:
    commands: list[Command] = [CreateDataflow(dataflow(1, 2, as_of=3)), AllowCompaction(user(1), 9)]
    assert reduce_history(commands) == commands


def test_a_dropped_export_does_not_hold_back_the_others() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1, 2, as_of=3)),
        AllowCompaction(user(1), None),
        AllowCompaction(user(2), 5),
    ]
    assert reduce_history(commands) == [CreateDataflow(dataflow(1, 2, as_of=5)), AllowCompaction(user(1), None)]


def test_a_dropped_dataflow_vanishes_with_what_belongs_to_it() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1, sinks={2: MaterializedView(user(9))})),
        Schedule(user(1)),
        AllowWrites(user(2)),
        AllowCompaction(user(1), 5),
        AllowCompaction(user(1), None),
        AllowCompaction(user(2), None),
    ]
    assert reduce_history(commands) == []


def test_answered_and_cancelled_peeks_vanish() -> None:
    commands: list[Command] = [peek("a"), peek("b"), CancelPeek("b"), peek("c")]
    assert reduce_history(commands, answered=["a"]) == [peek("c")]


def test_compactions_come_after_the_peeks_that_they_could_disturb() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1, 2)),
        AllowCompaction(user(1), 3),
        peek("a", 2, time=0),
        AllowCompaction(GlobalId("s", 1), 6),
        AllowCompaction(GlobalId("s", 1), 7),
        AllowWrites(user(2)),
        InitializationComplete(),
    ]
    assert reduce_history(commands) == [
        CreateDataflow(dataflow(1, 2)),
        peek("a", 2, time=0),
        AllowCompaction(user(1), 3),
        AllowCompaction(GlobalId("s", 1), 7),
        AllowWrites(user(2)),
        InitializationComplete(),
    ]


def test_an_id_that_is_dropped_and_created_again() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1, 2)),
        Schedule(user(1)),
        AllowCompaction(user(1), None),
        CreateDataflow(dataflow(1, as_of=4, negated=True)),
        Schedule(user(1)),
    ]
    assert reduce_history(commands) == [
        CreateDataflow(dataflow(1, 2)),
        Schedule(user(1)),
        AllowCompaction(user(1), None),
        CreateDataflow(dataflow(1, as_of=4, negated=True)),
        Schedule(user(1)),
    ]


def test_a_whole_dataflow_dropped_and_created_again() -> None:
    commands: list[Command] = [
        CreateDataflow(dataflow(1)),
        AllowCompaction(user(1), None),
        CreateDataflow(dataflow(1, as_of=4)),
    ]
    assert reduce_history(commands) == [CreateDataflow(dataflow(1, as_of=4))]


def test_the_history_reduces_itself_when_it_has_doubled() -> None:
    history = CommandHistory([Hello("a"), CreateDataflow(dataflow(1))])
    longest = 0
    for number in range(10 * MINIMUM_TO_REDUCE):
        history.append(peek(str(number)))
        history.peek_answered(str(number))
        history.append(AllowCompaction(user(1), number))
        longest = max(longest, len(history))
    assert longest <= 2 * MINIMUM_TO_REDUCE
    history.reduce()
    assert list(history) == [Hello("a"), CreateDataflow(dataflow(1, as_of=10 * MINIMUM_TO_REDUCE - 1))]


def test_a_long_history_of_live_commands_is_reduced_rarely() -> None:
    history = CommandHistory()
    lengths: list[int] = []
    for number in range(20 * MINIMUM_TO_REDUCE):
        history.append(peek(str(number)))
        lengths.append(len(history))
    assert lengths == list(range(1, 20 * MINIMUM_TO_REDUCE + 1))


@dataclass
class Replica:
    """What a replica would hold, said as plainly as possible."""

    configuration: dict[str, object] = field(default_factory=dict)
    collections: dict[GlobalId, list[object]] = field(default_factory=dict)
    peeks: dict[str, list[object]] = field(default_factory=dict)

    def hear(self, command: Command) -> None:
        match command:
            case UpdateConfiguration(updates):
                self.configuration.update(updates)
            case CreateDataflow(description):
                for id in description.export_ids:
                    plan = description.objects_to_build
                    self.collections[id] = [plan, description.as_of, False, False]
            case Schedule(id):
                self.collections[id][2] = True
            case AllowWrites(id):
                self.collections[id][3] = True
            case AllowCompaction(id, None):
                del self.collections[id]
            case AllowCompaction(id, frontier):
                self.collections[id][1] = frontier
            case Peek(uuid, IndexTarget(id), time):
                # A peek reads what exists at this point of the stream, at a time that is still readable.
                plan, since, *_ = self.collections[id]
                assert since <= time
                self.peeks[uuid] = [plan, time]
            case CancelPeek(uuid):
                self.peeks.pop(uuid, None)
            case _:
                pass


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Command], set[str], Replica]:
    """Commands that keep the protocol, the peeks that were answered, and where they lead."""
    commands: list[Command] = []
    answered: set[str] = set()
    replica = Replica()
    since: dict[GlobalId, int] = {}
    for step in range(draw(st.integers(0, 30))):
        command: Command
        free = [number for number in range(1, 5) if user(number) not in replica.collections]
        live = sorted(replica.collections)
        peeked = [uuid for uuid in replica.peeks if uuid not in answered]
        choice = draw(st.sampled_from(["create", "compact", "schedule", "drop", "peek", "end", "configure"]))
        if choice == "create" and free:
            exports = draw(st.lists(st.sampled_from(free), min_size=1, max_size=2, unique=True))
            as_of = draw(st.integers(0, 5))
            command = CreateDataflow(dataflow(*exports, as_of=as_of, negated=draw(st.booleans())))
            for id in command.dataflow.export_ids:
                since[id] = as_of
        elif choice == "compact" and live:
            id = draw(st.sampled_from(live))
            limit = min([10, *(peek_time(replica, uuid) for uuid in peeked if target(commands, uuid) == id)])
            since[id] = draw(st.integers(since[id], max(since[id], limit)))
            command = AllowCompaction(id, since[id])
        elif choice == "schedule" and live:
            command = Schedule(draw(st.sampled_from(live)))
        elif choice == "drop" and live:
            id = draw(st.sampled_from(live))
            if any(target(commands, uuid) == id for uuid in peeked):
                continue
            command = AllowCompaction(id, None)
        elif choice == "peek" and live:
            id = draw(st.sampled_from(live))
            command = Peek(str(step), IndexTarget(id), since[id] + draw(st.integers(0, 3)), SCHEMA)
        elif choice == "end" and peeked:
            uuid = draw(st.sampled_from(peeked))
            if draw(st.booleans()):
                answered.add(uuid)
                continue
            command = CancelPeek(uuid)
        elif choice == "configure":
            command = UpdateConfiguration(((draw(st.sampled_from("xyz")), step),))
        else:
            continue
        commands.append(command)
        replica.hear(command)
    return commands, answered, replica


def peek_time(replica: Replica, uuid: str) -> int:
    return int(str(replica.peeks[uuid][1]))


def target(commands: list[Command], uuid: str) -> GlobalId:
    return next(c.target.id for c in commands if isinstance(c, Peek) and c.uuid == uuid)


@given(histories())
def test_a_reduced_history_leads_to_the_same_replica(history: tuple[list[Command], set[str], Replica]) -> None:
    commands, answered, expected = history
    reduced = reduce_history(commands, answered)
    replica = Replica()
    for command in reduced:
        replica.hear(command)
    assert replica.configuration == expected.configuration
    assert replica.collections == expected.collections
    assert replica.peeks == {uuid: read for uuid, read in expected.peeks.items() if uuid not in answered}
    assert reduce_history(reduced) == reduced
    assert len(reduced) <= len(commands)
