"""No limit lies beyond the range of its metric, whatever made it; uncut it is that of the textbook.

The textbook is scipy's quantiles, and means and deviations of replicates, runs or folds.
"""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, top_k_accuracy_score
from sklearn.model_selection import cross_validate

import skboot
from skboot.inference import prediction_error, proportion_interval
from skboot.inference.differences import DIFFERENCE_METHODS
from skboot.inference.intervals import FOR_ONE_SCORE
from skboot.model_selection import corrected_t

pytestmark = pytest.mark.identity

B, LEVELS = 199, (0.9, 0.999)
INF = np.inf
# Of two classes, Matthews' coefficient and Brier's score among them; errors end at 0.
RANGES = {
    "accuracy": (0, 1),
    "f1": (0, 1),
    "matthews_corrcoef": (-1, 1),
    "roc_auc": (0, 1),
    "average_precision": (0, 1),
    "neg_brier_score": (-1, 0),
    "neg_log_loss": (-INF, 0),
    "r2": (-INF, 1),
    "neg_mean_absolute_error": (-INF, 0),
    "mean_squared_error": (0, INF),
}
VALUES = ("r2", "neg_mean_absolute_error", "mean_squared_error")
PROBABILITIES = ("roc_auc", "average_precision", "neg_brier_score", "neg_log_loss")
LABELS = ("accuracy", "f1", "matthews_corrcoef")


def rows_of(metric, seed, n=24, n_systems=1):
    """Few rows, and good predictions for them, so that limits reach far beyond the range."""
    rng = np.random.default_rng([seed, sum(map(ord, metric))])
    y = rng.permutation(np.arange(n) % 2)
    if metric in VALUES:
        y = rng.normal(size=n)
        # One row has nearly all of the error.
        errors = 0.01 * rng.normal(size=(n_systems, n)) + np.eye(n_systems, n, 1)
        return y, list(y + errors)
    if metric in PROBABILITIES:
        logits = 4 * (2 * y - 1) + 3 * rng.normal(size=(n_systems, n))
        return y, list(1 / (1 + np.exp(-logits)))
    flips = np.stack([rng.permutation(n) < 1 + k % 3 for k in range(n_systems)])
    return y, list(np.where(flips, 1 - y, y))


def is_within(interval, bounds):
    """Whether limits are those of the formula, cut; also as copies and by the dict."""
    low, high = np.clip(interval.uncut, *bounds)
    close(tuple(interval), (low, high), 0, 0)
    assert interval.is_cut == (interval.uncut != tuple(interval))
    for same in (copy.deepcopy(interval), pickle.loads(pickle.dumps(interval))):
        assert (same, same.uncut) == (interval, interval.uncut)
    return interval.is_cut


# ------------------------------------------------------------------ one score


def textbook(result, method, level, hits):
    """Limits by the formula; None where this test has none."""
    ordered, estimate, n = np.sort(result.bootstrap_distribution), result.estimate, 24
    if np.isnan(ordered).any():
        return None
    z, t = stats.norm.ppf(0.5 + level / 2), stats.t.ppf(0.5 + level / 2, n - 1)
    spread, mean = ordered.std(ddof=1), ordered.mean()
    if method == "normal":
        return 2 * estimate - mean - z * spread, 2 * estimate - mean + z * spread
    if method in ("t", "bias-corrected"):
        centre = estimate if method == "t" else 2 * estimate - mean
        half = t * spread * np.sqrt(n / (n - 1))
        return centre - half, centre + half
    if method == "basic" and level == 0.9:
        # Of 199 replicates the 10th and the 190th.
        return 2 * estimate - ordered[189], 2 * estimate - ordered[9]
    if method == "wald" and hits is not None:
        half = z * np.sqrt(hits * (1 - hits) / n)
        return hits - half, hits + half
    return None


@pytest.mark.parametrize("metric", RANGES)
@any_seed
def test_limits_of_one_score(metric, seed):
    y, [y_pred] = rows_of(metric, seed)
    result = quiet(skboot.bootstrap_score, y, y_pred, metric=metric, n_resamples=B, random_state=0)
    hits = np.mean(y == y_pred) if metric == "accuracy" else None
    n_cut = n_known = 0
    for method in ("auto", *FOR_ONE_SCORE):
        for level in LEVELS:
            try:
                interval = quiet(result.interval, method, level)
            except ValueError:
                continue
            n_cut += is_within(interval, RANGES[metric])
            if (known := textbook(result, method, level, hits)) is not None:
                n_known += 1
                close(interval.uncut, known, 1e-12, 1e-12)
    assert n_cut >= 2
    assert n_known >= 7 + 2 * (metric == "accuracy")


