"""Running sums of counts along codes, faster than ``numpy.cumsum``, and bisection along them.

A running sum is a chain of additions, which no processor does several at a time. Cut into tiles
of `TILE_WIDTH` codes, the sums inside a tile are a product with a triangular matrix of ones, and
only the totals of the tiles are left to be summed in a chain. Small integers are handled in single
precision, where their sums are exact; where all running sums of bytes are wanted, a chain of
integers is quicker still.

A search bisects all resamples of a block at once for where a monotone gap, a function of the
running sums, changes sign along the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._tuning import EXACT_INTEGER, NESTED_TILES, RUNNING_ELEMENTS, TILE_WIDTH

Floats = NDArray[np.float64]
Gap = Callable[[Floats, Floats], Floats]

_UP_TO = {
    dtype: np.triu(np.ones((TILE_WIDTH, TILE_WIDTH), dtype)) for dtype in (np.float32, np.float64)
}
_ALL = {dtype: np.ones(TILE_WIDTH, dtype) for dtype in (np.float32, np.float64)}


def as_flags(values: Floats) -> NDArray[np.uint8] | None:
    """Return values that are all 0 or 1 as bytes; None if there are others."""
    flags = values != 0
    return flags.view(np.uint8) if np.array_equal(values, flags) else None


def as_bytes(counts: NDArray) -> NDArray:
    """Return counts as bytes if they fit, else as they are; counts are not negative."""
    if counts.dtype == np.uint8 or counts.max(initial=0) > 255:
        return counts
    return counts.astype(np.uint8)


def ends_within(ends: NDArray[np.intp] | None, at: slice) -> tuple[slice, NDArray[np.intp] | None]:
    """Return which ends lie in a piece, and where in it; None for all of its positions."""
    if ends is None:
        return at, None
    which = slice(*np.searchsorted(ends, (at.start, at.stop)).tolist())
    every = which.stop - which.start == at.stop - at.start
    return which, None if every else ends[which] - at.start


def running_sums(
    weights: NDArray, term: Floats, flags: NDArray[np.uint8] | None, below: Floats
) -> NDArray:
    """Running sums of weights times a term, from left to right.

    Parameters
    ----------
    weights : ndarray of shape (n_resamples, n_codes)
        Counts of any type.
    term : ndarray of shape (n_codes,)
        What each code counts for.
    flags : ndarray of shape (n_codes,) or None
        The term as bytes, if all of it is 0 or 1.
    below : ndarray of shape (n_resamples,)
        Running sum of each resample before these codes.

    Returns
    -------
    ndarray of shape (n_resamples, n_codes)
        As integers where counts are bytes and the term is 0 and 1.
    """
    n_codes = weights.shape[1]
    largest = float(below.max(initial=0.0)) + 255 * n_codes
    if flags is None or weights.dtype != np.uint8 or largest >= EXACT_INTEGER:
        return _summed_up(_padded(weights * term, np.float64), below)[:, :n_codes]
    # A chain of integer additions takes one cycle each, of floating-point ones four.
    sums = (weights if flags.all() else weights * flags).astype(np.int32)
    sums[:, 0] += below.astype(np.int32)
    return sums.cumsum(axis=1, out=sums)


def pairs_in_order(
    weights: NDArray,
    upper: tuple[Floats, NDArray[np.uint8] | None],
    lower: tuple[Floats, NDArray[np.uint8] | None],
    below: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Sum ``upper`` times ``lower`` over pairs whose upper one comes later.

    Parameters
    ----------
    weights : ndarray of shape (n_resamples, n_codes)
        Counts of any type.
    upper, lower : tuple of two ndarrays of shape (n_codes,)
        What each code counts for on each side, and the same as bytes or None. No code counts on
        both sides.
    below : ndarray of shape (n_resamples,)
        Sum of ``lower`` over what comes before these codes.

    Returns
    -------
    pairs : ndarray of shape (n_resamples,)
        The sum, pairs with what comes before included.
    upper, lower : ndarray of shape (n_resamples,)
        Sums of each side over these codes.
    """
    n_resamples = len(weights)
    # Sums of pairs within a tile stay below (16 * 255)**2 / 2, which is exact in single precision.
    small = weights.dtype == np.uint8 and upper[1] is not None and lower[1] is not None
    dtype = np.float32 if small else np.float64
    up = _padded(weights * upper[small], dtype).reshape(-1, TILE_WIDTH)
    low = _padded(weights * lower[small], dtype).reshape(-1, TILE_WIDTH)
    within = low @ _UP_TO[dtype]
    low_totals = within[:, -1].astype(np.float64).reshape(n_resamples, -1)
    up_totals = (up @ _ALL[dtype]).astype(np.float64).reshape(n_resamples, -1)
    within *= up
    pairs = (within @ _ALL[dtype]).reshape(n_resamples, -1).sum(axis=1, dtype=np.float64)
    pairs += np.einsum("ij,ij->i", up_totals, _before(low_totals, below))
    return pairs, up_totals.sum(axis=1), low_totals.sum(axis=1)


