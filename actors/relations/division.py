"""Division that rounds down, as Python and Polars do it, from SQL's, which rounds towards zero."""

from __future__ import annotations

from ...messages.scalars import Call, If, Literal, Scalar
from ...messages.types import SqlType


def floor_modulo(left: Scalar, right: Scalar, type: SqlType) -> Scalar:
    """What is left over, with the divisor's sign: SQL's remainder, plus the divisor where the signs differ."""
    zero = Literal.of(0, type)
    remainder = Call("%", (left, right))
    if isinstance(right, Literal) and right.raw is not None and right.value > 0:  # type: ignore[operator]
        differs: Scalar = Call("<", (remainder, zero))
    else:
        signs = Call("!=", (Call("<", (remainder, zero)), Call("<", (right, zero))))
        differs = Call("and", (Call("!=", (remainder, zero)), signs))
    return If(differs, Call("+", (remainder, right)), remainder)


def floor_divide(left: Scalar, right: Scalar, type: SqlType) -> Scalar:
    """The quotient rounded down: dividing what is a multiple of the divisor is exact."""
    if type.is_float:
        return Call("floor", (Call("/", (left, right)),))
    return Call("/", (Call("-", (left, floor_modulo(left, right, type))), right))
