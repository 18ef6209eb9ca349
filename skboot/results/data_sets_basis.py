"""Bases of the mean score of a method over several data sets: drawn ones, and given ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scipy.special import stdtrit

from .._base import checks as check
from ..inference.confidence_interval import ConfidenceInterval, within_range
from ..inference.intervals import confidence_interval, words_of
from ..inference.skewed_t import SkewedT
from . import wording
from .basis import ScoresBasis

if TYPE_CHECKING:
    from .result import EvaluationResult


@dataclass(frozen=True, eq=False)
class GivenDataSetsBasis(ScoresBasis):
    """The mean over these very data sets; each score has a standard error of its own.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The mean, its standard error, and draws from the normal law of its error.
    degrees_of_freedom : float
        Of the standard error.
    """

    degrees_of_freedom: float

    kind = "given data sets"
    is_resampled = False
    _methods: ClassVar[tuple[str, ...]] = ("t",)

    # -------------------------------------------------------------- numbers

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        if method == "auto":
            # What suited the number of data sets when the result was made.
            return self.interval_by(result.confidence_interval.method, level)
        check.check_choice("method", method, self._methods)
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

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples."""
        return result.confidence_interval.method in ("t", "skewed-t")

    # -------------------------------------------------------------- words

    def rows(self, n_samples: int) -> str:
        """Return how many data sets there are."""
        return wording.counted(n_samples, "data set")

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        return "mean performance of the method on these very data sets"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        return "t interval from the standard error on each data set"

    def resampled(self, result: EvaluationResult) -> str:
        """Return that nothing was resampled."""
        draws = wording.counted(result.n_resamples, "draw")
        return f"nothing; the distribution holds {draws} from the normal law of the error"

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        return [self.method_name(result)]

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name = wording.capitalized(wording.spoken(result.metric))
        rows = self.rows(result.n_samples)
        return f"{name} of the method on these {rows} is {score} on average ({interval})."

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return all that is held, for a file."""
        return super().to_parts() | {"degrees_of_freedom": self.degrees_of_freedom}


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
    is_resampled = True
    _methods = ("skewed-t", "t", "studentized", "percentile")

    def _limits_by(self, method: str, level: float) -> tuple[float, float]:
        """Return those of Student's t, farther where skewed, or some from the resamples."""
        if method == "t":
            return super()._limits_by(method, level)
        if method != "skewed-t":
            return confidence_interval(self.evidence, method, level).uncut
        skew = self.evidence.acceleration
        if skew is None:
            must = "not be 'skewed-t' for a comparison of an earlier version"
            raise check.fail("method", must, repr(method))
        estimate = float(self.evidence.estimate)
        return SkewedT(estimate, self.standard_error(), self.degrees_of_freedom, skew).interval(
            level
        )

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        return "expected performance of the method on a new data set like these"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        method = result.confidence_interval.method
        return "t interval over the data sets" if method == "t" else words_of(method)

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
