"""`Basis`: what a result stands on, which decides its intervals, their error and its words.

A score of one system, a gap between subgroups, several runs and a method that was trained on
samples differ in how intervals are made and in what these are for. `EvaluationResult` asks its
basis for both, and nothing else asks which basis it is.

To add a basis (for curves or streams):

1. Write a frozen dataclass that inherits `Basis` or `SystemBasis`, and
   override what differs. A method that is not overridden answers from the replicates of
   ``evidence``.
2. Give it a ``kind``, and name its class in `_CLASSES`, so that saved files find it.
3. Name in ``readers`` what reads its fields from files, if they are no plain values.
4. Make it where the result is made, and add a result of it to ``tests/results/test_basis.py``,
   which calls every method of a result on one result per basis.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .._base import checks as check
from .._base.errors import Note, collected, tell, texts_of
from .._base.values import read_only, spread_of
from ..inference.automatic import (
    automatic_interval,
    degeneracy,
    estimate_outside_sentence,
    estimated_bias,
    resamples_vary,
)
from ..inference.evidence import ConfidenceInterval, Evidence, LargestDeviations
from ..inference.gap import SubgroupGap
from ..inference.intervals import (
    INTERVALS,
    WITHOUT_RESAMPLES,
    confidence_interval,
    effective_size,
    error_without_resamples,
    problem_with,
    words_of,
)
from ..inference.multiplicity import level_of_each
from . import rendering, wording

if TYPE_CHECKING:
    from .result import EvaluationResult


# Repeats for the Monte Carlo error (number); its own relative error is 1 / sqrt(2 * 200) = 5%.
_N_REPEATS = 200


class MonteCarloError(NamedTuple):
    """Standard error of each limit that is due to the finite number of resamples.

    Attributes
    ----------
    low, high : float
        Standard error of the lower and of the upper limit.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, interval="percentile", random_state=0)
    >>> f"{result.monte_carlo_error.low:.4f}"
    '0.0026'
    """

    low: float
    high: float


Readers: TypeAlias = Mapping[str, Callable[[dict[str, Any]], Any]]

# Class of each basis by the kind that files hold, imported where a file or a call needs it.
_CLASSES = {
    "system": "basis.SystemBasis",
    "one of several": "basis.SimultaneousBasis",
    "scores": "basis.ScoresBasis",
    "gap": "basis.GapBasis",
    "runs": "method_basis.RunsBasis",
    "system of runs": "method_basis.SystemOfRunsBasis",
    "method": "method_basis.MethodBasis",
    "training-set size": "curve.SizeBasis",
    "larger training-set size": "curve.LargerSizeBasis",
    "drawn data sets": "method_basis.DrawnDataSetsBasis",
    "given data sets": "method_basis.GivenDataSetsBasis",
}


@dataclass(frozen=True, eq=False)
class Basis(ABC):
    """Evidence of a result and the ways to read it; each subclass is one kind of evidence.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        What the estimate and the replicates of the result are.
    """

    evidence: Evidence

    # Whether the result is the difference of two subgroups, which is marked in tables.
    is_gap: ClassVar[bool] = False
    # Whether the scores are those of rows that trainings left out, not of a test set.
    is_on_rows_left_out: ClassVar[bool] = False
    # Whether the replicates are of resampled units, not draws from a distribution.
    is_resampled: ClassVar[bool] = True
    # Whether an estimate with bias is also given without it.
    is_corrected_for_bias: ClassVar[bool] = True
    # Whether resamples without a value are counted among the facts.
    counts_undefined: ClassVar[bool] = True

    # What the interval is for; "{new}" is what the score of a system holds for.
    estimand_words: ClassVar[str]
    # What a reader must know of how the estimate was chosen.
    choice_of_estimate: ClassVar[str] = ""
    # What the scores are of, in the singular.
    row_noun: ClassVar[str] = "test row"
    # What kind of interval it is, and what it is called where others share its column; "" for the
    # usual kind: "CI", unless it is none.
    interval_noun: ClassVar[str] = ""
    column_noun: ClassVar[str] = ""
    # Names of intervals in words that are others here than elsewhere.
    method_names: ClassVar[Mapping[str, str]] = {}
    # What the replicates are, where no interval is made from them alone.
    replicates_are: ClassVar[str] = ""
    # What the distribution holds where nothing is resampled, and from where.
    draw_noun: ClassVar[str] = "draw"
    draws_are_from: ClassVar[str] = "from the normal distribution of the error"

    # What files call it.
    kind: ClassVar[str]
    # What makes fields of what their ``to_parts`` wrote to a file; all others are held as they are.
    readers: ClassVar[Readers] = {"evidence": lambda parts: Evidence.of(**parts)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", read_only(self.evidence))

    # -------------------------------------------------------------- numbers

    def standard_error(self, method: str = "") -> float:
        """Return the standard deviation of the replicates that are defined.

        It is NaN where fewer than two replicates are defined or a single unit was drawn. A subclass
        may have another for the interval ``method`` that it stands beside.
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
            method = "auto" if result._automatic else shown.method
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
        for sentence in (caution, estimate_outside_sentence(interval, self.evidence)):
            if sentence:
                tell(Note("caution", sentence))

    def monte_carlo_error(self, result: EvaluationResult) -> MonteCarloError:
        """Return the standard error of each limit that is due to the number of resamples.

        It is the standard deviation of the limit over bootstrap resamples of the replicates; NaN
        where the interval cannot be made again.
        """
        evidence, shown = self.evidence, result.confidence_interval
        level, method = shown.confidence_level, shown.method
        unknown = MonteCarloError(math.nan, math.nan)
        if not wording.has_limits(result):
            return unknown
        if self.uses_no_resamples(result):
            return MonteCarloError(0.0, 0.0)
        if method not in INTERVALS or problem_with(method, evidence):
            return unknown
        defined = np.flatnonzero(~np.isnan(evidence.replicates))
        rng = np.random.default_rng(0)
        limits = np.empty((_N_REPEATS, 2))
        # The call that made the interval warned where resamples are too few for the level.
        with collected():
            for k in range(_N_REPEATS):
                part = self.with_resamples(defined[rng.integers(len(defined), size=len(defined))])
                limits[k] = confidence_interval(part, method, self.level_of_own(level, part))
        errors = []
        for values in limits.T:
            error = float(values.std(ddof=1)) if np.isfinite(values).all() else math.inf
            # A limit may be infinite in every repeat.
            errors.append(0.0 if np.all(values == values[0]) else error)
        return MonteCarloError(*errors)

    def level_of_own(self, level: float, evidence: Evidence | None = None) -> float:
        """Level at which the interval is made by itself, for the level that is said of it."""
        return level

    def with_resamples(self, resamples: NDArray[np.intp]) -> Evidence:
        """Return the evidence of these resamples alone, values and standard errors together."""
        evidence = self.evidence
        errors, smoothed = evidence.replicate_standard_errors, evidence.smoothed
        return replace(
            evidence,
            replicates=evidence.replicates[resamples],
            replicate_standard_errors=None if errors is None else errors[resamples],
            smoothed=None if smoothed is None else smoothed[:, resamples],
        )

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Whether the interval would be the same with other resamples."""
        return not self.is_resampled or result.confidence_interval.method in WITHOUT_RESAMPLES

    def replicates_text(self, result: EvaluationResult) -> str:
        """Describe the replicates, where the interval is not made from them; else ""."""
        unused = "scores on resamples, which the interval does not use"
        return self.replicates_are or (unused if self.uses_no_resamples(result) else "")

    # -------------------------------------------------------------- names

    def title(self, result: EvaluationResult) -> str:
        """Return which metric on how many rows."""
        metric, _ = wording.name_and_rows(result)
        return f"{metric} on {self.rows(wording.n_scored(result))}"

    def rows(self, n_samples: int) -> str:
        """Return how many rows of what sort the scores are of."""
        return wording.counted(n_samples, self.row_noun)

    def estimand_text(self, result: EvaluationResult) -> str:
        """Return what the interval is for."""
        return self.estimand_words.format(new=wording.new_data(result))

    def interval_name(self, result: EvaluationResult) -> str:
        """Return the noun of the interval: "CI", unless it is no confidence interval."""
        return self.interval_noun or ("CI" if result.is_confidence_interval else "interval")

    def interval_label(self, result: EvaluationResult) -> str:
        """Return the level and the kind of the interval, as "95% CI"."""
        level = rendering.percent(result.confidence_interval.confidence_level)
        return f"{level} {self.interval_name(result)}"

    def column_name(self, result: EvaluationResult) -> str:
        """Return the kind of interval for a column that intervals of other kinds share."""
        return self.column_noun or self.interval_name(result)

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        method = result.confidence_interval.method
        return self.method_names.get(method) or words_of(method)

    def corrected_estimate(self, result: EvaluationResult) -> float | None:
        """Return the estimate without its bias where the interval leaves out the estimate."""
        interval = result.confidence_interval
        if (
            not self.is_corrected_for_bias
            or estimate_outside_sentence(interval, self.evidence) is None
        ):
            return None
        return result.estimate - estimated_bias(interval, self.evidence).bias

    # -------------------------------------------------------------- a sentence for a paper

    def claim(self, result: EvaluationResult) -> str:
        """Return a sentence for a paper; see `EvaluationResult.claim`."""
        if math.isnan(result.estimate):
            name, rows = wording.name_and_rows(result)[0], self.rows(wording.n_scored(result))
            return f"{name} is undefined on {rows}: {wording.reason(result)}."
        level = rendering.percent(result.confidence_interval.confidence_level)
        interval = f"{level} {self.column_name(result)}"
        if wording.has_limits(result):
            limits = f"{interval} {wording.limits(result, marked=False)}"
            interval = ", ".join([limits, *self.interval_details(result)])
        else:
            interval = f"no {interval}: {wording.reason(result)}"
        return self._claim(result, wording.estimate(result), interval)

    @abstractmethod
    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        """Return the sentence for an estimate that is defined."""

    def reasons(self, result: EvaluationResult) -> Sequence[str]:
        """Return the notes that say why the estimate or its limits are undefined."""
        return result._provenance.reasons or result.notes

    def interval_details(self, result: EvaluationResult) -> list[str]:
        """Return how the interval was made, and what was resampled."""
        name, units = self.method_name(result), wording.units(result)
        if not self.is_resampled:
            return [name]
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
        error = wording.number(result, result.standard_error)
        has_numbers = not math.isnan(result.estimate + sum(result.confidence_interval))
        if math.isnan(result.standard_error) and has_numbers:
            error = f"undefined: {wording.reason(result)}"
        lines = [
            ("estimand", self.estimand_text(result)),
            ("estimate", self.score_text(result)),
            (self.interval_label(result), self.interval_text(result)),
            ("standard error", error),
            *self._facts_of_resamples(result),
            *self.facts_of_runs(result),
            *self.held_fixed(result),
            *wording.judged(result, result.n_samples),
        ]
        if wording.baseline(result) is not None:
            lines.append(("baseline", wording.naive_text(result)))
        return lines + self._undefined(result) + wording.notes_beside_reason(result)

    def _facts_of_resamples(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return the lines on resamples and their Monte Carlo error."""
        if self.uses_no_resamples(result):
            no_resamples = "none: the interval uses no resamples"
            return [("Monte Carlo error", no_resamples), ("units", wording.units_and_rows(result))]
        (low, high), limits = result.monte_carlo_error, result.confidence_interval
        if math.isnan(low) or math.isnan(high):
            text = "undefined"
            if not math.isnan(sum(limits)):
                text += ": the interval cannot be made again from what is stored"
        elif limits.high - limits.low == 0 and not resamples_vary(self.evidence):
            text = "zero: every resample gave the same value"
        elif math.isinf(low) or math.isinf(high):
            text = "infinite: with other resamples a limit is sometimes infinite, sometimes not"
        else:
            text = f"{low:.2g} of the lower limit, {high:.2g} of the upper"
        return [
            ("bias", wording.bias(result)),
            ("Monte Carlo error", text),
            ("resampled", self.resampled(result)),
        ]

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
        """Return the line of what the interval holds fixed, if anything."""
        fixed = wording.listed(result.held_fixed) if result.held_fixed else ""
        return [("conditional on", fixed)] if fixed else []

    def _undefined(self, result: EvaluationResult) -> list[tuple[str, str]]:
        # Where no pair of subgroups has a value, the reason says so.
        is_said = self.is_gap and math.isnan(result.estimate)
        if not (self.counts_undefined and result.n_undefined) or is_said:
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
        if not self.is_resampled:
            draws = wording.counted(result.n_resamples, self.draw_noun)
            return f"nothing; the distribution holds {draws} {self.draws_are_from}"
        return f"{wording.units_and_rows(result)}, {wording.counted(result.n_resamples, 'time')}"

    def facts_of_runs(self, result: EvaluationResult) -> list[tuple[str, str]]:
        """Return the lines on several runs; none without these."""
        return []

    # -------------------------------------------------------------- files

    def to_parts(self) -> dict[str, Any]:
        """Return the kind and all that is held, as values that a file can hold."""
        parts: dict[str, Any] = {"kind": self.kind}
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if name in self.readers:
                value = value.to_parts() if hasattr(value, "to_parts") else value._asdict()
            parts[name] = value
        return parts

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the equal of the basis whose ``to_parts`` are given, without the kind."""
        return cls(**parts | {name: read(parts[name]) for name, read in cls.readers.items()})


@dataclass(frozen=True, eq=False)
class SystemBasis(Basis):
    """A trained system, or given values, on one set of test rows."""

    kind = "system"
    estimand_words = "performance of this trained system on {new}"

    def standard_error(self, method: str = "") -> float:
        """Return the error in closed form beside an interval that has one, else of replicates."""
        error = error_without_resamples(self.evidence, method)
        closed = self.evidence.drawn.varies and error is not None and not math.isnan(error)
        return float(error) if closed else super().standard_error()  # type: ignore[arg-type]

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, rows = wording.name_and_rows(result)
        expected = wording.corrected_estimate(result) or score
        start = f"{name} on {wording.new_data(result)} is estimated at {score} from {rows}"
        if expected != score:
            of_estimate = estimated_bias(result.confidence_interval, self.evidence).bias
            bias = rendering.number(of_estimate, wording.scale_of(result))
            start = (
                f"{name} was {score} on {rows}; corrected for a bias of {bias}, on "
                f"{wording.new_data(result)} it is estimated at {expected}"
            )
        text = f"{start} ({interval}).{wording.no_width(result)}"
        naive = wording.baseline(result)
        if naive is not None and wording.is_worse(result.estimate, naive, result.greater_is_better):
            text += " This is worse than the baseline, a system that ignores its inputs: "
            text += f"{rendering.number(naive, wording.scale_of(result))} here."
        return text + wording.if_random_sample(result)


@dataclass(frozen=True, eq=False)
class ScoresBasis(Basis):
    """A method of which single scores alone are known: no standard error comes from them."""

    kind = "scores"
    estimand_words = "expected performance of the method at this training-set size"

    def standard_error(self, method: str = "") -> float:
        """Return the standard error that the evidence holds, or else that of the replicates."""
        stored = self.evidence.standard_error
        return super().standard_error() if stored is None else float(stored)

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        _, rows = wording.name_and_rows(result)
        expected = wording.expected(result, "at this training-set size")
        condition = wording.conditional_on(result, ",")
        return (
            f"{expected}{condition} is estimated at {score} from {rows} ({interval})."
            f"{wording.no_width(result)}"
        )


def basis_of_parts(parts: dict[str, Any]) -> Basis:
    """Return the basis whose ``to_parts`` are given."""
    module, name = _CLASSES[parts["kind"]].split(".")
    basis: Basis = getattr(import_module(f".{module}", __package__), name).from_parts(
        {name: value for name, value in parts.items() if name != "kind"}
    )
    return basis


@dataclass(frozen=True, eq=False)
class SimultaneousBasis(SystemBasis):
    """A trained system by one of several metrics, or numbers that one metric returns.

    The intervals hold all at once. Each is made by its own method, at the level at which all of
    them hold with the level of the call: so far out that as many of the resamples have every score
    inside, each counted by its rank among its own replicates (Beran 1988). Record 0056 has what was
    measured.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        Evidence of the score, with the largest deviation over all of them in each resample as its
        ``max_t``.
    n_scores : int
        Number of scores whose intervals hold at once.
    n_constant : int
        How many of them are the same on all resamples.
    """

    n_scores: int
    n_constant: int

    kind = "one of several"
    interval_noun = "simultaneous CI"

    # -------------------------------------------------------------- numbers

    def level_of_own(self, level: float, evidence: Evidence | None = None) -> float:
        """Level of the interval by itself, where all hold at once with ``level``."""
        max_t = (self.evidence if evidence is None else evidence).max_t
        assert max_t is not None
        return level_of_each(max_t[1], level, self.n_scores, self.n_constant)

    @property
    def note(self) -> Note:
        """Note that the level of the call is that of all intervals at once."""
        return Note(
            "advice",
            f"The intervals of {self.n_scores} scores hold all at once with the confidence level: "
            "each is wider than it would be by itself.",
        )

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        """Return an interval of those that hold all at once with the level."""
        interval = super()._interval(result, method, self.level_of_own(level))
        return interval._at_level(level)

    def with_resamples(self, resamples: NDArray[np.intp]) -> Evidence:
        """Return the evidence of these resamples alone, with the largest deviations in them."""
        assert self.evidence.max_t is not None
        error, largest = self.evidence.max_t
        deviations = LargestDeviations(error, largest[resamples])
        return replace(super().with_resamples(resamples), max_t=deviations)

    def uses_no_resamples(self, result: EvaluationResult) -> bool:
        """Never: the level of the interval is that of the joint bootstrap."""
        return False

    # -------------------------------------------------------------- words

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval, and over how many scores it is simultaneous."""
        return f"{super().method_name(result)}, simultaneous over {self.n_scores} scores"


