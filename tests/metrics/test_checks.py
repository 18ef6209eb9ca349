"""Two columns are a score of the positive class only where the second orders the rows."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import skboot

OPTIONS = {"n_resamples": 79, "random_state": 0}


def rows(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(2, size=n)
    return y_true, np.clip(0.4 * y_true + 0.6 * rng.random(n), 0.01, 0.99), rng.random(n)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("scale", ["probabilities", "decisions", "margins"])
def test_two_columns_that_are_scored_are_the_second_alone(seed, dtype, scale):
    y_true, prob, _ = rows(seed)
    # Margins are those of a model that votes for the classes with 100 trees.
    both = {
        "probabilities": np.column_stack((1 - prob, prob)),
        "decisions": np.column_stack((-prob, prob)) * 1000,
        "margins": np.column_stack((100 - np.round(100 * prob), np.round(100 * prob))),
    }[scale].astype(dtype)
    found = skboot.bootstrap_score(y_true, both, metric="roc_auc", interval="percentile", **OPTIONS)
    assert found.estimate == pytest.approx(roc_auc_score(y_true, both[:, 1]), abs=1e-12)
    one = skboot.bootstrap_curve(y_true, both, **OPTIONS)
    other = skboot.bootstrap_curve(y_true, both[:, 1], **OPTIONS)
    np.testing.assert_array_equal(one.estimate, other.estimate)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "equal_error_rate", "cllr"])
@pytest.mark.parametrize("kind", ["systems", "logits"])
def test_two_columns_of_other_things_are_refused(metric, kind):
    y_true, prob, other = rows()
    both = np.column_stack((other, prob) if kind == "systems" else (other, 5 * prob))
    with pytest.raises(ValueError, match=r"two columns with sums from .* compare_systems"):
        skboot.bootstrap_score(y_true, both, metric=metric, **OPTIONS)
    with pytest.raises(ValueError, match="two columns with sums from"):
        skboot.compare_systems(y_true, {"A": both, "B": prob}, metric=metric, **OPTIONS)


@pytest.mark.parametrize("curve", ["roc", "precision_recall", "calibration", "decision"])
def test_curves_of_two_columns_of_other_things_are_refused(curve):
    y_true, prob, other = rows()
    both = np.column_stack((other, prob))
    with pytest.raises(ValueError, match="two columns with sums from"):
        skboot.bootstrap_curve(y_true, both, curve=curve, **OPTIONS)


def test_logits_are_scored_by_their_difference_as_the_error_advises():
    y_true, prob, other = rows()
    logits = np.column_stack((other, other + np.log(prob / (1 - prob))))
    found = skboot.bootstrap_score(
        y_true, logits[:, 1] - logits[:, 0], metric="roc_auc", interval="percentile", **OPTIONS
    )
    assert found.estimate == pytest.approx(roc_auc_score(y_true, prob), abs=1e-12)


def test_batches_of_two_columns_of_other_things_are_refused():
    y_true, prob, other = rows()
    stream = skboot.BootstrapAccumulator(metric="roc_auc", labels=[0, 1], random_state=0)
    stream.update(y_true, np.column_stack((1 - prob, prob)))
    with pytest.raises(ValueError, match="two columns with sums from"):
        stream.update(y_true, np.column_stack((other, prob)))
