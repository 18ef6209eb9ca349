"""Does the optimism-corrected error have an interval that covers?

The location-shifted bootstrap (Noma et al. 2021): percentiles of the apparent error of models of
bootstrap samples on their own samples, moved by the mean optimism. Beside it the interval of the
default strategy on the same data sets.

Rule, written before the run: ``strategy="optimism"`` gets this interval if it covers, plus 2.6
Monte Carlo errors, 93 % in every cell; otherwise its limits stay NaN.

400 data sets a cell. The study goes on where it was stopped:

    make coverage-study STUDY=optimism_interval
"""

from ..methods.designs import (
    Design,
    discriminant,
    linear,
    logit_link,
    neighbours,
    newton,
    ridge,
    sloped,
    smoother,
    stump,
    wavy,
)
from ..methods.parts import bootstrap, shifted_percentiles
from ..methods.table import study

SEED = 4500
LOGISTIC, MSE = newton(logit_link, 1.0), "mean squared error"
SHIFTED = "location-shifted"

CELLS = {
    "logistic, p 6, n 120": Design(LOGISTIC, sloped(6), 120, "error"),
    "logistic, p 6, n 120, log loss": Design(LOGISTIC, sloped(6), 120, "log loss"),
    "logistic, p 3, n 250, Brier score": Design(LOGISTIC, sloped(3), 250, "Brier score"),
    "linear discriminant, p 10, n 60": Design(discriminant, sloped(10), 60, "error"),
    "least squares, p 10, n 60": Design(ridge(), linear(10), 60, MSE),
    "kernel smoother, n 80": Design(smoother(0.6), wavy(3), 80, MSE),
    "stump, n 100": Design(stump, sloped(4, 1.5), 100, "error of means", kind="rough"),
    "1-NN, n 60": Design(neighbours(1), sloped(2, 2.0), 60, "error of means", kind="rough"),
}


def intervals(parts):
    _, low, high = shifted_percentiles(parts)
    return {"cv-bootstrap": bootstrap(parts).interval(), SHIFTED: (low, high)}


STUDY = study(
    "optimism_interval",
    CELLS,
    intervals,
    seed=SEED,
    n_sets=lambda cell: 400,
    reference="cv-bootstrap",
)
