"""Exact coverage for functions of a table of truth and decision: all tables are counted.

A test set of n rows of two classes is one of (n + 1)(n + 2)(n + 3)/6 tables, whose probabilities
are multinomial: an interval covers the share of them, by probability, whose limits hold the true
value. There are 1,771 tables of 20 rows, 12,341 of 40 and 91,881 of 80. Of these, tables that are
less likely than `RAREST` in every cell are left out, and the column "left out" has the largest
share of a cell that they make up; the others count for them. Nothing is simulated but the resamples
and draws of an interval itself, 999 by the same seed for each table.

Rule, written before the library was run on all tables; not before the choices. Amounts were chosen
on first looks at 20, 40 and 160 rows by a copy of the rule in numpy, and 30 deciding rows, below
which "auto" draws tables, after 40 rows were seen. So 20 and 40 rows say how well the choice fits
them, and 80 rows confirm. "auto" passes where it covers at least 92 % in each cell and 93 % in 97 %
of them, at a mean width of at most 1.06 times that of the narrowest method that passes as well, and
of at most 1.15 times in any cell.

    make coverage-study STUDY=tables [PART="--minutes 20"]

Methods: "auto"; "before", what it took without smoothed tables; Wald and Wilson of proportions;
percentiles; BCa; and the delta method (Takahashi et al. 2022 for F1).
"""

import contextlib
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.special import gammaln, ndtri

from skboot import bootstrap_score
from skboot.inference.automatic import automatic_interval
from skboot.inference.intervals import confidence_interval, problem_with

from ..runner import TableStudy

LEVEL = 0.95
SIZES = (20, 40, 80)
PREVALENCES = {20: (0.1, 0.2, 0.3, 0.5), 40: (0.1, 0.2, 0.3, 0.5), 80: (0.1, 0.3, 0.5)}
RATES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
RAREST = {15: 0.0, 20: 0.0, 40: 0.0, 80: 1e-5}
METRICS = (
    "accuracy",
    "f1",
    "recall",
    "precision",
    "matthews_corrcoef",
    "balanced_accuracy",
    "cohen_kappa",
    "f1_macro",
    "f1_weighted",
    "specificity",
)
METHODS = ("auto", "before", "wald", "wilson", "percentile", "bca", "delta")
HEADER = (
    "n",
    "prevalence",
    "sensitivity",
    "specificity",
    "metric",
    "truth",
    *METHODS,
    *(f"width {name}" for name in METHODS),
    "left out",
)


def all_tables(n):
    """True and false decisions, (n_tables, 4): tp, fn, fp, tn."""
    return np.array(
        [
            (i, j, k, n - i - j - k)
            for i in range(n + 1)
            for j in range(n + 1 - i)
            for k in range(n + 1 - i - j)
        ]
    )


def cells_of(n):
    """Prevalence, sensitivity and specificity of each cell."""
    return list(product(PREVALENCES.get(n, PREVALENCES[20]), RATES, RATES))


def shares(prevalence, sensitivity, specificity):
    """Probability of a row of each sort."""
    hit, correct = prevalence * sensitivity, (1 - prevalence) * specificity
    return np.array([hit, prevalence - hit, 1 - prevalence - correct, correct])


def probabilities(tables, cells):
    """Multinomial probability of each table in each cell, (n_tables, n_cells)."""
    p = np.array([shares(*cell) for cell in cells])
    ways = gammaln(tables.sum(axis=1) + 1) - gammaln(tables + 1).sum(axis=1)
    return np.exp(ways[:, None] + tables @ np.log(p).T)


