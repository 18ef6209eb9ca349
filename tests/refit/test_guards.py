"""Score-type intervals that the interval of a method contains, from its out-of-fold answers."""

from types import SimpleNamespace

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

from skboot import BootstrapScorer
from skboot.metrics.lookup import resolve_metrics
from skboot.refit import estimates, guards, run_metrics
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
    """15 of 300 are positive; 2 are found, and 3 others are called positive."""
    y = (np.arange(300) < 15).astype(int)
    given = np.isin(np.arange(300), (0, 1, 15, 16, 17)).astype(int)
    order = np.random.default_rng(0).permutation(300)
    return given[order, None].astype(float), y[order]


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


def guard(scoring, X, y, unit=None, repeats=1):
    """What is found in given answers of out-of-fold rows."""
    target = run_metrics.Target(y, np.unique(y), np.searchsorted(np.unique(y), y), unit)
    metric = run_metric_of(scoring, target)
    kept = SimpleNamespace(target=target)
    data = np.tile(X[:, -1].astype(int), (repeats, 1))
    return guards.guard_of(metric, kept, data, np.empty(0))


def run_metric_of(scoring, target):
    statistics, _ = resolve_metrics(scoring, labels=target.classes, caller="f")
    [statistic] = statistics.values()
    arguments = run_metrics.RunMetricArguments("m", target, 1.0, -1.0, (-1.0, 0.0))
    return run_metrics.LabelRunMetric(arguments, statistic, target.classes)


def test_rows_count_once_without_groups_and_repeats_add_none(rare):
    found = guard("f1", *rare, repeats=3)
    assert (found["guard"], found["class_sizes"]) == ("set ratio", [18.0])
    assert guard("matthews_corrcoef", *rare, repeats=3)["class_sizes"] == [285.0, 15.0]


def test_copies_of_a_row_in_a_group_count_once(rare):
    X, y = rare
    unit = np.repeat(np.arange(300), 4)
    four = np.repeat(X, 4, axis=0), np.repeat(y, 4), unit
    assert guard("f1", *four)["class_sizes"] == [18.0]
    assert guard("recall", *four)["class_sizes"] == [15.0]
    np.testing.assert_allclose(guard("matthews_corrcoef", *four)["class_sizes"], [285, 15])


def test_groups_that_are_alike_count_as_their_rows(rare):
    # Two halves of every group: one found, one not; no variance between the groups.
    y = np.r_[np.ones(20, int), np.zeros(80, int)]
    X = np.r_[np.tile([0.0, 1.0], 10), np.zeros(80)][:, None]
    unit = np.r_[np.repeat(np.arange(10), 2), np.repeat(np.arange(10, 30), 4)]
    # No variance at all is no sign of many rows: the groups count.
    assert guard("recall", X, y, unit)["class_sizes"] == [10.0]
    X[0] = 1.0
    # A group with two hits: variance of the sum of gaps, by hand.
    share = 11 / 20
    gaps = np.r_[2 - 2 * share, np.full(9, 1 - 2 * share)]
    variance = np.sum(gaps**2) / 20**2 * 10 / 9
    expected = min(share * (1 - share) / variance, 20)
    assert guard("recall", X, y, unit)["class_sizes"] == pytest.approx([expected])


def test_the_guard_lies_inside_the_interval_of_many_positives(monkeypatch):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 5 // 3
    X = rng.normal(size=(200, 4)) + 0.6 * y[:, None]

    def intervals():
        scoring = ["f1", "recall", "precision", "jaccard", "matthews_corrcoef"]
        return BootstrapScorer(GaussianNB(), scoring=scoring, **FEW).fit(X, y).confidence_interval_

    with_guards = intervals()
    monkeypatch.setattr(estimates, "guard_of", lambda *given: {})
    assert intervals() == with_guards


def test_micro_averages_have_the_limits_of_the_accuracy(rare):
    X, y = rare
    micro, accuracy = interval_of("f1_micro", X, y), interval_of("accuracy", X, y)
    np.testing.assert_allclose(micro, accuracy, rtol=1e-9)


def test_other_metrics_have_no_guard(rare):
    for scoring in ("f1_macro", "f1_weighted"):
        assert guard(scoring, *rare) == {}
    y = np.arange(300) % 3
    assert guard("matthews_corrcoef", y[:, None].astype(float), y) == {}


def test_a_saved_result_has_the_same_interval_at_every_level(rare, tmp_path):
    for scoring in ("f1", "matthews_corrcoef"):
        result = BootstrapScorer(Reads(), scoring=scoring, **FEW).fit(*rare).result_
        result.save(tmp_path / f"{scoring}.json")
        again = EvaluationResult.load(tmp_path / f"{scoring}.json")
        for level in (0.8, 0.95):
            assert again.interval(confidence_level=level) == result.interval(confidence_level=level)
        wider = result.interval(confidence_level=0.8)
        if scoring == "f1":
            share = wilson(2, 18, 0.8)
            assert wider.low <= 2 * share[0] / (1 + share[0]) + 1e-12
