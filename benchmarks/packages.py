"""How other packages, and plain loops, do the work that the workloads of skboot do.

Packages are imported when they are called. Results go through `spread_of_*` and `estimate_of_*`.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn import metrics
from sklearn.model_selection import cross_validate


def confidence_intervals(metric, y_true, y_pred, n_resamples, conditions=None):
    from confidence_intervals import evaluate_with_conf_int

    return evaluate_with_conf_int(
        y_pred, metric, labels=y_true, conditions=conditions, num_bootstraps=n_resamples, alpha=5
    )


def confidenceinterval(y_true, y_pred, n_resamples):
    import confidenceinterval as package

    # Its default, BCa, calls the metric once more for every row.
    return package.accuracy_score(
        y_true, y_pred, method="bootstrap_percentile", n_resamples=n_resamples
    )


def torchmetrics(y_true, y_pred, n_resamples):
    import torch
    from torchmetrics.classification import BinaryAccuracy
    from torchmetrics.wrappers import BootStrapper

    resampler = BootStrapper(BinaryAccuracy(), num_bootstraps=n_resamples)
    resampler.update(torch.from_numpy(y_pred), torch.from_numpy(y_true))
    return resampler.compute()


def mlxtend_632_plus(estimator, X, y, n_splits):
    from mlxtend.evaluate import bootstrap_point632_score

    with contextlib.redirect_stdout(io.StringIO()):
        return bootstrap_point632_score(estimator, X, y, n_splits, method=".632+", random_seed=0)


def scipy_mean(values, n_resamples):
    return stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=n_resamples,
        method="percentile",
        vectorized=True,
        batch=max(1, 10**6 // len(values)),
        rng=np.random.default_rng(0),
    )


def sklearn_loop(metric, y_true, y_pred, n_resamples):
    rng = np.random.default_rng(0)
    n = len(y_true)
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        rows = rng.integers(0, n, n)
        values[b] = metric(y_true[rows], y_pred[rows])
    return values


class Answer(NamedTuple):
    """A score with a percentile interval."""

    estimate: float
    standard_error: float
    limits: tuple[float, float]


def numpy_resamples(metric, y_true, y_pred, n_resamples):
    """Resamples of a metric by its formula in numpy, all at once where it has one."""
    rng, n = np.random.default_rng(0), len(y_true)
    rows = rng.integers(0, n, (n_resamples, n))
    if metric in LOSSES:
        losses = LOSSES[metric](y_true, y_pred)
        estimate, found = losses.mean(), losses[rows].mean(axis=1)
    elif metric == "roc_auc":
        estimate = _area(y_true, y_pred)
        found = np.array([_area(y_true[drawn], y_pred[drawn]) for drawn in rows])
    else:
        estimate = FORMULAS[metric](y_true, y_pred)
        found = FORMULAS[metric](y_true[rows], y_pred[rows])
    low, high = np.quantile(found, (0.025, 0.975))
    return Answer(float(estimate), float(found.std(ddof=1)), (low, high))


def _area(y_true, score):
    # By the ranks of the positives; scores are continuous, and ties are copies of a row.
    order = np.argsort(score, kind="stable")
    ordered, positive = score[order], y_true[order] == 1
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ups, downs = np.add.reduceat(positive, starts), np.add.reduceat(~positive, starts)
    below = np.cumsum(downs) - 0.5 * downs
    return ups @ below / (ups.sum() * downs.sum())


def _f1(y_true, y_pred):
    hits = np.count_nonzero(y_true & y_pred, axis=-1)
    return 2 * hits / (y_true.sum(axis=-1) + y_pred.sum(axis=-1))


def _r2(y_true, y_pred):
    centred = y_true - y_true.mean(axis=-1, keepdims=True)
    return 1 - ((y_true - y_pred) ** 2).sum(axis=-1) / (centred**2).sum(axis=-1)


# Metrics that are means of a loss of each row, and others.
LOSSES = {
    "neg_mean_absolute_error": lambda y, p: -np.abs(y - p),
    "neg_mean_squared_error": lambda y, p: -((y - p) ** 2),
    "neg_log_loss": lambda y, p: np.log(np.where(y == 1, p, 1 - p)),
    "neg_brier_score": lambda y, p: -((y - p) ** 2),
    "accuracy": lambda y, p: y == p,
}
FORMULAS = {"r2": _r2, "f1": _f1}


def numpy_pairs(correct, n_resamples):
    """Differences of all pairs of systems, (n_systems, n) right or wrong, with percentiles."""
    rng, (n_systems, n) = np.random.default_rng(0), correct.shape
    counts = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_resamples)])
    shares = correct @ counts.T / n
    first, second = np.triu_indices(n_systems, 1)
    share = correct.mean(axis=1)
    limits = np.quantile(shares[first] - shares[second], (0.025, 0.975), axis=1)
    return share[first] - share[second], limits


def numpy_concatenation(correct, groups, n_resamples):
    rng = np.random.default_rng(0)
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        drawn = rng.integers(0, len(rows_of), len(rows_of))
        values[b] = correct[np.concatenate([rows_of[g] for g in drawn])].mean()
    return values


def trials_loop(metric, y_true, y_score, enrolled, tested, n_resamples):
    rng = np.random.default_rng(0)
    n_left, n_right = enrolled.max() + 1, tested.max() + 1
    truth, score = y_true.reshape(n_left, n_right), y_score.reshape(n_left, n_right)
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        at = np.ix_(rng.integers(0, n_left, n_left), rng.integers(0, n_right, n_right))
        values[b] = metric(truth[at].ravel(), score[at].ravel())
    return values


def equal_error_rate(y_true, y_score):
    fpr, tpr, _ = metrics.roc_curve(y_true, y_score, drop_intermediate=False)
    gap = fpr - (1 - tpr)
    k = int(np.searchsorted(gap, 0))
    share = -gap[k - 1] / (gap[k] - gap[k - 1])
    return fpr[k - 1] + share * (fpr[k] - fpr[k - 1])


def bare_fits(estimator, X, y, n_fits):
    """Fit on bootstrap samples and predict the rows left out, and nothing else."""
    from sklearn.base import clone

    rng = np.random.default_rng(0)
    n = len(y)
    for _ in range(n_fits):
        rows = rng.integers(0, n, n)
        out = np.bincount(rows, minlength=n) == 0
        clone(estimator).fit(X[rows], y[rows]).predict(X[out])


def bare_fits_and_folds(estimator, X, y, n_fits, n_folds):
    """Fit on bootstrap samples, on folds of a tenth, and on all rows, and nothing else."""
    from sklearn.base import clone

    bare_fits(estimator, X, y, n_fits)
    fold = np.random.default_rng(1).permutation(len(y)) % 10
    for k in range(n_folds):
        is_test = fold == k % 10
        clone(estimator).fit(X[~is_test], y[~is_test]).predict(X[is_test])
    clone(estimator).fit(X, y).predict(X)


def cross_validation(estimator, X, y, n_fits):
    from skboot.splitters import BootstrapSplit

    return cross_validate(estimator, X, y, cv=BootstrapSplit(n_fits, random_state=0))


def spread_of_limits(answer):
    low, high = answer[1]
    return (high - low) / 2 / stats.norm.ppf(0.975)


def spread_of_values(values):
    return np.std(values, ddof=1)


def spread_of_result(result):
    return result.standard_error


def estimate_of_answer(answer):
    return float(answer[0])


def wilcoxon_of_pairs(scores):
    """P-values of Wilcoxon's test of each two columns, one by one."""
    first, second = np.triu_indices(scores.shape[1], 1)
    differences = (scores[:, first] - scores[:, second]).T
    return [stats.wilcoxon(own).pvalue for own in differences]


class Import:
    """Run an import statement in a process of its own, and tell its CPU time."""

    def __init__(self, statement):
        self.statement = statement

    def __call__(self):
        code = f"import time\n{self.statement}\nprint(time.process_time())"
        kept = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
        # Compiled modules are kept somewhere, as they are for an installed package.
        cache = os.path.join(tempfile.gettempdir(), "skboot-benchmarks-bytecode")
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**kept, "PYTHONPYCACHEPREFIX": cache},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)


def told(call):
    """Timer of calls that tell their own time."""
    found = call()
    return found if isinstance(found, float) else 0.0
