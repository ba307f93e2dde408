"""Which class maintains which aggregate."""

from __future__ import annotations

from ....messages.functions import load_function
from ....messages.plans import AggregateKind, PlannedAggregate
from ....messages.relations import Aggregate
from ....messages.types import SqlType
from .accumulator import Accumulator
from .counts import Count, Truth
from .float_sums import FloatAverage, FloatSum
from .integer_sums import IntegerAverage, IntegerSum
from .readers import Extreme, Joined, Percentile, Reader, Spread, UserAggregate

_SPREADS = {
    "variance": Spread(population=False, root=False),
    "variance_pop": Spread(population=True, root=False),
    "stddev": Spread(population=False, root=True),
    "stddev_pop": Spread(population=True, root=True),
}


def is_accumulable(planned: PlannedAggregate) -> bool:
    """Whether an aggregate is kept as sums, and not read off its group's ordered values."""
    return planned.kind is AggregateKind.ACCUMULABLE


def make_accumulator(aggregate: Aggregate, type: SqlType | None, *, apart: bool) -> Accumulator:
    """The accumulator of an accumulable aggregate.

    Args:
        type: of its input; None for ``count(*)``.
        apart: it is fed other rows than its group consists of.

    Raises:
        ValueError: there is no such aggregate.
    """
    match aggregate.function:
        case "count":
            return Count(apart=apart)
        case "any" | "all":
            return Truth(every=aggregate.function == "all", apart=apart)
        case "sum":
            assert type is not None
            return FloatSum(apart=apart) if type.is_float else IntegerSum(type, apart=apart)
        case "avg":
            assert type is not None
            return FloatAverage(apart=apart) if type.is_float else IntegerAverage(type, apart=apart)
        case function:
            raise ValueError(f"{function} is not an aggregate that is kept as sums")


def make_reader(aggregate: Aggregate, type: SqlType, *, trust: bool) -> Reader:
    """The reader of an aggregate that is read off ordered values.

    Raises:
        UserFunctionError: a user function cannot be loaded, or senders are not trusted.
        ValueError: there is no such aggregate.
    """
    if aggregate.user is not None:
        return UserAggregate(aggregate.user, load_function(aggregate.user, trust=trust))
    match aggregate.function:
        case "min" | "max":
            return Extreme(type, greatest=aggregate.function == "max")
        case "median":
            return Percentile(0.5)
        case "percentile":
            return Percentile(float(str(aggregate.parameters[0].value)))
        case "string_agg":
            return Joined(str(aggregate.parameters[0].value))
        case function if function in _SPREADS:
            return _SPREADS[function]
        case function:
            raise ValueError(f"{function} is not an aggregate that is read off its group")
