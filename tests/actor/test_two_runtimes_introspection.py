"""Two runtimes in one process: introspection of one that is busy."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from pillion.actors.introspection.relations import DATAFLOWS
from pillion.actors.peeks.blocks import rows_of as block_rows
from pillion.messages.commands import (
    AllowCompaction,
    CreateDataflow,
    CreateInstance,
    IndexTarget,
    InstanceConfig,
    LoggingIndex,
    Peek,
    UpdateConfiguration,
)
from pillion.messages.dataflows import IndexExport, IndexImport
from pillion.messages.frontiers import Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.responses import PeekError, PeekResponse, Response, Rows
from tests.actor.two_runtimes import (
    KEY,
    OTHER_KEY,
    READ,
    SHARED,
    SOURCE,
    TwoRuntimes,
    answered,
    importing,
    maintained,
    unanswered,
)

LOG = GlobalId("s", 70)


@pytest.fixture
def logged() -> Iterator[TwoRuntimes]:
    made = TwoRuntimes()
    made.connect("a", CreateInstance(InstanceConfig(logging=(LoggingIndex(DATAFLOWS.name, LOG),))))
    yield made
    made.check()
    made.close()


def introspect(time: Timestamp, uuid: str = "p") -> Peek:
    return Peek(uuid, IndexTarget(LOG), time, DATAFLOWS.schema)


def exports_in(responses: list[Response], uuid: str = "p") -> list[object]:
    """The exports of every dataflow that is shown."""
    result = answered(responses, uuid)
    assert isinstance(result, Rows)
    return sorted(str(row[3]) for row, _, _ in block_rows(result.block, DATAFLOWS.schema).to_tuples())


def age_in(responses: list[Response], uuid: str = "p") -> float | None:
    (age,) = [r.age for r in responses if isinstance(r, PeekResponse) and r.uuid == uuid]
    return age


def test_introspection_is_read_off_a_peer_and_is_fresh_while_nobody_is_busy(logged: TwoRuntimes) -> None:
    responses = logged.send(introspect(0))
    assert (exports_in(responses), age_in(responses)) == ([], 0)
    responses = logged.start(maintained()) + logged.send(introspect(1))
    assert (exports_in(responses), age_in(responses)) == (["u2"], 0)
    # What was read once stays as it was.
    assert exports_in(logged.send(introspect(0))) == []


def test_introspection_does_not_wait_long_for_a_runtime_that_is_busy(logged: TwoRuntimes) -> None:
    logged.start(maintained())
    assert exports_in(logged.send(introspect(0))) == ["u2"]
    logged.stall(logged.maintenance)
    logged.start(maintained(IndexExport(SHARED, SOURCE, KEY)))
    assert unanswered(logged.send(introspect(1)))
    responses = logged.let_time_pass()
    assert exports_in(responses) == ["u2"]
    age = age_in(responses)
    assert age is not None
    assert age > 0
    # Whoever comes next knows that it is busy.
    assert exports_in(logged.send(introspect(1, "q")), "q") == ["u2"]
    assert exports_in(logged.send(introspect(2, "r")), "r") == ["u2"]
    logged.resume()
    responses = logged.send(introspect(3, "s"))
    assert (exports_in(responses, "s"), age_in(responses, "s")) == (["u2", "u3"], 0)


def test_queries_of_introspection_do_not_wait_long_either(logged: TwoRuntimes) -> None:
    """And one that lives on hears later of what has happened in the meantime."""
    logged.start(maintained())
    logged.send(introspect(0))
    logged.stall(logged.maintenance)
    export = IndexExport(READ, DATAFLOWS.source, OTHER_KEY)
    imported = IndexImport(LOG, DATAFLOWS.source, DATAFLOWS.key_expressions, DATAFLOWS.schema)
    create = importing(export, as_of=5, until=20)
    create = CreateDataflow(msgspec.structs.replace(create.dataflow, index_imports=(imported,)))
    logged.start(create)
    logged.start(maintained(IndexExport(SHARED, SOURCE, KEY)))
    ask = msgspec.structs.replace(introspect(5), target=IndexTarget(READ))
    assert unanswered(logged.send(ask))
    assert exports_in(logged.let_time_pass()) == ["u2"]
    logged.resume()
    logged.send(introspect(9, "other"))
    assert exports_in(logged.send(msgspec.structs.replace(ask, timestamp=9))) == ["u2", "u3"]
    assert exports_in(logged.send(msgspec.structs.replace(ask, timestamp=5))) == ["u2"]


def test_an_introspection_relation_that_was_dropped_is_an_error(logged: TwoRuntimes) -> None:
    logged.send(introspect(0))
    result = answered(logged.send(AllowCompaction(LOG, None), introspect(1)))
    assert isinstance(result, PeekError)
    assert "s70" in result.message


@pytest.mark.parametrize("routing", ["interactive", "hinted"])
def test_introspection_is_routed_where_nobody_waits(logged: TwoRuntimes, routing: str) -> None:
    logged.send(UpdateConfiguration((("peek_routing", routing),)))
    logged.stall(logged.maintenance)
    logged.send(introspect(0))
    assert exports_in(logged.let_time_pass()) == []


def test_a_worker_that_expects_long_work_says_before_how_things_are(logged: TwoRuntimes) -> None:
    logged.send(introspect(0))
    rows = [(number, number) for number in range(20_000)]
    logged.write(0, *rows)
    logged.start(maintained())
    logged.stall(logged.maintenance)
    # Recorded before the snapshot was worked on, for nobody in particular.
    assert exports_in(logged.send(introspect(1))) == ["u2"]
