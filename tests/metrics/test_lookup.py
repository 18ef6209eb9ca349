"""From names, scorers and functions to statistics, and what predictions they refuse."""

import warnings
from functools import partial

import numpy as np
import pytest
from in_turn import in_turn
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer

import skboot.metrics
from skboot._base.lazy import import_modules
from skboot.metrics.lookup import (
    _MODULE_OF,
    SYNONYMS,
    check_response,
    known_names,
    resolve_metrics,
)
from skboot.metrics.outputs import entries_of
from skboot.metrics.statistic import FAST_PATHS, OUTPUT_PATHS, CallableStatistic, MetricError
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import RowDesign
from skboot.resampling.plan import ResamplingPlan

RNG = np.random.default_rng(0)
N = 40
BINARY = RNG.integers(0, 2, N)
SECOND = np.round(np.clip(0.3 + 0.4 * BINARY + RNG.normal(scale=0.3, size=N), 0.01, 0.99), 2)
DECISION = (SECOND > 0.5).astype(int)
TWO = np.column_stack((1 - SECOND, SECOND))
THREE = RNG.integers(0, 3, N)
PROB = RNG.dirichlet([1, 1, 1], N)
REAL, VALUE = RNG.gamma(2.0, size=(2, N))


NUMBER_OF_TOPS = partial(metrics.top_k_accuracy_score, normalize=False)
LIKELIHOOD = make_scorer(lambda y_true, y_prob: 0.0, response_method="predict_proba")


def one(metric, **options):
    statistics, single = resolve_metrics(metric, **options)
    assert single
    (statistic,) = statistics.values()
    return statistic


