"""Parameters of fit: those with a value per row are sliced with the rows, others pass unchanged."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from skboot import BootstrapScorer

X, y = make_classification(60, 5, random_state=0)
X_VALID, Y_VALID = make_classification(25, 5, random_state=1)
QUICK = dict(strategy="oob", n_train_resamples=64, random_state=0)


class Boosted(ClassifierMixin, BaseEstimator):
    """A stand-in for boosting with early stopping: it takes a test set to watch, and options."""

    seen = None

    def fit(self, X, y, *, eval_set=None, verbose=True, callbacks=None, sample_weight=None):
        [(X_valid, y_valid)] = eval_set
        np.testing.assert_array_equal(X_valid, X_VALID)
        np.testing.assert_array_equal(y_valid, Y_VALID)
        assert len(sample_weight) == len(X)
        Boosted.seen.append((verbose, callbacks))
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("keeps_runs", [False, True])
def test_an_eval_set_reaches_every_run_whole(keeps_runs, tmp_path):
    Boosted.seen = []
    memory = tmp_path if keeps_runs else None
    scorer = BootstrapScorer(Boosted(), memory=memory, **QUICK)
    weight = np.linspace(1, 2, 60)
    scorer.fit(
        X, y, eval_set=[(X_VALID, Y_VALID)], verbose=False, callbacks=[], sample_weight=weight
    )
    assert Boosted.seen == [(False, [])] * 65
    assert not scorer.runs_["failed"].any()
