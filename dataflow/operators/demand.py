"""Which input columns a map/filter/project reads, so that a join gathers no others."""

from __future__ import annotations

from ...messages.plans import MapFilterProject
from ...messages.scalars import ColumnRef, Scalar
from ..plans.trees import columns_of, substitute


def narrow(mfp: MapFilterProject) -> tuple[tuple[int, ...], MapFilterProject]:
    """The input columns that are read, and the same map/filter/project over only these."""
    arity = mfp.arity
    read: set[int] = {p for p in mfp.projection if p < arity}
    for scalar in (*mfp.scalars, *mfp.predicates):
        read |= {c for c in columns_of(scalar) if c < arity}
    columns = tuple(sorted(read))
    moved = {old: new for new, old in enumerate(columns)}
    moved |= {arity + i: len(columns) + i for i in range(len(mfp.scalars))}

    def move(scalar: Scalar) -> Scalar:
        return substitute(scalar, lambda index: ColumnRef(moved[index]))

    narrowed = MapFilterProject(
        len(columns),
        tuple(move(s) for s in mfp.scalars),
        tuple(move(p) for p in mfp.predicates),
        tuple(moved[p] for p in mfp.projection),
    )
    return columns, narrowed
