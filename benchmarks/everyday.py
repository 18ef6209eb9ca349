"""Workloads of everyday calls: each beside the same work done plainly, with answers shown equal.

Subgroups, few resamples, functions without a fast path, several metrics, many systems, bands, small
calls, and the trainings of a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import workloads
from harness import Goal, Peer, Row, cpu, same_spread
from packages import (
    bare_fits_and_folds,
    numpy_pairs,
    numpy_resamples,
    sklearn_loop,
    spread_of_result,
)
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from workloads import faster, labels, scores

from skboot import BootstrapScorer, bootstrap_curve, bootstrap_score, compare_systems
from skboot.splitters import BootstrapSplit

# Metrics of labels, and others, that calls with several of them have.
OF_LABELS = ("accuracy", "f1", "precision", "recall", "balanced_accuracy", "matthews_corrcoef")
OF_A_FIT = (
    *OF_LABELS,
    "roc_auc",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
)


def at_most(times: float, of: str = "its time") -> Goal:
    """Ask for a time by the peer's."""
    return Goal(f"at most {times:g} of {of}", at_most=times)


def values(n: int):
    """Draw measured and predicted values."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=min(n, workloads.MOST_ROWS))
    return truth, truth + rng.normal(size=len(truth))


def probabilities(n: int):
    """Draw two classes, and probabilities of the second."""
    chance = np.random.default_rng(0).random(min(n, workloads.MOST_ROWS))
    return (np.random.default_rng(1).random(len(chance)) < chance).astype(int), chance


def same(numbers: Callable, numbers_of_peer: Callable, what: str = "estimates"):
    """Check that both give the same numbers on the data."""

    def agrees(mine: object, theirs: object) -> str:
        np.testing.assert_allclose(numbers(mine), numbers_of_peer(theirs), rtol=1e-6, atol=1e-9)
        return f"same {what}"

    return agrees


def estimates_of(table) -> list[float]:
    """Estimates of a table of results, in order; the largest difference of subgroups is none."""
    return [result.estimate for name, result in table.items() if name != "gap"]


# ------------------------------------------------------------------ rows


def subgroup_rows() -> Iterator[Row]:
    """Subgroups beside the call without them, and beside a call for each."""
    data_of = {
        "accuracy": labels(100_000, 2),
        "neg_mean_absolute_error": values(100_000),
        "roc_auc": scores(100_000),
    }
    few = {"n_resamples": 299, "random_state": 0}
    for n_parts, times in ((20, 4.0), (200, 8.0)):
        for metric, data in data_of.items():
            n_parts = min(n_parts, len(data[0]) // 20)
            part = np.random.default_rng(1).permutation(np.arange(len(data[0])) % n_parts)
            plain = partial(bootstrap_score, *data, metric=metric, **few)
            ours = partial(plain, by=part)
            name = f"{metric}, {n_parts} subgroups, n 1e5, 299 resamples"
            peer = Peer("the call without", plain)
            yield Row(name, ours, at_most(times), peer, megabytes=None)
            agrees = same(estimates_of, lambda results: [r.estimate for r in results])
            separate = Peer("a call for each", partial(_calls_of, plain, data, part), 1.0, agrees)
            yield Row(name, ours, faster(3), separate, megabytes=None)


def _calls_of(call, data, part) -> list:
    return [
        call.func(*(column[part == k] for column in data), **call.keywords) for k in np.unique(part)
    ]


def few_resample_rows() -> Iterator[Row]:
    """199 resamples of 1,000 rows beside numpy."""
    with_values, chances, ranks = values(1000), probabilities(1000), scores(1000)
    decisions = labels(1000, 2)
    for metric, data in (
        ("neg_mean_absolute_error", with_values),
        ("neg_mean_squared_error", with_values),
        ("r2", with_values),
        ("neg_log_loss", chances),
        ("neg_brier_score", chances),
        ("roc_auc", ranks),
        ("accuracy", decisions),
        ("f1", decisions),
    ):
        few = {"n_resamples": 199, "interval": "percentile", "random_state": 0}
        ours = partial(bootstrap_score, *data, metric=metric, **few)
        agrees = same(lambda result: result.estimate, lambda answer: answer.estimate)
        peer = Peer("numpy", partial(numpy_resamples, metric, *data, 199), 1.0, agrees)
        name = f"{metric}, n 1,000, 199 resamples, percentiles"
        yield Row(name, ours, at_most(2.0), peer, megabytes=None)


def callable_rows() -> Iterator[Row]:
    """A function without a fast path beside the bare calls of it."""
    data = values(20_000)
    loop = partial(sklearn_loop, _mean_distance, *data, 199)
    for interval, times in (("percentile", 1.1), ("auto", 3.0)):
        few = {"n_resamples": 199, "interval": interval, "random_state": 0}
        ours = partial(bootstrap_score, *data, metric=_mean_distance, **few)
        agrees = same_spread(spread_of_result, lambda found: np.std(found, ddof=1), 199, 199)
        peer = Peer("199 calls on repeated rows", loop, 1.0, agrees)
        name = f"any function, n 2e4, 199 resamples, interval {interval!r}"
        yield Row(name, ours, at_most(times, "their time"), peer, megabytes=None)


def _mean_distance(y_true, y_pred) -> float:
    return float(np.abs(y_true - y_pred).mean())


def several_metric_rows() -> Iterator[Row]:
    """Metrics of labels together beside one of them, and beside scikit-learn's functions."""
    data = labels(1_000_000, 2)
    options = {"random_state": 0}
    ours = partial(bootstrap_score, *data, metric=list(OF_LABELS), **options)
    f1 = partial(bootstrap_score, *data, metric="f1", **options)
    name = "six metrics of labels, n 1e6, 1,999 resamples"
    agrees = same(lambda table: table["f1"].estimate, lambda result: result.estimate)
    yield Row(name, ours, at_most(1.6), Peer("F1 alone", f1, 1.0, agrees), megabytes=None)
    scorers = [metrics.get_scorer(metric)._score_func for metric in OF_LABELS]
    singles = partial(_scores_of, scorers, *data)
    agrees = same(estimates_of, list)
    peer = Peer("scikit-learn's six scores", singles, 1.0, agrees)
    yield Row(name, ours, Goal("cheaper", at_most=1.0), peer, megabytes=None)


