"""Metrics of a fit share what its runs answered; no number depends on it."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skboot import BootstrapScorer
from skboot.refit import run_metrics

OF_LABELS = ["accuracy", "f1", "precision", "recall", "balanced_accuracy", "matthews_corrcoef"]
TWO_CLASSES = [*OF_LABELS, "roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"]
MORE_CLASSES = ["accuracy", "f1_macro", "recall_weighted", "matthews_corrcoef", "neg_log_loss"]
OF_VALUES = ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_max_error"]


class FailsOnSome(GaussianNB):
    """Fails on a quarter of the training samples, by their first row."""

    def fit(self, X, y):
        if X[0, 0] > 0.7:
            raise ValueError("not these rows")
        return super().fit(X, y)


CASES = {
    "two classes": (GaussianNB(), 2, TWO_CLASSES, {}),
    "two classes, seeds": (
        DecisionTreeClassifier(max_depth=3, max_features=1),
        2,
        TWO_CLASSES,
        {"n_seeds": 2},
    ),
    "two classes, failed runs": (FailsOnSome(), 2, TWO_CLASSES, {}),
    "four classes": (GaussianNB(), 4, MORE_CLASSES, {}),
    "values": (Ridge(), None, OF_VALUES, {}),
}


def results_of(case, scoring, strategy, groups=None):
    """Results of a fit by metric."""
    estimator, n_classes, _, options = CASES[case]
    X, y = make_regression(90, 4, noise=20, random_state=1)
    if n_classes:
        X, y = make_classification(
            90, 6, n_informative=4, n_classes=n_classes, flip_y=0.3, random_state=1
        )
    settings = {"n_train_resamples": 15, "refit": False, "random_state": 0} | options
    scorer = BootstrapScorer(estimator, scoring=scoring, strategy=strategy, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = scorer.fit(X, y, groups=groups).result_
    return dict(result) if isinstance(scoring, list) else {scoring: result}


def numbers_of(result):
    """All that intervals of one result are made of, to the last bit, but for random draws."""
    parts = result._basis.error.to_parts()["error"]
    # Permutations are drawn for one metric after the other.
    drawn = ("no_information_rate", "relative_overfitting_rate", "weight", "point632_plus")
    numbers = {name: value for name, value in parts.items() if name not in drawn}
    return numbers | {"estimate": result.estimate, "parts": result.variance_components}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("strategy", ["cv-bootstrap", "oob"])
@pytest.mark.parametrize("case", CASES)
def test_a_metric_among_others_has_the_numbers_that_it_has_alone(case, strategy, grouped):
    groups = np.arange(90) // 3 if grouped else None
    names = CASES[case][2]
    together = results_of(case, names, strategy, groups)
    for name in names[::3]:
        [alone] = results_of(case, name, strategy, groups).values()
        np.testing.assert_equal(numbers_of(together[name]), numbers_of(alone))


@pytest.mark.parametrize("strategy", ["cv-bootstrap", "oob"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_for_the_next_metric_changes_no_number(case, strategy, monkeypatch):
    names = CASES[case][2]
    kept = results_of(case, names, strategy)
    monkeypatch.setattr(run_metrics, "_MOST_PUT_TOGETHER", 0)
    made_again = results_of(case, names, strategy)
    for name in names:
        np.testing.assert_equal(numbers_of(made_again[name]), numbers_of(kept[name]))
