"""Which form of "cv-bootstrap", and how many fits: one score.

Forms (`methods.forms`): O13, which is record 0043; "share", which keeps no least share of the
training variance and scales the covariance of testing and training with the root of the share; the
same with the test variance of one repeat, with the smaller of two covariances where the metric is
bounded, with the covariance by presence for all metrics, without the cap, without a covariance; and
the corrected resampled t of the 50 folds, for comparison. All forms, and all numbers of samples and
repeats, stand on the same trainings of a data set: its first samples, its first repeats. The centre
is that of the repeats that count.

Truths: R, the error of the model of all rows of this data set, on 1000 fresh rows; ER, the expected
error of the method at n rows, the mean of R over the data sets; the same at the .9 n rows that a
fold leaves, from a model of each data set. Widths are given over 3.92 standard deviations of the
estimate of five repeats. Undercoverage of a cell is .95 - min(coverage, .95).

Rule, written before the run; "half" is the choosing or the confirming half of the cells. Cells of
the kind "peak" have so many columns that the error rises with the rows before it falls (from .63 n
to 1.6 n columns): neither .63 n nor .9 n rows tell what n rows give. Their truth is the expected
error at .9 n, the size that the texts name, and they are left out of the means over cells.

Form, with 200 samples and 5 repeats. A form may replace O13 on a half if

F1. in every cell its coverage of ER, plus 2.6 Monte Carlo errors, is at least 93 % (91 in skewed
    cells), or it is at most one point below that of O13;
F2. its mean undercoverage, of ER and of R, is at most .002 above that of O13;
F3. for least squares with p/n from .5 to .75 the mean width is at most six and the coverage, plus
    2.6 Monte Carlo errors, at least 93 %;
F4. its geometric mean width over all cells is smaller than that of O13.

Of those that may on the choosing half, that with the smallest geometric mean width is taken, or,
of all within 2 % of it, that with the fewest parts (in the order of `PARTS`). It replaces O13 if it
may on the confirming half as well. Otherwise O13 stays.

Fits, in the form that is taken. A setting of at most 125 fits (half of 251) loses nothing on a
half, against 200 samples and 5 repeats, if

S1. in every cell its coverage of ER, plus 2.6 errors, is at least 93 % (91), or it is at most 1.5
    points below that of 200 x 5;
S2. mean coverage, of ER and of R, is at most .5 points lower, and mean undercoverage at most .002
    higher;
S3. the geometric mean width is at most 1.02 times as large;
S4. F3 holds;
S5. the root mean square deviation of the centre from ER is at most 1.02 times as large (geometric
    mean over the cells that are no peaks; by the deviation from the centre of five repeats).

S5 was added after the choosing half had been read with 125 data sets, before anything of the
confirming half or of differences was: one repeat in place of five lost little of the coverage, but
moves the score itself by a third of its standard deviation. The settings of "share, one repeat",
which that half takes, had not been judged, so that it was run again with them.

The setting with the fewest fits that loses nothing on the choosing half (of equal ones the
narrower) becomes the default if it loses nothing on the confirming half either; otherwise the
default stays. The largest cells have so many rows that 50 and 80 samples are too few for the
infinitesimal jackknife.

Caution "more rows are worse": where the cross-validated error is more than k sqrt(V_fl) above the
median out-of-bag error; k is the smallest of `EXCESS` at which at most 5 % of the data sets of
every cell but peaks, on the choosing half, are told so, at 200 x 5 and at the default. It is
confirmed if this holds on the other half; the share in peaks is reported.

Last cells. On the confirming half the form that the choosing half takes, "share, one repeat", was
not confirmed: undercoverage of R .0138, O13 .0113 (125 data sets a cell), and its limits are
infinite in the cell chen_10_null, whose target is lognormal with sigma 4 (its test variance alone
is too large there for any form). No number of fits under 125 lost nothing there in either form.
What was looked at then, on 60 other data sets of each cell of both halves at 200 x 5 and 80 x 3, is
another cap: a standard error of at most sqrt(V1) and half the optimism, (centre - resubstitution)
/ 2, in place of D. Of ten combinations two go on: "optimism, share" (the share, its root for the
one covariance, V1), which was the narrowest, and "optimism, least share" (V_fl, the share at least
.15, one covariance as it is), which covered best. Written before any of the cells `LAST` was run,
which are designs that were in neither half: F1 to F4 decide, for "optimism, share" first and for
"optimism, least share" if the former fails; otherwise O13 stays. A setting of at most 125 fits
becomes the default if S1 to S5 hold for the form that is taken, with 200 x 5 of O13, today's
default, in the place of its own 200 x 5 in S1 to S3: of those that hold the one with the fewest
fits.

125 data sets a cell (fewer where they are slow: `FEWER`), then more in all cells, as far as the
time goes that was set before the run: an hour for this study and that of differences (ten of the
last cells got 250, before it was seen that the time would not suffice). Monte Carlo error 1.9
points at 95 % for 125; of a mean over 25 cells .4, and less between forms and settings, which stand
on the same data sets. Data sets that are judged are kept in the temporary directory, and the study
goes on where it was stopped:

    make coverage-study STUDY=cv_bootstrap_forms
    python -m benchmarks.coverage.studies.cv_bootstrap_forms

The second prints what the rule says of the table.
"""

