"""Metrics of frozen systems: the name that skboot takes, and a fast function for other tools.

The functions work on the last axis of arrays of any shape. They give what scikit-learn gives (a
test holds them against it) and cost less, so that packages that call a metric once per resample can
be run a thousand times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats
from sklearn import metrics

from skboot.metrics import expected_cost


@dataclass(frozen=True)
class Score:
    """A metric.

    `ours` is what `bootstrap_score` takes, `function` the same for other tools, and `losses` its
    per-row values where it is their mean. Limits are cut at `bounds`, to nobody's harm. Scores with
    `is_loss` have tails that no interval can see.
    """

    name: str
    ours: object
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    bounds: tuple[float, float] = (0.0, 1.0)
    losses: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    is_loss: bool = False


def correct(y, p):
    return np.asarray(y == p, dtype=float)


def accuracy(y, p):
    return np.mean(y == p, axis=-1)


def _confusion(y, p):
    hits = np.count_nonzero((y == 1) & (p == 1), axis=-1)
    return hits, np.count_nonzero(y == 1, axis=-1), np.count_nonzero(p == 1, axis=-1), y.shape[-1]


def f1(y, p):
    hits, positives, found, _ = _confusion(y, p)
    with np.errstate(invalid="ignore"):
        return np.where(positives + found > 0, 2 * hits / np.maximum(positives + found, 1), 0.0)


def macro_f1(y, p):
    classes = np.union1d(y, p)
    if y.ndim > 1:
        return np.stack([macro_f1(a, b) for a, b in zip(y, p, strict=True)])
    n = int(classes[-1]) + 1
    hits = np.bincount(y[y == p], minlength=n)
    sizes = np.bincount(y, minlength=n) + np.bincount(p, minlength=n)
    return np.mean(2 * hits[sizes > 0] / sizes[sizes > 0])


def auc(y, s):
    ranks = stats.rankdata(s, axis=-1)
    positives = np.count_nonzero(y == 1, axis=-1)
    negatives = y.shape[-1] - positives
    total = np.sum(np.where(y == 1, ranks, 0.0), axis=-1) - positives * (positives + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / (positives * negatives)


def average_precision(y, s):
    if y.ndim > 1:
        return np.stack([average_precision(a, b) for a, b in zip(y, s, strict=True)])
    order = np.argsort(-s, kind="stable")
    ranked, hit = s[order], np.cumsum(y[order] == 1)
    last = np.r_[np.flatnonzero(np.diff(ranked)), len(y) - 1]
    gained = np.diff(np.r_[0, hit[last]])
    with np.errstate(invalid="ignore"):
        return np.sum(hit[last] / (last + 1) * gained) / hit[-1]


def matthews(y, p):
    hits, positives, found, n = _confusion(y, p)
    joint = hits * n - positives * found
    scale = np.sqrt(1.0 * positives * (n - positives) * found * (n - found))
    return np.where(scale > 0, joint / np.where(scale > 0, scale, 1), 0.0)


def kappa(y, p):
    """Cohen's kappa of small whole numbers."""
    if y.ndim > 1:
        return np.stack([kappa(a, b) for a, b in zip(y, p, strict=True)])
    n = int(max(y.max(), p.max())) + 1
    chance = np.bincount(y, minlength=n) @ np.bincount(p, minlength=n) / len(y) ** 2
    return (np.mean(y == p) - chance) / (1 - chance) if chance < 1 else np.nan


# A missed positive costs five times as much as a false alarm, and as much.
COSTS = {"cost": ((0, 1), (5, 0)), "cost 0/1": ((0, 1), (1, 0))}


def costs_of(name, y, p):
    """Cost of each decision."""
    return np.asarray(COSTS[name], dtype=float)[y, p]


def squares(y, p):
    return (y - p) ** 2


def absolutes(y, p):
    return np.abs(y - p)


def pinballs(y, p):
    """Losses of the ninth decile."""
    return np.maximum(0.9 * (y - p), 0.1 * (p - y))


def log_losses(y, p):
    # Cut where scikit-learn cuts.
    least = np.finfo(float).eps
    return -np.log(np.clip(np.where(y == 1, p, 1 - p), least, 1 - least))


def _mean_of(losses):
    return lambda y, p: np.mean(losses(y, p), axis=-1)


def r2(y, p):
    left = np.sum(squares(y, p), axis=-1)
    return 1 - left / np.sum((y - y.mean(axis=-1, keepdims=True)) ** 2, axis=-1)


def median_error(y, p):
    return np.median(absolutes(y, p), axis=-1)


ANY = (-np.inf, np.inf)
LOSS = (0.0, np.inf)


def _loss(name, ours, losses):
    return Score(name, ours, _mean_of(losses), LOSS, losses, is_loss=True)


SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "accuracy", accuracy, losses=correct),
        Score("F1", "f1", f1),
        Score("macro F1", "f1_macro", macro_f1),
        Score("AUC", "roc_auc", auc),
        Score("average precision", "average_precision", average_precision),
        Score("MCC", "matthews_corrcoef", matthews, (-1, 1)),
        Score("kappa", metrics.cohen_kappa_score, kappa, (-1, 1)),
        _loss("MSE", metrics.mean_squared_error, squares),
        _loss("MAE", metrics.mean_absolute_error, absolutes),
        _loss("pinball", partial(metrics.mean_pinball_loss, alpha=0.9), pinballs),
        _loss("log loss", metrics.log_loss, log_losses),
        *(
            Score(
                name,
                partial(expected_cost, costs=costs),
                _mean_of(partial(costs_of, name)),
                (0.0, float(np.max(costs))),
                partial(costs_of, name),
            )
            for name, costs in COSTS.items()
        ),
        Score(
            "RMSE",
            metrics.root_mean_squared_error,
            lambda y, p: np.sqrt(np.mean(squares(y, p), axis=-1)),
            LOSS,
            is_loss=True,
        ),
        Score("R2", "r2", r2, (-np.inf, 1.0), is_loss=True),
        Score("median absolute error", metrics.median_absolute_error, median_error, LOSS),
    )
}
