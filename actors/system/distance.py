"""Whether a replica in another process can be asked for something: whether it travels, and whether the replica runs
the Python functions in it."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ...messages.encoding import encode
from ...messages.errors import UntrustedFunctionError
from ...messages.scalars import UserFunction
from ..transport.codec import check_size
from ..transport.line import Line


def check_remote(line: Line | None, asked: object) -> None:
    """Check a relation, or scalars, that a replica is to compute. ``line``: to it, when it is in another process.

    Raises:
        EncodeError, FrameError: it does not travel: it is nested too deeply, or too large.
        UntrustedFunctionError: there is a Python function in it, and the replica was told to trust nobody.
    """
    if line is None or line.replica is None:
        return
    check_size(len(encode(asked)), line.replica.message_limit)
    if line.replica.trust:
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
