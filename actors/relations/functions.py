"""Where expressions start: columns, constants, conditions, and functions that take several expressions."""

from __future__ import annotations

from ...messages.scalars import Value
from .errors import RelationError
from .expressions import Expression, ExpressionOrValue, as_column, as_expression
from .nodes import Call, ColumnName, Conditional, Constant
from .types import TypeLike, sql_type


def col(name: str) -> Expression:
    """The column of this name."""
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"col takes the name of one column, and {name!r} was given")
    return Expression(ColumnName(name))


def lit(value: Value, type: TypeLike | None = None) -> Expression:
    """A constant. Without a type it takes the one that its surroundings ask for (``col("small") + lit(1)``)."""
    if type is None:
        return as_expression(value)
    expression = as_expression(value)
    return expression.cast(type) if not isinstance(expression.node, Constant) else _typed(expression.node, type)


def _typed(constant: Constant, type: TypeLike) -> Expression:
    from .coercion import literal_of

    wanted = sql_type(type)
    return Expression(Constant(literal_of(constant.value, wanted).value, wanted))


def coalesce(*expressions: Expression | str, default: Value = None) -> Expression:
    """The first of the columns (names or expressions) that is not NULL, else ``default``."""
    given = [as_column(expression) for expression in expressions]
    if default is not None:
        given.append(as_expression(default))
    if not given:
        raise RelationError("coalesce takes at least one column")
    return _over("coalesce", given)


def greatest(*expressions: Expression | str) -> Expression:
    """The greatest of several columns of one row; NULLs are passed over."""
    return _over("greatest", [as_column(expression) for expression in expressions])


def least(*expressions: Expression | str) -> Expression:
    """The least of several columns of one row; NULLs are passed over."""
    return _over("least", [as_column(expression) for expression in expressions])


def concat(*expressions: Expression | str, separator: str = "") -> Expression:
    """The texts of several columns (names or expressions), joined. NULL when one of them is."""
    given = [as_column(expression) for expression in expressions]
    if not given:
        raise RelationError("concat takes at least one column")
    joined = given[0]
    for expression in given[1:]:
        joined = joined + separator + expression if separator else joined + expression
    return joined


def _over(function: str, given: list[Expression]) -> Expression:
    if not given:
        raise RelationError(f"{function} takes at least one column")
    return Expression(Call(function, tuple(expression.node for expression in given)))


class When:
    """A condition that waits for its value: ``when(condition).then(value)``."""

    __slots__ = ("_branches", "_condition")

    def __init__(self, condition: Expression, branches: tuple[tuple[Expression, Expression], ...] = ()) -> None:
        self._condition = condition
        self._branches = branches

    def then(self, value: ExpressionOrValue) -> Then:
        """The value where the condition is true. A text is a value here, not a column's name."""
        return Then((*self._branches, (self._condition, as_expression(value))))


class Then(Expression):
    """Some branches; NULL where none applies. Goes on with ``.when(…).then(…)`` or ends with ``.otherwise(…)``."""

    __slots__ = ("_branches",)

    def __init__(self, branches: tuple[tuple[Expression, Expression], ...]) -> None:
        super().__init__(Conditional(tuple((condition.node, value.node) for condition, value in branches), None))
        self._branches = branches

    def when(self, condition: ExpressionOrValue) -> When:
        """Another branch, for rows where no earlier condition was true."""
        return When(as_expression(condition), self._branches)

    def otherwise(self, value: ExpressionOrValue) -> Expression:
        """The value where no condition is true."""
        branches = tuple((condition.node, then.node) for condition, then in self._branches)
        return Expression(Conditional(branches, as_expression(value).node))


def when(condition: ExpressionOrValue) -> When:
    """``when(col("a") > 1).then("big").otherwise("small")``."""
    return When(as_expression(condition))
