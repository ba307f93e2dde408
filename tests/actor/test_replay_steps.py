"""A replay step by step, under commands from a script."""

from __future__ import annotations

import io

import pytest

from pillion.actors.replay.breakpoints import NamesNothing
from pillion.actors.replay.debugger import Debugger, UnknownCommand
from pillion.actors.replay.options import ReplayOptions
from pillion.actors.replay.report import Report, show
from tests.unit.replay.world import world


def follow(*commands: str, strict: bool = True, interactive: bool = True) -> tuple[list[str], Report]:
    """What is printed, and what came of it."""
    out = io.StringIO()
    debugger = Debugger(world(), ReplayOptions(interactive=interactive), out, strict=strict)
    report = debugger.run(f"{command}\n" for command in commands)
    return out.getvalue().splitlines(), report


def test_steps_are_messages_of_the_log_and_what_they_cause() -> None:
    lines, report = follow("next 4")
    assert lines[0] == "tape: 46 messages, on 1 worker in each of two runtimes; help lists the commands"
    assert lines[1].split() == ["1", "to", "multiplexer-0:", "Hello"]
    assert lines[2].strip() == "application -> multiplexer-0: Hello"
    assert {line.strip() for line in lines[3:5]} == {
        "multiplexer-0 -> worker-0: Hello",
        "multiplexer-0 -> worker-1: Hello",
    }
    assert "up to message 1" in show(report)


def test_continuing_to_the_end_compares_everything() -> None:
    lines, report = follow("continue", "next", "answers")
    assert lines[1:3] == ["this is the end", "this is the end"]
    assert report.is_same
    assert sum(report.counts.values()) == 12


@pytest.mark.parametrize(
    ("breakpoint", "line"),
    [
        ("Schedule", "6  to multiplexer-0: Schedule (u2)"),
        ("p3", "26  to multiplexer-0: Peek (p3, u2)"),
        ("t3", "7  to multiplexer-0: CreateDataflow (t3, u1)"),
        ("14", "14  recorded from multiplexer-0: PeekResponse (p1)"),
        ("CommitTables", "10  to the storage: CommitTables"),
    ],
)
def test_breakpoints(breakpoint: str, line: str) -> None:
    lines, _ = follow(f"break {breakpoint}", "continue")
    assert lines[1] == f"breakpoint {breakpoint}"
    assert lines[2].strip() == line


def test_a_breakpoint_at_an_actor_stops_at_what_it_hears() -> None:
    lines, _ = follow("break sharingregistry-0", "continue")
    assert lines[2].strip().endswith(("-> sharingregistry-0: Publish", "-> sharingregistry-0: Acquire (u2)"))


def test_a_breakpoint_that_names_nothing_says_what_there_is() -> None:
    with pytest.raises(NamesNothing, match=r"nothing in this log is called 'Fly': a breakpoint is a kind of message"):
        follow("break Fly")
    with pytest.raises(NamesNothing, match=r"or a sequence from 1 to 46"):
        follow("break 47")
    lines, _ = follow("break u77", "next", strict=False)
    assert "nothing in this log is called 'u77'" in lines[1]
    assert lines[2].split() == ["1", "to", "multiplexer-0:", "Hello"]


def test_breakpoints_are_listed_and_deleted() -> None:
    lines, _ = follow(
        "break Hello", "break u2", "breakpoints", "delete Hello", "breakpoints", "delete u2", "breakpoints"
    )
    assert lines[1:] == ["Hello", "u2", "u2", "none"]


def test_a_command_that_is_none() -> None:
    with pytest.raises(UnknownCommand, match=r"there is no command 'jump'; there are help, next, continue"):
        follow("jump")
    with pytest.raises(UnknownCommand, match="there is no breakpoint 'u2' to delete"):
        follow("delete u2")
    with pytest.raises(UnknownCommand, match="expected a number of steps"):
        follow("next two")
    with pytest.raises(UnknownCommand, match="there is no actor 'worker-9'; there are storage-0"):
        follow("state worker-9")


def test_looking_around_changes_nothing() -> None:
    looks = ["mailboxes", "actors", "frontiers", "answers", "# a comment", "", "help"]
    states = [f"state {actor}" for actor in ("worker-0", "multiplexer-0", "sharingregistry-0", "storage-0")]
    lines, report = follow("break p3", "continue", "next", *looks, *states, "delete p3", "c")
    shown = "\n".join(lines)
    assert "worker-0, maintenance 0:" in shown
    assert "worker-1, interactive 0:" in shown
    assert "placement: MAINTENANCE" in shown
    assert "collections: 2 [u2: Collection(" in shown
    assert "nonce: 'n'" in shown
    assert "u2: recorded [3], replayed [" in shown
    assert "not yet: " in shown or "nothing is missing" in shown
    assert lines[-1] == "this is the end"
    assert report.is_same


def test_everything_stands_still_between_two_steps() -> None:
    lines, _ = follow("break Peek", "continue", "mailboxes", "mailboxes", "frontiers", "frontiers")
    told = lines[3:]
    assert len(told) % 2 == 0
    waiting = [line for line in told if "recorded" not in line]
    assert waiting == ["multiplexer-0: 1", "multiplexer-0: 1"]


def test_quitting_early_is_no_difference() -> None:
    lines, report = follow("next 9", "quit", "continue")
    assert "this is the end" not in lines
    assert report.is_same
