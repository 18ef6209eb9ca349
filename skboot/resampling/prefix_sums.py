"""Running sums of counts along codes, faster than ``numpy.cumsum``, and bisection along them.

A running sum is a chain of additions, which no processor does several at a time. Cut into tiles
of `TILE_WIDTH` codes, the sums inside a tile are a product with a triangular matrix of ones, and
only the totals of the tiles are left to be summed in a chain. Small integers are handled in single
precision, where their sums are exact; where all running sums of bytes are wanted, a chain of
integers is quicker still.

A search bisects all resamples of a block at once for where a monotone gap, a function of the
running sums, changes sign along the codes, or for where a sum reaches many shares of its total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._tuning import (
    EXACT_INTEGER,
    MOST_COUNTED,
    MOST_IN_WORD,
    NESTED_TILES,
    RUNNING_ELEMENTS,
    SUM_ROUNDING,
    SUMS_AT_ONCE,
    TILE_WIDTH,
    WORD_BYTES,
)

Floats = NDArray[np.float64]
Gap = Callable[[Floats, Floats], Floats]

_UP_TO = {
    dtype: np.triu(np.ones((TILE_WIDTH, TILE_WIDTH), dtype)) for dtype in (np.float32, np.float64)
}
_ALL = {dtype: np.ones(TILE_WIDTH, dtype) for dtype in (np.float32, np.float64)}
# What sums the bytes of a word up to each of them, and what picks the last one, or all.
_UP_TO_BYTE, _LAST_BYTE, _ALL_BITS = np.uint32(0x01010101), np.uint32(24), np.uint8(255)
# Row k holds 1 for the codes of a tile up to number k.
_UP_TO_END = np.tril(np.ones((TILE_WIDTH, TILE_WIDTH), np.uint8))


def as_flags(values: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return values that are all 0 or 1 as bytes; None if there are others."""
    if values.dtype == bool:
        return values.view(np.uint8)
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
    ends_inside = slice(*np.searchsorted(ends, (at.start, at.stop)).tolist())
    are_all_ends = ends_inside.stop - ends_inside.start == at.stop - at.start
    return ends_inside, None if are_all_ends else ends[ends_inside] - at.start


def in_mixed_levels(
    upper: NDArray[Any], lower: NDArray[Any], level: NDArray[np.signedinteger]
) -> NDArray[np.intp]:
    """Return the positions whose level has both sides."""
    with_upper, with_lower = (np.bincount(level, side != 0) > 0 for side in (upper, lower))
    return np.flatnonzero((with_upper & with_lower)[level])


