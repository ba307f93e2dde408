"""Descriptions that break a rule are refused; the error names the id and the rule."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pillion.dataflow.plans.errors import DescriptionError, RelationTypeError
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.validate import validate
from pillion.messages.dataflows import (
    BuildDesc,
    DataflowClass,
    IndexExport,
    IndexImport,
    MaterializedView,
    RelationDataflow,
    SinkExport,
    SourceImport,
    Subscribe,
)
from pillion.messages.plans import GetNode, ImportIndex, RenderPlan
from pillion.messages.relations import Project

from .build import col, get, gid, schema

KV = schema("k bigint", "v text?")
VALID = RelationDataflow(
    debug_name="valid",
    source_imports=(SourceImport(gid("u1"), gid("u1"), KV),),
    index_imports=(IndexImport(gid("u3"), gid("u2"), (col(0),), KV),),
    objects_to_build=(BuildDesc(gid("u4"), Project(get("u1"), (0,)), schema("k bigint")),),
    index_exports=(IndexExport(gid("u5"), gid("u4"), (col(0),)), IndexExport(gid("u6"), gid("u2"), (col(0),))),
    sink_exports=(SinkExport(gid("u7"), gid("u4"), MaterializedView(gid("u8"))),),
    as_of=3,
    until=9,
)


def test_a_valid_one() -> None:
    validate(VALID)
    validate(lower(VALID, optimize=False))


TWICE = (IndexExport(gid("u5"), gid("u4"), ()), IndexExport(gid("u5"), gid("u4"), ()))
BUILD = VALID.objects_to_build[0]
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "source twice": ({"source_imports": VALID.source_imports * 2}, "u1: it is imported twice as a source"),
    "index twice": ({"index_imports": VALID.index_imports * 2}, "u3: it is imported twice as an index"),
    "index with other types": (
        {"index_imports": (IndexImport(gid("u3"), gid("u1"), (), schema("k bigint")),)},
        r"u1: it is imported with different types: \(bigint\) and \(bigint, text\?\)",
    ),
    "key of an import": (
        {"index_imports": (IndexImport(gid("u3"), gid("u2"), (col(2),), KV),)},
        r"u3: its key #2 is no expression over u2 \(k, v\): there is no column #2",
    ),
    "build twice": ({"objects_to_build": (BUILD, BUILD)}, "u4: it is imported or built before"),
    "build of other types": (
        {"objects_to_build": (BuildDesc(gid("u4"), get("u1"), schema("k bigint")),)},
        r"u4: its plan has types \(bigint, text\?\), its schema \(bigint\)",
    ),
    "export twice": ({"index_exports": TWICE}, "u5: it is exported twice"),
    "export and sink": (
        {"sink_exports": (SinkExport(gid("u5"), gid("u4"), Subscribe()),)},
        "u5: it is exported twice",
    ),
    "export of an import": (
        {"index_exports": (IndexExport(gid("u3"), gid("u4"), ()),)},
        "u3: it is both imported and exported",
    ),
    "export on nothing": (
        {"index_exports": (IndexExport(gid("u5"), gid("u9"), ()),)},
        "u5: it is on u9, which is neither imported nor built; there are u1, u2, u4",
    ),
    "sink on nothing": ({"sink_exports": (SinkExport(gid("u7"), gid("u9"), Subscribe()),)}, "u7: it is on u9"),
    "key of an export": (
        {"index_exports": (IndexExport(gid("u5"), gid("u4"), (col(1),)),)},
        r"u5: its key #1 is no expression over u4 \(k\)",
    ),
    "two writers of a shard": (
        {"sink_exports": (*VALID.sink_exports, SinkExport(gid("u10"), gid("u4"), MaterializedView(gid("u8"))))},
        "u8: two materialized views write it",
    ),
    "one-shot": ({"dataflow_class": DataflowClass.ONE_SHOT_READ}, "u5: it is not transient"),
    "until": ({"until": 2}, r"as_of 3 is after until \[2\]"),
    "up_to": (
        {"sink_exports": (SinkExport(gid("u7"), gid("u4"), Subscribe(), up_to=2),)},
        "u7: as_of 3 is after up_to",
    ),
}


@pytest.mark.parametrize(("changes", "problem"), CASES.values(), ids=CASES.keys())
def test_rules(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises((DescriptionError, ValueError), match=problem):
        validate(msgspec.structs.replace(VALID, **changes))


def test_expressions_are_checked() -> None:
    with pytest.raises(RelationTypeError, match="Get u9: neither imported nor built; known: u1, u2"):
        validate(msgspec.structs.replace(VALID, objects_to_build=(BuildDesc(gid("u4"), get("u9"), KV),)))


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ((GetNode(KV.types, gid("u9")),), "u4: it reads u9, which is neither imported nor built before it"),
        ((ImportIndex(KV.types, gid("u9"), ()),), "u4: it reads the index u9, which is not imported"),
        ((ImportIndex(KV.types, gid("u3"), ()),), "u4: it reads the index u3, which is imported with another key"),
    ],
)
def test_render_plans(nodes: Any, problem: str) -> None:
    lowered = lower(VALID, optimize=False)
    with pytest.raises((DescriptionError, ValueError), match=problem):
        built = BuildDesc(gid("u4"), RenderPlan(nodes), KV)
        validate(msgspec.structs.replace(lowered, objects_to_build=(built,)))


def test_lowering_checks_schemas() -> None:
    with pytest.raises(DescriptionError, match=r"u4: its expression has types \(bigint, text\?\), its schema"):
        lower(msgspec.structs.replace(VALID, objects_to_build=(BuildDesc(gid("u4"), get("u1"), schema("k bigint")),)))
