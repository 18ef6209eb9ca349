"""Calls of metric functions and of formulas; what is expected comes from other packages."""

from math import comb

import numpy as np
from scipy import stats
from sklearn import metrics

import skboot
from skboot import inference
from skboot import metrics as ours
from skboot.model_selection import corrected_t

from . import columns
from .case import REFUSAL, Case


def _rates(y_true, y_score):
    """False positive and false negative rates from the lowest threshold up, as scikit-learn's."""
    fpr, tpr, _ = metrics.roc_curve(y_true, y_score, drop_intermediate=False)
    return fpr, 1 - tpr


def equal_error_rate(y_true, y_score):
    fpr, fnr = _rates(y_true, y_score)
    # The two rates cross between two points of the curve, where both are interpolated.
    gap = fnr - fpr
    k = int(np.flatnonzero(gap <= 0)[0])
    share = 0.0 if k == 0 else gap[k - 1] / (gap[k - 1] - gap[k])
    return fpr[k - 1] + share * (fpr[k] - fpr[k - 1]) if k else fpr[0]


def net_benefit(y_true, y_prob, threshold):
    positive = y_prob >= threshold
    hits, alarms = np.mean(positive & (y_true == 1)), np.mean(positive & (y_true == 0))
    return hits - alarms * threshold / (1 - threshold)


LABELS_ONLY = {
    "sensitivity": lambda t, p: metrics.recall_score(t, p),
    "specificity": lambda t, p: metrics.recall_score(t, p, pos_label=0),
    "ppv": lambda t, p: metrics.precision_score(t, p),
    "npv": lambda t, p: metrics.precision_score(t, p, pos_label=0),
    "expected_cost": lambda t, p: 1 - metrics.accuracy_score(t, p),
}
PROBABILITIES = {
    "brier_score": lambda t, p: np.mean((p - t) ** 2),
    "cross_entropy": lambda t, p: metrics.log_loss(t, p),
    "net_benefit": lambda t, p: net_benefit(t, p, 0.3),
    "equal_error_rate": equal_error_rate,
}
OPTIONS = {"net_benefit": {"threshold": 0.3}}


def of_metric_functions(rng, folder):
    n = int(rng.choice((6, 10, 40)))
    truth = rng.permutation(np.arange(n) % 2)
    name = str(rng.choice([*LABELS_ONLY, *PROBABILITIES]))
    kind = str(rng.choice(["int", "bool", "int8", "uint8", "float32", "whole Decimal", "int64"]))
    in_truth, y_true = columns.contained([columns.LABELS[kind](int(k)) for k in truth], rng, folder)
    if name in LABELS_ONLY:
        other = np.where(rng.random(n) < 0.7, truth, 1 - truth)
        entries = [columns.LABELS[kind](int(k)) for k in other]
        expected = LABELS_ONLY[name](truth, other)
        if {"ppv": 1, "npv": 0}.get(name, other[0]) not in other:
            # scikit-learn's 0 without such a prediction stands for no value.
            expected = np.nan
    else:
        prob = np.round(np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(0, 0.2, n), 0.01, 0.99), 2)
        entries = prob.tolist()
        expected = PROBABILITIES[name](truth, prob)
    in_pred, y_pred = columns.contained(entries, rng, folder)
    function, options = getattr(ours, name), OPTIONS.get(name, {})
    text = f"{name}: {kind} in {in_truth} and {in_pred}, {n} rows"
    names = ("y_true", "y_pred", "y_prob", "y_score")

    def call():
        return function(y_true, y_pred, **options)

    return Case(text, call, expected, names, (y_true, y_pred))


def of_poisoned_functions(rng, folder):
    truth = np.arange(12) % 2
    name = str(rng.choice([*LABELS_ONLY, *PROBABILITIES]))
    other = truth.tolist() if name in LABELS_ONLY else (0.2 + 0.6 * truth).tolist()
    is_truth = rng.random() < 0.5
    what, bad = columns.poisoned(truth.tolist() if is_truth else other, rng)
    given = (bad, other) if is_truth else (truth, bad)
    function, options = getattr(ours, name), OPTIONS.get(name, {})
    text = f"{name}: {what} in the {'first' if is_truth else 'second'} column"
    names = ("y_true", "y_pred", "y_prob", "y_score")
    return Case(text, lambda: function(*given, **options), REFUSAL, names, (bad,))


def whole(k, rng):
    """A count as the many types that count."""
    makers = (int, float, np.int8, np.uint16, np.int64, np.uint64, np.float64, np.asarray)
    return makers[rng.integers(len(makers))](k)


