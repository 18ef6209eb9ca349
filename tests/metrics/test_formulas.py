"""Every metric function of the package by its formula, called by itself and as a metric.

Exact. The rows have labels in text, of which either may be positive, weights, and tied scores; the
formulas are written out with sums over rows.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import close, drawn_rows, freedom_by_hand, quiet, rows_of, scored
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri, stdtrit
from scipy.stats import beta
from sklearn import metrics as sk

from skboot import Trials
from skboot import metrics as own

pytestmark = pytest.mark.identity

N = 60
LABELS = np.array(["ant", "bee"])
COSTS = np.array([[0.5, 4.0], [2.0, 0.0]])
PRIORS = np.array([0.3, 0.7])


class Binary:
    """Rows of two classes of which one is positive."""

    def __init__(self, positive, weighted, seed=0):
        rng = np.random.default_rng([seed, weighted])
        self.label = positive
        self.y = rng.random(N) < 0.45
        self.w = rng.integers(1, 6, N) / 2 if weighted else np.ones(N)
        self.weights = {"sample_weight": self.w} if weighted else {}
        self.s = np.round(rng.normal(size=N) + 1.2 * self.y, 1)
        self.p = np.round(expit(self.s - 0.6), 2).clip(0.02, 0.98)
        self.d = self.s > 0.6
        other = LABELS[positive != LABELS][0]
        self.truth = np.where(self.y, positive, other)
        self.said = np.where(self.d, positive, other)
        # Columns, and priors of the labels, are in the order of the labels.
        self.order = [0, 1] if positive == "bee" else [1, 0]
        self.columns = np.column_stack([1 - self.p, self.p])[:, self.order]

    def rate(self, which, among):
        return self.w[which & among].sum() / self.w[among].sum()

    def mean(self, values, among=None):
        among = np.full(N, True) if among is None else among
        return np.average(values[among], weights=self.w[among])

    def points(self):
        """False-positive and false-negative rates, the strictest threshold first."""
        at = [np.inf, *np.unique(self.s)[::-1]]
        wrong = [self.rate(self.s >= t, ~self.y) for t in at]
        return np.array(wrong), np.array([self.rate(self.s < t, self.y) for t in at])

    def of_classes(self, values, shares):
        """Sum of the means of negatives and of positives, by their shares."""
        return shares[0] * self.mean(values, ~self.y) + shares[1] * self.mean(values, self.y)

    def shares(self):
        share = self.mean(self.y.astype(float))
        return np.array([1 - share, share])


def equal_errors(of):
    wrong, missed = of.points()
    for k in range(1, len(wrong)):
        if missed[k] <= wrong[k]:
            gap = missed[k - 1] - wrong[k - 1], missed[k] - wrong[k]
            share = gap[0] / (gap[0] - gap[1])
            return wrong[k - 1] + share * (wrong[k] - wrong[k - 1])


def best_constant(shares):
    return (np.asarray(shares) @ COSTS).min()


def decided_cost(of):
    negative, positive = PRIORS * [COSTS[0, 1] - COSTS[0, 0], COSTS[1, 0] - COSTS[1, 1]]
    chosen = (of.s >= np.log(negative / positive)).astype(int)
    return of.of_classes(COSTS[of.y.astype(int), chosen], PRIORS)


def least_cost(of):
    wrong, missed = of.points()
    negative = COSTS[0, 0] * (1 - wrong) + COSTS[0, 1] * wrong
    positive = COSTS[1, 1] * (1 - missed) + COSTS[1, 0] * missed
    return (PRIORS[0] * negative + PRIORS[1] * positive).min()


def distance_in_bins(of, n_bins):
    which = np.minimum((of.p * n_bins + 1e-9).astype(int), n_bins - 1)
    inside = [of.w * (which == k) * (of.y - of.p) for k in range(n_bins)]
    return sum(abs(own.sum()) for own in inside) / of.w.sum()


def log_loss(of):
    return -np.log(np.where(of.y, of.p, 1 - of.p))


def entropy(shares):
    return -np.sum(shares * np.log(shares))


AT = dict(zip(("specificity", "sensitivity", "false_negative_rate"), (0.73, 0.68, 0.21),
              strict=True))  # fmt: skip
APPLIED = {"costs": COSTS.tolist(), "priors": PRIORS.tolist()}
OF_DECISIONS = {
    "sensitivity": (own.sensitivity, {}, lambda of: of.rate(of.d, of.y)),
    "specificity": (own.specificity, {}, lambda of: of.rate(~of.d, ~of.y)),
    "ppv": (own.ppv, {}, lambda of: of.rate(of.y, of.d)),
    "npv": (own.npv, {}, lambda of: of.rate(~of.y, ~of.d)),
}
OF_SCORES = {
    "sensitivity_at": (own.sensitivity_at, {"specificity": 0.73},
                       lambda of: 1 - of.points()[1][1 - of.points()[0] >= 0.73].min()),
    "specificity_at": (own.specificity_at, {"sensitivity": 0.68},
                       lambda of: 1 - of.points()[0][1 - of.points()[1] >= 0.68].min()),
    "fpr_at": (own.false_positive_rate_at, {"false_negative_rate": 0.21},
               lambda of: of.points()[0][of.points()[1] <= 0.21].min()),
    "eer": (own.equal_error_rate, {}, equal_errors),
    "cllr": (own.cllr, {}, lambda of: of.of_classes(
        np.log2(1 + np.exp(np.where(of.y, -of.s, of.s))), [0.5, 0.5])),
    "actual cost": (own.actual_detection_cost, APPLIED, decided_cost),
    "relative actual cost": (own.actual_detection_cost, {**APPLIED, "relative": True},
                             lambda of: decided_cost(of) / best_constant(PRIORS)),
    "minimum cost": (own.minimum_detection_cost, APPLIED, least_cost),
    "relative minimum cost": (own.minimum_detection_cost, {**APPLIED, "relative": True},
                              lambda of: least_cost(of) / best_constant(PRIORS)),
}  # fmt: skip
OF_PROBABILITIES = {
    "ece": (own.expected_calibration_error, {"n_bins": 7}, lambda of: distance_in_bins(of, 7)),
    "ten bins": (own.expected_calibration_error, {}, lambda of: distance_in_bins(of, 10)),
    "net_benefit": (own.net_benefit, {"threshold": 0.37}, lambda of: of.mean(
        (of.p >= 0.37) * np.where(of.y, 1.0, -0.37 / 0.63))),
    "entropy": (own.cross_entropy, {}, lambda of: of.mean(log_loss(of))),
    "relative entropy": (own.cross_entropy, {"relative": True},
                         lambda of: of.mean(log_loss(of)) / entropy(of.shares())),
    "brier": (own.brier_score, {}, lambda of: of.mean((of.y - of.p) ** 2)),
    "relative brier": (own.brier_score, {"relative": True},
                       lambda of: of.mean((of.y - of.p) ** 2) / np.prod(of.shares())),
}  # fmt: skip
# Priors are those of the labels in order, whichever of them is positive.
WITH_PRIORS = {
    "entropy": (own.cross_entropy, {}, lambda of, s: of.of_classes(log_loss(of), s)),
    "relative entropy": (own.cross_entropy, {"relative": True},
                         lambda of, s: of.of_classes(log_loss(of), s) / entropy(s)),
    "brier": (own.brier_score, {}, lambda of, s: of.of_classes((of.y - of.p) ** 2, s)),
    "relative brier": (own.brier_score, {"relative": True},
                       lambda of, s: of.of_classes((of.y - of.p) ** 2, s) / np.prod(s)),
}  # fmt: skip


def as_metric(of, y_pred, function, options, **more):
    columns = {**of.weights, "metric": partial(function, **options), **more}
    return scored(of.truth, y_pred, **columns, n_resamples=9)


@pytest.mark.parametrize(("positive", "weighted"), [("ant", True), ("bee", False)])
def test_metrics_of_a_named_class_have_their_formulas(positive, weighted):
    of = Binary(positive, weighted)
    named = {"pos_label": positive}
    small = {"sample_weight": of.w / 1000} if weighted else {}
    for name, (function, options, formula) in OF_DECISIONS.items():
        expected = formula(of)
        close(function(of.truth, of.said, **options, **named, **of.weights), expected, what=name)
        close(function(of.truth, of.said, **options, **named, **small), expected, what=name)
        close(as_metric(of, of.said, function, options, **named).estimate, expected, what=name)
        close(as_metric(of, of.said, function, named).estimate, expected, what=name)
    for name, (function, options, formula) in OF_SCORES.items():
        expected = formula(of)
        close(function(of.truth, of.s, **options, **named, **of.weights), expected, what=name)
        close(function(of.truth, of.s, **options, **named, **small), expected, what=name)
        close(as_metric(of, of.s, function, options, **named).estimate, expected, what=name)
    for name, (function, options, formula) in OF_PROBABILITIES.items():
        expected = formula(of)
        if positive == "bee" or name not in ("ece", "ten bins", "net_benefit"):
            direct = function(of.truth, of.columns, **options, **of.weights)
            close(direct, expected, what=name)
        close(as_metric(of, of.p, function, options, **named).estimate, expected, what=name)
        close(as_metric(of, of.columns, function, options, **named).estimate, expected, what=name)
    for name, (function, options, formula) in WITH_PRIORS.items():
        expected = formula(of, PRIORS[of.order])
        options = {**options, "priors": PRIORS}
        close(function(of.truth, of.columns, **options, **of.weights), expected, what=name)
        for y_pred in (of.p, of.columns):
            found = as_metric(of, y_pred, function, options, **named)
            close(found.estimate, expected, what=name)
            naive = 1.0 if options.get("relative") else (
                entropy(PRIORS) if "entropy" in name else np.prod(PRIORS))  # fmt: skip
            close(found.naive_estimate, naive)


@pytest.mark.parametrize(("positive", "weighted"), [("ant", True), ("bee", False)])
def test_lines_of_calibration_solve_the_equations_of_the_logistic_law(positive, weighted):
    of = Binary(positive, weighted)
    x = np.log(of.p / (1 - of.p))

    def gap(a, b, values):
        return np.sum(of.w * values * (of.y - expit(a + b * x)))

    for function in (own.calibration_slope, own.calibration_intercept):
        found = as_metric(of, of.p, function, {}, pos_label=positive).estimate
        labels = LABELS[of.order]
        direct = function(of.truth, of.p, labels=labels, **of.weights)
        close(direct, found, 1e-7)
        if function is own.calibration_slope:
            a = brentq(lambda a: gap(a, found, 1.0), -9, 9, xtol=1e-13)  # noqa: B023
            assert abs(gap(a, found, x)) < 1e-6
        else:
            assert abs(gap(found, 1.0, 1.0)) < 1e-6


def test_lines_through_many_points_are_those_of_their_pieces():
    rng = np.random.default_rng(0)
    p = expit(rng.uniform(-0.4, 0.4, 1200))
    y = (rng.random(1200) < p**1.3).astype(int)
    rows = rng.integers(0, 1200, (3, 1200))
    for function in (own.calibration_slope, own.calibration_intercept):
        result = scored(y, p, metric=function, resamples=rows)
        expected = [function(y[some], p[some]) for some in rows]
        close(result.estimate, function(y, p), 1e-7)
        close(result.bootstrap_distribution, expected, 1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_costs_of_three_classes_are_sums_over_pairs_of_labels(weighted):
    rng = np.random.default_rng(1)
    y, said = rows_of("three", rng, N)
    weights = {"sample_weight": rng.integers(1, 6, N) / 2} if weighted else {}
    w = weights.get("sample_weight", np.ones(N))
    costs = np.array([[0.0, 3.0, 1.0], [7.0, 0.5, 2.0], [1.0, 4.0, 0.0]])
    order = [2, 0, 1]
    place = np.argsort(order)
    cost = costs[place[y], place[said]]
    of_class = np.array([np.average(cost[y == k], weights=w[y == k]) for k in order])
    shares = np.array([w[y == k].sum() for k in order]) / w.sum()
    priors = np.array([0.2, 0.5, 0.3])
    for options, own_shares in (({}, shares), ({"priors": priors}, priors)):
        for relative in (False, True):
            options = {**options, "costs": costs, "labels": order, "relative": relative}
            best = (own_shares @ costs).min()
            expected = own_shares @ of_class / (best if relative else 1.0)
            close(own.expected_cost(y, said, **options, **weights), expected)
            metric = partial(own.expected_cost, **options)
            result = scored(y, said, metric=metric, **weights, n_resamples=9)
            close(result.estimate, expected)
            close(result.naive_estimate, 1.0 if relative else best)
    prob = rng.dirichlet(np.ones(3), N)
    expected = [order[int(np.argmin([own_row @ costs[:, k] for k in range(3)]))]
                for own_row in prob]  # fmt: skip
    assert own.bayes_decisions(prob, costs=costs, labels=order).tolist() == expected


# ------------------------------------------------------------------ sets of labels


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("n_labels", [2, 6])
def test_sets_of_labels_that_come_often_are_those_of_scikit_learn(average, n_labels):
    """Of two labels most sets are equal to others; of six rare ones most are empty."""
    rng = np.random.default_rng(n_labels)
    n = 240
    truth = (rng.random((n, n_labels)) < (0.5 if n_labels == 2 else 0.08)).astype(int)
    said = np.where(rng.random(truth.shape) < 0.2 / n_labels, 1 - truth, truth)
    rows = drawn_rows({}, n, 3, rng)
    functions = {
        "precision": sk.precision_score, "recall": sk.recall_score, "f1": sk.f1_score,
        "jaccard": sk.jaccard_score, "fbeta": partial(sk.fbeta_score, beta=0.4),
    }  # fmt: skip
    for name, function in functions.items():
        metric = partial(function, average=average, zero_division=0.0)
        for weights in ({}, {"sample_weight": 1.0 + np.arange(n) % 3}):
            if weights and name != "f1":
                continue
            result = scored(truth, said, metric=metric, resamples=rows, **weights)
            drawn = [{key: column[some] for key, column in weights.items()} for some in rows]
            expected = [metric(truth[some], said[some], **more)
                        for some, more in zip(rows, drawn, strict=True)]  # fmt: skip
            close(result.bootstrap_distribution, expected, what=name)
            close(result.estimate, metric(truth, said, **weights), what=name)


# ------------------------------------------------------------------ distances in bins


def exact_limits(hits, n, level):
    tail = (1 - level) / 2
    low = 0.0 if hits <= 1e-9 else beta.ppf(tail, hits, n - hits + 1)
    return low, 1.0 if hits >= n - 1e-9 else beta.ppf(1 - tail, hits + 1, n - hits)


def freedom_of_classes_by_hand(groups, y, moves):
    """Satterthwaite's of equal groups of one label each, by class; no bound where labels mix."""
    each = np.unique(groups)
    label = np.array([y[groups == one].mean() for one in each])
    if not np.isin(label, (0, 1)).all():
        return np.inf, 0.0
    squares = np.bincount(groups, moves) ** 2
    n = np.array([(label == one).sum() for one in (0, 1)])
    parts = np.array([squares[label == one].sum() for one in (0, 1)])
    wide = parts * n / (n - 1)
    return wide.sum() ** 2 / np.sum(wide**2 / (n - 1)), wide.sum() / parts.sum()


