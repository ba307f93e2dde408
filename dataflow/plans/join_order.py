"""In which order the inputs of a join are joined, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...messages.scalars import Scalar
from .join_classes import JoinConditions

MAX_TRIED = 8
"""Up to so many inputs every one is tried as the first; with more, only the best one by itself."""


@dataclass(frozen=True, slots=True)
class InputTraits:
    """What is known of one input: how few rows it is likely to have (0 nothing known, 3 very few), whether rows with
    equal values of these expressions are at most one, and whether an arrangement by them exists already."""

    smallness: int
    is_unique: Callable[[Sequence[Scalar]], bool]
    is_arranged: Callable[[Sequence[Scalar]], bool]


StepRank = tuple[bool, bool, bool, int]


def join_keys(conditions: JoinConditions, joined: frozenset[int], input: int) -> list[tuple[Scalar, Scalar]]:
    """Pairs that must be equal: an expression of the inputs joined so far, and one of the next input."""
    pairs: list[tuple[Scalar, Scalar]] = []
    for members in conditions.classes:
        supports = [conditions.support(member) for member in members]
        left = next((m for m, support in zip(members, supports, strict=True) if support and support <= joined), None)
        right = next((m for m, support in zip(members, supports, strict=True) if support == frozenset((input,))), None)
        if left is not None and right is not None:
            pairs.append((left, right))
    return pairs


def join_order(conditions: JoinConditions, traits: Sequence[InputTraits]) -> tuple[int, ...]:
    """A linear order: cross joins last; then small inputs, lookups by a key, existing arrangements first; else as
    written."""
    inputs = range(len(traits))
    starts = inputs if len(traits) <= MAX_TRIED else [min(inputs, key=lambda input: (-traits[input].smallness, input))]
    ranked = [_greedy(conditions, traits, start) for start in starts]
    _, _, _, order = min(
        (sum(is_cross for is_cross, *_ in ranks), -traits[order[0]].smallness, ranks, order) for order, ranks in ranked
    )
    return order


def _greedy(
    conditions: JoinConditions, traits: Sequence[InputTraits], start: int
) -> tuple[tuple[int, ...], list[StepRank]]:
    """The order that begins with this input and takes the best one at every step, with the steps' ranks."""
    order = [start]
    ranks: list[StepRank] = []
    rest = [input for input in range(len(traits)) if input != start]
    while rest:
        joined = frozenset(order)
        rank, chosen = min((_rank(conditions, traits[input], joined, input), input) for input in rest)
        ranks.append(rank)
        order.append(chosen)
        rest.remove(chosen)
    return tuple(order), ranks


def _rank(conditions: JoinConditions, traits: InputTraits, joined: frozenset[int], input: int) -> StepRank:
    """How good it is to join an input next; smaller is better."""
    keys = [right for _, right in join_keys(conditions, joined, input)]
    return not keys, not traits.is_unique(keys), not traits.is_arranged(keys), -traits.smallness
