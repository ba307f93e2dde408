"""``if`` and ``coalesce``: a branch that is not taken raises no error, and calls no user function.

A branch that cannot fail is computed for every row, which costs less than picking rows; one that can, only for the rows
that take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from ..columns.column import Mask
from .nodes import Node, balanced, derived, is_null_constant, take_slots
from .vectors import Errors, Slots, Vector, arrow_validity, errors_within, is_arrow, merge_errors, select, spread


def choice(condition: Node, then: Node, otherwise: Node) -> Node:
    """``case when condition then … else … end`` of two branches of one type; a NULL condition takes the second."""
    type, test = then.type, condition.run

    def run(slots: Slots, size: int) -> Vector:
        values, valid, errors = test(slots, size)
        taken = values if valid is None else values & valid
        if taken.ndim == 0:
            taken = np.broadcast_to(taken, (size,))
        chosen = _merge(slots, size, taken, then, otherwise, errors)
        if errors is None:
            return chosen
        return chosen[0], chosen[1], merge_errors(errors, chosen[2])

    return derived(type, run, (condition, then, otherwise))


def coalesce(arguments: Sequence[Node]) -> Node:
    """The first that is not NULL, of expressions of one type; later ones matter only where earlier ones are NULL."""
    useful: list[Node] = []
    for argument in arguments:
        if not is_null_constant(argument):
            useful.append(argument)
            if argument.constant is not None:
                # Never NULL, so nobody looks further.
                break
    return balanced(useful or arguments[:1], _first_of_two)


def _first_of_two(first: Node, second: Node) -> Node:
    type, run_first = first.type, first.run
    arrow = is_arrow(type)

    def run(slots: Slots, size: int) -> Vector:
        vector = run_first(slots, size)
        values, valid, errors = vector
        if arrow:
            valid = arrow_validity(values)
        if valid is None:
            return vector
        present = valid if errors is None else valid | errors.mask
        if present.ndim == 0:
            present = np.broadcast_to(present, (size,))
        ready = Node(type, lambda slots, size: (values, None if arrow else valid, None))
        chosen = _merge(slots, size, present, ready, second, None)
        return chosen if errors is None else (chosen[0], chosen[1], merge_errors(errors, chosen[2]))

    return derived(type, run, (first, second))


def _merge(slots: Slots, size: int, taken: Mask, then: Node, otherwise: Node, skipped: Errors | None) -> Vector:
    """One branch where ``taken``, the other elsewhere; errors of rows that are ``skipped`` do not count."""
    count = np.count_nonzero(taken)
    if skipped is None and count in (0, size):
        vector = (then if count else otherwise).run(slots, size)
        return *spread(vector, then.type, size), vector[2]
    first = _restricted(slots, size, taken, then)
    second = _restricted(slots, size, ~taken if skipped is None else ~taken & ~skipped.mask, otherwise)
    errors = merge_errors(errors_within(first[2], taken), errors_within(second[2], ~taken))
    if is_arrow(then.type):
        return pc.if_else(pa.array(taken), first[0], second[0]), None, errors
    valid = None
    if first[1] is not None or second[1] is not None:
        valid = select(taken, True if first[1] is None else first[1], True if second[1] is None else second[1])
    return select(taken, first[0], second[0]), valid, errors


def _restricted(slots: Slots, size: int, rows: Mask, branch: Node) -> Vector:
    """The branch, computed at least for these rows."""
    if not branch.fallible:
        return branch.run(slots, size)
    positions = np.flatnonzero(rows)
    part = branch.run(take_slots(slots, branch.columns, positions), len(positions))
    values, valid = spread(part, branch.type, len(positions))
    return _scattered(values, valid, part[2], branch.type, positions, size)


def _scattered(
    values: Any, valid: Mask | None, errors: Errors | None, type: SqlType, positions: Any, size: int
) -> Vector:
    """A vector of ``size`` rows with these rows at these positions."""
    if errors is not None:
        mask, messages = np.zeros(size, np.bool_), np.empty(size, np.object_)
        mask[positions], messages[positions] = errors.mask, errors.messages
        errors = Errors(mask, messages)
    if is_arrow(type):
        places = np.zeros(size, np.int64)
        places[positions] = np.arange(len(positions))
        filled = values if len(values) else pa.nulls(1, values.type)
        return filled.take(pa.array(places)), None, errors
    spread_values = np.zeros(size, values.dtype)
    spread_values[positions] = values
    if valid is not None:
        spread_valid = np.ones(size, np.bool_)
        spread_valid[positions] = valid
        valid = spread_valid
    return spread_values, valid, errors