def ends_and_sides(
    upper: NDArray[Any], lower: NDArray[Any], level: NDArray[np.signedinteger]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the last position of each level, and both sides as terms, (n_positions, 2)."""
    ends = np.flatnonzero(np.append(level[1:] != level[:-1], True))
    return ends, np.column_stack((upper, lower)).astype(np.float64, copy=False)


class Column(NamedTuple):
    """A column of terms as running sums read it.

    Attributes
    ----------
    column : ndarray of shape (n_positions,), or (n_ends,) where it is read at the ends alone
        What each position counts for.
    is_flag : bool
        Whether the column holds bytes, all 0 or 1.
    at_ends : bool
        Whether the term is 0 between the ends.
    """

    column: NDArray[Any]
    is_flag: bool
    at_ends: bool


def columns_of(terms: Floats, ends: NDArray[np.intp] | None) -> list[Column]:
    """Return the columns of terms; one that is 0 between the ends is read at these alone."""
    columns = []
    for column in terms.T:
        at_ends = ends is not None and np.count_nonzero(column[ends]) == np.count_nonzero(column)
        column = column[ends] if at_ends else column
        flags = as_flags(column)
        read = np.ascontiguousarray(column) if flags is None else flags
        columns.append(Column(read, flags is not None, at_ends))
    return columns


def running_sums(weights: NDArray, term: NDArray[Any], is_flag: bool, below: Floats) -> NDArray:
    """Running sums of weights times a term, from left to right.

    Parameters
    ----------
    weights : ndarray of shape (n_resamples, n_codes)
        Counts of any type.
    term : ndarray of shape (n_codes,)
        What each code counts for; bytes where all of it is 0 or 1.
    is_flag : bool
        Whether the term is bytes, all 0 or 1.
    below : ndarray of shape (n_resamples,)
        Running sum of each resample before these codes.

    Returns
    -------
    ndarray of shape (n_resamples, n_codes)
        As integers where counts are bytes and the term is 0 and 1.
    """
    n_codes = weights.shape[1]
    largest = float(below.max(initial=0.0)) + 255 * n_codes
    if not is_flag or weights.dtype != np.uint8 or largest >= EXACT_INTEGER:
        return _summed_up(_pad_to_tiles(weights * term, np.float64), below)[:, :n_codes]
    # A chain of integer additions takes one cycle each, of floating-point ones four.
    sums = (weights if term.all() else weights * term).astype(np.int32)
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
    n_resamples, n_codes = weights.shape
    # Sums of pairs within a tile stay below (16 * 255)**2 / 2, which is exact in single precision.
    small = weights.dtype == np.uint8 and upper[1] is not None and lower[1] is not None
    if small:
        assert upper[1] is not None
        assert lower[1] is not None
        largest = int(weights.max(initial=0))
        # A product of two sides that add up to s is at most (s / 2)**2.
        if largest <= MOST_IN_WORD and (largest * n_codes) ** 2 < 4 * EXACT_INTEGER:
            return _pairs_of_words(weights, upper[1], lower[1], below)
    dtype = np.float32 if small else np.float64
    up = _pad_to_tiles(weights * upper[small], dtype).reshape(-1, TILE_WIDTH)
    low = _pad_to_tiles(weights * lower[small], dtype).reshape(-1, TILE_WIDTH)
    within = low @ _UP_TO[dtype]
    low_totals = within[:, -1].astype(np.float64).reshape(n_resamples, -1)
    up_totals = (up @ _ALL[dtype]).astype(np.float64).reshape(n_resamples, -1)
    within *= up
    pairs = (within @ _ALL[dtype]).reshape(n_resamples, -1).sum(axis=1, dtype=np.float64)
    pairs += np.einsum("ij,ij->i", up_totals, _before(low_totals, below))
    return pairs, up_totals.sum(axis=1), low_totals.sum(axis=1)


def _pairs_of_words(
    weights: NDArray[np.uint8],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    below: Floats,
) -> tuple[Floats, Floats, Floats]:
    """As `pairs_in_order`, of small counts and flags: four counts are read as one number.

    The product with 0x01010101 has in each byte the sum of the bytes up to it: the first count is
    the lowest byte, on every machine.
    """
    n_resamples, n_codes = weights.shape
    spare = -n_codes % WORD_BYTES
    if spare or not weights.flags.c_contiguous:
        padded = np.zeros((n_resamples, n_codes + spare), np.uint8)
        padded[:, :n_codes] = weights
        weights = padded
    sides = np.zeros((2, n_codes + spare), np.uint8)
    np.multiply(upper, _ALL_BITS, out=sides[0, :n_codes])
    np.multiply(lower, _ALL_BITS, out=sides[1, :n_codes])
    words = weights.view("<u4")
    up, low = (words & side for side in sides.view("<u4"))
    low *= _UP_TO_BYTE
    within = np.multiply(low.view(np.uint8), up.view(np.uint8))
    low >>= _LAST_BYTE
    up *= _UP_TO_BYTE
    up >>= _LAST_BYTE
    up_of_word, low_of_word = up.view(np.int32), low.view(np.int32)
    # All sums are below 2**31; chains of integer additions are faster than floating-point ones.
    low_before = np.cumsum(low_of_word, axis=1, dtype=np.int32)
    n_lower = low_before[:, -1].astype(np.float64)
    low_before -= low_of_word
    n_upper = np.einsum("ij->i", up_of_word).astype(np.float64)
    pairs = within.sum(axis=1, dtype=np.uint32) + np.einsum("ij,ij->i", up_of_word, low_before)
    return pairs + n_upper * below, n_upper, n_lower


def starts_of_levels(level: NDArray[np.signedinteger]) -> NDArray[np.intp]:
    """Return the first position of the level of each position."""
    new = np.append(True, level[1:] != level[:-1])
    return np.flatnonzero(new)[np.cumsum(new) - 1]


def pairs_by_level(
    weights: NDArray[Any],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    starts: NDArray[np.intp],
    below: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Count pairs of an upper and a lower one whose upper one is of a higher level, ties half.

    Parameters
    ----------
    weights : ndarray of shape (n_resamples, n_codes)
        Counts, or weights as floats; of each level the lower codes come first.
    upper, lower : ndarray of shape (n_codes,)
        Which codes count on each side, 0 or 1; none counts on both.
    starts : ndarray of shape (n_codes,)
        First code of the level of each code; negative where it comes before these codes.
    below : ndarray of shape (2, n_resamples)
        Sum of the lower side before the level of the first code, and before the first code.

    Returns
    -------
    pairs : ndarray of shape (n_resamples,)
        Pairs of these upper ones, also with what comes before.
    upper : ndarray of shape (n_resamples,)
        Sum of the upper side.
    below : ndarray of shape (2, n_resamples)
        Sum of the lower side before the last level, and up to the last code.
    """
    # A chain of integer additions takes one cycle each.
    sums_type: Any = np.int32 if weights.dtype == np.uint8 else np.int64
    if weights.dtype.kind == "f":
        sums_type = np.float64
    lower_below = np.empty((len(weights), weights.shape[1] + 2), sums_type)
    lower_below[:, :2] = below.T
    up_to = lower_below[:, 2:]
    np.multiply(weights, lower, out=up_to)
    up_to[:, 0] += lower_below[:, 1]
    np.cumsum(up_to, axis=1, out=up_to)
    before_level = np.maximum(starts + 1, 0)
    up = np.multiply(weights, upper, dtype=sums_type)
    n_upper = up.sum(axis=1, dtype=np.float64)
    # Half of what is below with the level, and half of what is without it.
    twice: NDArray[Any] = up_to + lower_below.take(before_level, axis=1)
    if 2 * int(n_upper.max()) * int(up_to[:, -1].max()) >= EXACT_INTEGER:
        twice = twice.astype(np.float64)
    pairs = 0.5 * np.einsum("ij,ij->i", up, twice)
    return pairs, n_upper, lower_below[:, [before_level[-1], -1]].T.astype(np.float64)


@cache
def halved_order(n: int) -> NDArray[np.intp]:
    """Return the numbers below n, a power of two: even ones, then odd ones, each half likewise.

    So codes that stand side by side are in the two halves, and so are sums of two, four and so on.
    """
    order: NDArray[np.intp] = np.zeros(1, np.intp)
    while len(order) < n:
        order = np.concatenate((2 * order, 2 * order + 1))
    order.flags.writeable = False
    return order


def pairs_by_halves(
    weights: NDArray[np.uint8], upper: NDArray[np.uint8], lower: NDArray[np.uint8], largest: int
) -> tuple[Floats, Floats, Floats]:
    """Count pairs of an upper and a lower one whose upper one comes later.

    Parameters
    ----------
    weights : ndarray of shape (n_codes, n_resamples)
        Counts of codes in `halved_order`, as many as a power of two.
    upper, lower : ndarray of shape (n_codes,)
        Which codes count on each side, 0 or 1, in that order; none counts on both.
    largest : int
        No count is larger.

    Returns
    -------
    pairs, upper, lower : ndarray of shape (n_resamples,)
        Pairs in order, and what each side counts.
    """
    up, low = (weights & (side * _ALL_BITS)[:, None] for side in (upper, lower))
    # Of single codes there are none.
    pairs: NDArray[Any] = up[:0]
    most, most_pairs = largest, 0
    while len(up) > 1:
        # What two neighbours can hold decides how wide their numbers are.
        most_pairs = 2 * most_pairs + most * most
        most *= 2
        if max(most, most_pairs) >= 1 << (8 * up.itemsize):
            wide = np.min_scalar_type(max(most, most_pairs))
            up, low, pairs = (values.astype(wide) for values in (up, low, pairs))
        half = len(up) // 2
        between = up[half:] * low[:half]
        if len(pairs):
            between += pairs[:half]
            between += pairs[half:]
        pairs = between
        up, low = up[:half] + up[half:], low[:half] + low[half:]
    n_pairs = pairs[0] if len(pairs) else np.zeros(up.shape[1])
    return n_pairs.astype(np.float64), up[0].astype(np.float64), low[0].astype(np.float64)


class PairsOfData(NamedTuple):
    """Pairs in order: those of a row of each code with all rows, and all; and sums of the sides."""

    with_all: Floats
    in_order: float
    upper: float
    lower: float


def pairs_with_all(
    weight: NDArray[Any],
    upper: NDArray[Any],
    lower: NDArray[Any],
    level: NDArray[np.signedinteger] | None,
    step: int,
) -> PairsOfData:
    """Return the pairs of each code, in pieces of about ``step`` codes that hold whole levels."""

    def sides(at: slice) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the levels of a piece, and both sides of each."""
        up, low = weight[at] * upper[at], weight[at] * lower[at]
        if level is None:
            return slice(None), np.asarray(up, np.float64), np.asarray(low, np.float64)
        levels = level[at] - level[at].min()
        n_levels = int(levels.max()) + 1
        return levels, np.bincount(levels, up, n_levels), np.bincount(levels, low, n_levels)

    pieces, start = [], 0
    while start < len(upper):
        stop = min(start + step, len(upper))
        if level is not None and stop < len(upper):
            stop = int(np.searchsorted(level, level[stop - 1], side="right"))
        pieces.append(slice(start, stop))
        start = stop
    above = total = sum(float(sides(at)[1].sum()) for at in pieces)
    below = in_order = 0.0
    with_all = np.empty(len(upper))
    for at in pieces:
        levels, up, low = sides(at)
        lower_below = below + np.cumsum(low) - 0.5 * low
        upper_above = above - np.cumsum(up) + 0.5 * up
        in_order += float(up @ lower_below)
        np.multiply(upper[at], lower_below[levels], out=with_all[at])
        with_all[at] += lower[at] * upper_above[levels]
        below, above = below + float(low.sum()), above - float(up.sum())
    return PairsOfData(with_all, in_order, total, below)


def sums_before_tiles(
    weights: NDArray, terms: Floats, flags_of_terms: Sequence[NDArray[np.uint8] | None] = ()
) -> Floats:
    """Sums of each term before each tile of `TILE_WIDTH` codes, (n_resamples, n_tiles, n_terms).

    The flags of the terms are those of `as_flags`, where they are known.
    """
    n_resamples, n_codes = weights.shape
    sums = np.empty((n_resamples, -(-n_codes // TILE_WIDTH), terms.shape[1]))
    step = max(1, RUNNING_ELEMENTS // n_resamples // TILE_WIDTH) * TILE_WIDTH
    is_bytes = weights.dtype == np.uint8
    small = _fit_bytes_in_tiles(weights)
    if not flags_of_terms and is_bytes:
        flags_of_terms = [as_flags(column) for column in terms.T]
    for k, column in enumerate(terms.T):
        flags = flags_of_terms[k] if is_bytes else None
        if small and flags is not None:
            totals = _bytes_in_tiles(weights, flags)
            sums[:, :, k] = np.cumsum(totals, axis=1) - totals
            continue
        dtype, term = (np.float64, column) if flags is None else (np.float32, flags)
        below = np.zeros(n_resamples)
        for start in range(0, n_codes, step):
            at = slice(start, start + step)
            tiles = _pad_to_tiles(weights[:, at] * term[at], dtype).reshape(-1, TILE_WIDTH)
            totals = (tiles @ _ALL[dtype]).astype(np.float64).reshape(n_resamples, -1)
            tile = start // TILE_WIDTH
            sums[:, tile : tile + totals.shape[1], k] = _before(totals, below)
            below += totals.sum(axis=1)
    return sums


def _fit_bytes_in_tiles(weights: NDArray[Any]) -> bool:
    """Return whether counts are bytes, and their sums in a tile are, too."""
    return weights.dtype == np.uint8 and int(weights.max(initial=0)) * TILE_WIDTH <= 255


def _bytes_in_tiles(weights: NDArray[np.uint8], flags: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return sums of flagged bytes in each tile, (n_resamples, n_tiles), where they fit a byte.

    The eight bytes of half a tile are one number. The two of a tile are added byte by byte, and
    the product with 0x0101... has the sum of the eight as its highest byte.
    """
    n_resamples, n_codes = weights.shape
    masked = np.zeros((n_resamples, n_codes + -n_codes % TILE_WIDTH), np.uint8)
    np.multiply(weights, flags, out=masked[:, :n_codes])
    halves = masked.view(np.uint64)
    words = halves[:, ::2] + halves[:, 1::2]
    return (words * np.uint64(0x0101010101010101) >> np.uint64(56)).astype(np.int32)


def _summed_up(values: NDArray, below: NDArray) -> NDArray:
    """Return running sums of padded resamples, whose memory is overwritten."""
    dtype = values.dtype.type
    tiles = values.reshape(-1, TILE_WIDTH)
    totals = (tiles @ _ALL[dtype]).reshape(len(values), -1)
    # The sum before a tile is added to its first code, which saves a pass over all codes.
    tiles[:, 0] += _before(totals, below).ravel()
    return (tiles @ _UP_TO[dtype]).reshape(values.shape)


def _before(totals: NDArray, below: NDArray) -> NDArray:
    """Return the sum of ``below`` and of all totals before each one."""
    if totals.shape[1] < NESTED_TILES:
        upto = np.cumsum(totals, axis=1)
        upto += below[:, None]
    else:
        upto = _summed_up(_pad_to_tiles(totals, totals.dtype.type), below)[:, : totals.shape[1]]
    upto -= totals
    return upto


def _pad_to_tiles(values: NDArray, dtype: type) -> NDArray:
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
            *(
                np.concatenate(column)
                for column in zip(*(change[:4] for change in gap_changes), strict=True)
            )
        )
        for gap_changes in zip(*pieces, strict=True)
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


