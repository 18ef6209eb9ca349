"""Draw how often each atom occurs in a resample: exact multinomial counts, many lines at a time.

An *atom* is a set of interchangeable units; its multiplicity is their number. A resample of
``n`` units is one draw of Multinomial(n, multiplicity / n).

* `multinomial_counts`: the front door; picks the cheapest exact way below.
* few heavy atoms: conditional binomials, one per atom;
* many rare atoms: place the remaining units one by one;
* all atoms single units: independent Poisson counts, topped up to the total.

Every function is a pure function of the generator's state and its arguments, so one stream per
block of resamples makes results independent of how blocks are spread over processes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# An atom expected more often than this is drawn by one binomial, rarer ones by placing units:
# about where numpy's binomial costs as much as placing that many units.
_HEAVY = 40
# Below this many single units placing them one by one is as quick as the Poisson fill.
_POISSON_FILL_FROM = 256
# The Poisson totals stay this many standard deviations below n; fuller lines are drawn again.
_SHORTFALL = 2.5
# Bytes worked on at a time in the Poisson fill: a few buffers of this size stay in the cache.
_CACHED = 1 << 17


def multinomial_counts(
    rng: np.random.Generator,
    n_lines: int,
    multiplicity: NDArray[np.int64],
    strata: NDArray[np.intp] | None = None,
) -> NDArray[np.integer]:
    """Draw multinomial counts of atoms, line by line independent.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; advanced by the call.
    n_lines : int
        Number of resamples.
    multiplicity : ndarray of shape (n_atoms,)
        Number of units in each atom, positive.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom; as many units as a stratum holds are drawn within it.

    Returns
    -------
    ndarray of shape (n_lines, n_atoms)
        Unsigned or signed integer counts; each line sums to ``multiplicity.sum()``.
    """
    if strata is None:
        return _unstratified(rng, n_lines, multiplicity)
    sizes = np.bincount(strata)
    if len(sizes) > 64 and int(multiplicity.max()) == 1:
        return _many_small_strata(rng, n_lines, strata, sizes)
    counts = np.empty((n_lines, len(multiplicity)), dtype=np.int64)
    order = np.argsort(strata, kind="stable")
    for members in np.split(order, np.cumsum(sizes)[:-1]):
        counts[:, members] = _unstratified(rng, n_lines, multiplicity[members])
    return counts


def _unstratified(
    rng: np.random.Generator, n_lines: int, multiplicity: NDArray[np.int64]
) -> NDArray[np.integer]:
    if len(multiplicity) == 2:
        return _two_atoms(rng, n_lines, multiplicity)
    if int(multiplicity.max()) == 1:
        if len(multiplicity) < _POISSON_FILL_FROM:
            return _place(rng, np.full(n_lines, len(multiplicity)), multiplicity)
        return _poisson_fill(rng, n_lines, len(multiplicity))
    return _heavy_then_rare(rng, n_lines, multiplicity)


def _two_atoms(
    rng: np.random.Generator, n_lines: int, multiplicity: NDArray[np.int64]
) -> NDArray[np.int64]:
    n = int(multiplicity.sum())
    counts = np.empty((n_lines, 2), dtype=np.int64)
    # The smaller share keeps the binomial in its accurate, symmetric-free range.
    rare = int(np.argmin(multiplicity))
    counts[:, rare] = rng.binomial(n, multiplicity[rare] / n, size=n_lines)
    counts[:, 1 - rare] = n - counts[:, rare]
    return counts


def _heavy_then_rare(
    rng: np.random.Generator, n_lines: int, multiplicity: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Conditional binomials in falling order, then the pool of rare atoms unit by unit."""
    order = np.argsort(-multiplicity, kind="stable")
    ordered = multiplicity[order]
    n_heavy = int(np.searchsorted(-ordered, -_HEAVY))
    left = np.full(n_lines, ordered.sum())
    pool = int(ordered.sum())
    counts = np.zeros((n_lines, len(ordered)), dtype=np.int64)
    for k in range(n_heavy):
        if k == len(ordered) - 1:
            counts[:, order[k]] = left
            break
        drawn = rng.binomial(left, ordered[k] / pool)
        counts[:, order[k]] = drawn
        left = left - drawn
        pool -= int(ordered[k])
    if n_heavy < len(ordered):
        counts[:, order[n_heavy:]] = _place(rng, left, ordered[n_heavy:])
    return counts


