"""Parameters of fit: those with a value per row are sliced with the rows, others pass unchanged."""

import array
from collections import UserList

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import _check_method_params

from skboot.refit.lending import copy_of_rows
from skboot.refit.training import has_rows
from skboot.scorer import BootstrapScorer

X, y = make_classification(60, 5, random_state=0)
X_VALID, Y_VALID = make_classification(25, 5, random_state=1)
QUICK = dict(strategy="oob", n_train_resamples=64, random_state=0)
PER_ROW = [
    np.arange(60.0),
    list(range(60)),
    tuple(range(60)),
    range(60),
    array.array("d", range(60)),
    UserList(range(60)),
    np.arange(120).reshape(60, 2),
    sparse.csr_array(np.eye(60)),
]
WHOLE = [
    [(X_VALID, Y_VALID)],
    [(X, y)],
    (X_VALID, Y_VALID),
    X_VALID,
    sparse.csr_array(np.eye(25)),
    "error",
    None,
    False,
    0.5,
    [len],
    {"a": 1},
    np.arange(61),
    iter([1]),
]


def name_of(value):
    return f"{type(value).__name__} {str(value)[:12]}"


@pytest.mark.parametrize("value", [*PER_ROW, *WHOLE], ids=name_of)
def test_a_parameter_is_sliced_exactly_where_scikit_learn_slices_it(value):
    rows = np.array([3, 3, 0])
    taken = _check_method_params(X, {"value": value}, rows)["value"]
    assert has_rows(value, len(X)) == (taken is not value)
    if taken is not value:
        ours = copy_of_rows(value, rows)
        if sparse.issparse(ours):
            ours, taken = ours.toarray(), taken.toarray()
        np.testing.assert_array_equal(ours, taken)


@pytest.mark.parametrize("value", ["x" * 60, dict.fromkeys(range(60)), np.array(1.0)], ids=name_of)
def test_texts_dicts_and_arrays_without_dimensions_are_no_rows(value):
    assert not has_rows(value, 60)


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