import pickle
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skboot.method_error.cv_bootstrap import cv_bootstrap

from ..methods.designs import (
    Design,
    bayes,
    bent,
    centroids,
    classes,
    counted,
    discriminant,
    gamma_noise,
    in_groups,
    laplace_noise,
    linear,
    log_link,
    logit_link,
    lognormal_noise,
    neighbours,
    newton,
    quadratic,
    ridge,
    selected,
    shifted,
    sloped,
    smoother,
    stump,
    wavy,
)
from ..methods.forms import FORMS, variances_by_repeats
from ..methods.many_columns import checkered, chen, friedman, kernel_ridge, least_squares, tree
from ..methods.parts import corrected_t, error_and_influence, parts_of, samples_of
from ..runner import RESULTS, TableStudy, monte_carlo_error, read

SEED = 13000
LOGISTIC, POISSON = newton(logit_link, 1.0), newton(log_link, 1.0)
MSE, MEANS, R2 = "mean squared error", "error of means", "1 - R2"

SAMPLES, REPEATS = (50, 80, 100, 200), (1, 2, 3, 5)
WHOLE, MOST_FITS = (200, 5), 125
ALWAYS = ("O13", "share", "share, one repeat")
IN_TURN = ("optimism, share", "optimism, least share")
PARTS = (
    "share, no covariance",
    "share, uncapped",
    "share",
    "share, one repeat",
    "share, presence",
    "share, smaller",
)
EXCESS = (0.25, 0.5, 1.0, 2.0)
N_SETS, N_FRESH, AT_ONCE = 125, 1000, 50


def columns(p, n, metric=MSE):
    """Least squares on p columns; a "peak" where the error rises with the rows."""
    kind = "peak" if 0.632 < p / n < 1.6 else "columns"
    return Design(least_squares, linear(p), n, metric, kind=kind)


