"""Systems that are compared, and the difference of two of them.

A pair is always computed with the same one of its systems first, so that exchanging two systems
changes the signs and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .._base.errors import Note, Notes, collected
from .._base.values import spread_of
from ..inference._tuning import DIFFERENCES_AT_ONCE, FEW_CARRIERS
from ..inference.automatic import degeneracy
from ..inference.cautions import caution_of_distances
from ..inference.crossed import robust_variance
from ..inference.differences import (
    CLOSED_FORM,
    HOLDS_FOR_FEW,
    TAILS,
    Difference,
    automatic_method,
    difference_interval,
    p_of_interval,
    p_value,
    planned_method,
    share_won,
)
from ..inference.distribution import JackknifeValues
from ..inference.evidence import Drawn, Evidence, deciding_units, joint_bounds
from ..inference.intervals import INTERVALS, MIRRORED, ROUNDING, limits_of, snapped
from ..inference.multiplicity import (
    JointDeviations,
    joint_deviations,
    max_t_adjusted,
    max_t_quantile,
    step_down,
    t_quantile_of_normal,
)
from ..inference.proportions import Discordant, TwoProportions, discordant_t, mcnemar_p_values
from ..inference.tables import Tabled
from ..inference.two_areas import AreasOfSystems, TwoAreas
from ..metrics.statistic import DeLong, Facts
from ..results import EvaluationResult
from ..results.basis import GapBasis
from ..results.comparison import PairedDifference, few_compared
from ..study.gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of_difference
from ..study.scores import make_gap_result
from ..study.study import Study
from .asked import Asked
from .families import Law, Limits, records_of

Floats = NDArray[np.float64]

# Differences of scores below this share of the scores are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Contestant:
    """A system that is compared, on one metric and subgroup.

    Attributes
    ----------
    name : str
        Its name.
    rank : int
        Where it comes in an order that does not depend on the order of the call.
    evidence : Evidence
        With replicates that are common to the family.
    result : EvaluationResult
        The system by itself.
    shared_notes : tuple of Note
        Notes that hold for every pair, such as of too few rows or groups.
    answer_notes : tuple of Note
        That its predictions equal the truth, or are the same on every row.
    predicted : ndarray of shape (n_samples, ...) or None
        Predictions, to see who predicts the same.
    right : ndarray of shape (n_samples,) or None
        Whether each row counts as 1, for 0/1 values of independent rows.
    left_out : tuple (JackknifeValues, ndarray of shape (n_lines,)) or None
        Values without single units, for BCa.
    areas : tuple (AreasOfSystems, number) or None
        For areas under ROC curves on the same independent rows.
    crossed : tuple (covariances, number) or None
        By cells and members of crossed factors; see `skboot.inference.crossed`.
    is_paired : bool
        Whether all systems were scored on the same rows; else each has resamples of its own.
    table : tuple (Tabled, number of draws, seed, whether they are asked for) or None
        For functions of a table of truth and decision, on rows.
    """

    name: str
    rank: int
    evidence: Evidence
    result: EvaluationResult
    shared_notes: tuple[Note, ...] = ()
    answer_notes: tuple[Note, ...] = ()
    predicted: NDArray[Any] | None = None
    right: NDArray[np.bool_] | None = None
    left_out: tuple[JackknifeValues, Floats] | None = None
    areas: tuple[AreasOfSystems, int] | None = None
    crossed: tuple[Floats, int] | None = None
    is_paired: bool = True
    table: tuple[Tabled, int, Any, bool] | None = None


def pairs_of(names: Iterable[str], reference: str | None) -> list[tuple[str, str]]:
    """All pairs in the order of the call, or each other system with the reference."""
    names = list(names)
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]


def difference_of(first: Contestant, second: Contestant) -> Difference:
    """Return first minus second, with rounding taken out."""
    one, other = first.evidence, second.evidence
    estimate = estimated_differences(np.array([one.estimate]), np.array([other.estimate]))
    replicates = replicated_differences(estimate, one.replicates[None], other.replicates[None])
    acceleration = bias_and_error = freedom = None
    like = fewest_units([first, second])
    if first.left_out is not None and second.left_out is not None:
        values, left_out = first.left_out[1] - second.left_out[1], first.left_out[0]
        acceleration, error, bias, freedom = left_out.moments(values, float(estimate[0]))
        bias_and_error = bias, error
        like = replace(like, drawn=drawn_of_moving(like.drawn, first, second))
    delong = None
    if first.areas is not None and second.areas is not None:
        family = first.areas[0]
        delong = DeLong(family.error(first.areas[1], second.areas[1]), family.smaller_class)
    elif not first.is_paired and one.facts.delong is not None and other.facts.delong is not None:
        areas = (one.facts.delong, other.facts.delong)
        error = float(np.hypot(areas[0].standard_error, areas[1].standard_error))
        delong = DeLong(error, min(area.smaller_class for area in areas))
    evidence = like.of_other_values(
        float(estimate[0]),
        replicates[0],
        Facts(bounds_of_difference(one, other), weighted=one.facts.weighted, delong=delong),
        acceleration=acceleration,
        left_out=bias_and_error,
        error_freedom=freedom,
        robust_variance=_robust_variance(first, second),
        first_look=one.first_look,
        smoothed=smoothed_difference(first, second),
    )
    return Difference(
        evidence,
        _discordant(first, second, replicates[0]),
        are_identical(first, second),
        proportions_of(first, second),
        areas_of(first, second),
    )


def smoothed_difference(first: Contestant, second: Contestant) -> Floats | None:
    """Return the values on drawn tables of two systems; None where many rows decide."""
    if first.table is None or second.table is None:
        return None
    own, *how, asked = first.table
    return own.difference(second.table[0], *how, asked=asked)


def _robust_variance(first: Contestant, second: Contestant) -> float | None:
    """Return the cluster-robust variance of a difference on crossed factors, None if unknown."""
    one, other = first.evidence, second.evidence
    if not first.is_paired and None not in (one.robust_variance, other.robust_variance):
        return one.robust_variance + other.robust_variance  # type: ignore[operator]
    if first.crossed is None or second.crossed is None:
        return None
    covariances, a = first.crossed
    b = second.crossed[1]
    of_difference = covariances[:, a, a] + covariances[:, b, b] - 2 * covariances[:, a, b]
    variance = float(robust_variance(np.maximum(of_difference, 0.0), one.drawn.n_units))
    return None if np.isnan(variance) else variance


def fewest_units(contestants: Sequence[Contestant]) -> Evidence:
    """Return the evidence of a system with the fewest degrees of freedom, for what was drawn.

    On the same rows all have as many. On rows of their own a difference varies at most as if both
    had as few as the one with fewer.
    """
    if contestants[0].is_paired:
        return contestants[0].evidence
    return min(
        (each.evidence for each in contestants), key=lambda one: one.drawn.degrees_of_freedom
    )


def proportions_of(first: Contestant, second: Contestant) -> TwoProportions | None:
    """Return the hits of two systems on independent rows of their own."""
    if first.is_paired:
        return None
    one, other = first.evidence.share, second.evidence.share
    if one is None or other is None:
        return None
    return TwoProportions(one.hits, one.n, other.hits, other.n, one.sign)


def areas_of(first: Contestant, second: Contestant) -> TwoAreas | None:
    """Return the areas of two systems on the same independent rows, as the metric signs them."""
    if first.areas is None or second.areas is None:
        return None
    areas = first.areas[0].pair(first.areas[1], second.areas[1])
    is_negated = first.evidence.facts.bounds[1] <= 0
    return areas.mirrored() if areas is not None and is_negated else areas


def bounds_of_difference(first: Evidence, second: Evidence) -> tuple[float, float]:
    """Range of the first minus the second."""
    (least, greatest), (low, high) = first.facts.bounds, second.facts.bounds
    return least - high, greatest - low


def estimated_differences(first: Floats, second: Floats) -> Floats:
    """Return differences of scores, 0 where they differ by rounding alone."""
    differences = first - second
    scale = _ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(differences) <= scale, 0.0, differences)


def replicated_differences(differences: Floats, first: Floats, second: Floats) -> Floats:
    """Return differences on the resamples, (n_differences, n_resamples), without rounding."""
    replicates = first - second
    with np.errstate(invalid="ignore"):
        sizes = np.abs(first)
        other = np.abs(second)
        np.maximum(sizes, other, out=sizes)
        sizes *= _ROUNDING
        _round_to(replicates, 0.0, np.abs(replicates, out=other), sizes)
        # A difference that never changes must not look as if it did.
        estimates = differences[:, None]
        np.abs(np.subtract(replicates, estimates, out=other), out=other)
        _round_to(replicates, estimates, other, sizes)
    return replicates


def _round_to(values: Floats, to: Any, distances: Floats, most: Floats) -> None:
    """Replace values that are not further off than some sizes, but for those that are there."""
    near = distances <= most
    if near.any():
        np.copyto(values, to, where=np.logical_and(near, distances, out=near))


def _discordant(first: Contestant, second: Contestant, replicates: Floats) -> Discordant | None:
    """Return the rows that tell two systems apart; replicates are those of the difference."""
    if first.right is None or second.right is None:
        share, other = first.evidence.share, second.evidence.share
        if first.evidence.first_look is None or share is None or other is None:
            return None
        # A stream knows how far they are apart on each resample, but not on each row.
        difference = first.evidence.estimate - second.evidence.estimate
        return Discordant.of_spread(difference, float(replicates.var(ddof=1)), share.n)
    first_only = int(np.count_nonzero(first.right & ~second.right))
    second_only = int(np.count_nonzero(second.right & ~first.right))
    return Discordant(first_only, second_only, len(first.right))


def are_identical(first: Contestant, second: Contestant) -> bool:
    """Whether two systems predict the same on every row."""
    one, other = first.predicted, second.predicted
    if one is None or other is None or first.evidence.estimate != second.evidence.estimate:
        return False
    if not (one.dtype.hasobject and other.dtype.hasobject):
        return np.array_equal(one, other)
    # Rows that are arrays have no single answer to whether they are equal.
    rows = zip(one.ravel(), other.ravel(), strict=True)
    return one.shape == other.shape and all(a is b or np.array_equal(a, b) for a, b in rows)


def drawn_of_moving(drawn: Drawn, first: Contestant, second: Contestant) -> Drawn:
    """Return what was drawn for a difference that few units may move.

    Where predictions differ on most rows all move it: those far from a heavy tail seem still.
    """
    if first.left_out is None or second.left_out is None:
        return drawn
    jackknife, values = first.left_out
    n_apart = rows_apart(first, second) if drawn.design.units_are_rows else None
    if n_apart is not None and 2 * n_apart >= len(first.predicted):  # type: ignore[arg-type]
        return drawn
    return drawn.of_moving(jackknife.n_moving(values - second.left_out[1]))


def rows_apart(first: Contestant, second: Contestant) -> int | None:
    """Return on how many rows two systems predict otherwise; None of objects, and if unknown."""
    one, other = first.predicted, second.predicted
    if one is None or other is None or one.dtype.kind != other.dtype.kind or one.dtype.hasobject:
        return None
    if one.shape != other.shape:
        return None
    return int(np.count_nonzero(np.any((one != other).reshape(len(one), -1), axis=1)))


# Pairs of systems in an order of their own, and what all of them share.
#
# 180 systems have 16,110 differences, so that no array of all of them on all resamples is made: what
# concerns each by itself is computed for some pairs on all resamples, and what they have in common
# for all pairs on some resamples.


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """The pairs in an order that does not depend on that of the call.

    Attributes
    ----------
    contestants : list of Contestant
        By rank.
    first, second : ndarray of shape (n_pairs,)
        Numbers of the systems of each pair, the first of the lower rank.
    places : ndarray of shape (n_pairs,)
        Of each pair in the call.
    swapped : ndarray of shape (n_pairs,)
        Whether the call asked for the second minus the first.
    asked : Asked
    has_areas : bool
        Whether systems have areas under ROC curves on the same independent rows.
    """

    contestants: list[Contestant]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    places: NDArray[np.intp]
    swapped: NDArray[np.bool_]
    asked: Asked
    has_areas: bool = False

    @classmethod
    def of(
        cls,
        contestants: Mapping[str, Contestant],
        pairs: Sequence[tuple[str, str]],
        asked: Asked,
    ) -> RankedPairs:
        """Sort the pairs by the ranks of their systems."""
        ordered = sorted(contestants.values(), key=lambda each: each.rank)
        number = {each.name: k for k, each in enumerate(ordered)}
        both = np.array([(number[one], number[other]) for one, other in pairs], dtype=np.intp)
        low, high = both.min(axis=1), both.max(axis=1)
        places = np.lexsort((high, low))
        swapped = (both[:, 0] > both[:, 1])[places]
        has_areas = any(each.areas is not None for each in ordered)
        return cls(ordered, low[places], high[places], places, swapped, asked, has_areas)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Where each pair of the call stands here, (n_pairs,)."""
        return np.argsort(self.places)

    def alternative(self, swapped: Any) -> str:
        """Return the alternative of a pair, whose systems may be swapped."""
        return MIRRORED[self.asked.alternative] if swapped else self.asked.alternative

    @cached_property
    def like(self) -> Evidence:
        """Evidence of the system with the fewest units, for what was drawn."""
        return fewest_units(self.contestants)

    @cached_property
    def replicates(self) -> Floats:
        """Of all systems, (n_systems, n_resamples)."""
        return np.array([each.evidence.replicates for each in self.contestants])

    @cached_property
    def differences(self) -> Floats:
        """On the data, (n_pairs,)."""
        scores = np.array([each.evidence.estimate for each in self.contestants], dtype=np.float64)
        return estimated_differences(scores[self.first], scores[self.second])

    @cached_property
    def counts(self) -> NDArray[np.int64] | None:
        """Rows on which the first alone is right, and the second alone, (n_pairs, 2)."""
        right = [each.right for each in self.contestants]
        if any(each is None for each in right):
            return None
        # Numbers of rows are whole, and products of double precision are much faster.
        rows = np.array(right, dtype=np.float64)
        both = (rows @ rows.T)[self.first, self.second]
        alone = rows.sum(axis=1)
        of_each = np.stack([alone[self.first] - both, alone[self.second] - both], axis=1)
        return of_each.astype(np.int64)

    def discordant(self, k: int) -> Discordant | None:
        """Return the discordant rows of a pair."""
        if self.counts is None:
            return None
        n = len(self.contestants[0].right)  # type: ignore[arg-type]
        return Discordant(int(self.counts[k, 0]), int(self.counts[k, 1]), n)

    def proportions(self, k: int) -> TwoProportions | None:
        """Return the hits of both systems of a pair on rows of their own."""
        if self.counts is not None:
            return None
        return proportions_of(self.contestants[self.first[k]], self.contestants[self.second[k]])

    def areas(self, k: int, *, as_called: bool = False) -> TwoAreas | None:
        """Return the areas under ROC curves of both systems of a pair, by rank or as called."""
        areas = areas_of(self.contestants[self.first[k]], self.contestants[self.second[k]])
        return areas.mirrored() if areas is not None and as_called and self.swapped[k] else areas

    def error_freedom(self, k: int) -> float | None:
        """Return the degrees of freedom of the standard error of a pair, None if unknown."""
        first, second = (self.contestants[each[k]].left_out for each in (self.first, self.second))
        if first is None or second is None:
            return None
        found = first[0].error_freedom(first[1] - second[1])
        return found if np.isfinite(found) else None

    def drawn(self, k: int) -> Drawn:
        """Return what was drawn for a pair, which few units may move."""
        pair = self.contestants[self.first[k]], self.contestants[self.second[k]]
        return drawn_of_moving(self.like.drawn, *pair)

    def n_deciding(self, k: int) -> float | None:
        """Return how many units carry the variation of a difference; see `deciding_units`."""
        if self.counts is not None:
            first, second = self.counts[k].tolist()
            n = len(self.contestants[0].right)  # type: ignore[arg-type]
            mean = (first - second) / n
            influence = np.array([1.0, -1.0, 0.0]) - mean
            return deciding_units(influence, np.array([first, second, n - first - second]))
        first, second = self.contestants[self.first[k]], self.contestants[self.second[k]]
        numbers = [first.evidence.facts.deciding, second.evidence.facts.deciding]
        if first.left_out is not None and second.left_out is not None:
            jackknife, values = first.left_out
            numbers.append(jackknife.n_deciding(values - second.left_out[1]))
        elif first.is_paired and self.like.drawn.design.units_are_rows:
            numbers.append(rows_apart(first, second))
        return min((float(n) for n in numbers if n is not None), default=None)

    def smoothed(self, k: int) -> Floats | None:
        """Return the values of a pair on drawn tables; None where many rows decide."""
        if self.identical[k]:
            return None
        return smoothed_difference(
            self.contestants[self.first[k]], self.contestants[self.second[k]]
        )

    def difference(self, k: int) -> Difference:
        """Return the difference of a pair with its replicates."""
        return difference_of(self.contestants[self.first[k]], self.contestants[self.second[k]])

    @cached_property
    def identical(self) -> NDArray[np.bool_]:
        """Whether both systems predict the same on every row, (n_pairs,)."""
        identical = self.differences == 0
        for k in np.flatnonzero(identical):
            pair = self.contestants[self.first[k]], self.contestants[self.second[k]]
            identical[k] = are_identical(*pair)
        return identical

    def blocks_of_resamples(self) -> Iterator[Floats]:
        """Yield the differences of all pairs on some resamples, (n_resamples, n_pairs)."""
        by_resample = np.ascontiguousarray(self.replicates.T)
        step = max(1, DIFFERENCES_AT_ONCE // len(self))
        for start in range(0, len(by_resample), step):
            rows = by_resample[start : start + step]
            yield np.take(rows, self.first, axis=1) - np.take(rows, self.second, axis=1)


# Each difference of a family by itself: its interval, p-value and support.


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


# The law of differences of systems: their replicates on common resamples.


class Replicated(Law):
    """The law of pairs of systems, in the order and direction of the call.

    Attributes
    ----------
    family : RankedPairs
    found : Alone
        What is known of each pair without regard to the others, by rank.
    """

    def __init__(self, family: RankedPairs) -> None:
        self.asked, self.family, self.found = family.asked, family, each_alone(family)
        self.bounds = joint_bounds(each.evidence for each in family.contestants)

    @cached_property
    def differences(self) -> Floats:
        """See `Law.differences`."""
        by_rank = self.family.differences
        return np.where(self.family.swapped, 0.0 - by_rank, by_rank)[self.family.order]

    @cached_property
    def standard_errors(self) -> Floats:
        """See `Law.standard_errors`."""
        closed, error = self.found.closed_error, self.found.error
        return np.where(np.isnan(closed), error, closed)[self.family.order]

    @property
    def degrees_of_freedom(self) -> list[float | None]:
        """See `Law.degrees_of_freedom`."""
        drawn = [self.family.drawn(k) for k in self.family.order.tolist()]
        return [
            None if method in CLOSED_FORM else own.degrees_of_freedom
            for method, own in zip(self.alone.method, drawn, strict=True)
        ]

    @cached_property
    def alone(self) -> Limits:
        """See `Law.alone`."""
        return self._as_called(self._alone)

    def stricter(self) -> Limits:
        """See `Law.stricter`."""
        n = len(self.family)
        limits = [self._bonferroni(k) for k in range(n)]
        low, high, p = np.array([(*own, p) for own, p in limits]).T
        found = Limits(low, high, p, self._alone.method, self._quantiles(n))
        return self._as_called(self._holding_alone(found).named("bonferroni"))

    def largest(self) -> Limits:
        """See `Law.largest`: simultaneous intervals and p-values from the joint bootstrap."""
        family, alone = self.family, self._alone
        joint, errors, towards = self._deviations, self._errors, self._towards
        evidence = family.like.of_other_values(
            family.differences, np.empty(0), max_t=(errors, joint.largest)
        )
        low, high = INTERVALS["max-t"].limits(evidence, self.asked.confidence_level)
        if towards is not None:
            low, high = np.where(towards > 0, low, -np.inf), np.where(towards > 0, np.inf, high)
        drawn = family.like.drawn
        deviations = t_quantile_of_normal(joint.largest, drawn.degrees_of_freedom, drawn.inflation)
        p = max_t_adjusted(alone.p_values, family.differences, errors, deviations, towards)
        quantile = max_t_quantile(joint.largest, self.asked.confidence_level)
        quantiles = np.full(len(family), quantile)
        low, high = snapped(low, high)
        for k in np.flatnonzero(~(errors > 0)).tolist():
            # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
            (low[k], high[k]), p[k] = self._bonferroni(k)
            quantiles[k] = self._quantiles(len(family))[k]
        signs = self._signs() if self.asked.with_ranks else None
        found = Limits(low, high, p, alone.method, quantiles, signs).named("max-t")
        return self._as_called(self._holding_alone(found))

    # -------------------------------------------------------------- by rank

    @cached_property
    def _alone(self) -> Limits:
        found = self.found
        return Limits(found.low, found.high, found.p, found.method, self._quantiles(1))

    def _quantiles(self, n_pairs: int) -> Floats:
        """Quantile of the normal distribution at Bonferroni's level, for each pair."""
        rest = (1 - self.asked.confidence_level) / n_pairs
        tail = rest / 2 if self.asked.alternative == "two-sided" else rest
        return np.full(len(self.family), -ndtri(tail))

    @cached_property
    def _errors(self) -> Floats:
        return np.where(self.found.varies, self.found.error, 0.0)

    @cached_property
    def _towards(self) -> Floats | None:
        """1 or -1 by the side that each pair is tested on; None for two."""
        if self.asked.alternative == "two-sided":
            return None
        return np.where(self.family.swapped, -1.0, 1.0) * (
            1 if self.asked.alternative == "greater" else -1
        )

    @cached_property
    def _deviations(self) -> JointDeviations:
        family = self.family
        return joint_deviations(
            family.differences,
            self._errors,
            family.blocks_of_resamples(),
            family.like.drawn.degrees_of_freedom,
            signs=self._towards,
            with_signs=self.asked.with_ranks and family.counts is None,
        )

    def _signs(self) -> NDArray[np.int8]:
        """Return 1 where the first is told to score higher, -1 lower, by step-down tests."""
        like, counts, errors = self.family.like, self.family.counts, self._errors
        df, rest = like.drawn.degrees_of_freedom, 1 - self.asked.confidence_level
        if counts is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                t = self.family.differences / np.where(errors > 0, errors, np.nan)
            # The standard error of resamples is too small by sqrt(df / n).
            t /= np.sqrt(like.drawn.inflation)
        else:
            n = len(self.family.contestants[0].right)  # type: ignore[arg-type]
            t = np.sign(self.family.differences) * discordant_t(counts[:, 0], counts[:, 1], n)
        # Differences of right and wrong rows are skewed where few rows tell two systems apart. Many
        # pairs together get that far out, and resamples about the estimates do not show it.
        known = self._deviations if counts is None else None
        return step_down(t, known, 1 - rest, lambda m: -float(stdtrit(df, rest / m)))

    def _holding_alone(self, found: Limits) -> Limits:
        """Widen simultaneous intervals to hold the one of the pair by itself."""
        alone = self._alone
        return replace(
            found,
            low=np.minimum(found.low, alone.low),
            high=np.maximum(found.high, alone.high),
        )

    def _bonferroni(self, k: int) -> tuple[tuple[float, float], float]:
        """Interval at level 1 - (1 - level) / m, and m times the p-value.

        From the bootstrap standard error: quantiles so far out would need many more resamples.
        """
        family, alone = self.family, self.found
        own, method = (float(alone.low[k]), float(alone.high[k])), str(alone.method[k])
        if np.isnan(own[0] + own[1]):
            return own, np.nan
        n_pairs, level = len(family), self.asked.confidence_level
        p = float(np.minimum(1.0, n_pairs * alone.p[k]))
        still = not alone.varies[k] and family.differences[k] == 0 and not np.isnan(p)
        if family.identical[k] or still:
            return own, p
        difference = family.difference(k)
        if not difference.varies and method not in CLOSED_FORM:
            # Equal differences on all resamples do not show how sure the difference is.
            return difference.evidence.facts.bounds, 1.0
        stricter = 1 - (1 - level) / n_pairs
        method = method if method in CLOSED_FORM else "t"
        alternative = family.alternative(family.swapped[k])
        # The interval of the pair by itself has told that resamples are too few.
        with collected():
            return difference_interval(difference, method, stricter, alternative).uncut, p

    def _as_called(self, limits: Limits) -> Limits:
        """Return limits by rank in the order and direction of the call."""
        at, swapped, signs = self.family.order, self.family.swapped, limits.signs
        assert limits.quantiles is not None
        return Limits(
            np.where(swapped, 0.0 - limits.high, limits.low)[at],
            np.where(swapped, 0.0 - limits.low, limits.high)[at],
            limits.p_values[at],
            limits.method[at],
            limits.quantiles[at],
            None if signs is None else np.where(swapped, -signs, signs)[at],
        )


# Differences between systems: each by itself, and all at once.
#
# The functions take replicates from wherever they come.


def compare_pairs(
    contestants: Mapping[str, Contestant], pairs: Sequence[tuple[str, str]], asked: Asked
) -> tuple[list[PairedDifference], list[Note]]:
    """Return the records of all pairs, and what must be known of them.

    Parameters
    ----------
    contestants : mapping of str to Contestant
    pairs : sequence of tuple of str
        Which to compare.
    asked : Asked

    Returns
    -------
    pairs : list of PairedDifference
        In the order of ``pairs``.
    notes : list of Note
    """
    family = RankedPairs.of(contestants, pairs, asked)
    with collected() as too_few:
        law = Replicated(family)
    records = records_of(law, pairs, PairedDifference, **_further(family, law))
    return records, [*dict.fromkeys(too_few), *_notes(family, law.found, records)]


def _further(family: RankedPairs, law: Replicated) -> dict[str, Sequence[Any]]:
    """Return what else is known of each pair, by the attribute of its record."""
    support = np.where(family.swapped, 1.0 - law.found.support, law.found.support)
    columns: dict[str, Sequence[Any]] = {
        "bootstrap_support": support[family.order].tolist(),
        "n_deciding": [family.n_deciding(k) for k in family.order.tolist()],
        "reason": np.where(law.found.untold, _same(family), "")[family.order].tolist(),
    }
    if not family.like.drawn.varies:
        return columns | {"reason": [family.like.drawn.why_none.rstrip(".")] * len(family)}
    if family.asked.first_look is not None:
        # Counts and areas serve verdicts and p-values of one look.
        return columns
    if family.has_areas:
        columns["areas"] = [family.areas(k, as_called=True) for k in family.order.tolist()]
    counts = family.counts
    if counts is None and not family.has_areas:
        columns["error_freedom"] = [family.error_freedom(k) for k in family.order.tolist()]
    if counts is None:
        return columns
    counts = np.where(family.swapped[:, None], counts[:, ::-1], counts)[family.order]
    n = len(family.contestants[0].right)  # type: ignore[arg-type]
    p_values = mcnemar_p_values(counts[:, 0], counts[:, 1], family.asked.alternative)
    return columns | {
        "discordant": [Discordant(one, other, n) for one, other in counts.tolist()],
        "mcnemar_p_value": p_values.tolist(),
    }


# ------------------------------------------------------------------ notes


def _notes(family: RankedPairs, alone: Alone, records: Sequence[PairedDifference]) -> Notes:
    """Return what must be known of the differences; ``records`` are in the order of the call."""
    asked, notes = family.asked, Notes()
    same, flat, few = [], [], []
    identical = family.identical[family.order].tolist()
    for record, is_identical in zip(records, identical, strict=True):
        if is_identical:
            same.append(f"{record.first} and {record.second}")
        elif asked.interval == "auto" and record.confidence_interval.method == "tango":
            few.append(f"{record.first} and {record.second}")
        elif family.like.drawn.varies and (
            reason := record.reason or degeneracy(record.confidence_interval)
        ):
            flat.append(f"{record.first} and {record.second}: {reason}")
    if same:
        notes.add(
            "degenerate",
            f"Identical predictions: {_listed(same)}. Their difference is 0, and its interval "
            "[0, 0] is degenerate: it does not show that they would agree on other rows.",
        )
    if few:
        notes.add(
            "choice",
            f"Fewer than ten discordant rows, so the interval is Tango's: {_listed(few)}.",
        )
    notes += [Note("degenerate", text) for text in flat[:3]]
    if alone.n_undefined.any():
        most = int(alone.n_undefined.max())
        notes.add("advice", f"Undefined on up to {most} resamples, which are left out.")
    notes += _few(family, records)
    if family.contestants[0].evidence.facts.of_distances:
        notes += caution_of_distances(family.contestants[0].evidence)
    n_resamples, rest = family.replicates.shape[1], 1 - asked.confidence_level
    sides = 2 if asked.alternative == "two-sided" else 1
    needed = int(np.ceil(sides * len(records) / rest))
    if asked.adjust == "holm" and n_resamples + 1 < needed:
        notes.add(
            "advice",
            f"With {n_resamples} resamples no p-value adjusted by Holm for {len(records)} "
            f"differences can fall below {rest:.2g}: use n_resamples={needed - 1} "
            "or adjust='max-t'.",
        )
    return notes


def _same(family: RankedPairs) -> str:
    """Return why few units that all give the same difference give no interval."""
    unit, n_units = family.contestants[0].result.unit, min(family.like.drawn.n_units)
    what = f"All {n_units} {unit}s give"
    return f"{what} the same difference, which does not show how far others would differ."


def _few(family: RankedPairs, records: Sequence[PairedDifference]) -> Notes:
    """Return cautions for differences that few units decide, and for few units of all.

    The latter unless the systems by themselves have a note of it.
    """
    notes, unit = Notes(), family.contestants[0].result.unit
    few = [
        (record, min(round(record.n_deciding), FEW_CARRIERS - 1))
        for record, is_identical in zip(records, family.identical[family.order], strict=True)
        if record.n_deciding is not None
        and record.n_deciding < FEW_CARRIERS
        and record.confidence_interval.method not in HOLDS_FOR_FEW
        and not is_identical
    ]
    if few:
        notes.add(
            "caution",
            f"Few {unit}s decide these differences (fewer than {FEW_CARRIERS}), which are rough: "
            f"{_listed([f'{own.first} and {own.second} (about {n})' for own, n in few])}.",
        )
        return notes
    shared = [note for each in family.contestants for note in each.shared_notes]
    fewest = min(min(each.evidence.drawn.n_units) for each in family.contestants)
    caution = few_compared(unit, fewest)
    if caution and not any(note.kind == "few" for note in shared):
        notes.add("advice", caution)
    return notes


def _listed(names: Sequence[str], most: int = 5) -> str:
    if len(names) <= most:
        return "; ".join(names)
    return f"{'; '.join(names[:most])}; and {len(names) - most} more"


# ------------------------------------------------------------------ subgroups


def largest_gaps(
    study: Study,
    metric: str,
    families: Mapping[Any, Mapping[str, Contestant]],
    pairs: Sequence[tuple[str, str]],
) -> dict[str, EvaluationResult]:
    """For each pair of systems, the two subgroups between which its difference changes most.

    The intervals are simultaneous over all pairs of subgroups and all pairs of systems.
    """
    first, parts = next(iter(study.scores[metric].values()))[0], study.parts
    every = [contestant.evidence for family in families.values() for contestant in family.values()]
    subgroups = measured(first.statistic, first.rows, parts, every)
    gaps = {}
    for one, other in pairs:
        within = [
            difference_of(families[part.name][one], families[part.name][other]) for part in parts
        ]
        evidence = [difference.evidence for difference in within]
        kept = kept_of(subgroups, evidence, metric)
        pair = NO_PAIR
        gap = no_gap(evidence[0], len(pairs))
        if kept.at:
            sides = [
                side_of_difference(first.statistic, subgroups[k], evidence[k], within[k].discordant)
                for k in kept.at
            ]
            (a, b), gap = gap_of(sides, [evidence[k] for k in kept.at], len(pairs))
            pair = f"{subgroups[kept.at[a]].name} - {subgroups[kept.at[b]].name}"
        n_pairs = len(kept.at) * (len(kept.at) - 1) // 2
        name = f"{one} - {other}"
        n_changes = n_pairs * len(pairs)
        which = f"The largest of {n_pairs} changes between subgroups"
        if n_pairs == 1:
            which = "The change between the two subgroups"
        of_all = f", with its simultaneous interval over {n_changes} changes"
        notes = [f"{which} of the difference {name}{of_all if n_changes > 1 else ''}."]
        result = make_gap_result(
            study,
            GapBasis(gap, metric=metric, pair=f"{name}: {pair}", of_systems=True),
            notes if n_pairs else [],
            [*kept.cautions, *caution_of_distances(every[0])],
        )
        fixed = ("the trained systems", *result.held_fixed[1:])
        gaps[name] = result._with_provenance(held_fixed=fixed)
    return gaps
