"""Metrics of several outputs, held against the scorers of scikit-learn on the same rows."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as metrics
from in_turn import in_turn
from sklearn.base import BaseEstimator
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, make_scorer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skboot import BootstrapScorer
from skboot.refit.run_metrics import ReplicateRunMetric, Targets, ValueRunMetric
from skboot.refit.scoring import run_metrics_of
from skboot.refit.training import Answers, ScoredRows


def outputs(regression, n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, :3] + 0.5 * rng.normal(size=(n_rows, 3))
    return X, (y if regression else (y > 0.3).astype(int))


def metric_of(scorer, answers, kind=ValueRunMetric):
    (metric,) = run_metrics_of({"m": scorer}, Targets(answers.y, None, None, None), answers, {})
    assert type(metric) is kind
    return metric


def kept_of(metric, answers):
    """What a run keeps of all rows, as the only one of its table."""
    every = np.arange(len(answers.y))
    kept = metric.keep(answers, ScoredRows(every, every >= 0, None, None, "fold"))
    return kept[metric.key][None]


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "r2", "neg_mean_absolute_error"])
def test_scores_of_several_outputs_are_those_of_the_scorer(scoring):
    regression = scoring in ("r2", "neg_mean_absolute_error")
    X, y = outputs(regression)
    tree = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(max_depth=2)
    answers = Answers(tree.fit(X, y), X, y, None)
    scorer = get_scorer(scoring)
    metric = metric_of(scorer, answers)
    for times in (np.ones(60, int), np.arange(60) // 20, np.arange(60) % 3):
        rows = np.repeat(np.arange(60), times)
        (error,) = metric.errors(kept_of(metric, answers), times[None])
        assert error == pytest.approx(-scorer(tree, X[rows], y[rows]), rel=1e-12)


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*20 resamples are too few")
@pytest.mark.parametrize("n_columns", [1, 3])
def test_flags_have_the_r2_of_numbers(n_columns):
    X, y = outputs(regression=False)
    y = y[:, 0] if n_columns == 1 else y
    options = dict(scoring="r2", n_train_resamples=20, n_cv_repeats=1, random_state=0)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    of_numbers, of_flags = (BootstrapScorer(tree, **options).fit(X, own) for own in (y, y == 1))
    assert of_flags.score_ == pytest.approx(of_numbers.score_, rel=1e-12)


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*20 resamples are too few")
def test_metrics_of_values_and_of_label_sets_share_no_answers():
    X, y = outputs(regression=False)
    options = dict(n_train_resamples=20, n_cv_repeats=1, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    both = BootstrapScorer(tree, scoring=["f1_macro", "r2"], **options).fit(X, y == 1)
    for name in ("f1_macro", "r2"):
        alone = BootstrapScorer(tree, scoring=name, **options).fit(X, y)
        assert both.score_[name] == pytest.approx(alone.score_, rel=1e-12)


def test_several_outputs_are_predicted_once_a_run():
    X, y = outputs(regression=False)
    calls = []

    class Counted(DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            calls.append(len(X))
            return super().predict(X)

    tree = Counted(max_depth=2).fit(X, y)
    scorer = make_scorer(lambda y, a: metrics.f1_score(y, a, average="macro"))
    answers = Answers(tree, X, y, None)
    metric = metric_of(scorer, answers, ReplicateRunMetric)
    kept = metric.keep(
        answers, ScoredRows(np.arange(60), np.arange(60) > 9, None, None, "bootstrap")
    )
    assert len(kept["replicate of m: influence"]) == 50
    assert calls == [60]


# ------------------------------------------------------------------ several labels per row

AVERAGES = ["micro", "macro", "weighted", "samples"]
SCORERS = {
    "accuracy": get_scorer("accuracy"),
    "zero_one_loss": make_scorer(metrics.zero_one_loss, greater_is_better=False),
    "hamming_loss": make_scorer(metrics.hamming_loss, greater_is_better=False),
    "f1_macro_of_two": make_scorer(metrics.f1_score, average="macro", labels=[0, 2]),
    **{
        f"{name}_{average}": get_scorer(f"{name}_{average}")
        for name in ("f1", "precision", "recall", "jaccard")
        for average in AVERAGES
    },
    **{
        f"fbeta_{average}": make_scorer(metrics.fbeta_score, beta=2, average=average)
        for average in AVERAGES
    },
    **{
        f"{name}_zero_division_{value}": make_scorer(
            getattr(metrics, f"{name}_score"), average=average, zero_division=value
        )
        for name, average in (("precision", "samples"), ("recall", "macro"), ("jaccard", "macro"))
        for value in (0, 1)
    },
}


class Given(BaseEstimator):
    """Answers with what it was given, row by row."""

    def fit(self, X, y):
        self.predicted_ = y
        return self

    def predict(self, X):
        return self.predicted_[X[:, 0].astype(int)]


def problem(kind):
    """Answers to score; some labels, or all, may never be true or never be predicted."""
    n = 45
    X, truth = np.arange(n)[:, None], outputs(regression=False, n_rows=n)[1]
    rng = np.random.default_rng(1)
    predicted = np.where(rng.random((n, 3)) < 0.3, 1 - truth, truth)
    absent = {"all labels": [], "one label absent": [1], "all absent": [0, 1, 2]}
    truth[:, absent.get(kind, [])] = 0
    predicted[:, [0, 1, 2] if kind == "none predicted" else absent[kind]] = 0
    return Answers(Given().fit(X, predicted), X, truth, None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@in_turn(
    name=list(SCORERS), kind=["all labels", "one label absent", "all absent", "none predicted"]
)
def test_rows_weigh_as_often_as_the_scorer_is_given_them(name, kind):
    answers, scorer = problem(kind), SCORERS[name]
    metric = metric_of(scorer, answers)
    data = kept_of(metric, answers)
    assert data.dtype == bool
    for times in (np.arange(45) % 3 > 0, np.arange(45) // 5 == 2, np.arange(45) % 4):
        rows = np.repeat(np.arange(45), times)
        expected = -scorer(answers.estimator, answers.X[rows], answers.y[rows])
        assert metric.errors(data, times[None] * 1.0) == pytest.approx([expected], abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", SCORERS)
def test_a_little_more_weight_of_a_row_moves_the_scorer_by_its_derivative(name):
    answers, scorer, h = problem("all labels"), SCORERS[name], 1e-6
    metric = metric_of(scorer, answers)
    data, weights = kept_of(metric, answers), np.arange(45) % 3 + 1.0
    if metric.is_mean:
        losses = metric.losses(data)[0]
        moves = (losses - weights @ losses / weights.sum()) / weights.sum()
    else:
        moves = metric.together(data, weights[None])[1][0]
    more = [
        [-scorer(answers.estimator, answers.X, answers.y, sample_weight=weights + change)
         for change in (h * row, -h * row)]
        for row in np.eye(45)[::2]
    ]  # fmt: skip
    assert moves[::2] == pytest.approx(-np.diff(more, axis=1)[:, 0] / (2 * h), abs=1e-8)


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(metrics.precision_score, average="samples", zero_division=np.nan),
        make_scorer(metrics.accuracy_score, normalize=False),
        make_scorer(lambda y, a: metrics.f1_score(y, a, average="macro")),
    ],
)
def test_options_without_a_statistic_of_sums_are_left_to_the_function(scorer):
    answers = problem("one label absent")
    metric = metric_of(scorer, answers, ReplicateRunMetric)
    outside = np.arange(45) >= 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = -scorer(answers.estimator, answers.X[outside], answers.y[outside])
        kept = metric.keep(answers, ScoredRows(np.arange(45), outside, None, None, "bootstrap"))
    assert kept["replicate of m: error"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*20 resamples are too few")
@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "jaccard_micro"])
def test_a_fit_does_not_call_metrics_of_several_labels(scoring, monkeypatch):
    """Each call takes milliseconds, and a run of 1000 rows made 65 of them."""
    X, y = outputs(regression=False, n_rows=80)
    # The value of every call is read by this function.
    for module in ("refit.run_metrics", "metrics.statistic"):
        monkeypatch.setattr(f"skboot.{module}.as_number", None)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    options = dict(n_train_resamples=20, n_cv_repeats=1, random_state=0)
    scorer = BootstrapScorer(tree, scoring=scoring, error_score="raise", **options).fit(X, y)
    assert 0 < scorer.score_ < 1


def test_a_metric_without_an_average_is_refused_as_on_a_test_set():
    X, y = outputs(regression=False)
    scorer = BootstrapScorer(DecisionTreeClassifier(), scoring="f1", random_state=0)
    with pytest.raises(ValueError, match=r"'scoring'.*name an average.*Use 'f1_macro'"):
        scorer.fit(X, y)


def test_a_label_that_no_training_row_has_scores_lowest():
    X, y = make_multilabel_classification(160, 8, n_classes=3, n_labels=2, random_state=0)
    X, y = X[:100], y[:100]
    y[:, 0] = 0
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    given = Answers(forest, X, y, None).response("scores", ("predict_proba",))
    assert given.shape == y.shape
    assert not given[:, 0].any()
    np.testing.assert_array_equal(given[:, 1], forest.predict_proba(X)[1][:, 1])
