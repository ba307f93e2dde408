"""Errors of plans: each says which node, what was given and what was expected."""

from __future__ import annotations

from ...messages.errors import ExpressionError, PillionError
from ...messages.ids import GlobalId


class PlanError(PillionError):
    """Base of the errors that a plan as a whole can have."""


class RelationTypeError(ExpressionError):
    """A node of a relational expression that is ill-formed. ``node`` is its first line as text."""

    def __init__(self, node: str, problem: str) -> None:
        super().__init__(f"{node}: {problem}")
        self.node = node
        self.problem = problem


class ParseError(PlanError):
    """Text that is no plan. ``line`` and ``column`` count from 1."""

    def __init__(self, line: int, column: int, problem: str) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.line = line
        self.column = column
        self.problem = problem


class DescriptionError(PlanError):
    """A dataflow description that breaks a rule; ``id`` is the import, object or export that does."""

    def __init__(self, id: GlobalId | None, rule: str) -> None:
        super().__init__(rule if id is None else f"{id}: {rule}")
        self.id = id
        self.rule = rule


class UnsupportedPlanError(PlanError):
    """A well-formed expression that cannot be lowered to a render plan."""


class PlanDepthError(PlanError):
    """An expression that is nested deeper than plans may be."""
