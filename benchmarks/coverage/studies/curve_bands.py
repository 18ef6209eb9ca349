"""Bands of curves: does a simultaneous band hold the whole curve, and how wide is it?

Question: does the band of `bootstrap_curve` hold the whole true curve in 95 % of data sets, and is
it wider than it must be? Written before the run; the form of the band (the scale of constant
variance, exact limits where all rows behind a point are of one label) was chosen on 25 to 100 other
data sets of eight of these cells, which the log of record 0052 lists.

Design. ROC curves of normal scores (equal variances), whose true curve is known, at areas of .7,
.85 and .95, 200 and 1000 rows, 10 and 50 % positives; calibration in ten bins, and the decision
curve, of a logistic model that is too sure (the true slope is .6 of its own, and the intercept
lower by .3), at 200 and 1000 rows; precision at recalls in six of the designs of the ROC curves,
and DET curves in two; the smoothed calibration curve; all but DET on 30 groups of 30 rows, whose
rows share a third of the variance of the score. True calibration and net benefit are those of two
million rows, and the smoothed curve is what local lines of the same bandwidths are there. A band
covers if it holds the true curve at every point of its default grid. 1000 resamples; 1000 data sets
a cell, 300 of precision, DET and smoothed calibration, and of the other regions. Beside it the
published regions of a ROC curve, Campbell's from two Kolmogorov-Smirnov intervals and Working and
Hotelling's, which is told that scores are normal, and pointwise intervals by Bonferroni's rule over
the points of the grid: from the bootstrap standard error, or exact ones of the bins.

One line of the table: the shares of data sets whose band is somewhere above, or below, the truth,
and the mean width over the grid, as those of an interval that holds 0 if the band covers.

Rule. It passes if the band covers at least 93 % in every cell (91 % at an area of .95 with 200
rows), a cell counting as below where coverage + 2.6 Monte Carlo standard errors is; and if its mean
width is at most 1.3 times that of the narrowest of the other regions that were run in that cell and
cover as much by the same limit.

If it does not pass, the cells that fail are listed on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy import stats

from skboot import bootstrap_curve
from skboot.metrics.curves import SmoothCalibration, TwoClassRows

from ..runner import LEVEL, Cell, Study, Tool

REPETITIONS, FEWER = 1000, 300
N_RESAMPLES = 1000
N_BINS = 10
# Share of the variance of a score that the rows of a group share.
SHARED = 1 / 3


@dataclass(frozen=True)
class CurveSample:
    """Scores of a frozen system on a test set, and the true curve."""

    y_true: np.ndarray
    y_score: np.ndarray
    curve: str
    true_curve: Callable[[np.ndarray, CurveSample], np.ndarray]
    groups: np.ndarray | None = None
    # How far the true curve may be from what is given as such, which is that of a population.
    close: float = 1e-12
    # The curve is taken from the band, so that nothing is left.
    truth: Mapping[str, float] = field(default_factory=lambda: {"": 0.0})
    exception: str = ""


# ------------------------------------------------------------------ data sets


def _noise(rng, n, n_groups):
    """Standard normal values, which rows of a group share in part, and the groups."""
    if not n_groups:
        return rng.normal(size=n), None
    group = np.arange(n) % n_groups
    shared = np.sqrt(SHARED) * rng.normal(size=n_groups)[group]
    return shared + np.sqrt(1 - SHARED) * rng.normal(size=n), group


def binormal(n, prevalence, auc, n_groups=0, curve="roc"):
    """Curve of normal scores."""
    apart = np.sqrt(2) * stats.norm.ppf(auc)

    def draw(rng):
        y = (rng.random(n) < prevalence).astype(int)
        noise, groups = _noise(rng, n, n_groups)
        return CurveSample(y, noise + apart * y, curve, true_curve, groups)

    def true_curve(x, _):
        if curve == "precision_recall":
            hits, alarms = (
                prevalence * x,
                (1 - prevalence) * stats.norm.sf(stats.norm.isf(x) + apart),
            )
            return hits / (hits + alarms)
        found = stats.norm.sf(stats.norm.isf(x) - apart)
        return 1 - found if curve == "det" else found

    return draw


def _logistic(rng, n, n_groups):
    """Probabilities that a miscalibrated model gives, true ones, labels and groups."""
    noise, groups = _noise(rng, n, n_groups)
    given, true = (1 / (1 + np.exp(-x)) for x in (1.5 * noise, 0.9 * noise - 0.3))
    return given, true, (rng.random(n) < true).astype(int), groups


@cache
def _population():
    """Sorted probabilities of two million rows, and running sums of the true ones."""
    given, true, _, _ = _logistic(np.random.default_rng(20261122), 2_000_000, 0)
    order = np.argsort(given)
    return given[order], np.concatenate(([0.0], np.cumsum(true[order])))


def _true_bins(_, sample):
    given, running = _population()
    edges = np.quantile(sample.y_score, np.linspace(0, 1, N_BINS + 1))[1:-1]
    at = np.concatenate(([0], np.searchsorted(given, edges), [len(given)]))
    return np.diff(running[at]) / np.diff(at)


def _true_net_benefit(x, _):
    given, running = _population()
    at = np.searchsorted(given, x)
    hits = (running[-1] - running[at]) / len(given)
    alarms = (len(given) - at) / len(given) - hits
    return hits - alarms * x / (1 - x)


def _true_smooth(x, sample):
    """Height of local lines through the true probabilities, with the bandwidths of the sample."""
    given, running = _population()
    cuts = np.linspace(0, 1, 4001)
    at = np.searchsorted(given, cuts)
    rows, hits, centre = np.diff(at), np.diff(running[at]), (cuts[1:] + cuts[:-1]) / 2
    own = TwoClassRows(sample.y_true, sample.y_true == 1, sample.y_score, None)
    away = centre - x[:, None]
    reach = SmoothCalibration.at(x, own).bandwidth[:, None]
    kernel = np.maximum(1 - (away / reach) ** 2, 0)
    s0, s1, s2 = ((kernel * away**k) @ rows for k in range(3))
    t0, t1 = ((kernel * away**k) @ hits for k in range(2))
    return (s2 * t0 - s1 * t1) / (s0 * s2 - s1**2)


def miscalibrated(n, curve, n_groups=0):
    """Calibration or net benefit of a logistic model that is off."""
    true_curve = {
        "calibration": _true_bins,
        "calibration_smooth": _true_smooth,
        "decision": _true_net_benefit,
    }[curve]

    def draw(rng):
        given, _, y, groups = _logistic(rng, n, n_groups)
        return CurveSample(y, given, curve, true_curve, groups)

    return draw


# ------------------------------------------------------------------ tools


def as_interval(low, high, truth, close=1e-12):
    """Interval of the mean width of a band, which holds 0 if the band holds the truth."""
    width, least = float(np.mean(high - low)), np.finfo(float).tiny
    if (truth < low - close).any():
        return least, least + width
    if (truth > high + close).any():
        return -width - least, -least
    return -width / 2, width / 2


def _band(sample, seed):
    return bootstrap_curve(
        sample.y_true,
        sample.y_score,
        curve=sample.curve,
        groups=sample.groups,
        n_bins=N_BINS,
        n_resamples=N_RESAMPLES,
        random_state=seed,
    )


def ours(sample, seed):
    """The default band."""
    band = _band(sample, seed)
    truth = sample.true_curve(band.x, sample)
    return {"": as_interval(band.low, band.high, truth, sample.close)}


def _sides(sample):
    positive = sample.y_true == 1
    return sample.y_score[positive], sample.y_score[~positive]


def _grid(sample):
    """The default grid of a ROC curve."""
    n = np.count_nonzero(sample.y_true == 0)
    inside = np.arange(1, 200) / 200
    return np.concatenate(([1 / n], inside[(inside > 1 / n) & (inside < 1 - 1 / n)], [1 - 1 / n]))


def campbell(sample, _):
    """Rectangles of two Kolmogorov-Smirnov intervals (Campbell 1994, Stat. Med. 13:499)."""
    upper, lower = _sides(sample)
    x = _grid(sample)
    up, across = (stats.kstwo.ppf(np.sqrt(LEVEL), len(side)) for side in (upper, lower))
    ordered = np.sort(lower)[::-1]

    def height(rate):
        # The highest threshold at which so many negatives are let through.
        let_through = np.clip(np.ceil(rate * len(lower) - 1e-9).astype(int), 0, len(lower))
        threshold = np.append(ordered, -np.inf)[let_through]
        hits = (upper[:, None] > threshold).mean(axis=0)
        return np.where(rate < 0, 0.0, np.where(rate >= 1, 1.0, hits))

    low = np.clip(height(x - across) - up, 0, 1)
    high = np.where(x + across >= 1, 1.0, np.clip(height(np.minimum(x + across, 1)) + up, 0, 1))
    return {"": as_interval(low, high, sample.true_curve(x, sample), sample.close)}


def working_hotelling(sample, _):
    """Region of a straight line in normal quantiles, from means and variances of the two sides."""
    upper, lower = _sides(sample)
    x = _grid(sample)
    apart, scale = (
        (upper.mean() - lower.mean()) / upper.std(ddof=1),
        lower.std(ddof=1) / upper.std(ddof=1),
    )
    n, m = len(upper), len(lower)
    of_apart = 1 / n + scale**2 / m + apart**2 / (2 * n)
    of_scale, both = scale**2 * (1 / (2 * n) + 1 / (2 * m)), apart * scale / (2 * n)
    z = stats.norm.ppf(x)
    error = np.sqrt(of_apart + 2 * both * z + of_scale * z**2)
    reach = np.sqrt(stats.chi2.ppf(LEVEL, 2)) * error
    low, high = (stats.norm.cdf(apart + scale * z + sign * reach) for sign in (-1, 1))
    return {"": as_interval(low, high, sample.true_curve(x, sample))}


def bonferroni(sample, seed):
    """Pointwise intervals at the level of one point among all."""
    band = _band(sample, seed)
    truth = sample.true_curve(band.x, sample)
    tail = (1 - LEVEL) / 2 / len(band.x)
    if sample.curve == "calibration" and sample.groups is None:
        n = np.round(band.behind)
        hits = np.round(band.estimate * n)
        low = np.where(hits == 0, 0.0, stats.beta.ppf(tail, hits, n - hits + 1))
        high = np.where(hits == n, 1.0, stats.beta.ppf(1 - tail, hits + 1, n - hits))
        return {"": as_interval(low, high, truth)}
    half = stats.norm.isf(tail) * band.bootstrap_distribution.std(axis=0, ddof=1)
    low, high = band.estimate - half, band.estimate + half
    if sample.curve != "decision":
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return {"": as_interval(low, high, truth)}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", ours, note=f"{N_RESAMPLES} resamples"),
        Tool("Campbell", campbell, "scipy", "two Kolmogorov-Smirnov intervals"),
        Tool("Working-Hotelling", working_hotelling, "scipy", "told that scores are normal"),
        Tool("Bonferroni", bonferroni, note="pointwise intervals at the level of one in all"),
    )
}
OTHERS = dict.fromkeys(list(TOOLS)[1:], FEWER)
ALL = {"skboot": REPETITIONS} | OTHERS
WITHOUT_REGIONS = {"skboot": REPETITIONS, "Bonferroni": FEWER}
ALONE = {"skboot": FEWER}
# Rows, share of positives and area of the curves of precision.
OF_PRECISION = (
    (200, 0.5, 0.7),
    (200, 0.1, 0.85),
    (200, 0.5, 0.95),
    (1000, 0.5, 0.7),
    (1000, 0.1, 0.85),
    (1000, 0.5, 0.95),
)


def _cells():
    for n in (200, 1000):
        for prevalence in (0.1, 0.5):
            for auc in (0.7, 0.85, 0.95):
                title = f"ROC, AUC {auc}, n {n}, {prevalence} positives"
                yield Cell(title, "ROC", binormal(n, prevalence, auc), ALL)
        for curve in ("calibration", "decision"):
            draw = miscalibrated(n, curve)
            yield Cell(f"{curve}, n {n}", curve, draw, WITHOUT_REGIONS)
    grouped = "30 groups of 30 rows"
    draw = binormal(900, 0.3, 0.85, 30)
    yield Cell(f"ROC, AUC 0.85, {grouped}", "ROC, groups", draw, WITHOUT_REGIONS)
    for curve in ("calibration", "decision"):
        draw = miscalibrated(900, curve, 30)
        yield Cell(f"{curve}, {grouped}", f"{curve}, groups", draw, WITHOUT_REGIONS)
    for n, prevalence, auc in OF_PRECISION:
        title = f"precision, AUC {auc}, n {n}, {prevalence} positives"
        draw = binormal(n, prevalence, auc, curve="precision_recall")
        yield Cell(title, "precision", draw, ALONE)
    for n, prevalence in ((200, 0.5), (1000, 0.1)):
        title = f"DET, AUC 0.85, n {n}, {prevalence} positives"
        yield Cell(title, "DET", binormal(n, prevalence, 0.85, curve="det"), ALONE)
    smooth = "calibration_smooth"
    for n in (200, 1000):
        draw = miscalibrated(n, smooth)
        yield Cell(f"smoothed calibration, n {n}", "smoothed calibration", draw, ALONE)
    draw = binormal(900, 0.3, 0.85, 30, "precision_recall")
    yield Cell(f"precision, AUC 0.85, {grouped}", "precision, groups", draw, ALONE)
    draw = miscalibrated(900, smooth, 30)
    yield Cell(f"smoothed calibration, {grouped}", "smoothed calibration, groups", draw, ALONE)


STUDY = Study("curve_bands", tuple(_cells()), TOOLS, chunk=50)
