"""Training samples of one's own: the numbers of a loop that anybody can write."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import resample

from skboot import BootstrapScorer, BootstrapSplit, GroupBootstrapSplit

X, Y = (own[:120] for own in load_breast_cancer(return_X_y=True))
N, B = len(Y), 60
EVERY = np.arange(N)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def samples():
    drawn = [resample(EVERY, random_state=k) for k in range(B)]
    return [(train, np.setdiff1d(EVERY, train)) for train in drawn]


@pytest.fixture(scope="module")
def wrong(samples):
    """Whether the model of each sample is wrong on each row."""
    return np.array([GaussianNB().fit(X[own], Y[own]).predict(X) != Y for own, _ in samples])


def scored(samples, strategy="oob", **options):
    scorer = BootstrapScorer(GaussianNB(), strategy=strategy, train_samples=samples, **options)
    return scorer.fit(X, Y)


def test_scores_of_samples_are_those_of_a_loop(samples, wrong):
    scorer = scored(samples)
    of_each = [1 - own[test].mean() for own, (_, test) in zip(wrong, samples, strict=True)]
    found = scorer.runs_["score"][scorer.runs_["sample"] == "bootstrap"]
    np.testing.assert_allclose(found, of_each, rtol=1e-12)
    # What tutorials print: mean -/+ 1.96 standard deviations, and percentiles.
    low, high = scorer.result_.interval("normal")
    reach = 1.959963984540054 * np.std(of_each, ddof=1)
    np.testing.assert_allclose(
        (low, high), (np.mean(of_each) - reach, min(np.mean(of_each) + reach, 1))
    )
    low, high = scorer.result_.interval("percentile")
    np.testing.assert_allclose(
        (low, high), np.quantile(of_each, [0.025, 0.975], method="weibull"), rtol=1e-12
    )


@pytest.mark.parametrize(("strategy", "weight"), [("oob", 1.0), (".632", 0.632)])
def test_estimates_are_those_of_their_formulas(samples, wrong, strategy, weight):
    """The out-of-bag error is the mean over rows, and .632 is its weight."""
    outside = np.array([np.isin(EVERY, test) for _, test in samples])
    error = np.mean((wrong * outside).sum(axis=0) / outside.sum(axis=0))
    apparent = np.mean(GaussianNB().fit(X, Y).predict(X) != Y)
    expected = 1 - (weight * error + (1 - weight) * apparent)
    assert scored(samples, strategy).score_ == pytest.approx(expected, abs=2e-4)


def test_a_splitter_draws_them():
    splitter = BootstrapSplit(B, random_state=1)
    by_splitter = scored(splitter, ".632+")
    by_list = scored(list(splitter.split(X, Y)), ".632+")
    assert by_splitter.result_.summary() == by_list.result_.summary()
    groups = np.arange(N) // 3
    options = {"strategy": "oob", "train_samples": GroupBootstrapSplit(B, random_state=1)}
    grouped = BootstrapScorer(GaussianNB(), **options).fit(X, Y, groups=groups)
    for train, test in GroupBootstrapSplit(B, random_state=1).split(X, Y, groups):
        assert not set(groups[train]) & set(groups[test])
    assert np.isfinite(grouped.score_)


def test_runs_that_were_kept_are_those_of_the_same_samples(samples, tmp_path):
    options = {"random_state": 0, "memory": tmp_path}
    first = scored(samples, **options)
    assert scored(samples, **options).score_ == first.score_
    assert scored(samples[::-1][:50], **options).result_.settings["n_train_resamples"] == 50


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda one: one, {"strategy": "cv-bootstrap"}, r"'strategy' .* be one of \['oob'"),
        (lambda one: one, {"stratify": True}, "not be combined with stratify"),
        (lambda one: one[:1], {}, "hold at least 2 samples"),
        (lambda one: [1, 2], {}, r"'train_samples\[0\]' .* be two arrays of row indices"),
        (lambda one: "oob", {}, r"'train_samples\[0\]' .* be two arrays of row indices"),
        (
            lambda one: [(one[0][0], one[0][1][:5])] * 3,
            {},
            "test all rows that it does not train on",
        ),
        (lambda one: [(EVERY + 5, EVERY[:0])] * 3, {}, "be row indices from 0 to 119"),
        (lambda one: [(EVERY / 2, EVERY[:0])] * 3, {}, "be integer row indices"),
        (lambda one: ShuffleSplit(3, test_size=0.4), {}, "draw as many rows as there are, 120"),
    ],
)
def test_other_samples_are_refused(samples, change, options, message):
    with pytest.raises(ValueError, match=message):
        scored(change(samples), **{"strategy": "oob"} | options)


def test_parts_of_groups_are_refused(samples):
    scorer = BootstrapScorer(GaussianNB(), strategy="oob", train_samples=samples)
    with pytest.raises(ValueError, match="hold whole groups"):
        scorer.fit(X, Y, groups=EVERY // 3)


def test_models_of_samples_are_scored_on_a_test_set(samples):
    X_test, y_test = (own[120:250] for own in load_breast_cancer(return_X_y=True))
    scorer = BootstrapScorer(GaussianNB(), train_samples=samples)
    scorer.fit(X, Y, X_test=X_test, y_test=y_test)
    models = [GaussianNB().fit(X[train], Y[train]) for train, _ in samples]
    expected = [model.score(X_test, y_test) for model in models]
    np.testing.assert_allclose(scorer.runs_["score"][1:], expected, rtol=1e-12)


@pytest.mark.parametrize("inner_cv", ["grouped", "as-is"])
@pytest.mark.parametrize("groups", [None, EVERY // 3], ids=["rows", "groups"])
def test_samples_that_were_drawn_can_be_had_and_given_back(groups, inner_cv):
    """A loop over them has the scores of the runs, and so has a fit that gets them."""
    model = SGDClassifier(random_state=0)  # which depends on the order of rows
    options = {"strategy": "oob", "inner_cv": inner_cv, "random_state": 0}
    drawn = BootstrapScorer(GaussianNB(), n_train_resamples=20, **options)
    drawn = drawn.fit(X, Y, groups=groups).train_samples_
    assert len(drawn) == len(list(drawn)) == 20
    again = pickle.loads(pickle.dumps(drawn))
    for (train, test), (same, _) in zip(drawn, again, strict=True):
        np.testing.assert_array_equal(np.setdiff1d(EVERY, train), test)
        np.testing.assert_array_equal(train, same)
        if groups is None:
            assert len(train) == N
    as_lists = json.loads(json.dumps(drawn.to_dict()))
    assert as_lists["train"][3] == drawn[3][0].tolist()
    assert [test.tolist() for _, test in drawn[1:3]] == as_lists["test"][1:3]
    loop = cross_val_score(model, X, Y, cv=drawn)
    given = BootstrapScorer(model, train_samples=drawn, **options).fit(X, Y, groups=groups)
    np.testing.assert_allclose(given.runs_["score"][1:], loop, rtol=1e-12)
    # Those that a model without randomness was trained on itself.
    plain = BootstrapScorer(GaussianNB(), n_train_resamples=20, **options).fit(X, Y, groups=groups)
    loop = cross_val_score(GaussianNB(), X, Y, cv=plain.train_samples_)
    np.testing.assert_allclose(plain.runs_["score"][1:], loop, rtol=1e-12)