@pytest.mark.parametrize("design", ["rows", "groups", "crossed", "one population"])
@pytest.mark.parametrize(("positive", "weighted"), [("ant", True), ("bee", False)])
def test_the_interval_of_a_calibration_error_is_made_of_exact_limits_of_bins(
    design, weighted, positive
):
    """All at once; of groups by the t law, with as many rows as vary like the groups."""
    of = Binary(positive, weighted, seed=2)
    rng = np.random.default_rng(4)
    n_bins, k = {"rows": 10, "groups": 3, "crossed": 8, "one population": 11}[design], np.arange(N)
    which = np.minimum((of.p * n_bins + 1e-9).astype(int), n_bins - 1)
    order = np.argsort(np.where(of.y, 1, 0) + 0.8 * rng.random(N))
    first = np.empty(N, int)
    first[order] = k // 5
    columns = {
        "rows": {},
        "groups": {"groups": first},
        "crossed": {"groups": np.column_stack([first, 100 + k % 7])},
        "one population": {"groups": Trials(first, (first + 1 + k % 9) % 12)},
    }[design]  # fmt: skip
    factors = np.reshape(columns.get("groups", k), (N, -1)).T
    # The weight, share, mean probability and worth in rows of each bin.
    occurs = np.unique(which)
    total = np.array([of.w[which == b].sum() for b in occurs])
    share = np.array([of.mean(of.y * 1.0, which == b) for b in occurs])
    mean = np.array([of.mean(of.p, which == b) for b in occurs])
    rows = total**2 / np.array([np.sum(of.w[which == b] ** 2) for b in occurs])
    if design != "rows":
        residual = of.w * (of.y - share[np.searchsorted(occurs, which)])
        variance = sum(
            residual[(own == one) & (which == b)].sum() ** 2
            for own in factors for one in np.unique(own) for b in occurs
        )  # fmt: skip
        rows = rows / max(1.0, variance / np.sum(share * (1 - share) * total**2 / rows))
    result = as_metric(
        of, of.p, own.expected_calibration_error, {"n_bins": n_bins}, pos_label=positive, **columns
    )
    sizes = [len(np.unique(own)) for own in factors]
    sizes = [len(np.unique(factors))] if design == "one population" else sizes
    for level in (0.95, 0.8):
        single = ndtri(0.5 + level ** (1 / len(occurs)) / 2)
        if design != "rows":
            df = min(sizes) - 1
            inflation = (df + 1) / df
            if design == "groups":
                df, inflation = freedom_by_hand({**of.weights, **columns}, N)
                side = np.sign(share - mean)[np.searchsorted(occurs, which)]
                moves = side * (of.y - of.p) - of.mean(side * (of.y - of.p))
                by_class = freedom_of_classes_by_hand(first, of.y, of.w * moves)
                df, inflation = min(df, by_class[0]), max(inflation, by_class[1])
            single = np.sqrt(inflation) * stdtrit(df, ndtr(single))
        each = 2 * ndtr(single) - 1
        limits = [exact_limits(p * n, n, each) for p, n in zip(share, rows, strict=True)]
        low, high = np.array(limits).T - mean
        least = total @ np.maximum(0, np.maximum(low, -high)) / total.sum()
        most = total @ np.maximum(abs(low), abs(high)) / total.sum()
        found = quiet(result.interval, "bins", level)
        close([*found], [least, most], 1e-6, 1e-9)
    assert result.confidence_interval.method == "bins"
    assert result.naive_estimate == 0.0
    turned = sk.make_scorer(own.expected_calibration_error, greater_is_better=False, n_bins=n_bins,
                            response_method="predict_proba")  # fmt: skip
    turned = scored(of.truth, of.p, metric=turned, pos_label=positive, **of.weights, **columns)
    low, high = result.confidence_interval
    close([*turned.confidence_interval], [-high, -low])