CHOOSING = {
    "logistic, n 120": Design(LOGISTIC, sloped(7, 0.8), 120, "error"),
    "logistic, n 120, log loss": Design(LOGISTIC, sloped(7, 0.8), 120, "log loss"),
    "linear discriminant, p 10, n 60": Design(discriminant, sloped(10), 60, "error"),
    "naive Bayes, 3 classes, n 90": Design(bayes(3), classes(3, 4, 1.2), 90, "error of classes"),
    "kernel smoother, n 80": Design(smoother(0.6), wavy(3), 80, MSE),
    "ridge, p 20, n 100, R2": Design(ridge(20.0), linear(20), 100, R2),
    "3-NN, n 80": Design(neighbours(3), sloped(3, 2.0), 80, MEANS, kind="rough"),
    "5-NN, n 60": Design(neighbours(5), bent(3, 0.1), 60, MEANS, kind="rough"),
    "stump, n 100": Design(stump, sloped(4, 1.5), 100, MEANS, kind="rough"),
    "best 2 of 20 and least squares, n 70": Design(
        selected(2, ridge()), linear(20), 70, MSE, kind="rough"
    ),
    "tree, friedman, n 100": Design(tree, friedman, 100, MSE, kind="rough"),
    "least squares, p 10, n 100": columns(10, 100),
    "least squares, p 30, n 100": columns(30, 100),
    "least squares, p 20, n 40": columns(20, 40),
    "least squares, p 60, n 100": columns(60, 100),
    "least squares, p 60, n 100, R2": columns(60, 100, R2),
    "least squares, p 60, n 100, chen_10": Design(
        least_squares, chen(False), 100, MSE, kind="columns"
    ),
    "least squares, p 100, n 200": columns(100, 200),
    "least squares, p 30, n 40": columns(30, 40),
    "least squares, p 140, n 200": columns(140, 200),
    "least squares, p 90, n 100": columns(90, 100),
    "least squares, p 120, n 100": columns(120, 100),
    "linear discriminant, p 30, n 60": Design(discriminant, sloped(30), 60, "error"),
    "centroids, 30 groups of 2 to 6": Design(
        centroids, in_groups((2, 4, 6), 4), 30, "error", kind="groups"
    ),
    "ridge, 25 groups of 1 to 9": Design(
        ridge(1.0), in_groups((1, 2, 3, 5, 9), 5, regression=True), 25, MSE, kind="groups"
    ),
    "least squares, n 80, gamma(2) errors": Design(
        ridge(), linear(4, noise=gamma_noise(2.0)), 80, MSE, kind="skewed"
    ),
    "linear discriminant, 25 % positives, n 110, AUC": Design(
        discriminant, shifted(0.25, 5, 0.8), 110, "1 - AUC", kind="ranks"
    ),
    "logistic, n 500": Design(LOGISTIC, sloped(5), 500, "error"),
}

CONFIRMING = {
    "logistic, p 15, n 80, log loss": Design(LOGISTIC, sloped(15), 80, "log loss"),
    "logistic, n 80, Brier score": Design(LOGISTIC, sloped(4), 80, "Brier score"),
    "quadratic discriminant, n 120": Design(quadratic, shifted(0.4, 4, 0.7, 3, 1.5), 120, "error"),
    "kernel smoother, n 100, error": Design(smoother(0.7), sloped(3, 1.5), 100, MEANS),
    "kernel ridge, n 80": Design(kernel_ridge(1.5, 0.5), wavy(3), 80, MSE),
    "Poisson regression, n 100": Design(POISSON, counted(5), 100, "Poisson deviance"),
    "ridge, p 10, n 70, R2": Design(ridge(3.0), linear(10, 1.0, decay=True), 70, R2),
    "9-NN, n 90": Design(neighbours(9), bent(4, 0.15), 90, MEANS, kind="rough"),
    "1-NN, n 60": Design(neighbours(1), bent(3, 0.1), 60, MEANS, kind="rough"),
    "stump, n 80": Design(stump, wavy(4), 80, MSE, kind="rough"),
    "best 3 of 40 and linear discriminant, n 90": Design(
        selected(3, discriminant), sloped(40), 90, "error", kind="rough"
    ),
    "tree, checkered, n 120": Design(tree, checkered(3), 120, MEANS, kind="rough"),
    "least squares, p 20, n 100": columns(20, 100),
    "least squares, p 40, n 100, R2": columns(40, 100, R2),
    "least squares, p 24, n 40": columns(24, 40),
    "least squares, p 50, n 100": columns(50, 100),
    "least squares, p 60, n 100, chen_10_null, R2": Design(
        least_squares, chen(True), 100, R2, kind="columns"
    ),
    "least squares, p 120, n 200": columns(120, 200),
    "least squares, p 75, n 100": columns(75, 100),
    "least squares, p 28, n 40": columns(28, 40),
    "least squares, p 150, n 200": columns(150, 200),
    "least squares, p 110, n 100": columns(110, 100),
    "ridge, p 80, n 100, R2": Design(ridge(5.0), linear(80), 100, R2),
    "linear discriminant, p 40, n 80, AUC": Design(
        discriminant, shifted(0.5, 40, 0.5, 8), 80, "1 - AUC", kind="ranks"
    ),
    "linear discriminant, 20 unequal groups": Design(
        discriminant, in_groups((3, 4, 6, 9), 4), 20, "error", kind="groups"
    ),
    "ridge, 22 groups of 1 to 12": Design(
        ridge(2.0), in_groups((1, 2, 4, 8, 12), 6, regression=True), 22, MSE, kind="groups"
    ),
    "ridge, n 150, exponential errors": Design(
        ridge(1.0), linear(5, noise=gamma_noise(1.0)), 150, MSE, kind="skewed"
    ),
    "least squares, n 80, lognormal(.5) errors": Design(
        ridge(), linear(4, noise=lognormal_noise(0.5)), 80, MSE, kind="skewed"
    ),
    "quadratic discriminant, 35 % positives, n 100, AUC": Design(
        quadratic, shifted(0.35, 4, 0.6, 3, 1.5), 100, "1 - AUC", kind="ranks"
    ),
    "least squares, p 20, n 500, R2": Design(ridge(), linear(20, 3.0), 500, R2),
}

