"""Bands around curves: limits that hold at every point of a grid at once, or at each by itself.

`simultaneous_band` reaches out to the same number of standard errors everywhere, a quantile of the
largest deviation over the grid in each resample. Shares are taken on a scale on which their
variance does not depend on them, so that limits stay in the range. Resamples say too little where
nearly all agree, as at the ends of a ROC curve: standard errors have a floor there, and where the
rows behind a point are of one label the limits reach out to those of an exact binomial interval. A
curve over thresholds jumps where a resample lets another row through; there the quantile is the
larger of that of the replicates and that of a normal process, and which rows are behind a point is
chance, too. A point of such a curve by itself has an interval of the same form. Records 0052, 0054,
0065 and 0089 have what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .evidence import ConfidenceInterval, Evidence, within_range
from .intervals import confidence_interval
from .multiplicity import critical_deviation, symmetric_root, t_quantile_of_normal
from .proportions import clopper_pearson_limits, wilson_limits

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Maximum hits or misses of a point whose resamples are too few in kind for their quantiles.
_FEW = 10
# Added to the hits and to the misses of a share on the scale of constant variance.
_UP = 3 / 8
# Share of a value below which a spread is rounding.
_SPREAD_ROUNDING = 1e-13
# Paths of the normal process that are looked at, each also upside down, and their seed: the
# quantile of .95 has a Monte Carlo error of .03. On a longer grid, the work for which grows with
# the square of its points, replicates are looked at instead, and the band is a little wider.
_N_PATHS, _SEED, _LONGEST_GRID = 2000, 0, 1000


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
        Degrees of freedom and inflation of the units that were drawn; see
        `skboot.inference.intervals.Evidence`.
    behind : ndarray of shape (n_grid,) or None
        Independent rows of equal weight that each point is a share of; None where it is none.
    floor : ndarray of shape (n_grid,) or None
        Smallest standard error that is believed of a point that is no share.
    bin_error : ndarray of shape (n_grid,) or None
        How far each point may be from the curve of all scores, where these were counted in
        intervals.
    bounds : tuple of float
        Range of the values.
    free_below, free_above : ndarray of shape (n_grid,), bool, or None
        Where the data say nothing of the lower, or of the upper limit.
    rises : bool or None
        Whether the true curve rises, or falls if False.
    of_bins : bool
        Whether each point is of rows of its own.
    nearby : ndarray of shape (n_grid, 2) or None
        First point, and that after the last, over which the variance of each is averaged, for a
        curve over thresholds.
    """

    estimate: Floats
    replicates: Floats
    degrees_of_freedom: float
    inflation: float
    behind: Floats | None = None
    floor: Floats | None = None
    bin_error: Floats | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    free_below: Flags | None = None
    free_above: Flags | None = None
    rises: bool | None = None
    of_bins: bool = False
    nearby: NDArray[np.intp] | None = None

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


