"""Forms of the "cv-bootstrap" interval that were tried; `leave_out` went into the second study.

Each takes the arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap`.
"""

from dataclasses import replace

import numpy as np

from skboot.method_error._columns import columns_of
from skboot.method_error.cv_bootstrap import cv_bootstrap
from skboot.method_error.training_spread import training_spread, within_fences

LEAST_DF = 6


def leave_out(centre, cv_influence, counts, scores, oob_influence, **options):
    """`CVBootstrap` with other standard error and degrees of freedom.

    The variance is max(V_fl, min(cap, V_fl + lambda s_rob^2 + max(C, 0))) in the words of
    `cv_bootstrap`: the test part is that of the influence values averaged over repeats, and between
    two finite bounds C is at most the covariance by leaving out, 2/n sum_i IF_i (mean r_b with unit
    i once - mean r_b without it). A sample that holds a unit twice says little of what its absence
    does.

    Losses without an upper bound have at least `LEAST_DF`, at most n - 1, and otherwise
    2n / (kurtosis - 1) degrees of freedom: as many as a variance of their kurtosis is worth.
    """
    found = cv_bootstrap(centre, cv_influence, counts, scores, oob_influence, **options)
    influence = np.atleast_2d(cv_influence).mean(axis=0)
    covariance, df = found.covariance_training, found.n_effective - 1
    if np.isfinite(found.bounds).all():
        residual, used = residuals(influence, counts, scores, oob_influence)
        covariance = min(covariance, leaving_out(influence, used, residual))
    else:
        gaps = influence - influence.mean()
        spread = np.mean(gaps**2)
        if spread > 0:
            kurtosis = np.mean(gaps**4) / spread**2
            df = min(df, max(LEAST_DF, 2 * len(gaps) / (kurtosis - 1)))
    total = found.variance_cv_averaged + found.training_share * found.variance_training_robust
    total = min(found.variance_cap, total + max(covariance, 0.0))
    error = np.sqrt(max(found.variance_cv_averaged, total))
    return replace(found, standard_error=float(error), n_effective=df + 1)


def residuals(influence, counts, scores, oob_influence):
    """r_b of scores within their fences, and the counts of the samples that have a score."""
    lines = np.flatnonzero(np.isfinite(scores))
    used, read = counts[lines], columns_of(oob_influence)
    moved, factors = within_fences(scores[lines])
    spread = training_spread(influence, used, moved, lambda own: read(own)[lines], factors)
    return spread.residual, used


def leaving_out(influence, counts, residual):
    """Twice the covariance of a unit as a test unit with what its absence does through training."""
    difference = np.zeros(len(influence))
    means = []
    for times in (0, 1):
        own = counts == times
        means.append((own.sum(axis=0), residual @ own))
    (without, sums_without), (once, sums_once) = means
    known = (without > 0) & (once > 0)
    difference[known] = sums_once[known] / once[known] - sums_without[known] / without[known]
    return float(2 * influence @ difference / len(influence))


def leaving_out_variance(influence, counts, residual):
    """Monte Carlo variance of `leaving_out`."""
    n_each = sum(1 / np.maximum((counts == times).sum(axis=0), 1) for times in (0, 1))
    return float(4 * np.sum(influence**2 * n_each) * residual.var() / len(influence) ** 2)
