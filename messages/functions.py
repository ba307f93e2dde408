"""User functions: Python callables that travel inside plans, by cloudpickle.

Unpickling runs whatever code the sender put there. A receiver therefore loads a user function only when it was told
to trust its senders; encoding and decoding of messages never load one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, cast

import cloudpickle
import msgspec

from .errors import UntrustedFunctionError, UserFunctionError
from .scalars import UserFunction
from .types import ColumnType

_LOADED = 256
"""How many loaded functions a process keeps."""


def pickle_function(function: Callable[..., Any], result: ColumnType, name: str | None = None) -> UserFunction:
    """Make a callable travel.

    Args:
        function: what is called with Arrow arrays (see :class:`UserFunction`).
        result: the type of what it returns.
        name: how errors and printed plans call it; by default its own name.

    Raises:
        TypeError: ``function`` is not callable.
        UserFunctionError: it refers to something that cannot be pickled.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is not callable, so it is no user function")
    called: str = name or getattr(function, "__name__", type(function).__name__)
    try:
        return UserFunction(called, result, cast(Any, cloudpickle).dumps(function))
    except Exception as error:  # Pickling runs __reduce__ methods, which may raise anything.
        raise UserFunctionError(called, f"cannot be sent, because it cannot be pickled: {error}") from error


def load_function(function: UserFunction, *, trust: bool) -> Callable[..., Any]:
    """The callable in a user function; loading it again is free.

    Raises:
        UntrustedFunctionError: ``trust`` is false.
        UserFunctionError: its bytes are no callable, or loading them failed.
    """
    if not trust:
        raise UntrustedFunctionError(function.name)
    return _load(function.name, function.pickled)


def functions_in(message: Any) -> Iterator[UserFunction]:
    """Every user function in a message, or in whatever is made of structs and tuples. None is loaded."""
    if isinstance(message, UserFunction):
        yield message
    elif isinstance(message, msgspec.Struct):
        for name in message.__struct_fields__:
            yield from functions_in(getattr(message, name))
    elif isinstance(message, tuple | list):
        for each in cast(tuple[Any, ...], message):
            yield from functions_in(each)


@lru_cache(maxsize=_LOADED)
def _load(name: str, pickled: bytes) -> Callable[..., Any]:
    try:
        loaded = pickle.loads(pickled)
    except Exception as error:  # Unpickling runs the sender's code, which may raise anything.
        raise UserFunctionError(name, f"cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(loaded):
        raise UserFunctionError(name, f"is no function but a {type(loaded).__name__}")
    return loaded