def simultaneous_band(curve: CurveEvidence, confidence_level: float) -> Band:
    """Limits between which the whole curve lies with a confidence level.

    Parameters
    ----------
    curve : CurveEvidence
        The curve.
    confidence_level : float
        Confidence level of all points together.

    Returns
    -------
    Band
        Estimate -+ c s, on the scale on which the variance of shares is constant (Anscombe 1948):
        s is the standard deviation of the replicates at a point, at least that of so many
        independent rows, and c the level's quantile of the largest deviation by s over the grid,
        as a quantile of Student's t. Curves that are no shares stay on their own scale. Where all
        rows of a bin are of one label its limit is exact (Clopper & Pearson 1934), at the level of
        a single point that belongs to c. Where scores were counted in intervals, limits are as much
        farther out as this may move the curve.

    Notes
    -----
    Of a curve over thresholds s^2 is averaged over neighbouring points, and c is the larger of that
    of the replicates and that of a normal process with their covariance, as in the multiplier
    bootstrap (Chernozhukov, Chetverikov & Kato 2013, Annals of Statistics 41, 2786-2819). Where the
    rows behind a point of it are of one label, its limit is the outermost of the exact one, the one
    above, and the quantile of the replicates at the same level (record 0089).
    """
    estimate, replicates, floor = curve.estimate, curve.replicates, curve.floor
    behind = curve.behind
    if behind is not None:
        estimate, replicates = _to_arcsine(estimate, behind), _to_arcsine(replicates, behind)
        floor = _least_error(behind)
    error = _spread(estimate, replicates)
    error = error if floor is None else np.maximum(error, floor)
    if curve.nearby is not None:
        # The root mean square over the neighbours of each point.
        upto = np.concatenate(([0.0], np.cumsum(error**2)))
        start, after = curve.nearby.T
        error = np.asarray(np.sqrt((upto[after] - upto[start]) / (after - start)))
        error = error if floor is None else np.maximum(error, floor)
    # Where all rows behind a point are of one label.
    single, is_judged = np.zeros(len(estimate), dtype=bool), ~curve.unknown
    if behind is not None:
        single = (curve.estimate <= 0) | (curve.estimate >= 1)
    exact = single & is_judged & curve.of_bins
    laws = _largest_deviations(curve, estimate, replicates, error, is_judged & ~exact)
    critical = max(critical_deviation(law, confidence_level, int(exact.sum())) for law in laws)
    wide = float(t_quantile_of_normal(critical, curve.degrees_of_freedom, curve.inflation))
    low, high = estimate - wide * error, estimate + wide * error
    if behind is not None:
        low, high = _from_arcsine(low, behind), _from_arcsine(high, behind)
        level = 2 * float(special.ndtr(critical)) - 1
        # The exact limit of rows that are all alike is a power of half the error.
        far = ((1 - level) / 2) ** (1 / behind)
        far_low = np.where(curve.estimate >= 1, far, 0.0)
        far_high = np.where(curve.estimate <= 0, 1 - far, 1.0)
        if not curve.of_bins and single.any():
            # Which rows are behind such a point is chance, too.
            tails = [(1 - level) / 2, (1 + level) / 2]
            quantiles = np.full((2, len(single)), np.nan)
            quantiles[:, single] = np.nanquantile(curve.replicates[:, single], tails, axis=0)
            far_low = np.fmin(np.minimum(far_low, low), quantiles[0])
            far_high = np.fmax(np.maximum(far_high, high), quantiles[1])
        low, high = np.where(single, far_low, low), np.where(single, far_high, high)
    # Within the range, free where nothing is known, and as monotone as the curve.
    least, greatest = curve.bounds
    if curve.bin_error is not None:
        low, high = low - curve.bin_error, high + curve.bin_error
    low, high = np.maximum(low, least), np.minimum(high, greatest)
    # A scale of shares is not that of the estimate to the last digit.
    low, high = np.fmin(low, curve.estimate), np.fmax(high, curve.estimate)
    if curve.free_below is not None:
        low = np.where(curve.free_below, least, low)
    if curve.free_above is not None:
        high = np.where(curve.free_above, greatest, high)
    if curve.rises is not None:
        # A monotone curve inside the limits is inside these, too.
        step = 1 if curve.rises else -1
        low = np.maximum.accumulate(low[::step])[::step]
        high = np.minimum.accumulate(high[::-step])[::-step]
    return Band(low, high, critical)


def _to_arcsine(shares: Floats, behind: Floats) -> Floats:
    """Return shares of so many rows on the scale on which their variance is constant.

    It is arcsin sqrt((n p + 3/8) / (n + 3/4)) (Anscombe 1948).
    """
    raised = np.clip(shares, 0.0, 1.0)
    # In place: new arrays of all resamples and points cost more than their arithmetic.
    raised *= behind
    raised += _UP
    raised /= behind + 2 * _UP
    return np.arcsin(np.sqrt(raised, out=raised), out=raised)


def _from_arcsine(values: Floats, behind: Floats) -> Floats:
    """Return the shares of so many rows; see `_to_arcsine`."""
    raised = np.sin(np.clip(values, 0.0, np.pi / 2)) ** 2
    return np.clip((raised * (behind + 2 * _UP) - _UP) / behind, 0.0, 1.0)


