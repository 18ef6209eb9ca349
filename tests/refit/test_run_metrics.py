"""What is kept of a run for each metric."""

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor, Ridge
from sklearn.metrics import get_scorer, make_scorer, mean_gamma_deviance, mean_poisson_deviance
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skboot import BootstrapScorer
from skboot.refit.run_metrics import OutputsRunMetric, Target
from skboot.refit.scoring import run_metrics_of
from skboot.refit.training import Answers


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*20 resamples are too few")
def test_twenty_metrics_of_values_keep_one_array_per_run():
    """Memory: 20 runs x 8000 rows of float64 are 1.3 MB; 20 metrics may not multiply that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    y = X[:, 0] + rng.normal(size=8000)
    names = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error", "explained_variance"]

    def peak(scoring):
        tracemalloc.start()
        BootstrapScorer(
            Ridge(), scoring=scoring, strategy="oob", n_train_resamples=20, random_state=0
        ).fit(X, y)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    twenty = peak({f"{name} {k}": name for name in names for k in range(5)})
    assert twenty < peak("r2") + 8e6


@pytest.mark.parametrize(
    ("estimator", "deviance"),
    [(PoissonRegressor(), mean_poisson_deviance), (GammaRegressor(), mean_gamma_deviance)],
)
def test_losses_that_take_no_zero_are_those_of_the_rows_left_out_alone(estimator, deviance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = 1 + rng.poisson(np.exp(X[:, 0]))

    def own(y_true, y_pred):
        return deviance(y_true, y_pred)

    # Folds of one size: the mean over rows is the mean over folds, which a callable gets.
    options = dict(n_train_resamples=50, n_cv_repeats=2, random_state=0)
    scoring = {
        "named": f"neg_{deviance.__name__}",
        "own": make_scorer(own, greater_is_better=False),
    }
    scores = BootstrapScorer(estimator, scoring=scoring, **options).fit(X, y).score_
    assert scores["named"] == pytest.approx(scores["own"], rel=1e-12)


# ------------------------------------------------------------------ several outputs


def outputs(regression):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, :3] + 0.5 * rng.normal(size=(60, 3))
    return X, (y if regression else (y > 0).astype(int))


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "r2", "neg_mean_absolute_error"])
def test_scores_of_several_outputs_are_those_of_the_scorer(scoring):
    regression = scoring in ("r2", "neg_mean_absolute_error")
    X, y = outputs(regression)
    tree = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(max_depth=2)
    answers = Answers(tree.fit(X, y), X, y, None)
    scorer = get_scorer(scoring)
    target = Target(y, None, None, None)
    (metric,) = run_metrics_of({scoring: scorer}, target, answers)
    assert type(metric) is OutputsRunMetric
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
    (metric,) = run_metrics_of({"f1": get_scorer("f1_macro")}, Target(y, None, None, None), answers)
    for row in range(20):
        metric.error(answers, np.delete(np.arange(60), row))
    assert calls == [60]
