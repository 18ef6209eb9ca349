"""The "cv-bootstrap" interval for a method: centre from cross-validation, spread from bootstrap
training samples.

It serves one data set without a test set. Repeated cross-validation estimates the error of the
method at (almost) this sample size; bootstrap training samples show the variance of that error
between training samples, which cross-validation cannot. The functions are pure functions of arrays
in which smaller is better: 0/1 losses, squared errors, 1 - AUC, 1 - R2. Units are rows, or whole
groups of rows.

An *influence value* is the first-order effect of one unit on a metric, scaled so that the metric's
sampling variance is about ``influence.var() / n``. `auc_error_influence` gives the influence values
of 1 - AUC; those of a mean are the losses less their mean, and those of any other metric are the
jackknife's, ``(m - 1) * (metric - metric_without_unit)`` over the m units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.special import expit, logit, ndtri, stdtrit

from .._base.errors import Note
from .._base.values import read_only, same_values
from ..inference.automatic import IntervalWithNotes
from ..inference.evidence import ConfidenceInterval
from ..inference.proportions import score_limits
from .out_of_bag import (
    FEW_RESAMPLES,
    HEAVY_TAIL_SHARE,
    JACKKNIFE_RESAMPLES,
    LEAST_DF,
    MONTE_CARLO_DRAWS,
    UNSTABLE_RATIO,
    Array,
    Reader,
    columns_of,
    lines_of,
    quartiles,
    training_spread,
    within_fences,
)

# ------------------------------------------------------------------ variances
# The two variances of the interval, and how far bootstrap samples move one of them. `cv_bootstrap`
# says what they are made of, and makes intervals of them.


def cv_variances(
    cv: Array,
    counts: Array,
    scores: Array,
    oob_influence: Any,
    share: float,
    seed_variance: float,
    optimism: float,
) -> dict[str, Any]:
    """Fields of `skboot.method_error.cv_bootstrap.CVBootstrap` that are variances.

    Parameters
    ----------
    cv : ndarray of shape (n_repeats, n_units)
        Influence values of the out-of-fold metric.
    counts : ndarray of shape (n_resamples, n_units)
    scores : ndarray of shape (n_resamples,)
        NaN where undefined; such samples are left out.
    oob_influence : array-like of shape (n_resamples, n_units), or callable
    share : float
        Share of the training variance that is left at the full size.
    seed_variance : float
    optimism : float
        Cross-validated error less that on the rows trained on, at least 0; infinite if unknown.

    Returns
    -------
    dict
        By name of the field.
    """
    influence, n_units = cv.mean(axis=0), counts.shape[1]
    lines, read = np.flatnonzero(np.isfinite(scores)), columns_of(oob_influence)
    if len(lines) < len(scores):
        counts, scores, read = counts[lines], scores[lines], lines_of(read, lines)
    plain = fenced = training_spread(influence, counts, scores, read, None, seed_variance)
    moved, factors = within_fences(scores)
    n_beyond = int(np.count_nonzero(factors != 1))
    if n_beyond:
        fenced = training_spread(influence, counts, moved, read, factors, seed_variance)
    test, averaged = sampling_variances(cv)
    cap, robust = (np.sqrt(test) + optimism / 2) ** 2, fenced.robust_variance
    covariance = float(2 * influence @ fenced.effect / n_units)

    def variance_of(robust: Any, covariance: Any) -> Any:
        """Variance of "cv-bootstrap", of numbers or of arrays."""
        total = test + share * robust + np.sqrt(share) * np.maximum(covariance, 0.0)
        return np.maximum(np.minimum(cap, total), averaged)

    variance = float(variance_of(robust, covariance))
    # The infinitesimal jackknife is left out with fewer than 4 sqrt(n_units) resamples.
    enough = len(scores) >= JACKKNIFE_RESAMPLES * np.sqrt(n_units)
    jackknife = plain.jackknife if enough else float("nan")
    conservative = max(variance, test + plain.variance)
    if np.isfinite(jackknife):
        conservative = max(conservative, jackknife)
    return {
        "standard_error_conservative": float(np.sqrt(conservative)),
        "variance_cv": test,
        "variance_cv_averaged": averaged,
        "variance_training": plain.variance,
        "variance_jackknife": jackknife,
        "standard_error": float(np.sqrt(variance)),
        "variance_training_robust": robust,
        "covariance_training": covariance,
        "training_share": share,
        "variance_cap": float(cap),
        "monte_carlo_errors": _monte_carlo_errors(
            variance_of, (robust, covariance), np.stack([fenced.moves_robust, fenced.moves_effect])
        ),
        "n_beyond_fences": n_beyond,
    }


def sampling_variances(cv: Array) -> tuple[float, float]:
    """Sampling variance of one repeat of cross-validation, and of the mean over repeats.

    `cv`, (n_repeats, n_units), are influence values; in the second they are averaged over repeats
    first.
    """
    n_units = cv.shape[1]
    one_repeat = float(cv.var(axis=1, ddof=1).mean() / n_units)
    return one_repeat, float(cv.mean(axis=0).var(ddof=1) / n_units)


def optimism_of(resubstitution: float, centre: float) -> float:
    """Error by cross-validation less that on the rows trained on, at least 0.

    Infinite where the latter is unknown. Half of it caps what training samples may add to a
    standard error (record 0130).
    """
    return np.inf if np.isnan(resubstitution) else max(centre - resubstitution, 0.0)


@lru_cache(maxsize=1)
def _normal_draws(n_used: int) -> Array:
    """Draws of each metric, the same for all: they take longer than what they are used for."""
    return read_only(np.random.default_rng(0).standard_normal((n_used, MONTE_CARLO_DRAWS)))


def _monte_carlo_errors(
    variance_of: Callable[..., Any], parts: tuple[float, ...], moves: Array
) -> tuple[float, float]:
    """Return the relative standard errors of the root of a variance, with more samples as well.

    Its parts are drawn as normal, with the covariance that `moves`, (n_parts, n_used), give their
    means: the variance has kinks, so that four times the samples do not halve its error.
    """
    n_used, variance = moves.shape[1], variance_of(*parts)
    if not (0 < variance < np.inf and np.isfinite(moves).all()):
        return float("nan"), float("nan")
    draws = _normal_draws(n_used)
    shifts = (moves - moves.mean(axis=1, keepdims=True)) @ draws / n_used
    middle = np.array(parts)[:, None]
    now, later = (
        float(np.sqrt(variance_of(*(middle + shifts / root)) / variance).std(ddof=1))
        for root in (1, 2)
    )
    return now, later


# ------------------------------------------------------------------ few events
# Score-type limits for metrics that few rows of one class decide.
#
# A method that finds two of 15 positives on average finds none on some data sets: there bootstrap
# and cross-validation show no spread, and on others too little. Wilson's interval has its width on
# these too. It is carried over to metrics of one class, which are functions of one proportion, and
# to coefficients of agreement, which are functions of two.


FEW_EVENTS = ("set ratio", "matthews", "kappa")
"""Guards of `skboot.method_error.cv_bootstrap` that are made here, with record 0034."""

FEW_DECIDE = (
    "No variation between rows or training samples: score limits from the rows that decide the "
    "metric."
)


def set_ratio_limits(
    position: float, weights: Array, size: float, quantile: float
) -> tuple[float, float]:
    """Wilson limits of precision, recall, F-beta or Jaccard, as an error in [0, 1].

    Parameters
    ----------
    position : float
        The error x, one less the metric.
    weights : ndarray of shape (2,)
        Weights of a miss and of a hit, w and v, in x = w t / (w t + v (1 - t)), where t is the
        share of misses among the rows that count: those of the class (recall), those called so
        (precision), both (F-beta, Jaccard). F1 has (1, 2).
    size : float
        Number of independent rows that count; 0 where none does: the limits are then [0, 1].
    quantile : float
        Of the normal distribution.

    Returns
    -------
    low, high : float
        They contain `position`.
    """
    if size <= 0:
        return 0.0, 1.0
    miss, hit = weights
    share = position * hit / (position * hit + (1 - position) * miss)
    limits = (
        float(miss * limit / (miss * limit + hit * (1 - limit)))
        for limit in score_limits(share, size, quantile)
    )
    low, high = limits
    return low, high


def mover_limits(rates: Array, sizes: Array, quantile: float) -> tuple[float, float]:
    """Interval for the mean of independent proportions from their Wilson limits.

    Method of variance estimates recovery (Newcombe 1998, Stat. Med. 17:873; Zou and Donner 2008,
    Stat. Med. 27:1693). `rates` and `sizes` have shape (n_classes,).
    """
    limits = np.array([score_limits(p, n, quantile) for p, n in zip(rates, sizes, strict=True)])
    centre = float(np.mean(rates))
    below = np.sqrt(np.sum((rates - limits[:, 0]) ** 2)) / len(rates)
    above = np.sqrt(np.sum((limits[:, 1] - rates) ** 2)) / len(rates)
    return max(centre - float(below), 0.0), min(centre + float(above), 1.0)


def agreement_reach(
    coefficient: str, class_errors: Array, class_sizes: Array, shares: Array, quantile: float
) -> tuple[float, float]:
    """Distances of the limits of Matthews' coefficient or kappa of two classes from its estimate.

    Parameters
    ----------
    coefficient : {"matthews", "kappa"}
    class_errors : ndarray of shape (2,)
        Error rates of the classes.
    class_sizes : ndarray of shape (2,)
        Independent rows behind them.
    shares : ndarray of shape (2,)
        Shares of the classes among the rows, taken as fixed.
    quantile : float
        Of the normal distribution.

    Returns
    -------
    below, above : float

    Notes
    -----
    Both coefficients fall with each error rate. Each rate in turn is set to its Wilson limit, and
    the changes of the coefficient are added as squares: method of variance estimates recovery (Zou
    and Donner 2008, Stat. Med. 27:1693), for a function of the rates in place of their sum.
    """
    function = _matthews if coefficient == "matthews" else _kappa
    centre = function(class_errors, shares)
    squares = np.zeros(2)
    for k in range(2):
        limits = score_limits(class_errors[k], class_sizes[k], quantile)
        for side, limit in enumerate(reversed(limits)):
            moved = np.array(class_errors, dtype=float)
            moved[k] = limit
            squares[side] += (function(moved, shares) - centre) ** 2
    below, above = np.sqrt(squares)
    return float(below), float(above)


def _matthews(class_errors: Array, shares: Array) -> float:
    called = _called(class_errors, shares)
    if called <= 0 or called >= 1:
        return 0.0
    odds = shares[0] * shares[1] / (called * (1 - called))
    return float((1 - class_errors.sum()) * np.sqrt(odds))


def _kappa(class_errors: Array, shares: Array) -> float:
    called = _called(class_errors, shares)
    by_chance = shares[1] * (1 - called) + shares[0] * called
    return float(2 * shares[0] * shares[1] * (1 - class_errors.sum()) / by_chance)


def _called(class_errors: Array, shares: Array) -> float:
    """Return the share of rows that are predicted to be of the second class."""
    return float(shares[1] * (1 - class_errors[1]) + shares[0] * class_errors[0])


# ------------------------------------------------------------------ intervals

Bounds = tuple[float, float]

CV_INTERVALS = ("cv-bootstrap", "cv-bootstrap-conservative")
"""Intervals with the cross-validated centre: by the smaller and by the larger standard error."""


@dataclass(frozen=True, eq=False)
class CVBootstrap:
    """Centre, standard error and interval of the "cv-bootstrap" strategy; made by `cv_bootstrap`.

    Attributes
    ----------
    centre : float
        Cross-validated error.
    standard_error : float
        Of the "cv-bootstrap" interval: square root of ``variance_cv + training_share *
        variance_training_robust + sqrt(training_share) * max(covariance_training, 0)``, at most
        `variance_cap` and at least `variance_cv_averaged`.
    standard_error_conservative : float
        Of the "cv-bootstrap-conservative" interval: square root of the largest of
        `variance_jackknife`, `variance_cv + variance_training`, and the variance of "cv-bootstrap".
    variance_cv : float
        Test-sampling variance of one cross-validation, averaged over repeats.
    variance_cv_averaged : float
        The same from influence values averaged over repeats first.
    variance_training : float
        Variance between training samples, the sampling of the out-of-bag rows removed.
    variance_jackknife : float
        Infinitesimal jackknife of both together, Monte Carlo noise removed; NaN when left out.
    variance_training_robust : float
        As `variance_training`, from the interquartile range of scores moved within their fences.
    covariance_training : float
        Twice the covariance of what a unit does as a test unit and through training.
    training_share : float
        Share of the training variance of a bootstrap sample, which has 63.2% of the distinct
        units, that is left at the full size.
    variance_cap : float
        Largest variance of "cv-bootstrap": square of the root of `variance_cv` and half of what
        `centre` is above the error on the rows trained on; infinite where that is unknown.
    n_beyond_fences : int
        Scores that were moved.
    degrees_of_freedom : float
        Of the t quantile: n_effective - 1, and fewer for skewed losses without an upper bound.
    bounds : tuple of float
        Smallest and largest possible value of the metric; infinite where there is none.
    n_units, n_rows, n_effective, n_resamples, n_repeats : int
        Units drawn, rows, the number that decides the degrees of freedom and the clip of the logit
        scale (the smaller class for AUC and balanced error), resamples used,
        repeats.
    guard : {None, "proportion", "balanced", "set ratio", "matthews", "kappa"}
        Score-type interval that the interval always contains.
    class_errors, class_sizes, guard_weights : ndarray
        Numbers that the guard is made of, as in `cv_bootstrap`; empty without one.
    notes : tuple of str
    cautions : tuple of str
        Those of the notes that make the interval unreliable.
    conservative_cautions : tuple of str
        Further ones of the "cv-bootstrap-conservative" interval alone.
    monte_carlo_errors : tuple of float
        Relative standard error of `standard_error` that is due to the number of resamples, and what
        it would be with four times as many; NaN where it is unknown.
    """

    centre: float
    standard_error: float
    standard_error_conservative: float
    variance_cv: float
    variance_cv_averaged: float
    variance_training: float
    variance_jackknife: float
    variance_training_robust: float
    covariance_training: float
    training_share: float
    variance_cap: float
    n_beyond_fences: int
    degrees_of_freedom: float
    bounds: Bounds
    n_units: int
    n_rows: int
    n_effective: int
    n_resamples: int
    n_repeats: int
    guard: str | None
    class_errors: Array
    class_sizes: Array
    guard_weights: Array
    notes: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    conservative_cautions: tuple[str, ...] = ()
    monte_carlo_errors: tuple[float, float] = (float("nan"), float("nan"))

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)

    def interval(
        self, confidence_level: float = 0.95, method: str = "cv-bootstrap"
    ) -> ConfidenceInterval:
        """Interval for the expected error of the method at this sample size.

        See `interval_with_notes`, which adds the cautions.
        """
        return self.interval_with_notes(confidence_level, method).interval

    def interval_with_notes(
        self, confidence_level: float = 0.95, method: str = "cv-bootstrap"
    ) -> IntervalWithNotes:
        """Interval for the expected error of the method, with its notes.

        A t interval on the logit scale (two finite bounds), the log scale (one) or as it is (none),
        widened to contain the guard. With no variation at all it is the exact interval for no
        event.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"cv-bootstrap", "cv-bootstrap-conservative"}
            Which of the two standard errors is used.
        """
        tail = (1 - confidence_level) / 2
        error = self.standard_error_of(method)
        cautions, notes = self.cautions, self.notes
        if method == "cv-bootstrap-conservative":
            cautions += self.conservative_cautions
            notes += self.conservative_cautions
        guard = self._guard_limits(float(ndtri(1 - tail)))
        if error <= 1e-12 * abs(self.centre):
            low, high, why = self._limits_without_spread(tail)
            # These limits count units. Fewer rows may decide the metric: none does where no row is
            # called positive.
            wide = guard if guard is not None and self.guard in FEW_EVENTS else (low, high)
            if wide[0] < low or wide[1] > high:
                low, high, why = min(low, wide[0]), max(high, wide[1]), (FEW_DECIDE,)
            interval = ConfidenceInterval(low, high, confidence_level, method)
            return with_texts(interval, notes + why, cautions)
        quantile = float(stdtrit(self.degrees_of_freedom, 1 - tail))
        limits = limits_on_scale(self.centre, error, quantile, self.bounds, self.n_effective)
        low, high = limits
        if guard is not None:
            low, high = min(low, guard[0]), max(high, guard[1])
        # Where both limits are those of the guard, no training sample makes them wide.
        if self.is_unstable(method) and (
            guard is None or limits[0] < guard[0] or limits[1] > guard[1]
        ):
            notes = (*notes, self._why_wide(method))
        interval = ConfidenceInterval(low, high, confidence_level, method)
        return with_texts(interval, notes, cautions)

    def standard_error_of(self, method: str) -> float:
        """Return the standard error that an interval is made of."""
        if method == "cv-bootstrap-conservative":
            return self.standard_error_conservative
        return self.standard_error

    def half_width_errors(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """Monte Carlo error of half the width of the "cv-bootstrap" interval, relative to it.

        With these bootstrap samples, and with four times as many. To first order, and of the
        samples alone: other folds of cross-validation move the interval too.
        """
        now, later = self.monte_carlo_errors
        level = confidence_level
        return self._half_width_error(now, level), self._half_width_error(later, level)

    def _half_width_error(self, error: float, confidence_level: float) -> float:
        """Return how far half the width moves with the standard error, both relative."""
        less, width, more = (
            np.ptp(replace(self, standard_error=float(moved)).interval(confidence_level))
            for moved in self.standard_error * np.maximum(1 + error * np.array((-1, 0, 1)), 0)
        )
        if not np.isfinite(more):
            return float("nan")
        return float((more - less) / (2 * width)) if width > 0 else 0.0

    def is_unstable(self, method: str = "cv-bootstrap") -> bool:
        """Return whether an interval is wide because of the variance between training samples."""
        return self.standard_error_of(method) ** 2 > UNSTABLE_RATIO * self.variance_cv

    def _why_wide(self, method: str) -> str:
        """Return a sentence on the share of the variance that is due to the training samples."""
        share = 100 * (1 - self.variance_cv / self.standard_error_of(method) ** 2)
        moved = ""
        if self.variance_cv > 0:
            times = np.sqrt(self.variance_training_robust / self.variance_cv)
            moved = f"they move the error {times:.1f} times as far as the test units do, "
        note = (
            f"The interval is wide because the bootstrap samples are unstable: {share:.0f}% of its "
            f"variance is due to them. They hold 63.2% of the distinct units, {moved}and "
            f"{self.n_beyond_fences} of {self.n_resamples} give outliers; on all units the method "
            "may be steadier. "
        )
        if method == "cv-bootstrap-conservative":
            return note + "They count in full here; 'cv-bootstrap' counts what is left of them."
        return note + "More rows, fewer columns or stronger regularisation narrow it."

    def _limits_without_spread(self, tail: float) -> tuple[float, float, tuple[str, ...]]:
        """Return the limits, and a note, where neither rows nor training samples vary."""
        lo, hi = self.bounds
        if not (np.isfinite(lo) and np.isfinite(hi)):
            note = "No variation between rows or training samples: the interval has no width."
            return self.centre, self.centre, (note,)
        n = min(self.n_units, self.n_effective)
        exact = 1 - tail ** (1 / n)
        note = f"No variation between rows or training samples: limits from {n} independent units."
        if self.centre <= lo:
            return lo, lo + (hi - lo) * exact, (note,)
        if self.centre >= hi:
            return hi - (hi - lo) * exact, hi, (note,)
        # A constant prediction has balanced error 1/2 without spread, which is not "no event".
        low, high = score_limits((self.centre - lo) / (hi - lo), n, float(ndtri(1 - tail)))
        return lo + (hi - lo) * low, lo + (hi - lo) * high, (note,)

    def _guard_limits(self, z: float) -> tuple[float, float] | None:
        """Return the score-type limits that the interval must contain; None without a guard."""
        if self.guard is None:
            return None
        lo, hi = self.bounds
        rates, sizes, weights = self.class_errors, self.class_sizes, self.guard_weights
        if self.guard in ("matthews", "kappa"):
            # The coefficient falls as the error rises.
            below, above = agreement_reach(self.guard, rates, sizes, weights, z)
            return max(self.centre - above, lo), min(self.centre + below, hi)
        share = (self.centre - lo) / (hi - lo)
        if self.guard == "balanced":
            low, high = mover_limits(rates, sizes, z)
        elif self.guard == "set ratio":
            low, high = set_ratio_limits(share, weights, sizes[0], z)
        else:
            spread = self.variance_cv / (hi - lo) ** 2
            n = share * (1 - share) / spread if spread > 0 else self.n_units
            low, high = score_limits(share, min(max(n, self.n_units), self.n_rows), z)
        return lo + (hi - lo) * low, lo + (hi - lo) * high


def cv_bootstrap(
    centre: float,
    cv_influence: ArrayLike,
    counts: ArrayLike,
    oob_scores: ArrayLike,
    oob_influence: ArrayLike | Reader,
    *,
    bounds: Bounds = (0.0, 1.0),
    n_rows: int | None = None,
    n_effective: int | None = None,
    guard: str | None = None,
    class_errors: ArrayLike = (),
    class_sizes: ArrayLike = (),
    guard_weights: ArrayLike = (),
    resubstitution: float = np.nan,
    pooled: bool = False,
    seed_variance: float = 0.0,
    notes: tuple[str, ...] = (),
) -> CVBootstrap:
    """Standard error of a cross-validated error from bootstrap training samples.

    Parameters
    ----------
    centre : float
        The cross-validated error c: mean over all folds and repeats of the fold's metric.
    cv_influence : array-like of shape (n_repeats, n_units)
        Influence values of the out-of-fold metric, per repeat.
    counts : array-like of shape (n_resamples, n_units)
        How often each unit was drawn into training sample b.
    oob_scores : array-like of shape (n_resamples,)
        Metric of model b on its out-of-bag rows; NaN where undefined (such resamples are left out).
    oob_influence : array-like of shape (n_resamples, n_units), or callable
        Influence values of that metric over the out-of-bag units; in-bag entries are ignored. A
        callable is given a slice of columns and returns those columns, so that the array never
        exists as a whole.
    bounds : tuple of float
        Smallest and largest possible value of the metric, infinite where there is none.
    n_rows : int, optional
        Rows behind the units; `n_units` by default.
    n_effective : int, optional
        Number behind the degrees of freedom and the clip; `n_units` by default. The smaller class
        for AUC and balanced error.
    guard : {None, "proportion", "balanced", "set ratio", "matthews", "kappa"}
        "proportion" for the mean of 0/1 losses: never inside Wilson's. "balanced" for the mean of
        class error rates: never inside the MOVER-Wilson interval of `class_errors` and
        `class_sizes`. "set ratio" for one less precision, recall, F-beta or Jaccard, "matthews" and
        "kappa" for minus these of two classes: `skboot.method_error.cv_bootstrap`.
    class_errors, class_sizes : array-like of shape (n_classes,)
        Of "set ratio" one size, that of the rows that count, and no error.
    guard_weights : array-like of shape (2,)
        "set ratio": weights of a miss and of a hit. "matthews", "kappa": shares of the classes.
    resubstitution : float, default=nan
        Error of the model of all rows on all rows; NaN where it is unknown.
    pooled : bool, default=False
        Whether `centre` is the metric of all out-of-fold answers of a repeat together although the
        out-of-bag scores are biased on few rows, so that the two do not lie on a learning curve.
    seed_variance : float, default=0
        Variance of an out-of-bag score that is due to the seeds of its runs, which the expectation
        over seeds does not have; 0 where it is unknown.
    notes : tuple of str
        Sentences on the centre for the reader of a summary.

    Returns
    -------
    CVBootstrap

    Notes
    -----
    With r_b the out-of-bag score less its mean and less the mean influence of the units that
    happened to be out-of-bag, T_i = Cov_b(N_i, r_b) is the effect of unit i through training. The
    conservative variance is the largest of the infinitesimal jackknife sum_i (IF_i / n + T_i)^2
    less its Monte Carlo noise, test-sampling plus training variance, and the variance below. The
    infinitesimal jackknife of bagged quantities is from Efron (2014, JASA 109:991), its Monte Carlo
    noise from Wager, Hastie and Efron (2014, JMLR 15:1625). The infinitesimal jackknife needs about
    8 sqrt(n_units) resamples and is left out below 4 sqrt(n_units).

    A bootstrap sample holds 63.2% of the distinct units, so that its training variance overstates
    that at the full size: without limit where the method needs about as many. The variance of
    "cv-bootstrap" is max(V_fl, min((sqrt(V1) + (c - r)/2)^2, V1 + lam s_rob^2 + sqrt(lam)
    max(C, 0))). (1) Out-of-bag scores beyond the fences of a box plot are moved to the fence, and
    their influence values by the same factor; (2) s_rob^2 is the training variance by the
    interquartile range of these; (3) of it the share lam = ((c - mid) / (M - mid))^2 is kept, with
    c the centre, M the median of the out-of-bag scores, mid half way from the resubstitution error
    r to c: how far the learning curve still falls between the two sizes; (4) V1 is the
    test-sampling variance of one repeat, V_fl that of influence values averaged over repeats, which
    is the least that the variance may be; (5) C = (2 / n) sum_i IF_i T_i, the covariance of testing
    and training; (6) training samples of this size cannot move the error further than half of what
    models gain on their own rows, c - r: 0 where c is below r, without a cap where r is unknown.

    The variance of m values of kurtosis k is worth 2 m / (k - 1) degrees of freedom (its own
    variance is that of a chi-square with as many). Losses without an upper bound get no more, at
    least 6; others n_effective - 1.

    The decision record 0130 holds the measurements of the variance, 0043 those of the degrees of
    freedom; their rules were written before.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot.method_error.cv_bootstrap import cv_bootstrap
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.multinomial(40, np.full(40, 1 / 40), size=100)
    >>> losses = (rng.random((100, 40)) < 0.25).astype(float)
    >>> outside = np.where(counts == 0, losses, np.nan)
    >>> scores = np.nanmean(outside, axis=1)
    >>> cv_losses = (rng.random((5, 40)) < 0.25).astype(float)
    >>> result = cv_bootstrap(
    ...     cv_losses.mean(), cv_losses - cv_losses.mean(axis=1, keepdims=True),
    ...     counts, scores, outside - scores[:, None], guard="proportion")
    >>> low, high = result.interval(0.95)
    >>> bool(low < cv_losses.mean() < high)
    True
    """
    cv = np.atleast_2d(np.asarray(cv_influence, dtype=float))
    scores, counts = np.asarray(oob_scores, dtype=float), np.asarray(counts)
    n_units, lines = counts.shape[1], np.flatnonzero(np.isfinite(scores))
    share = 1.0
    if not pooled and np.isfinite(resubstitution):
        median = quartiles(scores[lines])[1]
        share = share_of_training(resubstitution, float(centre), median)
    optimism = optimism_of(resubstitution, float(centre))
    variances = cv_variances(cv, counts, scores, oob_influence, share, seed_variance, optimism)
    n_effective = n_units if n_effective is None else int(n_effective)
    cautions = _cautions(cv, len(lines), bounds)
    needed = int(np.ceil(JACKKNIFE_RESAMPLES * np.sqrt(n_units)))
    too_few = (
        f"{len(lines)} resamples are too few for the infinitesimal jackknife on {n_units} units, "
        f"which is left out; use at least {needed}, better {2 * needed}."
    )
    left_out: tuple[str, ...] = ()
    if len(lines) < len(scores):
        n_left_out = len(scores) - len(lines)
        left_out = (
            f"{n_left_out} of {len(scores)} resamples have no defined out-of-bag score and are "
            "left out.",
        )
    return CVBootstrap(
        centre=float(centre),
        **variances,
        bounds=(float(bounds[0]), float(bounds[1])),
        n_units=n_units,
        n_rows=n_units if n_rows is None else int(n_rows),
        n_effective=n_effective,
        degrees_of_freedom=_degrees_of_freedom(cv.mean(axis=0), n_effective - 1, bounds),
        n_resamples=len(lines),
        n_repeats=len(cv),
        guard=guard,
        class_errors=read_only(np.asarray(class_errors, dtype=float)),
        class_sizes=read_only(np.asarray(class_sizes, dtype=float)),
        guard_weights=read_only(np.asarray(guard_weights, dtype=float)),
        notes=notes + left_out + cautions,
        cautions=cautions,
        conservative_cautions=(too_few,) if len(lines) < needed else (),
    )


def share_of_training(resubstitution: float, centre: float, left_out: float) -> float:
    """Share of the training variance of bootstrap samples that models of all rows have.

    Parameters
    ----------
    resubstitution : float
        Error on the rows trained on; NaN if unknown.
    centre : float
        Error by cross-validation.
    left_out : float
        Median error of models of bootstrap samples on the rows that these left out.

    Returns
    -------
    float
        In [0, 1]. A bootstrap sample holds .632 of the distinct rows. Where the error falls fast
        from that size to this one, it is far above `centre`, and so is its spread; where it does
        not fall, the share is 1. With m halfway between resubstitution and `centre`, the share is
        ((centre - m) / (left_out - m))^2.
    """
    if np.isnan(resubstitution):
        return 1.0
    if centre <= resubstitution:
        return 0.0
    middle = (resubstitution + centre) / 2
    if left_out <= max(middle, centre):
        return 1.0
    return float(((centre - middle) / (left_out - middle)) ** 2)


def auc_error_influence(positive: ArrayLike, y_score: ArrayLike) -> tuple[float, Array]:
    """1 - AUC and its influence values, in O(n log n); NaN when a class is absent.

    Parameters
    ----------
    positive : array-like of shape (n,)
        True for the rows of the positive class.
    y_score : array-like of shape (n,)

    Returns
    -------
    value : float
    influence : ndarray of shape (n,)
        Minus the placement values of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44:837),
        less the AUC, times n / n_class.
    """
    is_positive = np.asarray(positive, dtype=bool)
    scores = np.asarray(y_score, dtype=float)
    high, low = np.sort(scores[is_positive]), np.sort(scores[~is_positive])
    if len(high) == 0 or len(low) == 0:
        return float("nan"), np.full(len(scores), np.nan)
    placement = np.empty(len(scores))
    placement[is_positive] = _share_below(low, scores[is_positive])
    placement[~is_positive] = 1 - _share_below(high, scores[~is_positive])
    auc = float(placement[is_positive].mean())
    class_size = np.where(is_positive, len(high), len(low))
    return 1 - auc, -(placement - auc) * len(scores) / class_size


def group_influence(influence: ArrayLike, codes: ArrayLike, n_groups: int) -> Array:
    """Influence values of whole groups from those of their rows.

    Parameters
    ----------
    influence : array-like of shape (..., n_rows)
        Row influences; for an out-of-bag set, give only its rows.
    codes : array-like of shape (n_rows,)
        Group number, 0 to n_groups - 1, of each row.
    n_groups : int

    Returns
    -------
    ndarray of shape (..., n_groups)
        Sum over the group's rows times (groups present) / n_rows; 0 for a group without rows. First
        order only: for rank metrics with few groups, leave one group out instead.
    """
    values = np.asarray(influence, dtype=float)
    groups = np.asarray(codes)
    flat = values.reshape(-1, values.shape[-1])
    sums = np.stack([np.bincount(groups, weights=line, minlength=n_groups) for line in flat])
    present = np.count_nonzero(np.bincount(groups, minlength=n_groups))
    return (sums * (present / values.shape[-1])).reshape(*values.shape[:-1], n_groups)


def limits_on_scale(
    point: float, standard_error: float, quantile: float, bounds: Bounds, n_effective: int
) -> tuple[float, float]:
    """`point` -/+ `quantile` standard errors on the scale that the bounds of the metric ask for.

    Two finite bounds: logit of the position between them, clipped to [.5 / n, 1 - .5 / n]; a
    clipped point takes its bound as limit. One finite bound: log of the distance to it. None: as it
    is.

    On the logit scale the limit farther from a bound falls as the point comes nearer to it, and
    then rises again up to the other bound, since a standard error there is many logits wide. From
    the turn on the smallest value stands, 2.7 half-widths from the bound: the same standard error
    and a better point give no worse limit (record 0072).
    """
    lo, hi = bounds
    half = quantile * standard_error
    if np.isfinite(lo) and np.isfinite(hi):
        span, edge = hi - lo, 0.5 / n_effective
        share, reach = (point - lo) / span, half / span
        low = 1 - _farther_limit(1 - share, reach, edge)
        high = _farther_limit(share, reach, edge)
        return lo + span * low, lo + span * high
    if np.isfinite(lo):
        return _log_limits(point - lo, half, lo)
    if np.isfinite(hi):
        nearest, farthest = _log_limits(hi - point, half, 0.0)
        return hi - farthest, hi - nearest
    return point - half, point + half


def _degrees_of_freedom(influence: Array, most: float, bounds: Bounds) -> float:
    """Return what a variance of losses of this kurtosis is worth; `most` between finite bounds."""
    gaps = influence - influence.mean()
    spread = float(np.mean(gaps**2))
    if np.isfinite(bounds).all() or not (np.isfinite(spread) and spread > 0):
        return float(most)
    # Scaled first: fourth powers of large losses may be infinite.
    kurtosis = float(np.mean((gaps / np.sqrt(spread)) ** 4))
    worth = 2 * len(gaps) / (kurtosis - 1) if kurtosis > 1 else np.inf
    return float(min(most, max(worth, LEAST_DF)))


def _cautions(cv: Array, n_used: int, bounds: Bounds) -> tuple[str, ...]:
    """Return what makes both intervals unreliable: few resamples, heavy-tailed losses."""
    cautions = []
    if n_used < FEW_RESAMPLES:
        cautions.append(
            f"{n_used} resamples are too few for a stable standard error; use 80 or more."
        )
    squares = cv.mean(axis=0) ** 2
    unbounded = not (np.isfinite(bounds[0]) and np.isfinite(bounds[1]))
    if unbounded and squares.max() > HEAVY_TAIL_SHARE * squares.sum() > 0:
        cautions.append(
            "One unit carries more than half of the variance: the losses are heavy-tailed, and the "
            "interval may cover less than stated (88% was measured at 95%)."
        )
    return tuple(cautions)


def _share_below(sorted_values: Array, queries: Array) -> Array:
    """Return the share of `sorted_values` below each query, ties half."""
    below = np.searchsorted(sorted_values, queries, side="left")
    right = np.searchsorted(sorted_values, queries, side="right")
    return (below + right) / (2 * len(sorted_values))


def _farther_limit(share: float, half: float, edge: float) -> float:
    """Return the upper limit of a share on the logit scale; 1 within the edge below 1."""
    if share >= 1 - edge:
        return 1.0
    # The root of share * (1 - share) = half * (1 - 2 * share), where the limit is smallest.
    turn = 2 * half / (1 + 2 * half + np.hypot(1, 2 * half))
    clipped = max(share, edge, float(turn))
    return float(expit(logit(clipped) + half / (clipped * (1 - clipped))))


def _log_limits(distance: float, half: float, bound: float) -> tuple[float, float]:
    """Return limits that are symmetric on the log scale of the distance to a bound."""
    if distance <= 0:
        return bound, bound + half
    with np.errstate(over="ignore"):
        factor = float(np.exp(half / distance))
    return bound + distance / factor, bound + distance * factor


def with_texts(
    interval: ConfidenceInterval, texts: Iterable[str], cautions: Iterable[str] = ()
) -> IntervalWithNotes:
    """Return the interval with these sentences as its notes, those of ``cautions`` as such."""
    unreliable = set(cautions)
    notes = (Note("caution" if text in unreliable else "advice", text) for text in texts)
    return IntervalWithNotes(interval, tuple(notes))


# ------------------------------------------------------------------ roots
# The square root of a mean of losses, whose spread is that of the mean to first order.
#
# The mean is where rows and training samples add up, so that variances are taken there. A root has
# half the relative standard error of its mean, and the interval on the log scale, which errors
# without an upper bound get, is the root of the interval of the mean.


_VARIANCES = (
    "variance_cv",
    "variance_cv_averaged",
    "variance_training",
    "variance_jackknife",
    "variance_training_robust",
    "covariance_training",
    "variance_cap",
)


def square_root(error: Any) -> Any:
    """Square root of errors; of negative ones, which are minus a mean, minus that of the mean."""
    return np.sign(error) * np.sqrt(np.abs(error))


def slope_of_root(error: float) -> float:
    """Derivative of the square root of an error; 0 at 0, where no row or training sample errs."""
    return float(0.5 / np.sqrt(abs(error))) if error else 0.0


def root_of_cv(cv: CVBootstrap, centre: float) -> CVBootstrap:
    """The parts of the "cv-bootstrap" interval of the square root of a mean.

    Parameters
    ----------
    cv : CVBootstrap
        Of the mean.
    centre : float
        Mean over repeats of the root, about the root of ``cv.centre``.

    Returns
    -------
    CVBootstrap
    """
    # From the mean of the roots, so that the relative standard error is half that of the mean.
    slope = 0.5 * centre / cv.centre if cv.centre else 0.0
    return replace(
        cv,
        centre=centre,
        standard_error=slope * cv.standard_error,
        standard_error_conservative=slope * cv.standard_error_conservative,
        guard=None,
        **{name: slope**2 * getattr(cv, name) for name in _VARIANCES},
    )


# ------------------------------------------------------------------ differences
# Difference of two methods at this training-set size, from one data set.
#
# Both were trained on the same bootstrap samples and the same folds. Repeated cross-validation
# gives the centre, at (almost) this sample size; bootstrap samples give the spread. Errors, and
# their difference, are in loss direction; units are rows, or whole groups of rows.

Floats = NDArray[np.float64]


class MethodsDifference(NamedTuple):
    """Difference of two methods, with its standard error and degrees of freedom.

    Attributes
    ----------
    difference : float
        Of scores, first less second; NaN if undefined.
    standard_error : float
        NaN if undefined; 0 where no loss differs between the two methods, or all differ alike.
    degrees_of_freedom : float
        Of the t interval.
    n_units : int
        Rows or groups that were drawn from.
    span : float or None
        Largest difference of two losses where every loss is one of two values, such as 1 for right
        and wrong; None otherwise.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    n_units: int = 0
    span: float | None = None

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Limits of the t interval, or of Tango's where nothing varies; NaN without either.

        Tango's score interval of n pairs (1998, Statistics in Medicine 17:891) has the limits
        -/+ z^2 / (n + z^2) where no pair differs, and (n - z^2) / (n + z^2) and 1 where all do.
        """
        tail = 0.5 + confidence_level / 2
        if self.standard_error != 0:
            half = float(special.stdtrit(self.degrees_of_freedom, tail)) * self.standard_error
            return self.difference - half, self.difference + half
        if self.span is None:
            return np.nan, np.nan
        square = float(special.ndtri(tail)) ** 2
        half = (self.span + abs(self.difference)) * square / (self.n_units + square)
        low, high = self.difference - half, self.difference + half
        return max(low, -self.span), min(high, self.span)

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one, or no difference."""
        if self.standard_error == 0 and self.span is None:
            return (
                "the difference varies neither over rows nor over training samples, so the data "
                "do not show how far it may be from 0 on others"
            )
        return ""

    @property
    def p_value(self) -> float:
        """Two-sided: the smallest 1 - level whose interval leaves out 0; 1 for a difference of 0
        without any spread, and NaN where there is no interval.
        """
        if self.standard_error != 0:
            t = abs(self.difference) / self.standard_error
            return float(2 * special.stdtr(self.degrees_of_freedom, -t))
        if self.difference == 0:
            return 1.0
        if self.span is None:
            return np.nan
        return float(2 * special.ndtr(-np.sqrt(self.n_units * abs(self.difference) / self.span)))


