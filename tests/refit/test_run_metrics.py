"""What is kept of a run for each metric."""

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import Ridge

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
