"""Sums that do not depend on the order in which they are added up.

A float is an integer times a power of two. Sums are kept as integers: digits of 32 bits, the
highest with its sign in 64, so that adding them is associative. Merging shards in any order then
gives the same bits; integers need one digit, and losses of rows three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Digits = NDArray[np.int64]

_BITS = 32
_HALF = np.int64(2 ** (_BITS - 1))
# Exponent of two from which on a number, or a highest digit, gets one more digit.
_LARGE = 61


@dataclass(frozen=True, eq=False)
class ExactSums:
    """An array of sums.

    Attributes
    ----------
    digits : ndarray of shape (n_digits, n_rows, n_columns)
        The sum over digits of ``digits[k] * 2 ** (32 * (lowest + k))``; all but the last are from
        -2**31 to 2**31 - 1, so that a small negative number has small digits.
    lowest : int
        Power of the first digit, 0 or below.
    """

    digits: Digits
    lowest: int = 0

    @classmethod
    def zeros(cls, n_rows: int, n_columns: int) -> Self:
        """Return sums of nothing."""
        return cls(np.zeros((1, n_rows, n_columns), dtype=np.int64))

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return finite numbers, (n_rows, n_columns), integers or floats, as sums."""
        if values.dtype.kind in "iu":
            return cls(values.astype(np.int64, copy=False)[None])
        rest = np.array(values, dtype=np.float64)
        exponent = int(np.frexp(np.abs(rest).max(initial=0.0))[1])
        power = max(0, -(-(exponent - _LARGE) // _BITS))
        found = []
        while power >= 0 or rest.any():
            digit = np.trunc(np.ldexp(rest, -_BITS * power))
            rest -= np.ldexp(digit, _BITS * power)
            found.append(digit.astype(np.int64))
            power -= 1
        return cls(np.array(found[::-1]), power + 1)._normal()

    def __add__(self, other: ExactSums) -> ExactSums:
        """Return the sums of both."""
        lowest = min(self.lowest, other.lowest)
        highest = max(one.lowest + len(one.digits) for one in (self, other))
        total = np.zeros((highest - lowest, *self.digits.shape[1:]), dtype=np.int64)
        for one in (self, other):
            start = one.lowest - lowest
            total[start : start + len(one.digits)] += one.digits
        return ExactSums(total, lowest)._normal()

    def _normal(self) -> Self:
        """Return the same sums with the digits in their range, in as few as possible."""
        if len(self.digits) == 1 and self.lowest == 0 and not _is_large(self.digits[0]):
            return self
        digits = list(self.digits)
        for k in range(len(digits) - 1):
            digits[k], carried = _carried(digits[k])
            digits[k + 1] = digits[k + 1] + carried
        while _is_large(digits[-1]):
            digits[-1], carried = _carried(digits[-1])
            digits.append(carried)
        lowest = self.lowest
        while lowest < 0 and not digits[0].any():
            digits, lowest = digits[1:], lowest + 1
        return type(self)(np.array(digits), lowest)

    def placed(self, rows: NDArray[np.intp], n_rows: int) -> ExactSums:
        """Return ``n_rows`` sums, those of ``self`` added up at the given rows, the others 0."""
        if n_rows == len(rows) and np.array_equal(rows, np.arange(n_rows)):
            return self
        digits = np.zeros((len(self.digits), n_rows, self.digits.shape[2]), dtype=np.int64)
        if len(np.unique(rows)) == len(rows):
            digits[:, rows] = self.digits
        else:
            # Fewer than 2**31 digits below 2**32 fit a digit of 64 bits.
            np.add.at(digits.swapaxes(0, 1), rows, self.digits.swapaxes(0, 1))
        return ExactSums(digits, self.lowest)._normal()

    def values(self, columns: slice = slice(None)) -> NDArray[np.float64]:
        """Return the sums as floats, (n_rows, n_columns); those of some columns alone."""
        digits = self.digits[:, :, columns]
        total = np.zeros(digits.shape[1:])
        for power, digit in enumerate(digits, self.lowest):
            total += np.ldexp(digit.astype(np.float64), _BITS * power)
        return total


def _is_large(digit: Digits) -> bool:
    """Whether a highest digit needs one more."""
    largest = max(int(digit.max(initial=0)), -int(digit.min(initial=0)))
    return bool(largest >> _LARGE)


def _carried(digit: Digits) -> tuple[Digits, Digits]:
    """Return the part of a digit that is in its range, and what goes to the next one."""
    carried = (digit + _HALF) >> _BITS
    return digit - (carried << _BITS), carried
