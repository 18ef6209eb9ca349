"""Which variance of the difference of two methods without a test set, and how many fits.

Forms (`methods.forms`): O21, which is record 0035; "shares", where the residuals of each method are
scaled by the root of its own share of the training variance before their difference is taken,
max(V_fl, V1 + s_rob^2); the same with twice the covariance of testing and training of these
residuals; the same again at most the conservative variance, which is the form "share, one repeat"
of `cv_bootstrap_forms` where the second method makes no error; the same three with V_fl in place of
V1 ("averaged"); and the corrected resampled t of the 50 folds. Samples, repeats, truths and widths
are as in that study; both methods stand on the same samples and folds.

Rule, written before the run. With 200 samples and 5 repeats a form may replace O21 on a half of the
cells if

D1. in every cell its coverage of the expected difference at n (of a peak: at .9 n), plus 2.6 Monte
    Carlo errors, is at least 93 % (91 in skewed cells), or at most one point below that of O21;
D2. its mean undercoverage, of the expected difference and of that of the two models of all rows, is
    at most .002 above that of O21;
D3. of equal methods it tells apart at most 5 % plus 2.6 Monte Carlo errors;
D4. its geometric mean width is smaller than that of O21.

Of those that may on the choosing half, that with the smallest geometric mean width is taken; where
"shares and covariance, capped" may and is at most 5 % wider, it is taken, since one score and a
difference then have one rule. It replaces O21 if it may on the confirming half as well. Otherwise
O21 stays.

Fewer fits: the setting that `cv_bootstrap_forms` takes becomes that of differences if S1 to S3 of
that study hold for it here on both halves, in the form that is taken.

Last cells, as in that study: "shares and covariance, capped, averaged" is chosen and not confirmed
(undercoverage of the expected difference .0126, O21 .0080, 125 data sets a cell), so that O21 stays
by the rule, with 27 times the spread of the estimate on the confirming half. Three forms in which
half the optimism of both methods together caps the standard error, sqrt(V1) + half of both, are
judged on the cells `LAST`, which were in neither half; nothing of these forms was looked at before.
D1 to D4 decide, in turn for: the difference by the form of one score that is taken ("shares and
covariance, optimism" or "least shares, optimism"), the other of these two, "O21, optimism"; the
first that holds is taken. A setting that one score takes is taken if S1 to S3 hold against 200 x 5
of O21.

Data sets as in that study; of equal methods the truth is 0. The study goes on where it was stopped:

    make coverage-study STUDY=cv_bootstrap_forms_differences
    python -m benchmarks.coverage.studies.cv_bootstrap_forms_differences

The second prints what the rule says of the table.
"""

from typing import NamedTuple

import numpy as np

from skboot.method_error.cv_bootstrap import MethodsDifference

from ..methods.designs import (
    LOSSES,
    UNIT,
    Design,
    bent,
    centroids,
    discriminant,
    gamma_noise,
    in_groups,
    linear,
    logit_link,
    neighbours,
    newton,
    quadratic,
    ridge,
    shifted,
    sloped,
    smoother,
    stump,
    wavy,
)
from ..methods.forms import DIFFERENCES, differences_by_repeats
from ..methods.many_columns import alike, kernel_ridge, least_squares, on
from ..methods.parts import corrected_t, error_and_influence, parts_of, samples_of
from ..runner import RESULTS, TableStudy, monte_carlo_error, read
from . import cv_bootstrap_forms as of_one
from .cv_bootstrap_forms import (
    EXCESS,
    MEANS,
    MSE,
    N_FRESH,
    REPEATS,
    SAMPLES,
    WHOLE,
    Judged,
    fresh,
    kept,
    lines,
    lower_cells,
    setting_faults,
    table_by_cell,
    told,
    under,
    whole_and_fewer,
    width_of,
)
from .cv_bootstrap_forms import HEADER as OF_ONE

SEED = 13500
SLOW = {"least squares and ridge, p 120, n 200"}
ONE_RULE = "shares and covariance, capped"
IN_TURN = ("shares and covariance, optimism", "least shares, optimism", "O21, optimism")
BEFORE = [form for form in DIFFERENCES if not form.endswith("optimism")]
ALWAYS = ("O21", "shares", "shares and covariance", ONE_RULE, *IN_TURN)


class Pair(NamedTuple):
    """Two learners on the rows of one design; `is_null` where they are alike."""

    first: object
    second: object
    draw: object
    size: int
    metric: str
    kind: str = "smooth"
    is_null: bool = False

    def design(self, learner):
        """The cell of one learner."""
        return Design(learner, self.draw, self.size, self.metric, kind=self.kind)