def _least_error(behind: Floats) -> Floats:
    """Standard error of a share of so many independent rows on the scale of `_to_arcsine`."""
    return np.asarray(0.5 / np.sqrt(behind + 0.5))


def _spread(estimate: Floats, replicates: Floats) -> Floats:
    """Standard deviation of the defined replicates at each point, (n_grid,); 0 without any."""
    deviations = replicates - estimate
    defined = ~np.isnan(deviations)
    n = defined.sum(axis=0)
    np.copyto(deviations, 0.0, where=~defined)
    mean = deviations.sum(axis=0) / np.maximum(n, 1)
    squares = np.einsum("ij,ij->j", deviations, deviations) - n * mean**2
    # Of equal values exactly 0: their differences may be rounding.
    squares[squares <= n * (_SPREAD_ROUNDING * np.abs(np.nan_to_num(estimate))) ** 2] = 0.0
    return np.sqrt(squares / np.maximum(n - 1, 1))


def _largest_deviations(
    curve: CurveEvidence, estimate: Floats, replicates: Floats, error: Floats, is_judged: Flags
) -> list[Floats]:
    """Largest deviations by standard errors: of resamples, and of paths of a normal process.

    Estimates, replicates and standard errors are on the scale of the band, which need not be that
    of the curve's values. Points that are not judged have limits of their own.
    """
    varies = is_judged & (error > 0)
    if not varies.any():
        return [np.zeros(0)]
    deviations = replicates.copy() if varies.all() else replicates[:, varies]
    deviations -= estimate[varies]
    deviations /= error[varies]
    is_defined = not np.isnan(deviations).any()
    # A limit that is free cannot be missed.
    sides = (curve.free_below, curve.free_above)
    below, above = (None if free is None else ~free[varies] for free in sides)
    up, down = _extremes(deviations, below)[0], _extremes(deviations, above)[1]
    laws = [np.maximum(up, -down)]
    if curve.nearby is not None and len(varies) <= _LONGEST_GRID:
        # A curve over thresholds jumps from resample to resample, and its largest deviations are
        # few values: draws of a normal process with the covariance of the replicates have more.
        if is_defined:
            deviations -= deviations.mean(axis=0)
            centred = deviations
        else:
            centred = np.nan_to_num(deviations - np.nanmean(deviations, axis=0))
        root = symmetric_root(centred.T @ centred / max(len(centred) - 1, 1))
        paths = _normal_draws(len(root)) @ root
        # Paths, and the same upside down.
        (up, up_mirrored), (down_mirrored, down) = (
            _extremes(paths, below),
            _extremes(paths, above),
        )
        laws.append(
            np.concatenate([np.maximum(up, -down), np.maximum(-up_mirrored, down_mirrored)])
        )
    return laws


@lru_cache(maxsize=1)
def _normal_draws(n_points: int) -> Floats:
    """Return the numbers of all paths, (n_paths, n_points), kept for bands on as long a grid."""
    normal = np.random.default_rng(_SEED).standard_normal((_N_PATHS, n_points))
    normal.flags.writeable = False
    return normal


def _extremes(deviations: Floats, columns: Flags | None) -> tuple[Floats, Floats]:
    """Return the highest, at least 0, and the lowest, at most 0, of each line in some columns."""
    if columns is not None and not columns.all():
        at = np.flatnonzero(columns)
        # Neighbouring columns need no copy.
        is_range = len(at) and at[-1] - at[0] + 1 == len(at)
        deviations = deviations[:, at[0] : at[-1] + 1] if is_range else deviations[:, at]
    highest = np.max(deviations, axis=1, initial=0.0)
    if not np.isnan(highest).any():
        return highest, np.min(deviations, axis=1, initial=0.0)
    return (
        np.fmax.reduce(deviations, axis=1, initial=0),
        np.fmin.reduce(deviations, axis=1, initial=0),
    )


# ------------------------------------------------------------------ points by themselves


