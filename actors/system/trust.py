"""Python functions in what an application asks for, and whether its replica runs them."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ...messages.errors import UntrustedFunctionError
from ...messages.scalars import UserFunction
from ..transport.line import Line


def check_trust(line: Line | None, asked: object) -> None:
    """Check a relation, or scalars, that a replica is to compute. ``line``: to it, when it is in another process.

    Raises:
        UntrustedFunctionError: there is a Python function in it, and the replica was told to trust nobody.
    """
    if line is None or line.replica is None or line.replica.trust:
        return
    rest: list[object] = [asked]
    while rest:
        each = rest.pop()
        if isinstance(each, UserFunction):
            raise UntrustedFunctionError(each.name)
        if isinstance(each, msgspec.Struct):
            rest += [getattr(each, field) for field in each.__struct_fields__]
        elif isinstance(each, tuple):
            rest += cast(tuple[Any, ...], each)
