"""The study of several labels and outputs: its truths are what many rows tend to."""

import functools

import numpy as np
import pytest
from sklearn.metrics import f1_score, hamming_loss, r2_score

from benchmarks.coverage.studies import several_outputs

FUNCTIONS = {
    "f1_macro": functools.partial(f1_score, average="macro"),
    "f1_micro": functools.partial(f1_score, average="micro"),
    "hamming_loss": hamming_loss,
}


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_the_truth_of_labels_is_the_score_of_many_rows(metric):
    """Ten samples of 20,000 rows; a false alarm in one of 10,000 seeds."""
    draw = several_outputs.label_sets(metric, 20_000, 5)
    samples = [draw(np.random.default_rng(seed)) for seed in range(10)]
    values = [FUNCTIONS[metric](own.y_true, own.y_pred) for own in samples]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    # The quantile of t with 9 degrees of freedom.
    assert abs(np.mean(values) - samples[0].truth[""]) < 6.6 * error


def test_the_truth_of_outputs_is_the_score_of_many_rows():
    draw = several_outputs.outputs(20_000, 5)
    samples = [draw(np.random.default_rng(seed)) for seed in range(10)]
    values = [r2_score(own.y_true, own.y_pred) for own in samples]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert abs(np.mean(values) - samples[0].truth[""]) < 6.6 * error
