"""What is drawn where a judge labelled all rows and humans some of them.

A score has three terms: l f(judge, rows without a human label) + f(human) - l f(judge, rows with
one). What the judge gets wrong on labelled rows is taken out (Angelopoulos et al. 2023), with a
weight l that makes the variance smallest (PPI++: Angelopoulos, Duchi & Zrnic 2023), for any metric
on resamples that its terms share (Zrnic 2024, arXiv:2405.18379).

Labelled rows on which a good judge is wrong are few, and may be missing by chance: the variance
counts further ones, as Bonett & Price (2012) count one more in each direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.work import Workers, child_seed
from ..inference.automatic import planned_method
from ..inference.distribution import BootstrapDistribution, BoundStatistic, Jackknife
from ..inference.evidence import Drawn, Evidence, deciding_units
from ..inference.intervals import value_range
from ..metrics.statistic import Facts
from ..resampling.design import RowDesign, SamplingDesign
from ..resampling.plan import ResamplingPlan
from .draws import IN_MEMORY, Draws, Score, Source, draw
from .measured import Measured
from .rows import WHOLE, Part, Rows

Floats = NDArray[np.float64]

# Further labelled rows on which the judge is wrong, where it is right on all others.
_FURTHER_ROWS = 2.0
# Maximum further rows whose effect is computed, and rows that are read for it.
_MOST_FURTHER, _MOST_READ = 60, 5_000_000
# Number of the stream of further rows, which no block of resamples has.
_STREAM = 1 << 31


@dataclass(frozen=True, eq=False)
class Columns:
    """What humans and the judge say of each row: of its truth, or of the values of each system.

    Attributes
    ----------
    human : mapping of str or None to ndarray of shape (n_samples,)
        Those of the judge where no human labelled. None is the truth.
    judge : mapping of str or None to ndarray of shape (n_samples,)
    labelled : ndarray of shape (n_samples,)
        Whether a human labelled a row.
    of_truth : bool
        Whether they are truths.
    called : mapping of str
        From the argument of human labels to that of the judge's.
    """

    human: Mapping[Any, NDArray[Any]]
    judge: Mapping[Any, NDArray[Any]]
    labelled: NDArray[np.bool_]
    of_truth: bool
    called: Mapping[str, str]

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """The labelled rows."""
        return np.flatnonzero(self.labelled)

    @cached_property
    def parts(self) -> tuple[Part, Part]:
        """Rows with a human label, and those without."""
        order, n = np.argsort(~self.labelled, kind="stable"), len(self.at)
        return Part(None, order, slice(0, n)), Part(None, order, slice(n, None))

    @cached_property
    def agree(self) -> NDArray[np.bool_]:
        """Whether the judge is right on each labelled row."""
        pairs = zip(self.human.values(), self.judge.values(), strict=True)
        right = [human[self.at] == judge[self.at] for human, judge in pairs]
        return np.logical_and.reduce(right)

    @cached_property
    def further(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows whose answers, and rows whose human labels, make rows on which the judge is wrong.

        Both are labelled rows: those of one label by the judge meet others half of all rows on.
        """
        human, judge = next(iter(self.human.values())), next(iter(self.judge.values()))
        codes = np.unique(np.concatenate((human, judge)), return_inverse=True)[1]
        by_human, by_judge = codes[: len(human)][self.at], codes[len(human) :][self.at]
        order = np.lexsort((by_human, by_judge))
        partner = np.roll(order, len(order) // 2)
        wrong = np.flatnonzero(by_human[partner] != by_judge[order])
        most = min(len(wrong), _MOST_FURTHER, max(_MOST_READ // len(order), 2))
        if not self.agree.any() or not most:
            return self.at[:0], self.at[:0]
        kept = wrong[np.linspace(0, len(wrong) - 1, most).astype(np.intp)]
        return self.at[order[kept]], self.at[partner[kept]]


@dataclass(frozen=True, eq=False)
class MeasuredTwice(Measured):
    """A statistic of human labels, and that of the judge's."""

    judge: Measured


@dataclass(frozen=True, eq=False)
class ScoreWithJudge(Score):
    """A score of three terms: of the judge without and with human labels, and of these."""

    terms: tuple[BoundStatistic, ...]
    measured: MeasuredTwice


@dataclass(frozen=True, eq=False)
class WithJudge(Source):
    """Rows in memory, of which the judge labelled all and humans some.

    Attributes
    ----------
    columns : Columns
    design : SamplingDesign
        Of the labelled rows by themselves, which say how much is known.
    weight : float or "auto"
    seed : SeedSequence
    """

    columns: Columns
    design: SamplingDesign
    weight: Any
    seed: np.random.SeedSequence

    def prepare(
        self,
        plan: ResamplingPlan,
        interval: str,
        metric: str,
        measured: Measured,
        part: Part = WHOLE[0],
        first_look: int | None = None,
    ) -> Score:
        """See `Source.prepare`; looks that may be repeated are refused before."""
        assert isinstance(measured, MeasuredTwice)
        with_label, without = self.columns.parts
        judge = measured.judge
        terms = [
            IN_MEMORY.prepare(plan, "percentile", metric, own, of_part)
            for own, of_part in ((judge, without), (judge, with_label), (measured, with_label))
        ]
        human = terms[-1]
        if human.known.facts.optimized or human.known.facts.bins is not None:
            must = "not be the best over thresholds, nor a sum of distances, with proxy"
            raise fail("metric", must, repr(metric), "Their bias depends on the rows.")
        facts = Facts(
            value_range(human.known),
            additive=human.known.facts.additive,
            weighted=human.known.facts.weighted,
            proxy_weight=1.0,
        )
        known = Evidence(np.nan, np.empty(0), Drawn.of(self.design), facts)
        planned = planned_method(known) if interval == "auto" else interval
        return ScoreWithJudge(
            **(vars(human) | {"known": known, "interval": planned, "table": None}),
            terms=tuple(one.subject for one in terms),
            measured=measured,
        )

    def draw(self, plan: ResamplingPlan, scores: Sequence[Any], workers: Workers) -> Draws:
        """See `Source.draw`; all scores are by one metric."""
        terms = self._terms(plan, scores, workers)
        weight = terms.weight() if self.weight == "auto" else float(self.weight)
        estimates, replicates = terms.combined(weight)
        distributions, combined = [], []
        for k, one in enumerate(scores):
            facts = replace(one.known.facts, proxy_weight=weight)
            combined.append(replace(one, known=replace(one.known, facts=facts)))
            estimate = float(np.clip(estimates[k], *facts.bounds))
            moved = terms.combined_deviations(k, weight)
            error = float(np.sqrt(moved @ moved))
            distributions.append(
                BootstrapDistribution(estimate, replicates[k], error, None, _shape(moved, error))
            )
        subjects = [one.subject for one in scores]
        return Draws(plan, None, subjects, distributions, dict(enumerate(combined)))

    def _terms(self, plan: ResamplingPlan, scores: Sequence[Any], workers: Workers) -> Terms:
        """Return the terms of all scores, on the rows and on resamples that they share."""
        drawn = draw(plan, [term for one in scores for term in one.terms], workers)
        shape = (len(scores), 3, -1)
        values = np.array([own.estimate for own in drawn.distributions]).reshape(shape[:2])
        replicates = np.array([own.replicates for own in drawn.distributions]).reshape(shape)
        with_label, without = (plan.design.among(part.rows)[0][0] for part in self.columns.parts)
        left_out = drawn.values_left_out()
        deviations = _deviations_without(
            left_out.values.reshape(shape),
            values,
            left_out.times,
            np.array([without, with_label, with_label], dtype=np.float64),
        )
        if not np.isfinite(deviations).all():
            # Undefined without some unit: resamples tell the same less exactly.
            defined = replicates[..., np.isfinite(replicates).all(axis=(0, 1))]
            centred = defined - defined.mean(axis=-1, keepdims=True)
            deviations = centred / np.sqrt(max(defined.shape[-1], 1))
        terms = Terms(values, replicates, deviations)
        effects = self._effects(scores, values, workers)
        return terms.with_further(effects, self._n_further, child_seed(self.seed, _STREAM))

    @property
    def _n_further(self) -> float:
        """Further rows that are counted: more where the judge's errors come in groups."""
        right = self.columns.agree.astype(np.float64)
        share, likeness = float(right.mean()), 1.0
        if self.design.members is not None and 0 < share < 1:
            of_groups = np.bincount(self.design.members[:, 0], right - share)
            # The variance of groups over that of as many independent rows.
            likeness = max(float(of_groups @ of_groups) / (len(right) * share * (1 - share)), 1.0)
        return _FURTHER_ROWS * share * likeness

    def _effects(self, scores: Sequence[Any], values: Floats, workers: Workers) -> Floats:
        """Return what further rows that the judge gets wrong change, (n_scores, 3, n_rows)."""
        answered, labelled = self.columns.further
        n, n_further = len(self.columns.at), len(answered)
        effects = np.zeros((len(scores), 3, n_further))
        if not n_further:
            return effects
        by_judge, by_human = (
            np.concatenate((self.columns.at, rows)) for rows in (answered, labelled)
        )
        subjects = []
        for one in scores:
            human, judge, of_truth = one.measured, one.measured.judge, self.columns.of_truth
            subjects.append(_bound(judge, by_judge, by_judge, of_truth))
            subjects.append(_bound(human, by_human, by_judge, of_truth))
        added = [np.append(np.arange(n), n + k) for k in range(n_further)]
        plan = ResamplingPlan(RowDesign.of(n + n_further), n_further, self.seed, added)
        found = draw(plan, subjects, workers).distributions
        with_row = np.array([own.replicates for own in found]).reshape(len(scores), 2, n_further)
        effects[:, 1:] = np.nan_to_num(with_row - values[:, 1:, None])
        return effects


def _bound(
    measured: Measured, labels: NDArray[np.intp], answers: NDArray[np.intp], of_truth: bool
) -> BoundStatistic:
    """Return a statistic of rows whose labels and answers are those of different rows."""
    rows, statistic = measured.rows, measured.statistic
    truth = None if rows.y_true is None else rows.y_true[labels]
    weights = None if rows.sample_weight is None else rows.sample_weight[answers]
    predicted = rows.y_pred[answers if of_truth else labels]
    own = Rows(truth, predicted, weights, rows.labels)
    return BoundStatistic.of(statistic, statistic.reduce(*own.of(statistic, None)))


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True, eq=False)
class Terms:
    """Three terms of the score of each system: f(judge) without and with labels, f(human).

    Attributes
    ----------
    values : ndarray of shape (n_systems, 3)
    replicates : ndarray of shape (n_systems, 3, n_resamples)
        On the same resamples.
    deviations : ndarray of shape (n_systems, 3, n_deviations)
        Of which the sums of products are the covariances.
    """

    values: Floats
    replicates: Floats
    deviations: Floats

    def with_further(
        self, effects: Floats, n_expected: float, seed: np.random.SeedSequence
    ) -> Terms:
        """Return the terms as they vary where further rows may be labelled.

        Parameters
        ----------
        effects : ndarray of shape (n_systems, 3, n_rows)
            What a further row that the judge gets wrong changes, for several such rows.
        n_expected : float
            How many there are expected to be.
        seed : SeedSequence
            Each resample has a Poisson number of them.
        """
        n_rows = effects.shape[-1]
        if not n_rows or not n_expected:
            return self
        rate = n_expected / n_rows
        counts = np.random.default_rng(seed).poisson(rate, (n_rows, self.replicates.shape[-1]))
        return Terms(
            self.values,
            self.replicates + effects @ (counts - rate),
            np.concatenate((self.deviations, effects * np.sqrt(rate)), axis=-1),
        )

    def weight(self) -> float:
        """Return the weight of the judge, in [0, 1], with the smallest sum of variances.

        Of several systems the variances are those of their differences, pair by pair.
        """
        own = self.deviations
        if len(own) > 1:
            # Squares of the differences of all pairs are those from the mean, times systems.
            own = own - own.mean(axis=0)
        judge, human = own[:, 0] - own[:, 1], own[:, 2]
        square = float(np.sum(judge**2))
        return float(np.clip(-np.sum(judge * human) / square, 0, 1)) if square > 0 else 0.0

    def combined_deviations(self, k: int, weight: float) -> Floats:
        """Return how the score of a system deviates without units, (n_deviations,)."""
        return np.array([weight, -weight, 1.0]) @ self.deviations[k]

    def combined(self, weight: float) -> tuple[Floats, Floats]:
        """Return the scores (n_systems,) and their replicates (n_systems, n_resamples)."""
        signs = np.array([weight, -weight, 1.0])
        return self.values @ signs, np.einsum("t,stb->sb", signs, self.replicates)


def _shape(moved: Floats, error: float) -> Jackknife:
    """Return skewness and freedom of a score that deviates so without units; see `Jackknife`."""
    n, skewness, freedom = len(moved), 0.0, np.nan
    if error > 0:
        skewness = -float(np.sum((moved / error) ** 3)) / 6
        freedom = 2 * n / max(n / deciding_units(moved) - 1, 1e-12)
    return Jackknife(skewness, error, 0.0, freedom, None, n, n)


def _deviations_without(
    values: Floats, estimates: Floats, times: NDArray[np.int64], n_units: Floats
) -> Floats:
    """Return how terms deviate without each unit, so that squares add to the jackknife's variance.

    Parameters
    ----------
    values : ndarray of shape (..., n_lines)
        Without a unit of each line.
    estimates : ndarray of shape (...)
    times : ndarray of shape (n_lines,)
        Units of each line.
    n_units : ndarray of shape (...)
        Units that a term rests on.
    """
    return (values - estimates[..., None]) * np.sqrt((1 - 1 / n_units)[..., None] * times)
