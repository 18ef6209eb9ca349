"""Pairs of systems: each difference by itself, and all of them at once.

A pair is computed with the same one of its systems first, whatever the order of the call, so that
exchanging two systems changes the signs and nothing else. 180 systems have 16,110 differences, so
that no array of all of them on all resamples is made: what concerns each by itself is computed for
some pairs on all resamples, and what they have in common for all pairs on some resamples.
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

from .._base.errors import Note, Notes, collected
from .._base.values import spread_of
from ..inference._tuning import DIFFERENCES_AT_ONCE, FEW_CARRIERS, FEW_COMPARED
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
    planned_method,
    share_won,
)
from ..inference.distribution import JackknifeValues
from ..inference.evidence import (
    Drawn,
    Evidence,
    JackknifeBias,
    LargestDeviations,
    deciding_units,
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
from ..inference.tables import Tabled
from ..metrics.statistic import DeLong, Facts
from ..results import EvaluationResult
from ..results.comparison import PairedDifference, few_compared
from .asked import Asked
from .families import SCORE_ROUNDING, Law, Limits, estimated_differences

Floats = NDArray[np.float64]


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
    tables : sequence of Tabled or None
        Of each system, for functions of a table of truth and decision.
    seed : numpy.random.SeedSequence
        That tables are drawn by.
    """

    predicted: Sequence[NDArray[Any] | None]
    right: Sequence[NDArray[np.bool_] | None]
    left_out: JackknifeValues | None
    areas: AreasOfSystems | None
    covariances: Floats | None
    tables: Sequence[Tabled | None]
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


