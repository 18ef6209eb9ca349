"""Bands around curves: limits that hold at every point of a grid at once, or at each by itself.

`simultaneous_band` reaches out to the same number of standard errors everywhere, a quantile of the
largest deviation over the grid in each resample. Shares are taken on a scale on which their
variance does not depend on them, so that limits stay in the range. Resamples say too little where
nearly all agree, as at the ends of a ROC curve: standard errors have a floor there, and where the
rows behind a point are of one label the limits are those of an exact binomial interval. Record 0052
has what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .confidence_interval import ConfidenceInterval
from .evidence import Evidence
from .intervals import confidence_interval
from .multiplicity import max_t_quantile, t_quantile_of_normal
from .proportions import clopper_pearson_limits, wilson_limits

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Maximum hits or misses of a point whose resamples are too few in kind for their quantiles.
_FEW = 10
# Added to the hits and to the misses of a share on the scale of constant variance.
_UP = 3 / 8
# Share of a value below which a spread is rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class CurveEvidence:
    """A curve on the data and on resamples, and what is known of its points.

    Attributes
    ----------
    estimate : ndarray of shape (n_grid,)
        On the data.
    replicates : ndarray of shape (n_resamples, n_grid)
        On each resample; NaN where undefined.
    degrees_of_freedom, inflation : float
        Of the units that were drawn; see `skboot.inference.intervals.Evidence`.
    behind : ndarray of shape (n_grid,) or None
        Independent rows of equal weight that each point is a share of; None where it is none.
    floor : ndarray of shape (n_grid,) or None
        Smallest standard error that is believed of a point that is no share.
    bounds : tuple of float
        Range of the values.
    free_below, free_above : ndarray of shape (n_grid,), bool, or None
        Where the data say nothing of the lower, or of the upper limit.
    rises : bool or None
        Whether the true curve rises, or falls if False.
    of_bins : bool
        Whether each point is of rows of its own.
    """

    estimate: Floats
    replicates: Floats
    degrees_of_freedom: float
    inflation: float
    behind: Floats | None = None
    floor: Floats | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    free_below: Flags | None = None
    free_above: Flags | None = None
    rises: bool | None = None
    of_bins: bool = False

    @property
    def of_one_label(self) -> Flags:
        """Where all rows behind a point are of one label, (n_grid,)."""
        if self.behind is None:
            return np.zeros(len(self.estimate), dtype=bool)
        return (self.estimate <= 0) | (self.estimate >= 1)

    @property
    def unknown(self) -> Flags:
        """Where both limits are free, or the curve has no value, (n_grid,)."""
        if self.free_below is None or self.free_above is None:
            return np.isnan(self.estimate)
        return np.isnan(self.estimate) | (self.free_below & self.free_above)


class Band(NamedTuple):
    """Limits of a curve, (n_grid,) each, and the quantile that they reach out to."""

    low: Floats
    high: Floats
    critical: float


def simultaneous_band(known: CurveEvidence, confidence_level: float) -> Band:
    """Limits between which the whole curve lies with a confidence level.

    Parameters
    ----------
    known : CurveEvidence
        The curve.
    confidence_level : float
        Of all points together.

    Returns
    -------
    Band
        Estimate -+ c s, on the scale on which the variance of shares is constant (Anscombe 1948):
        s is the standard deviation of the replicates at a point, at least that of so many
        independent rows, and c the level's quantile of the largest deviation by s over the grid,
        as a quantile of Student's t. Curves that are no shares stay on their own scale. Where the
        rows behind a point are of one label its limit is exact (Clopper & Pearson 1934), at the
        level of a single point that belongs to c.
    """
    scale = _Scale(known.behind)
    estimate, replicates = scale.of(known.estimate), scale.of(known.replicates)
    error = _spread(estimate, replicates)
    floor = known.floor if known.behind is None else 0.5 / np.sqrt(known.behind + 0.5)
    error = error if floor is None else np.maximum(error, floor)
    single, counts = known.of_one_label, ~known.unknown
    largest = _largest_deviations(estimate, replicates, error, counts & ~single)
    exact = single & counts
    n_exact = int(exact.sum()) if known.of_bins else _n_runs(exact)
    critical = _critical(largest, confidence_level, n_exact)
    wide = float(t_quantile_of_normal(critical, known.degrees_of_freedom, known.inflation))
    low, high = scale.back(estimate - wide * error), scale.back(estimate + wide * error)
    if known.behind is not None:
        limits = _exact(known.estimate, known.behind, 2 * float(special.ndtr(critical)) - 1)
        low, high = np.where(single, limits[0], low), np.where(single, limits[1], high)
    return Band(*_finished(known, low, high), critical)


class _Scale(NamedTuple):
    """The scale of shares of so many rows, or that of the values themselves."""

    behind: Floats | None

    def of(self, values: Floats) -> Floats:
        """Return arcsin sqrt((n p + 3/8) / (n + 3/4))."""
        if self.behind is None:
            return values
        share = (np.clip(values, 0.0, 1.0) * self.behind + _UP) / (self.behind + 2 * _UP)
        return np.arcsin(np.sqrt(share))

    def back(self, values: Floats) -> Floats:
        """Return the shares."""
        if self.behind is None:
            return values
        share = np.sin(np.clip(values, 0.0, np.pi / 2)) ** 2
        return np.clip((share * (self.behind + 2 * _UP) - _UP) / self.behind, 0.0, 1.0)


def _spread(estimate: Floats, replicates: Floats) -> Floats:
    """Standard deviation of the defined replicates at each point, (n_grid,); 0 of none."""
    defined = ~np.isnan(replicates)
    n = defined.sum(axis=0)
    deviations = np.where(defined, replicates - estimate, 0.0)
    mean = deviations.sum(axis=0) / np.maximum(n, 1)
    squares = np.einsum("ij,ij->j", deviations, deviations) - n * mean**2
    # Of equal values exactly 0: their differences may be rounding.
    squares[squares <= n * (_ROUNDING * np.abs(np.nan_to_num(estimate))) ** 2] = 0.0
    return np.sqrt(squares / np.maximum(n - 1, 1))


def _n_runs(those: Flags) -> int:
    """Number of runs of neighbouring points: those of a run miss together."""
    return int(np.count_nonzero(np.diff(those.astype(np.int8), prepend=0) == 1))


def _largest_deviations(
    estimate: Floats, replicates: Floats, error: Floats, counts: Flags
) -> Floats:
    """Largest deviation of each resample by its standard error, (n_resamples,)."""
    varies = counts & (error > 0)
    if not varies.any():
        return np.zeros(0)
    deviations = np.abs(replicates[:, varies] - estimate[varies]) / error[varies]
    return np.asarray(np.fmax.reduce(deviations, axis=1))


def _critical(largest: Floats, confidence_level: float, n_exact: int) -> float:
    """Quantile of the largest deviation over the varying points and independent exact ones."""
    single = -float(special.ndtri((1 - confidence_level) / 2))
    largest = largest[~np.isnan(largest)]
    if len(largest) < 2:
        # Sidak's level, without resamples.
        return -float(special.ndtri((1 - confidence_level ** (1 / max(n_exact, 1))) / 2))
    if not n_exact:
        return max(single, max_t_quantile(largest, confidence_level))
    ordered = np.sort(largest)
    share = np.arange(1, len(ordered) + 1) / (len(ordered) + 1)
    joint = share * (2 * special.ndtr(ordered) - 1) ** n_exact
    reached = np.flatnonzero(joint >= confidence_level - 1e-12)
    return max(single, float(ordered[reached[0]] if len(reached) else ordered[-1]))


def _exact(estimate: Floats, behind: Floats, level: float) -> tuple[Floats, Floats]:
    """Exact binomial limits of shares that are 0 or 1."""
    # Of rows that are all alike the limit is a power of half the error.
    far = ((1 - level) / 2) ** (1 / behind)
    return np.where(estimate >= 1, far, 0.0), np.where(estimate <= 0, 1 - far, 1.0)


def _finished(known: CurveEvidence, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Limits within the range, free where nothing is known, and as monotone as the curve."""
    least, greatest = known.bounds
    low, high = np.maximum(low, least), np.minimum(high, greatest)
    # A scale of shares is not that of the estimate to the last digit.
    low, high = np.fmin(low, known.estimate), np.fmax(high, known.estimate)
    if known.free_below is not None:
        low = np.where(known.free_below, least, low)
    if known.free_above is not None:
        high = np.where(known.free_above, greatest, high)
    if known.rises is not None:
        # A monotone curve inside the limits is inside these, too.
        step = 1 if known.rises else -1
        low = np.maximum.accumulate(low[::step])[::step]
        high = np.minimum.accumulate(high[::-step])[::-step]
    return low, high


