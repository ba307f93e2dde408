"""Map/filter/project programs over updates.

A row that some predicate drops raises no error: not of the other predicates, and not of expressions that only what
follows would have read. Of a row that stays, the first error makes it an error of the dataflow, with the row's time
and multiplicity. An expression that nobody reads is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...messages.plans import MapFilterProject
from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Scalar
from ...messages.types import ColumnType, SqlType
from ..arrangements.updates import Updates, error_updates, take_numbers
from ..columns.column import Column, Indices
from .compile import Compiler
from .nodes import Node
from .typing import scalar_type
from .vectors import Errors, Mask, Slot, merge_errors, take, to_column

Applied = tuple[Updates | None, Updates | None]
"""The rows, and the errors; None where there are none."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Computes a column of the extended row (``slot``), or a predicate (``slot`` is None).

    ``live`` are the columns that later steps or the projection read.
    """

    slot: int | None
    node: Node
    live: frozenset[int]


class MfpProgram:
    """A compiled :class:`MapFilterProject` over columns of these types."""

    __slots__ = ("_arity", "_computed", "_identity", "_projection", "_quiet", "_size", "_steps", "types")

    def __init__(self, mfp: MapFilterProject, types: Sequence[ColumnType], *, trust: bool = False) -> None:
        """Compile.

        Args:
            mfp: what to compute.
            types: of the input's columns.
            trust: whether user functions may be loaded.

        Raises:
            ExpressionError: an expression is ill-formed.
            UntrustedFunctionError, UserFunctionError: a user function cannot be loaded.
        """
        extended = list(types)
        for scalar in mfp.scalars:
            extended.append(scalar_type(scalar, extended))
        self._arity = mfp.arity
        self._size = len(extended)
        self._identity = mfp.is_identity
        self._projection = mfp.projection
        self.types: tuple[ColumnType, ...] = tuple(extended[position] for position in mfp.projection)
        compiler = Compiler(extended, mfp.arity, trust)
        self._steps = _with_liveness(list(_schedule(mfp, compiler)), mfp.projection)
        self._quiet = any(step.node.floating or step.node.fallible for step in self._steps)
        # Which of the output's columns are computed, and so are vectors with their own errors.
        self._computed = {position: extended[position].type for position in mfp.projection if position >= mfp.arity}

    def apply(self, updates: Updates) -> Applied:
        """The output for these updates."""
        if self._identity:
            return updates, None
        if not self._steps:
            return updates.project(self._projection), None
        if self._quiet:
            with np.errstate(all="ignore"):
                return self._run(updates)
        return self._run(updates)

    def _run(self, updates: Updates) -> Applied:
        size = len(updates)
        slots: list[Slot | None] = [*updates.columns, *[None] * (self._size - self._arity)]
        rows: Indices | None = None
        # Of the current rows: those that no predicate has dropped, and the errors of predicates.
        keep: Mask | None = None
        errors: Errors | None = None
        for step in self._steps:
            if keep is not None and (step.node.fallible or step.slot is not None):
                # Dropped rows must not be looked at by what can fail, nor cost anything in what follows.
                kept = np.flatnonzero(keep)
                if len(kept) < size:
                    if not len(kept):
                        return None, None
                    slots = [
                        take(slot, kept) if slot is not None and position in step.live else None
                        for position, slot in enumerate(slots)
                    ]
                    rows, size = kept if rows is None else rows[kept], len(kept)
                    errors = None if errors is None else Errors(errors.mask[kept], errors.messages[kept])
                keep = None
            values, valid, failures = step.node.run(slots, size)
            if step.slot is not None:
                slots[step.slot] = values, valid, failures
                continue
            passed: Mask = values if valid is None else values & valid
            if failures is not None:
                passed = passed | failures.mask
                errors = merge_errors(errors, failures)
            if passed.ndim == 0:
                passed = np.broadcast_to(passed, (size,))
            keep = passed if keep is None else keep & passed
        return self._output(updates, slots, rows, keep, errors, size)

    def _output(
        self,
        updates: Updates,
        slots: Sequence[Slot | None],
        rows: Indices | None,
        keep: Mask | None,
        errors: Errors | None,
        size: int,
    ) -> Applied:
        for position in self._computed:
            slot = slots[position]
            if isinstance(slot, tuple) and slot[2] is not None:
                errors = merge_errors(errors, slot[2])
        failed: Updates | None = None
        if errors is not None:
            bad = errors.mask if keep is None else errors.mask & keep
            keep = ~errors.mask if keep is None else keep & ~errors.mask
            failed = _errors(updates, rows, np.flatnonzero(bad), errors)
        times, diffs = updates.times, updates.diffs
        kept: Indices | None = None
        if keep is not None:
            kept = np.flatnonzero(keep)
            if not len(kept):
                return None, failed
            if len(kept) == size:
                kept = None
        columns = tuple(self._column(slots[position], position, kept, size) for position in self._projection)
        final = rows if kept is None else kept if rows is None else rows[kept]
        if final is not None:
            times, diffs = take_numbers(times, final), take_numbers(diffs, final)
        return Updates(columns, times, diffs), failed

    def _column(self, slot: Slot | None, position: int, kept: Indices | None, size: int) -> Column:
        assert slot is not None, "what the projection reads is alive to the end"
        if isinstance(slot, Column):
            return slot if kept is None else slot.take(kept)
        if kept is not None:
            slot = take(slot, kept)
            size = len(kept)
        assert isinstance(slot, tuple)
        return to_column(slot, self._computed[position], size)


def _errors(updates: Updates, rows: Indices | None, bad: Indices, errors: Errors) -> Updates | None:
    if not len(bad):
        return None
    final = bad if rows is None else rows[bad]
    messages = errors.messages[bad].tolist()
    return error_updates(messages, take_numbers(updates.times, final), take_numbers(updates.diffs, final))


def _schedule(mfp: MapFilterProject, compiler: Compiler) -> Iterator[tuple[int | None, Node]]:
    """The steps in order: each predicate as early as possible, each expression just before it is first read."""
    done: set[int] = set()

    def compute(columns: frozenset[int]) -> Iterator[tuple[int | None, Node]]:
        for column in sorted(columns):
            if column >= mfp.arity and column not in done:
                done.add(column)
                scalar = mfp.scalars[column - mfp.arity]
                node = compiler.node(scalar, compiler.types[column].type)
                yield from compute(node.columns)
                yield column, node

    def needs(predicate: Scalar) -> int:
        return max((column - mfp.arity + 1 for column in _columns(predicate)), default=0)

    # Those that read only input columns come first; the order of the others stays.
    for predicate in sorted(mfp.predicates, key=lambda predicate: max(needs(predicate), 0)):
        scalar_type(predicate, compiler.types)
        node = compiler.node(predicate, SqlType.BOOLEAN)
        yield from compute(node.columns)
        yield None, node
    yield from compute(frozenset(mfp.projection))


def _columns(scalar: Scalar) -> Iterator[int]:
    match scalar:
        case ColumnRef(index):
            yield index
        case Call(_, arguments) | CallUser(_, arguments):
            for argument in arguments:
                yield from _columns(argument)
        case Cast(input):
            yield from _columns(input)
        case If(condition, then, otherwise):
            for part in (condition, then, otherwise):
                yield from _columns(part)
        case _:
            return


def _with_liveness(steps: Sequence[tuple[int | None, Node]], projection: Sequence[int]) -> tuple[_Step, ...]:
    live = frozenset(projection)
    result: list[_Step] = []
    for slot, node in reversed(steps):
        live = (live - {slot} if slot is not None else live) | node.columns
        result.append(_Step(slot, node, live))
    return tuple(reversed(result))
