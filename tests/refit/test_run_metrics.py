"""What is kept of a run for each metric."""

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor, Ridge
from sklearn.metrics import make_scorer, mean_gamma_deviance, mean_poisson_deviance

from skboot import BootstrapScorer


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
