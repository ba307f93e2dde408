"""Which class maintains which aggregate."""

from __future__ import annotations

from ....messages.relations import Aggregate
from ....messages.types import SqlType
from .accumulator import Accumulator
from .counts import Count, Truth
from .float_sums import FloatAverage, FloatSum
from .integer_sums import IntegerAverage, IntegerSum


def make_accumulator(aggregate: Aggregate, type: SqlType | None, *, apart: bool) -> Accumulator:
    """The accumulator of an accumulable aggregate.

    Args:
        type: of its input; None for ``count(*)``.
        apart: it is fed other rows than its group consists of.
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
            raise ValueError(f"{function} is not an accumulable aggregate")
