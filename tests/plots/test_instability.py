"""PredictionInstabilityDisplay: how far the answer for a row depends on the training sample."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from training_jobs import drawn

from skboot import BootstrapScorer
from skboot.plots import PredictionInstabilityDisplay

CLASSES = make_classification(60, 4, flip_y=0.2, class_sep=0.6, random_state=0)
VALUES = make_regression(50, 3, noise=20.0, random_state=0)
FEW = {"n_train_resamples": 50, "n_cv_repeats": 1, "random_state": 0}


def fitted(model, data, scoring):
    return BootstrapScorer(model, scoring=scoring, **FEW).fit(*data)


def answers_of_rows_left_out(model, data, method):
    """By scikit-learn on the rows of each bootstrap sample; NaN for rows trained on."""
    X, y = data
    found = np.full((50, len(y)), np.nan)
    for line, counts in enumerate(drawn(len(y), n_resamples=50).counts.astype(int)):
        train, test = np.repeat(np.arange(len(y)), counts), np.flatnonzero(counts == 0)
        answers = getattr(model.fit(X[train], y[train]), method)(X[test])
        found[line, test] = answers if answers.ndim == 1 else answers[:, 1]
    return found


BRIER, LOG_LOSS = "neg_brier_score", ["accuracy", "neg_log_loss"]


@pytest.mark.parametrize(
    ("model", "data", "scoring", "method", "kind"),
    [
        (LinearRegression(), VALUES, "neg_mean_squared_error", "predict", "value"),
        (LogisticRegression(), CLASSES, BRIER, "predict_proba", "probability"),
        (
            LogisticRegression(),
            CLASSES,
            ["accuracy", "neg_log_loss"],
            "predict_proba",
            "probability",
        ),
    ],
)
def test_ranges_are_those_of_models_that_left_the_row_out(model, data, scoring, method, kind):
    found = fitted(model, data, scoring).prediction_instability_
    expected = answers_of_rows_left_out(model, data, method)
    full = getattr(model.fit(*data), method)(data[0])
    full = full if full.ndim == 1 else full[:, 1]
    np.testing.assert_allclose(found[kind], full)
    np.testing.assert_array_equal(found["n_models"], np.isfinite(expected).sum(axis=0))
    np.testing.assert_allclose(
        found["difference"], np.nanmean(np.abs(expected - full), axis=0), rtol=1e-6
    )
    limits = np.nanquantile(expected, (0.025, 0.975), axis=0)
    np.testing.assert_allclose((found["low"], found["high"]), limits, rtol=1e-6)


def test_labels_have_the_share_of_models_with_another_label():
    model = LogisticRegression()
    found = fitted(model, CLASSES, "accuracy").prediction_instability_
    expected = answers_of_rows_left_out(model, CLASSES, "predict")
    full = model.fit(*CLASSES).predict(CLASSES[0])
    np.testing.assert_array_equal(found["label"], full)
    share = np.nanmean(np.where(np.isnan(expected), np.nan, expected != full), axis=0)
    np.testing.assert_allclose(found["difference"], share)
    assert "low" not in found


def test_the_picture_shows_a_line_per_row_or_bars_of_labels():
    pytest.importorskip("matplotlib")
    scorer = fitted(LinearRegression(), VALUES, "r2")
    display = PredictionInstabilityDisplay.from_scorer(scorer)
    lines = np.array(display.ranges_.get_segments())
    np.testing.assert_allclose(lines[:, 0, 0], scorer.prediction_instability_["value"])
    np.testing.assert_allclose(lines[:, 1, 1], scorer.prediction_instability_["high"])
    assert "difference" in display.ax_.get_title()
    scorer = fitted(LogisticRegression(), CLASSES, "f1")
    display = PredictionInstabilityDisplay.from_scorer(scorer)
    assert sum(bar.get_height() for bar in display.bars_) == 60
    assert display.plot(display.ax_, name="mine").ax_.get_title() == "mine"


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision"])
def test_rank_metrics_keep_no_answers(scoring):
    scorer = fitted(LogisticRegression(), CLASSES, scoring)
    assert not hasattr(scorer, "prediction_instability_")
    with pytest.raises(ValueError, match="neg_brier_score"):
        PredictionInstabilityDisplay.from_scorer(scorer)


def test_a_test_set_leaves_no_instability_behind():
    X, y = CLASSES
    scorer = fitted(LogisticRegression(), CLASSES, "accuracy")
    scorer.fit(X[:40], y[:40], X_test=X[40:], y_test=y[40:])
    assert not hasattr(scorer, "prediction_instability_")
