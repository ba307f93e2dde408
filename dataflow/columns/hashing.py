"""Deterministic 64-bit hashes of values and rows.

Invariant: a hash is a function of the value alone (the same in every process), and values that compare equal in
grouping hash equally: ``0.0`` and ``-0.0``, every NaN, every NULL, an integer in any width. The upper bits are the
good ones: arrangements order rows by the upper half. Collisions are expected; whoever matches by hash compares the
columns afterwards (``grouping.py``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .pieces import repeat

Hashes = npt.NDArray[np.uint64]

# Odd constants with well spread bits (the multipliers of MurmurHash3's and SplitMix64's finalizers).
_MULTIPLY_1 = np.uint64(0xFF51AFD7ED558CCD)
_MULTIPLY_2 = np.uint64(0xC4CEB9FE1A85EC53)
_COMBINE = np.uint64(0x9E3779B97F4A7C15)
_INT_MULTIPLY_1, _INT_MULTIPLY_2, _INT_COMBINE = int(_MULTIPLY_1), int(_MULTIPLY_2), int(_COMBINE)
_MASK = 2**64 - 1
_HALF = np.uint64(32)

FEW = 4
"""So many rows are hashed one by one, by Python's integers: that takes a third of the time of NumPy's calls, and a tick
of one row hashes some ten times."""

NULL_HASH = np.uint64(0x6A09E667F3BCC909)
EMPTY_HASH = np.uint64(0x510E527FADE682D1)
"""The hash of a row without columns: the empty key."""

_WORDWISE_LIMIT = 256
"""Strings up to so many bytes are hashed eight bytes at a time, all rows at once."""


def mix(bits: Hashes) -> Hashes:
    """Spread 64 input bits over the upper half of the result; overwrites and returns ``bits``."""
    bits *= _MULTIPLY_1
    bits ^= bits >> _HALF
    bits *= _MULTIPLY_2
    return bits


def combine(accumulated: Hashes, hashes: Hashes) -> Hashes:
    """The hash of a row from the hash of its first columns and the hashes of its next one."""
    result = accumulated * _COMBINE
    result += hashes
    result ^= result >> _HALF
    result *= _MULTIPLY_2
    return result


def mix_number(number: int) -> int:
    """:func:`mix` of one number (its low 64 bits)."""
    number = number * _INT_MULTIPLY_1 & _MASK
    return (number ^ number >> 32) * _INT_MULTIPLY_2 & _MASK


def combine_numbers(accumulated: int, number: int) -> int:
    """:func:`combine` of one row."""
    number = accumulated * _INT_COMBINE + number & _MASK
    return (number ^ number >> 32) * _INT_MULTIPLY_2 & _MASK


def hash_bytes(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Hashes:
    """Hash n strings given n + 1 offsets into their bytes.

    Every round takes the next eight bytes of all rows that still have some, so the number of NumPy calls depends on
    the longest string and not on the number of rows; the few strings beyond 256 bytes go byte-wise, by a polynomial.
    """
    starts = offsets[:-1]
    lengths = offsets[1:] - starts
    result = mix(lengths.astype(np.uint64) + EMPTY_HASH)
    if not len(lengths):
        return result
    longest = int(lengths.max())
    if longest == 0:
        return result
    if longest > _WORDWISE_LIMIT:
        long_rows = (lengths > _WORDWISE_LIMIT).nonzero()[0]
        result[long_rows] = _hash_long(starts[long_rows], lengths[long_rows], data)
        lengths = np.where(lengths > _WORDWISE_LIMIT, 0, lengths)
        longest = int(lengths.max())
    # A view of the bytes as overlapping little-endian words, one at every byte; the copy gives the last ones room.
    end = int(offsets[-1])
    padded = np.zeros(end + 8, np.uint8)
    padded[:end] = data[:end]
    words = np.ndarray((end + 1,), "<u8", buffer=padded.data, strides=(1,))
    for position in range(0, longest, 8):
        rows = (lengths > position).nonzero()[0] if position else lengths.nonzero()[0]
        everyone = len(rows) == len(lengths)
        at = starts + position if everyone else starts[rows] + position
        word = words[at]
        left = (lengths if everyone else lengths[rows]) - position
        excess = np.clip(8 - left, 0, 7).astype(np.uint64) << np.uint64(3)
        word = mix((word << excess) >> excess)
        if everyone:
            result = combine(result, word)
        else:
            result[rows] = combine(result[rows], word)
    return result


def hash_string(string: bytes) -> int:
    """The same hash of one string."""
    if len(string) > _WORDWISE_LIMIT:
        return int(hash_bytes(np.array((0, len(string))), np.frombuffer(string, np.uint8))[0])
    result = mix_number(len(string) + int(EMPTY_HASH))
    for position in range(0, len(string), 8):
        word = int.from_bytes(string[position : position + 8], "little")
        result = combine_numbers(result, mix_number(word))
    return result


def _hash_long(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Hashes:
    """A polynomial over the bytes, modulo 2**64, for strings of any length (none empty)."""
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    positions = np.arange(int(lengths.sum())) - repeat(begins, lengths)
    characters = data[repeat(starts, lengths) + positions].astype(np.uint64) + np.uint64(1)
    powers = np.full(int(lengths.max()), _COMBINE, np.uint64)
    np.multiply.accumulate(powers, out=powers)
    sums = np.add.reduceat(characters * powers[positions], begins)
    return combine(mix(lengths.astype(np.uint64) + EMPTY_HASH), mix(sums))