def true_value(metric, tp, fn, fp, tn):
    """A metric of shares of rows."""
    n = tp + fn + fp + tn
    f1, of_others = 2 * tp / (2 * tp + fn + fp), 2 * tn / (2 * tn + fn + fp)
    chance = ((tp + fn) * (tp + fp) + (tn + fn) * (tn + fp)) / n**2
    margins = (tp + fn) * (tp + fp) * (tn + fn) * (tn + fp)
    return {
        "accuracy": (tp + tn) / n,
        "f1": f1,
        "recall": tp / (tp + fn),
        "precision": tp / (tp + fp),
        "matthews_corrcoef": (tp * tn - fp * fn) / np.sqrt(margins),
        "balanced_accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
        "cohen_kappa": ((tp + tn) / n - chance) / (1 - chance),
        "f1_macro": (f1 + of_others) / 2,
        "f1_weighted": ((tp + fn) * f1 + (tn + fp) * of_others) / n,
        "specificity": tn / (tn + fp),
    }[metric]


def limits(table, metrics=METRICS, methods=METHODS, n_resamples=999):
    """Limits of each metric by each method, (n_metrics, n_methods, 2); NaN where there are none."""
    y_true, y_pred = (np.repeat(labels, table) for labels in ((1, 1, 0, 0), (1, 0, 1, 0)))
    found = np.full((len(metrics), len(methods), 2), np.nan)

    def fill(some):
        results = bootstrap_score(
            y_true, y_pred, metric=list(some), n_resamples=n_resamples, random_state=0
        )
        for metric in some:
            for m, method in enumerate(methods):
                found[metrics.index(metric), m] = _limits_by(results[metric]._evidence, method)

    try:
        fill(metrics)
    except ValueError:  # A metric cannot do without a class, or both.
        for metric in metrics:
            with contextlib.suppress(ValueError):
                fill([metric])
    return found


def _limits_by(known, method):
    if method == "auto":
        return tuple(automatic_interval(known, LEVEL).interval)
    if method == "before":
        own = replace(known, smoothed=None)
        if known.share is not None:
            return tuple(confidence_interval(own, "wilson", LEVEL))
        return tuple(automatic_interval(own, LEVEL).interval)
    if method == "delta":
        half = ndtri(0.5 + LEVEL / 2) * (known.standard_error or 0.0)
        return known.estimate - half, known.estimate + half
    if problem_with(method, known):
        return np.nan, np.nan
    return tuple(confidence_interval(known, method, LEVEL))


def counted(n, metrics=METRICS, methods=METHODS, n_resamples=999):
    """Coverage and mean width of each metric, method and cell; share of tables left out."""
    tables, cells = all_tables(n), cells_of(n)
    weight = probabilities(tables, cells)
    often = weight.max(axis=1) > RAREST[n]
    tables, weight = tables[often], weight[often]
    left_out = 1 - weight.sum(axis=0).min()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([limits(table, metrics, methods, n_resamples) for table in tables])
    truths = np.array([[true_value(m, *shares(*cell)) for cell in cells] for m in metrics])
    coverage, width = np.full((2, len(metrics), len(methods), len(cells)), np.nan)
    for k, m in product(range(len(metrics)), range(len(methods))):
        low, high = found[:, k, m].T
        known = ~np.isnan(low + high)
        if not known.any():
            continue
        # A metric that refuses a table, of one class, says nothing of it.
        answered = weight[~np.isnan(found[:, k]).all(axis=(1, 2))]
        holds = (low[:, None] <= truths[k] + 1e-9) & (truths[k] - 1e-9 <= high[:, None])
        coverage[k, m] = (weight * holds).sum(axis=0) / answered.sum(axis=0)
        own = weight[known]
        width[k, m] = ((high - low)[known] @ own) / own.sum(axis=0)
    return cells, truths, coverage, width, left_out


def rows_of(n):
    """Lines of the table of one size, without it."""
    cells, truths, coverage, width, left_out = counted(n)
    for k, metric in enumerate(METRICS):
        for c, cell in enumerate(cells):
            yield (
                *(*cell, metric, f"{truths[k, c]:.4f}"),
                *(f"{value:.4f}" for value in coverage[k, :, c]),
                *(f"{value:.4f}" for value in width[k, :, c]),
                f"{left_out:.1e}",
            )


STUDY = TableStudy("tables", HEADER, [(n,) for n in SIZES], rows_of)