LAST = {
    "logistic, p 8, n 150": Design(LOGISTIC, sloped(8, 0.7, -0.5), 150, "error"),
    "logistic, p 4, n 60, log loss": Design(LOGISTIC, sloped(4), 60, "log loss"),
    "naive Bayes, 4 classes, n 120": Design(bayes(4), classes(4, 5, 1.5), 120, "error of classes"),
    "kernel smoother, n 60, R2": Design(smoother(0.8), wavy(2), 60, R2),
    "kernel ridge, n 70": Design(kernel_ridge(2.0, 1.0), bent(3, 0.1), 70, MEANS),
    "ridge, p 30, n 100": Design(ridge(20.0), linear(30), 100, MSE),
    "ridge, p 15, n 50, R2": Design(ridge(3.0), linear(15), 50, R2),
    "least squares, n 60, Laplace errors, MAE": Design(
        ridge(), linear(8, noise=laplace_noise), 60, "mean absolute error"
    ),
    "7-NN, n 70": Design(neighbours(7), wavy(3), 70, MSE, kind="rough"),
    "1-NN, n 100": Design(neighbours(1), bent(4, 0.1), 100, MEANS, kind="rough"),
    "stump, n 60": Design(stump, sloped(3, 2.0), 60, MEANS, kind="rough"),
    "best 3 of 30 and least squares, n 80": Design(
        selected(3, ridge()), linear(30), 80, MSE, kind="rough"
    ),
    "tree, wavy, n 100, R2": Design(tree, wavy(4), 100, R2, kind="rough"),
    "least squares, p 15, n 40, R2": columns(15, 40, R2),
    "least squares, p 22, n 40": columns(22, 40),
    "least squares, p 55, n 100": columns(55, 100),
    "least squares, p 62, n 100, R2": columns(62, 100, R2),
    "least squares, p 110, n 200": columns(110, 200),
    "least squares, p 70, n 100": columns(70, 100),
    "least squares, p 29, n 40": columns(29, 40),
    "ridge, p 50, n 80": Design(ridge(1.0), linear(50), 80, MSE, kind="columns"),
    "linear discriminant, p 20, n 50": Design(
        discriminant, shifted(0.5, 20, 0.5, 6), 50, "error", kind="columns"
    ),
    "centroids, 25 groups of 1 to 5": Design(
        centroids, in_groups((1, 2, 3, 5), 4), 25, "error", kind="groups"
    ),
    "ridge, 40 groups of 2 to 6": Design(
        ridge(1.0), in_groups((2, 3, 6), 6, regression=True), 40, MSE, kind="groups"
    ),
    "ridge, n 100, gamma(1.5) errors": Design(
        ridge(1.0), linear(6, noise=gamma_noise(1.5)), 100, MSE, kind="skewed"
    ),
    "linear discriminant, 15 % positives, n 150, AUC": Design(
        discriminant, shifted(0.15, 6, 0.8), 150, "1 - AUC", kind="ranks"
    ),
    "linear discriminant, 15 % positives, n 100, balanced error": Design(
        discriminant, shifted(0.15, 6, 0.8), 100, "balanced error", kind="ranks"
    ),
    "linear discriminant, p 10, n 400": Design(discriminant, sloped(10), 400, "error"),
}

