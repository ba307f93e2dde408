"""Replaying a recording in a simulation, where every order of messages can be had."""

from __future__ import annotations

import pytest

from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.replay.dependents import NOTHING, Dependents, Needs
from pillion.actors.replay.events import Event, Heard, Sent
from pillion.actors.replay.options import ReplayOptions, Until
from pillion.actors.replay.replay import replay
from pillion.actors.replay.report import Report, show, to_json
from pillion.actors.replay.verdict import Answered, Outcome
from pillion.messages.commands import CreateInstance, Hello, InitializationComplete, InstanceConfig, Peek
from pillion.messages.responses import PeekResponse
from tests.unit.replay.build import Tape
from tests.unit.replay.world import COMMITS, world

SEEDS = range(10)


def run(tape: Tape, seed: int = 0, options: ReplayOptions = ReplayOptions()) -> Report:
    return replay(tape, SimulatedDispatcher(seed), options)


def counted(report: Report) -> dict[Answered, dict[Outcome, int]]:
    counts: dict[Answered, dict[Outcome, int]] = {}
    for (answers, outcome), number in report.counts.items():
        counts.setdefault(answers, {})[outcome] = number
    return counts


@pytest.mark.parametrize("interactive", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_answer_comes_out_again(workers: int, interactive: bool) -> None:
    for seed in SEEDS:
        report = run(world(), seed, ReplayOptions(workers=workers, interactive=interactive))
        assert report.is_same, show(report)
        assert counted(report) == {
            Answered.PEEKS: {Outcome.SAME: COMMITS - 1},
            Answered.SUBSCRIBES: {Outcome.SAME: 1},
            Answered.WRITES: {Outcome.SAME: COMMITS - 1},
            Answered.FRONTIERS: {Outcome.SAME: 1},
        }


def test_a_compaction_would_overtake_reads_if_it_did_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: Dependents, message: object) -> Needs:
        return NOTHING

    monkeypatch.setattr(Dependents, "needs", nothing)
    reports = [run(world(), seed, ReplayOptions(interactive=True, timeout=1.0)) for seed in SEEDS]
    assert any(not report.is_same for report in reports)


def test_a_changed_answer_is_shown_with_its_message() -> None:
    report = run(world(answers=[(1, "y")]))
    assert [d.answers for d in report.differences] == [Answered.PEEKS]
    text = show(report)
    assert "peek p1 of u2 at 1 (message 12, answered in 14): 1 row only recorded, 1 row only replayed" in text
    assert '  - (1 "y")\n  + (1 "x")' in text
    assert "1 answer is not the same" in text
    assert '"same": false' in to_json(report)


def test_until_a_message_or_a_time() -> None:
    peeks = [event for event in world().events() if isinstance(event, Heard)]
    last = peeks[2].sequence
    for until in (Until(sequence=last), Until(time=peeks[2].time)):
        report = run(world(), options=ReplayOptions(until=until))
        assert report.is_same
        assert report.messages == last
        assert counted(report)[Answered.PEEKS] == {Outcome.SAME: 1}


def test_the_recorded_speed_takes_the_recorded_time() -> None:
    tape = world()
    recorded = [event.time for event in tape.events()][-1]
    for speed, seconds in ((1.0, recorded), (4.0, recorded / 4)):
        report = run(tape, options=ReplayOptions(speed=speed))
        assert report.is_same
        assert report.seconds is not None
        assert report.seconds >= seconds * 0.999


def test_an_answer_that_does_not_come_ends_the_replay() -> None:
    """The recording asks for what nobody answers: a read at a time that is never written."""
    events: list[Event] = []
    for event in world().events():
        if isinstance(event, Sent) and isinstance(event.command, Peek) and event.command.uuid == "p2":
            command = Peek("p2", event.command.target, 1000, event.command.result)
            event = Sent(event.sequence, event.time, event.replica, command)
        events.append(event)
    report = run(Tape(events), options=ReplayOptions(timeout=5.0))
    assert not report.is_same
    assert report.ended is not None
    assert "an answer to peek p2 of u2 at 1000 did not come" in report.ended
    assert counted(report)[Answered.PEEKS] == {Outcome.SAME: 1, Outcome.MISSING: COMMITS - 2}


def test_a_replica_that_fails_ends_the_replay() -> None:
    """Two instances of different configurations on one connection after another are refused by failing."""
    events = list(world().events())
    last = events[-1]
    again = [Hello("m"), CreateInstance(InstanceConfig(expiration_offset=5)), InitializationComplete()]
    events += [Sent(last.sequence + at, last.time, "multiplexer-0", command) for at, command in enumerate(again, 1)]
    report = run(Tape(events))
    assert report.ended is not None
    assert "the replica failed: the replica was created with another configuration" in report.ended
    assert report.is_same, "everything that was recorded before came out again"


def test_an_answer_nobody_recorded_counts_for_nothing() -> None:
    events = [
        e
        for e in world().events()
        if not (isinstance(e, Heard) and isinstance(e.responses[0], PeekResponse) and e.responses[0].uuid == "p3")
    ]
    report = run(Tape(events))
    assert report.is_same
    assert counted(report)[Answered.PEEKS] == {Outcome.SAME: COMMITS - 2}
