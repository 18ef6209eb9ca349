"""Out-of-bag error of the selection of the best of several candidates, from blocks of resamples.

It is the `skboot.method_error.out_of_bag.out_of_bag_error` of models each of which is one of a few
candidates. The losses are then a table of candidates and units, and two passes over the resamples
give the sums that the standard error is made of. No array has n_resamples x n_samples elements.
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


# Where no resample leaves a row out there is no error: NaN.
@np.errstate(invalid="ignore", divide="ignore")
def out_of_bag_error_of_selection(
    losses: Floats,
    chosen: NDArray[np.intp],
    drawn: Blocks,
    *,
    sample_weight: Floats | None = None,
    unit: NDArray[np.integer] | None = None,
) -> OutOfBagError:
    """Out-of-bag error Err(1) where the fit is the selection of a candidate.

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
    first = _first_pass(sums, sizes, chosen, drawn)
    used = float(sizes[first.times > 0].sum())
    error = float(first.means.sum() / used)
    base = np.where(first.times > 0, first.means - sizes * error, 0.0) / used
    weight = n_lines / (used * np.maximum(first.times, 1))
    share = sizes / sizes.sum() + 1 / (n_units - 1)
    moved, linear_sum, square_sum = np.zeros((3, n_units))
    for at, lines in _parts(drawn(), n_lines):
        deviations = np.where(lines == 0, sums[chosen[at]] - first.means, 0.0)
        slope = inverse_share(n_units) * deviations.sum(axis=1) / used
        linear = (lines - first.counts) * slope[:, None]
        moved += linear.sum(axis=0)
        deviations *= weight
        linear -= np.outer(deviations.sum(axis=1), share)
        deviations *= 2 + 1 / (n_units - 1)
        linear += deviations
        linear_sum += linear.sum(axis=0)
        square_sum += np.einsum("ij,ij->j", linear, linear)
    noise = float(np.sum(square_sum - linear_sum**2 / n_lines)) / (n_lines - 1) / n_lines
    influence = base + moved / n_lines
    # The loss of a unit without weight is 0; that of a unit that was never left out is undefined.
    by_unit = np.where(first.times > 0, 0.0, np.nan)
    np.divide(first.means, sizes, out=by_unit, where=(first.times > 0) & (sizes > 0))
    by_row = by_unit if unit is None else by_unit[unit]
    return standard_error_of(error, by_row, first.replicates, influence, noise, base, "centred")


class _FirstPass(NamedTuple):
    """Sums over the resamples that the influence values are made of."""

    means: Floats  # (n_units,) mean out-of-bag loss, summed over the rows; 0 if never out-of-bag
    times: Floats  # (n_units,) number of resamples that leave the unit out
    counts: Floats  # (n_units,) mean number of times it was drawn
    replicates: Floats  # (n_resamples,) mean out-of-bag loss


def _first_pass(sums: Floats, sizes: Floats, chosen: NDArray[np.intp], drawn: Blocks) -> _FirstPass:
    """Return the mean out-of-bag loss of each unit and of each resample."""
    total, times, counts = np.zeros((3, len(sizes)))
    raw, size = np.empty((2, len(chosen)))
    for at, lines in _parts(drawn(), len(chosen)):
        outside = lines == 0
        losses = np.where(outside, sums[chosen[at]], 0.0)
        raw[at] = losses.sum(axis=1)
        # The rounding of a matrix product would depend on the number of resamples in a part.
        size[at] = np.where(outside, sizes, 0.0).sum(axis=1)
        total += losses.sum(axis=0)
        times += np.count_nonzero(outside, axis=0)
        counts += lines.sum(axis=0)
    replicates = raw / size
    means = np.divide(total, times, out=np.zeros_like(total), where=times > 0)
    return _FirstPass(means, times, counts / len(chosen), replicates)


def _of_units(
    losses: Floats, sample_weight: Floats | None, unit: NDArray[np.integer] | None
) -> tuple[Floats, Floats]:
    """Return the weighted sums of the losses over the rows of each unit, and of the weights."""
    weights = np.ones(losses.shape[1]) if sample_weight is None else sample_weight
    if unit is None:
        return (losses if sample_weight is None else losses * weights), weights
    sums = np.array([np.bincount(unit, weights * row) for row in losses])
    return sums, np.bincount(unit, weights).astype(np.float64)


def _parts(
    blocks: Iterable[NDArray[np.integer]], n_lines: int
) -> Iterator[tuple[slice, NDArray[np.integer]]]:
    """Yield which resamples come next, and the counts of a few of them at a time."""
    start = 0
    for block in blocks:
        step = max(1, COUNTS_AT_ONCE // block.shape[1])
        # The last block may hold more resamples than were chosen for.
        for first in range(0, min(len(block), n_lines - start), step):
            lines = block[first : min(first + step, n_lines - start)]
            yield slice(start + first, start + first + len(lines)), lines
        start += len(block)
