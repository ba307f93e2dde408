"""Map/filter/project: which rows stay, which fail, and what it does not do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.simulation.oracle.scalars import RowError, evaluate
from pillion.dataflow.arrangements.updates import Updates, error_messages
from pillion.dataflow.columns.column import column_from_arrow
from pillion.dataflow.scalars.mfp import MfpProgram
from pillion.messages.errors import ExpressionError
from pillion.messages.plans import MapFilterProject
from pillion.messages.scalars import Call, ColumnRef, If, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .evaluation import column, literal

BIGINT, TEXT, BOOLEAN = (ColumnType(type) for type in (SqlType.BIGINT, SqlType.TEXT, SqlType.BOOLEAN))
ZERO, ONE, TEN = (literal("bigint", number) for number in (0, 1, 10))
A, B, C = (ColumnRef(position) for position in range(3))


def updates(*columns: Any, times: list[int] | None = None, diffs: list[int] | None = None) -> Updates:
    size = len(columns[0])
    return Updates(
        tuple(columns),
        np.array(times if times is not None else range(size), np.int64),
        np.array(diffs if diffs is not None else [1] * size, np.int64),
    )


def numbers(*values: int | None) -> Any:
    return column("bigint", values)


def run(mfp: MapFilterProject, given: Updates) -> tuple[list[Any], list[Any]]:
    program = MfpProgram(mfp, [ColumnType(type) for type in given.types])
    oks, errs = program.apply(given)
    return ([] if oks is None else oks.to_tuples()), ([] if errs is None else errs.to_tuples())


def test_map_filter_project() -> None:
    given = updates(numbers(1, 2, None, 4), column("text", ["a", "b", "c", "d"]), diffs=[1, -1, 2, 3])
    mfp = MapFilterProject(2, (Call("+", (A, ONE)), Call("*", (C, TEN))), (Call("!=", (A, ONE)),), (3, 1, 1))
    assert run(mfp, given) == ([((30, "b", "b"), 1, -1), ((50, "d", "d"), 3, 3)], [])


def test_overflow_between_a_computed_constant_and_another_is_an_error_and_no_warning() -> None:
    greatest = literal("bigint", (1 << 63) - 1)
    mfp = MapFilterProject(1, (Call("-", (ZERO, greatest)), Call("-", (B, TEN))), (), (2,))
    oks, errs = run(mfp, updates(numbers(1)))
    assert not oks
    assert errs == [(("bigint out of range",), 0, 1)]


def test_identity_is_free() -> None:
    given = updates(numbers(1, 2))
    oks, errs = MfpProgram(MapFilterProject.identity(1), [BIGINT]).apply(given)
    assert oks is given
    assert errs is None


def test_a_projection_shares_the_columns() -> None:
    given = updates(numbers(1, 2), numbers(3, 4))
    oks, _ = MfpProgram(MapFilterProject(2, projection=(1, 1)), [BIGINT, BIGINT]).apply(given)
    assert oks is not None
    assert all(shared is given.columns[1] for shared in oks.columns)
    assert oks.times is given.times
    assert oks.diffs is given.diffs


def test_a_filter_that_keeps_everything_shares_the_columns() -> None:
    given = updates(numbers(1, 2))
    mfp = MapFilterProject(1, (), (Call(">", (A, ZERO)),), (0,))
    oks, _ = MfpProgram(mfp, [BIGINT]).apply(given)
    assert oks is not None
    assert oks.columns[0] is given.columns[0]


def test_rows_that_fail_become_errors_with_their_times_and_diffs() -> None:
    given = updates(numbers(1, 0, 2, 0), times=[5, 6, 7, 8], diffs=[1, 2, 3, -1])
    mfp = MapFilterProject(1, (Call("/", (TEN, A)),), (), (1,))
    assert run(mfp, given) == (
        [((10,), 5, 1), ((5,), 7, 3)],
        [(("division by zero",), 6, 2), (("division by zero",), 8, -1)],
    )


def test_nothing_is_none() -> None:
    given = updates(numbers(0))
    program = MfpProgram(MapFilterProject(1, (Call("/", (ONE, A)),), (Call("=", (A, ONE)),), (1,)), [BIGINT])
    assert program.apply(given) == (None, None)
    failing = MfpProgram(MapFilterProject(1, (Call("/", (ONE, A)),), (), (1,)), [BIGINT])
    oks, errs = failing.apply(given)
    assert oks is None
    assert errs is not None
    assert error_messages(errs) == ["division by zero"]


def test_rows_without_columns() -> None:
    mfp = MapFilterProject(1, (), (Call(">", (A, ONE)),), ())
    assert run(mfp, updates(numbers(1, 2, 3))) == ([((), 1, 1), ((), 2, 1)], [])
    constant = MapFilterProject(0, (ONE,), (), (0,))
    assert run(constant, Updates((), np.zeros(2, np.int64), np.ones(2, np.int64))) == ([((1,), 0, 1)] * 2, [])


def test_a_dropped_row_raises_no_error() -> None:
    inverse = Call("/", (ONE, A))
    given = updates(numbers(0, 1))
    # Of a mapped expression; of a predicate before and after the one that drops it.
    assert run(MapFilterProject(1, (inverse,), (Call("!=", (A, ZERO)),), (1,)), given) == ([((1,), 1, 1)], [])
    risky, safe = Call("=", (inverse, ONE)), Call("!=", (A, ZERO))
    for predicates in ((risky, safe), (safe, risky)):
        assert run(MapFilterProject(1, (), predicates, (0,)), given) == ([((1,), 1, 1)], [])


def test_a_null_predicate_hides_errors_like_a_false_one() -> None:
    null = Call("=", (A, literal("bigint", None)))
    mfp = MapFilterProject(1, (), (LiteralError("e"), null), (0,))
    assert run(mfp, updates(numbers(1))) == ([], [])


def test_a_predicate_that_fails_is_an_error() -> None:
    mfp = MapFilterProject(1, (), (Call("=", (Call("/", (ONE, A)), ONE)), Call("<", (A, TEN))), (0,))
    assert run(mfp, updates(numbers(0, 1, 11))) == ([((1,), 1, 1)], [(("division by zero",), 0, 1)])


def test_the_first_error_of_a_row_counts() -> None:
    mfp = MapFilterProject(1, (LiteralError("first"), LiteralError("second")), (), (1, 2))
    assert run(mfp, updates(numbers(1))) == ([], [(("first",), 0, 1)])


def test_what_nobody_reads_is_not_evaluated() -> None:
    mfp = MapFilterProject(1, (LiteralError("unread"), Call("+", (A, ONE))), (), (2,))
    assert run(mfp, updates(numbers(1))) == ([((2,), 0, 1)], [])


def test_an_error_reaches_what_is_computed_from_it() -> None:
    scalars = (Call("/", (ONE, A)), Call("is_null", (B,)), If(Call("=", (A, ZERO)), ZERO, B))
    given = updates(numbers(0, 1))
    assert run(MapFilterProject(1, scalars, (), (2,)), given) == ([((False,), 1, 1)], [(("division by zero",), 0, 1)])
    # The branch that reads the failed column is not taken.
    assert run(MapFilterProject(1, scalars, (), (3,)), given) == ([((0,), 0, 1), ((1,), 1, 1)], [])


def test_predicates_on_computed_columns_and_several_filters() -> None:
    given = updates(numbers(*range(10)), column("text", [str(n % 3) for n in range(10)]))
    scalars = (Call("%", (A, literal("bigint", 4))), Call("||", (B, B)))
    predicates = (
        Call("=", (C, ONE)),
        Call("=", (Call("/", (TEN, A)), literal("bigint", 2))),
        Call("<", (A, literal("bigint", 9))),
    )
    assert run(MapFilterProject(2, scalars, predicates, (3, 0)), given) == ([(("22", 5), 5, 1)], [])


def test_a_constant_predicate() -> None:
    given = updates(numbers(1, 2))
    assert run(MapFilterProject(1, (), (literal("bool", True),), (0,)), given)[0] == [((1,), 0, 1), ((2,), 1, 1)]
    assert run(MapFilterProject(1, (), (literal("bool", None),), (0,)), given) == ([], [])
    assert run(MapFilterProject(1, (), (LiteralError("e"),), (0,)), given)[1] == [(("e",), 0, 1), (("e",), 1, 1)]


def test_uniform_times_stay_uniform() -> None:
    given = Updates.of((numbers(1, 2, 3),), 7)
    oks, _ = MfpProgram(MapFilterProject(1, (), (Call(">", (A, ONE)),), (0,)), [BIGINT]).apply(given)
    assert oks is not None
    assert oks.times.strides == (0,)
    assert oks.diffs.strides == (0,)


def test_what_is_under_null_is_the_same_however_it_was_computed() -> None:
    """Rows that are equal must be equal in memory, so that they meet when they are grouped."""
    program = MfpProgram(MapFilterProject(2, (Call("+", (A, B)),), (), (2,)), [BIGINT, BIGINT])
    oks, _ = program.apply(updates(numbers(None, 5, None), numbers(7, None, None)))
    assert oks is not None
    assert column_from_arrow(oks.columns[0].to_arrow(), SqlType.BIGINT).equal(oks.columns[0]).all()
    assert len(set(oks.columns[0].hashes().tolist())) == 1
    assert len(Updates(oks.columns, np.zeros(3, np.int64), np.ones(3, np.int64)).consolidate()) == 1


def test_types_of_the_output() -> None:
    assert MfpProgram(MapFilterProject(1, (Call("=", (A, ONE)),), (), (1, 0)), [BIGINT]).types == (BOOLEAN, BIGINT)


def test_ill_formed_expressions_are_refused() -> None:
    with pytest.raises(ExpressionError, match="no column #5"):
        MfpProgram(MapFilterProject(1, (ColumnRef(5),), (), (1,)), [BIGINT])
    with pytest.raises(ExpressionError, match=r"\+\(bigint, text\) is not possible"):
        MfpProgram(MapFilterProject(2, (Call("+", (A, B)),), (), (2,)), [BIGINT, TEXT])
    with pytest.raises(ExpressionError, match=r"cast\(bigint, date\)|expected"):
        MfpProgram(MapFilterProject(1, (Call("and", (A,)),), (), (1,)), [BIGINT])


# Against the oracle: an MFP drops a row, fails it, or outputs it.

small = st.sampled_from([None, -1, 0, 1, 2, 2**63 - 1])


def scalars_over(arity: int) -> st.SearchStrategy[Scalar]:
    leaf = st.builds(ColumnRef, st.integers(0, arity - 1)) | small.map(lambda value: literal("bigint", value))
    inner = st.builds(Call, st.sampled_from(["+", "-", "*", "/", "%"]), st.tuples(leaf, leaf)) | leaf
    return st.builds(If, st.builds(Call, st.sampled_from(["<", "="]), st.tuples(leaf, leaf)), inner, leaf) | inner


def predicates_over(arity: int) -> st.SearchStrategy[Scalar]:
    scalar = scalars_over(arity)
    return st.builds(Call, st.sampled_from(["=", "!=", "<", "<="]), st.tuples(scalar, scalar))


@st.composite
def programs(draw: st.DrawFn) -> MapFilterProject:
    scalars = [draw(scalars_over(2 + position)) for position in range(draw(st.integers(0, 3)))]
    arity = 2 + len(scalars)
    predicates = draw(st.lists(predicates_over(arity), max_size=3))
    projection = draw(st.lists(st.integers(0, arity - 1), max_size=4))
    return MapFilterProject(2, tuple(scalars), tuple(predicates), tuple(projection))


def by_row(mfp: MapFilterProject, row: tuple[Any, ...]) -> Any:
    """The output row, ``"fails"``, or None for a dropped one."""

    def value(scalar: Scalar) -> Any:
        return evaluate(inlined(scalar), row, (BIGINT, BIGINT))

    def inlined(scalar: Scalar) -> Scalar:
        match scalar:
            case ColumnRef(index):
                return scalar if index < 2 else inlined(mfp.scalars[index - 2])
            case Call(name, arguments):
                return Call(name, tuple(inlined(argument) for argument in arguments))
            case If(condition, then, otherwise):
                return If(inlined(condition), inlined(then), inlined(otherwise))
            case _:
                return scalar

    error = False
    for predicate in mfp.predicates:
        try:
            if value(predicate) is not True:
                return None
        except RowError:
            error = True
    if error:
        return "fails"
    try:
        return tuple(value(ColumnRef(position)) for position in mfp.projection)
    except RowError:
        return "fails"


@given(programs(), st.lists(st.tuples(small, small), min_size=1, max_size=6))
def test_random_programs_agree_with_the_oracle(mfp: MapFilterProject, table: list[tuple[Any, Any]]) -> None:
    given = updates(*(numbers(*values) for values in zip(*table, strict=True)))
    oks, errs = run(mfp, given)
    expected = [by_row(mfp, row) for row in table]
    assert oks == [(row, time, 1) for time, row in enumerate(expected) if row is not None and row != "fails"]
    assert [time for _, time, _ in errs] == [time for time, row in enumerate(expected) if row == "fails"]
