"""Score-type intervals that the interval of a method contains, from its out-of-fold answers."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.naive_bayes import GaussianNB
from training_jobs import few_positives

from skboot import BootstrapScorer
from skboot.results import EvaluationResult

pytestmark = pytest.mark.filterwarnings("ignore:.*smallest class has 15 rows")

FEW = dict(n_train_resamples=80, n_cv_repeats=2, random_state=0, refit=False)


class Reads(ClassifierMixin, BaseEstimator):
    """Answers what stands in the last column, whatever it was trained on."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, -1].astype(int)


@pytest.fixture(scope="module")
def rare():
    return few_positives()


def wilson(hits, n, level=0.95):
    found = binomtest(hits, n).proportion_ci(level, method="wilson")
    return found.low, found.high


def interval_of(scoring, X, y):
    scorer = BootstrapScorer(Reads(), scoring=scoring, **FEW).fit(X, y)
    return np.array(scorer.confidence_interval_[:2])


@pytest.mark.parametrize(
    ("scoring", "hits", "members", "to_metric"),
    [
        ("recall", 2, 15, lambda p: p),
        ("precision", 2, 5, lambda p: p),
        ("jaccard", 2, 18, lambda p: p),
        ("f1", 2, 18, lambda p: 2 * p / (1 + p)),
        # 13 not found and 3 wrongly called, of weights 4 and 1.
        (make_scorer(fbeta_score, beta=2), 2, 18, lambda p: 5 * p / (5 * p + 55 / 16 * (1 - p))),
    ],
)
def test_the_interval_is_not_inside_wilsons(rare, scoring, hits, members, to_metric):
    low, high = interval_of(scoring, *rare)
    expected = [to_metric(share) for share in wilson(hits, members)]
    assert low <= expected[0] * (1 + 1e-9)
    assert high >= expected[1] * (1 - 1e-9)


@pytest.mark.parametrize("metric", [f1_score, recall_score, precision_score])
def test_no_positive_found_leaves_what_wilson_leaves(rare, metric):
    y = rare[1]
    low, high = interval_of(make_scorer(metric, zero_division=0.0), np.zeros((300, 1)), y)
    # Nothing varies: at least what none of 15 says, 1 - .025 ** (1 / 15), and Wilson's.
    q = wilson(0, 15)[1]
    wilsons = {f1_score: 2 * q / (1 + q), recall_score: q, precision_score: 1.0}[metric]
    assert low == 0
    assert high == pytest.approx(max(wilsons, 1 - 0.025 ** (1 / 15)))


@pytest.mark.parametrize("metric", [matthews_corrcoef, cohen_kappa_score])
def test_agreement_without_a_positive_found_may_be_that_of_wilsons_share(rare, metric):
    y = rare[1]
    _, high = interval_of(make_scorer(metric), np.zeros((300, 1)), y)
    share = wilson(0, 15)[1]
    weight = np.array([15 * share, 15 * (1 - share), 285])
    expected = metric([1, 1, 0], [1, 0, 0], sample_weight=weight)
    assert high >= expected - 1e-9


def test_the_guard_lies_inside_the_interval_of_many_positives(monkeypatch):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 5 // 3
    X = rng.normal(size=(200, 4)) + 0.6 * y[:, None]

    def intervals():
        scoring = ["f1", "recall", "precision", "jaccard", "matthews_corrcoef"]
        return BootstrapScorer(GaussianNB(), scoring=scoring, **FEW).fit(X, y).confidence_interval_

    with_guards = intervals()
    monkeypatch.setattr("skboot.refit.estimates.guard_of", lambda *given: {})
    assert intervals() == with_guards


def test_micro_averages_have_the_limits_of_the_accuracy(rare):
    X, y = rare
    micro, accuracy = interval_of("f1_micro", X, y), interval_of("accuracy", X, y)
    np.testing.assert_allclose(micro, accuracy, rtol=1e-9)


def test_a_saved_result_has_the_same_interval_at_every_level(rare, tmp_path):
    for scoring in ("f1", "matthews_corrcoef"):
        result = BootstrapScorer(Reads(), scoring=scoring, **FEW).fit(*rare).result_
        result.save(tmp_path / f"{scoring}.npz")
        again = EvaluationResult.load(tmp_path / f"{scoring}.npz")
        for level in (0.8, 0.95):
            assert again.interval(confidence_level=level) == result.interval(confidence_level=level)
        wider = result.interval(confidence_level=0.8)
        if scoring == "f1":
            share = wilson(2, 18, 0.8)
            assert wider.low <= 2 * share[0] / (1 + share[0]) + 1e-12
