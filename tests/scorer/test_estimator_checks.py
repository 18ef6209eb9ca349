"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from skboot import BootstrapScorer

SMALL = dict(n_train_resamples=6, n_cv_repeats=1, random_state=0)


SCORERS = [
    BootstrapScorer(GaussianNB(), **SMALL),
    BootstrapScorer(Ridge(), strategy="oob", **SMALL),
    BootstrapScorer(DecisionTreeClassifier(), strategy="optimism", **SMALL),
    BootstrapScorer(make_pipeline(StandardScaler(), LogisticRegression()), strategy="oob", **SMALL),
    # Models alone, which transform as their estimators do.
    BootstrapScorer(StandardScaler(), n_train_resamples=0),
    BootstrapScorer(KMeans(3, n_init=2), n_train_resamples=0, random_state=0),
    BootstrapScorer(make_pipeline(StandardScaler(), PCA(1)), n_train_resamples=0, random_state=0),
]
# A list, as pytest wants it: `parametrize_with_checks` of scikit-learn 1.6 gives it a generator.
CHECKS = [pair for scorer in SCORERS for pair in estimator_checks_generator(scorer)]


def name_of(value):
    return getattr(value, "func", value).__name__ if callable(value) else repr(value.estimator)


# Tiny data: few rows of a class, few training samples, runs that lack a class.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=name_of)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
