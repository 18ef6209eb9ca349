"""Rows of a stream: Poisson weights that depend on the seed, the resample and the unit alone.

A multinomial resample must know how many rows there are. Here each row, or group, is drawn by
itself, a Poisson number of times with mean 1 (Hanley & MacGibbon 2006; Chamandy et al. 2012), and
the number is a function of (seed, resample, id): rows can come in any order, in batches of any size
and on many machines. A ratio of weighted sums has the variance of the multinomial bootstrap to
first order; a total has not, since the number of rows varies too.

A 64-bit word holds the weights of a unit in four resamples, 16 bits each, so that every
probability is right within 2**-17. Words are made by the finalizer of splitmix64 (Steele, Lea &
Flood 2014) from the sum of a hash of the unit and a key of the four resamples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.work import child_seed, single_threaded_blas
from ._tuning import (
    EXACT_INTEGER,
    MANY_RUNS,
    RARE_WEIGHT,
    STREAM_RESAMPLES_AT_ONCE,
    STREAM_WEIGHTS_AT_ONCE,
    WEIGHTS_PER_WORD,
)
from .coding import Bound, CodedRows
from .design import DESIGNS, SamplingDesign

Words = NDArray[np.uint64]

# Steps of a Weyl sequence and multipliers of splitmix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)

# Thresholds of 16 random bits: the weight is the number of thresholds that are not above them.
_POISSON = np.exp(-1.0) / np.array([math.factorial(k) for k in range(8)])
_THRESHOLDS = np.rint(np.cumsum(_POISSON) * 2**16).astype(np.uint16)


def mixed(words: Words) -> Words:
    """Return the words after the finalizer of splitmix64, in place; every bit depends on all."""
    _mix(words, np.empty_like(words))
    return words


def _mix(words: Words, spare: Words) -> None:
    for shift, multiplier in zip(_SHIFTS, (*_MULTIPLIERS, None), strict=True):
        np.right_shift(words, shift, out=spare)
        np.bitwise_xor(words, spare, out=words)
        if multiplier is not None:
            np.multiply(words, multiplier, out=words)


class PoissonWeights:
    """Weights of units in every resample, as a function of the seed and of the id of the unit.

    Parameters
    ----------
    seed : SeedSequence
        Seed of the resamples.
    n_resamples : int
        Number of resamples; the first of many are those of fewer.
    """

    def __init__(self, seed: np.random.SeedSequence, n_resamples: int) -> None:
        keys = child_seed(seed, 0).generate_state(4, np.uint64)
        self.n_resamples = n_resamples
        self._of_numbers, self._of_texts, self._start, start_of_resamples = keys
        number = np.arange(1, -(-n_resamples // WEIGHTS_PER_WORD) + 1, dtype=np.uint64)
        self._keys = mixed(number * _STEP + start_of_resamples)

    # -------------------------------------------------------------- ids

    def units(self, ids: NDArray[Any]) -> Words:
        """Return a hash of each id, (n_rows,); ids are integers or texts of whatever width.

        True and False are 1 and 0, as they are in Python.
        """
        if ids.dtype.kind in "biu":
            return mixed(ids.astype(np.uint64) * _STEP + self._of_numbers)
        width = ids.dtype.itemsize // (4 if ids.dtype.kind == "U" else 1)
        letters = np.ascontiguousarray(ids).view(np.uint32 if ids.dtype.kind == "U" else np.uint8)
        letters = letters.reshape(len(ids), width)
        is_in_use = letters != 0
        length = np.where(is_in_use.any(axis=1), width - np.argmax(is_in_use[:, ::-1], axis=1), 0)
        units = np.full(len(ids), self._start)
        for k in range(width):
            step = (units ^ letters[:, k].astype(np.uint64)) * _STEP
            step ^= step >> np.uint64(32)
            units = np.where(k < length, step, units)
        return mixed(units + self._of_texts)

    # -------------------------------------------------------------- weights

    def weights(self, units: Words) -> NDArray[np.uint8]:
        """Return the weights of units, (n_units, n_resamples)."""
        unit_weights = np.empty((len(units), self.n_resamples), dtype=np.uint8)
        for rows, resamples, weights in self._tiles(units):
            unit_weights[rows, resamples] = weights
        return unit_weights

    def sums(
        self,
        units: Words,
        terms: NDArray[np.float64] | None = None,
        code: NDArray[np.intp] | None = None,
        on_data: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return weighted sums of terms, and weights of codes.

        Parameters
        ----------
        units : ndarray of shape (n_rows,)
            Hash of the unit of each row.
        terms : ndarray of shape (n_terms, n_rows), optional
            What each row adds to each sum.
        code : ndarray of shape (n_rows,), optional
            Code of each row, from 0 to ``n_codes - 1``.
        on_data : ndarray of shape (n_codes,), optional
            Rows of each code.

        Returns
        -------
        sums : ndarray of shape (n_terms, n_resamples)
        by_code : ndarray of shape (n_codes, 1 + n_resamples)
            Rows of each code in the data, and in each resample; none without codes. Of 32 bits
            where any sum of the weights would fit, else of 64.
        """
        if code is not None:
            code, order = _sort_codes(code)
            units = units[order]
            terms = None if terms is None else terms[:, order]
        n_terms = 0 if terms is None else len(terms)
        total = np.zeros((n_terms, self.n_resamples))
        counts = np.int32 if len(_THRESHOLDS) * len(units) < EXACT_INTEGER else np.int64
        by_code, by_resample = _join_known_sums(on_data, self.n_resamples, counts)
        # Sums of the few weights of a piece are exact in single precision.
        factors: NDArray[Any] = np.empty((0, len(units)), dtype=np.float32)
        factors = factors if terms is None else terms
        factor = _Reused(factors.dtype)
        no_units: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        with single_threaded_blas():
            for rows, resamples, weights in self._tiles(units):
                codes, starts = no_units, no_units
                if code is not None:
                    codes, starts = _runs(code[rows])
                if len(starts) > MANY_RUNS:
                    by_resample[codes, resamples] += np.add.reduceat(
                        weights, starts, axis=0, dtype=counts
                    )
                    codes, starts = no_units, no_units
                left_factors = factors[:, rows]
                if len(codes):
                    # Which rows belong to each run of a code.
                    at, ends = np.arange(len(weights)), np.append(starts[1:], len(weights))
                    is_in_run = (at >= starts[:, None]) & (at < ends[:, None])
                    left_factors = np.vstack((left_factors, is_in_run.astype(left_factors.dtype)))
                if len(left_factors):
                    sums = left_factors @ factor.filled_by(weights)
                    total[:, resamples] += sums[:n_terms]
                if len(codes):
                    by_resample[codes, resamples] += sums[n_terms:].astype(counts)
        return total, by_code

    def sums_by_code(
        self,
        units: Words,
        row_weights: NDArray[np.float64],
        code: NDArray[np.intp],
        on_data: NDArray[Any],
    ) -> NDArray[np.float64]:
        """Return sums over the rows of each code of weights times those of the rows.

        Parameters
        ----------
        units, row_weights, code : ndarray of shape (n_rows,)
            Hash of the unit, weight and code of each row.
        on_data : ndarray of shape (n_codes,)
            The sum over the data of each code.

        Returns
        -------
        ndarray of shape (n_codes, 1 + n_resamples)
            On the data, and on each resample.
        """
        code, order = _sort_codes(code)
        units, row_weights = units[order], row_weights[order]
        by_code, by_resample = _join_known_sums(on_data, self.n_resamples, np.float64)
        reused = _Reused(by_code.dtype)
        for rows, resamples, weights in self._tiles(units):
            codes, starts = _runs(code[rows])
            weighted = reused.filled_by(weights)
            weighted *= row_weights[rows, None]
            by_resample[codes, resamples] += np.add.reduceat(weighted, starts, axis=0)
        return by_code

    def _tiles(self, units: Words) -> Iterator[tuple[slice, slice, NDArray[np.uint8]]]:
        """Yield rows, resamples and their weights, (n_rows, n_resamples), piece by piece.

        The weights are overwritten by the next piece.
        """
        step = STREAM_RESAMPLES_AT_ONCE // WEIGHTS_PER_WORD
        for start in range(0, len(self._keys), step):
            keys = self._keys[start : start + step]
            first_resample = start * WEIGHTS_PER_WORD
            n = min(len(keys) * WEIGHTS_PER_WORD, self.n_resamples - first_resample)
            height = max(STREAM_WEIGHTS_AT_ONCE // (len(keys) * WEIGHTS_PER_WORD), 1)
            tile = _Tile(min(height, len(units)), len(keys))
            for at in range(0, len(units), height):
                rows = slice(at, min(at + height, len(units)))
                yield (
                    rows,
                    slice(first_resample, first_resample + n),
                    tile.weights(units[rows], keys)[:, :n],
                )


class _Tile:
    """Arrays in which the weights of some rows in some resamples are made."""

    def __init__(self, n_rows: int, n_words: int) -> None:
        self._words = np.empty((n_rows, n_words), dtype=np.uint64)
        self._spare = np.empty_like(self._words)
        self._weights = np.empty((n_rows, n_words * WEIGHTS_PER_WORD), dtype=np.uint8)
        self._flags = np.empty_like(self._weights, dtype=bool)

    def weights(self, units: Words, keys: Words) -> NDArray[np.uint8]:
        """Return the weights of the units, (n_rows, 4 n_words)."""
        n = len(units)
        words, spare = self._words[:n], self._spare[:n]
        weights, flags = self._weights[:n], self._flags[:n]
        np.add(units[:, None], keys, out=words)
        _mix(words, spare)
        # The first resample has the lowest bits on every machine.
        bits = words.astype("<u8", copy=False).view("<u2")
        np.greater_equal(bits, _THRESHOLDS[0], out=weights.view(bool))
        for threshold in _THRESHOLDS[1 : RARE_WEIGHT - 1]:
            np.greater_equal(bits, threshold, out=flags)
            np.add(weights, flags.view(np.uint8), out=weights)
        np.greater_equal(bits, _THRESHOLDS[RARE_WEIGHT - 1], out=flags)
        rare = np.flatnonzero(flags)
        weights.reshape(-1)[rare] = np.searchsorted(
            _THRESHOLDS, bits.reshape(-1)[rare], side="right"
        )
        return weights


def _sort_codes(code: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return codes in rising order, in two bytes where they fit, and the row of each."""
    narrow = code.astype(np.uint16 if code.max(initial=0) < 1 << 16 else np.int64)
    order = np.argsort(narrow, kind="stable")
    return narrow[order], order


def _join_known_sums(
    on_data: NDArray[Any] | None, n_resamples: int, dtype: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return sums by code of which those on the data are known, and the others, which are 0."""
    n_codes = 0 if on_data is None else len(on_data)
    stacked = np.zeros((n_codes, 1 + n_resamples), dtype=dtype)
    if on_data is not None:
        stacked[:, 0] = on_data
    return stacked, stacked[:, 1:]


class _Reused:
    """Memory for copies that are made tile by tile.

    Allocators that give memory back at once, as on workers of dask, make the system clear each new
    copy, which takes longer than the products.
    """

    def __init__(self, dtype: Any) -> None:
        self._memory: NDArray[Any] = np.empty(0, dtype=dtype)

    def filled_by(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values in this memory, until the next call."""
        if values.size > self._memory.size:
            self._memory = np.empty(values.size, dtype=self._memory.dtype)
        filled = self._memory[: values.size].reshape(values.shape)
        filled[...] = values
        return filled


def _runs(code: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the codes of rows that are sorted by code, and where each begins."""
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    return code[starts], starts


class StreamedDesign(SamplingDesign):
    """Rows, or whole groups, of a stream.

    It says what was drawn. `PoissonWeights` draws it batch by batch, and no plan can.
    """

    @classmethod
    def of(cls, n_rows: int, n_units: int, kind: str) -> StreamedDesign:
        """So many rows, of so many units; ``kind`` is "streamed rows" or "streamed groups"."""
        return cls(n_rows, (n_units,), **vars(DESIGNS[kind]))

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """Raise TypeError."""
        raise TypeError("A stream keeps no rows that a plan could draw.")