class PointwiseFacts(NamedTuple):
    """Facts of a point of a curve, besides its replicates.

    Attributes
    ----------
    behind : float or None
        Rows that it is a share of; None where it is none.
    is_fixed : bool
        Whether which rows these are does not depend on the labels.
    over_thresholds : bool
        Whether the curve jumps where a resample lets another row through.
    free_below, free_above : bool
        Whether the data say nothing of the lower, or of the upper limit.
    floor : float or None
        Smallest standard error that is believed of a point that is no share.
    bin_error : float
        How far it may be from that of all scores, where these were counted in intervals.
    of_normal_law : bool
        Whether the replicates are draws from a normal distribution.
    """

    behind: float | None
    is_fixed: bool
    over_thresholds: bool = False
    free_below: bool = False
    free_above: bool = False
    floor: float | None = None
    bin_error: float = 0.0
    of_normal_law: bool = False


def pointwise_interval(
    evidence: Evidence, facts: PointwiseFacts, confidence_level: float
) -> ConfidenceInterval:
    """Interval of one point of a curve.

    Parameters
    ----------
    evidence : Evidence
        Evidence of the point.
    facts : PointwiseFacts
    confidence_level : float
        Confidence level of this interval by itself.

    Returns
    -------
    ConfidenceInterval
        Of a share over thresholds, as far out as the band of a single point; exact where the rows
        behind another one are of one label; Wilson's of few hits or misses, or of a bin, among
        independent rows; else from quantiles of the replicates, and no narrower than by the
        floor of its standard error. A limit that is free is the end of the range, and the others
        are as much farther out as intervals of scores may move the point.
    """
    if np.isnan(evidence.estimate) or len(evidence.sorted_replicates) < 2:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, "percentile")
    value, behind, level = evidence.estimate, facts.behind, confidence_level
    if behind is not None and facts.over_thresholds:
        # Standard errors either way on the scale of shares, at least those of independent rows.
        method, n_rows = "arcsine", np.array([behind])
        on_scale = _to_arcsine(np.array([value]), n_rows)
        error = _spread(on_scale, _to_arcsine(evidence.replicates[:, None], n_rows))
        half = _reach(evidence, level) * np.maximum(error, _least_error(n_rows))
        limits = [
            float(_from_arcsine(end, n_rows)[0]) for end in (on_scale - half, on_scale + half)
        ]
        if value in (0.0, 1.0):
            # Which rows are behind a point whose rows are of one label is chance, too.
            limits += _exact_of_point(evidence, behind, level)
            tails = [(1 - level) / 2, (1 + level) / 2]
            limits += np.quantile(evidence.sorted_replicates, tails).tolist()
        # The scale is not that of the estimate to the last digit.
        low, high = min(value, *limits), max(value, *limits)
    elif behind is not None and value in (0.0, 1.0):
        method, (low, high) = "clopper-pearson", _exact_of_point(evidence, behind, level)
    elif (
        behind is not None
        and evidence.independent_rows
        and (facts.is_fixed or min(value, 1 - value) * behind < _FEW)
    ):
        method, (low, high) = "wilson", wilson_limits(value * behind, behind, level)
    else:
        method = "expanded" if evidence.drawn.design.n_factors == 1 else "percentile"
        method = "t" if facts.of_normal_law else method
        low, high = confidence_interval(evidence, method, level).uncut
        least = 0.0 if facts.floor is None else _reach(evidence, level) * facts.floor
        low, high = min(low, value - least), max(high, value + least)
    least, greatest = evidence.facts.bounds
    low = least if facts.free_below else low - facts.bin_error
    high = greatest if facts.free_above else high + facts.bin_error
    interval = ConfidenceInterval(low, high, confidence_level, method)
    return within_range(interval, evidence.facts.bounds)


def _exact_of_point(evidence: Evidence, behind: float, level: float) -> tuple[float, float]:
    """Exact binomial limits of a share of rows, or of units where these are fewer."""
    units = evidence.drawn
    n = behind if units.design.units_are_rows else min(behind, *units.n_units)
    return clopper_pearson_limits(evidence.estimate * n, n, level)


def _reach(evidence: Evidence, level: float) -> float:
    """Standard errors that an interval of one number reaches out to."""
    normal, df = special.ndtri(0.5 + level / 2), evidence.drawn.degrees_of_freedom
    return float(t_quantile_of_normal(normal, df, evidence.drawn.inflation))
