"""Stanzas of a protocol script: directives as text, each with the output that is expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from ...dataflow.arrangements.updates import Updates
from ...dataflow.plans.print_relation import print_relation
from ...dataflow.plans.print_scalar import print_scalar
from ...messages.commands import InstanceConfig, Setting
from ...messages.dataflows import CopyTo, MaterializedView, RelationDataflow, SinkExport, Subscribe
from ...messages.frontiers import Frontier
from ...messages.ids import GlobalId
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Schema
from ..scripts.arguments import quote
from ..scripts.values import Row, show_row, sort_key

OK = ("ok",)


class Stanzas:
    """A script that is being written."""

    def __init__(self) -> None:
        self._blocks: list[list[str]] = []
        self._schemas: dict[Schema, str] = {}

    def text(self) -> str:
        """The script so far."""
        return "\n".join([line for block in self._blocks for line in (*block, "")])

    def comment(self, text: str) -> None:
        """Something that a reader should know."""
        self._blocks.append([f"# {line}" for line in text.splitlines()])

    def add(self, directive: str, body: Iterable[str] = (), expected: Sequence[str] = OK) -> None:
        """One stanza."""
        if any(not line for line in expected):
            expected = ["----", *expected, "----", "----"]
        self._blocks.append([directive, *(f"  {line}" for line in body), "----", *expected])

    def refused(self, why: str) -> None:
        """What the last stanza says was refused, and changed nothing: it becomes a comment."""
        self._blocks[-1] = [f"# Left out, because it was refused ({why}):", *(f"# {line}" for line in self._blocks[-1])]

    def schema(self, schema: Schema) -> str:
        """The name of a schema, which is defined when it is used first."""
        # In a script only types and NULLs count; names are for people, and may be anything in a log.
        plain = Schema(
            tuple(type(field)(f"c{at}", field.type, field.nullable) for at, field in enumerate(schema.fields))
        )
        if plain not in self._schemas:
            self._schemas[plain] = name = f"s{len(self._schemas)}"
            columns = [f"{f.name} {f.type}{' nullable' if f.nullable else ''}" for f in plain.fields]
            self.add(f"define-schema name={name}", columns)
        return self._schemas[plain]

    def instance(self, config: InstanceConfig) -> None:
        words = ["create-instance"]
        if config.logging:
            words.append(f"introspection=[{', '.join(f'{each.relation}:{each.index}' for each in config.logging)}]")
        if config.expiration_offset is not None:
            words.append(f"expiration-offset={config.expiration_offset}ms")
        if config.arrangement_dictionary_compression:
            words.append("arrangement-dictionary-compression=true")
        self.add(" ".join(words))

    def settings(self, updates: Iterable[tuple[str, Setting]]) -> None:
        self.add("update-configuration", [_setting(name, value) for name, value in updates])

    def write(self, shard: GlobalId, schema: Schema, time: int, updates: Updates | None) -> None:
        """Rows at one time, or none, which seals the shard behind this time."""
        name = self.schema(schema)
        count = 0 if updates is None else len(updates)
        words = f"write-rows shard={shard} ts={time} schema={name}"
        rows: list[str] = []
        if updates is not None and count:
            rows = [show_row(cast(Row, row)) for row, _, _ in updates.to_tuples()]
            if (updates.diffs != 1).any():
                words += f" diffs=[{', '.join(map(str, updates.diffs.tolist()))}]"
        self.add(words, rows, (f"wrote {count}",))

    def dataflow(self, name: str, dataflow: RelationDataflow) -> None:
        """``create-dataflow``, optimized, not scheduled."""
        body: list[str] = []
        for source in dataflow.source_imports:
            upper = "" if source.upper == 0 else f" upper={show(source.upper)}"
            body.append(f"import source={source.id} shard={source.shard} schema={self.schema(source.schema)}{upper}")
        body += [f"import index={index.id}" for index in dataflow.index_imports]
        for build in dataflow.objects_to_build:
            body.append(f"build id={build.id}")
            body += [f"  {line}" for line in print_relation(build.plan).splitlines()]
        for index in dataflow.index_exports:
            body.append(f"export kind=index index={index.id} on={index.on} key={show_key(index.key)}")
        body += [self._sink(dataflow, sink) for sink in dataflow.sink_exports]
        until = "" if dataflow.until is None else f" until={dataflow.until}"
        self.add(f"create-dataflow name={name} as-of={dataflow.as_of}{until} optimize", body)

    def _sink(self, dataflow: RelationDataflow, sink: SinkExport) -> str:
        match sink.connection:
            case Subscribe():
                words = f"export kind=subscribe sink={sink.id} on={sink.on}"
                words += "" if sink.up_to is None else f" up-to={sink.up_to}"
                return words if sink.with_snapshot else f"{words} no-snapshot"
            case MaterializedView(shard):
                schema = self.schema(dataflow.schema_of(sink.on))
                return f"export kind=materialized-view sink={sink.id} on={sink.on} shard={shard} schema={schema}"
            case CopyTo():
                raise AssertionError("a script that is exported writes no files")


def show(frontier: Frontier) -> str:
    """A frontier as an argument."""
    return "empty" if frontier is None else str(frontier)


def show_key(key: Sequence[Scalar]) -> str:
    """``[0, #1 + 1]``."""
    shown = [str(part.index) if isinstance(part, ColumnRef) else print_scalar(part) for part in key]
    return f"[{', '.join(shown)}]"


def show_rows(updates: Updates) -> list[str]:
    """Rows as ``peek`` prints them."""
    repeated = updates.take(np.repeat(np.arange(len(updates)), updates.diffs))
    rows = [cast(Row, row) for row, _, _ in repeated.to_tuples()]
    return [show_row(row) for row in sorted(rows, key=sort_key)]


def show_error(message: str) -> list[str]:
    """An error as every directive prints it."""
    return f"error: {message}".splitlines()


def _setting(name: str, value: Setting) -> str:
    match value:
        case bool():
            return f"{name} bool {str(value).lower()}"
        case int() if value >= 0:
            return f"{name} usize {value}"
        case int() | float():
            return f"{name} f64 {value}"
        case str():
            return f"{name} string {quote(value)}"