def _place(
    rng: np.random.Generator, totals: NDArray[np.int64], multiplicity: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Throw ``totals[line]`` units into atoms with probability proportional to multiplicity."""
    n_lines, n_atoms = len(totals), len(multiplicity)
    picks = rng.integers(0, int(multiplicity.sum()), size=int(totals.sum()))
    if int(multiplicity.max()) > 1:
        picks = np.repeat(np.arange(n_atoms), multiplicity)[picks]
    picks += np.repeat(np.arange(n_lines) * n_atoms, totals)
    return np.bincount(picks, minlength=n_lines * n_atoms).reshape(n_lines, n_atoms)


def _many_small_strata(
    rng: np.random.Generator,
    n_lines: int,
    strata: NDArray[np.intp],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Single units in many strata: one uniform index per place, all strata at once."""
    order = np.argsort(strata, kind="stable")
    width = np.repeat(sizes, sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    n = len(strata)
    picks = first + (rng.random((n_lines, n)) * width).astype(np.int64)
    picks += np.arange(n_lines)[:, None] * n
    counts = np.empty((n_lines, n), dtype=np.int64)
    counts[:, order] = np.bincount(picks.ravel(), minlength=n_lines * n).reshape(n_lines, n)
    return counts


def _poisson_fill(rng: np.random.Generator, n_lines: int, n: int) -> NDArray[np.uint8]:
    """Multinomial(n, 1/n) as iid Poisson counts plus the units that are missing to n.

    Given its total, a vector of iid Poisson counts is multinomial, and so is its sum with
    uniformly placed units. Lines whose total exceeds n are drawn again, which depends on the
    total alone and therefore leaves the law of the counts given the total as it is.
    """
    counts = np.empty((n_lines, n), dtype=np.uint8)
    todo = np.arange(n_lines)
    shortfall = np.empty(n_lines, dtype=np.int64)
    while len(todo):
        fresh = _poisson_counts(rng, (len(todo), n), 1.0 - _SHORTFALL / np.sqrt(n))
        missing = n - fresh.sum(axis=1, dtype=np.int64)
        counts[todo], shortfall[todo] = fresh, missing
        todo = todo[missing < 0]
    extra = rng.integers(0, n, size=int(shortfall.sum()))
    extra += np.repeat(np.arange(n_lines) * n, shortfall)
    np.add.at(counts.reshape(-1), extra, np.uint8(1))
    return counts


def _poisson_counts(
    rng: np.random.Generator, shape: tuple[int, int], rate: float
) -> NDArray[np.uint8]:
    """Poisson counts from 8 random bits each; the bytes left over are settled by a uniform."""
    starts, n_settled, residual = _poisson_bytes(rate)
    counts = np.empty(shape[0] * shape[1], dtype=np.uint8)
    above = np.empty(_CACHED, dtype=bool)
    for first in range(0, len(counts), _CACHED):
        part = counts[first : first + _CACHED]
        raw = rng.bit_generator.random_raw(-(-len(part) // 8)).view(np.uint8)[: len(part)]
        flag = above[: len(part)]
        np.greater_equal(raw, starts[0], out=part.view(bool))
        for start in starts[1:]:
            np.greater_equal(raw, start, out=flag)
            part += flag.view(np.uint8)
        np.greater_equal(raw, n_settled, out=flag)
        unsettled = np.flatnonzero(flag)
        part[unsettled] = np.searchsorted(residual, rng.random(len(unsettled)), side="right")
    return counts.reshape(shape)


@cache
def _poisson_bytes(rate: float) -> tuple[list[np.uint8], np.uint8, NDArray[np.float64]]:
    """Split the 256 byte values: floor(256 p_k) of them mean count k, the rest are open.

    Returns the first byte of counts 1, 2, ..., the first open byte, and the cumulative law of
    the count given an open byte.
    """
    p = stats.poisson.pmf(np.arange(40), rate)
    n_bytes = np.floor(256 * p).astype(int)
    cumulative = np.cumsum(n_bytes)
    starts = [np.uint8(c) for c in cumulative[:-1][n_bytes[1:] > 0]]
    residual = np.cumsum(256 * p - n_bytes)
    return starts, np.uint8(cumulative[-1]), residual[:-1] / residual[-1]
