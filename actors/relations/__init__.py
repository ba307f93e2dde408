"""Relations and expressions: how an application says what it wants to read."""

from .aggregates import (
    all,
    any,
    avg,
    count,
    count_distinct,
    max,
    mean,
    median,
    min,
    n_unique,
    percentile,
    std,
    string_agg,
    sum,
    var,
)
from .errors import ExpressionTypeError, RelationError, UnknownColumnError
from .expressions import Expression
from .functions import coalesce, col, concat, greatest, least, lit, when
from .relation import GroupBy, Relation
from .table_functions import generate_series, split
from .user_functions import udf
from .values import values

__all__ = [
    "Expression",
    "ExpressionTypeError",
    "GroupBy",
    "Relation",
    "RelationError",
    "UnknownColumnError",
    "all",
    "any",
    "avg",
    "coalesce",
    "col",
    "concat",
    "count",
    "count_distinct",
    "generate_series",
    "greatest",
    "least",
    "lit",
    "max",
    "mean",
    "median",
    "min",
    "n_unique",
    "percentile",
    "split",
    "std",
    "string_agg",
    "sum",
    "udf",
    "values",
    "var",
    "when",
]
