"""Forms of the "cv-bootstrap" interval that were tried before `narrower`, and what became of them.

Development, not a test: the form that went into `narrower` was chosen on designs like these. Every
form is made of the parts of one `CVBootstrap`:

* ``former``: as record 0034 has it; ``chosen``: record 0043;
* ``without covariance``, ``root of the share`` (covariance times the root of the learning curve's
  share), ``presence`` (the smaller covariance for all metrics), ``mean of both`` covariances,
  ``root and presence``: other variances, degrees of freedom as ``chosen``;
* ``plain df``, ``kurtosis df`` (no least number), ``above`` (fewer in the upper limit alone),
  ``Johnson`` (1978; upper limit at least that of the skewness-corrected t), ``Hall`` (1992; at
  least that of the cubic transformation): the variance of ``chosen``, other limits of losses
  without an upper bound; the last two with n - 1 degrees of freedom.

300 data sets a cell. The study goes on where it was stopped:

    make coverage-study STUDY=narrower_forms
"""

from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from ..methods.candidates import form_of_0043, former
from ..methods.designs import (
    Design,
    bayes,
    bent,
    centroids,
    classes,
    discriminant,
    gamma_noise,
    in_groups,
    linear,
    logit_link,
    lognormal_noise,
    neighbours,
    newton,
    ridge,
    selected,
    shifted,
    sloped,
    smoother,
    stump,
)
from ..methods.parts import LEVEL, bootstrap
from ..methods.table import study

SEED = 77
LOGISTIC, MSE = newton(logit_link, 1.0), "mean squared error"

CELLS = {
    "logistic, n 100": Design(LOGISTIC, sloped(6), 100, "error"),
    "linear discriminant, p 12, n 60": Design(discriminant, shifted(0.5, 12, 0.5, 6), 60, "error"),
    "centroids, p 20, n 70": Design(centroids, shifted(0.5, 20, 0.4, 6), 70, "error"),
    "kernel smoother, n 80": Design(smoother(0.5), bent(3, 0.1), 80, "error of means"),
    "naive Bayes, 3 classes, n 90": Design(bayes(3), classes(3, 4, 1.2), 90, "error of classes"),
    "least squares, p 10, n 60": Design(ridge(), linear(10), 60, MSE),
    "1-NN, n 60": Design(neighbours(1), bent(3, 0.1), 60, "error of means", kind="rough"),
    "5-NN, n 60": Design(neighbours(5), bent(3, 0.1), 60, "error of means", kind="rough"),
    "stump, n 100": Design(stump, sloped(4, 1.5), 100, "error of means", kind="rough"),
    "best 3 of 30, n 80": Design(selected(3, ridge()), linear(30), 80, MSE, kind="rough"),
    "lognormal(.5) errors, n 50": Design(
        ridge(), linear(3, noise=lognormal_noise(0.5)), 50, MSE, kind="skewed"
    ),
    "lognormal(1) errors, n 100, MAE": Design(
        ridge(), linear(5, noise=lognormal_noise(1.0)), 100, "mean absolute error", kind="skewed"
    ),
    "exponential errors, n 100": Design(
        ridge(), linear(5, noise=gamma_noise(1.0)), 100, MSE, kind="skewed"
    ),
    "ridge, 25 groups of 1 to 9": Design(
        ridge(1.0), in_groups((1, 2, 3, 5, 9), 5, regression=True), 25, MSE, kind="groups"
    ),
}


def intervals(parts):
    """Limits by form."""
    chosen, before = bootstrap(parts, form=form_of_0043), bootstrap(parts, form=former)
    pairs = {"chosen": chosen.interval(), "former": before.interval()}
    by_count, by_presence = chosen.covariance_training, chosen.covariance_presence
    root = np.sqrt(chosen.training_share)
    covariances = {
        "without covariance": 0.0,
        "root of the share": root * by_count,
        "presence": min(by_count, by_presence),
        "mean of both": (by_count + by_presence) / 2,
        "root and presence": min(root * by_count, by_presence),
    }
    for name, covariance in covariances.items():
        pairs[name] = with_covariance(chosen, covariance).interval()
    return pairs | (limits_of_losses(parts, chosen) if parts.options["bounds"][1] > 1 else {})


def with_covariance(found, covariance):
    total = found.variance_cv_averaged + found.training_share * found.variance_training_robust
    total = min(found.variance_cap, total + max(covariance, 0.0))
    return replace(found, standard_error=float(np.sqrt(total)))


def limits_of_losses(parts, found):
    influence = parts.influence.mean(axis=0)
    n, gaps = len(influence), influence - influence.mean()
    kurtosis = np.mean(gaps**4) / np.mean(gaps**2) ** 2
    plain = replace(found, degrees_of_freedom=n - 1.0).interval()
    worth = min(n - 1.0, max(2 * n / (kurtosis - 1), 1.0))
    # Skewness of the estimate: that of the test part, as if the rest had none.
    skewness = np.mean(gaps**3) / np.mean(gaps**2) ** 1.5 / np.sqrt(n)
    skewness *= (found.variance_cv / found.standard_error**2) ** 1.5
    t = float(stdtrit(n - 1, (1 + LEVEL) / 2))
    johnson = found.centre + (skewness * (1 + 2 * t**2) / 6 + t) * found.standard_error
    cubic = np.cbrt(1 - skewness * (t + skewness / 6)) - 1
    hall = found.centre - 3 / skewness * cubic * found.standard_error
    return {
        "plain df": plain,
        "kurtosis df": replace(found, degrees_of_freedom=worth).interval(),
        "above": (plain.low, found.interval().high),
        "Johnson": (plain.low, max(plain.high, johnson)),
        "Hall": (plain.low, max(plain.high, hall)),
    }


STUDY = study(
    "narrower_forms",
    CELLS,
    intervals,
    seed=SEED,
    n_sets=lambda cell: 300,
    reference="former",
)