@pytest.mark.parametrize("method", ["wald", "t", "normal", "basic"])
def test_a_summary_says_that_a_limit_was_cut_and_a_file_keeps_what_it_was(method, tmp_path):
    y, [y_pred] = rows_of("accuracy", 0)
    result = quiet(
        skboot.bootstrap_score, y, y_pred, interval=method, n_resamples=B, random_state=0
    )
    assert result.confidence_interval.is_cut
    assert "cut at the range" in result.summary()
    assert "uncut" not in result.to_frame()
    result.save(tmp_path / "result.npz")
    read = type(result).load(tmp_path / "result.npz")
    assert read.confidence_interval.uncut == result.confidence_interval.uncut
    assert result.monte_carlo_error.high == 0


# ------------------------------------------------------------------ every other function


def of_proportion(metric, seed):
    for k in (1, 49):
        interval = proportion_interval(k, 50, method="wald")
        half = stats.norm.ppf(0.975) * np.sqrt(k / 50 * (1 - k / 50) / 50)
        close(interval.uncut, (k / 50 - half, k / 50 + half), 1e-12)
        yield interval


def of_runs(metric, seed):
    y, runs = rows_of(metric, seed, n_systems=3)
    result = quiet(skboot.bootstrap_runs, y, runs, metric=metric, n_resamples=B, random_state=0)
    scores = result.runs["score"]
    for estimand in ("method", "next_run", "pooled", "system"):
        yield quiet(result.interval, "auto", 0.999, estimand)
    yield quiet(result.interval, "components", 0.999, "method")
    known = stats.t.interval(0.999, 2, scores.mean(), scores.std(ddof=1) / np.sqrt(3))
    interval = quiet(result.interval, "t", 0.999, "method")
    if scores.std() > 0:
        close(interval.uncut, known, 1e-12)
    yield interval


def of_subgroups(metric, seed):
    y, [y_pred] = rows_of(metric, seed, n=48)
    by = np.arange(48) % 4 // 2
    # One subgroup is right where the other is wrong.
    y_pred = np.where(by == 1, y_pred[::-1] if metric in VALUES else 1 - y_pred, y_pred)
    options = {"metric": metric, "by": by, "n_resamples": B, "random_state": 0}
    gap = quiet(skboot.bootstrap_score, y, y_pred, **options)["gap"]
    yield gap.confidence_interval
    for method in ("t", "normal", "basic"):
        yield quiet(gap.interval, method, 0.999)


def intervals_of(comparison):
    for pair in comparison.pairs:
        yield from (pair.confidence_interval, pair.simultaneous_interval)
        if pair.alternative == "two-sided" and pair.greater_is_better is not None:
            yield pair.verdict().interval


def of_systems(metric, seed):
    n = 8 if metric == "accuracy" else 24
    y, systems = rows_of(metric, seed, n=n, n_systems=3)
    systems[1] = systems[1][::-1] if metric in VALUES else 1 - systems[1]
    options = {"metric": metric, "n_resamples": B, "random_state": 0, "confidence_level": 0.999}
    for method in (m for m in DIFFERENCE_METHODS if m != "anytime"):
        for adjust in ("max-t", "bonferroni"):
            try:
                found = quiet(
                    skboot.compare_systems,
                    y,
                    dict(zip("abc", systems, strict=True)),
                    interval=method,
                    adjust=adjust,
                    **options,
                )
            except ValueError:
                continue
            yield from intervals_of(found)
            cut = any(each.is_cut for each in (*intervals_of(found),) if each is not None)
            assert ("cut at the range" in found.summary()) >= cut


def of_compared_runs(metric, seed):
    y, runs = rows_of(metric, seed, n_systems=4)
    systems = {"a": runs[:2], "b": [runs[2], runs[3][::-1] if metric in VALUES else 1 - runs[3]]}
    for interval in ("auto", "welch"):
        options = {"interval": interval, "n_resamples": B, "random_state": 0}
        found = quiet(skboot.compare_runs, y, systems, metric=metric, **options)
        [pair] = found.pairs
        if interval == "welch":
            a, b = (found.systems[name].runs["score"] for name in "ab")
            known = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
            close(pair.confidence_interval.uncut, known, 1e-9)
        yield from intervals_of(found)


def trained_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    return X, (X[:, 0] + 0.1 * rng.normal(size=40) > 0).astype(int)


def of_method(metric, seed):
    X, y = trained_rows(seed)
    scorer = skboot.BootstrapScorer(
        LogisticRegression(), scoring=metric, strategy="oob", n_train_resamples=30, random_state=0
    )
    result = quiet(scorer.fit, X, y).result_
    scores = result.bootstrap_distribution[~np.isnan(result.bootstrap_distribution)]
    for method, df in (("normal", INF), ("t", len(scores) - 1)):
        interval = quiet(result.interval, method, 0.999)
        known = stats.t.interval(0.999, df, scores.mean(), scores.std(ddof=1))
        close(interval.uncut, known, 1e-12)
        yield interval
    for method in ("adjusted", "hull", "percentile"):
        yield quiet(result.interval, method, 0.999)


