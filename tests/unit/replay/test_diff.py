"""Two logs are compared by what was asked, whatever their peeks are called."""

from __future__ import annotations

import msgspec

from pillion.actors.replay.diff import diff
from pillion.actors.replay.events import Event, Heard, Sent
from pillion.actors.replay.report import show
from pillion.actors.replay.verdict import Answered, Outcome
from pillion.messages.commands import Hello, Peek
from pillion.messages.responses import PeekResponse, Response

from .build import Tape
from .world import COMMITS, world


def renamed(tape: Tape) -> Tape:
    """The same run, with other uuids and another nonce."""
    return Tape([_renamed(event) for event in tape.events()])


def _renamed(event: Event) -> Event:
    match event:
        case Sent(sequence, time, replica, Hello()):
            return Sent(sequence, time, replica, Hello("other"))
        case Sent(sequence, time, replica, Peek() as command):
            return Sent(sequence, time, replica, msgspec.structs.replace(command, uuid=f"other {command.uuid}"))
        case Heard(sequence, time, replica, _, responses):
            return Heard(sequence, time, replica, "other", tuple(map(_renamed_response, responses)))
        case _:
            return event


def _renamed_response(response: Response) -> Response:
    if isinstance(response, PeekResponse):
        return msgspec.structs.replace(response, uuid=f"other {response.uuid}")
    return response


def test_a_log_is_the_same_as_itself() -> None:
    report = diff(world(), world())
    assert report.is_same
    assert report.of(Answered.PEEKS, Outcome.SAME) == COMMITS - 1
    assert report.of(Answered.SUBSCRIBES, Outcome.SAME) == 1
    assert report.of(Answered.WRITES, Outcome.SAME) == COMMITS - 1
    assert "compared tape with tape: 46 messages; every answer that can be compared is the same." in show(report)


def test_other_names_are_no_difference() -> None:
    assert diff(world(), renamed(world())).is_same


def test_the_first_difference_is_shown() -> None:
    for other in (world(answers=[(1, "y")]), renamed(world(answers=[(1, "y")]))):
        report = diff(world(), other)
        (found,) = report.differences
        assert (found.sequence, found.answered) == (12, 14)
        assert found.verdict.recorded == ('(1 "x")',)
        assert found.verdict.replayed == ('(1 "y")',)


def test_a_log_that_ends_early_lacks_answers() -> None:
    events = list(world().events())
    short = Tape(events[: next(at for at, e in enumerate(events) if e.sequence == 30)])
    report = diff(world(), short)
    assert not report.is_same
    assert report.of(Answered.PEEKS, Outcome.MISSING) == 2
    assert diff(short, world()).of(Answered.PEEKS, Outcome.SAME) == 3


def test_another_question_ends_the_comparison_of_peeks() -> None:
    events = list(renamed(world()).events())
    at = next(at for at, event in enumerate(events) if isinstance(event, Sent) and isinstance(event.command, Peek))
    first = events[at]
    assert isinstance(first, Sent)
    events[at] = Sent(first.sequence, first.time, first.replica, msgspec.structs.replace(first.command, timestamp=0))
    report = diff(world(), Tape(events))
    assert report.differences[0].verdict.note == "another question"
    assert report.of(Answered.PEEKS, Outcome.SAME) == 0


def test_what_was_asked_in_the_other_log_only_is_a_difference() -> None:
    events = list(world().events())
    short = Tape([e for e in events if e.sequence < 28])
    report = diff(short, renamed(world()))
    notes = [d.verdict.note for d in report.differences if d.answers is Answered.PEEKS]
    assert notes == ["asked in the other log only"] * 2