# ------------------------------------------------------------------ points by themselves


class PointwiseFacts(NamedTuple):
    """What is known of a point besides its replicates.

    Attributes
    ----------
    behind : float or None
        Rows that it is a share of; None where it is none.
    is_fixed : bool
        Whether which rows these are does not depend on the labels.
    """

    behind: float | None
    is_fixed: bool


def pointwise_interval(
    evidence: Evidence, facts: PointwiseFacts, confidence_level: float
) -> ConfidenceInterval:
    """Interval of one point of a curve.

    Parameters
    ----------
    evidence : Evidence
        Of the point.
    facts : PointwiseFacts
    confidence_level : float
        Of this interval by itself.

    Returns
    -------
    ConfidenceInterval
        Exact where the rows behind the point are of one label; Wilson's of few hits or misses, or
        of a bin, among independent rows; else from quantiles of the replicates.
    """
    value, behind = evidence.estimate, facts.behind
    if np.isnan(value) or len(evidence.sorted_replicates) < 2:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, "percentile")
    if behind is not None and value in (0.0, 1.0):
        n = behind if evidence.design.units_are_rows else min(behind, *evidence.n_units)
        low, high = clopper_pearson_limits(value * n, n, confidence_level)
        return ConfidenceInterval(low, high, confidence_level, "clopper-pearson")
    if behind is not None and evidence.independent_rows:
        few = min(value, 1 - value) * behind < _FEW
        if few or facts.is_fixed:
            low, high = wilson_limits(value * behind, behind, confidence_level)
            return ConfidenceInterval(low, high, confidence_level, "wilson")
    method = "expanded" if evidence.design.n_factors == 1 else "percentile"
    low, high = confidence_interval(evidence, method, confidence_level)
    low, high = max(low, evidence.bounds[0]), min(high, evidence.bounds[1])
    return ConfidenceInterval(low, high, confidence_level, method)
