"""Differences of the out-of-bag errors of methods that were trained on the same samples.

Row by row and sample by sample, the loss of one method less that of the other is the loss of their
difference, so that what is hard for both cancels out (`out_of_bag_error`). Samples on which a
method has no error are left out for all methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference.out_of_bag import OutOfBagError, out_of_bag_error, out_of_bag_metric
from .degrees_of_freedom import n_effective_of
from .estimates import (
    Kept,
    filled,
    losses_of,
    over_seeds,
    replicates_of,
    usable_rows,
)
from .measures import Measure, RowMeasure

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the runs of one method say of the rows left out, averaged over seeds.

    Attributes
    ----------
    measure : Measure
    kept : Kept
    used : ndarray of shape (n_used,)
        Numbers of the training samples.
    losses : ndarray of shape (n_used, n_samples) or None
        Linearised for functions of means; None for rank metrics and callables.
    influence : ndarray of shape (n_used, n_units) or None
        Of rank metrics and callables.
    value : float
        Error of a function of means; NaN for the others, whose error is a mean.
    scores : ndarray of shape (n_used,) or None
        Error on the rows that each sample left out; None for means of losses.
    """

    measure: Measure
    kept: Kept
    used: Array
    losses: Array | None
    influence: Array | None
    value: float
    scores: Array | None

    @property
    def degrees_of_freedom(self) -> int:
        """Of a t interval; see `skboot.refit.degrees_of_freedom`."""
        return n_effective_of(self.measure, self.kept) - 1


def left_out_by_all(measures: Sequence[Measure], runs: Sequence[Kept]) -> list[LeftOut]:
    """What the runs of each method say of the rows left out, on samples that served them all.

    Parameters
    ----------
    measures, runs : sequence
        Of each method; the samples are the same.

    Returns
    -------
    list of LeftOut
    """
    found = [_left_out(*each) for each in zip(measures, runs, strict=True)]
    every = found[0].used
    for one in found[1:]:
        every = np.intersect1d(every, one.used)
    if all(len(one.used) == len(every) for one in found):
        return found
    only = [_only(kept, every) for kept in runs]
    return [_left_out(*each) for each in zip(measures, only, strict=True)]


def difference_error(first: LeftOut, second: LeftOut) -> OutOfBagError:
    """Out-of-bag error of the first method less that of the second, with its standard error.

    Parameters
    ----------
    first, second : LeftOut
        From one call of `left_out_by_all`, with at least two samples.

    Returns
    -------
    OutOfBagError
    """
    kept = first.kept
    if first.losses is None or second.losses is None:
        assert first.influence is not None
        assert second.influence is not None
        return out_of_bag_metric(
            _less(first.scores, second.scores),
            kept.samples.counts[first.used],
            first.influence - second.influence,
        )
    losses = _less(first.losses, second.losses)
    found = out_of_bag_error(losses, kept.row_counts[first.used], groups=kept.target.unit)
    if first.scores is None:
        return found
    change, scores = first.value - second.value, _less(first.scores, second.scores)
    by_row = found.by_row - found.error + change
    return replace(found, error=change, by_row=by_row, replicates=scores)


def _left_out(measure: Measure, kept: Kept) -> LeftOut:
    n_seeds = kept.samples.n_seeds
    if isinstance(measure, RowMeasure):
        rows = usable_rows(measure, kept)
        used = np.unique(rows.lines // n_seeds)
        if not len(used):
            return LeftOut(measure, kept, used, None, None, np.nan, None)
        losses, value, scores = losses_of(measure, kept, rows)
        return LeftOut(measure, kept, used, losses, None, value, scores)
    lines, errors, influence = replicates_of(measure, kept)
    outside = kept.samples.counts[lines // n_seeds] == 0
    influence = over_seeds(filled(influence, outside, 1.0), lines, n_seeds)
    used = np.unique(lines // n_seeds)
    return LeftOut(measure, kept, used, None, influence, np.nan, over_seeds(errors, lines, n_seeds))


def _only(kept: Kept, samples: Array) -> Kept:
    """Without the runs on other training samples."""
    n_seeds, n_boot = kept.samples.n_seeds, kept.samples.n_bootstrap_runs
    used = set(samples.tolist())
    records = [
        one if k >= n_boot or k // n_seeds in used else {} for k, one in enumerate(kept.records)
    ]
    return replace(kept, records=records)


def _less(first: Any, second: Any) -> Array:
    """First minus second, in numbers that small integers do not overflow."""
    return np.subtract(first, second, dtype=np.result_type(first, second, np.int16))