def of_formulas(rng, folder):
    which = str(
        rng.choice(["proportion", "mcnemar", "pass_at_k", "corrected_t", "across", "delong"])
    )
    return globals()[f"_{which}"](rng, folder)


def _proportion(rng, folder):
    n = int(rng.choice((1, 2, 10, 120)))
    k = int(rng.integers(0, n + 1))
    method, level = str(rng.choice(["wilson", "clopper-pearson"])), float(rng.choice([0.5, 0.95]))
    known = stats.binomtest(k, n).proportion_ci(level, {"wilson": "wilson"}.get(method, "exact"))
    given = whole(k, rng), whole(n, rng)

    def call():
        return inference.proportion_interval(*given, method=method, confidence_level=level)[:2]

    text = f"proportion_interval: {given[0]!r} of {given[1]!r}, {method}"
    return Case(text, call, [known.low, known.high], ("k", "n"), (), True)


def _mcnemar(rng, folder):
    first, second = (int(k) for k in rng.integers(0, 30, size=2))
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    given = whole(first, rng), whole(second, rng)
    text = f"mcnemar_exact: {given[0]!r} and {given[1]!r}"
    names = ("first_only", "second_only")
    return Case(text, lambda: inference.mcnemar_exact(*given), expected, names, (), True)


def _pass_at_k(rng, folder):
    n_items = int(rng.choice((1, 2, 10)))
    n = rng.integers(3, 20, size=n_items)
    correct = rng.integers(0, n + 1)
    expected = [1 - comb(int(a - c), 3) / comb(int(a), 3) for c, a in zip(correct, n, strict=True)]
    stored = [columns.contained(own.tolist(), rng, folder) for own in (correct, n)]
    text = f"pass_at_k: counts in {stored[0][0]} and {stored[1][0]}"
    names = ("n_correct", "n_samples", "k")
    inputs = (stored[0][1], stored[1][1])
    return Case(text, lambda: ours.pass_at_k(*inputs, 3), expected, names, inputs)


def _corrected_t(rng, folder):
    scores = rng.random(size=(2, int(rng.choice((2, 5, 30)))))
    gap = scores[0] - scores[1]
    half = stats.t.ppf(0.975, len(gap) - 1) * np.sqrt((1 / len(gap) + 10 / 90) * gap.var(ddof=1))
    stored = [columns.contained(own.tolist(), rng, folder) for own in scores]

    def call():
        found = corrected_t(stored[0][1], stored[1][1], n_train=90, n_test=10)
        return list(found.confidence_interval[:2])

    text = f"corrected_t: scores in {stored[0][0]} and {stored[1][0]}, {len(gap)} folds"
    expected = [gap.mean() - half, gap.mean() + half]
    inputs = (stored[0][1], stored[1][1])
    return Case(text, call, expected, ("scores_a", "scores_b"), inputs)


def _across(rng, folder):
    scores = rng.random(size=(int(rng.choice((2, 3, 12))), 3))
    container, table = columns.contained_table(scores, rng, folder, sparse_too=False)
    names = {"datasets": [f"set {k}" for k in range(len(scores))], "methods": list("ABC")}
    if container.startswith("pandas"):
        names = {}
    may_refuse = container in ("polars", "with __array__", "tensor")

    def call():
        found = skboot.compare_across(table, **names, greater_is_better=True, n_resamples=9)
        return [pair.difference for pair in found.pairs]

    centre = scores.mean(axis=0)
    expected = [centre[0] - centre[1], centre[0] - centre[2], centre[1] - centre[2]]
    text = f"compare_across: {len(scores)} data sets in {container}"
    return Case(text, call, expected, ("scores", "datasets", "methods"), (table,), may_refuse)


def _delong(rng, folder):
    truth = rng.permutation(np.arange(30) % 2)
    scores = np.round(rng.normal(size=(2, 30)) + truth, 1)
    stored = [columns.contained(own.tolist(), rng, folder) for own in (truth.astype(bool), *scores)]
    areas = [metrics.roc_auc_score(truth, own) for own in scores]

    def call():
        return inference.delong_test(*(own for _, own in stored)).difference

    text = f"delong_test: {', '.join(name for name, _ in stored)}"
    names = ("y_positive", "first", "second")
    return Case(text, call, areas[0] - areas[1], names, tuple(own for _, own in stored))


MAKERS = {of_metric_functions: 10, of_poisoned_functions: 6, of_formulas: 5}
