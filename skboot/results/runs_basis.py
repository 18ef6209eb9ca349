"""`RunsBasis`: several runs of one method on one test set; `SystemOfRunsBasis`: the first of them.

Both hold the evidence of all runs, so that a result of either answers for any estimand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._base.checks import check_choice, check_confidence_level
from .._base.warnings import Note, tell, texts_of
from ..inference.automatic import degeneracy
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.run_differences import SOURCES, advice_on
from ..inference.run_intervals import ESTIMANDS, RunsEvidence, monte_carlo_error, runs_interval
from . import rendering, wording
from .basis import Basis, ScoresBasis, SystemBasis
from .monte_carlo import MonteCarloError

if TYPE_CHECKING:
    from ..inference.variance import Components, TIntervalParts
    from .comparison import ComparisonResult
    from .result import EvaluationResult

_INTERVALS = {
    "components": "t interval from variance components",
    "t": "t interval over the runs alone",
    "percentile": "percentiles of all test resamples of all runs",
}
_INTERVAL_NAMES = {"next_run": "prediction interval", "pooled": "spread of single runs"}


@dataclass(frozen=True, eq=False)
class SeveralRuns(Basis):
    """What all results of several runs share.

    Attributes
    ----------
    run_evidence : skboot.inference.run_intervals.RunsEvidence
        What the runs say of every estimand.
    """

    run_evidence: RunsEvidence

    def variance_components(self) -> dict[str, float] | None:
        """Return the variance of one value by source."""
        return self.run_evidence.components._asdict()

    def interval(
        self,
        result: EvaluationResult,
        method: str | None,
        confidence_level: float | None,
        estimand: str | None,
    ) -> ConfidenceInterval:
        """Return an interval for any estimand."""
        level = result.confidence_interval.confidence_level
        if confidence_level is not None:
            level = check_confidence_level(confidence_level)
        estimand = check_choice("estimand", estimand or result.estimand, ESTIMANDS)
        if method is None:
            is_of_call = estimand == result.estimand and not result.automatic
            method = result.confidence_interval.method if is_of_call else "auto"
        elif method == "percentile" and estimand == "method":
            # The pooled recipe goes by the name of its interval.
            estimand = "pooled"
        chosen = runs_interval(self.run_evidence, estimand, method, level)
        for caution in (*texts_of(chosen.warnings), degeneracy(chosen.interval)):
            if caution:
                tell(Note("caution", caution))
        return chosen.interval

    def facts_of_runs(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return runs, variance components and advice as label and text."""
        evidence, scale = self.run_evidence, wording.scale_of(result)
        lines = [("runs", f"{self._counted_runs()}: {_range_of(evidence.scores, scale)}")]
        if len(evidence.full_scores):
            lines.append(("full-list runs", _range_of(evidence.full_scores, scale)))
        score = evidence.components.of_score(evidence.n_test_units)
        if not all(math.isnan(part) for part in score):
            text = f"standard deviation of one run's score, and its share: {_parts(score)}"
            lines.append(("variance by source", text))
        advice = _advice(result, evidence)
        return [*lines, ("advice", advice)] if advice else lines

    def _counted_runs(self) -> str:
        count = f"{len(self.run_evidence.scores)} runs"
        n_full = len(self.run_evidence.full_scores)
        return f"{count} and {n_full} on the full training set" if n_full else count

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        return super().to_parts() | {"run_evidence": self.run_evidence.to_parts()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the basis whose ``to_parts`` are given."""
        runs = RunsEvidence.from_parts(parts["run_evidence"])
        return super().from_parts(parts | {"run_evidence": runs})


@dataclass(frozen=True, eq=False)
class SystemOfRunsBasis(SeveralRuns, SystemBasis):
    """One run as a system, beside the other runs of its method."""

    kind = "system of runs"


@dataclass(frozen=True, eq=False)
class RunsBasis(SeveralRuns, ScoresBasis):
    """Several runs of one method, for an estimand that is about more runs than one."""

    kind = "runs"

    # -------------------------------------------------------------- numbers

    def _monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        errors = monte_carlo_error(self.run_evidence, result.estimand, result.confidence_interval)
        return MonteCarloError(*errors)

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples."""
        return result.monte_carlo_error == (0, 0)

    # -------------------------------------------------------------- words

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        if result.estimand == "method":
            return f"expected performance of the method {self._where(result)}"
        if result.estimand == "next_run":
            new = "new training set, new seed"
            if self.run_evidence.varied == "seed":
                new = "new seed on this training set"
            if is_untrained(result):
                new = "new seed, all else the same"
            return f"score of the next run: {new}, as many new {_test_units(result)}"
        return f"spread of single runs, {self._kind_of_run(result)}"

    def interval_name(self, result: EvaluationResult) -> str:
        """Return what kind of interval it is: "CI" for the method alone."""
        return _INTERVAL_NAMES.get(result.estimand) or super().interval_name(result)

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        method = result.confidence_interval.method
        return _INTERVALS.get(method, f"{method} interval")

    def corrected_estimate(self, result: EvaluationResult) -> float | None:
        """Return None: the spread of the replicates is one component of several."""
        return None

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, rows = wording.name_and_rows(result)
        held = result.confidence_interval.method == "t"
        fixed = ", conditional on the test rows," if held else ""
        if result.estimand == "method":
            expected = wording.expected(result, self._where(result))
            return f"{expected}{fixed} is estimated at {score} from {rows} ({interval})."
        if result.estimand == "next_run":
            on_list = self.run_evidence.varied == "seed" and not is_untrained(result)
            where = " on this training set" if on_list else ""
            return (
                f"{name} of the next run{where}, on as many new {_test_units(result)}, is "
                f"predicted at {score} ({interval})."
            )
        return (
            f"{name} of single runs, {self._kind_of_run(result)}, is {score} on {rows} "
            f"({interval}); this is not a confidence interval."
        )

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and from what."""
        return [self.method_name(result), self._counted_runs(), wording.units(result)]

    def resampled(self, result: EvaluationResult) -> str:
        """Return what was resampled, and how often."""
        if result.estimand != "pooled":
            return super().resampled(result)
        n_runs, n_resamples = self.run_evidence.replicates.shape
        drawn = wording.units_and_rows(result)
        return f"{drawn}, {n_resamples} times in each of {n_runs} runs"

    def _where(self, result: EvaluationResult) -> str:
        if is_untrained(result):
            return "over runs that differ as these do"
        if self.run_evidence.varied == "seed":
            return "when trained on this training set"
        return "at this training-set size"

    def _kind_of_run(self, result: EvaluationResult) -> str:
        if is_untrained(result):
            return "each with its own seed"
        return {
            "seed": "each with its own seed on this training set",
            "independent": "each trained on its own training set",
        }.get(self.run_evidence.varied, "each trained on a bootstrap sample")


def is_untrained(result: EvaluationResult | ComparisonResult) -> bool:
    """Whether runs that differ in their seed need not have been trained: their values are given."""
    facts = result.provenance.facts
    return facts.varied == "seed" and facts.runs_of_values


# ------------------------------------------------------------------ numbers in words


def _range_of(scores: NDArray[np.float64], scale: rendering.Scale) -> str:
    """Return mean and standard deviation, which papers print, and the range."""
    spread = f", standard deviation {scores.std(ddof=1):.2g}" if len(scores) > 1 else ""
    values = (scores.mean(), scores.min(), np.median(scores), scores.max())
    mean, low, middle, high = (rendering.number(float(value), scale) for value in values)
    return f"mean {mean}{spread}, min {low}, median {middle}, max {high}"


def _parts(score: Components) -> str:
    known = {name: part for name, part in score._asdict().items() if not math.isnan(part)}
    total = sum(known.values()) or 1.0
    return ", ".join(
        f"{SOURCES[name]} {math.sqrt(part):.2g} ({rendering.share(part / total)})"
        for name, part in known.items()
    )


def _advice(result: EvaluationResult, evidence: RunsEvidence) -> str:
    """Return what dominates the interval, and what would narrow it by how much."""
    spread = evidence.next_run if result.estimand == "next_run" else evidence.method
    if result.estimand not in ("method", "next_run") or spread is None or evidence.method is None:
        return ""
    variance = spread.standard_error**2
    if variance == 0 or result.confidence_interval.method == "t":
        return ""
    what = "prediction" if result.estimand == "next_run" else "estimate"
    savings = _savings(evidence.varied, spread, evidence.method.parts)
    text = advice_on(what, spread.parts._asdict(), savings)
    of_one_list = evidence.varied in ("training", "both")
    if of_one_list and spread.parts.training >= 0.1 * variance:
        text += (
            "; the training part shrinks only with more training sets (bootstrap_runs with "
            "varied='independent'), not with more bootstrap samples of this one"
        )
    return text


def _savings(varied: str, spread: TIntervalParts, method: Components) -> dict[str, float]:
    """Variance saved by twice as many of each; of the next run, in the centre only."""
    rows = (spread.parts.test + spread.parts.interaction) / 2
    runs = (method.seed + method.interaction) / 2
    if varied == "independent":
        return {"test units": rows, "training sets": runs + method.training / 2}
    return {"test units": rows, "seeds": runs}


def _test_units(result: EvaluationResult) -> str:
    """Return what the test set of the next run has as many of."""
    whole = result.unit in ("group", "task")
    return wording.plural(result.unit) if whole else "test rows"