def bases_together(evidence: Sequence[Evidence]) -> list[SimultaneousBasis]:
    """Return the basis of each of several scores on the same resamples.

    Parameters
    ----------
    evidence : sequence of Evidence
        Evidence of each score.

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
    deviations, errors = [], []
    for score in evidence:
        defined = score.sorted_replicates
        if np.isnan(score.estimate) or len(defined) < 2 or not defined[0] < defined[-1]:
            errors.append(0.0)
            continue
        errors.append(float(defined.std(ddof=1)))
        ranks = stats.rankdata(score.replicates, nan_policy="omit")
        deviations.append(np.abs(special.ndtri(ranks / (len(defined) + 1))))
    nothing = np.full(len(evidence[0].replicates), np.nan)
    largest = np.fmax.reduce(deviations) if deviations else nothing
    n_scores = sum(not np.isnan(score.estimate) for score in evidence)
    n_constant = n_scores - len(deviations)
    return [
        SimultaneousBasis(
            replace(score, max_t=LargestDeviations(error, largest)), n_scores, n_constant
        )
        for score, error in zip(evidence, errors, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class GapBasis(Basis):
    """The two subgroups that differ most, by the score of a system or a difference of systems.

    The pair was chosen for being the furthest apart, so its interval is simultaneous over all
    pairs, and the words say so.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        Evidence of their difference, with its ``gap``.
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
    interval_noun = "simultaneous CI"
    column_noun = "CI"  # the name of the method says that it is simultaneous
    is_gap = True
    choice_of_estimate = " (chosen as the largest, so on average too large)"

    @property
    def name(self) -> str:
        """Name of the metric of the result."""
        return f"{self.metric} gap ({self.pair})"

    @property
    def gap(self) -> SubgroupGap:
        """Evidence of the gap, which the simultaneous interval is made of."""
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
        largest = "largest difference between subgroups for this trained system"
        if self.of_systems:
            largest = "largest change between subgroups of the difference of two trained systems"
        return f"{largest}, on {wording.new_data(result)}"

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