# ------------------------------------------------------------------ many shares of a total


class SumsAtShares(NamedTuple):
    """Running sums of some resamples around where the first term reaches shares of its total.

    Attributes
    ----------
    total : ndarray of shape (n_resamples, n_terms)
        Sums over all codes.
    running : sequence of ndarray
        Running sums of each term, with the 0 before the first code.
    before_share, at_share : ndarray of shape (n_resamples, n_shares)
        Where in all of them those stand at the end before the first one that reaches the share, and
        those at that end.
    """

    total: Floats
    running: Sequence[NDArray[Any]]
    before_share: NDArray[np.intp]
    at_share: NDArray[np.intp]

    def before(self, term: int) -> Floats:
        """Sums at the end before, (n_resamples, n_shares); 0 before the first end."""
        return self.running[term].ravel().take(self.before_share).astype(np.float64, copy=False)

    def after(self, term: int) -> Floats:
        """Sums at the end that reaches the share, (n_resamples, n_shares)."""
        return self.running[term].ravel().take(self.at_share).astype(np.float64, copy=False)


def reach(
    weights_of_parts: Iterable[NDArray[Any]],
    terms: Floats,
    shares: Floats,
    ends: NDArray[np.intp] | None,
) -> Iterator[SumsAtShares]:
    """Find where running sums reach shares of their totals; see `Block.reached`.

    Some resamples after the other: the weights of all codes, (n_resamples, n_codes), of each part.
    """
    n_codes = len(terms)
    if n_codes > TILE_WIDTH * len(shares):
        tiled = _Tiled.of(terms)
        for weights in weights_of_parts:
            yield _reach_in_tiles(weights, tiled, shares, ends)
        return
    # Fewer sums than the search in tiles would make.
    flags = [as_flags(column) for column in terms.T]
    step = max(1, SUMS_AT_ONCE // n_codes)
    for weights in weights_of_parts:
        for start in range(0, len(weights), step):
            yield _reach_in_all(weights[start : start + step], terms, flags, shares, ends)


class _Tiled(NamedTuple):
    """Terms, each in tiles of shape (n_tiles, TILE_WIDTH), and the same as flags."""

    terms: Floats
    columns: Sequence[Floats]
    flags: Sequence[NDArray[np.uint8] | None]
    flags_in_tiles: Sequence[NDArray[np.uint8]] | None

    @classmethod
    def of(cls, terms: Floats) -> _Tiled:
        """Fill terms up to whole tiles; there are flags in tiles if all terms are 0 or 1."""
        in_tiles = np.pad(terms, ((0, -len(terms) % TILE_WIDTH), (0, 0)))
        columns = [column.reshape(-1, TILE_WIDTH).copy() for column in in_tiles.T]
        flags = [as_flags(column) for column in terms.T]
        if any(flag is None for flag in flags):
            return cls(terms, columns, flags, None)
        return cls(terms, columns, flags, [column.astype(np.uint8) for column in columns])


def _reach_in_all(
    weights: NDArray[Any],
    terms: Floats,
    flags: Sequence[NDArray[np.uint8] | None],
    shares: Floats,
    ends: NDArray[np.intp] | None,
) -> SumsAtShares:
    """Search in the running sums at all ends; ``flags`` are terms that are 0 or 1."""
    n_resamples, n_codes = weights.shape
    are_counts = weights.dtype.kind in "ui" and int(weights.max(initial=0)) * n_codes < 1 << 24
    counts = [weights * flag for flag in flags if flag is not None]
    are_counts &= len(counts) == len(flags)
    # A chain of integer additions takes one cycle each, of floating-point ones four.
    dtype: Any = np.int32 if are_counts else np.float64
    running: list[NDArray[Any]] = [
        np.zeros((n_resamples, n_codes + 1), dtype) for _ in range(len(flags))
    ]
    for k, sums in enumerate(running):
        sums[:, 1:] = counts[k] if are_counts else weights * terms[:, k]
        np.cumsum(sums, axis=1, out=sums)
    total = np.column_stack([sums[:, -1] for sums in running]).astype(np.float64)
    targets = shares * total[:, :1] * (1.0 - SUM_ROUNDING)
    if are_counts and total[:, 0].max(initial=0.0) <= MOST_COUNTED * n_codes:
        end = _end_of_count(running[0], np.flatnonzero(terms[:, 0]), ends, targets)
    else:
        at_ends = running[0][:, 1:] if ends is None else running[0].take(ends + 1, axis=1)
        pairs = zip(at_ends, targets, strict=True)
        end = np.array([sums.searchsorted(sought) for sums, sought in pairs])
    first_sums = np.arange(0, running[0].size, n_codes + 1)[:, None]
    if ends is None:
        before_share = end + first_sums
        return SumsAtShares(total, running, before_share, before_share + 1)
    places = np.append(0, ends + 1)
    return SumsAtShares(
        total, running, places.take(end) + first_sums, places.take(end + 1) + first_sums
    )


def _end_of_count(
    running: NDArray[np.int32],
    counted: NDArray[np.intp],
    ends: NDArray[np.intp] | None,
    targets: Floats,
) -> NDArray[np.intp]:
    """Return the number of the first end at which sums of counts reach each target.

    ``running`` are the sums before and after each code, which rise at the ``counted`` codes alone.
    How many of these have a sum of at most k, for each whole number k, is counted; no search is as
    fast, nor is anything that goes from row to row.
    """
    if not len(counted):
        return np.zeros(targets.shape, dtype=np.intp)
    upto, width = running.take(counted + 1, axis=1), int(running[:, -1].max()) + 1
    first_cells = np.arange(0, len(upto) * width, width)[:, None]
    n_codes = np.bincount((upto + first_cells).ravel(), minlength=len(upto) * width)
    n_codes = n_codes.reshape(-1, width).cumsum(axis=1)
    # The target is reached where the sum is this whole number.
    row = np.ceil(targets).astype(np.intp)
    cell = n_codes.ravel().take(np.maximum(row - 1, 0) + first_cells)
    numbers = counted if ends is None else np.searchsorted(ends, counted)
    return np.where(row > 0, numbers.take(cell, mode="clip"), 0)


def _reach_in_tiles(
    weights: NDArray[Any], tiled: _Tiled, shares: Floats, ends: NDArray[np.intp] | None
) -> SumsAtShares:
    """Search in the sums before tiles, and then in one tile of each resample and share."""
    n_resamples, n_codes = weights.shape
    before = sums_before_tiles(weights, tiled.terms, tiled.flags)
    total = sum_of_first(weights, tiled.terms, before, n_codes)
    # Sums in another order differ by rounding, which must not decide.
    targets = shares * total[:, :1] * (1.0 - SUM_ROUNDING)
    spare = -n_codes % TILE_WIDTH
    tiles = (np.pad(weights, ((0, 0), (0, spare))) if spare else weights).reshape(-1, TILE_WIDTH)
    columns: Sequence[NDArray[Any]] = tiled.columns
    if tiled.flags_in_tiles is not None and _fit_bytes_in_tiles(weights):
        columns = tiled.flags_in_tiles
    resamples = np.arange(n_resamples)[:, None]
    own_tiles = resamples * before.shape[1]
    pairs = zip(before[:, :, 0], targets, strict=True)
    n_below = np.array([sums.searchsorted(sought) for sums, sought in pairs])
    tile = np.maximum(n_below - 1, 0)
    inside = tiles.take(own_tiles + tile, axis=0) * columns[0].take(tile, axis=0)
    upto = np.cumsum(inside, axis=2, dtype=np.float64) + before[resamples, tile, 0][:, :, None]
    code = tile * TILE_WIDTH + np.argmax(upto >= targets[:, :, None], axis=2)

    def running_at(codes: NDArray[np.intp]) -> Floats:
        tile, last = codes // TILE_WIDTH, codes % TILE_WIDTH
        inside = tiles.take(own_tiles + tile, axis=0) * _UP_TO_END.take(last, axis=0)
        sums = [np.einsum("ijk,ijk->ij", inside, column.take(tile, axis=0)) for column in columns]
        return before[resamples, tile] + np.stack(sums, axis=2)

    if ends is None:
        after = running_at(code)
        previous = after - weights[resamples, code][:, :, None] * tiled.terms[code]
    else:
        end = np.searchsorted(ends, code)
        after, previous = running_at(ends[end]), running_at(ends[np.maximum(end - 1, 0)])
        previous[end == 0] = 0.0
    # Of each term the sums before the shares, and after these those at them.
    running = [np.stack((previous[:, :, k], after[:, :, k])) for k in range(len(columns))]
    places = np.arange(targets.size).reshape(targets.shape)
    return SumsAtShares(total, running, places, places + targets.size)
