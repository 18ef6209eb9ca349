"""Each difference of a family by itself: its interval, p-value and support."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._base.errors import collected
from .._base.values import spread_of
from ..inference._tuning import DIFFERENCES_AT_ONCE
from ..inference.differences import (
    CLOSED_FORM,
    TAILS,
    Difference,
    automatic_method,
    difference_interval,
    p_of_interval,
    p_value,
    planned_method,
    share_won,
)
from ..inference.intervals import ROUNDING, limits_of, snapped
from .contestants import replicated_differences
from .ranked_pairs import RankedPairs


class Alone:
    """What is known of each pair without regard to the others; arrays of shape (n_pairs,)."""

    def __init__(self, family: RankedPairs) -> None:
        n = len(family)
        self.low, self.high, self.p = np.full((3, n), np.nan)
        self.error, self.closed_error, self.support = np.full((3, n), np.nan)
        self.varies = np.zeros(n, dtype=bool)
        self.n_undefined = np.zeros(n, dtype=np.intp)
        self.method = np.full(n, family.asked.interval, dtype=object)
        self.untold = np.zeros(n, dtype=bool)


def each_alone(family: RankedPairs) -> Alone:
    """Return the difference of each pair of systems without regard to the others."""
    alone = Alone(family)
    asked = family.asked
    if not family.like.drawn.varies:
        alone.method[:] = "undefined"
        return alone
    usual = planned_method(family.like.drawn) if asked.interval == "auto" else asked.interval
    in_batches = usual in TAILS and bool(np.isfinite(family.replicates).all())
    in_batches = in_batches and family.replicates.shape[1] > 1
    step = max(1, DIFFERENCES_AT_ONCE // family.replicates.shape[1])
    swapped = family.swapped & (asked.alternative != "two-sided")
    for side in (False, True):
        pairs = np.flatnonzero(swapped == side)
        alternative = family.alternative(side)
        if in_batches:
            for start in range(0, len(pairs), step):
                _fill_batch(family, alone, pairs[start : start + step], usual, alternative)
        for k in pairs.tolist():
            _fill_one(family, alone, k, alternative, filled=in_batches)
    if asked.interval == "auto":
        # Few units that all give the same difference do not show how far others are apart.
        alone.untold = (alone.method == "t") & ~alone.varies & ~family.identical
        alone.low[alone.untold] = alone.high[alone.untold] = alone.p[alone.untold] = np.nan
    return alone


def _fill_batch(
    family: RankedPairs, alone: Alone, pairs: NDArray[np.intp], method: str, alternative: str
) -> None:
    """Fill in some pairs by an interval of a batch; see `skboot.inference.differences.TAILS`."""
    estimates = family.differences[pairs]
    first, second = (family.replicates[each[pairs]] for each in (family.first, family.second))
    batch = family.like.of_other_values(estimates, replicated_differences(estimates, first, second))
    ordered, level = batch.sorted_replicates, family.asked.confidence_level
    alone.varies[pairs] = varies = ordered[:, 0] < ordered[:, -1]
    alone.error[pairs] = np.where(varies, spread_of(ordered, 1), 0.0)
    better = family.contestants[0].result.greater_is_better
    n_won = np.count_nonzero(ordered < 0 if better is False else ordered > 0, axis=1)
    n_ties = np.count_nonzero(ordered == 0, axis=1)
    alone.support[pairs] = (n_won + 0.5 * n_ties) / ordered.shape[1]
    low, high = limits_of(batch, method, level, alternative)
    # Replicates that differ by rounding alone are one value, as `confidence_interval` has it.
    with np.errstate(invalid="ignore"):
        flat = (high > low) & (high - low <= ROUNDING * np.abs(estimates))
    low, high = np.where(flat, estimates, low), np.where(flat, estimates, high)
    alone.low[pairs], alone.high[pairs] = snapped(low, high)
    alone.method[pairs] = method
    with collected():
        alone.p[pairs] = p_of_interval(batch, method, level, alternative)


def _fill_one(family: RankedPairs, alone: Alone, k: int, alternative: str, *, filled: bool) -> None:
    """Fill in one pair; those of a batch are left but for identical systems and closed forms."""
    asked, counts = family.asked, family.discordant(k)
    method = asked.interval
    difference: Difference
    if filled:
        proportions = family.proportions(k)
        areas = family.areas(k) if family.has_areas else None
        if method == "auto":
            method = planned_method(family.drawn(k), counts, proportions, areas)
            if counts is not None and not alone.varies[k]:
                method = "tango"
        smoothed = None
        if asked.interval == "auto" and method not in CLOSED_FORM:
            smoothed = family.smoothed(k)
            method = method if smoothed is None else "smoothed"
        if method == alone.method[k] and not family.identical[k]:
            return
        evidence = replace(family.like, estimate=float(family.differences[k]), smoothed=smoothed)
        identical = bool(family.identical[k])
        difference = Difference(evidence, counts, identical, proportions, areas)
        if method not in CLOSED_FORM and smoothed is None:
            difference = family.difference(k)
    else:
        difference = family.difference(k)
        defined = difference.evidence.sorted_replicates
        method = automatic_method(difference) if method == "auto" else method
        spread = float(spread_of(defined)) if difference.varies else 0.0
        alone.varies[k] = difference.varies
        alone.error[k] = spread if len(defined) > 1 else np.nan
        better = family.contestants[0].result.greater_is_better
        alone.support[k] = share_won(defined, better)
        alone.n_undefined[k] = len(difference.evidence.replicates) - len(defined)
    level = asked.confidence_level
    interval = difference_interval(difference, method, level, alternative)
    alone.low[k], alone.high[k] = interval.uncut
    alone.p[k] = p_value(difference, method, level, alternative)
    alone.method[k] = method
    if method in CLOSED_FORM:
        alone.closed_error[k] = difference.closed_error
