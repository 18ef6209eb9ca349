"""The negative of a metric is its mirror image, and says the same of the rows."""

from functools import partial

import numpy as np
import pytest
from identity_cases import close, quiet
from sklearn import metrics

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 99, "random_state": 0}

OF_FEW = {
    "f1 macro": (partial(metrics.f1_score, average="macro"), "labels"),
    "balanced accuracy": (metrics.balanced_accuracy_score, "labels"),
    "f1": (metrics.f1_score, "labels"),
    "accuracy": (metrics.accuracy_score, "labels"),
    "area": (metrics.roc_auc_score, "scores"),
    "precision by scores": (metrics.average_precision_score, "scores"),
    "brier": (metrics.brier_score_loss, "scores"),
    "error": (metrics.mean_absolute_error, "values"),
}


@pytest.mark.parametrize("name", OF_FEW)
@pytest.mark.parametrize("groups", [None, np.arange(120) // 4])
def test_the_negative_of_a_metric_is_its_mirror_image_with_the_same_notes(name, groups):
    metric, response = OF_FEW[name]
    rng = np.random.default_rng(3)
    y = (np.arange(120) % 24 == 0).astype(int)
    scores = np.clip(0.7 * y + 0.2 * rng.random(120), 0, 1)
    predicted = {"labels": (scores > 0.18).astype(int), "scores": scores, "values": scores}[
        response
    ]
    kind = {"scores": "predict_proba"}.get(response, "predict")
    results = {}
    for sign in (True, False):
        scorer = metrics.make_scorer(metric, greater_is_better=sign, response_method=kind)
        results[sign] = quiet(
            skboot.bootstrap_score, y, predicted, metric=scorer, groups=groups, **OPTIONS
        )
    one, negative = results[True], results[False]
    low, high = negative.confidence_interval
    close([-negative.estimate, -high, -low], [one.estimate, *one.confidence_interval])
    assert negative.confidence_interval.method == one.confidence_interval.method
    of_direction = ("Worse than",)  # the metric itself need not be better where it is greater
    assert [n for n in negative.notes if not n.startswith(of_direction)] == [
        n for n in one.notes if not n.startswith(of_direction)
    ]
