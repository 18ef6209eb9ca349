"""Several labels or outputs a row: macro and micro F1, Hamming loss, and R2 averaged over outputs.

Question: does ``interval="auto"`` of `bootstrap_score` keep 95 % where a row holds several labels,
or outputs, that depend on each other? Written before the run.

Design. Labels of a row are set where normal variables that share a part (correlation .4) are below
their quantiles: shares from .5 down to .15. A label is missed with probability .25 and falsely
decided with .1, again by normal variables with a correlation of .4 between the labels of a row, so
that hard rows are wrong in many labels. Outputs are normal with correlation .4, and so are their
errors, whose variances go from .2 to .8. Every truth is exact, because it depends on single labels
and outputs alone. 100 and 500 rows, 5 and 20 labels or outputs; 1000 repetitions, 999 resamples;
"skboot" is the default, and other intervals are from the same resamples.

Rule. It passes if the default covers at least 93 % in every cell whose data sets carry no caution
in at least half of the cases, and at least 90 % in the others, a cell counting as below where its
upper Monte Carlo limit (2.6 standard errors) is. Cells that fail are named on the page, and the
choice for their metric is looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from sklearn.metrics import hamming_loss

from skboot import bootstrap_score

from ..runner import Cell, Study, Tool

REPETITIONS = 1000
N_RESAMPLES = 999
CORRELATION = 0.4
MISSED, FALSE = 0.25, 0.1
OTHERS = ("percentile", "expanded", "bca")


@dataclass(frozen=True)
class OutputsSample:
    """Labels or outputs of rows, what a system says of them, and the truth."""

    y_true: np.ndarray
    y_pred: np.ndarray
    metric: object
    truth: Mapping[str, float]
    exception: str = ""


def correlated(rng, n, size):
    """Normal variables of variance 1 that share a part within a row, (n, size)."""
    shared, own = rng.standard_normal((n, 1)), rng.standard_normal((n, size))
    return math.sqrt(CORRELATION) * shared + math.sqrt(1 - CORRELATION) * own


def shares_of(n_labels):
    """Share of the rows that have each label."""
    return np.linspace(0.5, 0.15, n_labels)


def labels_score(metric, share):
    """Exact score of the system, from what it does with each label."""
    hits, decided = share * (1 - MISSED), share * (1 - MISSED) + (1 - share) * FALSE
    return float(
        {
            "f1_macro": np.mean(2 * hits / (share + decided)),
            "f1_micro": 2 * hits.sum() / (share + decided).sum(),
            "hamming_loss": np.mean(share * MISSED + (1 - share) * FALSE),
        }[metric]
    )


def label_sets(metric, n, n_labels):
    """Sets of labels and decisions."""
    share = shares_of(n_labels)
    truth = {"": labels_score(metric, share)}

    def draw(rng):
        sets = correlated(rng, n, n_labels) < ndtri(share)
        wrong = correlated(rng, n, n_labels) < np.where(sets, ndtri(MISSED), ndtri(FALSE))
        return OutputsSample(sets.astype(int), (sets ^ wrong).astype(int), metric, truth)

    return draw


def outputs(n, n_outputs):
    """Outputs and predictions: an output's R2 is 1 less the variance of its errors."""
    variance = np.linspace(0.2, 0.8, n_outputs)
    truth = {"": float(1 - variance.mean())}

    def draw(rng):
        y_true = correlated(rng, n, n_outputs)
        y_pred = y_true + np.sqrt(variance) * correlated(rng, n, n_outputs)
        return OutputsSample(y_true, y_pred, "r2", truth)

    return draw


def call(sample, seed):
    """The default interval, and others of the same resamples."""
    metric = hamming_loss if sample.metric == "hamming_loss" else sample.metric
    result = bootstrap_score(
        sample.y_true, sample.y_pred, metric=metric, n_resamples=N_RESAMPLES, random_state=seed
    )
    found = {"": tuple(result.confidence_interval)}
    for name in OTHERS:
        found[name] = tuple(result.interval(method=name))
    return found


def _cells():
    tools = {"skboot": REPETITIONS}
    for n in (100, 500):
        for size in (5, 20):
            for metric, name in (
                ("f1_macro", "macro F1"),
                ("f1_micro", "micro F1"),
                ("hamming_loss", "Hamming loss"),
            ):
                title = f"{name}, {size} labels, n {n}"
                yield Cell(title, name, label_sets(metric, n, size), tools)
            yield Cell(f"R2, {size} outputs, n {n}", "R2", outputs(n, size), tools)


TOOLS = {"skboot": Tool("skboot", call, note="999 resamples")}
STUDY = Study("several_outputs", tuple(_cells()), TOOLS)
