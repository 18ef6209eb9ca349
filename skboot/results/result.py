"""`EvaluationResult`: one score, its interval, and all that is needed to judge it.

What it is asked later is answered from the evidence it stores. The words are in
`skboot.results.wording`, the files in `skboot.results.storage`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import check_choice, check_confidence_level
from .._warnings import texts_of, warn_user
from ..inference.automatic import automatic_interval, degeneracy, left_out_estimate
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.intervals import Evidence, confidence_interval
from . import drawing, rendering, storage, wording
from .gap_wording import is_gap
from .monte_carlo import MonteCarloError, monte_carlo_error
from .shown import Shown

if TYPE_CHECKING:
    # Needed for results of several runs alone, and imported there.
    from ..inference.run_intervals import RunsEvidence
    from ..method_error.method_intervals import Refits

_EVIDENCE = tuple(f.name for f in fields(Evidence))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EvaluationResult(Shown):
    """A score with its confidence interval, and all that is needed to judge it.

    `skboot.bootstrap_score` makes them. Two results are equal if all they hold is equal (NaN
    equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    metric : str
        Name of the metric.
    estimand : {"system", "method", "next_run", "pooled"}
        What the interval is for.
    evidence : skboot.inference.intervals.Evidence
        What intervals are computed from.
    confidence_interval : ConfidenceInterval
        The pair (low, high), with `confidence_level` and `method`.
    automatic : bool
        Whether the method was chosen by ``interval="auto"``.
    n_samples : int
        Number of test rows.
    unit : str
        What was resampled, in the singular: "row", "group", ...
    greater_is_better : bool or None
        Direction of the metric; None if unknown.
    naive_estimate : float or None
        The metric of the best system that ignores its inputs, on the same rows; None if unknown.
    notes : tuple of str
        What a reader must know: guards that applied, cautions, why a number is undefined.
    held_fixed : tuple of str
        What the interval does not vary.
    is_confidence_interval : bool
        False for prediction intervals and for spreads.
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.
    runs : dict or None
        One array of shape (n_runs,) per property of the runs, where there were several.
    over_runs : skboot.inference.run_intervals.RunsEvidence or None
        What several runs say; other estimands are answered from it.
    refits : skboot.method_error.method_intervals.Refits or None
        What training on samples of one data set says of the method.

    See Also
    --------
    ResultTable : Several results as one table.

    Notes
    -----
    ``monte_carlo_error`` is the standard deviation of each limit over 200 bootstrap resamples of
    the replicates: given the data, these are independent draws from the ideal bootstrap
    distribution, so their own bootstrap estimates the error of any function of them (compare
    Efron & Tibshirani 1993, chapter 19). It is 0 for intervals that use no resamples.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, random_state=0)
    >>> print(result.claim())
    Accuracy was 0.900 on 200 test rows; on new data from the same source it is estimated at
    0.900 (95 % CI 0.851 to 0.934, Wilson interval).
    >>> result.interval("percentile", confidence_level=0.9).method
    'percentile'
    """

    metric: str
    estimand: str
    evidence: Evidence
    confidence_interval: ConfidenceInterval
    automatic: bool
    n_samples: int
    unit: str
    greater_is_better: bool | None
    naive_estimate: float | None
    notes: tuple[str, ...] = ()
    held_fixed: tuple[str, ...] = ()
    is_confidence_interval: bool = True
    seed: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    runs: dict[str, Any] | None = None
    over_runs: RunsEvidence | None = None
    refits: Refits | None = None

    def __post_init__(self) -> None:
        parts = {name: getattr(self.evidence, name) for name in _EVIDENCE}
        locked = {name: _read_only(part) for name, part in parts.items()}
        changed = {name: part for name, part in locked.items() if part is not parts[name]}
        own = {
            "evidence": replace(self.evidence, **changed) if changed else self.evidence,
            "notes": tuple(self.notes),
            "held_fixed": tuple(self.held_fixed),
            "seed": storage.plain(self.seed),
            "settings": storage.plain(self.settings),
            "versions": storage.plain(self.versions),
            "runs": _read_only(self.runs),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EvaluationResult):
            return NotImplemented
        return all(same_values(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    _format = "skboot.EvaluationResult", 1
    _noun = "result"
    _display = "BootstrapDistributionDisplay.from_result"

    # -------------------------------------------------------------- numbers

    @property
    def estimate(self) -> float:
        """The metric on the data."""
        return float(self.evidence.estimate)

    @property
    def bootstrap_distribution(self) -> NDArray[np.float64]:
        """The metric on each resample, (n_resamples,), read-only; NaN where undefined."""
        return self.evidence.replicates

    @property
    def standard_error(self) -> float:
        """Standard deviation of the defined replicates; NaN with fewer than two of them."""
        if self.estimand in ("method", "next_run") and self.evidence.standard_error is not None:
            # Over runs the spread of the replicates is one component of several.
            return float(self.evidence.standard_error)
        defined = self.evidence.sorted_replicates
        if len(defined) < 2:
            return math.nan
        # Of equal values exactly 0: their mean may be off by rounding.
        return float(defined.std(ddof=1)) if defined[0] < defined[-1] else 0.0

    @property
    def bias(self) -> float:
        """Mean of the defined replicates minus the estimate."""
        defined = self.evidence.sorted_replicates
        return float(defined.mean()) - self.estimate if len(defined) else math.nan

    @property
    def variance_components(self) -> dict[str, float] | None:
        """Variance of one value by source: training, seed, test, interaction; None for one run.

        Test and interaction are per test unit: their part of the score of one run is smaller by
        the number of units. NaN where the runs do not tell.
        """
        return None if self.over_runs is None else self.over_runs.components._asdict()

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """How many units were there to draw from; a number per factor if there are two."""
        units = tuple(int(n) for n in self.evidence.n_units)
        return units[0] if len(units) == 1 else units

    @property
    def n_resamples(self) -> int:
        """Number of resamples, undefined ones included."""
        return len(self.evidence.replicates)

    @property
    def n_undefined(self) -> int:
        """Number of resamples on which the metric is undefined."""
        return self.n_resamples - len(self.evidence.sorted_replicates)

    @cached_property
    def monte_carlo_error(self) -> MonteCarloError:
        """Standard error of each limit due to the finite number of resamples; NaN if unknown."""
        return monte_carlo_error(self)

    def interval(
        self,
        method: str | None = None,
        confidence_level: float | None = None,
        estimand: str | None = None,
    ) -> ConfidenceInterval:
        """Compute another interval from what is stored; nothing is resampled again.

        Parameters
        ----------
        method : str, optional
            Name of the method, or "auto"; that of the call when None.
        confidence_level : float, optional
            In (0, 1); that of the call when None.
        estimand : str, optional
            What the interval is for. That of the result, unless it stands on several runs.

        Returns
        -------
        ConfidenceInterval
            The pair (low, high), with `confidence_level` and `method`.

        Raises
        ------
        ValueError
            If the method is unknown or needs what was not computed, the level is out of range,
            or the estimand is another one.

        Warns
        -----
        UserWarning
            If the interval has no width, or the resamples are too few for the level.
        """
        if self.over_runs is not None:
            return self._interval_over_runs(method, confidence_level, estimand)
        if self.refits is not None and estimand not in (None, "method"):
            raise ValueError(
                "The 'estimand' parameter of interval must be 'method' for a result without a test "
                f"set. Got {estimand!r}."
            )
        if estimand not in (None, self.estimand):
            raise ValueError(
                f"The 'estimand' parameter of interval must be {self.estimand!r} for this result. "
                f"Got {estimand!r}. Other estimands need the predictions of several trained "
                "systems: one says nothing of how another training set or seed would do."
            )
        if method is None and confidence_level in (None, self.confidence_interval.confidence_level):
            return self.confidence_interval
        if confidence_level is None:
            confidence_level = self.confidence_interval.confidence_level
        level = check_confidence_level(confidence_level, "interval")
        if method is None:
            method = "auto" if self.automatic else self.confidence_interval.method
        if self.refits is not None:
            from ..method_error.method_intervals import method_interval

            return method_interval(self.refits, method, level).interval
        if method == "auto" and is_gap(self):
            # The largest of several differences: an interval of this pair alone is too short.
            method = "max-t" if self.evidence.gap is None else "simultaneous"
        caution = None
        if method == "auto":
            chosen = automatic_interval(self.evidence, level)
            found = chosen.interval
            if math.isnan(found.low + found.high):
                caution = " ".join(texts_of(chosen.warnings))
        else:
            found = confidence_interval(self.evidence, method, level)
        if is_gap(self) and math.isnan(self.estimate):
            caution = " ".join(self.notes)
        else:
            caution = degeneracy(found, self.evidence) or caution
        for sentence in (caution, left_out_estimate(found, self.evidence)):
            if sentence:
                warn_user(sentence)
        return found

    def _interval_over_runs(
        self, method: str | None, confidence_level: float | None, estimand: str | None
    ) -> ConfidenceInterval:
        """Compute an interval for any estimand from several runs."""
        from ..inference.run_intervals import ESTIMANDS, runs_interval

        assert self.over_runs is not None
        level = self.confidence_interval.confidence_level
        if confidence_level is not None:
            level = check_confidence_level(confidence_level, "interval")
        estimand = check_choice("estimand", estimand or self.estimand, "interval", ESTIMANDS)
        if method is None:
            own = estimand == self.estimand and not self.automatic
            method = self.confidence_interval.method if own else "auto"
        elif method == "percentile" and estimand == "method":
            # The pooled recipe goes by the name of its interval.
            estimand = "pooled"
        found = runs_interval(self.over_runs, estimand, method, level)
        for caution in (*texts_of(found.warnings), degeneracy(found.interval)):
            if caution:
                warn_user(caution)
        return found.interval

    # -------------------------------------------------------------- text and tables

    def summary(self) -> str:
        """Describe the result in several short lines of plain text.

        Returns
        -------
        str
            What was estimated, for what, how surely, from what; with all notes.
        """
        return f"{wording.title(self)}\n{rendering.text_list(wording.facts(self))}"

    def claim(self) -> str:
        """Say the result in a sentence for a paper.

        Returns
        -------
        str
            Estimate, interval and what they are for, with as many digits as the interval's width
            supports.
        """
        return wording.claim(self)

    def __str__(self) -> str:
        return wording.short(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        record = {
            "metric": self.metric,
            "estimand": self.estimand,
            "estimate": self.estimate,
            "confidence_interval": self.confidence_interval.to_dict(),
            "is_confidence_interval": self.is_confidence_interval,
            "standard_error": self.standard_error,
            "bias": self.bias,
            "monte_carlo_error": self.monte_carlo_error._asdict(),
            "naive_estimate": self.naive_estimate,
            "greater_is_better": self.greater_is_better,
            "n_samples": self.n_samples,
            "unit": self.unit,
            "n_units": self.n_units,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
            "held_fixed": self.held_fixed,
            "variance_components": self.variance_components,
            "notes": self.notes,
            "seed": self.seed,
            "settings": self.settings,
            "versions": self.versions,
        }
        return dict(storage.plain(record, for_json=True))

    def _heading(self) -> str:
        return wording.title(self)

    def _tables(self) -> list[tuple[str, rendering.Table]]:
        return [("", wording.table_of([self]))]

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(self)]

    def _repr_html_(self) -> str:
        claim = f'<p style="margin:.3em 0">{escape(self.claim())}</p>'
        picture = drawing.draw(wording.strip_of(self))
        facts = rendering.html_list(wording.facts(self))
        return f'<div style="color:inherit;max-width:52em">{claim}{picture}{facts}</div>'

    # -------------------------------------------------------------- files

    def _to_parts(self) -> dict[str, Any]:
        return parts_of(self)

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(**from_parts(parts))


# ------------------------------------------------------------------ shared with tables


def parts_of(result: EvaluationResult) -> dict[str, Any]:
    """All that a result holds, as values that `skboot.results.storage` can write."""
    parts = {f.name: getattr(result, f.name) for f in fields(result)}
    evidence = result.evidence
    parts["evidence"] = {f.name: getattr(evidence, f.name) for f in fields(evidence)}
    parts["over_runs"] = result.over_runs and result.over_runs.to_parts()
    parts["refits"] = result.refits and result.refits.to_parts()
    return parts


def from_parts(parts: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `EvaluationResult`, from what `parts_of` returned."""
    parts = parts | {
        "evidence": Evidence(**parts["evidence"]),
        "confidence_interval": ConfidenceInterval(*parts["confidence_interval"]),
    }
    if refits := parts.get("refits"):
        from ..method_error.method_intervals import Refits

        parts["refits"] = Refits.from_parts(refits)
    if over_runs := parts.get("over_runs"):
        from ..inference.run_intervals import RunsEvidence

        parts["over_runs"] = RunsEvidence.from_parts(over_runs)
    return parts


