"""Out-of-bag error of choosing the best of several candidates, from blocks of resamples.

What `skboot.method_error.out_of_bag.out_of_bag_error` does for the losses of all models on all
rows, where the model of a resample is one of a few candidates: the losses are then a table of
candidates and units, and two passes over the resamples add up all that the standard error needs.
Nothing of size n_resamples x n_samples is ever held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._tuning import COUNTS_AT_ONCE
from .out_of_bag import OutOfBagError, inverse_share, standard_error_of

Floats = NDArray[np.float64]
Blocks = Callable[[], Iterable[NDArray[np.integer]]]


def out_of_bag_error_of_selection(
    losses: Floats,
    chosen: NDArray[np.intp],
    drawn: Blocks,
    *,
    sample_weight: Floats | None = None,
    unit: NDArray[np.integer] | None = None,
) -> OutOfBagError:
    """Out-of-bag error Err(1) with the choice of a candidate as the fit.

    Parameters
    ----------
    losses : ndarray of shape (n_candidates, n_samples)
        Loss of each candidate on each row.
    chosen : ndarray of shape (n_resamples,)
        Number of the candidate that each resample chose.
    drawn : callable
        ``drawn()`` yields how often each unit occurs in consecutive resamples, (n_lines, n_units)
        a block. It is called twice and must give the same both times.
    sample_weight : ndarray of shape (n_samples,), optional
        Weight of each row in all means. A whole number stands for as many copies of a row, which
        are drawn together.
    unit : ndarray of shape (n_samples,), optional
        Number of the unit of each row, where whole groups are drawn.

    Returns
    -------
    OutOfBagError
        ``by_row`` is the error of the row's unit.

    Notes
    -----
    All rows of a unit are left out together, so they enter by their sums. The terms are those of
    `out_of_bag_error`; the mean of the slopes is 0, since each unit's losses are centred over the
    resamples that leave it out, and so the second pass needs only what the first has summed.
    """
    sums, sizes = _of_units(losses, sample_weight, unit)
    n_lines, n_units = len(chosen), len(sizes)
    found = _summed(sums, sizes, chosen, drawn)
    used = float(sizes[found.times > 0].sum())
    error = float(found.means.sum() / used)
    base = np.where(found.times > 0, found.means - sizes * error, 0.0) / used
    weight = n_lines / (used * np.maximum(found.times, 1))
    share = sizes / sizes.sum() + 1 / (n_units - 1)
    moved, first, second = np.zeros((3, n_units))
    for at, lines in _parts(drawn(), n_lines):
        gaps = np.where(lines == 0, sums[chosen[at]] - found.means, 0.0)
        slope = inverse_share(n_units) * gaps.sum(axis=1) / used
        linear = (lines - found.counts) * slope[:, None]
        moved += linear.sum(axis=0)
        gaps *= weight
        linear -= np.outer(gaps.sum(axis=1), share)
        gaps *= 2 + 1 / (n_units - 1)
        linear += gaps
        first += linear.sum(axis=0)
        second += np.einsum("ij,ij->j", linear, linear)
    noise = float(np.sum(second - first**2 / n_lines)) / (n_lines - 1) / n_lines
    influence = base + moved / n_lines
    # A unit without weight has no loss; one that was never left out has none that is known.
    by_unit = np.where(found.times > 0, 0.0, np.nan)
    np.divide(found.means, sizes, out=by_unit, where=(found.times > 0) & (sizes > 0))
    by_row = by_unit if unit is None else by_unit[unit]
    return standard_error_of(error, by_row, found.replicates, influence, noise, base, "centred")


class _FirstPass(NamedTuple):
    """Sums over the resamples, which the influence values need beforehand."""

    means: Floats  # (n_units,) mean out-of-bag loss, summed over the rows; 0 if never out-of-bag
    times: Floats  # (n_units,) number of resamples that leave the unit out
    counts: Floats  # (n_units,) mean number of times it was drawn
    replicates: Floats  # (n_resamples,) mean out-of-bag loss


def _summed(sums: Floats, sizes: Floats, chosen: NDArray[np.intp], drawn: Blocks) -> _FirstPass:
    total, times, counts = np.zeros((3, len(sizes)))
    raw, size = np.empty((2, len(chosen)))
    for at, lines in _parts(drawn(), len(chosen)):
        outside = lines == 0
        own = np.where(outside, sums[chosen[at]], 0.0)
        raw[at] = own.sum(axis=1)
        # No matrix product: its rounding would depend on how many resamples come together.
        size[at] = np.where(outside, sizes, 0.0).sum(axis=1)
        total += own.sum(axis=0)
        times += np.count_nonzero(outside, axis=0)
        counts += lines.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = raw / size
    means = np.divide(total, times, out=np.zeros_like(total), where=times > 0)
    return _FirstPass(means, times, counts / len(chosen), replicates)


def _of_units(
    losses: Floats, sample_weight: Floats | None, unit: NDArray[np.integer] | None
) -> tuple[Floats, Floats]:
    """Weighted sums of the losses over the rows of each unit, and the sums of the weights."""
    weights = np.ones(losses.shape[1]) if sample_weight is None else sample_weight
    if unit is None:
        return (losses if sample_weight is None else losses * weights), weights
    sums = np.array([np.bincount(unit, weights * row) for row in losses])
    return sums, np.bincount(unit, weights).astype(np.float64)


def _parts(
    blocks: Iterable[NDArray[np.integer]], n_lines: int
) -> Iterator[tuple[slice, NDArray[np.integer]]]:
    """Few resamples at a time, and which they are."""
    start = 0
    for block in blocks:
        step = max(1, COUNTS_AT_ONCE // block.shape[1])
        # A block may hold more lines than are wanted.
        for first in range(0, min(len(block), n_lines - start), step):
            lines = block[first : min(first + step, n_lines - start)]
            yield slice(start + first, start + first + len(lines)), lines
        start += len(block)