LOGISTIC = newton(logit_link, 1.0)
CHOOSING = {
    "least squares and ridge, p 60, n 100": Pair(
        least_squares, ridge(20.0), linear(60), 100, MSE, "columns"
    ),
    "least squares and ridge, p 20, n 40": Pair(
        least_squares, ridge(10.0), linear(20), 40, MSE, "columns"
    ),
    "least squares and ridge, p 75, n 100": Pair(
        least_squares, ridge(20.0), linear(75), 100, MSE, "peak"
    ),
    "two penalties, p 5, n 60": Pair(ridge(1.25), ridge(0.1), linear(5), 60, MSE),
    "discriminant and centroids, p 10, n 80": Pair(
        discriminant, centroids, shifted(0.5, 10, 0.5, 4), 80, "error"
    ),
    "3-NN and smoother, n 80": Pair(
        neighbours(3), smoother(0.6), sloped(3, 2.0), 80, MEANS, "rough"
    ),
    "two logistic penalties, n 100, log loss": Pair(
        LOGISTIC, newton(logit_link, 10.0), sloped(10, 0.7), 100, "log loss"
    ),
    "discriminant and centroids, n 100, AUC": Pair(
        discriminant, centroids, shifted(0.3, 10, 0.5, 4), 100, "1 - AUC", "ranks"
    ),
    "alike, discriminant, n 60": Pair(
        on(0, 5, discriminant), on(5, 10, discriminant), alike(10, 0.6), 60, "error", is_null=True
    ),
    "alike, 1-NN, n 80": Pair(
        on(0, 3, neighbours(1)), on(3, 6, neighbours(1)), alike(6, 1.0), 80, MEANS, "rough", True
    ),
    "alike, least squares, p 25, n 50": Pair(
        on(0, 25, least_squares), on(25, 50, least_squares), alike(50, 0), 50, MSE, "columns", True
    ),
    "discriminant and centroids, 30 groups": Pair(
        discriminant, centroids, in_groups((2, 4, 6), 4), 30, "error", "groups"
    ),
}
CONFIRMING = {
    "least squares and ridge, p 50, n 100": Pair(
        least_squares, ridge(5.0), linear(50), 100, MSE, "columns"
    ),
    "least squares and 5-NN, p 24, n 40": Pair(
        least_squares, neighbours(5), linear(24), 40, MSE, "columns"
    ),
    "least squares and ridge, p 120, n 200": Pair(
        least_squares, ridge(20.0), linear(120), 200, MSE, "columns"
    ),
    "least squares and ridge, p 28, n 40": Pair(
        least_squares, ridge(10.0), linear(28), 40, MSE, "peak"
    ),
    "discriminant and centroids, p 30, n 60": Pair(
        discriminant, centroids, shifted(0.5, 30, 0.5, 6), 60, "error", "columns"
    ),
    "least squares on 12 and on 2, n 80": Pair(
        on(0, 12, ridge()), on(0, 2, ridge()), linear(12, 2.0, decay=True), 80, MSE
    ),
    "ridge and kernel ridge, n 80": Pair(ridge(1.0), kernel_ridge(1.5, 0.5), wavy(3), 80, MSE),
    "stump and least squares, n 80": Pair(stump, ridge(), wavy(4), 80, MSE, "rough"),
    "9-NN and smoother, n 90": Pair(
        neighbours(9), smoother(0.8), bent(4, 0.15), 90, MEANS, "rough"
    ),
    "quadratic and linear discriminant, n 100, AUC": Pair(
        quadratic, discriminant, shifted(0.35, 4, 0.6, 3, 1.5), 100, "1 - AUC", "ranks"
    ),
    "alike, logistic, n 90, log loss": Pair(
        on(0, 6, LOGISTIC), on(6, 12, LOGISTIC), alike(12, 0.5), 90, "log loss", is_null=True
    ),
    "alike, stump, n 80": Pair(
        on(0, 3, stump), on(3, 6, stump), alike(6, 1.0), 80, MEANS, "rough", True
    ),
    "alike, least squares, p 30, n 50": Pair(
        on(0, 30, least_squares), on(30, 60, least_squares), alike(60, 0), 50, MSE, "columns", True
    ),
    "least squares and ridge, n 80, gamma(2) errors": Pair(
        ridge(), ridge(20.0), linear(8, noise=gamma_noise(2.0)), 80, MSE, "skewed"
    ),
    "ridge and smoother, 25 groups": Pair(
        ridge(1.0), smoother(1.0), in_groups((1, 2, 3, 5, 9), 3, regression=True), 25, MSE, "groups"
    ),
}
LAST = {
    "least squares and ridge, p 55, n 100": Pair(
        least_squares, ridge(10.0), linear(55), 100, MSE, "columns"
    ),
    "least squares and ridge, p 22, n 40": Pair(
        least_squares, ridge(3.0), linear(22), 40, MSE, "columns"
    ),
    "least squares on 60 and on 20, n 100": Pair(
        on(0, 60, least_squares), on(0, 20, least_squares), linear(60), 100, MSE, "columns"
    ),
    "least squares and ridge, p 70, n 100": Pair(
        least_squares, ridge(10.0), linear(70), 100, MSE, "peak"
    ),
    "two penalties, p 15, n 80": Pair(ridge(1.0), ridge(10.0), linear(15), 80, MSE),
    "discriminant and logistic, n 90": Pair(discriminant, LOGISTIC, sloped(6), 90, "error"),
    "5-NN and 1-NN, n 80": Pair(neighbours(5), neighbours(1), bent(3, 0.1), 80, MEANS, "rough"),
    "kernel ridge and 7-NN, n 80": Pair(
        kernel_ridge(1.5, 0.5), neighbours(7), wavy(3), 80, MSE, "rough"
    ),
    "linear and quadratic discriminant, n 110, AUC": Pair(
        discriminant, quadratic, shifted(0.4, 5, 0.6, 3, 1.3), 110, "1 - AUC", "ranks"
    ),
    "alike, centroids, n 60": Pair(
        on(0, 5, centroids), on(5, 10, centroids), alike(10, 0.5), 60, "error", is_null=True
    ),
    "alike, 3-NN, n 80": Pair(
        on(0, 3, neighbours(3)), on(3, 6, neighbours(3)), alike(6, 0.8), 80, MEANS, "rough", True
    ),
    "alike, stump, n 100": Pair(
        on(0, 4, stump), on(4, 8, stump), alike(8, 0.8), 100, MEANS, "rough", True
    ),
    "alike, least squares, p 20, n 40": Pair(
        on(0, 20, least_squares), on(20, 40, least_squares), alike(40, 0), 40, MSE, "columns", True
    ),
    "least squares on 8 and on 3, gamma(2) errors": Pair(
        on(0, 8, ridge()), on(0, 3, ridge()), linear(8, noise=gamma_noise(2.0)), 80, MSE, "skewed"
    ),
    "discriminant and centroids, 25 groups": Pair(
        discriminant, centroids, in_groups((1, 2, 3, 5), 4), 25, "error", "groups"
    ),
}
CELLS = CHOOSING | CONFIRMING | LAST
HEADER = [name for name in OF_ONE if not name.startswith("centre ")]
HEADER += ["told apart %", "is null"]


