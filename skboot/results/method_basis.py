"""`MethodBasis`: a method that was trained on samples of one data set, without a test set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from .._base import checks as check
from ..inference.confidence_interval import ConfidenceInterval
from ..method_error.method_intervals import MethodErrorSummary, method_interval
from . import wording
from .basis import ScoresBasis
from .monte_carlo import MonteCarloError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .result import EvaluationResult

_INTERVALS = {
    "cv-bootstrap": "cv-bootstrap interval: cross-validation with the spread of bootstrap samples",
    "cv-bootstrap-conservative": (
        "cv-bootstrap interval, conservative: with the full spread of bootstrap samples"
    ),
    "adjusted": "t interval with the adjusted standard error of the out-of-bag score",
    "hull": "hull of the out-of-bag and .632+ intervals",
    "normal": "normal interval over out-of-bag scores of single runs; as wide as that of t",
    "t": "t interval over out-of-bag scores of single runs; covers 98 to 100 % at 95 %",
    "percentile": "percentiles of out-of-bag scores of single runs; cover 87 to 100 % at 95 %",
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
    """Errors of a method from trainings on samples.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The estimate, its standard error, and as replicates the out-of-bag scores of single runs.
    error : skboot.method_error.method_intervals.MethodErrorSummary
        What any interval for the method is made of.
    """

    error: MethodErrorSummary

    kind = "method"
    is_on_rows_left_out = True

    # -------------------------------------------------------------- numbers

    def _check_estimand(self, result: EvaluationResult, estimand: str | None) -> None:
        if estimand not in (None, "method"):
            must = "be 'method' for a result without a test set"
            advice = "Fit with X_test= and y_test= for the others."
            raise check.fail("estimand", must, repr(estimand), advice)

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        return method_interval(self.error, method, level).interval

    def _monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        """Return NaN: the runs themselves are not stored."""
        return MonteCarloError(math.nan, math.nan)

    def replicates_text(self, result: EvaluationResult) -> str:
        """Return what the replicates are: no interval is made from them alone."""
        return "out-of-bag scores of single runs"

    # -------------------------------------------------------------- words

    def title(self, result: EvaluationResult) -> str:
        """Return which metric of a method on how many rows."""
        metric = wording.capitalized(wording.spoken(result.metric))
        return f"{metric} of a method on {wording.counted(result.n_samples, 'row')}"

    def rows(self, n_samples: int) -> str:
        """Return how many rows there are, and how they came to be left out of trainings."""
        return f"{wording.counted(n_samples, 'row')}, by {_CENTRES[self.error.strategy]}"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        method = result.confidence_interval.method
        return _INTERVALS.get(method, method)

    def reasons(self, result: EvaluationResult) -> Sequence[str]:
        """Return the first note: others speak of the scores beside the estimate."""
        return result.notes[:1]

    def corrected_estimate(self, result: EvaluationResult) -> float | None:
        """Return None: the replicates are scores of single runs, not of the estimate."""
        return None

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        of_groups = f" of {wording.units(result)}" if result.unit == "group" else ""
        given, by = wording.conditional_on(result, ","), _CENTRES[self.error.strategy]
        rows = wording.counted(result.n_samples, "row")
        where = f"when trained on {rows}{of_groups} from the same source"
        expected = wording.expected(result, where)
        return f"{expected}{given} is estimated at {score} by {by} ({interval})."

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        units = wording.units(result)
        return [f"{result.confidence_interval.method} interval", f"{units} resampled"]

    def score_text(self, result: EvaluationResult) -> str:
        """Return the estimate, and what it is made of."""
        return f"{super().score_text(result)}, by {_CENTRES[self.error.strategy]}"

    def counts_undefined(self, result: EvaluationResult) -> bool:
        """Whether resamples without a value are counted: the runs left out are, instead."""
        return False

    def facts(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return all a reader should know, as label and text."""
        lines = [
            ("estimand", self.estimand_text(result)),
            ("estimate", self.score_text(result)),
            (self.interval_label(result), self.interval_text(result)),
            ("standard error", wording.number(result, result.standard_error)),
            *self._errors(result),
            *self._more_fits(result),
            ("resampled", wording.units(result)),
        ]
        if result.n_undefined:
            count = f"{result.n_undefined} of {result.n_resamples} runs"
            reason = f"they failed, left out fewer than two {result.unit}s, or have no score"
            lines.append(("left out", f"{count}: {reason}"))
        return lines + self.held_fixed(result) + wording.notes_beside_reason(result)

    def _errors(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return the scores by other estimates and the number of runs, if there were any."""
        if result.runs is None:
            # A search, from its out-of-fold predictions: nothing was trained.
            return []
        error = self.error.error
        n_boot, n_fold = (int((result.runs["sample"] == of).sum()) for of in ("bootstrap", "fold"))
        runs = f"{n_boot} on bootstrap samples"
        runs += f", {n_fold} of cross-validation" if n_fold else ""
        points = [self._score(result, point) for point in (error.point632, error.point632_plus)]
        return [
            ("resubstitution", self._score(result, error.resubstitution)),
            ("out-of-bag", self._score(result, error.oob)),
            (".632 and .632+", ", ".join(points)),
            ("no information", self._score(result, error.no_information_rate)),
            ("runs", f"{runs}; the distribution holds out-of-bag scores of single runs"),
        ]

    def _more_fits(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return how far half the width depends on the bootstrap samples, and on more of them."""
        cv, interval = self.error.error.cv, result.confidence_interval
        if cv is None or interval.method != "cv-bootstrap" or result.runs is None:
            return []
        errors = cv.half_width_errors(interval.confidence_level)
        if math.isnan(errors[0]):
            return []
        # Two digits: 0.72 %, 8.3 %, 120 %.
        now, later = (f"{float(f'{100 * error:.2g}'):g} %" for error in errors)
        text = f"{now} of half the width; with four times the bootstrap samples {later}"
        return [("Monte Carlo error", text)]

    def interval_text(self, result: EvaluationResult) -> str:
        """Return limits and method, or why there are none."""
        if not wording.has_limits(result):
            return super().interval_text(result)
        return f"{wording.limits(result, marked=False)} ({self.method_name(result)})"

    def _score(self, result: EvaluationResult, error: float) -> str:
        return wording.number(result, 0.0 - self.error.sign * error)

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        return super().to_parts() | {"error": self.error.to_parts()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the basis whose ``to_parts`` are given."""
        return super().from_parts(parts | {"error": MethodErrorSummary.from_parts(parts["error"])})
