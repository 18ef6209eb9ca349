"""The forms of the "cv-bootstrap" interval before record 0043, and what the study of fits needs.

`former` takes the arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap`.
"""

from dataclasses import replace

import numpy as np

from skboot.method_error.cv_bootstrap import cv_bootstrap
from skboot.method_error.out_of_bag import columns_of, training_spread, within_fences


def former(centre, cv_influence, counts, oob_scores, oob_influence, **options):
    """`CVBootstrap` of record 0034: another standard error, n_effective - 1 degrees of freedom.

    The test part is that of one cross-validation, the covariance that by counts for all metrics.
    """
    found = cv_bootstrap(centre, cv_influence, counts, oob_scores, oob_influence, **options)
    total = found.variance_cv + found.training_share * found.variance_training_robust
    total = min(found.variance_cap, total + max(found.covariance_training, 0.0))
    error = np.sqrt(max(found.variance_cv_averaged, total))
    df = float(found.n_effective - 1)
    return replace(found, standard_error=float(error), degrees_of_freedom=df)


def residuals(influence, counts, scores, oob_influence):
    """r_b of scores within their fences, and the counts of the samples that have a score."""
    lines = np.flatnonzero(np.isfinite(scores))
    used, read = counts[lines], columns_of(oob_influence)
    moved, factors = within_fences(scores[lines])
    spread = training_spread(influence, used, moved, lambda own: read(own)[lines], factors)
    return spread.residual, used


def presence_variance(influence, counts, residual):
    """Monte Carlo variance of the covariance by the presence of units."""
    n_each = sum(1 / np.maximum((counts == times).sum(axis=0), 1) for times in (0, 1))
    return float(4 * np.sum(influence**2 * n_each) * residual.var() / len(influence) ** 2)