# ------------------------------------------------------------------ one cell


def limits(pair, first, second):
    """(low, high) by form, samples and repeats."""
    n_units = first.counts.shape[1]
    df = first.options.get("n_effective", n_units) - 1
    of_losses = pair.metric in LOSSES and pair.kind != "groups"
    span = 1.0 if pair.metric in UNIT else None
    found = {}
    for n_samples in SAMPLES:
        variances = differences_by_repeats(first, second, of_losses, n_samples, REPEATS)
        for n_repeats, v in variances.items():
            centre = first.centres[:n_repeats].mean() - second.centres[:n_repeats].mean()
            for name, form in DIFFERENCES.items():
                if name not in ALWAYS and (n_samples, n_repeats) != WHOLE:
                    continue
                error = float(np.sqrt(form(v)))
                difference = MethodsDifference(float(centre), error, df, n_units, span)
                found[name, n_samples, n_repeats] = difference.interval(0.95)
    found["corrected t", *WHOLE] = corrected_t(first.fold_errors - second.fold_errors)
    return found


def judged(pair, rng):
    """Judge a data set."""
    X, y, groups = pair.draw(rng, pair.size)
    designs = [pair.design(own) for own in (pair.first, pair.second)]
    samples = samples_of(designs[0], y, groups, rng)
    first, second = (parts_of(design, X, y, groups, samples) for design in designs)
    X_new, y_new, _ = fresh(pair, rng, N_FRESH)
    errors = [
        error_and_influence(
            pair.metric, design.learner(X, y, whole_and_fewer(samples), X_new), y_new
        )[0]
        for design in designs
    ]
    gaps = first.centres - second.centres
    centres = [float(gaps[:r].mean()) for r in REPEATS]
    return Judged(centres, *map(float, errors[0] - errors[1]), limits(pair, first, second))


def n_sets_of(title):
    """How many data sets a cell has."""
    return round(of_one.N_SETS * of_one.FEWER) if title in SLOW else of_one.N_SETS


