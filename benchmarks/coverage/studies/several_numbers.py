"""Several scores of one system at once: do simultaneous intervals hold all the true scores?

Question: with ``adjust="max-t"``, do the intervals of `bootstrap_score` hold all the true scores
at once in 95 % of data sets, and what do they cost in width beside intervals each by itself, and
beside Bonferroni's rule? Written before the run.

Design. Two classes: sensitivity, specificity and both predictive values in 200 and 1000 rows with
30 % positives; 3, 10 and 20 classes of equal size, of which the confusion matrix is known: the F1
of each class by ``average=None`` in 300 and 1000 rows; and 10 means of row losses whose correlation
is .8, in 100 rows, exponential. The true F1 of a class is that of the matrix of probabilities. The
defaults throughout, 1999 resamples.

One line of the table: the shares of data sets with some true score above, or below, its interval,
and the mean width over the scores, as those of an interval that holds 0 if all are held.

Rule. It passes if all are held in at least 93 % of the data sets of every cell, a cell counting as
below where coverage + 2.6 Monte Carlo standard errors is; and if the mean width is at most that of
Bonferroni's intervals in every cell, and at least 5 % less where scores are correlated (four rates,
means). Intervals each by itself are there to show what they miss. Three data sets of each cell were
looked at before, with studentized deviations in place of ranks, whose intervals were wider than
Bonferroni's for the F1 of each class.

If it does not pass, the cells that fail are listed in record 0056.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.special import log_ndtr
from sklearn.metrics import f1_score

from skboot import bootstrap_score

from ..runner import LEVEL, Cell, Study, Tool

REPETITIONS = 100
N_RESAMPLES = 1999
RATES = ("sensitivity", "specificity", "ppv", "npv")


@dataclass(frozen=True)
class SeveralScores:
    """A frozen system on a test set, and its true scores in the order of the results."""

    y_true: np.ndarray | None
    y_pred: np.ndarray
    metric: object
    true_scores: np.ndarray
    # The true scores are taken from the intervals, so that nothing is left.
    truth: Mapping[str, float] = field(default_factory=lambda: {"": 0.0})
    exception: str = ""


# ------------------------------------------------------------------ data sets


def rates(n):
    """Four rates of two classes."""
    joint = np.array([[0.63, 0.07], [0.045, 0.255]])
    true = [joint[1, 1] / 0.3, joint[0, 0] / 0.7]
    true += [joint[1, 1] / joint[:, 1].sum(), joint[0, 0] / joint[:, 0].sum()]

    def draw(rng):
        y_true, y_pred = _drawn(rng, joint, n)
        return SeveralScores(y_true, y_pred, list(RATES), np.array(true))

    return draw


def each_class(n, n_classes):
    """F1 of each class; the first classes are told apart best."""
    right = np.linspace(0.95, 0.6, n_classes)
    joint = np.repeat(((1 - right) / (n_classes - 1))[:, None], n_classes, axis=1)
    np.fill_diagonal(joint, right)
    joint /= n_classes
    true = 2 * np.diag(joint) / (joint.sum(axis=0) + joint.sum(axis=1))
    metric = partial(f1_score, average=None, labels=np.arange(n_classes))

    def draw(rng):
        return SeveralScores(*_drawn(rng, joint, n), metric, true)

    return draw


def _drawn(rng, joint, n):
    """Rows of a matrix of probabilities of truth and decision."""
    cells = rng.choice(joint.size, n, p=joint.ravel())
    return np.divmod(cells, len(joint))


def means(n, n_means, correlation):
    """Means of exponential losses with a common part."""

    def draw(rng):
        shared = rng.normal(size=(n, 1))
        noise = rng.normal(size=(n, n_means))
        normal = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise
        return SeveralScores(None, -log_ndtr(normal), _mean_of_columns, np.ones(n_means))

    return draw


def _mean_of_columns(losses):
    return losses.mean(axis=0)


# ------------------------------------------------------------------ tools


def _limits(sample, seed, **options):
    results = bootstrap_score(
        sample.y_true,
        sample.y_pred,
        metric=sample.metric,
        n_resamples=N_RESAMPLES,
        random_state=seed,
        **options,
    )
    return np.array([one.confidence_interval for one in results.values()]).T


def as_interval(limits, truth):
    """Interval of the mean width, which holds 0 if every interval holds its true score."""
    low, high = limits
    width, least = float(np.mean(high - low)), np.finfo(float).tiny
    if (truth < low - 1e-12).any():
        return least, least + width
    if (truth > high + 1e-12).any():
        return -width - least, -least
    return -width / 2, width / 2


def together(sample, seed):
    """Simultaneous intervals."""
    return {"": as_interval(_limits(sample, seed, adjust="max-t"), sample.true_scores)}


def alone(sample, seed):
    """Each interval by itself."""
    return {"": as_interval(_limits(sample, seed), sample.true_scores)}


def bonferroni(sample, seed):
    """Each interval at the level of Bonferroni's rule."""
    level = 1 - (1 - LEVEL) / len(sample.true_scores)
    limits = _limits(sample, seed, confidence_level=level)
    return {"": as_interval(limits, sample.true_scores)}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", together, note="adjust='max-t'"),
        Tool("each by itself", alone),
        Tool("Bonferroni", bonferroni, note="each at the level of one in all"),
    )
}
ALL = dict.fromkeys(TOOLS, REPETITIONS)


def _cells():
    for n in (200, 1000):
        yield Cell(f"four rates, n {n}", "rates", rates(n), ALL)
    for n_classes, n in ((3, 300), (10, 300), (10, 1000), (20, 1000)):
        draw = each_class(n, n_classes)
        yield Cell(f"F1 of {n_classes} classes, n {n}", "F1 of each class", draw, ALL)
    yield Cell("10 means, n 100, correlation 0.8", "means", means(100, 10, 0.8), ALL)


STUDY = Study("several_numbers", tuple(_cells()), TOOLS)
