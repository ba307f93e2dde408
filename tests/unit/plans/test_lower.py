"""Lowering of whole dataflows: what is refused, and how objects see one another."""

from __future__ import annotations

import pytest

from pillion.dataflow.plans.errors import UnsupportedPlanError
from pillion.dataflow.plans.lower import lower
from pillion.messages.dataflows import BuildDesc, IndexExport, RelationDataflow, SourceImport
from pillion.messages.plans import GetNode, ReduceNode
from pillion.messages.relations import Aggregate, Reduce

from .build import col, get, gid, schema
from .texts import lines, lowered, plan

RECURSIVE = """
    With Mutually Recursive
      cte l0 = // { types: "(bigint, text)" }
        Distinct
          Union
            Get u2
            Get l0
    Return
      Get l0
"""


@pytest.mark.parametrize("optimize", [True, False])
def test_recursive_bindings_are_refused(optimize: bool) -> None:
    with pytest.raises(UnsupportedPlanError, match="With Mutually Recursive cannot be executed yet"):
        lowered(RECURSIVE, optimize=optimize)


@pytest.mark.parametrize("optimize", [True, False])
def test_objects_read_objects_built_before(optimize: bool) -> None:
    table = schema("k bigint?")
    counts = Reduce(get("u2"), (), (Aggregate("count", col(0)),))
    written = RelationDataflow(
        debug_name="two objects",
        source_imports=(SourceImport(gid("u1"), gid("u1"), table),),
        index_imports=(),
        # The schema promises more than the plan: what is counted may be NULL all the same.
        objects_to_build=(
            BuildDesc(gid("u2"), get("u1"), schema("k bigint")),
            BuildDesc(gid("u3"), counts, schema("n bigint")),
        ),
        index_exports=(IndexExport(gid("u4"), gid("u3"), ()),),
        sink_exports=(),
        as_of=0,
    )
    first, second = lower(written, optimize=optimize).objects_to_build
    assert first.plan.nodes == (GetNode(table.types, gid("u1")),)
    read, reduced = second.plan.nodes
    assert isinstance(read, GetNode) and read.id == gid("u2")
    assert isinstance(reduced, ReduceNode)
    assert [planned.aggregate for planned in reduced.aggregates] == [Aggregate("count", col(0))]


def test_without_optimizing_a_binding_is_one_node() -> None:
    written = """
        With
          cte l0 =
            Distinct
              Get u2
          cte l1 =
            Get u3
        Return
          Union
            Get l0
            Get l0
        """
    assert plan(written, optimize=False) == lines(
        """
        With
          cte l0 =
            Distinct project=[#0, #1]
              Get u2
        Return
          Union
            Get l0
            Get l0
        """
    )


def test_names_of_bindings_are_told_apart() -> None:
    written = """
        With
          cte l0 =
            Distinct
              Get u2
        Return
          Union
            Get l0
            With
              cte l0 =
                Filter #0 > 5
                  Get l0
            Return
              Union
                Get l0
                Get l0
        """
    for optimize in (True, False):
        assert plan(written, optimize=optimize) == lines(
            """
            With
              cte l0 =
                Distinct project=[#0, #1]
                  Get u2
              cte l1 =
                MapFilterProject filter=(#0 > 5)
                  Get l0
            Return
              Union
                Get l0
                Get l1
                Get l1
            """
        ).replace("Get l1\n    Get l1", "Get l1\n    Get l1" if optimize else "Union\n      Get l1\n      Get l1")