def record_of(result: EvaluationResult) -> dict[str, Any]:
    """Row of a data frame."""
    return {
        "metric": result.metric,
        "estimand": result.estimand,
        "estimate": result.estimate,
        **result.confidence_interval.to_dict(),
        "standard_error": result.standard_error,
        "bias": result.bias,
        "naive_estimate": math.nan if result.naive_estimate is None else result.naive_estimate,
        "n_samples": result.n_samples,
        "unit": result.unit,
        "n_units": result.n_units,
        "n_resamples": result.n_resamples,
        "n_undefined": result.n_undefined,
    }


# ------------------------------------------------------------------ steps


def _read_only(value: Any) -> Any:
    """The value with its arrays copied, if they could be written to, and locked."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.copy()
        value.flags.writeable = False
    elif isinstance(value, tuple):
        items = tuple(_read_only(item) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    elif isinstance(value, list):
        return [_read_only(item) for item in value]
    elif isinstance(value, dict):
        return {key: _read_only(item) for key, item in value.items()}
    return value


def same_values(one: Any, other: Any) -> bool:
    """Whether two values are equal, arrays and NaN included."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if is_dataclass(one) and type(one) is type(other):
        return all(same_values(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, ConfidenceInterval) and isinstance(other, ConfidenceInterval):
        one, other = one.to_dict(), other.to_dict()
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_values(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_values, one, other))
    both_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    return bool(both_nan or one == other)
