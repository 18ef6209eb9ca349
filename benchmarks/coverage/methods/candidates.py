"""Forms of the "cv-bootstrap" interval of before, and what the study of fits needs.

`form_of_0043` and `former` take the arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap`.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from skboot.method_error.cv_bootstrap import CVBootstrap, cv_bootstrap
from skboot.method_error.out_of_bag import columns_of, training_spread, within_fences

LEAST_TRAINING_SHARE = 0.15
"""Of records 0034 and 0043: least share of the training variance of bootstrap samples."""


@dataclass(frozen=True, eq=False)
class Bootstrap0043(CVBootstrap):
    """What `cv_bootstrap` gave from record 0043 to record 0130; O13 in the study of forms."""

    covariance_presence: float = np.nan


def form_of_0043(centre, cv_influence, counts, oob_scores, oob_influence, **options):
    """`Bootstrap0043`: a least share, the smaller covariance between two bounds, the jackknife."""
    found = cv_bootstrap(centre, cv_influence, counts, oob_scores, oob_influence, **options)
    lines, cv = np.flatnonzero(np.isfinite(oob_scores)), np.atleast_2d(cv_influence)
    used, read, influence = counts[lines], columns_of(oob_influence), cv.mean(axis=0)
    moved, factors = within_fences(np.asarray(oob_scores)[lines])
    spread = training_spread(
        influence,
        used,
        moved,
        lambda own: read(own)[lines],
        factors,
        options.get("seed_variance", 0.0),
    )
    averaged = found.variance_cv_averaged
    cap = max(averaged, found.variance_cv + spread.variance)
    if not np.isnan(found.variance_jackknife) and np.isfinite(spread.jackknife):
        cap = max(cap, spread.jackknife)
    by_presence = float(2 * influence @ presence(used, spread.residual) / found.n_units)
    covariance = found.covariance_training
    if np.isfinite(found.bounds).all():
        covariance = min(covariance, by_presence)
    share = max(found.training_share, LEAST_TRAINING_SHARE)
    total = averaged + share * found.variance_training_robust + max(covariance, 0.0)
    return Bootstrap0043(
        **{field.name: getattr(found, field.name) for field in fields(found)}
        | {
            "standard_error": float(np.sqrt(max(min(cap, total), averaged))),
            "training_share": share,
            "variance_cap": cap,
            "covariance_presence": by_presence,
            "monte_carlo_errors": (np.nan, np.nan),
        }
    )


def presence(counts, residual):
    """P_i: mean residual of samples with a unit once, less that of samples without it."""
    has_times = [(counts == times).astype(float) for times in (0, 1)]
    sizes = [lines.sum(axis=0) for lines in has_times]
    without, once = (
        residual @ lines / np.maximum(size, 1) for lines, size in zip(has_times, sizes, strict=True)
    )
    return np.where((sizes[0] > 0) & (sizes[1] > 0), once - without, 0.0)


def former(centre, cv_influence, counts, oob_scores, oob_influence, **options):
    """`CVBootstrap` of record 0034: another standard error, n_effective - 1 degrees of freedom.

    The test part is that of one cross-validation, the covariance that by counts for all metrics.
    """
    found = form_of_0043(centre, cv_influence, counts, oob_scores, oob_influence, **options)
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
