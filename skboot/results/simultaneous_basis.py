"""`SimultaneousBasis`: a score among several, whose intervals hold all at once.

Each interval is made by its own method, at the level at which all of them hold at once with the
level of the call: so far out that as many of the resamples have every score inside, each counted by
its rank among its own replicates (Beran 1988). Record 0056 has what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats

from .._base.warnings import Note
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Evidence
from ..inference.multiplicity import level_of_each
from .basis import SystemBasis
from .monte_carlo import MonteCarloError, error_of_replicates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .result import EvaluationResult


@dataclass(frozen=True, eq=False)
class SimultaneousBasis(SystemBasis):
    """A trained system by one of several metrics, or numbers that one metric returns.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        Of the score, with the largest deviation over all of them in each resample as its ``max_t``.
    n_scores : int
        Number of scores whose intervals hold at once.
    n_constant : int
        How many of them are the same on all resamples.
    """

    n_scores: int
    n_constant: int

    kind = "one of several"

    # -------------------------------------------------------------- numbers

    def level_of_own(self, level: float, evidence: Evidence | None = None) -> float:
        """Level of the interval by itself, where all hold at once with ``level``."""
        known = (self.evidence if evidence is None else evidence).max_t
        assert known is not None
        return level_of_each(known[1], level, self.n_scores, self.n_constant)

    @property
    def note(self) -> Note:
        """What the level of the call is for."""
        return Note(
            "advice",
            f"The intervals of {self.n_scores} scores hold all at once with the confidence level: "
            "each is wider than it would be by itself.",
        )

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        """Return an interval of those that hold all at once with the level."""
        own = super()._interval(result, method, self.level_of_own(level))
        return own.at_level(level)

    def _monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        shown = result.confidence_interval
        level = shown.confidence_level
        return error_of_replicates(
            self.evidence,
            shown,
            self.with_resamples,
            lambda evidence: self.level_of_own(level, evidence),
        )

    def with_resamples(self, resamples: NDArray[np.intp]) -> Evidence:
        """Return the evidence of these resamples alone, with the largest deviations in them."""
        assert self.evidence.max_t is not None
        error, largest = self.evidence.max_t
        return replace(super().with_resamples(resamples), max_t=(error, largest[resamples]))

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Never: the level of the interval is that of the joint bootstrap."""
        return False

    # -------------------------------------------------------------- words

    def interval_name(self, result: EvaluationResult) -> str:
        """Return "simultaneous CI"."""
        return "simultaneous CI"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval, and over how many scores it is simultaneous."""
        return f"{super().method_name(result)}, simultaneous over {self.n_scores} scores"

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        return super().to_parts() | {"n_scores": self.n_scores, "n_constant": self.n_constant}


def bases_together(evidence: Sequence[Evidence]) -> list[SimultaneousBasis]:
    """Return the basis of each of several scores on the same resamples.

    Parameters
    ----------
    evidence : sequence of Evidence
        Of each score.

    Returns
    -------
    list of SimultaneousBasis

    Notes
    -----
    The deviation of a replicate is the normal quantile of its rank among those of its score: of
    studentized deviations the scores with skewed replicates would have the largest (Beran 1988,
    Journal of the American Statistical Association 83, 679-686). Scores that never vary count as
    independent of the others.
    """
    varies = [_varies(one) for one in evidence]
    deviations = [_deviations(one) for one, own in zip(evidence, varies, strict=True) if own]
    nothing = np.full(len(evidence[0].replicates), np.nan)
    largest = np.fmax.reduce(deviations) if deviations else nothing
    n_scores = sum(not np.isnan(one.estimate) for one in evidence)
    error = [
        float(one.sorted_replicates.std(ddof=1)) if own else 0.0
        for one, own in zip(evidence, varies, strict=True)
    ]
    return [
        SimultaneousBasis(replace(one, max_t=(own, largest)), n_scores, n_scores - sum(varies))
        for one, own in zip(evidence, error, strict=True)
    ]


def _varies(evidence: Evidence) -> bool:
    """Whether a score has a value, and different ones on the resamples."""
    defined = evidence.sorted_replicates
    return not np.isnan(evidence.estimate) and len(defined) > 1 and defined[0] < defined[-1]


def _deviations(evidence: Evidence) -> NDArray[np.float64]:
    """Return how far out each replicate is, as a normal quantile; NaN where undefined."""
    ranks = stats.rankdata(evidence.replicates, nan_policy="omit")
    n = len(evidence.sorted_replicates)
    return np.asarray(np.abs(special.ndtri(ranks / (n + 1))))