class Family:
    """Systems that are compared by one metric on one subgroup.

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
    drawn : Drawn
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

    def beside(self, family: Family) -> Family:
        """Return these systems and others, each on rows of its own."""
        return Family(
            {**self.results, **family.results},
            {**self.shared_notes, **family.shared_notes},
            {**self.answer_notes, **family.answer_notes},
            None,
        )

    def moved(self, units: Drawn, i: int, j: int) -> Drawn:
        """Return what was drawn for the difference of two systems, which few units may move.

        Where predictions differ on most rows all move it: those far from a heavy tail seem still.
        """
        rows = self.same_rows
        if rows is None or rows.left_out is None:
            return units
        n_apart = rows.rows_apart(i, j) if units.design.units_are_rows else None
        if n_apart is not None and 2 * n_apart >= len(rows.predicted[i]):  # type: ignore[arg-type]
            return units
        values = rows.left_out.values
        return units.of_moving(rows.left_out.n_moving(values[i] - values[j]))

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
        return table_i.difference(table_j, n_draws, self.same_rows.seed, asked=always)

    def difference(self, i: int, j: int, options: Asked) -> Difference:
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
        acceleration = bias_and_error = freedom = variance = None
        discordant = proportions = areas = smoothed = None
        rows, units, identical = self.same_rows, evidence_i.drawn, False
        if rows is None:
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
            identical = evidence_i.estimate == evidence_j.estimate and rows.are_identical(i, j)
            discordant, areas = self._discordant(rows, i, j, replicates), self.areas(i, j)
            smoothed = self.smoothed(i, j, always=options.interval == "smoothed")
            if rows.left_out is not None:
                values = rows.left_out.values[i] - rows.left_out.values[j]
                acceleration, error, bias, freedom = rows.left_out.moments(values, estimate)
                bias_and_error = JackknifeBias(bias, error)
                units = self.moved(units, i, j)
            if rows.areas is not None:
                delong = DeLong(rows.areas.error(i, j), rows.areas.smaller_class)
                facts = replace(facts, delong=delong)
            if rows.covariances is not None:
                shared = rows.covariances
                variances = shared[:, i, i] + shared[:, j, j] - 2 * shared[:, i, j]
                of_crossed = float(
                    robust_variance(np.maximum(variances, 0.0), evidence_i.drawn.n_units)
                )
                variance = None if np.isnan(of_crossed) else of_crossed
        evidence = Evidence(
            estimate,
            replicates,
            units,
            facts,
            acceleration=acceleration,
            left_out=bias_and_error,
            error_freedom=freedom,
            robust_variance=variance,
            first_look=evidence_i.first_look,
            smoothed=smoothed,
        )
        return Difference(evidence, discordant, identical, proportions, areas)

    def _discordant(self, rows: SameRows, i: int, j: int, replicates: Floats) -> Discordant | None:
        """Return the rows that tell two systems apart; replicates are those of the difference."""
        right_i, right_j = rows.right[i], rows.right[j]
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
    differences: Floats, replicates_i: Floats, replicates_j: Floats
) -> Floats:
    """Return differences on the resamples, (n_differences, n_resamples), without rounding."""
    replicates = replicates_i - replicates_j
    with np.errstate(invalid="ignore"):
        sizes, distances = np.abs(replicates_i), np.abs(replicates_j)
        np.maximum(sizes, distances, out=sizes)
        sizes *= SCORE_ROUNDING
        _round_to(replicates, 0.0, np.abs(replicates, out=distances), sizes)
        # A difference that never changes must not look as if it did.
        estimates = differences[:, None]
        np.abs(np.subtract(replicates, estimates, out=distances), out=distances)
        _round_to(replicates, estimates, distances, sizes)
    return replicates


def _round_to(values: Floats, to: Any, distances: Floats, most: Floats) -> None:
    """Replace values that are not further off than some sizes, but for those that are there."""
    near = distances <= most
    if near.any():
        np.copyto(values, to, where=np.logical_and(near, distances, out=near))


# ------------------------------------------------------------------ pairs


class Pairs(Law):
    """Differences of a family by its replicates: the law of pairs of systems.

    Arrays have a place for each pair, in an order that does not depend on that of the call, and
    are of the system with the lower number minus the other. What `Law` has is in the same order,
    and of the first of the call minus the second.

    Attributes
    ----------
    family : Family
    names : list of tuple of str
        Of both systems, as the call has them.
    places : list of int
        Where each pair of the call stands here.
    first, second : ndarray of int
        Numbers of the systems, the lower one first.
    numbers : list of tuple of int
        The same, pair by pair.
    swapped : ndarray of bool
        Whether the call asks for the second minus the first.
    alternatives : list of str
        Of each pair.
    drawn : list of Drawn
        What was drawn for each pair, which few units may move.
    estimates : ndarray
        Differences on the data.
    identical : ndarray of bool
        Whether both systems predict the same on every row.
    counts : ndarray of shape (n_pairs, 2) or None
        Rows on which the first alone is right, and the second alone.
    n_rows : int
        Rows that are right or wrong.
    low, high, p_values, method : ndarray
        Interval of each by itself.
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

    def __init__(self, family: Family, names: Sequence[tuple[str, str]], options: Asked) -> None:
        self.family, self.asked = family, options
        self.bounds = joint_bounds(family.evidence)
        number = {name: k for k, name in enumerate(family.results)}
        called = np.array(
            [(number[name_a], number[name_b]) for name_a, name_b in names], dtype=np.intp
        )
        low, high = called.min(axis=1), called.max(axis=1)
        order = np.lexsort((high, low))
        self.names = [names[k] for k in order.tolist()]
        self.places: list[int] = np.argsort(order).tolist()
        self.first, self.second = low[order], high[order]
        self.numbers = list(zip(self.first.tolist(), self.second.tolist(), strict=True))
        self.swapped = (called[:, 0] > called[:, 1])[order]
        mirrored = MIRRORED[options.alternative]
        self.alternatives: list[str] = np.where(
            self.swapped, mirrored, options.alternative
        ).tolist()
        scores = np.array([system.estimate for system in family.evidence], dtype=np.float64)
        self.estimates = estimated_differences(scores[self.first], scores[self.second])
        self.drawn = [family.drawn] * len(order)
        self.identical, self.counts, self.n_rows = np.zeros(len(order), dtype=bool), None, 0
        if (rows := family.same_rows) is not None:
            for k in np.flatnonzero(scores[self.first] == scores[self.second]).tolist():
                self.identical[k] = rows.are_identical(*self.numbers[k])
            if rows.left_out is not None and options.interval not in CLOSED_FORM:
                self.drawn = [family.moved(family.drawn, i, j) for i, j in self.numbers]
            if not any(right is None for right in rows.right):
                # Numbers of rows are whole, and products of double precision are much faster.
                right = np.array(rows.right, dtype=np.float64)
                n_both_right = (right @ right.T)[self.first, self.second]
                hits = right.sum(axis=1)
                counts = np.stack(
                    [hits[self.first] - n_both_right, hits[self.second] - n_both_right], axis=1
                )
                self.counts, self.n_rows = counts.astype(np.int64), right.shape[1]
        self.low, self.high, self.p_values = np.full((3, len(order)), np.nan)
        self.errors, self.closed_errors, self.support = np.full((3, len(order)), np.nan)
        self.varies, self.untold = np.zeros((2, len(order)), dtype=bool)
        self.n_undefined = np.zeros(len(order), dtype=np.intp)
        self.method = np.full(len(order), options.interval, dtype=object)
        self._fill_each()
        self.differences = np.where(self.swapped, 0.0 - self.estimates, self.estimates)
        has_closed_form = ~np.isnan(self.closed_errors)
        self.standard_errors = np.where(has_closed_form, self.closed_errors, self.errors)
        self.degrees_of_freedom = [
            None if method in CLOSED_FORM else self.drawn[k].degrees_of_freedom
            for k, method in enumerate(self.method)
        ]

    # -------------------------------------------------------------- each by itself

    def _fill_each(self) -> None:
        """Fill in the interval of each pair without regard to the others."""
        options, replicates = self.asked, self.family.replicates
        if not self.family.drawn.varies:
            self.method[:] = "undefined"
            return
        usual = options.interval
        if usual == "auto":
            usual = planned_method(self.family.drawn)
        in_batches = usual in TAILS and bool(np.isfinite(replicates).all())
        in_batches = in_batches and replicates.shape[1] > 1
        step = max(1, DIFFERENCES_AT_ONCE // replicates.shape[1])
        mirrored = self.swapped & (options.alternative != "two-sided")
        for side in (False, True):
            pairs = np.flatnonzero(mirrored == side)
            if in_batches:
                for start in range(0, len(pairs), step):
                    self._fill_batch(pairs[start : start + step], usual)
                self._fill_others(pairs, usual)
                continue
            for k in pairs.tolist():
                self._fill_from_replicates(k)
        if options.interval == "auto":
            # Few units that all give the same difference do not show how far others are apart.
            self.untold = (self.method == "t") & ~self.varies & ~self.identical
            self.low[self.untold] = self.high[self.untold] = self.p_values[self.untold] = np.nan

    def _fill_batch(self, pairs: NDArray[np.intp], method: str) -> None:
        """Fill in pairs by an interval of a batch; see `skboot.inference.differences.TAILS`."""
        family, level = self.family, self.asked.confidence_level
        alternative = self.alternatives[pairs[0]]
        estimates = self.estimates[pairs]
        replicates_i, replicates_j = (
            family.replicates[self.first[pairs]],
            family.replicates[self.second[pairs]],
        )
        replicates = _replicated_differences(estimates, replicates_i, replicates_j)
        batch = Evidence(estimates, replicates, family.drawn)
        ordered = batch.sorted_replicates
        self.varies[pairs] = varies = ordered[:, 0] < ordered[:, -1]
        self.errors[pairs] = np.where(varies, spread_of(ordered, 1), 0.0)
        is_won = ordered < 0 if family.greater_is_better is False else ordered > 0
        n_won = np.count_nonzero(is_won, axis=1)
        n_ties = np.count_nonzero(ordered == 0, axis=1)
        self.support[pairs] = (n_won + 0.5 * n_ties) / ordered.shape[1]
        low, high = limits_of(batch, method, level, alternative)
        # Replicates that differ by rounding alone are one value, as `confidence_interval` has it.
        with np.errstate(invalid="ignore"):
            flat = (high > low) & (high - low <= ROUNDING * np.abs(estimates))
        low, high = np.where(flat, estimates, low), np.where(flat, estimates, high)
        self.low[pairs], self.high[pairs] = snapped(low, high)
        self.method[pairs] = method
        with collected():
            self.p_values[pairs] = p_of_interval(batch, method, level, alternative)

    def _fill_others(self, pairs: NDArray[np.intp], usual: str) -> None:
        """Fill in pairs of a batch that are identical, or have another than the usual interval."""
        family, rows = self.family, self.family.same_rows
        for k in pairs.tolist():
            (i, j), method, identical = self.numbers[k], usual, bool(self.identical[k])
            discordant = proportions = areas = smoothed = None
            if self.asked.interval == "auto":
                if rows is None:
                    proportions = family.proportions(i, j)
                elif self.counts is not None:
                    first_only, second_only = self.counts[k].tolist()
                    discordant = Discordant(first_only, second_only, self.n_rows)
                elif rows.areas is not None:
                    areas = family.areas(i, j)
                method = planned_method(self.drawn[k], discordant, proportions, areas)
                if discordant is not None and not self.varies[k]:
                    method = "tango"
                is_tabled = rows is not None and rows.tables[i] is not None
                if is_tabled and method not in CLOSED_FORM and not identical:
                    smoothed = family.smoothed(i, j, always=False)
                    method = method if smoothed is None else "smoothed"
            if method == usual and not identical:
                continue
            if method in CLOSED_FORM or smoothed is not None or identical:
                # Nothing is asked of the replicates but their number.
                estimate, replicates = float(self.estimates[k]), family.replicates[i]
                evidence = Evidence(estimate, replicates, family.drawn, smoothed=smoothed)
                difference = Difference(evidence, discordant, identical, proportions, areas)
            else:
                difference = family.difference(i, j, self.asked)
            self._fill_interval(k, difference, method)

    def _fill_from_replicates(self, k: int) -> None:
        """Fill in a pair whose replicates are looked at alone."""
        difference = self.family.difference(*self.numbers[k], self.asked)
        defined = difference.evidence.sorted_replicates
        method = self.asked.interval
        method = automatic_method(difference) if method == "auto" else method
        self.varies[k] = difference.varies
        if len(defined) > 1:
            self.errors[k] = float(spread_of(defined)) if difference.varies else 0.0
        self.support[k] = share_won(defined, self.family.greater_is_better)
        self.n_undefined[k] = len(difference.evidence.replicates) - len(defined)
        self._fill_interval(k, difference, method)

    def _fill_interval(self, k: int, difference: Difference, method: str) -> None:
        """Fill in the interval of a pair by a method."""
        level, alternative = self.asked.confidence_level, self.alternatives[k]
        interval = difference_interval(difference, method, level, alternative)
        self.low[k], self.high[k] = interval.uncut
        self.p_values[k] = p_value(difference, method, level, alternative)
        self.method[k] = method
        if method in CLOSED_FORM:
            self.closed_errors[k] = difference.closed_error

    # -------------------------------------------------------------- what else is known

    def further_columns(self) -> dict[str, Sequence[Any]]:
        """Return what else is known of each pair, by the attribute of its record."""
        family, units, rows = self.family, self.family.drawn, self.family.same_rows
        # How many units carry the variation of each difference; see `deciding_units`.
        n_deciding: list[float | None] = []
        if self.counts is not None:
            n = self.n_rows
            for first_only, second_only in self.counts.tolist():
                influence = np.array([1.0, -1.0, 0.0]) - (first_only - second_only) / n
                times = np.array([first_only, second_only, n - first_only - second_only])
                n_deciding.append(deciding_units(influence, times))
        else:
            for i, j in self.numbers:
                n_carriers = [family.evidence[i].facts.deciding, family.evidence[j].facts.deciding]
                if rows is not None and rows.left_out is not None:
                    values = rows.left_out.values
                    n_carriers.append(rows.left_out.n_deciding(values[i] - values[j]))
                elif rows is not None and units.design.units_are_rows:
                    n_carriers.append(rows.rows_apart(i, j))
                known_carriers = (float(count) for count in n_carriers if count is not None)
                n_deciding.append(min(known_carriers, default=None))
        columns: dict[str, Sequence[Any]] = {
            "bootstrap_support": np.where(self.swapped, 1.0 - self.support, self.support).tolist(),
            "n_deciding": n_deciding,
        }
        if not units.varies:
            return columns | {"reason": [units.why_none.rstrip(".")] * len(self.names)}
        same = (
            f"All {min(units.n_units)} {family.unit}s give the same difference, "
            "which does not show how far others would differ."
        )
        columns["reason"] = np.where(self.untold, same, "").tolist()
        if self.asked.first_look is not None:
            # Counts and areas serve verdicts and p-values of one look.
            return columns
        if self.counts is not None:
            counts = np.where(self.swapped[:, None], self.counts[:, ::-1], self.counts)
            p_values = mcnemar_p_values(counts[:, 0], counts[:, 1], self.asked.alternative)
            columns["mcnemar_p_value"] = p_values.tolist()
            columns["_discordant"] = [
                Discordant(one, other, self.n_rows) for one, other in counts.tolist()
            ]
        elif rows is not None and rows.areas is not None:
            areas = [family.areas(i, j) for i, j in self.numbers]
            columns["_areas"] = [
                two_areas.mirrored() if two_areas is not None and swapped else two_areas
                for two_areas, swapped in zip(areas, self.swapped.tolist(), strict=True)
            ]
        elif rows is not None and rows.left_out is not None:
            values = rows.left_out.values
            freedom = [rows.left_out.error_freedom(values[i] - values[j]) for i, j in self.numbers]
            columns["_error_freedom"] = [df if np.isfinite(df) else None for df in freedom]
        return columns

    # -------------------------------------------------------------- as a law

    @cached_property
    def alone(self) -> Limits:
        """See `Law.alone`."""
        quantiles = self._quantiles(1)
        return self._as_called(Limits(self.low, self.high, self.p_values, self.method, quantiles))

    def stricter(self) -> Limits:
        """See `Law.stricter`."""
        n = len(self.first)
        low, high, p = np.array([self._bonferroni(k) for k in range(n)]).T
        limits = Limits(low, high, p, self.method, self._quantiles(n))
        return self._as_called(limits.named("bonferroni"))

    def largest(self) -> Limits:
        """See `Law.largest`: simultaneous intervals and p-values from the joint bootstrap."""
        options, units, n = self.asked, self.family.drawn, len(self.first)
        df, alpha = units.degrees_of_freedom, 1 - options.confidence_level
        errors = np.where(self.varies, self.errors, 0.0)
        towards = None
        if options.alternative != "two-sided":
            # 1 or -1 by the side that each pair is tested on.
            towards = np.where(self.swapped == (options.alternative == "less"), 1.0, -1.0)
        joint = joint_deviations(
            self.estimates,
            errors,
            self._blocks_of_resamples(),
            df,
            signs=towards,
            with_signs=options.with_ranks and self.counts is None,
        )
        evidence = Evidence(
            self.estimates, np.empty(0), units, max_t=LargestDeviations(errors, joint.largest)
        )
        low, high = INTERVALS["max-t"].limits(evidence, options.confidence_level)
        if towards is not None:
            low, high = np.where(towards > 0, low, -np.inf), np.where(towards > 0, np.inf, high)
        deviations = t_quantile_of_normal(joint.largest, df, units.inflation)
        p = max_t_adjusted(self.p_values, self.estimates, errors, deviations, towards)
        quantiles = np.full(n, max_t_quantile(joint.largest, options.confidence_level))
        low, high = snapped(low, high)
        for k in np.flatnonzero(~(errors > 0)).tolist():
            # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
            low[k], high[k], p[k] = self._bonferroni(k)
            quantiles[k] = self._quantiles(n)[k]
        signs = None
        if options.with_ranks:
            # Differences of right and wrong rows are skewed where few rows tell two systems apart.
            # Many pairs together get that far out, and resamples about the estimates do not show
            # it: Bonferroni's rule decides.
            if self.counts is not None:
                first_only, second_only = self.counts.T
                t = np.sign(self.estimates) * discordant_t(first_only, second_only, self.n_rows)
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    t = self.estimates / np.where(errors > 0, errors, np.nan)
                # The standard error of resamples is too small by sqrt(df / n).
                t /= np.sqrt(units.inflation)
            deviations_kept = joint if self.counts is None else None
            signs = step_down(
                t, deviations_kept, 1 - alpha, lambda m: -float(stdtrit(df, alpha / m))
            )
        limits = Limits(low, high, p, self.method, quantiles, signs)
        return self._as_called(limits.named("max-t"))

    def _blocks_of_resamples(self) -> Iterator[Floats]:
        """Yield the differences of all pairs on some resamples, (n_resamples, n_pairs)."""
        by_resample = np.ascontiguousarray(self.family.replicates.T)
        step = max(1, DIFFERENCES_AT_ONCE // len(self.first))
        for start in range(0, len(by_resample), step):
            rows = by_resample[start : start + step]
            yield np.take(rows, self.first, axis=1) - np.take(rows, self.second, axis=1)

    def _bonferroni(self, k: int) -> tuple[float, float, float]:
        """Limits at level 1 - (1 - level) / m, and m times the p-value.

        From the bootstrap standard error: quantiles so far out would need many more resamples.
        """
        low, high, method = float(self.low[k]), float(self.high[k]), str(self.method[k])
        if np.isnan(low + high):
            return low, high, np.nan
        n_pairs = len(self.first)
        p = float(np.minimum(1.0, n_pairs * self.p_values[k]))
        still = not self.varies[k] and self.estimates[k] == 0 and not np.isnan(p)
        if self.identical[k] or still:
            return low, high, p
        difference = self.family.difference(*self.numbers[k], self.asked)
        if not difference.varies and method not in CLOSED_FORM:
            # Equal differences on all resamples do not show how sure the difference is.
            return *difference.evidence.facts.bounds, 1.0
        level = 1 - (1 - self.asked.confidence_level) / n_pairs
        method = method if method in CLOSED_FORM else "t"
        # The interval of the pair by itself has told that resamples are too few.
        with collected():
            interval = difference_interval(difference, method, level, self.alternatives[k])
        return *interval.uncut, p

    def _quantiles(self, n_pairs: int) -> Floats:
        """Quantile of the normal distribution at Bonferroni's level, for each pair."""
        alpha = (1 - self.asked.confidence_level) / n_pairs
        tail = alpha / 2 if self.asked.alternative == "two-sided" else alpha
        return np.full(len(self.first), -ndtri(tail))

    def _as_called(self, limits: Limits) -> Limits:
        """Return limits that hold those of each pair by itself, in the direction of the call."""
        low, high = np.minimum(limits.low, self.low), np.maximum(limits.high, self.high)
        swapped, signs = self.swapped, limits.signs
        return replace(
            limits,
            low=np.where(swapped, 0.0 - high, low),
            high=np.where(swapped, 0.0 - low, high),
            signs=None if signs is None else np.where(swapped, -signs, signs),
        )


# ------------------------------------------------------------------ notes


def notes_on_pairs(pairs: Pairs, records: Sequence[PairedDifference]) -> Notes:
    """Return what must be known of the differences; ``records`` are in the order of the call."""
    options, family, notes = pairs.asked, pairs.family, Notes()
    unit = family.unit
    same, flat, closed, rough = [], [], [], []
    for record, k in zip(records, pairs.places, strict=True):
        names, method = f"{record.first} and {record.second}", record.confidence_interval.method
        if pairs.identical[k]:
            same.append(names)
            continue
        if options.interval == "auto" and method == "tango":
            closed.append(names)
        elif family.drawn.varies:
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
    if pairs.n_undefined.any():
        most = int(pairs.n_undefined.max())
        notes.add("advice", f"Undefined on up to {most} resamples, which are left out.")
    if rough:
        notes.add(
            "caution",
            f"Few {unit}s decide these differences (fewer than {FEW_CARRIERS}), which are rough: "
            f"{_listed(rough)}.",
        )
    else:
        # Few units of all, unless the systems by themselves have a note of it.
        fewest = min(min(system.drawn.n_units) for system in family.evidence)
        shared = [note.kind for of_system in family.shared_notes.values() for note in of_system]
        if fewest < FEW_COMPARED and "few" not in shared:
            notes.add("advice", few_compared(unit, fewest))
    if family.evidence[0].facts.of_distances:
        notes += caution_of_distances(family.evidence[0])
    n_resamples, alpha = family.replicates.shape[1], 1 - options.confidence_level
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
