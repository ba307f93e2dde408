"""User functions: what cloudpickle carries comes back only to a receiver that trusts its sender."""

from __future__ import annotations

import pickle
import threading

import pytest

from pillion.messages.encoding import decode, encode
from pillion.messages.errors import UntrustedFunctionError, UserFunctionError
from pillion.messages.functions import load_function, pickle_function
from pillion.messages.scalars import CallUser, ColumnRef, Scalar, UserFunction
from pillion.messages.types import ColumnType, SqlType

BIGINT = ColumnType(SqlType.BIGINT)


def test_a_closure_comes_back() -> None:
    offset = 7

    def add(value: int) -> int:
        return value + offset

    sent = CallUser(pickle_function(add, BIGINT), (ColumnRef(0),))
    received: CallUser = decode(encode(sent), Scalar)
    assert received.function.name == "add"
    assert load_function(received.function, trust=True)(1) == 8


def test_loading_again_gives_the_same_callable() -> None:
    function = pickle_function(lambda value: value, BIGINT)
    assert load_function(function, trust=True) is load_function(function, trust=True)


def test_a_distrustful_receiver_runs_nothing() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return pytest.fail, ("the sender's code ran",)

    function = UserFunction("bomb", BIGINT, pickle.dumps(Bomb()))
    with pytest.raises(UntrustedFunctionError, match="start the receiver with trust=True") as caught:
        load_function(decode(encode(function), UserFunction), trust=False)
    assert caught.value.function == "bomb"


def test_trust_is_asked_for_even_when_loaded_before() -> None:
    function = pickle_function(lambda value: value, BIGINT)
    load_function(function, trust=True)
    with pytest.raises(UntrustedFunctionError):
        load_function(function, trust=False)


@pytest.mark.parametrize("pickled", [b"", b"rubbish", b"\x80\x05."])
def test_bytes_that_are_no_pickle(pickled: bytes) -> None:
    with pytest.raises(UserFunctionError, match="'f': cannot be loaded"):
        load_function(UserFunction("f", BIGINT, pickled), trust=True)


def test_a_pickle_of_something_else() -> None:
    with pytest.raises(UserFunctionError, match="is no function but a list"):
        load_function(UserFunction("f", BIGINT, pickle.dumps([1])), trust=True)


def test_what_cannot_be_pickled_is_refused_where_it_is_sent() -> None:
    lock = threading.Lock()
    with pytest.raises(UserFunctionError, match="'locked': cannot be sent"):
        pickle_function(lambda value: lock, BIGINT, name="locked")


def test_only_callables_are_user_functions() -> None:
    with pytest.raises(TypeError, match="7 is not callable"):
        pickle_function(7, BIGINT)  # type: ignore[arg-type]


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(UntrustedFunctionError("f")))
    assert isinstance(error, UntrustedFunctionError)
    assert error.function == "f"
    assert str(error) == str(UntrustedFunctionError("f"))
