"""The Python functions that definitions use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from ...messages.scalars import UserFunction
from .errors import UntrustedFunctions
from .messages import Defined


def functions_in(value: Any) -> Iterator[str]:
    """The names of the functions in a value made of structs and tuples."""
    if isinstance(value, UserFunction):
        yield value.name
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from functions_in(getattr(value, name))
    elif isinstance(value, tuple):
        for each in cast(tuple[Any, ...], value):
            yield from functions_in(each)


def check_trusted(path: Path, definitions: Iterable[Defined], *, trust: bool) -> tuple[str, ...]:
    """The names of all functions that definitions use.

    Raises:
        UntrustedFunctions: there are some, and ``trust`` is false.
    """
    used = {each.info.name: tuple(functions_in((each.info.relation, each.info.key))) for each in definitions}
    functions = tuple(dict.fromkeys(name for names in used.values() for name in names))
    if functions and not trust:
        raise UntrustedFunctions(path, functions, tuple(user for user, names in used.items() if names))
    return functions
