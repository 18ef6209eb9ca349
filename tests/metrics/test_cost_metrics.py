"""The metric functions that scikit-learn lacks, against scikit-learn and by hand."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from skboot import bootstrap_score
from skboot.metrics import (
    actual_detection_cost,
    bayes_decisions,
    brier_score,
    calibration_intercept,
    calibration_slope,
    cllr,
    cross_entropy,
    equal_error_rate,
    expected_calibration_error,
    expected_cost,
    false_positive_rate_at,
    get_scorer,
    minimum_detection_cost,
    net_benefit,
    sensitivity_at,
    specificity_at,
)

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 60)
PROB = RNG.dirichlet([1, 1, 1], 60)
DECISION = PROB.argmax(axis=1)
WEIGHTS = RNG.random(60)
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
NAMES = np.array(["ant", "bee", "cow"])


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_by_default_they_are_scikit_learns(weights):
    given = {"sample_weight": weights}
    assert expected_cost(TRUTH, DECISION, **given) == pytest.approx(
        sklearn_metrics.zero_one_loss(TRUTH, DECISION, **given)
    )
    assert cross_entropy(TRUTH, PROB, **given) == pytest.approx(
        sklearn_metrics.log_loss(TRUTH, PROB, **given)
    )
    two = (TRUTH > 0).astype(int)
    assert brier_score(two, PROB[:, 0], **given) == pytest.approx(
        sklearn_metrics.brier_score_loss(two, PROB[:, 0], **given)
    )


def test_brier_score_of_several_classes_is_the_squared_distance():
    expected = ((PROB - np.eye(3)[TRUTH]) ** 2).sum(axis=1).mean()
    assert brier_score(TRUTH, PROB) == pytest.approx(expected)


def test_expected_cost_is_the_mean_of_the_costs_of_the_rows():
    assert expected_cost(TRUTH, DECISION, costs=COSTS) == pytest.approx(
        COSTS[TRUTH, DECISION].mean()
    )


def test_even_priors_and_error_costs_give_the_balanced_error():
    found = expected_cost(TRUTH, DECISION, priors=[1 / 3] * 3)
    assert found == pytest.approx(1 - sklearn_metrics.balanced_accuracy_score(TRUTH, DECISION))


@pytest.mark.parametrize("priors", [None, [0.6, 0.3, 0.1]])
def test_answers_that_ignore_the_input_are_no_better_than_one(priors):
    shares = np.bincount(TRUTH) / 60 if priors is None else np.array(priors)
    best = np.full(60, (shares @ COSTS).argmin())
    options = {"priors": priors, "relative": True}
    assert expected_cost(TRUTH, best, costs=COSTS, labels=[0, 1, 2], **options) == pytest.approx(1)
    constant = np.tile(shares, (60, 1))
    assert cross_entropy(TRUTH, constant, **options) == pytest.approx(1)
    assert brier_score(TRUTH, constant, **options) == pytest.approx(1)
    for label in range(3):
        always = np.full(60, label)
        assert expected_cost(TRUTH, always, costs=COSTS, labels=[0, 1, 2], **options) >= 1 - 1e-12


@pytest.mark.parametrize("function", [cross_entropy, brier_score])
def test_priors_weigh_the_classes_as_row_weights_would(function):
    priors = np.array([0.5, 0.1, 0.4])
    weights = (priors / np.bincount(TRUTH))[TRUTH]
    for relative in (False, True):
        assert function(TRUTH, PROB, priors=priors, relative=relative) == pytest.approx(
            function(TRUTH, PROB, sample_weight=weights, relative=relative)
        )


def test_columns_follow_the_given_labels():
    order = [2, 0, 1]
    found = cross_entropy(NAMES[TRUTH], PROB[:, order], labels=NAMES[order])
    assert found == pytest.approx(cross_entropy(TRUTH, PROB))
    costs = COSTS[np.ix_(order, order)]
    found = expected_cost(NAMES[TRUTH], NAMES[DECISION], costs=costs, labels=NAMES[order])
    assert found == pytest.approx(expected_cost(TRUTH, DECISION, costs=COSTS))


def test_bayes_decisions_cost_least_under_the_posteriors():
    decisions = bayes_decisions(PROB, costs=COSTS)
    expected = [min(range(3), key=lambda j, p=p: p @ COSTS[:, j]) for p in PROB]
    assert decisions.tolist() == expected
    assert bayes_decisions(PROB).tolist() == DECISION.tolist()
    assert bayes_decisions(PROB, labels=NAMES).tolist() == NAMES[DECISION].tolist()
    assert bayes_decisions([0.2, 0.7], labels=["no", "yes"]).tolist() == ["no", "yes"]


# ------------------------------------------------------------------ one operating point


def operating_points(y_true, y_score, weights=None):
    fpr, tpr, _ = sklearn_metrics.roc_curve(
        y_true, y_score, sample_weight=weights, drop_intermediate=False
    )
    return fpr, 1 - tpr


@pytest.mark.parametrize("decimals", [0, 1, 9], ids=["many ties", "some ties", "no ties"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_error_rate_is_where_the_roc_curve_meets_the_diagonal(decimals, weighted):
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, 2, 200)
    y_score = np.round(rng.normal(size=200) + y_true, decimals)
    weights = rng.random(200) if weighted else None
    fpr, fnr = operating_points(y_true, y_score, weights)
    fine = np.linspace(0, len(fpr) - 1, 200_001)
    at = np.arange(len(fpr))
    gap = np.abs(np.interp(fine, at, fpr) - np.interp(fine, at, fnr))
    expected = np.interp(fine, at, fpr)[gap.argmin()]
    assert equal_error_rate(y_true, y_score, sample_weight=weights) == pytest.approx(
        expected, abs=1e-3
    )


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0, 1, 2, 3], 0.0),
        ([3, 2, 1, 0], 1.0),
        ([1, 1, 1, 1], 0.5),
        ([0, 2, 1, 3], 0.5),
    ],
    ids=["perfect", "reversed", "constant", "one swap"],
)
def test_equal_error_rate_of_four_rows(scores, expected):
    assert equal_error_rate([0, 0, 1, 1], scores) == expected


def test_the_false_positive_rate_is_the_smallest_attained():
    rng = np.random.default_rng(2)
    y_true = rng.integers(0, 2, 100)
    y_score = np.round(rng.normal(size=100) + y_true, 1)
    fpr, fnr = operating_points(y_true, y_score)
    for rate in (0.0, 0.05, 0.3, 0.99, 1.0):
        found = false_positive_rate_at(y_true, y_score, false_negative_rate=rate)
        assert found == pytest.approx(fpr[fnr <= rate + 1e-12].min())


def test_a_rate_that_is_attained_exactly_counts():
    y_true = np.repeat([0, 1], [1, 100])
    y_score = np.append(28.5, np.arange(100))
    # 29 of 100 positives lie below 29: a miss rate of exactly 0.29 lets the negative out.
    assert false_positive_rate_at(y_true, y_score, false_negative_rate=0.29) == 0.0
    assert false_positive_rate_at(y_true, y_score, false_negative_rate=0.289) == 1.0


def test_the_greater_label_is_positive_unless_another_is_named():
    y_true, y_score = np.array(["spam", "ham", "ham", "spam"]), [0.9, 0.1, 0.8, 0.4]
    assert equal_error_rate(y_true, y_score) == equal_error_rate(y_true == "spam", y_score)
    negated = [-score for score in y_score]
    assert equal_error_rate(y_true, negated, pos_label="ham") == equal_error_rate(y_true, y_score)


# ------------------------------------------------------------------ messages and scorers


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_cost([0, 1], [0, 1], costs=[[0, 1]]), "'costs' parameter of expected_"),
        (lambda: expected_cost([0, 2], [0, 1], labels=[0, 1]), "labels among .*also \\[2\\]"),
        (lambda: expected_cost([0, 1], [0, 1], priors=[0.5, 0.6]), "'priors'.*sum 1"),
        (lambda: expected_cost([0, 0], [0, 1], priors=[0.5, 0.5]), "each class that has a prior"),
        (lambda: expected_cost([0, 0], [0, 0], relative=True), "free of loss"),
        (lambda: expected_cost([0, 1], [0, 1], labels=[0, 0, 1]), "each label once"),
        (lambda: cross_entropy([0, 1], [0.5, 1.5]), r"probabilities in \[0, 1\]"),
        (lambda: cross_entropy([0, 1], PROB[:2]), "one column for each of the 2 labels"),
        (lambda: brier_score([0, 0], PROB[:2]), "Give all labels"),
        (lambda: equal_error_rate([0, 1, 2], [0, 1, 2]), "two classes"),
        (lambda: equal_error_rate([0, 0], [0, 1]), "two classes"),
        (lambda: equal_error_rate([0, 1], [0, 1], pos_label=7), "be one of"),
        (lambda: false_positive_rate_at([0, 1], [0, 1], false_negative_rate=5), r"in \[0, 1\]"),
        (lambda: bayes_decisions(PROB, labels=[0, 1]), "one column for each"),
        (lambda: get_scorer("neg_expected_costs"), "mean 'neg_expected_cost'"),
        (lambda: equal_error_rate([0, 1], [0.5]), "as many rows as"),
    ],
)
def test_bad_arguments_get_a_clear_message(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "name", ["neg_expected_cost", "neg_cross_entropy", "neg_brier", "neg_equal_error_rate"]
)
@pytest.mark.parametrize("as_strings", [False, True])
def test_scorers_serve_scikit_learn(name, as_strings):
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["malignant", "neutral"])[y] if as_strings else y
    scores = cross_val_score(
        GaussianNB(), X, y, cv=3, scoring=get_scorer(name), error_score="raise"
    )
    assert np.all((scores > -2) & (scores < 0))


def test_other_scorers_are_scikit_learns():
    assert repr(get_scorer("accuracy")) == repr(sklearn_metrics.get_scorer("accuracy"))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_bound_on_one_error_rate_leaves_the_best_of_the_other(weighted):
    rng = np.random.default_rng(4)
    y_true = rng.integers(0, 2, 100)
    y_score = np.round(rng.normal(size=100) + y_true, 1)
    weights = rng.random(100) if weighted else None
    fpr, fnr = operating_points(y_true, y_score, weights)
    for bound in (0.0, 0.3, 0.9, 1.0):
        found = sensitivity_at(y_true, y_score, specificity=bound, sample_weight=weights)
        assert found == pytest.approx(max(1 - fnr[1 - fpr >= bound - 1e-12]))
        found = specificity_at(y_true, y_score, sensitivity=bound, sample_weight=weights)
        assert found == pytest.approx(max(1 - fpr[1 - fnr >= bound - 1e-12]))


def test_cllr_is_the_cross_entropy_at_even_priors_in_bits():
    rng = np.random.default_rng(5)
    y_true = rng.integers(0, 2, 80)
    llr = rng.normal(size=80) + 2 * y_true
    expected = cross_entropy(y_true, 1 / (1 + np.exp(-llr)), priors=[0.5, 0.5]) / np.log(2)
    assert cllr(y_true, llr) == pytest.approx(expected)
    assert cllr(y_true, -llr, pos_label=0) == pytest.approx(expected)


@pytest.mark.parametrize("relative", [False, True])
def test_detection_costs_are_those_of_decisions_at_thresholds(relative):
    rng = np.random.default_rng(6)
    y_true = rng.integers(0, 2, 80)
    llr = 3 * rng.normal(size=80) + y_true
    given = {"costs": [[0, 1], [10, 0]], "priors": [0.95, 0.05], "relative": relative}
    of = [expected_cost(y_true, (llr >= at).astype(int), **given) for at in [*llr, np.inf]]
    assert minimum_detection_cost(y_true, llr, **given) == pytest.approx(min(of))
    bayes = (llr >= np.log(0.95 / (0.05 * 10))).astype(int)
    found = actual_detection_cost(y_true, llr, **given)
    assert found == pytest.approx(expected_cost(y_true, bayes, **given))


def test_net_benefit_is_true_positives_less_false_ones_at_their_price():
    y_true, prob = TRUTH > 0, PROB[:, 0]
    hits, alarms = np.mean((prob >= 0.3) & y_true), np.mean((prob >= 0.3) & ~y_true)
    found = net_benefit(y_true.astype(int), prob, threshold=0.3)
    assert found == pytest.approx(hits - alarms * 3 / 7)


@pytest.mark.parametrize("n_bins", [1, 3, 10])
def test_calibration_error_is_the_weighted_distance_in_bins(n_bins):
    y_true, prob = (TRUTH > 0).astype(int), np.append(PROB[:-2, 0], [0.0, 1.0])
    expected = 0.0
    for k in range(n_bins):
        last = k == n_bins - 1
        own = (prob >= k / n_bins) & ((prob < (k + 1) / n_bins) | last)
        expected += abs(WEIGHTS[own] @ (y_true - prob)[own]) / WEIGHTS.sum()
    found = expected_calibration_error(y_true, prob, n_bins=n_bins, sample_weight=WEIGHTS)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (net_benefit, {"threshold": 1.0}, "'threshold'.*in \\(0, 1\\)"),
        (sensitivity_at, {"specificity": 95}, "'specificity'.*in \\[0, 1\\]"),
        (specificity_at, {"sensitivity": -0.1}, "'sensitivity'.*in \\[0, 1\\]"),
        (minimum_detection_cost, {"priors": None}, "'priors'.*be given"),
        (minimum_detection_cost, {"priors": [0.9, 0.2]}, "'priors'.*sum 1"),
        (
            actual_detection_cost,
            {"priors": [0.9, 0.1], "costs": [[1, 0], [0, 1]]},
            "'costs'.*each error cost more",
        ),
        (expected_calibration_error, {"n_bins": 0}, "'n_bins'"),
    ],
)
def test_what_cannot_be_right_is_refused_by_the_function_and_by_the_evaluation(
    function, options, message
):
    y_true, prob = (TRUTH > 0).astype(int), PROB[:, 0]
    with pytest.raises(ValueError, match=message):
        function(y_true, prob, **options)
    with pytest.raises(ValueError, match=message):
        bootstrap_score(y_true, prob, metric=partial(function, **options), random_state=0)


def test_probabilities_of_several_classes_are_refused():
    for function in (calibration_slope, calibration_intercept, expected_calibration_error):
        with pytest.raises(ValueError, match="two classes"):
            function(TRUTH, PROB)


def test_a_calibration_error_has_no_interval_of_resamples():
    y_true, prob = (TRUTH > 0).astype(int), PROB[:, 0]
    given = {"metric": expected_calibration_error, "n_resamples": 99, "random_state": 0}
    result = bootstrap_score(y_true, prob, **given)
    assert result.confidence_interval.method == "bins"
    for method in ("percentile", "bca"):
        with pytest.raises(ValueError, match="interval='bins'"):
            bootstrap_score(y_true, prob, interval=method, **given)
        with pytest.raises(ValueError, match="interval='bins'"):
            result.interval(method)
    with pytest.raises(ValueError, match="expected calibration error"):
        bootstrap_score(y_true, y_true, interval="bins", random_state=0)
    with pytest.raises(ValueError, match="rows, groups and crossed groups"):
        bootstrap_score(y_true, prob, block_length=3, **given)


def test_limits_of_a_calibration_error_are_those_of_exact_limits_of_the_bins():
    rng = np.random.default_rng(7)
    prob = np.repeat([0.15, 0.55, 0.95], [40, 30, 50])
    y_true = (rng.random(120) < prob - 0.1).astype(int)
    result = bootstrap_score(
        y_true, prob, metric=expected_calibration_error, n_resamples=99, random_state=0
    )
    low = high = 0.0
    for p in (0.15, 0.55, 0.95):
        own = prob == p
        test = stats.binomtest(int(y_true[own].sum()), int(own.sum()))
        limits = np.array(test.proportion_ci(0.95 ** (1 / 3))) - p
        low += own.mean() * max(0, limits[0], -limits[1])
        high += own.mean() * np.abs(limits).max()
    assert result.confidence_interval[:2] == pytest.approx((low, high))


def test_rows_that_come_together_widen_the_limits_of_a_calibration_error():
    rng = np.random.default_rng(8)
    prob = np.repeat(rng.random(40), 10)
    y_true = np.repeat(rng.integers(0, 2, 40), 10)
    given = {"metric": expected_calibration_error, "n_resamples": 99, "random_state": 0}
    rows = bootstrap_score(y_true, prob, **given).confidence_interval
    groups = bootstrap_score(y_true, prob, groups=np.repeat(np.arange(40), 10), **given)
    assert groups.confidence_interval.low < rows.low
    assert groups.confidence_interval.high > rows.high


def test_a_minimum_over_thresholds_is_corrected_and_says_so():
    rng = np.random.default_rng(9)
    y_true = rng.integers(0, 2, 200)
    score = rng.normal(size=200) + 2 * y_true
    metric = partial(minimum_detection_cost, priors=[0.5, 0.5])
    with pytest.warns(UserWarning, match="best threshold was chosen on these rows"):
        result = bootstrap_score(y_true, score, metric=metric, random_state=0)
    assert result.confidence_interval.method == "bias-corrected"
    assert result.bootstrap_distribution.mean() < result.estimate