def rows_of(half, title):
    """Lines of the table of one cell."""
    pair, number = CELLS[title], list(CELLS).index(title)
    sets = kept(
        f"cv_bootstrap_forms_differences-{SEED}-{number}",
        n_sets_of(title),
        lambda k: judged(pair, np.random.default_rng([SEED, number, k])),
    )
    of_models = np.array([own.of_model for own in sets])
    expected = [0.0, 0.0]
    if not pair.is_null:
        expected = [float(of_models.mean()), float(np.mean([own.of_fewer for own in sets]))]
    centres = np.array([own.centres for own in sets])
    found = {
        name: [(*map(float, own.limits[name]), np.nan) for own in sets] for name in sets[0].limits
    }
    told_lines = lines(pair.kind, pair.metric, found, (*expected, of_models), centres)
    for line, own in zip(told_lines, found.values(), strict=True):
        low, high, _ = np.array(own).T
        apart = 100 * np.mean((low > 0) | (high < 0))
        yield [*line[: -len(EXCESS)], f"{apart:.2f}", int(pair.is_null)]


# ------------------------------------------------------------------ the rule


def false_differences(cells, form):
    """D3: cells of equal methods that are told apart too often."""
    faults = []
    for title, own in cells.items():
        row = own[form, *WHOLE]
        share, n = float(row["told apart %"]), int(row["data sets"])
        if int(row["is null"]) and share - 260 * monte_carlo_error(share / 100, n) > 5:
            faults.append(f"{title}: {share}")
    return faults


def form_faults(cells, form):
    """What of D1 to D4 a form does not meet on these cells; empty if it may replace O21."""
    key, today = (form, *WHOLE), ("O21", *WHOLE)
    rows, former = ([own[which] for own in cells.values()] for which in (key, today))
    faults = {"D1": lower_cells(cells, key, today, 1.0)}
    faults["D2"] = [
        f"{column} {under(rows, column):.4f}, O21 {under(former, column):.4f}"
        for column in ("covers ER %", "covers R %")
        if under(rows, column) > under(former, column) + 0.002
    ]
    faults["D3"] = false_differences(cells, form)
    faults["D4"] = [] if width_of(rows) < width_of(former) else [f"{width_of(rows):.3f}"]
    return {name: own for name, own in faults.items() if own}


def chosen_form(cells):
    """The form that the choosing half takes."""
    widths = {
        form: width_of([own[form, *WHOLE] for own in cells.values()])
        for form in BEFORE
        if form != "O21" and not form_faults(cells, form)
    }
    if not widths:
        return "O21"
    if widths.get(ONE_RULE, np.inf) <= 1.05 * min(widths.values()):
        return ONE_RULE
    return min(widths, key=widths.get)


def verdict(rows):
    """What the rule says of the table, in lines."""
    halves = {
        half: table_by_cell([row for row in rows if row["half"] == half])
        for half in ("choosing", "confirming")
    }
    for half, cells in halves.items():
        yield f"{half}: {len(cells)} cells"
        yield from told(cells, (*BEFORE, "corrected t"), [WHOLE])
        for form in (*BEFORE, "corrected t"):
            apart = [own[form, *WHOLE] for own in cells.values()]
            power = np.mean([float(r["told apart %"]) for r in apart if not int(r["is null"])])
            yield f"  {form}: told apart {power:.1f} %, {form_faults(cells, form)}"
    form = chosen_form(halves["choosing"])
    if form != "O21" and form_faults(halves["confirming"], form):
        yield f"{form} is chosen and not confirmed: O21 stays"
        form = "O21"
    yield f"FORM: {form}"
    settings = [(b, r) for b in SAMPLES for r in REPEATS]
    form = form.removesuffix(", averaged")
    for half, cells in halves.items():
        yield f"{half}: settings of {form}"
        yield from told(cells, [form], settings)
        for setting in settings:
            faults = setting_faults(cells, form, setting)
            lost = {name: own for name, own in faults.items() if name in ("S1", "S2", "S3")}
            yield f"  {setting}: {lost or 'loses nothing'}"


def last_verdict(rows):
    """What the rule says of the last cells, in lines."""
    cells = table_by_cell([row for row in rows if row["half"] == "last"])
    yield f"last: {len(cells)} cells"
    yield from told(cells, (*DIFFERENCES, "corrected t"), [WHOLE])
    for form in (*DIFFERENCES, "corrected t"):
        apart = [own[form, *WHOLE] for own in cells.values()]
        power = np.mean([float(r["told apart %"]) for r in apart if not int(r["is null"])])
        yield f"  {form}: told apart {power:.1f} %, {form_faults(cells, form)}"
    for form in IN_TURN:
        yield from told(cells, [form], [(b, r) for b in SAMPLES for r in REPEATS])
        for setting in [(b, r) for b in SAMPLES for r in REPEATS]:
            faults = setting_faults(cells, form, setting, "O21")
            lost = {name: own for name, own in faults.items() if name in ("S1", "S2", "S3")}
            yield f"  {form} {setting}: {lost or 'loses nothing'}"


STUDY = TableStudy(
    "cv_bootstrap_forms_differences",
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
    TABLE = read(RESULTS / "cv_bootstrap_forms_differences.csv")
    print("\n".join([*verdict(TABLE), *last_verdict(TABLE)]))
