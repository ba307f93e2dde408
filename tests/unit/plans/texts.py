"""Plans as text: what goes in and what comes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

from pillion.dataflow.plans.explain import explain_plan
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.typing import Types, relation_types
from pillion.messages.dataflows import BuildDesc, IndexImport, RelationDataflow, RenderDataflow, SourceImport
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Relation
from pillion.messages.scalars import ColumnRef

from .build import anonymous, gid, schema

SCHEMAS = {
    gid("u1"): schema("a bigint", "b bigint?", "c text?"),
    gid("u2"): schema("x bigint", "y text"),
    gid("u3"): schema("p bigint", "q bigint", "r double"),
}
"""The collections of the tests of lowering."""

ENV: dict[GlobalId, Types] = {id: columns.types for id, columns in SCHEMAS.items()}


def relation(text: str) -> Relation:
    """The relation that a text shows."""
    return parse_relation(dedent(text), env=ENV)


def index(id: str, on: str, *columns: int) -> IndexImport:
    """An index on one of the collections."""
    return IndexImport(gid(id), gid(on), tuple(map(ColumnRef, columns)), SCHEMAS[gid(on)])


def lowered(
    text: str, available: Sequence[IndexImport] = (), *, optimize: bool = True, sources: Sequence[str] | None = None
) -> RenderDataflow:
    """A dataflow of one object, lowered."""
    written = relation(text)
    built = BuildDesc(gid("u100"), written, anonymous(relation_types(written, ENV)))
    ids = list(SCHEMAS) if sources is None else [gid(source) for source in sources]
    imports = tuple(SourceImport(id, id, SCHEMAS[id]) for id in ids)
    return lower(RelationDataflow("test", imports, (), (built,), (), (), 0), available, optimize=optimize)


def plan(
    text: str, available: Sequence[IndexImport] = (), *, optimize: bool = True, sources: Sequence[str] | None = None
) -> str:
    """The plan as text, without names of columns."""
    dataflow = lowered(text, available, optimize=optimize, sources=sources)
    text = explain_plan(dataflow.objects_to_build[0].plan, {}, {}, dataflow.index_imports)
    return re.sub(r"\{\w+\}", "", text)


def lines(text: str) -> str:
    """A text as it stands in a test."""
    return dedent(text).strip("\n")