CELLS = CHOOSING | CONFIRMING | LAST
SLOW = {
    "tree, friedman, n 100",
    "tree, checkered, n 120",
    "least squares, p 100, n 200",
    "least squares, p 140, n 200",
    "least squares, p 120, n 200",
    "least squares, p 150, n 200",
    "tree, wavy, n 100, R2",
}
FEWER = 0.6  # Share of the data sets of other cells.
HEADER = [
    "half",
    "cell",
    "kind",
    "metric",
    "form",
    "samples",
    "repeats",
    "data sets",
    "ER",
    "ER at .9 n",
    "covers ER %",
    "Monte Carlo error",
    "covers ER at .9 n %",
    "covers R %",
    "ER below %",
    "ER above %",
    "width",
    "median width",
    "largest width",
    "deviation of log width",
    "deviation of the centre",
    *(f"centre {k:g} above %" for k in EXCESS),
]


# ------------------------------------------------------------------ one cell


def fits(samples, repeats):
    """Trainings with ten folds, and that of all rows."""
    return samples + 10 * repeats + 1


def limits(parts):
    """(low, high, excess) by form, samples and repeats."""
    found = {}
    by_repeats = {r: of_repeats(parts, r) for r in REPEATS}
    for n_samples in SAMPLES:
        variances = variances_by_repeats(parts, n_samples, REPEATS)
        for n_repeats, v in variances.items():
            names = FORMS if (n_samples, n_repeats) == WHOLE else (*ALWAYS, *IN_TURN)
            for name in names:
                error = float(np.sqrt(FORMS[name](v)))
                pair = replace(by_repeats[n_repeats], standard_error=error).interval()
                found[name, n_samples, n_repeats] = (*pair[:2], v.excess)
    found["corrected t", *WHOLE] = (*corrected_t(parts.fold_errors), np.nan)
    return found


def of_repeats(parts, n_repeats):
    """All of `CVBootstrap` that these repeats decide; its standard error is to be replaced."""
    cv = parts.influence[:n_repeats]
    # Two samples without a spread, of which nothing is taken.
    counts = np.ones((2, parts.counts.shape[1]), dtype=int)
    options = dict(parts.options)
    if len(parts.class_errors):
        options["class_errors"] = parts.class_errors[:n_repeats].mean(axis=0)
    centre = float(parts.centres[:n_repeats].mean())
    return cv_bootstrap(centre, cv, counts, np.zeros(2), np.zeros(counts.shape), **options)


