"""A recording as a protocol script gives the same answers when the script is run."""

from __future__ import annotations

import pytest

from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.log.script import script_of
from pillion.actors.log.script_peeks import Unspeakable
from pillion.actors.peeks.blocks import row_block
from pillion.actors.replay.events import Event, Heard, Sent, Stored
from pillion.actors.requests import Delete
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import differences, run_script
from pillion.actors.storage.messages import CommitTables
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Command, Finishing, IndexTarget, Peek, ShardTarget
from pillion.messages.plans import MapFilterProject
from pillion.messages.relations import Order
from pillion.messages.responses import Canceled, PeekError, PeekResponse, PeekResult, Rows
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import Field, Schema, SqlType
from tests.unit.replay.build import INDEX, REPLICA, SCHEMA, rows
from tests.unit.replay.world import COMMITS, TABLE, insert, world


def check(text: str) -> None:
    script = parse_script(text)
    for workers, interactive in ((1, False), (2, True)):
        found = differences(script, run_script(script, workers, 5.0, interactive=interactive))
        assert not found, "\n".join(text.splitlines()[found[0].step.stanza.line - 1 :][:20]) + str(found[0].output)


class Longer:
    """The world's events, and more behind them, before the last command."""

    def __init__(self) -> None:
        self.events: list[Event] = [e for e in world().events() if e.sequence < 45]

    def send(self, command: Command) -> None:
        self.events.append(Sent(len(self.events) + 1, 1.0, REPLICA, command))

    def ask(self, command: Peek, result: PeekResult) -> None:
        self.send(command)
        self.events.append(Heard(len(self.events) + 1, 1.0, REPLICA, "n", (PeekResponse(command.uuid, result),)))

    @property
    def text(self) -> str:
        return script_of(self.events, "the test")


def test_the_script_of_a_recording_passes() -> None:
    text = script_of(world().events(), "world.plog")
    assert text.startswith("# Exported from world.plog.\n")
    assert text.count("\npeek id=u2") == COMMITS - 1
    assert 'await-subscribe id=t3 up-to=6\n----\n1 1 1 "x"\n2 1 2 "x"' in text
    assert "Left out" not in text
    check(text)


def test_a_wrong_answer_makes_a_script_that_fails() -> None:
    script = parse_script(script_of(world(answers=[(1, "y")]).events()))
    assert len(differences(script, run_script(script, 1, 5.0))) == 1


def test_rows_that_come_and_go_at_one_time_are_written_together() -> None:
    longer = Longer()
    changes = (Delete(TABLE, insert(2).columns), insert(20), insert(20))
    longer.events.append(Stored(len(longer.events) + 1, 1.0, CommitTables(COMMITS, changes, OneShot())))
    left = [(n, "x") for n in (1, 3, 4, 5, 20, 20)]
    longer.ask(Peek("q", IndexTarget(INDEX), COMMITS, SCHEMA), rows(*left))
    assert f"write-rows shard=u1 ts={COMMITS} schema=s0 diffs=[" in longer.text
    check(longer.text)


def test_peeks_that_the_directive_cannot_say_go_through_a_dataflow() -> None:
    longer, latest = Longer(), COMMITS - 1
    key = ((Literal.of(3, SqlType.BIGINT),), (Literal.of(None, SqlType.BIGINT),), (Literal.of(77, SqlType.BIGINT),))
    longer.ask(Peek("k", IndexTarget(INDEX), latest, SCHEMA, key), rows((3, "x")))
    top = Finishing((Order(0, descending=True),), 2, 1)
    longer.ask(Peek("t", IndexTarget(INDEX), latest, SCHEMA, finishing=top), rows((4, "x"), (3, "x")))
    odd = MapFilterProject(2, (), (Call("<", (ColumnRef(0), Literal.of(3, SqlType.BIGINT))),), (1, 0))
    swapped = Schema((Field("t", SqlType.TEXT), Field("n", SqlType.BIGINT)))
    result = swapped_rows(swapped, ["x", "x"], [1, 2])
    longer.ask(Peek("m", ShardTarget(TABLE), latest, swapped, None, odd), result)
    text = longer.text
    assert text.count("create-dataflow name=peek-") == 3
    check(text)


def swapped_rows(schema: Schema, texts: list[str], numbers: list[int]) -> PeekResult:
    columns = (column_from_values(texts, SqlType.TEXT), column_from_values(numbers, SqlType.BIGINT))
    return Rows(row_block(Updates.of(columns, 0), schema))


def test_errors_are_answers() -> None:
    longer = Longer()
    failing = MapFilterProject(
        2, (Call("/", (Literal.of(1, SqlType.BIGINT), Literal.of(0, SqlType.BIGINT))),), (), (2, 1)
    )
    longer.ask(Peek("e", IndexTarget(INDEX), COMMITS - 1, SCHEMA, None, failing), PeekError("division by zero"))
    assert "error: division by zero" in longer.text
    check(longer.text)


@pytest.mark.parametrize(
    ("command", "result", "why"),
    [
        (Peek("q", IndexTarget(INDEX), 5, SCHEMA, finishing=Finishing(limit=1)), rows((1, "x")), "lets the replica"),
        (Peek("q", IndexTarget(INDEX), 5, SCHEMA), Canceled(), "it was cancelled"),
    ],
)
def test_what_a_script_cannot_say_is_left_out(command: Peek, result: PeekResult, why: str) -> None:
    longer = Longer()
    longer.ask(command, result)
    (line,) = [line for line in longer.text.splitlines() if "Left out" in line]
    assert why in line
    assert "peek q of u2 at 5" in line
    check(longer.text)


def test_two_replicas_do_not_fit_into_one_script() -> None:
    longer = Longer()
    hello = next(event.command for event in longer.events if isinstance(event, Sent))
    longer.events.append(Sent(50, 1.0, "multiplexer-1", hello))
    with pytest.raises(Unspeakable, match="commands to multiplexer-0 and to multiplexer-1"):
        _ = longer.text
