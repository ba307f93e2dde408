"""Three-valued ``and``, ``or`` and ``not``.

An operand that decides (false in ``and``, true in ``or``) hides the others' NULLs and errors; otherwise the first error
wins, then NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...messages.types import SqlType
from .nodes import Node, balanced, derived, unary
from .vectors import Errors, Mask, Slots, Vector, merge_errors


def negation(argument: Node) -> Node:
    """``not``."""
    return unary(SqlType.BOOLEAN, argument, np.logical_not)


def connective(function: str, arguments: Sequence[Node]) -> Node:
    """``and`` or ``or`` of one operand or more."""
    return balanced(arguments, lambda left, right: _of_two(function == "or", left, right))


def _of_two(decisive: bool, left: Node, right: Node) -> Node:
    first, second = left.run, right.run
    combine = np.logical_or if decisive else np.logical_and

    def run(slots: Slots, size: int) -> Vector:
        left_values, left_valid, left_errors = first(slots, size)
        right_values, right_valid, right_errors = second(slots, size)
        if left_valid is None and right_valid is None and left_errors is None and right_errors is None:
            return combine(left_values, right_values), None, None
        decided = _deciding(decisive, left_values, left_valid, left_errors) | _deciding(
            decisive, right_values, right_valid, right_errors
        )
        errors = merge_errors(left_errors, right_errors)
        if errors is not None:
            remaining = errors.mask & ~decided
            errors = Errors(remaining, errors.messages) if np.count_nonzero(remaining) else None
        values = decided if decisive else ~decided
        valid = None
        for one in (left_valid, right_valid):
            if one is not None:
                valid = one if valid is None else valid & one
        return values, None if valid is None else valid | decided, errors

    return derived(SqlType.BOOLEAN, run, (left, right))


def _deciding(decisive: bool, values: Mask, valid: Mask | None, errors: Errors | None) -> Mask:
    """Where an operand decides the result."""
    mask = values if decisive else ~values
    if valid is not None:
        mask = mask & valid
    if errors is not None:
        mask = mask & ~errors.mask
    return mask
