"""Evidence of results of a method: its runs, its trainings, its scores on several data sets.

`RunsBasis` is of several runs of one method on one test set, `SystemOfRunsBasis` of the first of
them; both hold the evidence of all runs, so that a result of either answers for any estimand.
`MethodBasis` is of a method that was trained on samples of one data set, without a test set;
`DrawnDataSetsBasis` and `GivenDataSetsBasis` are of its mean score over several data sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from .._base.checks import check_choice, check_confidence_level, fail
from .._base.errors import Note, tell, texts_of
from ..inference.automatic import (
    degeneracy,
)
from ..inference.evidence import ConfidenceInterval, within_range
from ..inference.intervals import (
    SkewedT,
    confidence_interval,
)
from ..inference.runs import (
    ESTIMANDS,
    SOURCES,
    RunsEvidence,
    advice_on,
    monte_carlo_error,
    runs_interval,
)
from ..method_error.prediction_error import MethodErrorSummary, method_interval
from . import rendering, wording
from .basis import Basis, MonteCarloError, Readers, ScoresBasis, SystemBasis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .result import EvaluationResult


_INTERVALS = {
    "components": "t interval from variance components",
    "t": "t interval over the runs alone",
    "percentile": "percentiles of all test resamples of all runs",
}
_INTERVAL_NAMES = {"next_run": "prediction interval", "pooled": "spread of single runs"}


@dataclass(frozen=True, eq=False)
class SeveralRuns(Basis):
    """Evidence of several runs, which results of all estimands share.

    Attributes
    ----------
    run_evidence : skboot.inference.runs.RunsEvidence
        What the runs say of every estimand.
    """

    run_evidence: RunsEvidence

    readers: ClassVar[Readers] = {**Basis.readers, "run_evidence": RunsEvidence.from_parts}

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
            is_of_call = estimand == result.estimand and not result._automatic
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
        parts = {name: part for name, part in score._asdict().items() if not math.isnan(part)}
        if parts:
            total = sum(parts.values()) or 1.0
            shares = [
                f"{SOURCES[name]} {math.sqrt(part):.2g} ({rendering.share(part / total)})"
                for name, part in parts.items()
            ]
            text = f"standard deviation of one run's score, and its share: {', '.join(shares)}"
            lines.append(("variance by source", text))
        advice = _advice(result, evidence)
        return [*lines, ("advice", advice)] if advice else lines

    def _counted_runs(self) -> str:
        count = f"{len(self.run_evidence.scores)} runs"
        n_full = len(self.run_evidence.full_scores)
        return f"{count} and {n_full} on the full training set" if n_full else count


@dataclass(frozen=True, eq=False)
class SystemOfRunsBasis(SeveralRuns, SystemBasis):
    """One run as a system, beside the other runs of its method."""

    kind = "system of runs"


@dataclass(frozen=True, eq=False)
class RunsBasis(SeveralRuns, ScoresBasis):
    """Several runs of one method, for an estimand that is about more runs than one."""

    kind = "runs"
    method_names = _INTERVALS
    # The spread of the replicates is one component of several.
    is_corrected_for_bias = False

    # -------------------------------------------------------------- numbers

    def monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        """Return the standard error of each limit that is due to the number of resamples."""
        if not wording.has_limits(result):
            return MonteCarloError(math.nan, math.nan)
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
            if wording.is_untrained(result):
                new = "new seed, all else the same"
            return f"score of the next run: {new}, as many new {_test_units(result)}"
        return f"spread of single runs, {self._kind_of_run(result)}"

    def interval_name(self, result: EvaluationResult) -> str:
        """Return what kind of interval it is: "CI" for the method alone."""
        return _INTERVAL_NAMES.get(result.estimand) or super().interval_name(result)

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, rows = wording.name_and_rows(result)
        is_conditional = result.confidence_interval.method == "t"
        fixed = ", conditional on the test rows," if is_conditional else ""
        if result.estimand == "method":
            expected = wording.expected(result, self._where(result))
            return f"{expected}{fixed} is estimated at {score} from {rows} ({interval})."
        if result.estimand == "next_run":
            on_list = self.run_evidence.varied == "seed" and not wording.is_untrained(result)
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
        units = wording.units_and_rows(result)
        return f"{units}, {n_resamples} times in each of {n_runs} runs"

    def _where(self, result: EvaluationResult) -> str:
        if wording.is_untrained(result):
            return "over runs that differ as these do"
        if self.run_evidence.varied == "seed":
            return "when trained on this training set"
        return "at this training-set size"

    def _kind_of_run(self, result: EvaluationResult) -> str:
        if wording.is_untrained(result):
            return "each with its own seed"
        return {
            "seed": "each with its own seed on this training set",
            "independent": "each trained on its own training set",
        }.get(self.run_evidence.varied, "each trained on a bootstrap sample")


def _range_of(scores: NDArray[np.float64], scale: rendering.Scale) -> str:
    """Return mean and standard deviation, which papers print, and the range."""
    spread = f", standard deviation {scores.std(ddof=1):.2g}" if len(scores) > 1 else ""
    values = (scores.mean(), scores.min(), np.median(scores), scores.max())
    mean, low, middle, high = (rendering.number(float(value), scale) for value in values)
    return f"mean {mean}{spread}, min {low}, median {middle}, max {high}"


def _advice(result: EvaluationResult, run_evidence: RunsEvidence) -> str:
    """Return what dominates the interval, and what would narrow it by how much."""
    spread = run_evidence.next_run if result.estimand == "next_run" else run_evidence.method
    if (
        result.estimand not in ("method", "next_run")
        or spread is None
        or run_evidence.method is None
    ):
        return ""
    variance = spread.standard_error**2
    if variance == 0 or result.confidence_interval.method == "t":
        return ""
    noun = "prediction" if result.estimand == "next_run" else "estimate"
    # Variance saved by twice as many of each; of the next run, in the centre only.
    parts = run_evidence.method.parts
    savings = {"test units": (spread.parts.test + spread.parts.interaction) / 2}
    runs = (parts.seed + parts.interaction) / 2
    if run_evidence.varied == "independent":
        savings["training sets"] = runs + parts.training / 2
    else:
        savings["seeds"] = runs
    text = advice_on(noun, spread.parts._asdict(), savings)
    of_one_list = run_evidence.varied in ("training", "both")
    if of_one_list and spread.parts.training >= 0.1 * variance:
        text += (
            "; the training part shrinks only with more training sets (bootstrap_runs with "
            "varied='independent'), not with more bootstrap samples of this one"
        )
    return text


def _test_units(result: EvaluationResult) -> str:
    """Return what the test set of the next run has as many of."""
    are_whole = result._evidence.drawn.design.units_are_groups
    return wording.plural(result.unit) if are_whole else "test rows"


_METHOD_INTERVALS = {
    "cv-bootstrap": "cv-bootstrap interval: cross-validation with the spread of bootstrap samples",
    "cv-bootstrap-conservative": (
        "cv-bootstrap interval, conservative: with the full spread of bootstrap samples"
    ),
    "adjusted": "t interval with the adjusted standard error of the out-of-bag score",
    "hull": "hull of the out-of-bag and .632+ intervals",
    "normal": "normal interval over out-of-bag scores of single runs; as wide as that of t",
    "t": "t interval over out-of-bag scores of single runs; covers 98 to 100% at 95%",
    "percentile": "percentiles of out-of-bag scores of single runs; cover 87 to 100% at 95%",
}
_CENTRES = {
    "cv-bootstrap": "repeated cross-validation",
    "oob": "rows left out of bootstrap samples",
    ".632": "the .632 rule",
    ".632+": "the .632+ rule",
    "optimism": "resubstitution corrected for optimism",
}


@dataclass(frozen=True, eq=False)
class MethodBasis(ScoresBasis):
    """Errors of a method from trainings on samples of one data set, without a test set.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The estimate, its standard error, and as replicates the out-of-bag scores of single runs.
    error : skboot.method_error.prediction_error.MethodErrorSummary
        What any interval for the method is made of.
    """

    error: MethodErrorSummary

    kind = "method"
    readers: ClassVar[Readers] = {**Basis.readers, "error": MethodErrorSummary.from_parts}
    row_noun = "row"
    method_names = _METHOD_INTERVALS
    is_on_rows_left_out = True
    # The replicates are scores of single runs, not of the estimate.
    is_corrected_for_bias = False
    replicates_are = "out-of-bag scores of single runs"
    # The runs left out are counted instead.
    counts_undefined = False

    # -------------------------------------------------------------- numbers

    def _check_estimand(self, result: EvaluationResult, estimand: str | None) -> None:
        if estimand not in (None, "method"):
            must = "be 'method' for a result without a test set"
            advice = "Fit with X_test= and y_test= for the others."
            raise fail("estimand", must, repr(estimand), advice)

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        return method_interval(self.error, method, level).interval

    def monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        """Return NaN: the runs themselves are not stored."""
        return MonteCarloError(math.nan, math.nan)

    # -------------------------------------------------------------- words

    def title(self, result: EvaluationResult) -> str:
        """Return which metric of a method on how many rows."""
        metric = wording.capitalized(wording.spoken(result.metric))
        return f"{metric} of a method on {wording.counted(result.n_samples, 'row')}"

    def rows(self, n_samples: int) -> str:
        """Return how many rows there are, and how they came to be left out of trainings."""
        return f"{super().rows(n_samples)}, by {_CENTRES[self.error.strategy]}"

    def reasons(self, result: EvaluationResult) -> Sequence[str]:
        """Return the first note: others speak of the scores beside the estimate."""
        return result.notes[:1]

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        are_groups = result._evidence.drawn.design.units_are_groups
        of_groups = f" of {wording.units(result)}" if are_groups else ""
        condition, by = wording.conditional_on(result, ","), _CENTRES[self.error.strategy]
        rows = wording.counted(result.n_samples, "row")
        where = f"when trained on {rows}{of_groups} from the same source"
        expected = wording.expected(result, where)
        return f"{expected}{condition} is estimated at {score} by {by} ({interval})."

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        units = wording.units(result)
        return [f"{result.confidence_interval.method} interval", f"{units} resampled"]

    def score_text(self, result: EvaluationResult) -> str:
        """Return the estimate, and what it is made of."""
        return f"{super().score_text(result)}, by {_CENTRES[self.error.strategy]}"

    def facts(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return all a reader should know, as label and text."""
        lines = [
            ("estimand", self.estimand_text(result)),
            ("estimate", self.score_text(result)),
            (self.interval_label(result), self.interval_text(result)),
            ("standard error", wording.number(result, result.standard_error)),
            *self._facts_of_trainings(result),
            ("resampled", wording.units(result)),
        ]
        if result.n_undefined:
            count = f"{result.n_undefined} of {result.n_resamples} runs"
            reason = f"they failed, left out fewer than two {result.unit}s, or have no score"
            lines.append(("left out", f"{count}: {reason}"))
        return lines + self.held_fixed(result) + wording.notes_beside_reason(result)

    def _facts_of_trainings(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return the scores by other estimates, the number of runs and what more would bring."""
        if result.runs is None:
            # A search, from its out-of-fold predictions: nothing was trained.
            return []
        error = self.error.prediction_error
        n_boot, n_fold = (int((result.runs["sample"] == of).sum()) for of in ("bootstrap", "fold"))
        runs = f"{n_boot} on bootstrap samples"
        runs += f", {n_fold} of cross-validation" if n_fold else ""
        points = [self._score(result, point) for point in (error.point632, error.point632_plus)]
        lines = [
            ("resubstitution", self._score(result, error.resubstitution)),
            ("out-of-bag", self._score(result, error.oob)),
            (".632 and .632+", ", ".join(points)),
            ("no information", self._score(result, error.no_information_rate)),
            ("runs", f"{runs}; the distribution holds out-of-bag scores of single runs"),
        ]
        interval = result.confidence_interval
        if error.cv is not None and interval.method == "cv-bootstrap":
            # How far half the width depends on the bootstrap samples, and on more of them.
            errors = error.cv.half_width_errors(interval.confidence_level)
            if not math.isnan(errors[0]):
                # Two digits: 0.72%, 8.3%, 120%.
                now, later = (f"{float(f'{100 * share:.2g}'):g}%" for share in errors)
                text = f"{now} of half the width; with four times the bootstrap samples {later}"
                lines.append(("Monte Carlo error", text))
        return lines

    def interval_text(self, result: EvaluationResult) -> str:
        """Return limits and method, or why there are none."""
        if not wording.has_limits(result):
            return super().interval_text(result)
        return f"{wording.limits(result, marked=False)} ({self.method_name(result)})"

    def _score(self, result: EvaluationResult, error: float) -> str:
        return wording.number(result, 0.0 - self.error.sign * error)


@dataclass(frozen=True, eq=False)
class GivenDataSetsBasis(ScoresBasis):
    """The mean over these very data sets; each score has a standard error of its own.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The mean, its standard error, and draws from the normal distribution of its error.
    degrees_of_freedom : float
        Degrees of freedom of the standard error.
    """

    degrees_of_freedom: float

    kind = "given data sets"
    row_noun = "data set"
    method_names: ClassVar[Mapping[str, str]] = {
        "t": "t interval from the standard error on each data set"
    }
    estimand_words = "mean performance of the method on these very data sets"
    is_resampled = False
    _methods: ClassVar[tuple[str, ...]] = ("t",)

    # -------------------------------------------------------------- numbers

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        if method == "auto":
            # What suited the number of data sets when the result was made.
            method = result.confidence_interval.method
        else:
            check_choice("method", method, ["auto", *self._methods])
        return self.interval_by(method, level)

    def interval_by(self, method: str, level: float) -> ConfidenceInterval:
        """Return the interval cut at the range of the scores, where that is known."""
        interval = ConfidenceInterval(*self._limits_by(method, level), level, method)
        return within_range(interval, self.evidence.facts.bounds)

    def _limits_by(self, method: str, level: float) -> tuple[float, float]:
        """Return limits of Student's t about the mean."""
        half = float(stdtrit(self.degrees_of_freedom, 0.5 + level / 2)) * self.standard_error()
        estimate = float(self.evidence.estimate)
        return estimate - half, estimate + half

    # -------------------------------------------------------------- words

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name = wording.capitalized(wording.spoken(result.metric))
        rows = self.rows(result.n_samples)
        return f"{name} of the method on these {rows} is {score} on average ({interval})."


@dataclass(frozen=True, eq=False)
class DrawnDataSetsBasis(GivenDataSetsBasis):
    """The mean over data sets that are a sample of those to come.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The mean, its standard error from the spread over the data sets, and both on resamples of
        the data sets.
    degrees_of_freedom : float
        One less than the number of data sets.
    """

    kind = "drawn data sets"
    method_names: ClassVar[Mapping[str, str]] = {"t": "t interval over the data sets"}
    estimand_words = "expected performance of the method on a new data set like these"
    is_resampled = True
    _methods = ("skewed-t", "t", "studentized", "percentile")

    def _limits_by(self, method: str, level: float) -> tuple[float, float]:
        """Return limits of Student's t, farther where skewed, or limits from the resamples."""
        if method == "t":
            return super()._limits_by(method, level)
        if method != "skewed-t":
            return confidence_interval(self.evidence, method, level).uncut
        skew = self.evidence.acceleration
        if skew is None:
            must = "not be 'skewed-t' for a comparison of an earlier version"
            raise fail("method", must, repr(method))
        estimate = float(self.evidence.estimate)
        return SkewedT(estimate, self.standard_error(), self.degrees_of_freedom, skew).interval(
            level
        )

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples."""
        return result.confidence_interval.method in ("t", "skewed-t")

    # -------------------------------------------------------------- words

    def resampled(self, result: EvaluationResult) -> str:
        """Return what was resampled, and how often."""
        return f"{wording.units(result)}, {wording.counted(result.n_resamples, 'time')}"

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        details = [self.method_name(result)]
        if not self.uses_no_resamples(result):
            details.append(f"{wording.units(result)} resampled")
        return details

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        expected = wording.expected(result, "on a new data set like these")
        estimated = f"{expected} is estimated at {score} from {self.rows(result.n_samples)}"
        return f"{estimated} ({interval}).{wording.no_width(result)}"