def fresh(design, rng, n_rows):
    """Fresh rows, about as many."""
    size = n_rows
    if design.kind == "groups":
        size = max(n_rows // 4, 1)
    return design.draw(rng, size)


class Judged(NamedTuple):
    """What is kept of a data set."""

    centres: list  # by number of repeats
    of_model: float  # R
    of_fewer: float  # the same of a model of .9 n rows
    limits: dict


def judged(design, rng):
    """Judge a data set."""
    X, y, groups = design.draw(rng, design.size)
    samples = samples_of(design, y, groups, rng)
    parts = parts_of(design, X, y, groups, samples)
    X_new, y_new, _ = fresh(design, rng, N_FRESH)
    answers = design.learner(X, y, whole_and_fewer(samples), X_new)
    errors = error_and_influence(design.metric, answers, y_new)[0]
    centres = [float(parts.centres[:r].mean()) for r in REPEATS]
    return Judged(centres, *map(float, errors), limits(parts))


def whole_and_fewer(samples):
    """Weights of all rows, and of those that the first fold leaves."""
    inside = samples.folds[0] != 0
    return np.stack((np.ones(len(inside)), inside.astype(float)))


def kept(name, n_sets, judge):
    """The first data sets of a cell; those of an earlier run from the temporary directory."""
    path = Path(tempfile.gettempdir()) / f"{name}.pickle"
    found = pickle.loads(path.read_bytes()) if path.exists() else []
    while len(found) < n_sets:
        until = min(n_sets, len(found) + AT_ONCE)
        found += [judge(k) for k in range(len(found), until)]
        path.with_suffix(".part").write_bytes(pickle.dumps(found))
        path.with_suffix(".part").replace(path)
    return found[:n_sets]


def n_sets_of(title):
    """How many data sets a cell has."""
    return round(N_SETS * FEWER) if title in SLOW else N_SETS


def rows_of(half, title):
    """Lines of the table of one cell."""
    design, number = CELLS[title], list(CELLS).index(title)
    sets = kept(
        f"cv_bootstrap_forms-{SEED}-{number}",
        n_sets_of(title),
        lambda k: judged(design, np.random.default_rng([SEED, number, k])),
    )
    of_model = np.array([own.of_model for own in sets])
    truths = (float(of_model.mean()), float(np.mean([own.of_fewer for own in sets])), of_model)
    centres = np.array([own.centres for own in sets])
    found = {name: [own.limits[name] for own in sets] for name in sets[0].limits}
    yield from lines(design.kind, design.metric, found, truths, centres)


def lines(kind, metric, found, truths, centres):
    """Lines of a cell from its limits by form, samples and repeats."""
    expected, expected_fewer, of_model = truths
    spread = 3.92 * centres[:, -1].std(ddof=1)
    whole = {}
    for (form, *setting), own in found.items():
        if tuple(setting) == WHOLE:
            low, high, _ = np.array(own).T
            whole[form] = high - low
    for (form, n_samples, n_repeats), own in found.items():
        low, high, excess = np.array(own).T
        covered = np.mean((low <= expected) & (expected <= high))
        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.log(width / whole[form])
        at = REPEATS.index(n_repeats)
        yield [
            kind,
            metric,
            form,
            n_samples,
            n_repeats,
            len(low),
            f"{expected:.5g}",
            f"{expected_fewer:.5g}",
            f"{100 * covered:.2f}",
            f"{100 * monte_carlo_error(covered, len(low)):.2f}",
            f"{100 * np.mean((low <= expected_fewer) & (expected_fewer <= high)):.2f}",
            f"{100 * np.mean((low <= of_model) & (of_model <= high)):.2f}",
            f"{100 * np.mean(expected < low):.2f}",
            f"{100 * np.mean(expected > high):.2f}",
            f"{width.mean() / spread:.4g}",
            f"{np.median(width) / spread:.4g}",
            f"{width.max() / spread:.4g}",
            f"{np.std(moved[np.isfinite(moved)]):.3f}",
            f"{3.92 * np.std(centres[:, at] - centres[:, -1]) / spread:.3f}",
            *(f"{100 * np.mean(excess > k):.1f}" for k in EXCESS),
        ]


# ------------------------------------------------------------------ the rule


def table_by_cell(rows):
    """Rows by cell, then by form, samples and repeats."""
    found = {}
    for row in rows:
        key = row["form"], int(row["samples"]), int(row["repeats"])
        found.setdefault(row["cell"], {})[key] = row
    return found


def coverage(row):
    """Covered % that counts: of a peak at .9 n."""
    return float(row["covers ER at .9 n %" if row["kind"] == "peak" else "covers ER %"])


def is_enough(row):
    """Whether a cell is at 93 %, or 91 where losses are skewed, but for Monte Carlo error."""
    least = 91.0 if row["kind"] == "skewed" else 93.0
    share, n = coverage(row) / 100, int(row["data sets"])
    return coverage(row) + 260 * monte_carlo_error(share, n) >= least


def under(rows, column):
    """Mean undercoverage of the cells that are no peaks."""
    shares = [float(row[column]) / 100 for row in rows if row["kind"] != "peak"]
    return float(np.mean([0.95 - min(share, 0.95) for share in shares]))


def mean_coverage(rows, column):
    """Mean over the cells that are no peaks, in percent."""
    return float(np.mean([float(row[column]) for row in rows if row["kind"] != "peak"]))


def width_of(rows):
    """Geometric mean over cells."""
    return float(np.exp(np.mean([np.log(float(row["width"])) for row in rows])))


def noise_of_centre(rows):
    """Standard deviation of the centre over that of five repeats, geometric mean over cells."""
    moves = [float(row["deviation of the centre"]) for row in rows if row["kind"] != "peak"]
    return float(np.exp(np.mean(np.log1p(np.square(moves))) / 2))


def is_near_singular(title):
    """Least squares with p/n from .5 to .75."""
    if not title.startswith("least squares, p"):
        return False
    p, n = (int(part.split()[1]) for part in title.split(", ")[1:3])
    return 0.5 <= p / n <= 0.75


def singular_faults(cells, key):
    """F3: least squares with p/n from .5 to .75 that is too wide, or covers too little."""
    return [
        title
        for title, own in cells.items()
        if is_near_singular(title) and not (float(own[key]["width"]) <= 6 and is_enough(own[key]))
    ]


def lower_cells(cells, key, reference, points):
    """Cells below the bound, and by more than so many points below the reference."""
    return [
        title
        for title, own in cells.items()
        if not is_enough(own[key]) and coverage(own[key]) < coverage(own[reference]) - points
    ]


def form_faults(cells, form):
    """What of F1 to F4 a form does not meet on these cells; empty if it may replace O13."""
    key, today = (form, *WHOLE), ("O13", *WHOLE)
    rows, former = ([own[which] for own in cells.values()] for which in (key, today))
    faults = {"F1": lower_cells(cells, key, today, 1.0)}
    faults["F2"] = [
        f"{column} {under(rows, column):.4f}, O13 {under(former, column):.4f}"
        for column in ("covers ER %", "covers R %")
        if under(rows, column) > under(former, column) + 0.002
    ]
    faults["F3"] = singular_faults(cells, key)
    faults["F4"] = [] if width_of(rows) < width_of(former) else [f"{width_of(rows):.3f}"]
    return {name: own for name, own in faults.items() if own}


def setting_faults(cells, form, setting, reference=None):
    """What of S1 to S5 a setting does not meet on these cells; empty if it loses nothing."""
    key, whole = (form, *setting), (reference or form, *WHOLE)
    rows, every = ([own[which] for own in cells.values()] for which in (key, whole))
    faults = {"S1": lower_cells(cells, key, whole, 1.5), "S2": []}
    for column in ("covers ER %", "covers R %"):
        lower = mean_coverage(every, column) - mean_coverage(rows, column)
        more = under(rows, column) - under(every, column)
        if lower > 0.5 or more > 0.002:
            faults["S2"].append(f"{column} {lower:.2f} lower, undercoverage {more:.4f} higher")
    ratio = width_of(rows) / width_of(every)
    faults["S3"] = [] if ratio <= 1.02 else [f"{ratio:.3f}"]
    faults["S4"] = singular_faults(cells, key)
    noise = noise_of_centre(rows)
    faults["S5"] = [] if noise <= 1.02 else [f"{noise:.3f}"]
    return {name: own for name, own in faults.items() if own}


def chosen_form(cells):
    """The form that the choosing half takes."""
    widths = {
        form: width_of([own[form, *WHOLE] for own in cells.values()])
        for form in PARTS
        if not form_faults(cells, form)
    }
    if not widths:
        return "O13"
    near = [form for form in widths if widths[form] <= 1.02 * min(widths.values())]
    return min(near, key=PARTS.index)


def chosen_setting(cells, form):
    """The setting that the choosing half takes."""
    settings = [(b, r) for b in SAMPLES for r in REPEATS if fits(b, r) <= MOST_FITS]
    kept = [setting for setting in settings if not setting_faults(cells, form, setting)]
    if not kept:
        return WHOLE

    def cost(setting):
        return fits(*setting), width_of([own[form, *setting] for own in cells.values()])

    return min(kept, key=cost)


def false_cautions(cells, form, settings, k):
    """Largest share of data sets of a cell, but peaks, that are told that more rows are worse."""
    return max(
        float(own[form, *setting][f"centre {k:g} above %"])
        for own in cells.values()
        for setting in settings
        if own[form, *setting]["kind"] != "peak"
    )


def told(cells, forms, settings):
    """Lines of means: form, setting, undercoverage, coverage, width."""
    for form in forms:
        for setting in settings:
            key = (form, *setting)
            if not all(key in own for own in cells.values()):
                continue
            rows = [own[key] for own in cells.values()]
            yield (
                f"  {form:28} {setting[0]:3} x {setting[1]}  fits {fits(*setting):3}  under "
                f"{under(rows, 'covers ER %'):.4f} {under(rows, 'covers R %'):.4f}  covers "
                f"{mean_coverage(rows, 'covers ER %'):.2f} {mean_coverage(rows, 'covers R %'):.2f}"
                f"  least {min(coverage(row) for row in rows):.1f}  width {width_of(rows):.3f}"
                f"  largest {max(float(row['width']) for row in rows):.3g}"
            )


def verdict(rows):
    """What the rule says of the table, in lines."""
    halves = {
        half: table_by_cell([row for row in rows if row["half"] == half])
        for half in ("choosing", "confirming")
    }
    settings = [(b, r) for b in SAMPLES for r in REPEATS]
    for half, cells in halves.items():
        yield f"{half}: {len(cells)} cells"
        yield from told(cells, ("O13", *PARTS, "corrected t"), [WHOLE])
        for form in PARTS:
            yield f"  {form}: {form_faults(cells, form) or 'may replace O13'}"
    form = chosen_form(halves["choosing"])
    if form != "O13" and form_faults(halves["confirming"], form):
        yield f"{form} is chosen and not confirmed: O13 stays"
        form = "O13"
    yield f"FORM: {form}"
    shown = form if form in ALWAYS else "share"
    for half, cells in halves.items():
        yield f"{half}: settings of {shown}"
        yield from told(cells, [shown], settings)
        for setting in settings:
            if fits(*setting) <= MOST_FITS:
                yield f"  {setting}: {setting_faults(cells, shown, setting) or 'loses nothing'}"
    setting = chosen_setting(halves["choosing"], shown)
    if setting_faults(halves["confirming"], shown, setting):
        yield f"{setting} is chosen and not confirmed: the default stays"
        setting = WHOLE
    yield f"DEFAULT: {setting[0]} samples, {setting[1]} repeats"
    for k in EXCESS:
        shares = [false_cautions(own, shown, {WHOLE, setting}, k) for own in halves.values()]
        yield f"caution at {k:g}: at most {shares} % in cells that are no peaks"


def last_verdict(rows):
    """What the rule says of the last cells, in lines."""
    cells = table_by_cell([row for row in rows if row["half"] == "last"])
    yield f"last: {len(cells)} cells"
    yield from told(cells, (*FORMS, "corrected t"), [WHOLE])
    for form in IN_TURN:
        yield f"  {form}: {form_faults(cells, form) or 'may replace O13'}"
    form = next((form for form in IN_TURN if not form_faults(cells, form)), "O13")
    yield f"FORM: {form}"
    settings = [(b, r) for b in SAMPLES for r in REPEATS]
    yield from told(cells, [form], settings)
    kept = []
    for setting in settings:
        faults = setting_faults(cells, form, setting, "O13")
        yield f"  {setting}: {faults or 'loses nothing'}"
        if fits(*setting) <= MOST_FITS and not faults:
            kept.append(setting)
    yield f"DEFAULT: {min(kept, key=lambda setting: fits(*setting), default=WHOLE)}"


STUDY = TableStudy(
    "cv_bootstrap_forms",
    HEADER,
    [
        (half, title)
        for half, cells in (("choosing", CHOOSING), ("confirming", CONFIRMING), ("last", LAST))
        for title in cells
    ],
    rows_of,
    is_enough=lambda row: int(row["data sets"]) >= n_sets_of(row["cell"]),
)


if __name__ == "__main__":
    TABLE = read(RESULTS / "cv_bootstrap_forms.csv")
    print("\n".join([*verdict(TABLE), *last_verdict(TABLE)]))
