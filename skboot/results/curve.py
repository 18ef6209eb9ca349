"""`CurveResult`: a curve with its band, and all that is needed to judge it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._base.checks import check_choice, fail
from .._base.doors import door
from .._base.errors import texts_of, thousands
from .._base.values import read_only
from ..inference.bands import CurveEvidence, PointwiseFacts, pointwise_interval, simultaneous_band
from ..inference.evidence import ConfidenceInterval, DrawnUnits, Evidence, notes_of_cut
from ..inference.intervals import confidence_interval
from ..method_error.learning_curve import extended
from ..metrics.statistic import Facts
from . import rendering, result, wording
from .basis import Readers, ScoresBasis, SystemBasis
from .result import (
    EvaluationResult,
    FromACall,
    Provenance,
    Several,
    Shown,
    evaluation_result,
    gathered,
)

if TYPE_CHECKING:
    from ..plots import CurveBandDisplay

Floats = NDArray[np.float64]

CURVE_NAMES = {
    "roc": "ROC curve",
    "det": "DET curve",
    "precision_recall": "precision-recall curve",
    "calibration": "calibration curve",
    "calibration_smooth": "smoothed calibration curve",
    "decision": "decision curve",
    "learning": "learning curve",
}
"""Curves by name, as they are called in a sentence."""
CURVE_SYNONYMS = {
    "pr": "precision_recall",
    "prc": "precision_recall",
    "calibration_curve": "calibration",
    "reliability": "calibration",
    "reliability_diagram": "calibration",
    "dca": "decision",
    "decision_curve": "decision",
    "net_benefit": "decision",
}
"""Name of a curve by what people call it, in lower case with underscores."""

_OF_A_POINT = "A point of a curve: its interval holds for this point by itself."
_EXTRAPOLATED = (
    "Beyond the data: the interval is the spread of inverse power laws fitted to the curve, and "
    "says nothing if it follows another law."
)
_NO_VALUE = "The curve has no value at this point."
_OVER_THRESHOLDS = ("roc", "det", "precision_recall")
# Sizes that a law of three numbers is fitted to, at least; the study had five (record 0098).
_SIZES_OF_A_LAW = 4
# Below it a variance is rounding, and would make one size outweigh all others.
_LEAST_VARIANCE = 1e-12
# Inches of the picture on a page.
_PICTURE_SIZE = (6.0, 4.0)
# Points of the grid that tables of text show, if there are more than all of them that fit.
_SHOWN_POINTS, _MOST_SHOWN = 9, 20
# Distance from a point of the grid, as a share of its span, that is rounding.
_GRID_ROUNDING = 1e-9


def curve_named(curve: Any) -> Any:
    """Return the name of a curve that is called otherwise; all else as it is."""
    if not isinstance(curve, str) or curve in CURVE_NAMES:
        return curve
    plain = re.sub(r"[\W_]+", "_", curve.lower())
    return plain if plain in CURVE_NAMES else CURVE_SYNONYMS.get(plain, curve)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CurveResult(FromACall, Shown):
    """A curve with its band, and all that is needed to judge it.

    `skboot.bootstrap_curve` and `skboot.learning_curve` make them. Two results are equal if all
    they hold is equal (NaN equals NaN); they cannot be hashed or changed.

    Attributes
    ----------
    estimate : ndarray of shape (n_grid,)
        The curve on the data; NaN where undefined.
    low, high : ndarray of shape (n_grid,)
        Limits of the band.
    x : ndarray of shape (n_grid,)
        Where the curve has values.
    curve : str
        Name of the curve: "roc", "precision_recall", ...; of a callable its own.
    name : str
        Name of the system, or of both whose difference it is; empty where it has none.
    band : {"simultaneous", "pointwise"}
        Whether the limits hold for the whole curve at once, or for each point by itself.
    confidence_level : float
        Confidence level of the band.
    reference : ndarray of shape (n_grid,) or None
        The curve of a system that ignores its inputs (perfect calibration for "calibration", treat
        all for "decision"); None where there is none.
    bootstrap_distribution : ndarray of shape (n_resamples, n_grid)
        The curve on each resample, read-only; NaN where undefined. For a learning curve, random
        draws from the normal distribution of its error.
    bin_error : ndarray of shape (n_grid,) or None
        For columns that are not in memory: how far each point may be from the curve of all scores,
        because these were counted in intervals. The band is wider by this.
    area : float or None
        Area under a ROC curve, or average precision of a precision-recall curve, of all rows; None
        for other curves, and for rows that are not in memory.
    n_trainings : int or None
        Of a learning curve: trainings at each size; None for curves of trained systems.
    train_scores : ndarray of shape (n_grid, n_trainings) or None
        Of a learning curve with ``return_train_score=True``: scores on the rows trained on.
    unit : str
        What was resampled, in the singular: "row", "group", ...
    n_samples : int
        Number of test rows; of a learning curve, of rows to train and test on.
    notes : tuple of str
        What a reader must know.
    held_fixed : tuple of str
        What the band is conditional on.
    seed : int, list, dict or None
        Entropy of the random numbers.
    settings : dict
        Arguments of the call.
    versions : dict
        Versions of skboot, Python and the packages that matter.

    See Also
    --------
    EvaluationResult : One number with its interval, which `at` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_curve
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, 300)
    >>> y_score = y_true + rng.normal(size=300)
    >>> result = bootstrap_curve(y_true, y_score, curve="roc", random_state=0)
    >>> print(result)
    ROC curve, 95% simultaneous band of mean width 0.239
    >>> print(result.at(0.1))
    0.46 (0.30 to 0.63)
    """

    curve: str
    x: Floats
    estimate: Floats
    low: Floats
    high: Floats
    band: str
    confidence_level: float
    reference: Floats | None
    bootstrap_distribution: Floats
    _axes: tuple[str, str]  # what is on the horizontal and on the vertical axis
    # Standard errors that a simultaneous band reaches out to, for many units.
    _critical: float | None
    _behind: Floats | None  # rows that each point is a share of, (n_grid,); None where it is none
    _bounds: tuple[float, float]
    _kind: str  # what was resampled: "rows", "groups", "crossed", "streamed rows", ...
    unit: str
    _units_of_factors: tuple[int, ...]  # number of units to resample from, one per factor
    _n_strata: int
    n_samples: int
    _weighted: bool
    name: str = ""
    # Where the data give no lower, or no upper limit, (n_grid,).
    _free_below: NDArray[np.bool_] | None = None
    _free_above: NDArray[np.bool_] | None = None
    # Smallest standard errors used at points that are not shares, (n_grid,).
    _floor: Floats | None = None
    bin_error: Floats | None = None
    _is_difference: bool = False
    area: float | None = None
    n_trainings: int | None = None
    train_scores: Floats | None = None
    # Degrees of freedom and inflation of groups of unequal size.
    _freedom: tuple[float, float] | None = None
    _named: str = ""  # name of the user's column of groups
    _provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        for attribute in fields(self):
            object.__setattr__(self, attribute.name, read_only(getattr(self, attribute.name)))

    _format = "skboot.CurveResult", 1
    _noun = "curve"
    _several = Several("curves", "CurveBandDisplay.from_result", "of curves", are_named=False)
    _display = "CurveBandDisplay.from_result"

    if TYPE_CHECKING:

        def plot(self, **kwargs: Any) -> CurveBandDisplay: ...

    # -------------------------------------------------------------- numbers

    @property
    def n_units(self) -> int | tuple[int, ...]:
        """Number of units to resample from; one number per factor if there are two."""
        units = self._units_of_factors
        return units[0] if len(units) == 1 else units

    @property
    def n_resamples(self) -> int:
        """Number of resamples, undefined ones included."""
        return len(self.bootstrap_distribution)

    @property
    def train_estimate(self) -> Floats:
        """Mean score on the rows trained on, (n_grid,); NaN without `train_scores`."""
        if self.train_scores is None:
            return np.full(len(self.x), np.nan)
        is_defined = ~np.isnan(self.train_scores)
        sums = np.where(is_defined, self.train_scores, 0.0).sum(axis=1)
        return np.where(
            is_defined.any(axis=1), sums / np.maximum(is_defined.sum(axis=1), 1), np.nan
        )

    @property
    def n_undefined(self) -> int:
        """Number of resamples on which the curve is undefined at a point where the data have it."""
        missing = np.isnan(self.bootstrap_distribution[:, ~np.isnan(self.estimate)])
        return int(missing.any(axis=1).sum())

    @door("CurveResult.at")
    def at(self, x: float) -> EvaluationResult:
        """Return a point of the curve, with its own interval.

        Parameters
        ----------
        x : float
            A point of the grid, up to rounding. Of a learning curve also a number of rows between
            two sizes, where the score is that of the straight line between them.

        Returns
        -------
        EvaluationResult
            With the interval of this point by itself, whatever the band.

        Raises
        ------
        ValueError
            If it is no point of the grid; the message names the nearest ones.
        """
        size = _number(x)
        distance = np.abs(self.x - size)
        rounding = _GRID_ROUNDING * max(float(np.ptp(self.x)), abs(size))
        if not (np.isfinite(size) and np.any(distance <= rounding)):
            if self.n_trainings is not None and self.x[0] < size < self.x[-1]:
                return self._line_at(size)
            near = np.sort(np.argsort(distance, kind="stable")[:2])
            points = " and ".join(f"{value:.6g}" for value in self.x[near])
            argument = "grid" if self.n_trainings is None else "train_sizes"
            advice = (
                f"The nearest points are {points}. For others call again with "
                f"{argument}=[{size:g}]."
            )
            raise fail("x", "be a point of the grid", repr(size), advice)
        k = int(np.argmin(distance))
        evidence, point = self._evidence(k), self._facts_at(k)
        interval = pointwise_interval(evidence, point, self.confidence_level)
        caution = _NO_VALUE if np.isnan(evidence.estimate) else _OF_A_POINT
        notes = (caution, *texts_of(notes_of_cut(interval)))
        if self.n_trainings is not None:
            return self._size_result(self.x[k], SizeBasis(evidence, point), interval, notes)
        return evaluation_result(
            replace(self._provenance, notes=notes),
            metric=f"{self._value_name} at {self._axes[0]} {self.x[k]:.4g}",
            basis=SystemBasis(evidence),
            confidence_interval=interval,
            n_samples=self.n_samples,
            unit=self.unit,
        )

    def _line_at(self, x: float) -> EvaluationResult:
        """Return the score between two sizes, on the straight line between theirs."""
        k = int(np.searchsorted(self.x, x)) - 1
        share = (x - self.x[k]) / (self.x[k + 1] - self.x[k])

        def between(values: Any) -> Any:
            return (
                None
                if values is None
                else (1 - share) * values[..., k] + share * values[..., k + 1]
            )

        draws = between(self.bootstrap_distribution)
        evidence = replace(
            self._evidence(k), estimate=float(between(self.estimate)), replicates=draws
        )
        behind, floor = between(self._behind), between(self._floor)
        facts = self._facts_at(k)._replace(
            behind=None if behind is None else float(behind),
            floor=None if floor is None else float(floor),
        )
        interval = pointwise_interval(evidence, facts, self.confidence_level)
        text = f"On the straight line between {self._place(k)} and {self._place(k + 1)} rows."
        notes = (_NO_VALUE if np.isnan(evidence.estimate) else _OF_A_POINT, text)
        return self._size_result(x, SizeBasis(evidence, facts), interval, notes)

    @door("CurveResult.extrapolate")
    def extrapolate(self, x: float) -> EvaluationResult:
        """Continue a learning curve to more training rows by an inverse power law.

        Parameters
        ----------
        x : float
            Training rows: more than the last size of the curve, at most twice the rows of the data.

        Returns
        -------
        EvaluationResult
            The fitted score, with the percentiles of the fits to draws from the distribution of the
            curve.

        Raises
        ------
        ValueError
            For curves of trained systems, differences, curves with a score at fewer than four
            sizes, and other numbers of rows.

        Notes
        -----
        The law a + b m^-c is an assumption. The interval is the spread of its fits, and is invalid
        where the curve follows another law. On nine pairs of real data and method it held the score
        at twice the rows in 96 to 100% of 200 subsamples each (record 0098).
        """
        is_defined = ~np.isnan(self.estimate)
        if self.n_trainings is None or self._is_difference or is_defined.sum() < _SIZES_OF_A_LAW:
            must = f"be asked of a learning curve with scores at {_SIZES_OF_A_LAW} sizes"
            advice = "A difference is that of two methods: extrapolate both."
            raise fail("x", must, f"a {self._title}", advice)
        size, most = _number(x), 2 * self.n_samples
        if not self.x[-1] < size <= most:
            must = f"be more than {self._place(-1)} training rows and at most {most:,}"
            raise fail("x", must, repr(x), "Use at() up to there; of more nothing was measured.")
        draws = self.bootstrap_distribution[:, is_defined]
        weights = 1 / np.maximum(draws.var(axis=0), _LEAST_VARIANCE)
        curves = np.vstack([self.estimate[is_defined], draws])
        fitted = np.clip(extended(self.x[is_defined], curves, weights, size), *self._bounds)
        evidence = replace(self._evidence(0), estimate=float(fitted[0]), replicates=fitted[1:])
        basis = LargerSizeBasis(evidence, PointwiseFacts(None, is_fixed=False))
        interval = pointwise_interval(evidence, basis.point, self.confidence_level)
        return self._size_result(size, basis, interval, (_EXTRAPOLATED,), is_extrapolated=True)

    def _size_result(
        self,
        x: float,
        basis: SizeBasis,
        interval: ConfidenceInterval,
        notes: tuple[str, ...],
        *,
        is_extrapolated: bool = False,
    ) -> EvaluationResult:
        """Return the score of a method at a training-set size.

        ``is_extrapolated`` says that it comes from fitted laws of the curve, beyond the sizes that
        were measured: its limits are no confidence interval.
        """
        return evaluation_result(
            replace(self._provenance, notes=notes),
            metric=f"{self._value_name} at {x:,.0f} {self._axes[0]}",
            estimand="method",
            basis=basis,
            confidence_interval=interval,
            is_confidence_interval=not is_extrapolated,
            n_samples=self.n_samples,
            unit=self.unit,
        )

    @property
    def _units_drawn(self) -> DrawnUnits:
        """What was drawn in each resample."""
        units, strata = self._units_of_factors, self._n_strata
        return DrawnUnits(self._kind, units, strata, self._freedom, named=self._named)

    def _evidence(self, k: int) -> Evidence:
        """Evidence of a point, which its intervals are made of."""
        return Evidence(
            float(self.estimate[k]),
            self.bootstrap_distribution[:, k],
            self._units_drawn,
            Facts(self._bounds, weighted=self._weighted),
        )

    def _facts_at(self, k: int) -> PointwiseFacts:
        of_curve = not self._is_difference
        return PointwiseFacts(
            None if self._behind is None else float(self._behind[k]),
            is_fixed=of_curve and self.curve == "calibration",
            over_thresholds=of_curve and self.curve in _OVER_THRESHOLDS,
            free_below=self._free_below is not None and bool(self._free_below[k]),
            free_above=self._free_above is not None and bool(self._free_above[k]),
            floor=None if self._floor is None else float(self._floor[k]),
            bin_error=0.0 if self.bin_error is None else float(self.bin_error[k]),
            of_normal_law=self.n_trainings is not None,
        )

    @door("CurveResult.pointwise_limits")
    def pointwise_limits(self) -> tuple[Floats, Floats]:
        """Return the limits of each point by itself.

        Returns
        -------
        tuple (ndarray of shape (n_grid,), ndarray of shape (n_grid,))
            Lower and upper limits, those of ``at``.
        """
        limits = [
            pointwise_interval(self._evidence(k), self._facts_at(k), self.confidence_level)
            for k in range(len(self.x))
        ]
        low, high = np.array(limits).T
        return low, high

    # -------------------------------------------------------------- text

    @property
    def _title(self) -> str:
        """The curve in words, and whose it is."""
        spoken = CURVE_NAMES.get(self.curve, f"curve {self.curve!r}")
        if self._is_difference:
            return f"difference of {spoken}s" + f" ({self.name})" * bool(self.name)
        return f"{spoken} of {self.name}" if self.name else spoken

    @property
    def _value_name(self) -> str:
        return f"difference of {self._axes[1]}" if self._is_difference else self._axes[1]

    @property
    def _mean_width(self) -> float:
        """Mean over the axis, which does not depend on where points are dense."""
        is_known = np.isfinite(self.high - self.low)
        x, widths = self.x[is_known], (self.high - self.low)[is_known]
        if len(x) < 2:
            return float(widths[0]) if len(x) else float("nan")
        return float(np.average((widths[1:] + widths[:-1]) / 2, weights=np.diff(x)))

    def __str__(self) -> str:
        level = rendering.percent(self.confidence_level)
        mean = rendering.significant(self._mean_width)
        return f"{self._title}, {level} {self.band} band of mean width {mean}"

    @door("CurveResult.claim")
    def claim(self) -> str:
        """Say the curve in a sentence, such as the caption of a figure.

        Returns
        -------
        str
            The curve, its band and what was resampled.
        """
        level = rendering.percent(self.confidence_level)
        scope = {"simultaneous": "for the whole curve at once", "pointwise": "for each point"}
        ends = f"{self._axes[0]} {self._place(0)} to {self._place(-1)}"
        width = rendering.significant(self._mean_width)
        text = (
            f"The {self._title} was estimated on {self._rows()}; its {level} {self.band} "
            f"confidence band holds {scope[self.band]} (mean width {width}; "
            f"{ends}; {self._resampled()})."
        )
        if not self._is_difference:
            return text
        places = np.flatnonzero((self.low > 0) | (self.high < 0)).tolist()
        if not places:
            return text + (
                " The band holds 0 at all points: this does not show that the curves are equal."
            )
        ends = f"{self._place(places[0])} to {self._place(places[-1])}"
        points = f"{len(places)} of {wording.counted(len(self.x), 'point')}"
        return text + f" It excludes 0 at {points}, within {self._axes[0]} {ends}."

    def _resampled(self) -> str:
        if self.n_trainings is not None:
            return f"{self.n_trainings} trainings at each size, tested on the {self.unit}s outside"
        n = " and ".join(thousands(k) for k in self._units_of_factors)
        noun = self.unit if self.n_units == 1 else wording.plural(self.unit)
        noun += wording.name_beside(self._units_drawn.design)
        return f"{n} {noun} resampled {wording.counted(self.n_resamples, 'time')}"

    def _rows(self) -> str:
        return wording.counted(self.n_samples, "test row" if self.n_trainings is None else "row")

    def _heading(self) -> str:
        return f"{wording.capitalized(self._title)} on {self._rows()}"

    @property
    def _shown_points(self) -> NDArray[np.intp]:
        """Positions of the points that a table shows."""
        n = len(self.x)
        if n <= _MOST_SHOWN:
            return np.arange(n)
        if self.curve == "det" and self.x[0] > 0 and self.x[-1] < 1:
            marked = ndtri(rendering.DET_RATES)[:, None]
            return np.unique(np.argmin(np.abs(ndtri(self.x) - marked), axis=1))
        return np.linspace(0, n - 1, _SHOWN_POINTS).round().astype(np.intp)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what a reader should know, as label and text."""
        level = rendering.percent(self.confidence_level)
        reach = "each point by itself"
        if self._critical is not None:
            reach = f"all points at once, {self._critical:.2f} standard errors either way"
        new = wording.new_units(self.unit, weighted=self._weighted)
        systems = "these two trained systems" if self._is_difference else "this trained system"
        of, how = f"at each {self._axes[0]} of {systems}", "resampled"
        if self.n_trainings is not None:
            method = "both methods" if self._is_difference else "the method"
            of, how = f"of {method}, over training sets of each size,", "trained"
        n, n_shown = len(self.x), len(self._shown_points)
        points = f"{n}" + f" ({n_shown} in the table)" * (n != n_shown)
        facts = [
            ("estimand", f"{self._value_name} {of} on {new}"),
            ("points", f"{points}, {self._axes[0]} {self._place(0)} to {self._place(-1)}"),
            (f"{level} band", f"{self.band}: {reach}"),
            ("mean width", rendering.significant(self._mean_width)),
            (how, self._resampled()),
        ]
        if self.held_fixed:
            facts.append(("conditional on", wording.listed(self.held_fixed)))
        if self.n_undefined:
            count = f"{self.n_undefined} of {self.n_resamples} resamples, at some point"
            facts.append(("undefined", f"{count}, left out there"))
        return facts + [("note", note) for note in self.notes]

    def _place(self, k: int) -> str:
        """Write a point of the grid."""
        return f"{self.x[k]:,.0f}" if self.n_trainings is not None else f"{self.x[k]:.3g}"

    # -------------------------------------------------------------- what `Shown` asks for

    def _html(self, options: rendering.TableOptions) -> str:
        picture = self._picture()
        if not picture:
            return super()._html(options)
        facts = rendering.html_list(self._facts())
        numbers = "".join(rendering.html_table(table) for _, table in self._tables(options))
        numbers = f"<details><summary>Numbers</summary>{numbers}</details>"
        return rendering.html_of(self.claim(), picture, facts, numbers)

    def _picture(self) -> str:
        """Return the curve and its band as an image element; empty without matplotlib."""
        try:
            from matplotlib import rc_context
            from matplotlib.figure import Figure
        except ImportError:
            return ""
        # A figure that pyplot does not know of is shown here alone, and not at the end of a cell.
        figure = Figure(figsize=_PICTURE_SIZE, layout="constrained")
        self._drawn(ax=figure.subplots())
        file = io.BytesIO()
        # The same curve gives the same bytes.
        with rc_context({"svg.hashsalt": self._format[0]}):
            figure.savefig(file, format="svg", metadata={"Date": None})
        return rendering.html_image(file.getvalue(), "image/svg+xml", self.claim())

    @property
    def _metric_name(self) -> str:
        return self._axes[1]

    def _widths(self) -> list[float]:
        # The widest part of a band, such as that of net benefit at high thresholds, says nothing of
        # the others.
        widths = (self.high - self.low)[self._shown_points]
        widths = widths[np.isfinite(widths) & (widths > 0)]
        return [float(np.median(widths)) if len(widths) else 0.1]

    def _tables(self, options: rendering.TableOptions) -> Sequence[tuple[str, rendering.Table]]:
        """Return the band at some points of the grid."""
        shown = self._shown_points
        level = rendering.percent(self.confidence_level)
        columns = [self.estimate, self.low, self.high]
        header = [self._axes[0], self._value_name, f"{level} low", "high"]
        if self.train_scores is not None:
            columns.append(self.train_estimate)
            header.append("on training rows")
        [width] = self._widths()
        digits = options.digits
        if digits is None:
            digits = wording.decimals_in(options, self).at(width)
        fixed, rows = rendering.Fixed(digits, (0.0, *self._bounds)), []
        for k in shown.tolist():
            numbers = (rendering.number(float(column[k]), fixed) for column in columns)
            rows.append([self._place(k), *numbers])
        return [("", rendering.Table(header, rows, 0))]

    def _records(self) -> Sequence[Mapping[str, Any]]:
        columns = {"x": self.x, "estimate": self.estimate, "low": self.low, "high": self.high}
        if self.reference is not None:
            columns["reference"] = self.reference
        if self.bin_error is not None:
            columns["bin_error"] = self.bin_error
        if self.train_scores is not None:
            columns["train_score"] = self.train_estimate
        names = {"curve": self.curve}
        lines = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [names | dict(zip(columns, line, strict=True)) for line in lines]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the replicates, ready for JSON.

        Returns
        -------
        dict
            NaN is None, infinite limits are "inf" and "-inf".
        """
        record = self._held()
        del record["bootstrap_distribution"]
        record |= {
            "n_units": self.n_units,
            "n_resamples": self.n_resamples,
            "n_undefined": self.n_undefined,
        }
        return dict(result.plain(record, for_json=True))

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(**gathered(cls, parts))


# ------------------------------------------------------------------ what points of it stand on


@dataclass(frozen=True, eq=False)
class SizeBasis(ScoresBasis):
    """A method that was trained on so many rows.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The score, and draws from the normal distribution of its error.
    point : PointwiseFacts
        What is known of it beside these.
    """

    point: PointwiseFacts

    kind = "training-set size"
    readers: ClassVar[Readers] = {
        **ScoresBasis.readers,
        "point": lambda parts: PointwiseFacts(**parts),
    }
    row_noun = "row"
    method_names: ClassVar[Mapping[str, str]] = {"t": "t interval"}
    is_on_rows_left_out = True
    is_resampled = False

    # -------------------------------------------------------------- numbers

    def _interval(self, result: EvaluationResult, method: str, level: float) -> ConfidenceInterval:
        if method == "auto":
            return pointwise_interval(self.evidence, self.point, level)
        check_choice("method", method, ("auto", "t"))
        return confidence_interval(self.evidence, method, level)

    # -------------------------------------------------------------- words

    def title(self, result: EvaluationResult) -> str:
        """Return which metric, of how many rows to train on and to test on."""
        metric, _ = wording.name_and_rows(result)
        return f"{metric}, from {self.rows(result.n_samples)}"

    def _claim(self, result: EvaluationResult, score: str, interval: str) -> str:
        name, _ = wording.name_and_rows(result)
        rows = self.rows(result.n_samples)
        return f"{name} is expected to be {score}, estimated from {rows} ({interval})."


@dataclass(frozen=True, eq=False)
class LargerSizeBasis(SizeBasis):
    """A method that was never trained on so many rows: fits to the curve of smaller sizes.

    Attributes
    ----------
    evidence : skboot.inference.evidence.Evidence
        The fitted score, and the fits to draws from the distribution of the curve.
    point : PointwiseFacts
        What is known of it beside these: nothing.
    """

    kind = "larger training-set size"
    estimand_words = (
        "performance of the method at this training-set size, if its curve is a power law"
    )
    interval_noun = "spread of fits"
    draw_noun = "fit"
    draws_are_from = "to draws from the distribution of the curve"

    def method_name(self, result: EvaluationResult) -> str:
        """Return the name of the interval in words."""
        return "percentiles of fitted inverse power laws"


# ------------------------------------------------------------------ how it is made


def with_band(fields_of: Mapping[str, Any], curve_evidence: CurveEvidence) -> CurveResult:
    """Return a curve with the band that its fields ask for; they are given without its limits."""
    nothing = np.full(len(curve_evidence.estimate), np.nan)
    without = CurveResult(**{**fields_of, "low": nothing, "high": nothing, "_critical": None})
    if without.band == "simultaneous":
        low, high, critical = simultaneous_band(curve_evidence, without.confidence_level)
        return replace(without, low=low, high=high, _critical=critical)
    low, high = without.pointwise_limits()
    return replace(without, low=low, high=high)


def _number(x: Any) -> float:
    """Accept a real number, or an array of one without dimensions."""
    is_array = isinstance(x, np.ndarray) and x.shape == () and x.dtype.kind in "iuf"
    if is_array or isinstance(x, Real):
        return float(x)
    raise fail("x", "be a number", repr(x), "Use at(0.5).")
