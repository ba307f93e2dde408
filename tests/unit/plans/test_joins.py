"""Joins: keys, filters that classes imply, order, and what is arranged."""

from __future__ import annotations

import pytest

from pillion.messages.dataflows import IndexImport

from .build import gid
from .texts import index, lines, lowered, plan

CASES = {
    "members of a class on one input are compared there": (
        """
        Join on=(eq(#0, #1, #3))
          Get u1
          Get u2
        """,
        """
        Join on=(#0 = #3)
          Arrange key=[#0]
            MapFilterProject filter=(#0 = #1)
              Get u1
          Arrange key=[#0]
            Get u2
        """,
    ),
    "a constant in a class filters every input": (
        """
        Join on=(eq(#0, #3, 7))
          Get u1
          Get u2
        """,
        """
        Join on=(#0 = #3)
          Arrange key=[#0]
            MapFilterProject filter=(#0 = 7)
              Get u1
          Arrange key=[#0]
            MapFilterProject filter=(#0 = 7)
              Get u2
        """,
    ),
    "keys of different number types are cast": (
        """
        Project (#0)
          Join on=(#0 = #4)
            Get u2
            Get u3
        """,
        """
        Join on=(#1 = #2) project=(#0)
          Arrange key=[#1]
            MapFilterProject map=(cast(#0 as double)) project=(#0, #2)
              Get u2
          Arrange key=[#0]
            MapFilterProject project=(#2)
              Get u3
        """,
    ),
    "an equality above a cross join is a key": (
        """
        Filter #3 = #0 AND #4 = "x" AND #0 + #3 > 1
          CrossJoin
            Get u1
            Get u2
        """,
        """
        Join on=(#0 = #2) filter=(#2 + #0 > 1) project=(#2, #3, #4, #0, #1)
          Arrange key=[#0]
            MapFilterProject filter=(#1 = "x")
              Get u2
          Arrange key=[#0]
            Get u1
        """,
    ),
    "a predicate on two inputs is checked when both are there": (
        """
        Project (#0)
          Filter #1 < #5
            Join on=(#0 = #3 AND #3 = #5)
              Get u1
              Get u2
              Get u3
        """,
        """
        Join on=(#0 = #2) filter=(#1 < #2) project=(#0)
          Arrange key=[#0]
            Join on=(#0 = #2) project=(#0, #1)
              Arrange key=[#0]
                MapFilterProject project=(#0, #1)
                  Get u1
              Arrange key=[#0]
                MapFilterProject project=(#0)
                  Get u2
          Arrange key=[#0]
            MapFilterProject project=(#0)
              Get u3
        """,
    ),
    "an expression over two inputs is compared when both are there": (
        """
        Join on=(eq(#0 + #3, #5))
          Get u1
          Get u2
          Get u3
        """,
        """
        Join on=(#5 = #6) project=(#0, #1, #2, #3, #4, #6, #7, #8)
          Arrange key=[#5]
            CrossJoin map=(#0 + #3)
              Arrange key=[]
                Get u1
              Arrange key=[]
                Get u2
          Arrange key=[#0]
            Get u3
        """,
    ),
    "cross joins come last": (
        """
        Join on=(#0 = #5)
          Get u1
          Get u2
          Get u3
        """,
        """
        CrossJoin project=(#0, #1, #2, #6, #7, #3, #4, #5)
          Arrange key=[]
            Join on=(#0 = #3)
              Arrange key=[#0]
                Get u1
              Arrange key=[#0]
                Get u3
          Arrange key=[]
            Get u2
        """,
    ),
    "a filtered input comes first": (
        """
        Project (#0)
          Join on=(#0 = #3 AND #3 = #5 AND #2 = #8)
            Get u1
            Get u2
            Filter #1 = 7
              Map ("z")
                Get u3
        """,
        """
        Join on=(#0 = #1) project=(#0)
          Arrange key=[#0]
            Join on=(#0 = #2 AND #1 = #3) project=(#2)
              Arrange key=[#0, #1]
                MapFilterProject map=("z") filter=(#1 = 7) project=(#0, #3)
                  Get u3
              Arrange key=[#0, #1]
                MapFilterProject project=(#0, #2)
                  Get u1
          Arrange key=[#0]
            MapFilterProject project=(#0)
              Get u2
        """,
    ),
    "a class with a single member wants it not NULL": (
        """
        Join on=(eq(#1))
          Get u1
        """,
        """
        MapFilterProject filter=(#1 IS NOT NULL)
          Get u1
        """,
    ),
    "two uses of one arrangement are one": (
        """
        Join on=(#1 = #4)
          Get u1
          Get u1
        """,
        """
        With
          cte l0 =
            Arrange key=[#1]
              Get u1
        Return
          Join on=(#1 = #4)
            Get l0
            Get l0
        """,
    ),
    "arrangements that differ in their columns are one": (
        """
        Project (#0, #2, #4)
          Join on=(#0 = #3)
            Get u1
            Get u1
        """,
        """
        With
          cte l0 =
            Arrange key=[#0]
              Get u1
        Return
          Join on=(#0 = #3) project=(#0, #2, #4)
            Get l0
            Get l0
        """,
    ),
    "arrangements of some columns are one of these": (
        """
        Project (#1, #5)
          Join on=(#0 = #3)
            Get u3
            Project (#0, #1, #2, #2)
              Get u3
        """,
        """
        With
          cte l0 =
            Arrange key=[#0]
              Get u3
        Return
          Join on=(#0 = #3) project=(#1, #5)
            Get l0
            Get l0
        """,
    ),
    "joins of joins are ordered together": (
        """
        Filter #6 = 2.5
          Join on=(#0 = #4)
            Project (#0, #2, #3, #4)
              Filter #1 IS NOT NULL
                Join on=(#0 = #3)
                  Get u1
                  Get u2
            Get u3
        """,
        """
        Join on=(#0 = #5) project=(#0, #1, #5, #6, #2, #3, #4)
          Arrange key=[#0]
            Join on=(#0 = #3) project=(#3, #4, #0, #1, #2)
              Arrange key=[#0]
                MapFilterProject filter=(#2 = 2.5)
                  Get u3
              Arrange key=[#0]
                MapFilterProject filter=(#1 IS NOT NULL) project=(#0, #2)
                  Get u1
          Arrange key=[#0]
            Get u2
        """,
    ),
    "a join on what can fail stays where it is": (
        """
        Join on=(#2 = #3)
          Project (#0, #2, #4)
            Map (1 / #3)
              Join on=(#0 = #2)
                Get u2
                Project (#0, #0)
                  Get u3
          Get u3
        """,
        """
        With
          cte l0 =
            Arrange key=[#0]
              Get u3
        Return
          Join on=(#2 = #3)
            Arrange key=[#2]
              Join on=(#0 = #1) map=(1 / #1) project=(#0, #1, #4)
                Arrange key=[#0]
                  MapFilterProject project=(#0)
                    Get u2
                Get l0
            Get l0
        """,
    ),
    "an equality with a constant holds for all that is equal": (
        """
        Filter #0 = 7
          Join on=(#0 = #3)
            Get u1
            Get u2
        """,
        """
        Join on=(#0 = #3)
          Arrange key=[#0]
            MapFilterProject filter=(#0 = 7)
              Get u1
          Arrange key=[#0]
            MapFilterProject filter=(#0 = 7)
              Get u2
        """,
    ),
    "a relation that is written twice is computed once": (
        """
        Join on=(#0 = #2)
          Reduce group_by=[#0] aggregates=[count(*)]
            Get u2
          Reduce group_by=[#0] aggregates=[count(*)]
            Get u2
        """,
        """
        With
          cte l0 =
            Arrange key=[#0]
              Reduce group_by=[#0] aggregates=[count(*) accumulable]
                MapFilterProject project=(#0)
                  Get u2
        Return
          Join on=(#0 = #2)
            Get l0
            Get l0
        """,
    ),
    "a binding has the columns that all its uses read": (
        """
        With
          cte l0 =
            Reduce group_by=[#2] aggregates=[min(#0), max(#0), sum(#1)]
              Get u1
        Return
          Union
            Project (#0, #1)
              Get l0
            Project (#0, #2)
              Get l0
        """,
        """
        With
          cte l0 =
            Reduce group_by=[#0] aggregates=[min(#1) hierarchical, max(#1) hierarchical]
              MapFilterProject project=(#2, #0)
                Get u1
        Return
          Union
            MapFilterProject project=(#0, #1)
              Get l0
            MapFilterProject project=(#0, #2)
              Get l0
        """,
    ),
}