class Reversed(LogisticRegression):
    """Says the other class."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]

    def decision_function(self, X):
        return -super().decision_function(X)


def of_methods(metric, seed):
    X, y = trained_rows(seed)
    methods = {"good": LogisticRegression(), "bad": Reversed()}
    options = {"strategy": "oob", "n_train_resamples": 8, "random_state": 0}
    options |= {"scoring": metric, "confidence_level": 0.999}
    yield from intervals_of(quiet(skboot.compare_methods, methods, X, y, **options))


def of_folds(metric, seed):
    X, y = trained_rows(seed)
    one, other = (
        cross_validate(LogisticRegression(C=C), X, y, cv=10, scoring=[metric], return_indices=True)
        for C in (1, 1e-9)
    )
    for arguments, key in (((one,), 0), ((one, other), 1)):
        found = quiet(corrected_t, *arguments, confidence_level=0.999)[metric]
        scores = one[f"test_{metric}"] - (other[f"test_{metric}"] if key else 0)
        error = scores.std(ddof=1) * np.sqrt(1 / 10 + 1 / 9)
        interval = found.confidence_interval
        if error > 0:
            close(interval.uncut, stats.t.interval(0.999, 9, scores.mean(), error), 1e-12)
        yield interval
    bare = quiet(corrected_t, one[f"test_{metric}"], n_train=36, n_test=4, confidence_level=0.999)
    assert not bare.confidence_interval.is_cut


def of_curve(metric, seed):
    X, y = trained_rows(seed)
    curve = quiet(
        skboot.learning_curve, LogisticRegression(), X, y, scoring=metric, n_repeats=5,
        train_sizes=(0.5, 0.9), random_state=0,
    )  # fmt: skip
    for x in curve.x:
        point = curve.at(x)
        yield from (point.confidence_interval, quiet(point.interval, "t", 0.999))


def of_losses(metric, seed):
    rng = np.random.default_rng(seed)
    losses = (rng.random((30, 20)) < 0.05).astype(float)
    weights = rng.multinomial(20, np.full(20, 1 / 20), size=30)
    error = quiet(
        prediction_error, losses, weights, resubstitution_losses=losses[0], no_information_rate=0.5
    )
    for method in ("normal", "t", "percentile", "adjusted", "hull"):
        yield quiet(error.interval, method, 0.999)


# Each function, the metrics that it is called with, and whether it makes a difference.
FUNCTIONS = {
    of_proportion: (("accuracy",), False),
    of_runs: ((*LABELS, *PROBABILITIES, *VALUES), False),
    of_subgroups: ((*LABELS, *PROBABILITIES, *VALUES), True),
    of_systems: (("accuracy", "f1", "roc_auc", "mean_squared_error"), True),
    of_compared_runs: (("accuracy", "matthews_corrcoef", "roc_auc"), True),
    of_method: (("accuracy", "roc_auc", "neg_log_loss"), False),
    of_methods: (("accuracy", "roc_auc"), True),
    of_folds: (("accuracy", "f1", "roc_auc", "neg_log_loss"), None),
    of_curve: (("accuracy", "roc_auc"), False),
    of_losses: (("accuracy",), False),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@any_seed
def test_limits_of_every_function(function, seed):
    metrics, is_difference = FUNCTIONS[function]
    n_cut = 0
    for metric in metrics:
        low, high = RANGES[metric]
        for k, interval in enumerate(function(metric, seed)):
            if interval is None:
                continue
            of_two = bool(k) if is_difference is None else is_difference
            n_cut += is_within(interval, (low - high, high - low) if of_two else (low, high))
    assert n_cut > 0


def test_scores_beyond_the_range_of_the_metric_whose_name_they_have_are_not_cut():
    indices = {"train": [np.arange(9)] * 10, "test": [np.array([9])] * 10}
    percent = np.array([90.0, 100, 80, 100, 100, 90, 100, 100, 90, 100])
    found = quiet(corrected_t, {"indices": indices, "test_accuracy": percent})
    assert not found["accuracy"].confidence_interval.is_cut


@any_seed
@pytest.mark.parametrize(
    ("function", "options", "high"),
    [
        (top_k_accuracy_score, {"normalize": False, "labels": range(3)}, INF),
        (precision_score, {"average": "samples", "zero_division": np.nan}, 1),
        (f1_score, {"average": "samples", "zero_division": np.nan}, 1),
    ],
)
def test_limits_of_options_without_a_fast_path(function, options, high, seed):
    rng = np.random.default_rng(seed)
    y, answers = rng.integers(0, 2, (2, 15, 3))
    if function is top_k_accuracy_score:
        y, answers = rng.integers(0, 3, 15), rng.dirichlet(np.ones(3), 15)
    groups = np.arange(15) // 12
    metric = partial(function, **options)
    result = quiet(skboot.bootstrap_score, y, answers, metric=metric, groups=groups, n_resamples=B)
    low, top = result.confidence_interval[:2]
    assert low >= 0
    assert top <= high