def sums_before_tiles(weights: NDArray, terms: Floats) -> Floats:
    """Sums of each term before each tile of `TILE_WIDTH` codes, (n_resamples, n_tiles, n_terms)."""
    n_resamples, n_codes = weights.shape
    sums = np.empty((n_resamples, -(-n_codes // TILE_WIDTH), terms.shape[1]))
    step = max(1, RUNNING_ELEMENTS // n_resamples // TILE_WIDTH) * TILE_WIDTH
    for k, column in enumerate(np.ascontiguousarray(terms.T)):
        flags = as_flags(column) if weights.dtype == np.uint8 else None
        dtype, term = (np.float64, column) if flags is None else (np.float32, flags)
        below = np.zeros(n_resamples)
        for start in range(0, n_codes, step):
            at = slice(start, start + step)
            tiles = _padded(weights[:, at] * term[at], dtype).reshape(-1, TILE_WIDTH)
            totals = (tiles @ _ALL[dtype]).astype(np.float64).reshape(n_resamples, -1)
            first = start // TILE_WIDTH
            sums[:, first : first + totals.shape[1], k] = _before(totals, below)
            below += totals.sum(axis=1)
    return sums


def _summed_up(values: NDArray, below: Floats) -> NDArray:
    """Return running sums of padded resamples, whose memory is overwritten."""
    dtype = values.dtype.type
    tiles = values.reshape(-1, TILE_WIDTH)
    totals = (tiles @ _ALL[dtype]).reshape(len(values), -1)
    # The sum before a tile is added to its first code, which saves a pass over all codes.
    tiles[:, 0] += _before(totals, below).ravel()
    return (tiles @ _UP_TO[dtype]).reshape(values.shape)


def _before(totals: NDArray, below: Floats) -> NDArray:
    """Return the sum of ``below`` and of all totals before each one."""
    if totals.shape[1] < NESTED_TILES:
        upto = np.cumsum(totals, axis=1)
        upto += below[:, None]
    else:
        upto = _summed_up(_padded(totals, totals.dtype.type), below)[:, : totals.shape[1]]
    upto -= totals
    return upto


def _padded(values: NDArray, dtype: type) -> NDArray:
    """Return a copy in which codes are filled up with 0 to whole tiles."""
    n_resamples, n_codes = values.shape
    spare = -n_codes % TILE_WIDTH
    if spare == 0:
        return values.astype(dtype)
    padded = np.zeros((n_resamples, n_codes + spare), dtype)
    padded[:, :n_codes] = values
    return padded


# ------------------------------------------------------------------ bisection


class SignChange(NamedTuple):
    """Where a gap changes sign along the codes, for some resamples.

    Attributes
    ----------
    end : ndarray of shape (n_resamples,)
        First end at which the gap is not negative.
    before, after : ndarray of shape (n_resamples, n_terms)
        Running sums at the end before that one, and at it.
    total : ndarray of shape (n_resamples, n_terms)
        Sums over all codes.
    outcome : ndarray of shape (n_resamples,) or None
        Where many resamples share few outcomes, the other attributes hold these, and this is the
        number of each resample's outcome.
    """

    end: NDArray[np.intp]
    before: Floats
    after: Floats
    total: Floats
    outcome: NDArray[np.intp] | None = None

    def of_resamples(self, values: Floats) -> Floats:
        """Return the value of each resample from those of the outcomes."""
        return values if self.outcome is None else values[self.outcome]


def joined(pieces: Sequence[Sequence[SignChange]]) -> tuple[SignChange, ...]:
    """Join the sign changes of some resamples each."""
    return tuple(
        SignChange(
            *(np.concatenate(column) for column in zip(*(one[:4] for one in of_gap), strict=True))
        )
        for of_gap in zip(*pieces, strict=True)
    )


def search_tiles(
    weights: NDArray[Any],
    terms: Floats,
    before: Floats,
    ends: NDArray[np.intp],
    total: Floats,
    gap: Gap,
    start: Floats | float = 0.0,
) -> SignChange:
    """Search in running sums, of which ``before`` holds those before each tile of codes."""
    resamples = np.arange(len(weights))
    inside = np.arange(TILE_WIDTH)

    def running_at(end: NDArray[np.intp]) -> Floats:
        code = ends[end]
        tile = code // TILE_WIDTH
        codes = tile[:, None] * TILE_WIDTH + inside
        counted = codes <= code[:, None]
        codes = np.where(counted, codes, 0)
        inside_tile = weights[resamples[:, None], codes] * counted
        return before[resamples, tile] + np.einsum("ij,ijk->ik", inside_tile, terms[codes])

    return search(running_at, total, len(ends), gap, start)


def sum_of_first(
    weights: NDArray[Any], terms: Floats, before: Floats, n: int
) -> NDArray[np.float64]:
    """Return sums over the first codes, (n_resamples, n_terms), from those before each tile."""
    tile = min(n // TILE_WIDTH, before.shape[1] - 1)
    in_tile = slice(tile * TILE_WIDTH, n)
    sums: Floats = before[:, tile] + weights[:, in_tile].astype(np.float64) @ terms[in_tile]
    return sums


def search(
    running_at: Callable[[NDArray[np.intp]], Floats],
    total: Floats,
    n_ends: int,
    gap: Gap,
    start: Floats | float = 0.0,
) -> SignChange:
    """Bisect all resamples at once for the first end at which the gap is not negative.

    ``start`` are the sums before the first end.
    """
    low = np.full(len(total), -1)
    high = np.full(len(total), n_ends - 1)
    while np.any(high - low > 1):
        # The middle is rounded up, so that it is the end of a resample whose search is over, and
        # this end stays.
        middle = (low + high + 1) // 2
        reached = gap(running_at(middle), total) >= 0
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    before = np.where((high > 0)[:, None], running_at(np.maximum(high - 1, 0)), start)
    return SignChange(high, before, running_at(high), total)
