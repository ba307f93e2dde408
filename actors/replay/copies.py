"""Copies to files, which a replay makes elsewhere: it must not write over what somebody has."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...messages.dataflows import CopyTo, RenderDataflow, SinkExport


def redirected(dataflow: RenderDataflow, directory: Path) -> RenderDataflow:
    """The same dataflow, with the files that it writes in another directory."""
    if not any(isinstance(sink.connection, CopyTo) for sink in dataflow.sink_exports):
        return dataflow
    sinks = tuple(_redirected(sink, directory) for sink in dataflow.sink_exports)
    return msgspec.structs.replace(dataflow, sink_exports=sinks)


def _redirected(sink: SinkExport, directory: Path) -> SinkExport:
    if not isinstance(sink.connection, CopyTo):
        return sink
    # The suffix says what is written.
    path = directory / f"{sink.id}{Path(sink.connection.path).suffix}"
    return msgspec.structs.replace(sink, connection=CopyTo(str(path)))
