"""Copies of a row in searches inside a bootstrap sample."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skboot.refit import training


def test_copies_of_a_row_are_on_one_side_of_inner_folds():
    rng = np.random.default_rng(0)
    ids = rng.integers(30, size=60)
    for base in (3, None, KFold(4, shuffle=True, random_state=0)):
        split = training.UniqueRowsSplit(base, ids, classifier=True)
        y = ids % 2
        tests = []
        for train, test in split.split(np.zeros((60, 1)), y):
            assert not set(ids[train]) & set(ids[test])
            assert len(train) + len(test) == 60
            tests.extend(test)
        assert sorted(tests) == list(range(60))
        assert split.get_n_splits() == {3: 3, None: 5}.get(base if base in (3, None) else 0, 4)


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (GridSearchCV(KNeighborsClassifier(), {}, cv=3), []),
        (LogisticRegressionCV(), []),
        (RidgeCV(), ["cv=None"]),
        (GridSearchCV(KNeighborsClassifier(), {}, cv=PredefinedSplit([0, 1])), ["cv"]),
        (GridSearchCV(LogisticRegressionCV(cv=3), {}), ["estimator__cv=3"]),
        (GradientBoostingClassifier(n_iter_no_change=5), ["n_iter_no_change=5"]),
        (make_pipeline(SelectKBest(), GaussianNB()), []),
    ],
)
def test_what_copies_leak_through_is_named(estimator, names):
    assert training.left_as_they_are(estimator, 100) == names