def cross_validated_variance(
    influence: Floats,
    counts: NDArray[np.integer],
    scores: Floats,
    oob_influence: Floats,
    *,
    left_out: float,
    share: float,
    optimism: float,
) -> float:
    """Variance of the difference of two cross-validated errors.

    Parameters
    ----------
    influence : ndarray of shape (n_repeats, n_units)
        On the out-of-fold difference, by repeat.
    counts : ndarray of shape (n_resamples, n_units)
        How often each unit is in each bootstrap sample.
    scores : ndarray of shape (n_resamples,)
        Difference of the errors on the units that each sample left out.
    oob_influence : ndarray of shape (n_resamples, n_units)
        Of the units left out, on that difference.
    left_out : float
        Variance of the out-of-bag difference, from the same samples.
    share : float
        The larger `share_of_training` of the two methods.
    optimism : float
        Sum of the `optimism_of` the two methods; infinite where one of them is unknown.

    Returns
    -------
    float
        ``max(V_fl, min((sqrt(V1) + optimism / 2)^2, left_out + share max(V_IJ - left_out, 0)))``:
        V1 the sampling variance of the out-of-fold differences of one repeat, V_fl of these
        averaged over repeats, V_IJ the infinitesimal jackknife of sampling and training together
        (`cv_bootstrap`). With fewer than 4 sqrt(n_units) samples there is no jackknife, and it is
        left out.

    Notes
    -----
    The jackknife is needed where single models vary much, as nearest neighbours do: the out-of-bag
    loss of a row is a mean over some .37 n_resamples models and its out-of-fold loss one over a
    few, so that the cross-validated difference varies more than the out-of-bag one. For smooth
    learners it is too large, and near as many columns as rows without limit: training samples of
    this size cannot move an error further than half of what models gain on their own rows. The
    decision records 0035 and 0131 hold the measurements.
    """
    test, averaged = sampling_variances(influence)
    total = left_out
    if len(scores) >= JACKKNIFE_RESAMPLES * np.sqrt(counts.shape[1]):
        mean_influence = influence.mean(axis=0)
        spread = training_spread(mean_influence, counts, scores, columns_of(oob_influence))
        more = spread.jackknife - left_out
        total += share * more if more > 0 else 0.0
    return max(averaged, min(float((np.sqrt(test) + optimism / 2) ** 2), total))
