"""How far rows in time depend on each other, from the value or the influence of each row.

* `optimal_block_length`: how long blocks must be (Politis & White 2004, with the correction of
  Patton, Politis & White 2009, for circular blocks); several series of a panel have one length,
  from autocovariances that are pooled over them;
* `neighbours_are_alike`: whether rows that were taken as independent hardly are, and were not just
  sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ._tuning import (
    FEWEST_APART,
    FEWEST_BLOCKS,
    FEWEST_ROWS,
    MORE_SIMILAR,
    MORE_SURE,
    PARTS_APART,
    SIMILAR,
    SLOPE,
    UNSURE,
)

Floats = NDArray[np.float64]


def optimal_block_length(influence: Floats, sizes: NDArray[np.integer]) -> float:
    """Length of circular blocks whose resamples have the variance of the data, or nearly so.

    Parameters
    ----------
    influence : ndarray of shape (n_samples,)
        Of each row on the metric, series by series, in time order.
    sizes : ndarray of shape (n_series,)
        Rows of each series.

    Returns
    -------
    float
        At least 1; 1 where no row differs from another.

    Notes
    -----
    L = (2 G^2 / D)^(1/3) n^(1/3), with G = sum lambda(k / M) |k| R(k), D = 4/3 g^2, and g = sum
    lambda(k / M) R(k); R are autocovariances, lambda is 1 up to 1/2 and falls to 0 at 1. M is twice
    the first lag from which the next K = max(5, log10 n) autocorrelations are smaller than
    2 sqrt(log10(n) / n), and at most ceil(sqrt n) + K.
    """
    n = len(influence)
    centred = influence - np.repeat(np.add.reduceat(influence, _first(sizes)) / sizes, sizes)
    few = max(5, int(np.log10(n)))
    # Beyond the longest series nothing is seen.
    most = min(int(np.ceil(np.sqrt(n))) + few, int(sizes.max()) - 2)
    size = float(centred @ centred)
    if most < 1 or size <= 1e-24 * float(influence @ influence):
        return 1.0
    lags = _Lags(centred, sizes)
    limit = 2 * np.sqrt(np.log10(n) / n)
    small, bandwidth = 0, most
    for lag in range(1, most + 1):
        small = small + 1 if abs(lags.correlation(lag)) < limit else 0
        if small == few and lag < most:
            bandwidth = min(2 * (lag - few + 1), most)
            break
    k = np.arange(1, bandwidth + 1)
    covariance = np.array([lags.covariance(lag) for lag in k.tolist()])
    weighted = 2 * np.minimum(1.0, 2 * (1 - k / bandwidth)) * covariance
    spectrum = size / n + float(weighted.sum())
    slope = float(k @ weighted)
    if spectrum == 0:
        return 1.0
    return float(max(1.0, (1.5 * n) ** (1 / 3) * abs(slope / spectrum) ** (2 / 3)))


def longest_block(n_samples: int, shortest: int) -> int:
    """Most rows of a block: a third of the shortest series, 3 sqrt(n) of n rows, enough blocks.

    Two series or more have `FEWEST_BLOCKS` by the first rule alone.
    """
    of_blocks = (n_samples - 1) // (FEWEST_BLOCKS - 1)
    return max(1, min(int(np.ceil(3 * np.sqrt(n_samples))), shortest // 3, of_blocks))


def _first(sizes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the position of the first row of each series."""
    return np.cumsum(sizes) - sizes


def neighbours_are_alike(
    values: NDArray[Any],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    strata: NDArray[np.intp] | None = None,
    n_looks: int = 1,
) -> bool:
    """Whether values of neighbours are correlated, more than chance and a sorted order explain.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Of some rows, in any type that can be sorted.
    first, second : ndarray of shape (n_pairs,)
        Numbers of rows that are neighbours, pair by pair in the order of all rows.
    strata : ndarray of shape (n_rows,), optional
        Pairs of one stratum alone count, and deviations from its mean.
    n_looks : int
        In how many sets of values an alarm is looked for.

    Returns
    -------
    bool
        False with fewer than `FEWEST_ROWS` pairs.

    Notes
    -----
    The rank correlation of neighbours, without the two pairs that speak most for it, must be at
    least `SIMILAR`, and as far from 0 as that of independent rows is with a chance of `UNSURE`. It
    must exceed the correlation of rows that are a few hundredths of all rows apart as well: where
    rows were sorted by something that their values depend on, these are as much alike.
    """
    # Ranks make the largest of heavy tails no larger than the others.
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - counts / 2)[number]
    if strata is None:
        strata = np.zeros(len(rank), dtype=np.intp)
    rank -= (np.bincount(strata, rank) / np.maximum(np.bincount(strata), 1))[strata]
    size = float(rank @ rank) / len(rank)
    products = _products(rank, first, second, strata)
    if len(products) < FEWEST_ROWS or size <= 0:
        return False
    # Two errors that happen to be neighbours are no sign of more.
    rest = products.sum() - np.partition(products, -2)[-2:].sum()
    correlation = float(rest) / (size * len(products))
    error = 1 / float(np.sqrt(len(products)))
    if correlation <= max(SIMILAR, -float(ndtri(UNSURE / n_looks)) * error):
        return False
    nearest = max(FEWEST_APART, len(first) // PARTS_APART)
    apart = [
        _products(rank, first[:-lag], first[lag:], strata)
        for lag in range(nearest, 2 * nearest + 1)
    ]
    further = np.concatenate(apart)
    beyond = float(further.mean()) / size if len(further) else 0.0
    # What sorted rows have in common cancels in the difference but for its slope, and what is left
    # of their values varies as that of independent rows.
    slope = SLOPE * nearest / len(first)
    return correlation - beyond > max(MORE_SIMILAR, slope, MORE_SURE * error * (1 - beyond))


def _products(
    rank: Floats, first: NDArray[np.intp], second: NDArray[np.intp], strata: NDArray[np.intp]
) -> Floats:
    """Return the products of the pairs whose rows are in one stratum."""
    same = strata[first] == strata[second]
    return rank[first[same]] * rank[second[same]]


class _Lags:
    """Autocovariances within series, pooled over them."""

    def __init__(self, centred: Floats, sizes: NDArray[np.integer]) -> None:
        self._values, self._sizes, self._first = centred, sizes, _first(sizes)
        self._products: dict[int, float] = {}
        # Without several series nothing needs to be masked.
        self._series = np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else None
        size = float(centred @ centred)
        # Sums of squares of the rows that have others so far before them, and behind them.
        self._later, self._earlier = [size], [size]

    def covariance(self, lag: int) -> float:
        """Sum of the products of rows so far apart, over the number of all rows."""
        if lag not in self._products:
            later, earlier = self._values[lag:], self._values[:-lag]
            if self._series is not None:
                later = np.where(self._series[lag:] == self._series[:-lag], later, 0.0)
            self._products[lag] = float(later @ earlier) / len(self._values)
        return self._products[lag]

    def correlation(self, lag: int) -> float:
        """Autocorrelation, by the variances of the rows that lie beyond the lag on each side."""
        while len(self._later) < lag + 2:
            step = len(self._later) - 1
            longer = self._sizes > step
            heads = self._first[longer] + step
            tails = self._first[longer] + self._sizes[longer] - 1 - step
            self._later.append(self._later[-1] - float(np.sum(self._values[heads] ** 2)))
            self._earlier.append(self._earlier[-1] - float(np.sum(self._values[tails] ** 2)))
        scale = self._later[lag + 1] * self._earlier[lag + 1]
        if scale <= 0:
            return 0.0
        return self.covariance(lag) * len(self._values) / float(np.sqrt(scale))
