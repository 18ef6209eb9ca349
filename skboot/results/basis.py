"""`Basis`: what a result stands on. It decides the intervals, their error and the words.

A score of one system, a gap between subgroups, several runs and a method that was trained on
samples differ in how intervals are made and in what these are for. `EvaluationResult` asks its
basis for both, and nothing else asks which basis it is.

To add a basis (for curves or streams):

1. Write a frozen dataclass that inherits `Basis` or `SystemBasis`, in a module of its own, and
   override what differs. A method that is not overridden answers from the replicates of
   ``evidence``.
2. Give it a ``kind``, and name its class in `_CLASSES`, so that saved files find it.
3. Write ``to_parts`` and ``from_parts`` if it has fields beside ``evidence``.
4. Make it where the result is made, and add a result of it to ``tests/results/test_basis.py``,
   which calls every method of a result on one result per basis.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .._base import checks as check
from .._base.values import read_only, spread_of
from .._base.warnings import Note, tell, texts_of
from ..inference.automatic import (
    automatic_interval,
    bias_told,
    degeneracy,
    left_out_estimate,
    resamples_vary,
)
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Evidence
from ..inference.few_groups import effective_size
from ..inference.intervals import (
    WITHOUT_RESAMPLES,
    confidence_interval,
    error_without_resamples,
    words_of,
)
from . import rendering, wording
from .monte_carlo import MonteCarloError, error_of_replicates, with_resamples

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .result import EvaluationResult

# Class of each basis by the kind that files hold, imported where a file or a call needs it.
_CLASSES = {
    "system": "basis.SystemBasis",
    "one of several": "simultaneous_basis.SimultaneousBasis",
    "scores": "basis.ScoresBasis",
    "gap": "gap_basis.GapBasis",
    "runs": "runs_basis.RunsBasis",
    "system of runs": "runs_basis.SystemOfRunsBasis",
    "method": "method_basis.MethodBasis",
    "training-set size": "curve.SizeBasis",
    "larger training-set size": "curve.LargerSizeBasis",
    "drawn data sets": "data_sets_basis.DrawnDataSetsBasis",
    "given data sets": "data_sets_basis.GivenDataSetsBasis",
}

_NOT_STORED = "the interval cannot be made again from what is stored"


@dataclass(frozen=True, eq=False)
class Basis(ABC):
    """What a result stands on; each subclass is one way.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        What the estimate and the replicates of the result are.
    """

    evidence: Evidence

    kind: ClassVar[str]
    # Whether the result is the difference of two subgroups, which is marked in tables.
    is_gap: ClassVar[bool] = False
    # Whether the scores are those of rows that trainings left out, not of a test set.
    is_on_rows_left_out: ClassVar[bool] = False
    # Whether the replicates are of resampled units, not draws from a law.
    is_resampled: ClassVar[bool] = True
    # What a reader must know of how the estimate was chosen.
    choice_of_estimate: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", read_only(self.evidence))

    # -------------------------------------------------------------- numbers

    def standard_error(self, method: str = "") -> float:
        """Return the standard deviation of the defined replicates; NaN of one, or of one unit.

        It may hang on the method of the interval that stands beside it.
        """
        defined = self.evidence.sorted_replicates
        if len(defined) < 2 or not self.evidence.drawn.varies:
            return math.nan
        # Of equal values exactly 0: their mean may be off by rounding.
        return float(spread_of(defined)) if defined[0] < defined[-1] else 0.0

    def variance_components(self) -> dict[str, float] | None:
        """Return the variance by source; None where there are no runs."""
        return None

    def interval(
        self,
        result: EvaluationResult,
        method: str | None,
        confidence_level: float | None,
        estimand: str | None,
    ) -> ConfidenceInterval:
        """Return another interval; see `EvaluationResult.interval`."""
        self._check_estimand(result, estimand)
        shown = result.confidence_interval
        if method is None and confidence_level in (None, shown.confidence_level):
            return shown
        if confidence_level is None:
            confidence_level = shown.confidence_level
        level = check.check_confidence_level(confidence_level)
        if method is None:
            method = "auto" if result.automatic else shown.method
        return self._interval(result, method, level)

    def _check_estimand(self, result: EvaluationResult, estimand: str | None) -> None:
        """Refuse an estimand that the result does not have."""
        if estimand not in (None, result.estimand):
            raise check.fail(
                "estimand",
                f"be {result.estimand!r} for this result",
                repr(estimand),
                "Other estimands need the predictions of several trained systems: one says nothing "
                "of how another training set or seed would do.",
            )

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        """Return an interval from the replicates, and warn of what it lacks."""
        caution = None
        if method == "auto":
            chosen = automatic_interval(self.evidence, level)
            interval = chosen.interval
            if math.isnan(interval.low + interval.high):
                caution = " ".join(texts_of(chosen.warnings))
        else:
            interval = confidence_interval(self.evidence, method, level)
        self._warn_of(interval, degeneracy(interval, self.evidence) or caution)
        return interval

    def _warn_of(self, interval: ConfidenceInterval, caution: str | None) -> None:
        for sentence in (caution, left_out_estimate(interval, self.evidence)):
            if sentence:
                tell(Note("caution", sentence))

    def monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        """Return the standard error of each limit that is due to the number of resamples."""
        if not wording.has_limits(result):
            return MonteCarloError(math.nan, math.nan)
        return self._monte_carlo_error(result)

    def _monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        if self.uses_no_resamples(result):
            return MonteCarloError(0.0, 0.0)
        shown = result.confidence_interval
        return error_of_replicates(self.evidence, shown, self.with_resamples)

    def with_resamples(self, resamples: NDArray[np.intp]) -> Evidence:
        """Return the evidence of these resamples alone."""
        return with_resamples(self.evidence, resamples)

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples."""
        return result.confidence_interval.method in WITHOUT_RESAMPLES

    def replicates_text(self, result: EvaluationResult) -> str:
        """Return what the replicates are, where the interval is not made from them."""
        unused = "scores on resamples, which the interval does not use"
        return unused if self.uses_no_resamples(result) else ""

    # -------------------------------------------------------------- names

    def title(self, result: EvaluationResult) -> str:
        """Return which metric on how many rows."""
        metric, _ = wording.name_and_rows(result)
        return f"{metric} on {self.rows(wording.n_scored(result))}"

    def rows(self, n_samples: int) -> str:
        """Return how many rows of what sort the scores are of."""
        return wording.counted(n_samples, "test row")

    @abstractmethod
    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""

    def interval_name(self, result: EvaluationResult) -> str:
        """Return what kind of interval it is: "CI", unless it is none."""
        return "CI" if result.is_confidence_interval else "interval"

    def interval_label(self, result: EvaluationResult) -> str:
        """Return the level and the kind of the interval, as "95 % CI"."""
        level = rendering.percent(result.confidence_interval.confidence_level)
        return f"{level} {self.interval_name(result)}"

    def column_name(self, result: EvaluationResult) -> str:
        """Return the kind of interval for a column that intervals of other kinds share."""
        return self.interval_name(result)

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        return words_of(result.confidence_interval.method)

    def corrected_estimate(self, result: EvaluationResult) -> float | None:
        """Return the estimate without its bias where the interval leaves out the estimate."""
        if left_out_estimate(result.confidence_interval, self.evidence) is None:
            return None
        bias = bias_told(result.confidence_interval, self.evidence).bias
        return result.estimate - bias

    # -------------------------------------------------------------- a sentence for a paper

    def claim(self, result: EvaluationResult) -> str:
        """Return a sentence for a paper; see `EvaluationResult.claim`."""
        if math.isnan(result.estimate):
            name, rows = wording.name_and_rows(result)[0], self.rows(wording.n_scored(result))
            return f"{name} is undefined on {rows}: {wording.reason(result)}."
        return self._claim(result, wording.estimate(result), self.interval_phrase(result))

    @abstractmethod
    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        """Return the sentence for an estimate that is defined."""

    def reasons(self, result: EvaluationResult) -> Sequence[str]:
        """Return the notes that say why the estimate or its limits are undefined."""
        return result.notes

    def interval_phrase(self, result: EvaluationResult) -> str:
        """Return the interval, how it was made, and what was resampled."""
        level = rendering.percent(result.confidence_interval.confidence_level)
        name = f"{level} {self.column_name(result)}"
        if not wording.has_limits(result):
            return f"no {name}: {wording.reason(result)}"
        limits = f"{name} {wording.limits(result, marked=False)}"
        return ", ".join([limits, *self.interval_details(result)])

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        name, units = self.method_name(result), wording.units(result)
        if not self.uses_no_resamples(result):
            details = [name, f"{units} resampled"]
            if result.n_undefined:
                left_out = wording.counted(result.n_undefined, "resample")
                details.append(f"{left_out} of {result.n_resamples} without a value left out")
            return details
        if self.evidence.drawn.design.units_are_rows:
            return [name]
        shown = result.confidence_interval
        if shown.method == "wilson" and result.estimate not in (shown.low, shown.high):
            rows = effective_size(self.evidence, shown.confidence_level)
            name += f" with {rows:.1f} effective rows"
        return [name, units]

    # -------------------------------------------------------------- facts

    def facts(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return all a reader should know as label and text.

        Parameters
        ----------
        result : EvaluationResult
            Whose basis this is.

        Returns
        -------
        list of tuple
            Where numbers are undefined, the first of them gives the reason, once.
        """
        lines = [
            ("estimand", self.estimand_text(result)),
            ("estimate", self.score_text(result)),
            (self.interval_label(result), self.interval_text(result)),
            ("standard error", wording.number_or_reason(result, result.standard_error)),
            *self._of_resamples(result),
            *self.facts_of_runs(result),
            *self.held_fixed(result),
            *wording.judged(result, result.n_samples),
        ]
        if wording.baseline(result) is not None:
            lines.append(("baseline", wording.naive_text(result)))
        return lines + self._undefined(result) + wording.notes_beside_reason(result)

    def _of_resamples(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return what the resamples are and say, if the interval is made of them."""
        error = ("Monte Carlo error", self._monte_carlo_text(result))
        if self.uses_no_resamples(result):
            return [error, ("units", wording.units_and_rows(result))]
        return [("bias", wording.bias(result)), error, ("resampled", self.resampled(result))]

    def remarks(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return the facts that the row of a score does not hold, and why numbers are undefined."""
        lines = [("estimand", self.estimand_text(result)), *self.held_fixed(result)]
        if math.isnan(result.estimate):
            lines.append(("estimate", self.score_text(result)))
        elif not wording.has_limits(result):
            lines.append((self.interval_label(result), self.interval_text(result)))
        if result.naive_estimate is not None and math.isnan(result.naive_estimate):
            lines.append(("baseline", wording.naive_text(result)))
        return lines + self._undefined(result) + wording.notes_beside_reason(result)

    def held_fixed(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return what the interval does not vary, if anything."""
        given = wording.listed(result.held_fixed) if result.held_fixed else ""
        return [("conditional on", given)] if given else []

    def _undefined(self, result: EvaluationResult) -> list[tuple[str, str]]:
        if not self.counts_undefined(result):
            return []
        return [("undefined", f"{result.n_undefined} of {result.n_resamples} resamples, left out")]

    def score_text(self, result: EvaluationResult) -> str:
        """Return the estimate with what must be said of it, or why there is none."""
        if math.isnan(result.estimate):
            return f"undefined: {wording.reason(result)}"
        sign = wording.direction(result.greater_is_better)
        score = wording.estimate(result) + (f" ({sign})" if sign else "") + self.choice_of_estimate
        corrected = wording.corrected_estimate(result)
        return score if corrected is None else f"{score}; corrected for bias: {corrected}"

    def interval_text(self, result: EvaluationResult) -> str:
        """Return limits and method, or why there are none, unless the estimate gives the reason."""
        if wording.has_limits(result):
            return f"{wording.limits(result)} ({self.method_name(result)})"
        return (
            "undefined" if math.isnan(result.estimate) else f"undefined: {wording.reason(result)}"
        )

    def resampled(self, result: EvaluationResult) -> str:
        """Return what was resampled, and how often."""
        return f"{wording.units_and_rows(result)}, {wording.counted(result.n_resamples, 'time')}"

    def facts_of_runs(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return what several runs add."""
        return []

    def counts_undefined(self, result: EvaluationResult) -> bool:
        """Whether the resamples without a value are counted."""
        return result.n_undefined > 0

    def _monte_carlo_text(self, result: EvaluationResult) -> str:
        low, high = result.monte_carlo_error
        if self.uses_no_resamples(result):
            return "none: the interval uses no resamples"
        if math.isnan(low) or math.isnan(high):
            limit = sum(result.confidence_interval)
            return "undefined" if math.isnan(limit) else f"undefined: {_NOT_STORED}"
        width = result.confidence_interval.high - result.confidence_interval.low
        if width == 0 and not resamples_vary(self.evidence):
            return "zero: every resample gave the same value"
        if math.isinf(low) or math.isinf(high):
            return "infinite: with other resamples a limit is sometimes infinite, sometimes not"
        return f"{low:.2g} of the lower limit, {high:.2g} of the upper"

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return the kind and all that is held, as values that a file can hold."""
        return {"kind": self.kind, "evidence": self.evidence.to_parts()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the basis whose ``to_parts`` are given, without the kind."""
        return cls(**parts | {"evidence": Evidence.of(**parts["evidence"])})


@dataclass(frozen=True, eq=False)
class SystemBasis(Basis):
    """A trained system, or given values, on one set of test rows."""

    kind = "system"

    def standard_error(self, method: str = "") -> float:
        """Return the error in closed form beside an interval that has one, or else the usual."""
        error = error_without_resamples(self.evidence, method)
        closed = self.evidence.drawn.varies and error is not None and not math.isnan(error)
        return float(error) if closed else super().standard_error()  # type: ignore[arg-type]

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        return f"performance of this trained system on {wording.new_data(result)}"

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, rows = wording.name_and_rows(result)
        expected = wording.corrected_estimate(result) or score
        start = f"{name} on {wording.new_data(result)} is estimated at {score} from {rows}"
        if expected != score:
            of_estimate = bias_told(result.confidence_interval, self.evidence).bias
            bias = rendering.number(of_estimate, wording.scale_of(result))
            start = (
                f"{name} was {score} on {rows}; corrected for a bias of {bias}, on "
                f"{wording.new_data(result)} it is estimated at {expected}"
            )
        return (
            f"{start} ({interval}).{wording.no_width(result)}"
            f"{wording.below_baseline(result)}{wording.if_random_sample(result)}"
        )


@dataclass(frozen=True, eq=False)
class ScoresBasis(Basis):
    """A method of which single scores alone are known: no standard error comes from them."""

    kind = "scores"

    def standard_error(self, method: str = "") -> float:
        """Return the standard error that the evidence holds, or else that of the replicates."""
        stored = self.evidence.standard_error
        return super().standard_error() if stored is None else float(stored)

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        return "expected performance of the method at this training-set size"

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        _, rows = wording.name_and_rows(result)
        expected = wording.expected(result, "at this training-set size")
        given = wording.conditional_on(result, ",")
        return (
            f"{expected}{given} is estimated at {score} from {rows} ({interval})."
            f"{wording.no_width(result)}"
        )


def basis_of_parts(parts: dict[str, Any]) -> Basis:
    """Return the basis whose ``to_parts`` are given."""
    module, name = _CLASSES[parts["kind"]].split(".")
    basis: Basis = getattr(import_module(f".{module}", __package__), name).from_parts(
        {name: value for name, value in parts.items() if name != "kind"}
    )
    return basis
