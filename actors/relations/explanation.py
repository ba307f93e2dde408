"""``explain()`` of a relation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dataflow.plans.print_relation import print_relation

if TYPE_CHECKING:
    from .relation import Relation


def explain_relation(relation: Relation) -> str:
    """How its system would compute it now; without a system, the expression alone."""
    if relation.origin is not None:
        return relation.origin.explain(relation)
    return print_relation(relation.algebra)
