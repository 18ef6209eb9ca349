"""What is said of scores that are biased on their own rows is what the study found."""

from functools import partial

import numpy as np
import pytest

from benchmarks.coverage.acceptance import measured
from benchmarks.coverage.runner import RESULTS
from skboot import bootstrap_score
from skboot.metrics import minimum_detection_cost

FOUND = measured(RESULTS / "biased_scores.csv")


def of_kind(kind):
    return [one for one in FOUND if one.kind == kind]


def span(kind):
    """Least and largest coverage in whole percent."""
    covered = [100 * one.coverage for one in of_kind(kind)]
    return f"{min(covered):.0f} to {max(covered):.0f}%"


@pytest.mark.parametrize("seed", range(3))
def test_the_warning_of_a_best_threshold_states_what_was_found(seed):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(2, size=150)
    scores = y_true + rng.normal(size=150)
    metric = partial(minimum_detection_cost, priors=[0.5, 0.5])
    with pytest.warns(UserWarning, match="best threshold") as caught:
        bootstrap_score(y_true, scores, metric=metric, n_resamples=99)
    text = str(caught[0].message)
    assert f"covered {span('minimum cost')}" in text
    assert f"those of differences {span('minimum cost, difference')}" in text
