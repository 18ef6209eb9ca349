"""Metrics of several outputs, held against the scorers of scikit-learn on the same rows."""

import warnings
from functools import partial

import numpy as np
import pytest
import sklearn.metrics as metrics
from sklearn.base import BaseEstimator
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, make_scorer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skboot import BootstrapScorer
from skboot.refit.influence import MOST_LEFT_OUT
from skboot.refit.run_metrics import Target
from skboot.refit.scoring import run_metrics_of
from skboot.refit.several_outputs import OutputsRunMetric
from skboot.refit.training import Answers, Scored


def outputs(regression, n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, :3] + 0.5 * rng.normal(size=(n_rows, 3))
    return X, (y if regression else (y > 0.3).astype(int))


def metric_of(scorer, answers):
    (metric,) = run_metrics_of({"m": scorer}, Target(answers.y, None, None, None), answers)
    assert type(metric) is OutputsRunMetric
    return metric


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "r2", "neg_mean_absolute_error"])
def test_scores_of_several_outputs_are_those_of_the_scorer(scoring):
    regression = scoring in ("r2", "neg_mean_absolute_error")
    X, y = outputs(regression)
    tree = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(max_depth=2)
    answers = Answers(tree.fit(X, y), X, y, None)
    scorer = get_scorer(scoring)
    metric = metric_of(scorer, answers)
    rows, others = np.arange(10, 40), np.arange(30)[::-1]
    for of_rows, of_y in ((None, None), (rows, None), (rows, others)):
        X_rows = X if of_rows is None else X[of_rows]
        y_rows = y if of_rows is None else y[of_rows if of_y is None else of_y]
        expected = -scorer(tree, X_rows, y_rows)
        assert metric.error(answers, of_rows, of_y) == pytest.approx(expected, rel=1e-12)


def test_several_outputs_are_predicted_once_a_run():
    X, y = outputs(regression=False)
    calls = []

    class Counted(DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            calls.append(len(X))
            return super().predict(X)

    tree = Counted(max_depth=2).fit(X, y)
    answers = Answers(tree, X, y, None)
    metric = metric_of(get_scorer("f1_macro"), answers)
    for row in range(20):
        metric.error(answers, np.delete(np.arange(60), row))
    assert calls == [60]


# ------------------------------------------------------------------ several labels per row

AVERAGES = ["micro", "macro", "weighted", "samples"]
SCORERS = {
    "accuracy": get_scorer("accuracy"),
    "zero_one_loss": make_scorer(metrics.zero_one_loss, greater_is_better=False),
    "hamming_loss": make_scorer(metrics.hamming_loss, greater_is_better=False),
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


KINDS = ["all labels", "one label absent", "all absent", "none predicted"]
# Rows are left out as groups of one: each metric and each average has some kind of answers.
LEFT_OUT = [
    (name, kind, by_group)
    for k, name in enumerate(SCORERS)
    for by_group, kinds in ((True, KINDS), (False, [KINDS[(k + k // 4) % 4]]))
    for kind in kinds
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(("name", "kind", "by_group"), LEFT_OUT)
def test_rows_and_groups_are_left_out_as_the_scorer_does(name, kind, by_group):
    answers, scorer = problem(kind), SCORERS[name]
    metric = metric_of(scorer, answers)
    outside = np.arange(45) % 3 > 0
    rows = np.flatnonzero(outside)
    units = np.arange(45) // 5 if by_group else None
    kept = metric.keep(answers, Scored(np.arange(45), outside, units, None, "bootstrap", number=3))

    def error(some):
        return -scorer(answers.estimator, answers.X[some], answers.y[some])

    unit = np.arange(len(rows)) if units is None else units[rows]
    n = len(np.unique(unit))
    expected = np.array([(n - 1) * (error(rows) - error(rows[unit != one])) for one in set(unit)])
    error_key, influence_key = (f"score of m: {part}" for part in ("error", "influence"))
    assert kept[error_key] == pytest.approx(error(rows), rel=1e-12, abs=1e-12)
    # The scale is that of the score: differences are multiplied by the number of units.
    assert kept[influence_key] == pytest.approx(expected, abs=1e-12 * n)
    assert len(kept[influence_key]) == n <= MOST_LEFT_OUT


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(metrics.precision_score, average="macro", zero_division=np.nan),
        make_scorer(metrics.f1_score, average="macro", labels=[0, 2]),
        make_scorer(metrics.accuracy_score, normalize=False),
        make_scorer(partial(metrics.f1_score, average="macro")),
    ],
)
def test_options_that_counts_do_not_know_are_left_to_the_function(scorer):
    answers = problem("one label absent")
    metric = metric_of(scorer, answers)
    rows = np.arange(10, 45)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = -scorer(answers.estimator, answers.X[rows], answers.y[rows])
        assert metric.error(answers, rows) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["precision_macro", "f1_samples"])
def test_undefined_ratios_are_warned_of_in_the_words_of_scikit_learn(name):
    answers = problem("one label absent")
    metric = metric_of(SCORERS[name], answers)
    with pytest.warns(UndefinedMetricWarning) as expected:
        SCORERS[name](answers.estimator, answers.X, answers.y)
    with pytest.warns(UndefinedMetricWarning) as given:
        metric.error(answers)
    assert str(given[0].message) == str(expected[0].message)


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*20 resamples are too few")
@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "jaccard_micro"])
def test_a_fit_does_not_call_metrics_of_several_labels(scoring, monkeypatch):
    """Each call takes milliseconds, and a run of 1000 rows made 65 of them."""
    X, y = outputs(regression=False, n_rows=80)
    # The value of every call is read by this function.
    monkeypatch.setattr("skboot.refit.several_outputs.as_number", None)
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
    given = Answers(forest, X, y, None).scores(("predict_proba",))
    assert given.shape == y.shape
    assert not given[:, 0].any()
    np.testing.assert_array_equal(given[:, 1], forest.predict_proba(X)[1][:, 1])
