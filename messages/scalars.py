"""Scalar expressions: what one row computes. Immutable values; evaluation is in ``dataflow``.

NULL follows SQL (three-valued logic; a function of NULL is NULL unless its table entry says otherwise). A row whose
expression fails becomes an error of the dataflow; the other rows go on.
"""

from __future__ import annotations

from .literals import Raw, Value, check_raw, from_raw, to_raw
from .structs import Message, Natural
from .types import ColumnType, SqlType


class ScalarStruct(Message, frozen=True, tag=True, tag_field="tag", omit_defaults=True):
    """Base of every scalar expression: immutable, hashable, tagged with its class name on the wire."""


class ColumnRef(ScalarStruct, frozen=True, tag="column", tag_field="tag"):
    """The input column at this position, from 0. Printed ``#n``."""

    index: Natural


class Literal(ScalarStruct, frozen=True, tag="literal", tag_field="tag"):
    """A constant. ``raw`` is the value as the wire carries it; build one with :meth:`of`, read it with :attr:`value`.

    Raises:
        ValueError: ``raw`` is not how a value of this type travels.
    """

    raw: Raw
    type: SqlType

    def __post_init__(self) -> None:
        check_raw(self.raw, self.type)

    @classmethod
    def of(cls, value: Value, type: SqlType) -> Literal:
        """A literal of this type.

        Raises:
            TypeError: the value is not one of this type.
            ValueError: it is out of the type's range.
        """
        return cls(to_raw(value, type), type)

    @property
    def value(self) -> Value:
        return from_raw(self.raw, self.type)


class LiteralError(ScalarStruct, frozen=True, tag="error", tag_field="tag"):
    """An expression that always fails with this message. Printed ``error("…")``."""

    message: str


class Call(ScalarStruct, frozen=True, tag="call", tag_field="tag"):
    """A built-in function by name: operators (``+ - * / % = != < <= > >= and or not is_null``), ``coalesce``,
    text and date functions. The table of functions, their types and their NULL rules is in
    ``dataflow/scalars/functions.py``."""

    function: str
    arguments: tuple[Scalar, ...]


class Cast(ScalarStruct, frozen=True, tag="cast", tag_field="tag"):
    """Conversion to another type; a value that has no counterpart is an error of its row."""

    input: Scalar
    type: SqlType


class If(ScalarStruct, frozen=True, tag="if", tag_field="tag"):
    """``case when condition then … else … end``. A branch that is not taken raises no error."""

    condition: Scalar
    then: Scalar
    otherwise: Scalar


class UserFunction(Message, frozen=True):
    """A Python callable, carried by cloudpickle and never decoded unless the receiver was told to trust it.

    It takes one ``pyarrow.Array`` per argument and returns an array of the same length and of ``result`` type.
    For a table function or an aggregate the contract is stated where it is used.
    """

    name: str
    result: ColumnType
    pickled: bytes


class CallUser(ScalarStruct, frozen=True, tag="call_user", tag_field="tag"):
    """A user function applied to columns."""

    function: UserFunction
    arguments: tuple[Scalar, ...]


Scalar = ColumnRef | Literal | LiteralError | Call | Cast | If | CallUser
