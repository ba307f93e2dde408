"""Expressions over the columns of a relation: ``col("amount") * 2 > lit(10)``.

An expression is an immutable value that belongs to no relation; it meets one when it is passed to ``select``,
``filter``, … and only then do its names become columns and its types get checked.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from ...messages.scalars import Value
from .errors import RelationError
from .nodes import Aggregation, Call, Cast, ColumnName, Constant, Node, default_name, show
from .other_names import OF_EXPRESSIONS, no_attribute
from .types import TypeLike, sql_type, sql_type_of_value

if TYPE_CHECKING:
    from .dates import DateNamespace
    from .strings import StringNamespace


class Expression:
    """What one row computes (or, with aggregates in it, what a group of rows does).

    Build one with :func:`~pillion.actors.relations.col` and :func:`~pillion.actors.relations.lit`. NULL follows SQL:
    an operation on NULL gives NULL, comparisons included; ``filter`` keeps the rows whose condition is true.
    """

    __slots__ = ("_alias", "_node")

    def __init__(self, node: Node, alias: str | None = None) -> None:
        self._node = node
        self._alias = alias

    @property
    def node(self) -> Node:
        """The syntax tree."""
        return self._node

    @property
    def output_name(self) -> str | None:
        """The name of the column that this makes: the alias, else the leftmost column's, else none."""
        return self._alias or default_name(self._node)

    def alias(self, name: str) -> Expression:
        """The same, as a column called ``name``."""
        return Expression(self._node, name)

    def __repr__(self) -> str:
        shown = show(self._node)
        return shown if self._alias is None else f"({shown}).alias({self._alias!r})"

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str_) -> NoReturn:
            raise no_attribute(self, name, "an expression", OF_EXPRESSIONS)

    # Arithmetic

    def __add__(self, other: ExpressionOrValue) -> Expression:
        """The sum; of two texts, their concatenation."""
        return _call("+", self, other)

    def __radd__(self, other: ExpressionOrValue) -> Expression:
        return _call("+", other, self)

    def __sub__(self, other: ExpressionOrValue) -> Expression:
        return _call("-", self, other)

    def __rsub__(self, other: ExpressionOrValue) -> Expression:
        return _call("-", other, self)

    def __mul__(self, other: ExpressionOrValue) -> Expression:
        return _call("*", self, other)

    def __rmul__(self, other: ExpressionOrValue) -> Expression:
        return _call("*", other, self)

    def __truediv__(self, other: ExpressionOrValue) -> Expression:
        """The quotient; of two integers, a double. Dividing by zero is an error of the row."""
        return _call("/", self, other)

    def __rtruediv__(self, other: ExpressionOrValue) -> Expression:
        return _call("/", other, self)

    def __floordiv__(self, other: ExpressionOrValue) -> Expression:
        """The quotient rounded down, as in Python: ``-7 // 2`` is ``-4``."""
        return _call("//", self, other)

    def __rfloordiv__(self, other: ExpressionOrValue) -> Expression:
        return _call("//", other, self)

    def __mod__(self, other: ExpressionOrValue) -> Expression:
        """What ``//`` leaves, with the divisor's sign, as in Python: ``-7 % 2`` is ``1``."""
        return _call("%", self, other)

    def __rmod__(self, other: ExpressionOrValue) -> Expression:
        return _call("%", other, self)

    def __pow__(self, other: ExpressionOrValue) -> Expression:
        """A power, as a double."""
        return _call("power", self, other)

    def __neg__(self) -> Expression:
        return _call("neg", self)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return self.abs()

    def abs(self) -> Expression:
        """The value without its sign."""
        return _call("abs", self)

    def round(self, decimals: int = 0) -> Expression:
        """Rounded to this many digits after the point; halves go away from zero."""
        return _call("round", self, decimals)

    def floor(self) -> Expression:
        """The greatest whole number that is not above it."""
        return _call("floor", self)

    def ceil(self) -> Expression:
        """The least whole number that is not below it."""
        return _call("ceil", self)

    def sqrt(self) -> Expression:
        """The square root, a double; of a negative number, an error of the row."""
        return _call("sqrt", self)

    def exp(self) -> Expression:
        """e to this power."""
        return _call("exp", self)

    def log(self) -> Expression:
        """The natural logarithm; of zero and below, an error of the row."""
        return _call("ln", self)

    def sign(self) -> Expression:
        """-1, 0 or 1."""
        return _call("sign", self)

    # Comparison

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _call("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _call("!=", self, other)

    def __lt__(self, other: ExpressionOrValue) -> Expression:
        return _call("<", self, other)

    def __le__(self, other: ExpressionOrValue) -> Expression:
        return _call("<=", self, other)

    def __gt__(self, other: ExpressionOrValue) -> Expression:
        return _call(">", self, other)

    def __ge__(self, other: ExpressionOrValue) -> Expression:
        return _call(">=", self, other)

    __hash__ = None  # type: ignore[assignment]  # == builds an expression, so an expression cannot be a key

    def eq_missing(self, other: ExpressionOrValue) -> Expression:
        """Equality in which NULL equals NULL; never NULL itself."""
        left, right = self, as_expression(other)
        both_null = left.is_null() & right.is_null()
        return both_null | (_call("=", left, right).fill_null(False))

    def ne_missing(self, other: ExpressionOrValue) -> Expression:
        """The opposite of :meth:`eq_missing`."""
        return ~self.eq_missing(other)

    def between(self, lower: ExpressionOrValue, upper: ExpressionOrValue) -> Expression:
        """``lower <= self <= upper``."""
        return (self >= lower) & (self <= upper)

    def is_in(self, values: Iterable[ExpressionOrValue]) -> Expression:
        """Whether it equals one of the values. As in SQL, NULL when it does not but a value is NULL."""
        if hasattr(values, "algebra"):
            raise RelationError(f"is_in takes a list of values; for {values!r}, use .join(other, on=…, how='semi')")
        if isinstance(values, str | bytes | Expression) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"is_in takes a list of values, and {values!r} was given; write is_in([…])")
        members = [as_expression(value) for value in values]
        if not members:
            return Expression(Constant(False), self.output_name)
        equal = tuple(Call("=", (self._node, member.node)) for member in members)
        return Expression(equal[0] if len(equal) == 1 else Call("or", equal))

    # Boolean logic

    def __and__(self, other: ExpressionOrValue) -> Expression:
        return _connect("and", self, other)

    def __rand__(self, other: ExpressionOrValue) -> Expression:
        return _connect("and", other, self)

    def __or__(self, other: ExpressionOrValue) -> Expression:
        return _connect("or", self, other)

    def __ror__(self, other: ExpressionOrValue) -> Expression:
        return _connect("or", other, self)

    def __xor__(self, other: ExpressionOrValue) -> Expression:
        return _call("!=", self, other)

    def __invert__(self) -> Expression:
        return _call("not", self)

    def not_(self) -> Expression:
        """The same as ``~``."""
        return ~self

    def __bool__(self) -> NoReturn:
        raise RelationError(
            f"{self!r} has no truth value before it meets a row; combine conditions with & | ~ and parentheses "
            "instead of and, or, not, chained comparisons or if: (col('a') > 1) & (col('b') < 2)"
        )

    def __iter__(self) -> NoReturn:
        raise RelationError(f"{self!r} is one expression, not a list of them; put it in [ ]")

    # NULL

    def is_null(self) -> Expression:
        """Whether it is NULL; never NULL itself."""
        return _call("is_null", self)

    def is_not_null(self) -> Expression:
        """Whether it is anything but NULL."""
        return ~self.is_null()

    def fill_null(self, value: ExpressionOrValue) -> Expression:
        """The value in place of NULL."""
        return _call("coalesce", self, value)

    def null_if(self, value: ExpressionOrValue) -> Expression:
        """NULL where it equals the value, else unchanged."""
        return _call("nullif", self, value)

    # Types and functions

    def cast(self, to: TypeLike) -> Expression:
        """Converted to another type; a value that has no counterpart there is an error of its row."""
        return Expression(Cast(self._node, sql_type(to)), self._alias)

    def map_batches(self, function: Callable[[Any], Any], returns: TypeLike) -> Expression:
        """A Python function of the whole column: from a ``pyarrow.Array`` to one as long, of type ``returns``."""
        from .user_functions import udf

        return udf(returns, vectorized=True)(function)(self)

    def map_elements(self, function: Callable[[Any], Any], returns: TypeLike) -> Expression:
        """A Python function of each value; NULL stays NULL without a call."""
        from .user_functions import udf

        return udf(returns)(function)(self)

    @property
    def str(self) -> StringNamespace:
        """Functions of text: ``col("name").str.to_uppercase()``."""
        from .strings import StringNamespace

        return StringNamespace(self)

    @property
    def dt(self) -> DateNamespace:
        """Functions of dates and timestamps: ``col("at").dt.year()``."""
        from .dates import DateNamespace

        return DateNamespace(self)

    # Aggregates

    def _aggregate(self, function: str_, distinct: bool = False, *parameters: Value) -> Expression:
        constants = tuple(Constant(parameter, sql_type_of_value(parameter)) for parameter in parameters)
        return Expression(Aggregation(function, self._node, distinct, constants), self._alias)

    def count(self) -> Expression:
        """How many rows of the group have a value here (not NULL)."""
        return self._aggregate("count")

    def null_count(self) -> Expression:
        """How many rows of the group have no value here (NULL)."""
        return Expression(Call("-", (Aggregation("count", None), Aggregation("count", self._node))), self.output_name)

    def n_unique(self) -> Expression:
        """How many different values the group has, NULL not counted."""
        return self._aggregate("count", True)

    def count_distinct(self) -> Expression:
        """The same as :meth:`n_unique`."""
        return self.n_unique()

    def sum(self) -> Expression:
        """The sum, NULLs left out; NULL when there is nothing to add up. Of a condition, how often it is true."""
        return self._aggregate("sum")

    def min(self) -> Expression:
        """The least value."""
        return self._aggregate("min")

    def max(self) -> Expression:
        """The greatest value."""
        return self._aggregate("max")

    def mean(self) -> Expression:
        """The average. Of a condition, the share of rows for which it is true."""
        return self._aggregate("avg")

    def avg(self) -> Expression:
        """The same as :meth:`mean`."""
        return self.mean()

    def any(self) -> Expression:
        """Whether it is true for some row of the group."""
        return self._aggregate("any")

    def all(self) -> Expression:
        """Whether it is true for every row of the group that has a value."""
        return self._aggregate("all")

    def string_agg(self, separator: str_ = ",") -> Expression:
        """The texts of the group in their order, joined."""
        return self._aggregate("string_agg", False, separator)

    def median(self) -> Expression:
        """The middle value, as a double."""
        return self._aggregate("median")

    def percentile(self, fraction: float) -> Expression:
        """The value below which this fraction (0 … 1) of the group lies, interpolated, as a double."""
        if not isinstance(fraction, int | float) or not 0 <= fraction <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"percentile takes a fraction from 0 to 1, and {fraction!r} was given")
        return self._aggregate("percentile", False, float(fraction))

    def quantile(self, fraction: float) -> Expression:
        """The same as :meth:`percentile`."""
        return self.percentile(fraction)

    def var(self) -> Expression:
        """The sample variance."""
        return self._aggregate("variance")

    def std(self) -> Expression:
        """The sample standard deviation."""
        return self._aggregate("stddev")


