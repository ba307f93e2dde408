"""Exact sums as digits to the base 2**32 ("limbs"), in the manner of a superaccumulator (Kulisch; Neal 2015).

An array of limbs has shape ``(limbs, n)``, the least significant first: column i stands for
``sum(limbs[j, i] * 2**(32 * j))``. Limbs are int64 and may leave their 32 bits while numbers are added up;
*carried* limbs are below 2**32 and not negative, except the last, which has the sign.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Limbs = npt.NDArray[np.int64]

BITS = 32
BASE = 1 << BITS
_MASK = np.int64(BASE - 1)
_FEW = 8
"""So few numbers are converted one by one: the vectorized way takes some forty calls however few they are."""
_EXACT_BITS = 512
"""More than a double's, and few enough not to overflow it."""
_WORD_BITS = np.uint64(BITS)


def carry(limbs: Limbs) -> None:
    """Carry in place; the last limb takes what is left."""
    for lower, upper in pairwise(limbs):
        upper += lower >> BITS
        lower &= _MASK


def split_integers(values: npt.NDArray[np.int64], count: int) -> Limbs:
    """Carried limbs of 64-bit numbers; ``count >= 3``."""
    limbs = np.zeros((count, len(values)), np.int64)
    limbs[0] = values & _MASK
    limbs[1] = (values >> BITS) & _MASK
    limbs[2:] = values >> 63
    limbs[2:-1] &= _MASK
    return limbs


def split_words(words: npt.NDArray[np.uint64], count: int) -> Limbs:
    """Carried limbs of 128-bit numbers ``(n, 2)``, the low word first; ``count >= 5``."""
    limbs = np.zeros((count, len(words)), np.int64)
    low, high = words[:, 0].astype(np.uint64), words[:, 1].astype(np.uint64)
    signed = high.view(np.int64)
    limbs[0] = low.view(np.int64) & _MASK
    limbs[1] = (low >> _WORD_BITS).view(np.int64)
    limbs[2] = signed & _MASK
    limbs[3] = (signed >> BITS) & _MASK
    limbs[4:] = signed >> 63
    limbs[4:-1] &= _MASK
    return limbs


def multiply(limbs: Limbs, factors: npt.NDArray[np.int64], count: int) -> Limbs:
    """Carried limbs of the exact products with any factors, by Python integers: for multiplicities so large that
    nothing else holds the products. ``count`` is enough for them."""
    products = np.concatenate((limbs, np.zeros((count - len(limbs), limbs.shape[1]), np.int64))).astype(object)
    products *= factors.astype(object)
    for lower, upper in pairwise(products):
        upper += lower >> BITS
        lower &= BASE - 1
    return products.astype(np.int64)


def fits_integer(limbs: Limbs) -> npt.NDArray[np.bool_]:
    """Whether the number of carried limbs (three or more) fits in 64 bits."""
    sign = limbs[-1]
    middle = limbs[1] >> (BITS - 1)
    fits = (sign == 0) & (middle == 0)
    negative = (sign == -1) & (middle == 1)
    for limb in limbs[2:-1]:
        fits &= limb == 0
        negative &= limb == _MASK
    return fits | negative


def join_integers(limbs: Limbs) -> npt.NDArray[np.int64]:
    """The low 64 bits of carried limbs."""
    return limbs[0] | (limbs[1] << BITS)


def join_words(limbs: Limbs) -> npt.NDArray[np.uint64]:
    """The low 128 bits of five or more carried limbs, as ``(n, 2)`` words."""
    words = np.empty((limbs.shape[1], 2), np.uint64)
    words[:, 0] = join_integers(limbs).view(np.uint64)
    words[:, 1] = join_integers(limbs[2:]).view(np.uint64)
    return words


def to_python(limbs: Limbs) -> list[int]:
    """The numbers as Python integers."""
    totals: list[int] = [0] * limbs.shape[1]
    for limb in limbs[::-1].tolist():
        totals = [(total << BITS) + digit for total, digit in zip(totals, limb, strict=True)]
    return totals


def _to_double(number: int, exponent: int) -> float:
    # Both conversions round to nearest. Only one of them ever has to: what is small enough to lose bits as a
    # denormal number has no more than 53 of them.
    excess = max(0, number.bit_length() - _EXACT_BITS)
    if excess:
        # All that rounding needs of the bits below these is whether there are any.
        rest = number & ((1 << excess) - 1)
        number = (number >> excess) | (rest != 0)
    try:
        return math.ldexp(number, BITS * exponent + excess)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def to_doubles(limbs: Limbs, exponent: int) -> npt.NDArray[np.float64]:
    """The numbers times ``2**(32 * exponent)``, each rounded once, to the nearest double (ties to even); infinite
    beyond the range of doubles."""
    size = int(limbs.shape[1])
    if size <= _FEW:
        return np.array([_to_double(number, exponent) for number in to_python(limbs)], np.float64)
    limbs = limbs.copy()
    carry(limbs)
    negative = limbs[-1] < 0
    if negative.any():
        limbs *= np.where(negative, -1, 1)
        carry(limbs)
    # Three zero limbs below stand for "nothing more"; the last limb may have outgrown its bits.
    digits = np.zeros((len(limbs) + 4, size), np.int64)
    digits[3:-1] = limbs
    digits[-1] = limbs[-1] >> BITS
    digits[-2] &= _MASK
    lead = np.full(size, 3)
    for place in range(4, len(digits)):
        lead[digits[place] != 0] = place
    flat = digits.reshape(-1)
    places: npt.NDArray[np.int64] = lead * size + np.arange(size)
    high, middle, low = (flat[places - i * size].view(np.uint64) for i in range(3))
    shift = BITS - np.frexp(high.astype(np.float64))[1]
    unsigned = shift.astype(np.uint64)
    top = ((high << _WORD_BITS) | middle) << unsigned
    low <<= unsigned
    top |= low >> _WORD_BITS
    # Whatever lies below these 64 bits matters to rounding only by being there.
    rest = (low & np.uint64(BASE - 1)) != 0
    for place in range(3, len(digits) - 3):
        rest |= (digits[place] != 0) & (lead - 2 > place)
    top |= rest
    with np.errstate(over="ignore"):
        result = np.ldexp(top.astype(np.float64), BITS * (exponent + lead - 4) - shift)
    np.negative(result, out=result, where=negative)
    return result
