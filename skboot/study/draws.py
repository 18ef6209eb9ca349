"""The engine of every study: statistics on the data and on the resamples that they share.

`draw` binds them to a plan and runs over its resamples; what else an interval needs, such as the
values without single units, is computed for the scores that ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._workers import Workers
from ..inference.crossed import (
    RobustVariance,
    crossed_covariances,
    has_influence,
    robust_variance,
)
from ..inference.distribution import (
    BootstrapDistribution,
    BoundStatistic,
    JackknifeValues,
    bootstrap,
    jackknife,
    leave_out,
)
from ..inference.evidence import Evidence
from ..resampling.design import CrossedDesign
from ..resampling.plan import Binding, ResamplingPlan
from .score import LeftOut, Score


@dataclass(frozen=True, eq=False)
class Draws:
    """Statistics on the data and on common resamples.

    Attributes
    ----------
    binding : Binding
        The plan, bound to the statistics.
    subjects : sequence of BoundStatistic
    distributions : sequence of BootstrapDistribution
        One for each of them.
    scores : mapping of int to Score
        Those of which evidence is wanted, by their numbers.
    """

    binding: Binding
    subjects: Sequence[BoundStatistic]
    distributions: Sequence[BootstrapDistribution]
    scores: Mapping[int, Score]

    @cached_property
    def evidence(self) -> dict[int, Evidence]:
        """What intervals of the scores are made of, by their numbers."""
        left_out = self._left_out()
        return {
            k: one.evidence(self.distributions[k], own)
            for (k, one), own in zip(self.scores.items(), left_out, strict=True)
        }

    def values_left_out(self) -> JackknifeValues:
        """Values of all statistics without single units, for BCa of differences."""
        return leave_out(self.binding, self.subjects)

    @cached_property
    def covariances(self) -> NDArray[np.float64]:
        """Covariances of the scores by cells and members of crossed factors, NaN if unknown.

        See `crossed_covariances`; NaN for scores without influences.
        """
        design = self.binding.plan.design
        assert isinstance(design, CrossedDesign)
        numbers, n = list(self.scores), len(self.scores)
        known = [k for k in range(n) if has_influence(self.scores[numbers[k]].subject.statistic)]
        found = np.full((3 - design.same_population, n, n), np.nan)
        if known:
            subjects = [self.scores[numbers[k]].subject for k in known]
            estimates = [self.distributions[numbers[k]].estimate for k in known]
            found[:, np.array(known)[:, None], known] = crossed_covariances(
                design, subjects, estimates
            )
        return found

    def _left_out(self) -> Sequence[LeftOut | None]:
        """Return the jackknife of each score whose acceleration is wanted or cheap, else None.

        Of crossed factors, which have no jackknife, it is the cluster-robust variance.
        """
        if all(self.distributions[k].acceleration is not None for k in self.scores):
            return [None] * len(self.scores)
        if isinstance(self.binding.plan.design, CrossedDesign):
            return self._robust_variances()
        subjects = {
            k: one.subject
            for k, one in self.scores.items()
            if one.interval == "bca" or one.subject.statistic.reads in ("sums", "pairs")
        }
        if not subjects:
            return [None] * len(self.scores)
        estimates = [self.distributions[k].estimate for k in subjects]
        self.binding.forget()
        jackknives = jackknife(
            self.binding.only(list(subjects)), list(subjects.values()), estimates
        )
        by_number = dict(zip(subjects, jackknives, strict=True))
        return [by_number.get(k) for k in self.scores]

    def _robust_variances(self) -> list[RobustVariance | None]:
        """Return the cluster-robust variance of each score, None for one without influences."""
        variances = [
            float(robust_variance(self.covariances[:, k, k], one.known.drawn.n_units))
            for k, one in enumerate(self.scores.values())
        ]
        return [None if np.isnan(value) else RobustVariance(value) for value in variances]


def draw(
    plan: ResamplingPlan,
    subjects: Sequence[BoundStatistic],
    workers: Workers,
    scores: Mapping[int, Score] | None = None,
) -> Draws:
    """Evaluate statistics on the data and on the resamples of a plan.

    Parameters
    ----------
    plan : ResamplingPlan
    subjects : sequence of BoundStatistic
    workers : Workers
    scores : mapping of int to Score, optional
        Of which of them evidence is wanted, by number.
    """
    binding = plan.bind([subject.coding for subject in subjects])
    return Draws(binding, subjects, bootstrap(binding, subjects, workers), scores or {})


def draw_scores(plan: ResamplingPlan, scores: Sequence[Score], workers: Workers) -> Draws:
    """As `draw`, of scores all of whose evidence is wanted."""
    return draw(plan, [one.subject for one in scores], workers, dict(enumerate(scores)))