str_ = str  # inside the class body ``str`` is the namespace of text functions

ExpressionOrValue = Expression | Value
"""An expression, or a value that stands for itself."""


def as_expression(given: object) -> Expression:
    """The expression that a value or an expression is.

    Raises:
        RelationError: it is neither.
    """
    if isinstance(given, Expression):
        return given
    if given is None or sql_type_of_value(given) is not None:
        return Expression(Constant(given))  # type: ignore[arg-type]
    item = getattr(given, "item", None)
    if item is not None and getattr(given, "ndim", None) == 0:
        return as_expression(item())
    if isinstance(given, datetime.timedelta):
        raise RelationError(
            f"{given!r} has no type here: move a timestamp with col('at').dt.offset_by(hours=1), and compare the "
            "difference of two, which is a number of days: col('end') - col('start') > 1 / 24"
        )
    raise RelationError(
        f"{given!r} ({given.__class__.__name__}) is neither an expression nor a value; use col(…) for a column, or a "
        "bool, int, float, Decimal, str, bytes, date, datetime or None"
    )


def as_column(given: object) -> Expression:
    """The expression that a column name or an expression is, where a text names a column."""
    return Expression(ColumnName(given)) if isinstance(given, str) else as_expression(given)


def _call(function: str, *arguments: object) -> Expression:
    return Expression(Call(function, tuple(as_expression(argument).node for argument in arguments)))


def _connect(function: str, left: object, right: object) -> Expression:
    """``a & b & c`` as one call, so that long chains do not nest."""
    parts: list[Node] = []
    for side in (as_expression(left).node, as_expression(right).node):
        parts.extend(side.arguments if isinstance(side, Call) and side.function == function else (side,))
    return Expression(Call(function, tuple(parts)))
