"""What a relation knows of the system that its tables belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .relation import Relation


class Origin(Protocol):
    """A system."""

    def explain(self, relation: Relation) -> str:
        """How the relation would be computed now."""
        ...
