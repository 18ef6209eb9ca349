"""Sums that do not depend on the order in which they are added up.

A float is an integer times a power of two. Sums are kept as integers: digits of 32 bits, the
highest with its sign in up to 64, so that adding them is associative. Merging shards in any order
then gives the same bits; integers need one digit, and losses of rows three.

Sums of scores are large, and a process has those of its rows, of a batch and of both. So digits
take four bytes where all of them fit, and are worked on in eight, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Digits = NDArray[np.int32] | NDArray[np.int64]
# Digits of some rows, the lowest first.
Pieces = list[NDArray[np.int64]]

_BITS = 32
_HALF = np.int64(2 ** (_BITS - 1))
# Exponent of two from which on a number, or a highest digit, gets one more digit.
_LARGE = 61
# Digits of a kind that are worked on at a time: 512 kB, which stay in the cache.
_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class ExactSums:
    """An array of sums.

    Attributes
    ----------
    digits : ndarray of shape (n_digits, n_rows, n_columns)
        The sum over digits of ``digits[k] * 2 ** (32 * (lowest + k))``; all but the last are from
        -2**31 to 2**31 - 1, so that a small negative number has small digits. They are of 32 bits
        if the last are in this range too, else of 64.
    lowest : int
        Power of the first digit, 0 or below.
    """

    digits: Digits
    lowest: int = 0

    @classmethod
    def zeros(cls, n_rows: int, n_columns: int) -> Self:
        """Return sums of nothing."""
        return cls(np.zeros((1, n_rows, n_columns), dtype=np.int32))

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return finite numbers, (n_rows, n_columns), integers or floats, as sums."""
        if values.dtype == np.int32:
            return cls(values[None])
        if values.dtype.kind in "iu":
            return cls.of_digits(values.astype(np.int64, copy=False)[None])
        pieces = list(_pieces(values.shape))
        largest = max((np.abs(values[some]).max(initial=0.0) for some in pieces), default=0.0)
        highest = max(0, -(-(int(np.frexp(largest)[1]) - _LARGE) // _BITS))
        lowest = min((_lowest(values[some]) for some in pieces), default=0)
        return cls._made(
            lambda some: _split(values[some], lowest, highest),
            (highest - lowest + 1, *values.shape),
            lowest,
        )

    @classmethod
    def of_digits(cls, digits: Digits, lowest: int = 0) -> Self:
        """Return the sums that have these digits, in however many bits."""
        return cls._made(lambda some: list(digits[:, some].astype(np.int64)), digits.shape, lowest)

    @classmethod
    def _made(
        cls, digits_of: Callable[[slice], Pieces], shape: tuple[int, ...], lowest: int
    ) -> Self:
        """Return sums from the digits of some rows, which need not be in their range yet."""
        found: Digits = np.empty(shape, dtype=np.int32)
        for some in _pieces(shape[1:]):
            pieces = digits_of(some)
            for k in range(len(pieces) - 1):
                pieces[k], carried = _carried(pieces[k])
                pieces[k + 1] = pieces[k + 1] + carried
            if found.dtype == np.int32 and not _is_small(pieces[-1]):
                found = found.astype(np.int64)
            for k, piece in enumerate(pieces):
                found[k, some] = piece
        while found.dtype == np.int64 and _is_large(found[-1]):
            digit, carried = _carried(found[-1])
            found = np.array([*found[:-1], digit, carried])
            if _is_small(carried):
                found = found.astype(np.int32)
        spare = 0
        while lowest + spare < 0 and not found[spare].any():
            spare += 1
        return cls(found[spare:].copy() if spare else found, lowest + spare)

    def __add__(self, other: ExactSums) -> ExactSums:
        """Return the sums of both."""
        rows = np.arange(self.digits.shape[1])
        return self.added_at(rows, other, rows, len(rows))

    def placed(self, rows: NDArray[np.intp], n_rows: int) -> ExactSums:
        """Return ``n_rows`` sums, those of ``self`` added up at the given rows, the others 0."""
        if n_rows == len(rows) and np.array_equal(rows, np.arange(n_rows)):
            return self
        nothing = ExactSums.zeros(0, self.digits.shape[2])
        return self.added_at(rows, nothing, np.empty(0, dtype=np.intp), n_rows)

    def added_at(
        self,
        rows: NDArray[np.intp],
        other: ExactSums,
        other_rows: NDArray[np.intp],
        n_rows: int,
    ) -> ExactSums:
        """Return ``n_rows`` sums: those of both, added up at the rows of each, the others 0."""
        parts = [_Placed(self, rows), _Placed(other, other_rows)]
        lowest = min(self.lowest, other.lowest)
        highest = max(one.lowest + len(one.digits) for one in (self, other))
        shape = highest - lowest, n_rows, self.digits.shape[2]

        def digits_of(some: slice) -> Pieces:
            total = np.zeros((shape[0], some.stop - some.start, shape[2]), dtype=np.int64)
            for part in parts:
                part.add_to(total[part.sums.lowest - lowest :], some)
            return list(total)

        return ExactSums._made(digits_of, shape, lowest)

    def values(self, columns: slice = slice(None), rows: Any = slice(None)) -> NDArray[np.float64]:
        """Return the sums as floats, (n_rows, n_columns); those of some columns or rows alone."""
        digits = self.digits[:, rows][:, :, columns]
        total = np.zeros(digits.shape[1:])
        for power, digit in enumerate(digits, self.lowest):
            for some in _pieces(digit.shape):
                total[some] += np.ldexp(digit[some].astype(np.float64), _BITS * power)
        return total


class _Placed:
    """Sums and the row of a larger array that each is added to."""

    def __init__(self, sums: ExactSums, rows: NDArray[np.intp]) -> None:
        self.sums = sums
        self._order = None if np.all(rows[1:] >= rows[:-1]) else np.argsort(rows, kind="stable")
        self._rows = rows if self._order is None else rows[self._order]
        self._are_different = bool(np.all(self._rows[1:] != self._rows[:-1]))

    def add_to(self, total: NDArray[np.int64], some: slice) -> None:
        """Add the digits of what lies in some rows to the digits of these rows."""
        first, last = np.searchsorted(self._rows, (some.start, some.stop))
        own: Any = slice(first, last) if self._order is None else self._order[first:last]
        at = self._rows[first:last] - some.start
        for k, digit in enumerate(self.sums.digits):
            if self._are_different:
                total[k, at] += digit[own]
            else:
                # Fewer than 2**31 digits below 2**32 fit a digit of 64 bits.
                np.add.at(total[k], at, digit[own])


def _pieces(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield rows that are worked on at a time."""
    n_rows, n_columns = shape
    step = max(_AT_ONCE // max(n_columns, 1), 1)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _lowest(values: NDArray[Any]) -> int:
    """Return the power of the lowest digit of any of the numbers, 0 or below."""
    rest, power = np.array(values, dtype=np.float64), 0
    rest -= np.trunc(rest)
    while rest.any():
        rest = np.ldexp(rest, _BITS)
        rest -= np.trunc(rest)
        power -= 1
    return power


def _split(values: NDArray[Any], lowest: int, highest: int) -> Pieces:
    """Return the digits of numbers from the lowest to the highest power."""
    rest = np.array(values, dtype=np.float64)
    found = []
    for power in range(highest, lowest - 1, -1):
        digit = np.trunc(np.ldexp(rest, -_BITS * power))
        rest -= np.ldexp(digit, _BITS * power)
        found.append(digit.astype(np.int64))
    return found[::-1]


def _is_small(digit: NDArray[np.int64]) -> bool:
    """Whether digits fit 32 bits."""
    return bool(digit.max(initial=0) < _HALF and digit.min(initial=0) >= -_HALF)


def _is_large(digit: NDArray[np.int64]) -> bool:
    """Whether a highest digit needs one more."""
    largest = max(int(digit.max(initial=0)), -int(digit.min(initial=0)))
    return bool(largest >> _LARGE)


def _carried(digit: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the part of a digit that is in its range, and what goes to the next one."""
    carried = (digit + _HALF) >> _BITS
    return digit - (carried << _BITS), carried
