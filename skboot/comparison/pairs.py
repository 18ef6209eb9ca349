"""Pairs of systems: each difference by itself, and all of them at once.

A pair is computed with the same one of its systems first, whatever the order of the call, so that
exchanging two systems changes the signs and nothing else. 180 systems have 16,110 differences, so
that no array of all of them on all resamples is made: what concerns each by itself is computed for
some pairs on all resamples, and what they have in common for all pairs on some resamples.

`ScoredSystems` and `SystemPairs` hold what is compared, `PairIntervals` the interval of each
difference by itself, and `ReplicatedDifferences` gives limits of all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .._base.errors import Note, Notes, collected, counted
from .._base.values import LazySequence, spread_of
from ..inference._tuning import (
    DIFFERENCES_AT_ONCE,
    FEW_CARRIERS,
    FEW_COMPARED,
    FEW_DISCORDANT,
)
from ..inference.automatic import caution_of_distances, degeneracy
from ..inference.dependence import robust_variance
from ..inference.differences import (
    CLOSED_FORM,
    HOLDS_FOR_FEW,
    TAILS,
    Difference,
    automatic_method,
    difference_interval,
    p_of_interval,
    p_value,
    planned_difference_method,
    share_won,
)
from ..inference.distribution import JackknifeValues
from ..inference.evidence import (
    DrawnUnits,
    Evidence,
    JackknifeBias,
    LargestDeviations,
    joint_bounds,
)
from ..inference.intervals import INTERVALS, MIRRORED, ROUNDING, limits_of, snapped
from ..inference.multiplicity import (
    joint_deviations,
    max_t_adjusted,
    max_t_quantile,
    step_down,
    t_quantile_of_normal,
)
from ..inference.proportions import (
    AreasOfSystems,
    Discordant,
    TwoAreas,
    TwoProportions,
    discordant_t,
    mcnemar_p_values,
)
from ..inference.tables import MetricOfTable
from ..metrics.statistic import DeLong, Facts
from ..results import EvaluationResult
from ..results.comparison import PairedDifference, PairRecords, few_compared
from .arguments import ComparisonOptions
from .families import (
    SCORE_ROUNDING,
    DifferenceDistribution,
    DifferenceLimits,
    estimated_differences,
)

Floats = NDArray[np.float64]
# Differences of scores that take at most so many values are sorted by a table of all differences of
# two values, which have ranks of 16 bits, where there are so many differences.
_MOST_VALUES = 256
_MANY_DIFFERENCES = 1 << 19


# ------------------------------------------------------------------ systems


@dataclass(frozen=True, eq=False)
class SameRows:
    """What is known together of systems that were scored on the same rows.

    Attributes
    ----------
    predicted : sequence of ndarray of shape (n_samples, ...) or None
        Predictions of each system, to see who predicts the same.
    right : sequence of ndarray of shape (n_samples,) or None
        Whether each row counts as 1 for each system, for 0/1 values of independent rows.
    left_out : JackknifeValues or None
        Values without single units, for BCa.
    areas : AreasOfSystems or None
        For areas under ROC curves on independent rows.
    covariances : ndarray of shape (n_tables, n_systems, n_systems) or None
        By cells and members of crossed factors; see `skboot.inference.dependence`.
    tables : sequence of MetricOfTable or None
        Of each system, for functions of a table of truth and decision.
    seed : numpy.random.SeedSequence
        That tables are drawn by.
    """

    predicted: Sequence[NDArray[Any] | None]
    right: Sequence[NDArray[np.bool_] | None]
    left_out: JackknifeValues | None
    areas: AreasOfSystems | None
    covariances: Floats | None
    tables: Sequence[MetricOfTable | None]
    seed: np.random.SeedSequence

    def are_identical(self, i: int, j: int) -> bool:
        """Whether two systems with the same score predict the same on every row."""
        pred_i, pred_j = self.predicted[i], self.predicted[j]
        if pred_i is None or pred_j is None:
            return False
        if not (pred_i.dtype.hasobject and pred_j.dtype.hasobject):
            return np.array_equal(pred_i, pred_j)
        # Rows that are arrays have no single answer to whether they are equal.
        rows = zip(pred_i.ravel(), pred_j.ravel(), strict=True)
        return pred_i.shape == pred_j.shape and all(a is b or np.array_equal(a, b) for a, b in rows)

    def rows_apart(self, i: int, j: int) -> int | None:
        """Return on how many rows two systems predict otherwise; None of objects, or if unknown."""
        pred_i, pred_j = self.predicted[i], self.predicted[j]
        if pred_i is None or pred_j is None or pred_i.dtype.kind != pred_j.dtype.kind:
            return None
        if pred_i.dtype.hasobject or pred_i.shape != pred_j.shape:
            return None
        return int(np.count_nonzero(np.any((pred_i != pred_j).reshape(len(pred_i), -1), axis=1)))


class ScoredSystems:
    """Systems that are compared by one metric on one subgroup, each with its score and replicates.

    They are numbered in an order that does not depend on that of the call.

    Attributes
    ----------
    results : mapping of str to EvaluationResult
        Each system by itself, in that order.
    shared_notes : mapping of str to sequence of Note
        By system: what holds for every pair, such as too few rows or groups.
    answer_notes : mapping of str to sequence of Note
        By system: that its predictions equal the truth, or are the same on every row.
    same_rows : SameRows or None
        None of systems on rows of their own, each with its own resamples.
    evidence : list of Evidence
        Of each system.
    replicates : ndarray of shape (n_systems, n_resamples)
    drawn : DrawnUnits
        What was drawn. On the same rows all systems have as many degrees of freedom; on rows of
        their own it is that of the system with the fewest.
    unit : str
        What was drawn, in the singular.
    greater_is_better : bool or None
    """

    def __init__(
        self,
        results: Mapping[str, EvaluationResult],
        shared_notes: Mapping[str, Sequence[Note]],
        answer_notes: Mapping[str, Sequence[Note]],
        same_rows: SameRows | None,
    ) -> None:
        self.results, self.same_rows = results, same_rows
        self.shared_notes, self.answer_notes = shared_notes, answer_notes
        any_result = next(iter(results.values()))
        self.metric, self.unit = any_result.metric, any_result.unit
        self.greater_is_better = any_result.greater_is_better
        self.evidence = [result._evidence for result in results.values()]
        self.replicates = np.array([system.replicates for system in self.evidence])
        self.drawn = self.evidence[0].drawn
        if same_rows is None:
            units = [system.drawn for system in self.evidence]
            self.drawn = min(units, key=attrgetter("degrees_of_freedom"))

    def beside(self, systems: ScoredSystems) -> ScoredSystems:
        """Return these systems and others, each on rows of its own."""
        return ScoredSystems(
            {**self.results, **systems.results},
            {**self.shared_notes, **systems.shared_notes},
            {**self.answer_notes, **systems.answer_notes},
            None,
        )

    def units_of_difference(self, units: DrawnUnits, i: int, j: int) -> DrawnUnits:
        """Return what was drawn for the difference of two systems, which few units may move.

        Where predictions differ on most rows all move it: those far from a heavy tail seem still.
        """
        same_rows = self.same_rows
        if same_rows is None or same_rows.left_out is None:
            return units
        n_apart = same_rows.rows_apart(i, j) if units.design.units_are_rows else None
        if n_apart is not None and 2 * n_apart >= len(same_rows.predicted[i]):  # type: ignore[arg-type]
            return units
        values = same_rows.left_out.values
        return units.with_few_moving(same_rows.left_out.n_moving(values[i] - values[j]))

    def proportions(self, i: int, j: int) -> TwoProportions | None:
        """Return the hits of two systems on independent rows of their own."""
        share_i, share_j = self.evidence[i].share, self.evidence[j].share
        if share_i is None or share_j is None:
            return None
        return TwoProportions(share_i.hits, share_i.n, share_j.hits, share_j.n, share_i.sign)

    def areas(self, i: int, j: int) -> TwoAreas | None:
        """Return the areas of two systems on the same independent rows, signed as the metric."""
        if self.same_rows is None or self.same_rows.areas is None:
            return None
        areas = self.same_rows.areas.pair(i, j)
        is_negated = self.evidence[i].facts.bounds[1] <= 0
        return areas.mirrored() if areas is not None and is_negated else areas

    def smoothed(self, i: int, j: int, *, always: bool) -> Floats | None:
        """Return differences on drawn tables; None where many rows decide, unless ``always``."""
        if self.same_rows is None:
            return None
        table_i, table_j = self.same_rows.tables[i], self.same_rows.tables[j]
        if table_i is None or table_j is None:
            return None
        n_draws = self.replicates.shape[1]
        return table_i.difference(table_j, n_draws, self.same_rows.seed, always=always)

    def difference(self, i: int, j: int, options: ComparisonOptions) -> Difference:
        """Return system i minus system j, with rounding taken out."""
        evidence_i, evidence_j = self.evidence[i], self.evidence[j]
        estimates = estimated_differences(
            np.array([evidence_i.estimate]), np.array([evidence_j.estimate])
        )
        [replicates] = _replicated_differences(
            estimates, self.replicates[i : i + 1], self.replicates[j : j + 1]
        )
        estimate = float(estimates[0])
        (least, greatest), (low, high) = evidence_i.facts.bounds, evidence_j.facts.bounds
        facts = Facts((least - high, greatest - low), weighted=evidence_i.facts.weighted)
        acceleration = jackknife_bias = freedom = variance = None
        discordant = proportions = areas = smoothed = None
        same_rows, units, identical = self.same_rows, evidence_i.drawn, False
        if same_rows is None:
            proportions = self.proportions(i, j)
            # It varies at most as if both had as few units as the one with fewer.
            units = min(evidence_i.drawn, evidence_j.drawn, key=attrgetter("degrees_of_freedom"))
            a, b = evidence_i.facts.delong, evidence_j.facts.delong
            if a is not None and b is not None:
                error = float(np.hypot(a.standard_error, b.standard_error))
                smaller_class = min(a.smaller_class, b.smaller_class)
                facts = replace(facts, delong=DeLong(error, smaller_class))
            if evidence_i.robust_variance is not None and evidence_j.robust_variance is not None:
                variance = evidence_i.robust_variance + evidence_j.robust_variance
        else:
            identical = evidence_i.estimate == evidence_j.estimate and same_rows.are_identical(i, j)
            discordant, areas = self._discordant(same_rows, i, j, replicates), self.areas(i, j)
            smoothed = self.smoothed(i, j, always=options.interval == "smoothed")
            if same_rows.left_out is not None:
                values = same_rows.left_out.values[i] - same_rows.left_out.values[j]
                jackknife = same_rows.left_out.jackknife(values, estimate)
                acceleration, error, bias, freedom = jackknife[:4]
                jackknife_bias = JackknifeBias(bias, error)
                units = self.units_of_difference(units, i, j)
            if same_rows.areas is not None:
                delong = DeLong(same_rows.areas.error(i, j), same_rows.areas.smaller_class)
                facts = replace(facts, delong=delong)
            if same_rows.covariances is not None:
                covariances = same_rows.covariances
                variances = covariances[:, i, i] + covariances[:, j, j] - 2 * covariances[:, i, j]
                crossed_variance = float(
                    robust_variance(np.maximum(variances, 0.0), evidence_i.drawn.n_units)
                )
                variance = None if np.isnan(crossed_variance) else crossed_variance
        evidence = Evidence(
            estimate,
            replicates,
            units,
            facts,
            acceleration=acceleration,
            jackknife_bias=jackknife_bias,
            error_freedom=freedom,
            robust_variance=variance,
            first_look=evidence_i.first_look,
            smoothed=smoothed,
        )
        return Difference(evidence, discordant, identical, proportions, areas)

    def _discordant(
        self, same_rows: SameRows, i: int, j: int, replicates: Floats
    ) -> Discordant | None:
        """Return the rows that tell two systems apart; replicates are of the difference."""
        right_i, right_j = same_rows.right[i], same_rows.right[j]
        if right_i is not None and right_j is not None:
            first_only = int(np.count_nonzero(right_i & ~right_j))
            second_only = int(np.count_nonzero(right_j & ~right_i))
            return Discordant(first_only, second_only, len(right_i))
        evidence_i, evidence_j = self.evidence[i], self.evidence[j]
        if evidence_i.first_look is None or evidence_i.share is None or evidence_j.share is None:
            return None
        # A stream knows how far they are apart on each resample, but not on each row.
        difference = evidence_i.estimate - evidence_j.estimate
        return Discordant.of_spread(difference, float(replicates.var(ddof=1)), evidence_i.share.n)


def _replicated_differences(
    differences: Floats,
    replicates_i: Floats,
    replicates_j: Floats,
    buffers: Sequence[Floats] | None = None,
) -> Floats:
    """Return differences on the resamples, (n_differences, n_resamples), without rounding.

    Three ``buffers`` of that shape spare new arrays; the first is returned.
    """
    replicates, rounding, buffer = buffers or [np.empty_like(replicates_i) for _ in range(3)]
    np.subtract(replicates_i, replicates_j, out=replicates)
    with np.errstate(invalid="ignore"):
        # There are many: the sizes of the second's scores and all distances share one buffer.
        np.abs(replicates_i, out=rounding)
        np.maximum(rounding, np.abs(replicates_j, out=buffer), out=rounding)
        rounding *= SCORE_ROUNDING
        # A difference that never changes must not look as if it did.
        for value in (0.0, differences[:, None]):
            distances = np.abs(np.subtract(replicates, value, out=buffer), out=buffer)
            is_rounding = distances <= rounding
            if is_rounding.any():
                # Values that are there already keep their sign.
                is_changed = np.logical_and(is_rounding, distances, out=is_rounding)
                np.copyto(replicates, value, where=is_changed)
    return replicates


class _TabledDifferences:
    """Sorted differences of scores that take few values, as shares of right rows do.

    Each difference of two values has a rank in a table: 16-bit integers are sorted six times as
    fast as the differences themselves. The numbers are those of `_replicated_differences`, sorted.

    Parameters
    ----------
    replicates : ndarray of shape (n_systems, n_resamples)
    values : ndarray of shape (n_values,)
        All that the replicates take, sorted; at most `_MOST_VALUES`.
    """

    def __init__(self, replicates: Floats, values: Floats) -> None:
        n = len(values)
        table = _replicated_differences(
            np.zeros(n), np.repeat(values[:, None], n, axis=1), np.repeat(values[None], n, axis=0)
        )
        self.distinct = np.unique(table)
        self.ranks = np.searchsorted(self.distinct, table.ravel()).astype(np.uint16)
        self.codes = np.searchsorted(values, replicates).astype(np.uint16)
        self.n_values = n
        # What differs by rounding alone, of the smallest and of the largest score.
        sizes = SCORE_ROUNDING * np.abs(values)
        self.least, self.most = sizes.min(), sizes.max()

    @classmethod
    def of(cls, replicates: Floats, n_pairs: int) -> _TabledDifferences | None:
        """Return the table where it pays: there are many pairs, and the scores take few values."""
        if n_pairs * replicates.shape[1] < _MANY_DIFFERENCES:
            return None
        if len(np.unique(replicates[0])) > _MOST_VALUES:
            return None
        values = np.unique(replicates)
        return cls(replicates, values) if len(values) <= _MOST_VALUES else None

    def ordered(
        self, estimates: Floats, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> Floats | None:
        """Return differences of some pairs, sorted; None if it is unclear what is rounding.

        Parameters
        ----------
        estimates : ndarray of shape (n_pairs,)
        first, second : ndarray of shape (n_pairs,)
            Numbers of the systems.
        """
        # A difference that never changes must not look as if it did.
        start = np.searchsorted(self.distinct, estimates - self.most)
        stop = np.searchsorted(self.distinct, estimates + self.most, side="right")
        lowest = self.distinct[np.minimum(start, len(self.distinct) - 1)]
        highest = self.distinct[np.maximum(stop - 1, 0)]
        are_near = start < stop
        distance = np.maximum(np.abs(lowest - estimates), np.abs(highest - estimates))
        if (distance[are_near] > self.least).any():
            return None
        cells = self.codes[first]
        cells *= np.uint16(self.n_values)
        cells += self.codes[second]
        ranks = self.ranks.take(cells)
        ranks.sort(axis=-1, kind="stable")
        differences = self.distinct.take(ranks)
        at = np.flatnonzero(are_near & (distance > 0))
        is_rounding = (differences[at] >= lowest[at, None]) & (differences[at] <= highest[at, None])
        differences[at] = np.where(is_rounding, estimates[at, None], differences[at])
        return differences


# ------------------------------------------------------------------ pairs


@dataclass(frozen=True, eq=False)
class PairIntervals:
    """Interval of each pair by itself, arrays of shape (n_pairs,) in the order of `SystemPairs`.

    Attributes
    ----------
    low_uncut, high_uncut, p_values, method : ndarray
        As in `DifferenceLimits`.
    errors, closed_errors : ndarray
        Standard deviation over the resamples, and standard error in closed form, NaN without.
    varies : ndarray of bool
        Whether two resamples gave different differences.
    support : ndarray
        Share of resamples on which the first scores better.
    n_undefined : ndarray of int
        Resamples on which a difference is undefined.
    untold : ndarray of bool
        Whether few units give all the same difference, which tells nothing of others.
    """

    low_uncut: Floats
    high_uncut: Floats
    p_values: Floats
    method: NDArray[Any]
    errors: Floats
    closed_errors: Floats
    varies: NDArray[np.bool_]
    support: Floats
    n_undefined: NDArray[np.intp]
    untold: NDArray[np.bool_]


class SystemPairs:
    """Pairs of systems, and what is known of each before its interval.

    Arrays have a place for each pair, in an order that does not depend on that of the call, and
    are of the system with the lower number minus the other.

    Attributes
    ----------
    systems : ScoredSystems
    options : ComparisonOptions
    places : ndarray of int
        Where each pair of the call stands here.
    first, second : ndarray of int
        Numbers of the systems, the lower one first.
    numbers : list of tuple of int
        The same, pair by pair.
    swapped : ndarray of bool
        Whether the call asks for the second minus the first.
    alternatives : list of str
        Of each pair.
    drawn : list of DrawnUnits
        What was drawn for each pair, which few units may move.
    estimates : ndarray
        Differences on the data.
    identical : ndarray of bool
        Whether both systems predict the same on every row.
    counts : ndarray of shape (n_pairs, 2) or None
        Rows on which the first alone is right, and the second alone.
    n_rows : int
        Rows that are right or wrong.
    """

    def __init__(
        self,
        systems: ScoredSystems,
        names: Sequence[tuple[str, str]],
        options: ComparisonOptions,
    ) -> None:
        self.systems, self.options = systems, options
        number = {name: k for k, name in enumerate(systems.results)}
        called = np.array(
            [(number[name_a], number[name_b]) for name_a, name_b in names], dtype=np.intp
        )
        lower, higher = called.min(axis=1), called.max(axis=1)
        order = np.lexsort((higher, lower))
        self.places = np.argsort(order)
        self.first, self.second = lower[order], higher[order]
        self.numbers = list(zip(self.first.tolist(), self.second.tolist(), strict=True))
        self.swapped = (called[:, 0] > called[:, 1])[order]
        mirrored = MIRRORED[options.alternative]
        self.alternatives: list[str] = np.where(
            self.swapped, mirrored, options.alternative
        ).tolist()
        scores = np.array([system.estimate for system in systems.evidence], dtype=np.float64)
        self.estimates = estimated_differences(scores[self.first], scores[self.second])
        self.drawn = [systems.drawn] * len(order)
        self.identical, self.counts, self.n_rows = np.zeros(len(order), dtype=bool), None, 0
        if (same_rows := systems.same_rows) is not None:
            for k in np.flatnonzero(scores[self.first] == scores[self.second]).tolist():
                self.identical[k] = same_rows.are_identical(*self.numbers[k])
            if same_rows.left_out is not None and options.interval not in CLOSED_FORM:
                self.drawn = [
                    systems.units_of_difference(systems.drawn, i, j) for i, j in self.numbers
                ]
            if not any(right is None for right in same_rows.right):
                # Numbers of rows are whole, and products of double precision are much faster.
                right = np.array(same_rows.right, dtype=np.float64)
                n_both_right = (right @ right.T)[self.first, self.second]
                hits = right.sum(axis=1)
                counts = np.stack(
                    [hits[self.first] - n_both_right, hits[self.second] - n_both_right], axis=1
                )
                self.counts, self.n_rows = counts.astype(np.int64), right.shape[1]

    def difference(self, k: int) -> Difference:
        """Return the difference of a pair with its own replicates."""
        return self.systems.difference(*self.numbers[k], self.options)

    def separate_intervals(self) -> PairIntervals:
        """Return the interval of each pair without regard to the others."""
        options, systems, n = self.options, self.systems, len(self.numbers)
        low_uncut, high_uncut, p_values, errors, closed_errors, support = np.full((6, n), np.nan)
        varies, untold = np.zeros((2, n), dtype=bool)
        n_undefined = np.zeros(n, dtype=np.intp)
        method = np.full(n, options.interval, dtype=object)
        intervals = PairIntervals(
            low_uncut,
            high_uncut,
            p_values,
            method,
            errors,
            closed_errors,
            varies,
            support,
            n_undefined,
            untold,
        )
        if not systems.drawn.varies:
            method[:] = "undefined"
            return intervals
        usual, n_resamples = options.interval, systems.replicates.shape[1]
        if usual == "auto":
            usual = planned_difference_method(systems.drawn)
        in_batches = usual in TAILS and bool(np.isfinite(systems.replicates).all())
        in_batches = in_batches and n_resamples > 1
        step = max(1, DIFFERENCES_AT_ONCE // n_resamples)
        mirrored = self.swapped & (options.alternative != "two-sided")
        # Arrays of some pairs that are made anew for each batch cost as much as what is done to
        # them: the system gives out memory by the page.
        table = _TabledDifferences.of(systems.replicates, n) if in_batches else None
        buffers = np.empty((5, min(step, n), n_resamples if in_batches else 0))
        for side in (False, True):
            at_side = np.flatnonzero(mirrored == side)
            if in_batches:
                for start in range(0, len(at_side), step):
                    at = at_side[start : start + step]
                    ordered = None
                    if table is not None:
                        ordered = table.ordered(self.estimates[at], self.first[at], self.second[at])
                    if ordered is None:
                        ordered = self._ordered_differences(at, buffers[:, : len(at)])
                    self._fill_batch(intervals, at, usual, ordered)
                self._fill_others(intervals, at_side, usual)
                continue
            for k in at_side.tolist():
                difference = self.difference(k)
                defined = difference.evidence.sorted_replicates
                varies[k] = difference.varies
                if len(defined) > 1:
                    errors[k] = float(spread_of(defined)) if difference.varies else 0.0
                support[k] = share_won(defined, systems.greater_is_better)
                n_undefined[k] = len(difference.evidence.replicates) - len(defined)
                is_planned = options.interval == "auto"
                pair_method = automatic_method(difference) if is_planned else options.interval
                self._fill_interval(intervals, k, difference, pair_method)
        if options.interval == "auto":
            # Few units that all give the same difference do not show how far others are apart.
            untold[:] = (method == "t") & ~varies & ~self.identical
            low_uncut[untold] = high_uncut[untold] = p_values[untold] = np.nan
        return intervals

    def _ordered_differences(self, at: NDArray[np.intp], buffers: Floats) -> Floats:
        """Return the sorted differences of some pairs, in the first of five ``buffers``."""
        replicates_i, replicates_j = (
            np.take(self.systems.replicates, numbers[at], axis=0, out=buffer, mode="clip")
            for numbers, buffer in zip((self.first, self.second), buffers[3:], strict=True)
        )
        ordered = _replicated_differences(
            self.estimates[at], replicates_i, replicates_j, list(buffers[:3])
        )
        ordered.sort(axis=-1)
        return ordered

    def _fill_batch(
        self, intervals: PairIntervals, at: NDArray[np.intp], method: str, ordered: Floats
    ) -> None:
        """Fill in pairs by an interval of a batch; see `skboot.inference.differences.TAILS`.

        The differences are ``ordered``, of shape (n_pairs, n_resamples).
        """
        systems, level = self.systems, self.options.confidence_level
        alternative = self.alternatives[at[0]]
        estimates = self.estimates[at]
        batch = Evidence(estimates, ordered, systems.drawn)
        intervals.varies[at] = varies = ordered[:, 0] < ordered[:, -1]
        intervals.errors[at] = np.where(varies, spread_of(ordered, 1), 0.0)
        is_won = ordered < 0 if systems.greater_is_better is False else ordered > 0
        n_won = np.count_nonzero(is_won, axis=1)
        n_ties = np.count_nonzero(ordered == 0, axis=1)
        intervals.support[at] = (n_won + 0.5 * n_ties) / ordered.shape[1]
        low, high = limits_of(batch, method, level, alternative)
        # Replicates that differ by rounding alone are one value, as `confidence_interval` has it.
        with np.errstate(invalid="ignore"):
            flat = (high > low) & (high - low <= ROUNDING * np.abs(estimates))
        low, high = np.where(flat, estimates, low), np.where(flat, estimates, high)
        intervals.low_uncut[at], intervals.high_uncut[at] = snapped(low, high)
        intervals.method[at] = method
        with collected():
            intervals.p_values[at] = p_of_interval(batch, method, level, alternative)

    def _fill_others(self, intervals: PairIntervals, at: NDArray[np.intp], usual: str) -> None:
        """Fill in pairs of a batch that are identical, or have another than the usual interval."""
        systems, same_rows = self.systems, self.systems.same_rows
        if self.counts is not None and same_rows is not None and same_rows.left_out is None:
            # Right and wrong rows say alone which pairs of many have another interval.
            are_others = self.identical[at]
            if self.options.interval == "auto":
                n_discordant = self.counts[at].sum(axis=1)
                are_others = are_others | (n_discordant < FEW_DISCORDANT) | ~intervals.varies[at]
            at = at[are_others]
        for k in at.tolist():
            (i, j), method, identical = self.numbers[k], usual, bool(self.identical[k])
            discordant = proportions = areas = smoothed = None
            if self.options.interval == "auto":
                if same_rows is None:
                    proportions = systems.proportions(i, j)
                elif self.counts is not None:
                    first_only, second_only = self.counts[k].tolist()
                    discordant = Discordant(first_only, second_only, self.n_rows)
                elif same_rows.areas is not None:
                    areas = systems.areas(i, j)
                method = planned_difference_method(self.drawn[k], discordant, proportions, areas)
                if discordant is not None and not intervals.varies[k]:
                    method = "tango"
                is_tabled = same_rows is not None and same_rows.tables[i] is not None
                if is_tabled and method not in CLOSED_FORM and not identical:
                    smoothed = systems.smoothed(i, j, always=False)
                    method = method if smoothed is None else "smoothed"
            if method == usual and not identical:
                continue
            if method in CLOSED_FORM or smoothed is not None or identical:
                # Nothing is asked of the replicates but their number.
                estimate, replicates = float(self.estimates[k]), systems.replicates[i]
                evidence = Evidence(estimate, replicates, systems.drawn, smoothed=smoothed)
                difference = Difference(evidence, discordant, identical, proportions, areas)
            else:
                difference = self.difference(k)
            self._fill_interval(intervals, k, difference, method)

    def _fill_interval(
        self, intervals: PairIntervals, k: int, difference: Difference, method: str
    ) -> None:
        """Fill in the interval of a pair by a method."""
        level, alternative = self.options.confidence_level, self.alternatives[k]
        interval = difference_interval(difference, method, level, alternative)
        intervals.low_uncut[k], intervals.high_uncut[k] = interval.uncut
        intervals.p_values[k] = p_value(difference, method, level, alternative)
        intervals.method[k] = method
        if method in CLOSED_FORM:
            intervals.closed_errors[k] = difference.closed_error


class ReplicatedDifferences(DifferenceDistribution):
    """Distribution of the differences of systems by their replicates on common resamples.

    What `DifferenceDistribution` has is in the order of the call, and of the first of the call
    minus the second.

    Attributes
    ----------
    pairs : SystemPairs
    intervals : PairIntervals
    """

    def __init__(self, pairs: SystemPairs, intervals: PairIntervals) -> None:
        self.pairs, self.intervals, self.options = pairs, intervals, pairs.options
        self.bounds = joint_bounds(pairs.systems.evidence)
        places = pairs.places
        differences = np.where(pairs.swapped, 0.0 - pairs.estimates, pairs.estimates)
        self.differences = differences[places]
        has_closed_form = ~np.isnan(intervals.closed_errors)
        errors = np.where(has_closed_form, intervals.closed_errors, intervals.errors)
        self.standard_errors = errors[places]
        units_by_id = {id(units): units for units in pairs.drawn}
        freedom = {key: units.degrees_of_freedom for key, units in units_by_id.items()}
        self.degrees_of_freedom = [
            None if intervals.method[k] in CLOSED_FORM else freedom[id(pairs.drawn[k])]
            for k in places.tolist()
        ]

    @cached_property
    def separate_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.separate_limits`."""
        intervals = self.intervals
        quantiles = np.full(len(intervals.method), self._normal_quantile(1))
        return self._orient(
            DifferenceLimits(
                intervals.low_uncut,
                intervals.high_uncut,
                intervals.p_values,
                intervals.method,
                quantiles,
            )
        )

    def bonferroni_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.bonferroni_limits`."""
        n, method = len(self.pairs.numbers), self.intervals.method
        low, high, p = np.array([self._bonferroni(k) for k in range(n)]).T
        quantiles = np.full(n, self._normal_quantile(n))
        limits = DifferenceLimits(low, high, p, method, quantiles)
        return self._orient(limits.named("bonferroni"))

    def max_t_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.max_t_limits`: by the joint bootstrap."""
        options, pairs, intervals = self.options, self.pairs, self.intervals
        units, n = pairs.systems.drawn, len(pairs.numbers)
        df, alpha = units.degrees_of_freedom, 1 - options.confidence_level
        errors = np.where(intervals.varies, intervals.errors, 0.0)
        towards = None
        if options.alternative != "two-sided":
            # 1 or -1 by the side that each pair is tested on.
            towards = np.where(pairs.swapped == (options.alternative == "less"), 1.0, -1.0)
        joint = joint_deviations(
            pairs.estimates,
            errors,
            self._blocks_of_resamples(),
            df,
            signs=towards,
            with_signs=options.with_ranks and pairs.counts is None,
        )
        evidence = Evidence(
            pairs.estimates, np.empty(0), units, max_t=LargestDeviations(errors, joint.largest)
        )
        low, high = INTERVALS["max-t"].limits(evidence, options.confidence_level)
        if towards is not None:
            low, high = np.where(towards > 0, low, -np.inf), np.where(towards > 0, np.inf, high)
        deviations = t_quantile_of_normal(joint.largest, df, units.inflation)
        p = max_t_adjusted(intervals.p_values, pairs.estimates, errors, deviations, towards)
        quantiles = np.full(n, max_t_quantile(joint.largest, options.confidence_level))
        low, high = snapped(low, high)
        for k in np.flatnonzero(~(errors > 0)).tolist():
            # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
            low[k], high[k], p[k] = self._bonferroni(k)
            quantiles[k] = self._normal_quantile(n)
        signs = None
        if options.with_ranks:
            # Differences of right and wrong rows are skewed where few rows tell two systems apart.
            # Many pairs together get that far out, and resamples about the estimates do not show
            # it: Bonferroni's rule decides.
            if pairs.counts is not None:
                first_only, second_only = pairs.counts.T
                t = np.sign(pairs.estimates) * discordant_t(first_only, second_only, pairs.n_rows)
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    t = pairs.estimates / np.where(errors > 0, errors, np.nan)
                # The standard error of resamples is too small by sqrt(df / n).
                t /= np.sqrt(units.inflation)
            deviations_kept = joint if pairs.counts is None else None
            signs = step_down(
                t, deviations_kept, 1 - alpha, lambda m: -float(stdtrit(df, alpha / m))
            )
        limits = DifferenceLimits(low, high, p, intervals.method, quantiles, signs)
        return self._orient(limits.named("max-t"))

    def _blocks_of_resamples(self) -> Iterator[Floats]:
        """Yield the differences of all pairs on some resamples, (n_resamples, n_pairs)."""
        pairs = self.pairs
        by_resample = np.ascontiguousarray(pairs.systems.replicates.T)
        step = max(1, DIFFERENCES_AT_ONCE // len(pairs.first))
        for start in range(0, len(by_resample), step):
            rows = by_resample[start : start + step]
            yield np.take(rows, pairs.first, axis=1) - np.take(rows, pairs.second, axis=1)

    def _bonferroni(self, k: int) -> tuple[float, float, float]:
        """Limits at level 1 - (1 - level) / m, and m times the p-value.

        From the bootstrap standard error: quantiles so far out would need many more resamples.
        """
        pairs, intervals = self.pairs, self.intervals
        low, high, method = (
            intervals.low_uncut[k],
            intervals.high_uncut[k],
            str(intervals.method[k]),
        )
        if np.isnan(low + high):
            return low, high, np.nan
        n_pairs = len(pairs.numbers)
        p = float(np.minimum(1.0, n_pairs * intervals.p_values[k]))
        still = not intervals.varies[k] and pairs.estimates[k] == 0 and not np.isnan(p)
        if pairs.identical[k] or still:
            return low, high, p
        difference = pairs.difference(k)
        if not difference.varies and method not in CLOSED_FORM:
            # Equal differences on all resamples do not show how sure the difference is.
            return *difference.evidence.facts.bounds, 1.0
        level = 1 - (1 - self.options.confidence_level) / n_pairs
        method = method if method in CLOSED_FORM else "t"
        # The interval of the pair by itself has told that resamples are too few.
        with collected():
            interval = difference_interval(difference, method, level, pairs.alternatives[k])
        return *interval.uncut, p

    def _normal_quantile(self, n_pairs: int) -> float:
        """Quantile of the normal distribution at Bonferroni's level."""
        alpha = (1 - self.options.confidence_level) / n_pairs
        return -float(ndtri(alpha / 2 if self.options.alternative == "two-sided" else alpha))

    def _orient(self, limits: DifferenceLimits) -> DifferenceLimits:
        """Turn limits to the direction of the call; they hold those of each pair by itself."""
        swapped, places = self.pairs.swapped, self.pairs.places
        quantiles, signs = limits.quantiles, limits.signs
        low = np.minimum(limits.low_uncut, self.intervals.low_uncut)
        high = np.maximum(limits.high_uncut, self.intervals.high_uncut)
        return DifferenceLimits(
            np.where(swapped, 0.0 - high, low)[places],
            np.where(swapped, 0.0 - low, high)[places],
            limits.p_values[places],
            limits.method[places],
            None if quantiles is None else quantiles[places],
            None if signs is None else np.where(swapped, -signs, signs)[places],
        )

    # -------------------------------------------------------------- what else is known

    def further_columns(self) -> dict[str, Sequence[Any]]:
        """Return what else is known of each pair, by the attribute of its record."""
        pairs, places = self.pairs, self.pairs.places
        swapped, support = pairs.swapped[places], self.intervals.support[places]
        numbers = [pairs.numbers[k] for k in places.tolist()]
        counts = None if pairs.counts is None else pairs.counts[places]
        systems, units, same_rows = pairs.systems, pairs.systems.drawn, pairs.systems.same_rows
        # How many units carry the variation of each difference; see `deciding_units`.
        n_deciding: list[float | None] = []
        if counts is not None:
            # Influences of rows on which the first alone is right, the second alone, and the rest.
            n, (first_only, second_only) = pairs.n_rows, counts.T
            times = np.stack([first_only, second_only, n - first_only - second_only], axis=-1)
            influence = np.array([1.0, -1.0, 0.0]) - ((first_only - second_only) / n)[:, None]
            largest = np.abs(influence).max(axis=-1, initial=0.0, where=times > 0)
            largest[largest == 0] = np.inf
            squares = (influence / largest[:, None]) ** 2
            sums, sums_of_squares = np.sum(times * np.stack([squares, squares**2]), axis=-1)
            n_deciding += [
                # Powers of numbers, as of one pair, and squares of arrays differ in the last bit.
                numerator**2 / denominator if denominator else 0.0
                for numerator, denominator in zip(
                    sums.tolist(), sums_of_squares.tolist(), strict=True
                )
            ]
        else:
            for i, j in numbers:
                carriers = [systems.evidence[i].facts.deciding, systems.evidence[j].facts.deciding]
                if same_rows is not None and same_rows.left_out is not None:
                    values = same_rows.left_out.values
                    carriers.append(same_rows.left_out.n_deciding(values[i] - values[j]))
                elif same_rows is not None and units.design.units_are_rows:
                    carriers.append(same_rows.rows_apart(i, j))
                n_carriers = (float(count) for count in carriers if count is not None)
                n_deciding.append(min(n_carriers, default=None))
        columns: dict[str, Sequence[Any]] = {
            "bootstrap_support": np.where(swapped, 1.0 - support, support).tolist(),
            "n_deciding": n_deciding,
        }
        if not units.varies:
            return columns | {"reason": [units.why_none.rstrip(".")] * len(numbers)}
        same = (
            f"All {min(units.n_units)} {systems.unit}s give the same difference, "
            "which does not show how far others would differ."
        )
        columns["reason"] = np.where(self.intervals.untold[places], same, "").tolist()
        if self.options.looks is not None:
            # Counts and areas serve verdicts and p-values of one look.
            return columns
        if counts is not None:
            counts = np.where(swapped[:, None], counts[:, ::-1], counts)
            p_values = mcnemar_p_values(counts[:, 0], counts[:, 1], self.options.alternative)
            columns["mcnemar_p_value"] = p_values.tolist()
            counted, n_rows = counts.tolist(), pairs.n_rows
            columns["_discordant"] = LazySequence(
                lambda k: Discordant(counted[k][0], counted[k][1], n_rows), len(counted)
            )
        elif same_rows is not None and same_rows.areas is not None:
            areas = [systems.areas(i, j) for i, j in numbers]
            columns["_areas"] = [
                two_areas.mirrored() if two_areas is not None and is_swapped else two_areas
                for two_areas, is_swapped in zip(areas, swapped.tolist(), strict=True)
            ]
        elif same_rows is not None and same_rows.left_out is not None:
            left_out = same_rows.left_out
            freedom = [
                left_out.error_freedom(left_out.values[i] - left_out.values[j]) for i, j in numbers
            ]
            columns["_error_freedom"] = [df if np.isfinite(df) else None for df in freedom]
        return columns