@pytest.mark.parametrize(("written", "planned"), CASES.values(), ids=CASES.keys())
def test_joins(written: str, planned: str) -> None:
    assert plan(written) == lines(planned)


INDEXED = {
    "an index with the key serves instead of an arrangement": (
        """
        Filter #1 = 5 AND #4 != #2
          Join on=(#0 = #3)
            Filter #2 = "a"
              Get u1
            Project (#0, #1, #1)
              Filter #1 != "b"
                Get u2
        """,
        [index("s1", "u1", 0), index("s2", "u1", 1, 0)],
        """
        Join on=(#0 = #3) filter=(#2 = "a" AND #1 = 5 AND #4 != #2)
          ImportIndex s1 key=[#0]
          Arrange key=[#0]
            MapFilterProject filter=(#1 != "b") project=(#0, #1, #1)
              Get u2
        """,
    ),
    "keys are put in the order of the index": (
        """
        Project (#0)
          Join on=(#0 = #4 AND #1 = #3)
            Get u1
            Project (#1, #0)
              Get u3
        """,
        [index("s1", "u3", 1, 0), index("s2", "u1", 0, 1)],
        """
        Join on=(#1 = #3 AND #0 = #2) project=(#0)
          Arrange key=[#1, #0]
            MapFilterProject project=(#0, #1)
              Get u1
          ImportIndex s1 key=[#1, #0]
        """,
    ),
    "keys that a filter leaves are looked up": (
        """
        Reduce group_by=[#1] aggregates=[count(*)]
          Filter (#0 = 1 OR #0 = 2) AND #2 = "a"
            Get u1
        """,
        [index("s2", "u1", 1), index("s1", "u1", 0)],
        """
        Reduce group_by=[#0] aggregates=[count(*) accumulable]
          Join on=(#0 = #1) filter=(#3 = "a") project=(#2)
            Arrange key=[#0]
              Constant // { types: "(bigint)" }
                - (1)
                - (2)
            ImportIndex s1 key=[#0]
        """,
    ),
    "keys of several columns are looked up": (
        """
        Filter #1 = 4 AND #0 = 3
          Get u3
        """,
        [index("s1", "u3", 1, 0)],
        """
        Join on=(#0 = #3 AND #1 = #2) project=(#2, #3, #4)
          Arrange key=[#0, #1]
            Constant // { types: "(bigint, bigint)" }
              - (4, 3)
          ImportIndex s1 key=[#1, #0]
        """,
    ),
    "no key is left by a contradiction": (
        """
        Filter #0 = 1 AND #0 = 2
          Get u3
        """,
        [index("s1", "u3", 0)],
        """
        Constant <empty> // { types: "(bigint, bigint, double)" }
        """,
    ),
    "an index with another key does not": (
        """
        Join on=(#0 = #3)
          Get u1
          Get u2
        """,
        [index("s1", "u1", 1), index("s2", "u2", 0, 1)],
        """
        Join on=(#0 = #3)
          Arrange key=[#0]
            Get u1
          Arrange key=[#0]
            Get u2
        """,
    ),
}


