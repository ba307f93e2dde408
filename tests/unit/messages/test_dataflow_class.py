"""Which dataflows are one-shot reads: decided once, where the command is made."""

from __future__ import annotations

import msgspec
import pytest

from pillion.actors.worker.placement import Placement
from pillion.messages.dataflows import (
    CopyTo,
    DataflowClass,
    IndexExport,
    MaterializedView,
    RenderDataflow,
    SinkConnection,
    SinkExport,
    Subscribe,
)
from pillion.messages.ids import GlobalId

from .descriptions import KEY, dataflow, user

TRANSIENT = GlobalId("t", 1)


def read(**changes: object) -> RenderDataflow:
    """A query: it ends, and its one export is transient."""
    exports = (IndexExport(TRANSIENT, user(2000), KEY),)
    return msgspec.structs.replace(dataflow(), **{"until": 1, "index_exports": exports, **changes})


def test_what_ends_and_exports_only_what_is_transient_is_a_one_shot_read() -> None:
    assert read().classified().dataflow_class is DataflowClass.ONE_SHOT_READ


@pytest.mark.parametrize("connection", [Subscribe(), CopyTo("rows.csv")])
def test_what_streams_is_maintained(connection: SinkConnection) -> None:
    streaming = read(index_exports=(), sink_exports=(SinkExport(TRANSIENT, user(2000), connection),))
    assert streaming.classified().dataflow_class is DataflowClass.MAINTAINED


def test_what_never_ends_or_outlives_the_read_is_maintained() -> None:
    forever = read(until=None)
    lasting = read(index_exports=(IndexExport(TRANSIENT, user(2000), KEY), IndexExport(user(1), user(2000), KEY)))
    written = read(sink_exports=(SinkExport(user(2), user(2000), MaterializedView(user(2))),))
    for description in (forever, lasting, written):
        assert description.classified().dataflow_class is DataflowClass.MAINTAINED


def test_the_setting_makes_every_query_a_maintained_dataflow() -> None:
    assert read().classified(one_shot_reads=False).dataflow_class is DataflowClass.MAINTAINED


def test_every_class_is_rendered_by_exactly_one_of_two_runtimes_and_by_the_only_one() -> None:
    for each in DataflowClass:
        assert Placement.SOLO.renders(each)
        assert Placement.MAINTENANCE.renders(each) != Placement.INTERACTIVE.renders(each)