# ------------------------------------------------------------------ notes


def notes_on_pairs(
    pairs: SystemPairs, n_undefined: NDArray[np.intp], records: PairRecords[PairedDifference]
) -> Notes:
    """Return what must be known of the differences; ``records`` are in the order of the call."""
    options, systems, notes = pairs.options, pairs.systems, Notes()
    unit = systems.unit
    same, flat, closed, rough = [], [], [], []
    # Of hundreds of pairs few have a note.
    identical = pairs.identical[pairs.places]
    intervals: Any = records.columns["confidence_interval"]
    n_deciding = np.array(records.columns["n_deciding"], dtype=np.float64)
    needs_note = identical | ~intervals.are_plain | (n_deciding < FEW_CARRIERS)
    needs_note |= np.array(records.columns["reason"]) != ""
    if options.interval == "auto":
        needs_note |= intervals.methods == "tango"
    for k in np.flatnonzero(needs_note).tolist():
        record = records[k]
        names, method = f"{record.first} and {record.second}", record.confidence_interval.method
        if identical[k]:
            same.append(names)
            continue
        if options.interval == "auto" and method == "tango":
            closed.append(names)
        elif systems.drawn.varies:
            low, high = record.confidence_interval
            reason = record.reason
            if not (reason or low < high):
                reason = degeneracy(record.confidence_interval) or ""
            flat += [f"{names}: {reason}"] if reason else []
        n = record.n_deciding
        if n is not None and n < FEW_CARRIERS and method not in HOLDS_FOR_FEW:
            rough.append(f"{names} (about {min(round(n), FEW_CARRIERS - 1)})")
    if same:
        notes.add(
            "degenerate",
            f"Identical predictions: {_listed(same)}. Their difference is 0, and its interval "
            "[0, 0] is degenerate: it does not show that they would agree on other rows.",
        )
    if closed:
        notes.add(
            "choice",
            f"Fewer than ten discordant rows, so the interval is Tango's: {_listed(closed)}.",
        )
    notes += [Note("degenerate", text) for text in flat[:3]]
    if n_undefined.any():
        most = int(n_undefined.max())
        left_out = f"which {'is' if most == 1 else 'are'} left out"
        notes.add("advice", f"Undefined on up to {counted(most, 'resample')}, {left_out}.")
    if rough:
        notes.add(
            "caution",
            f"Few {unit}s decide these differences (fewer than {FEW_CARRIERS}), which are rough: "
            f"{_listed(rough)}.",
        )
    else:
        # Few units of all, unless the systems by themselves have a note of it.
        fewest = min(min(system.drawn.n_units) for system in systems.evidence)
        shared_kinds = [
            note.kind for system_notes in systems.shared_notes.values() for note in system_notes
        ]
        if fewest < FEW_COMPARED and "few" not in shared_kinds:
            notes.add("advice", few_compared(unit, fewest))
    if systems.evidence[0].facts.of_distances:
        notes += caution_of_distances(systems.evidence[0])
    n_resamples, alpha = systems.replicates.shape[1], 1 - options.confidence_level
    sides = 2 if options.alternative == "two-sided" else 1
    needed = int(np.ceil(sides * len(records) / alpha))
    if options.adjust == "holm" and n_resamples + 1 < needed:
        notes.add(
            "advice",
            f"With {n_resamples} resamples no p-value adjusted by Holm for {len(records)} "
            f"differences can fall below {alpha:.2g}: use n_resamples={needed - 1} "
            "or adjust='max-t'.",
        )
    return notes


def _listed(names: Sequence[str], most: int = 5) -> str:
    if len(names) <= most:
        return "; ".join(names)
    return f"{'; '.join(names[:most])}; and {len(names) - most} more"