@pytest.mark.parametrize(("written", "indexes", "planned"), INDEXED.values(), ids=INDEXED.keys())
def test_indexes(written: str, indexes: list[IndexImport], planned: str) -> None:
    assert plan(written, indexes) == lines(planned)


def test_an_index_serves_a_collection_that_is_not_imported_otherwise() -> None:
    assert plan("Get u1", [index("s1", "u1", 0)], sources=[]) == "ImportIndex s1 key=[#0]"


def test_imports_that_are_not_used_are_left_out() -> None:
    dataflow = lowered("Join on=(#0 = #3)\n  Get u1\n  Get u2", [index("s1", "u1", 0), index("s2", "u3", 0)])
    assert [source.id for source in dataflow.source_imports] == [gid("u2")]
    assert [imported.id for imported in dataflow.index_imports] == [gid("s1")]


def test_without_optimizing_joins_keep_their_order() -> None:
    written = """
        Join on=(#0 = #5)
          Get u1
          Get u2
          Get u3
        """
    assert plan(written, optimize=False) == lines(
        """
        Join on=(#0 = #5)
          Arrange key=[#0]
            CrossJoin
              Arrange key=[]
                Get u1
              Arrange key=[]
                Get u2
          Arrange key=[#0]
            Get u3
        """
    )