def observed(statistic, y_true, y_pred, weights=None):
    """Value on the rows as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statistic = check_response(statistic, y_true, y_pred)
    return resampled(statistic, y_true, y_pred, weights, np.arange(len(y_pred))[None])[0]


def resampled(statistic, y_true, y_pred, weights, resamples):
    reduced = statistic.reduce(y_true, y_pred, weights)
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
    design = RowDesign.of(len(y_pred))
    seed = np.random.SeedSequence(0)
    plan = ResamplingPlan(design, len(resamples), seed, np.asarray(resamples))
    (block,) = plan.bind([coding]).block(0)
    return statistic.evaluate(block, reduced)


# ------------------------------------------------------------------ names


class Frozen(BaseEstimator):
    """An estimator whose X are its responses."""

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return X


class FrozenRegressor(RegressorMixin, Frozen):
    pass


class FrozenClassifier(ClassifierMixin, Frozen):
    def __init__(self, n_classes=2):
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def predict_proba(self, X):
        return X


def situation(name):
    """Estimator, truth and response that a scoring name fits."""
    if name in ("roc_auc", "average_precision", "neg_equal_error_rate"):
        return FrozenClassifier(), BINARY, TWO
    if any(word in name for word in ("error", "deviance", "r2", "explained")):
        return FrozenRegressor(), REAL, VALUE
    if any(word in name for word in ("_ovr", "_ovo", "log_loss", "cross_entropy", "top_k")):
        return FrozenClassifier(3), THREE, PROB
    if "brier" in name:
        return FrozenClassifier(), BINARY, TWO
    return FrozenClassifier(), BINARY, DECISION


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [name for name in known_names() if name != "mean" and not name.endswith("_samples")],
)
def test_a_name_gives_the_number_of_scikit_learns_scorer(name):
    estimator, y_true, response = situation(name)
    expected = skboot.metrics.get_scorer(name)(estimator, response, y_true)
    statistic = one(name)
    assert statistic.greater_is_better is not False
    assert observed(statistic, y_true, response) == pytest.approx(expected, rel=1e-12)
    low, high = statistic.bounds
    assert low <= expected <= high


def test_names_of_scikit_learn_are_known():
    assert set(metrics.get_scorer_names()) <= set(known_names())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f1_macros", "Did you mean 'f1_macro'"),
        ("qwerty", "\nKnown names: accuracy,"),
        ("fbeta_score", "be 'fbeta_score' with a value for 'beta'"),
        (3, "be a scoring name, a scorer, a callable"),
        ([], "hold at least one metric"),
    ],
)
def test_unknown_names_list_the_known_ones(name, message):
    with pytest.raises(ValueError, match=rf"The 'metric' parameter.*{message}"):
        resolve_metrics(name)


@in_turn(given=list(SYNONYMS))
def test_what_people_call_a_metric_is_the_metric_of_this_name(given):
    meant = SYNONYMS[given]
    for written in (given, given.upper(), given.replace("_", "-"), given.replace("_", " ")):
        [statistic], [named] = (resolve_metrics(name)[0].values() for name in (written, meant))
        assert statistic.name == named.name == meant
        assert statistic.greater_is_better == named.greater_is_better
        assert type(statistic) is type(named)


@pytest.mark.parametrize("name", ["roc_auc_score", "accuracy_score", "f1_score", "ROC-AUC", "F1"])
def test_a_name_in_other_letters_or_of_the_function_is_the_scorers(name):
    plain = name.lower().replace("-", "_").removesuffix("_score")
    assert list(resolve_metrics(name)[0]) == [plain]


# ------------------------------------------------------------------ functions and scorers


@pytest.mark.parametrize(
    "metric",
    [
        metrics.f1_score,
        partial(metrics.f1_score, average="macro"),
        partial(partial(metrics.fbeta_score, beta=2), average="micro"),
        make_scorer(metrics.f1_score, average="weighted", zero_division=0),
        make_scorer(partial(metrics.fbeta_score, beta=2)),
        partial(metrics.accuracy_score, normalize=True, sample_weight=None),
        partial(skboot.metrics.expected_cost, costs=[[0, 1], [5, 0]]),
        "f1",
        "positive_likelihood_ratio",
        "neg_negative_likelihood_ratio",
    ],
)
def test_known_functions_are_evaluated_from_sums(metric):
    assert one(metric).reads == "sums"


@pytest.mark.parametrize(
    ("metric", "y_true", "y_pred"),
    [
        (partial(metrics.accuracy_score, normalize=False), BINARY, DECISION),
        (partial(metrics.roc_auc_score, max_fpr=0.2), BINARY, SECOND),
        (partial(metrics.cohen_kappa_score, labels=[1, 0]), BINARY, DECISION),
        (metrics.max_error, REAL, VALUE),
        (metrics.d2_absolute_error_score, REAL, VALUE),
    ],
)
def test_options_without_a_fast_path_are_called_on_the_rows(metric, y_true, y_pred):
    statistic = one(metric)
    assert isinstance(statistic, CallableStatistic)
    rows = RNG.integers(0, N, (3, N))
    expected = [metric(y_true[r], y_pred[r]) for r in rows]
    assert resampled(statistic, y_true, y_pred, None, rows).tolist() == pytest.approx(expected)


def test_a_function_that_only_shares_a_name_is_called():
    def accuracy_score(y_true, y_pred):
        return 7.0

    assert observed(one(accuracy_score), BINARY, DECISION) == 7.0


@pytest.mark.parametrize(
    ("metric", "bounds"),
    [
        (partial(metrics.cohen_kappa_score, labels=[0, 1]), (-1, 1)),
        (partial(metrics.log_loss, normalize=False), (0, np.inf)),
    ],
)
def test_options_that_no_fast_path_takes_leave_the_range_as_it_is(metric, bounds):
    assert one(metric).bounds == bounds


def test_a_scorers_sign_and_options_are_honoured():
    loss = make_scorer(metrics.fbeta_score, greater_is_better=False, beta=2)
    statistic = one(loss)
    assert statistic.name == "neg_fbeta_score (beta=2)"
    assert statistic.greater_is_better is not None
    assert statistic.bounds == (-1.0, 0.0)
    expected = metrics.fbeta_score(BINARY, DECISION, beta=2)
    assert observed(statistic, BINARY, DECISION) == pytest.approx(-expected)
    reduced = statistic.reduce(BINARY, DECISION, None)
    assert statistic.naive(None, (BINARY, DECISION, None)) < 0
    assert statistic.proportion(reduced) is None
    assert (
        one(make_scorer(metrics.f1_score, greater_is_better=False)).proportion(reduced_f1()).sign
        == -1.0
    )


def reduced_f1():
    return one("f1").reduce(BINARY, DECISION, None)


def test_direction_follows_the_metric():
    assert one("accuracy").greater_is_better
    assert one("neg_log_loss").greater_is_better
    assert one("neg_median_absolute_error").greater_is_better
    assert one(metrics.log_loss).greater_is_better is False
    assert one(metrics.max_error).greater_is_better is False
    assert one(metrics.d2_absolute_error_score).greater_is_better
    assert one(skboot.metrics.equal_error_rate).greater_is_better is False
    assert one("mean").greater_is_better is None
    assert one(lambda y_true, y_pred: 0.0).greater_is_better is None
    assert one(make_scorer(lambda y_true, y_pred: 0.0)).greater_is_better


def test_the_direction_of_a_callable_can_be_told():
    assert one(lambda y_true, y_pred: 0.0, greater_is_better=False).greater_is_better is False
    assert one("mean", greater_is_better=True).greater_is_better is True
    assert one("accuracy", greater_is_better=True).greater_is_better is True
    with pytest.raises(ValueError, match="'greater_is_better' parameter"):
        one("accuracy", greater_is_better=False)
    with pytest.raises(ValueError, match="the direction of 'accuracy'"):
        resolve_metrics(["accuracy", lambda y_true, y_pred: 0.0], greater_is_better=False)


# ------------------------------------------------------------------ several metrics


def test_several_metrics_come_by_name():
    found, single = resolve_metrics(["accuracy", metrics.f1_score, "neg_log_loss"])
    assert list(found) == ["accuracy", "f1_score", "neg_log_loss"]
    assert not single
    options = {"a": "accuracy", "F2": partial(metrics.fbeta_score, beta=2)}
    found, single = resolve_metrics(options)
    assert list(found) == ["a", "F2"]
    assert [statistic.name for statistic in found.values()] == ["a", "F2"]


def test_metrics_of_one_name_must_be_told_apart():
    with pytest.raises(ValueError, match="Name them with a dict"):
        resolve_metrics([lambda a, b: 0.0, lambda a, b: 1.0])


# ------------------------------------------------------------------ any callable


def test_any_callable_works_on_repeated_rows():
    rows = RNG.integers(0, N, (5, N))

    def metric(y_true, y_pred):
        return np.median(np.abs(y_true - y_pred))

    expected = [metric(REAL[r], VALUE[r]) for r in rows]
    assert resampled(one(metric), REAL, VALUE, None, rows).tolist() == expected


def test_without_truth_a_callable_gets_predictions_alone():
    words = np.array(["a", "bb", "ccc"] * 10)
    statistic = one(lambda y_pred: float(np.mean([len(word) for word in y_pred])))
    check_response(statistic, None, words)
    assert resampled(statistic, None, words, None, [np.arange(30)])[0] == 2.0


def test_weights_reach_callables_that_take_them():
    def weighted(y_true, y_pred, sample_weight=None):
        return np.average(y_true == y_pred, weights=sample_weight)

    weights = RNG.random(N)
    assert one(weighted).takes_weights
    assert not one(lambda y_true, y_pred: 0.0).takes_weights
    expected = metrics.accuracy_score(BINARY, DECISION, sample_weight=weights)
    assert observed(one(weighted), BINARY, DECISION, weights) == pytest.approx(expected)
    assert one(partial(metrics.matthews_corrcoef)).takes_weights
    assert not one("neg_max_error").takes_weights


def test_functions_without_a_signature_are_taken():
    assert observed(one(np.dot), REAL, VALUE) == pytest.approx(REAL @ VALUE)


def test_an_error_of_a_users_metric_names_the_resample():
    def fails(y_true, y_pred):
        if y_true.sum() == 0:
            raise ZeroDivisionError("no positives")
        return 1.0

    rows = np.array([np.arange(N), np.full(N, np.argmin(BINARY))])
    with pytest.raises(MetricError) as caught:
        resampled(one(fails), BINARY, DECISION, None, rows)
    assert caught.value.resample == 1


def test_what_scikit_learn_refuses_on_a_resample_is_undefined():
    statistic = one(partial(metrics.roc_auc_score, max_fpr=0.5))
    rows = np.array([np.arange(N), np.full(N, np.argmin(BINARY))])
    found = resampled(statistic, BINARY, SECOND, None, rows)
    assert np.isfinite(found[0])
    assert np.isnan(found[1])


def test_probabilities_keep_the_labels_of_the_whole_test_set():
    """A resample without a class has fewer labels than columns."""
    rows = np.array([np.flatnonzero(THREE != 2)[:12], np.flatnonzero(THREE == 1)[:12]])
    best = partial(metrics.top_k_accuracy_score, k=1)
    statistic = one(best)
    statistic = check_response(statistic, THREE, PROB)
    expected = [best(THREE[r], PROB[r], labels=[0, 1, 2]) for r in rows]
    assert resampled(statistic, THREE, PROB, None, rows).tolist() == pytest.approx(expected)


def test_labels_of_the_test_set_are_kept_in_a_subgroup():
    subgroup = np.flatnonzero(THREE != 2)
    for metric in ("neg_log_loss", partial(metrics.top_k_accuracy_score, k=1)):
        statistic = check_response(one(metric), THREE, PROB)
        rows = [np.arange(len(subgroup))]
        found = resampled(statistic, THREE[subgroup], PROB[subgroup], None, rows)[0]
        function = metric if callable(metric) else metrics.log_loss
        expected = function(THREE[subgroup], PROB[subgroup], labels=[0, 1, 2])
        assert found == pytest.approx(expected if callable(metric) else -expected)


def test_one_column_of_probabilities_keeps_its_meaning_in_a_subgroup_of_one_class():
    subgroup = BINARY == 1
    statistic = check_response(one("neg_log_loss"), BINARY, SECOND)
    rows = [np.arange(subgroup.sum())]
    found = resampled(statistic, BINARY[subgroup], SECOND[subgroup], None, rows)[0]
    assert found == pytest.approx(np.log(SECOND[subgroup]).mean())


def test_labels_that_do_not_fit_the_columns_are_never_guessed():
    with pytest.raises(ValueError, match=r"2 classes, but the labels \[1\].*labels="):
        one("neg_log_loss").reduce(np.ones(3, int), np.array([0.2, 0.3, 0.9]), None)


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc_ovr", metrics.d2_log_loss_score])
def test_columns_may_come_in_another_order(metric):
    names = np.array(["c", "a", "b"])
    statistic = one(metric, labels=names)
    expected = observed(one(metric), THREE, PROB)
    assert observed(statistic, names[THREE], PROB) == pytest.approx(expected)


def test_scores_may_be_the_positive_one_of_two_columns():
    def gap(y_true, y_score):
        return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

    scorer = make_scorer(gap, response_method="predict_proba")
    for metric in ("roc_auc", "average_precision", "neg_equal_error_rate", scorer):
        assert observed(one(metric), BINARY, TWO) == pytest.approx(
            observed(one(metric), BINARY, SECOND)
        )


def test_a_scorers_positive_label_chooses_the_column():
    def mean_score(y_true, y_score, pos_label=1):
        return float(np.mean(y_score))

    scorer = make_scorer(mean_score, response_method="predict_proba", pos_label=0)
    assert observed(one(scorer), BINARY, TWO) == pytest.approx(TWO[:, 0].mean())


# ------------------------------------------------------------------ bad metrics


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda estimator, X, y: 0.0, "a callable of an estimator.*make_scorer"),
        (partial(metrics.f1_score, sample_weight=np.ones(N)), "not bind sample_weight"),
        (partial(metrics.f1_score, average=None), "return one number"),
        (skboot.metrics.bayes_decisions, "neg_expected_cost"),
        (
            partial(metrics.f1_score, averag="macro"),
            r"options that f1_score takes.*averag.*It takes labels, ",
        ),
    ],
)
def test_metrics_that_cannot_be_right_are_refused(metric, message):
    with pytest.raises(ValueError, match=message):
        resolve_metrics(metric)


# ------------------------------------------------------------------ bad predictions


NAMES = np.array(["ham", "spam"])


@pytest.mark.parametrize(
    ("metric", "y_true", "y_pred", "message"),
    [
        ("accuracy", BINARY, TWO, "'y_pred'.*class labels.*shape \\(40, 2\\).*bayes_decisions"),
        ("accuracy", BINARY, SECOND, "'y_pred'.*class labels.*real numbers such as.*threshold"),
        ("accuracy", REAL, DECISION, "'y_true'.*class labels.*truth comes first"),
        ("accuracy", REAL, REAL[::-1], "'y_true'.*class labels.*'r2'"),
        ("f1_macro", NAMES[BINARY], DECISION, "same kind as y_true, here text. Got numbers"),
        (
            *("accuracy", NAMES[BINARY], SECOND > 0.5),
            r"np\.where\(y_pred, 'spam', 'ham'\) if True means 'spam'",
        ),
        ("f1", THREE, THREE, "at most two labels.*f1_macro"),
        ("f1", NAMES[BINARY], NAMES[DECISION], "positive label.*pos_label="),
        ("roc_auc", BINARY, NAMES[DECISION], "hold scores.*text such as 'ham'|hold scores.*text"),
        ("roc_auc", THREE, PROB, "two classes.*roc_auc_ovr"),
        ("roc_auc", 0 * BINARY, SECOND, "two classes.*the label 0 alone"),
        ("roc_auc", BINARY, PROB, r"\(n_samples, 2\)"),
        ("roc_auc_ovr", THREE, SECOND, "one column for each of the 3 labels"),
        ("roc_auc_ovr", THREE, 2 * PROB, "sum 1"),
        ("average_precision", NAMES[BINARY], SECOND, "positive label 1.*pos_label="),
        ("neg_equal_error_rate", THREE, PROB, "two classes"),
        ("top_k_accuracy", BINARY, PROB, "one column for each of the 2 labels.*labels="),
        ("top_k_accuracy", THREE, SECOND, "one column for each of the 3 labels.*labels="),
        (NUMBER_OF_TOPS, BINARY, PROB, "one column for each of the 2 labels.*labels="),
        (LIKELIHOOD, BINARY, PROB, "one column for each of the 2 labels.*labels="),
        ("neg_log_loss", BINARY, DECISION, "probabilities of all classes.*'accuracy'"),
        ("neg_log_loss", NAMES[BINARY], NAMES[DECISION], "probabilities of all classes"),
        ("neg_log_loss", BINARY, PROB, "one column for each of the 2 labels.*labels="),
        ("neg_log_loss", THREE, SECOND, "one column for each of the 3 labels"),
        ("neg_brier_score", BINARY, 3 * SECOND, "probabilities.*'roc_auc'"),
        ("r2", NAMES[BINARY], VALUE, "'y_true'.*real number.*'accuracy'"),
        ("r2", REAL, PROB, "'y_pred'.*one real number per row"),
        ("mean", BINARY, VALUE, "'y_true'.*None with metric='mean'"),
        ("mean", None, PROB, "one number per row for metric='mean'"),
        ("accuracy", None, DECISION, "'y_true'.*true labels or values.*metric='mean'"),
        (metrics.max_error, None, VALUE, "'y_true'.*true labels or values"),
        (
            partial(skboot.metrics.expected_cost, costs=[[0, 1], [1, 0]]),
            THREE,
            THREE,
            "'costs'.*\\(3, 3\\)",
        ),
        (
            partial(skboot.metrics.cross_entropy, priors=[0.5, 0.5]),
            THREE,
            PROB,
            "'priors'.*3 classes",
        ),
        (
            partial(skboot.metrics.expected_cost, labels=[0, 1], relative=True),
            THREE,
            THREE,
            "among \\[0, 1\\].*also \\[2\\]",
        ),
    ],
)
def test_predictions_that_do_not_fit_are_refused(metric, y_true, y_pred, message):
    with pytest.raises(ValueError, match=message) as caught:
        check_response(one(metric), y_true, y_pred)
    assert " parameter must " in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
def test_the_system_whose_probabilities_do_not_sum_to_one_is_named():
    y_preds = {"whole": PROB, "short": 0.9 * PROB}
    with pytest.warns(UserWarning, match=r"rows of y_preds\['short'\] do not sum to one") as told:
        skboot.compare_systems(THREE, y_preds, metric="neg_log_loss", random_state=0)
    assert not any("y_preds['whole']" in str(one.message) for one in told)


def test_probabilities_that_do_not_sum_to_one_are_said():
    with pytest.warns(UserWarning, match="do not sum to one"):
        check_response(one("neg_log_loss"), THREE, 0.9 * PROB)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "integer k of at least 1. Got k=0"),
        ({"k": 1.5}, "integer k of at least 1. Got k=1.5"),
        ({"labels": [2, 0, 1]}, "labels in rising order.*labels="),
    ],
)
def test_options_of_a_top_k_accuracy_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        one(partial(metrics.top_k_accuracy_score, **options))


def test_a_top_k_accuracy_that_cannot_miss_is_said():
    with pytest.warns(UndefinedMetricWarning, match="is 1 whatever the predictions"):
        check_response(one("top_k_accuracy"), BINARY, SECOND)


@pytest.mark.parametrize("metric", ["top_k_accuracy", NUMBER_OF_TOPS])
def test_columns_of_a_top_k_accuracy_may_be_in_any_order_of_labels(metric):
    # Ties are decided by the order of the labels, as scikit-learn does.
    tied = np.round(PROB, 1)
    expected = one(metric, labels=[0, 1, 2])
    mixed = one(metric, labels=[2, 0, 1])
    assert observed(mixed, THREE, tied[:, [2, 0, 1]]) == observed(expected, THREE, tied)
    function = metric if callable(metric) else metrics.top_k_accuracy_score
    assert observed(expected, THREE, tied) == function(THREE, tied)


def test_the_number_of_hits_among_two_classes_is_that_of_the_second_column():
    top = partial(metrics.top_k_accuracy_score, normalize=False, k=1)
    assert observed(one(top), BINARY, TWO) == np.sum(DECISION == BINARY)


def test_a_top_k_accuracy_of_a_subgroup_keeps_the_threshold_of_the_whole_test_set():
    score = np.array([-2.0, 0.2, 0.4, 0.3])
    truth = np.array([0, 1, 1, 1])
    top = partial(metrics.top_k_accuracy_score, k=1)
    statistic = check_response(one(top), truth, score)
    reduced = statistic.reduce(truth[1:], score[1:], None)
    assert statistic.proportion(reduced).hits == 3


@pytest.mark.parametrize(
    ("metric", "y_true", "y_pred"),
    [
        ("accuracy", BINARY, DECISION.astype(float)),
        ("accuracy", BINARY, DECISION.astype(bool)),
        ("accuracy", NAMES[BINARY].astype(object), NAMES[DECISION]),
        ("roc_auc", BINARY, DECISION),
        ("roc_auc", NAMES[BINARY], 10 * SECOND),
        ("neg_log_loss", NAMES[BINARY], SECOND),
        ("r2", BINARY, SECOND),
        ("mean", None, DECISION),
        (lambda y_true, y_pred: 0.0, BINARY, PROB),
    ],
)
def test_predictions_that_fit_are_taken(metric, y_true, y_pred):
    check_response(one(metric), y_true, y_pred)


def test_the_factory_of_each_function_stands_in_the_module_that_is_named():
    import_modules("skboot.metrics")

    def module_of(factory):
        function = getattr(factory, "func", factory)
        return function.__module__.rpartition(".")[2]

    assert {name: module_of(factory) for name, factory in FAST_PATHS.items()} == _MODULE_OF
    assert set(map(module_of, OUTPUT_PATHS.values())) == {"outputs"}


def test_what_is_taken_for_several_numbers():
    assert entries_of(np.array([1.0, 2.0])) == entries_of([1.0, 2.0]) == {0: 1.0, 1: 2.0}
    for single in (1.0, np.float64(1), np.array(1.0), (1.0, 2.0), np.eye(2), "text", None):
        assert entries_of(single) is None