# ------------------------------------------------------------------ conventions


ONES, HALF = np.ones(20, int), np.arange(20) % 2
THIRDS = np.arange(20) % 3
EMPTY = np.zeros((20, 3), int)
OF_SETS = (sk.precision_score, sk.recall_score, sk.f1_score, sk.jaccard_score)
CONVENTIONS = {
    "regression": (
        [sk.r2_score, sk.explained_variance_score, partial(sk.r2_score, force_finite=False),
         partial(sk.explained_variance_score, force_finite=False), sk.mean_squared_error],
        [(ONES * 2.5, ONES * 2.5), (ONES * 2.5, HALF * 1.0), (HALF * 1.0, ONES * 0.5),
         (np.column_stack([ONES, HALF]) * 1.0, np.column_stack([HALF, HALF]) * 1.0)],
    ),
    "two classes": (
        [sk.precision_score, sk.recall_score, sk.f1_score, sk.jaccard_score,
         partial(sk.fbeta_score, beta=2.0), partial(sk.fbeta_score, beta=np.inf),
         partial(sk.fbeta_score, beta=0.0), partial(sk.precision_score, zero_division=1.0),
         partial(sk.f1_score, zero_division=1.0), sk.matthews_corrcoef, sk.cohen_kappa_score],
        [(HALF, 0 * ONES), (0 * ONES, HALF), (HALF, ONES), (ONES, HALF), (HALF, 1 - HALF)],
    ),
    "several classes": (
        [partial(function, average=average, zero_division=float((k + j) % 2))
         for k, function in enumerate(OF_SETS)
         for j, average in enumerate(("macro", "weighted", "micro"))]
        + [sk.balanced_accuracy_score, partial(sk.balanced_accuracy_score, adjusted=True)],
        [(THIRDS, HALF), (HALF, THIRDS), (THIRDS, 0 * ONES), (np.minimum(THIRDS, 1), THIRDS)],
    ),
    "clusters": (
        [sk.rand_score, sk.adjusted_rand_score, sk.mutual_info_score, sk.homogeneity_score,
         sk.completeness_score, sk.v_measure_score, sk.normalized_mutual_info_score,
         sk.adjusted_mutual_info_score, sk.fowlkes_mallows_score],
        [(THIRDS, 0 * ONES), (0 * ONES, THIRDS), (0 * ONES, ONES), (THIRDS, np.arange(20)),
         (np.arange(20), THIRDS), (np.arange(20), np.arange(20)[::-1]), (THIRDS, 5 - THIRDS)],
    ),
    "sets": (
        [partial(function, average=average, zero_division=float((k + j) % 2))
         for k, function in enumerate(OF_SETS)
         for j, average in enumerate(("macro", "weighted", "micro", "samples"))],
        [(EMPTY, EMPTY), (np.eye(20, 3, dtype=int), EMPTY), (EMPTY, np.eye(20, 3, dtype=int))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONVENTIONS)
def test_where_a_formula_divides_by_zero_the_value_is_scikit_learns(kind):
    functions, cases = CONVENTIONS[kind]
    known = 0
    for function in functions:
        for k, (truth, said) in enumerate(cases):
            expected = quiet(function, truth, said)
            result = scored(truth, said, metric=function, n_resamples=2)
            if np.isfinite(expected) and np.isfinite(result.estimate):
                close(result.estimate, expected, 1e-9, 1e-12, (function, k))
                known += 1
            else:
                assert not np.isfinite(result.estimate), (function, k)
    assert known >= 0.7 * len(functions) * len(cases)
