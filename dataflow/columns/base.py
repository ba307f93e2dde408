"""What every column is: an immutable vector of values of one SQL type."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...messages.scalars import Value
from ...messages.types import SqlType
from .hashing import Hashes

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Codes = npt.NDArray[np.uint64]

DTYPES: dict[SqlType, np.dtype[Any]] = {
    SqlType.BOOLEAN: np.dtype(np.bool_),
    SqlType.SMALLINT: np.dtype(np.int16),
    SqlType.INTEGER: np.dtype(np.int32),
    SqlType.BIGINT: np.dtype(np.int64),
    SqlType.REAL: np.dtype(np.float32),
    SqlType.DOUBLE: np.dtype(np.float64),
    SqlType.DATE: np.dtype(np.int32),
    SqlType.TIMESTAMP: np.dtype(np.int64),
}
"""The types kept in NumPy: dates as days and timestamps as microseconds since 1970-01-01."""


class Column(abc.ABC):
    """A vector of values of one SQL type, NULLs included."""

    __slots__ = ("type",)
    type: SqlType

    @abc.abstractmethod
    def __len__(self) -> int: ...

    @abc.abstractmethod
    def take(self, indices: Indices) -> Column:
        """The values at these positions, in this order."""

    @abc.abstractmethod
    def filter(self, mask: Mask) -> Column:
        """The values where the mask is true."""

    @abc.abstractmethod
    def slice(self, start: int, stop: int) -> Column:
        """The values from ``start`` up to ``stop``, sharing memory."""

    @abc.abstractmethod
    def owned(self) -> Column:
        """The same values, in memory that is not part of something larger: for who keeps a few rows and must not keep
        everything that they lie in."""

    @abc.abstractmethod
    def validity(self) -> Mask | None:
        """True where the value is not NULL; None when no value is NULL."""

    @abc.abstractmethod
    def hashes(self) -> Hashes:
        """A fresh array of one hash per value (see ``hashing.py``)."""

    def hash_numbers(self) -> list[int]:
        """The same hashes as Python's integers: for ``hashing.FEW`` values or less."""
        return self.hashes().tolist()

    @abc.abstractmethod
    def equal(self, other: Column) -> Mask:
        """Row-wise equality as in grouping: NULL equals NULL, NaN equals NaN. Both columns have one type."""

    def equal_one(self, one: Column) -> Mask:
        """Where the value equals the only one of another column, as in grouping."""
        return self.equal(one.take(np.zeros(len(self), np.intp)))

    def equal_halves(self) -> Mask:
        """Whether each value of the first half equals the one at its place in the second, as in grouping."""
        half = len(self) // 2
        return self.slice(0, half).equal(self.slice(half, 2 * half))

    @abc.abstractmethod
    def sort_codes(self) -> Codes:
        """Numbers that order like the values *within this column*; NaN is the greatest, NULL has any code."""

    @abc.abstractmethod
    def to_arrow(self) -> pa.Array:
        """The values as an Arrow array of ``type.arrow``."""

    @abc.abstractmethod
    def to_values(self) -> list[Value]:
        """The values at the Python surface."""

    def values_between(self, start: int, stop: int) -> list[Value]:
        """The values at these positions, at the Python surface."""
        return self.slice(start, stop).to_values()

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """Bytes of memory this column keeps alive, without what it shares as a constant."""