def _scores_of(functions, y_true, y_pred) -> list[float]:
    return [float(function(y_true, y_pred)) for function in functions]


def fit_rows() -> Iterator[Row]:
    """What ten metrics add to a fit, and what an interval of a method adds to its trainings."""
    X, y = _features(2000)
    n_fits = workloads.N_FITS[0]
    options = {"strategy": "oob", "n_train_resamples": n_fits, "refit": False, "random_state": 0}
    model = LogisticRegression(max_iter=1000)
    one, ten = (
        partial(_scored, model, X, y, scoring=scoring, **options)
        for scoring in ("accuracy", list(OF_A_FIT))
    )
    n_left_out = max(1, round(0.368 * len(y)))
    accuracy = partial(metrics.accuracy_score, y[:n_left_out], y[-n_left_out:])
    accuracy()
    allowed = 0.5 * n_fits * float(np.median([cpu(accuracy) for _ in range(5)]))
    name = f"ten metrics of {n_fits} logistic regressions, n 2,000"
    goal = Goal("at most half an accuracy_score more per fit", over=allowed)
    agrees = same(lambda fitted: fitted.score_["accuracy"], lambda fitted: fitted.score_)
    yield Row(name, ten, goal, Peer("accuracy alone", one, 1.0, agrees), megabytes=None)
    splits = BootstrapSplit(n_fits, random_state=0)
    folds = partial(cross_validate, model, X, y, cv=splits, scoring=list(OF_A_FIT))
    goal = Goal("cheaper", at_most=1.0)
    yield Row(name, ten, goal, Peer("sklearn cross_validate", folds), megabytes=None)
    # The default trainings of an interval: on bootstrap samples, on folds, and on all rows.
    interval = partial(_scored, model, X, y, refit=False, random_state=0)
    CountedFits.n_fits = 0
    n_folds = 10 * _scored(CountedFits(), X, y, refit=False, random_state=0).n_cv_repeats
    n_runs = CountedFits.n_fits
    bare = partial(bare_fits_and_folds, model, X, y, n_runs - n_folds - 1, n_folds)
    name = f"interval of a logistic regression, n 2,000, {n_runs} fits"
    yield Row(name, interval, at_most(1.25, "their time"), Peer("the bare fits", bare), None)


class CountedFits(DummyClassifier):
    """Counts how often it is trained."""

    n_fits = 0

    def fit(self, X, y):
        CountedFits.n_fits += 1
        return super().fit(X, y)


def _features(n: int):
    from sklearn.datasets import make_classification

    return make_classification(min(n, workloads.MOST_ROWS), 20, random_state=0)


def _scored(model, X, y, **options) -> BootstrapScorer:
    return BootstrapScorer(model, **options).fit(X, y)


def system_rows() -> Iterator[Row]:
    """All pairs of many systems beside ten lines of numpy."""
    rng, n = np.random.default_rng(0), min(1000, workloads.MOST_ROWS)
    n_systems = min(100, workloads.MOST_COMPARED)
    y = rng.integers(0, 2, n)
    systems = {
        f"system {k}": np.where(rng.random(n) < share, y, 1 - y)
        for k, share in enumerate(np.linspace(0.7, 0.9, n_systems))
    }
    ours = partial(compare_systems, y, systems, random_state=0)
    correct = np.array([answers == y for answers in systems.values()], dtype=float)
    agrees = same(
        lambda result: sorted(abs(pair.difference) for pair in result.pairs),
        lambda answer: np.sort(np.abs(answer[0])),
        "differences",
    )
    peer = Peer("all pairs by numpy", partial(numpy_pairs, correct, 1999), 1.0, agrees)
    name = f"{n_systems} systems by accuracy with all pairs, n 1,000, 1,999 resamples"
    yield Row(name, ours, at_most(1.3), peer, megabytes=None)


def band_rows() -> Iterator[Row]:
    """A curve with its band beside the curve."""
    y, s = scores(1000)
    ours = partial(bootstrap_curve, y, s, curve="roc", random_state=0)
    agrees = same(
        lambda curve: [float(curve.area)], lambda points: [metrics.auc(*points[:2])], "area"
    )
    peer = Peer("one sklearn roc_curve", partial(metrics.roc_curve, y, s), 1.0, agrees)
    yield Row("ROC curve with band, n 1,000", ours, at_most(25.0), peer, megabytes=None)


def small_call_rows() -> Iterator[Row]:
    """A call on few rows beside one score."""
    y, p = labels(100, 2)
    agrees = same(lambda result: result.estimate, float)
    peer = Peer("one accuracy_score", partial(metrics.accuracy_score, y, p), 1.0, agrees)
    ours = partial(bootstrap_score, y, p, random_state=0)
    yield Row("accuracy, n 100, 1,999 resamples", ours, at_most(1.0), peer, megabytes=None)


EVERYDAY = {
    "subgroups": subgroup_rows,
    "few resamples": few_resample_rows,
    "callables": callable_rows,
    "several metrics": several_metric_rows,
    "fits": fit_rows,
    "many systems": system_rows,
    "bands": band_rows,
    "small calls": small_call_rows,
}
