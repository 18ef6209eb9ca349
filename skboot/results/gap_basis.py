"""`GapBasis`: the largest gap between subgroups, of a system or of a difference of systems.

The pair was chosen for being the furthest apart, so its interval is simultaneous over all pairs,
and the words say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..inference.automatic import degeneracy
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Evidence
from ..inference.intervals import confidence_interval
from ..inference.subgroup_gap import SubgroupGap
from . import wording
from .basis import Basis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .result import EvaluationResult


@dataclass(frozen=True, eq=False)
class GapBasis(Basis):
    """The two subgroups that differ most.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        Of their difference, with its ``gap``.
    metric : str
        Name of the metric.
    pair : str
        Names of the two subgroups, after those of the two systems where there are two.
    of_systems : bool
        Whether differences of systems are compared between subgroups, not scores.
    """

    metric: str
    pair: str
    of_systems: bool

    kind = "gap"
    is_gap = True
    choice_of_estimate = " (chosen as the largest, so on average too large)"

    @property
    def name(self) -> str:
        """Name of the metric of the result."""
        return f"{self.metric} gap ({self.pair})"

    @property
    def gap(self) -> SubgroupGap:
        """What the simultaneous interval is made of."""
        assert self.evidence.gap is not None
        return SubgroupGap.of_stored(self.evidence.gap)

    # -------------------------------------------------------------- numbers

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        """Return an interval; an automatic one is simultaneous, since the pair was chosen."""
        method = "simultaneous" if method == "auto" else method
        interval = confidence_interval(self.evidence, method, level)
        undefined = math.isnan(result.estimate)
        why = " ".join(result.notes) if undefined else degeneracy(interval, self.evidence)
        self._warn_of(interval, why)
        return interval

    def with_resamples(self, resamples: NDArray[np.intp]) -> Evidence:
        """Return the evidence of these resamples alone, with those of the first side."""
        evidence, gap = super().with_resamples(resamples), self.gap
        if gap.replicates is not None:
            gap = gap._replace(replicates=gap.replicates[resamples])
        return replace(evidence, gap=gap)

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether both sides of the interval have closed forms."""
        if result.confidence_interval.method != "simultaneous":
            return super().uses_no_resamples(result)
        gap = self.gap
        return bool(gap.sides) and gap.replicates is None

    # -------------------------------------------------------------- words

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        if self.of_systems:
            return (
                "largest change between subgroups of the difference of two trained systems, on "
                f"{wording.new_data(result)}"
            )
        return (
            "largest difference between subgroups for this trained system, on "
            f"{wording.new_data(result)}"
        )

    def interval_name(self, result: EvaluationResult) -> str:
        """Return "simultaneous CI"."""
        return "simultaneous CI"

    def column_name(self, result: EvaluationResult) -> str:
        """Return "CI": the name of the method says that it is simultaneous."""
        return "CI"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval, and what it is simultaneous over."""
        pairs = "all pairs of subgroups"
        if self.of_systems:
            pairs += " and all differences of systems"
        return f"simultaneous over {pairs}, from the limits of each subgroup"

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        metric, (low, high) = wording.spoken(self.metric), result.confidence_interval
        difference = f"difference in {metric} between subgroups"
        if self.of_systems:
            difference = f"change between subgroups of a difference in {metric}"
        verdict = "This does not show that subgroups differ, nor that they are equal."
        if low > 0 or high < 0:
            verdict = f"On {wording.new_data(result)} these two differ."
        where = f"({self.pair}) on {self.rows(result.n_samples)}"
        return f"The largest {difference} was {score} {where} ({interval}). {verdict}"

    def counts_undefined(self, result: EvaluationResult) -> bool:
        """Whether resamples without a value are counted: not where no pair has a value."""
        return super().counts_undefined(result) and not math.isnan(result.estimate)

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        names = {"metric": self.metric, "pair": self.pair, "of_systems": self.of_systems}
        return super().to_parts() | names
