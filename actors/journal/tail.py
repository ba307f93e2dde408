"""The end of a journal file after a crash: what SQLite recovers of it, and what it would pass over in silence.

A file that was being written consists of a database and a write-ahead log. SQLite takes the log up to its last whole
transaction, and drops what follows: the beginning of a transaction that a crash cut short or, where bytes were changed,
transactions that were whole. Here what it would drop is counted, before it does.

The format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import sqlite3
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_HEADER = 32
_FRAME_HEADER = 24
_BIG_ENDIAN = 0x377F0683
_LITTLE_ENDIAN = 0x377F0682
_PAGE = 4096
"""What we write."""

Sums = tuple[int, int]
Coefficients = npt.NDArray[np.uint32]


class Tail(NamedTuple):
    """What would be dropped at the end of a file.

    Attributes:
        bytes: how many.
        transactions: how many whole ones are among them; the end of a process leaves none.
    """

    bytes: int
    transactions: int


def tail_of(path: Path) -> Tail:
    """What would be dropped of a file that nobody has open. Changes nothing.

    Raises:
        OSError: it cannot be read.
    """
    try:
        data = path.with_name(path.name + "-wal").read_bytes()
    except FileNotFoundError:
        return Tail(0, 0)
    return _tail(data)


def settle(path: Path) -> bool:
    """Recover a file that nobody has open, so that it consists of the database alone. Whether anything was ever written
    into it.

    Raises:
        sqlite3.Error: it is no database, or is damaged.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    finally:
        connection.close()
    return tables > 0


def _tail(data: bytes) -> Tail:
    if len(data) <= _HEADER:
        return Tail(0, 0)
    magic, _, page = struct.unpack_from(">III", data)
    sums, words = _add((0, 0), data[:24], ">u4" if magic == _BIG_ENDIAN else "<u4"), magic
    valid = magic in (_BIG_ENDIAN, _LITTLE_ENDIAN) and sums == struct.unpack_from(">II", data, 24)
    page = page if valid else _PAGE
    size = _FRAME_HEADER + page
    # The frames of an earlier use of the file, beyond the end of this one, have other salts.
    salts = data[16:24] if valid else data[_HEADER + 8 : _HEADER + 16]
    committed = end = _HEADER
    commits: list[int] = []
    for begin in range(_HEADER, len(data), size):
        frame = data[begin : begin + size]
        whole = len(frame) == size
        if whole and frame[8:16] != salts and not _is_ours(data, begin, size, salts):
            break
        end = begin + len(frame)
        is_commit = whole and frame[4:8] != b"\0\0\0\0"
        if valid and whole:
            sums = _add(sums, frame[:8] + frame[_FRAME_HEADER:], ">u4" if words == _BIG_ENDIAN else "<u4")
            valid = frame[8:16] == salts and sums == struct.unpack_from(">II", frame, 16)
            if valid and is_commit:
                committed = end
        if is_commit:
            commits.append(end)
    return Tail(end - committed, sum(commit > committed for commit in commits))


def _is_ours(data: bytes, begin: int, size: int, salts: bytes) -> bool:
    """Whether frames of this use of the file follow, so that one with other salts is damaged."""
    return any(data[next + 8 : next + 16] == salts for next in range(begin + size, len(data) - size + 1, size))


def _add(sums: Sums, data: bytes, words: str) -> Sums:
    """SQLite's checksum: for each two words, ``s0 += first + s1; s1 += second + s0``, in 32 bits. As a sum in which
    each word has a Fibonacci number as its coefficient, because a loop would take a second for some megabytes."""
    pairs: Any = np.frombuffer(data, words).astype(np.uint32).reshape(-1, 2)
    count = len(pairs)
    s0, s1 = np.uint32(sums[0]), np.uint32(sums[1])
    even, odd, above = _fibonacci(count)
    first, second = pairs[:, 0], pairs[:, 1]
    with np.errstate(over="ignore"):
        t0 = (odd[1:] * first + even[1:] * second).sum(dtype=np.uint32) + (odd[0] - even[0]) * s0 + even[0] * s1
        t1 = (above[1:] * first + odd[1:] * second).sum(dtype=np.uint32) + even[0] * s0 + odd[0] * s1
    return int(t0), int(t1)


@lru_cache(maxsize=8)
def _fibonacci(count: int) -> tuple[Coefficients, Coefficients, Coefficients]:
    """The Fibonacci numbers F(2k), F(2k+1) and F(2k+2) for k from ``count`` down to 0, in 32 bits."""
    numbers = [0, 1]
    for _ in range(2 * count + 1):
        numbers.append((numbers[-1] + numbers[-2]) & 0xFFFF_FFFF)
    table = np.array(numbers, np.uint32)
    return table[0 : 2 * count + 1 : 2][::-1], table[1 : 2 * count + 2 : 2][::-1], table[2 : 2 * count + 3 : 2][::-1]
