"""`scoring=` and `error_score=` as `GridSearchCV` takes them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import resample

from skboot import BootstrapScorer, compare_methods

X, Y = (own[:120] for own in load_breast_cancer(return_X_y=True))
X = X[:, :3]
EVERY = np.arange(len(Y))
DRAWN = [resample(EVERY, random_state=k) for k in range(20)]
SAMPLES = [(train, np.setdiff1d(EVERY, train)) for train in DRAWN]
OOB = {"strategy": "oob", "train_samples": SAMPLES}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def both(estimator, X, y):
    predicted = estimator.predict(X)
    return {"accuracy": accuracy_score(y, predicted), "f1": f1_score(y, predicted)}


def test_a_callable_may_return_a_dict():
    """Each entry has the scores of a loop, and those that a search has for the model alone."""
    samples = SAMPLES[:8]
    options = {**OOB, "train_samples": samples}
    scorer = BootstrapScorer(GaussianNB(), scoring=both, **options).fit(X, Y)
    expected = [both(GaussianNB().fit(X[own], Y[own]), X[test], Y[test]) for own, test in samples]
    for name, result in scorer.result_.items():
        found = result.runs["score"][1:]
        np.testing.assert_allclose(found, [one[name] for one in expected], rtol=1e-12)
    assert scorer.score(X, Y) == both(GaussianNB().fit(X, Y), X, Y)
    assert scorer.resubstitution_score_ == pytest.approx(scorer.score(X, Y))
    alone = BootstrapScorer(GaussianNB(), scoring=both, n_train_resamples=0)
    for model in (alone, GaussianNB()):
        search = GridSearchCV(model, {}, scoring=both, refit="f1").fit(X, Y)
        assert search.best_score_ == np.mean(cross_validate(model, X, Y, scoring=both)["test_f1"])


def test_dicts_within_several_scorers_are_refused_as_by_a_search():
    with pytest.raises(ValueError, match="return one real number"):
        BootstrapScorer(GaussianNB(), scoring={"a": both}, **OOB).fit(X, Y)
    with pytest.raises(ValueError, match="at least one score"):
        BootstrapScorer(GaussianNB(), scoring=lambda e, X, y: {}, **OOB).fit(X, Y)


class Fails(GaussianNB):
    """Fails on samples, not on all rows, that hold a row (or that lack it)."""

    def __init__(self, on=True):
        super().__init__()
        self.on = on

    def fit(self, X_train, y):
        holds = bool((X_train == X[7]).all(axis=1).any())
        if holds == self.on and len(np.unique(X_train, axis=0)) < len(np.unique(X, axis=0)):
            raise RuntimeError("by that row")
        return super().fit(X_train, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", lambda e, X, y: e.score(X, y)])
def test_a_number_is_the_score_of_a_failed_run(scoring):
    number = 0.25
    scorer = BootstrapScorer(Fails(), **OOB, scoring=scoring, error_score=number).fit(X, Y)
    failed, scores = scorer.runs_["failed"][1:], scorer.runs_["score"][1:]
    assert 0 < failed.sum() < len(failed)
    np.testing.assert_array_equal(scores[failed], number)
    left_out = clone(scorer).set_params(error_score=np.nan).fit(X, Y)
    np.testing.assert_array_equal(scores[~failed], left_out.runs_["score"][1:][~failed])
    if scoring != "accuracy":
        assert scorer.score_ == pytest.approx(scores.mean())
        return
    # The mean over rows of each row's mean over the samples that left it out.
    right = [
        np.full(len(Y), number) if fails else GaussianNB().fit(X[own], Y[own]).predict(X) == Y
        for (own, _), fails in zip(SAMPLES, failed, strict=True)
    ]
    outside = np.array([np.isin(EVERY, test) for _, test in SAMPLES])
    by_row = (np.array(right, float) * outside).sum(axis=0) / outside.sum(axis=0)
    assert scorer.score_ == pytest.approx(by_row.mean(), abs=1e-12)


def test_failed_folds_have_the_number_on_each_of_their_rows():
    options = {"n_train_resamples": 4, "n_cv_repeats": 1, "error_score": 0.0, "random_state": 0}
    with pytest.warns(FitFailedWarning, match="runs failed and count as 0"):
        scorer = BootstrapScorer(Fails(on=False), **options).fit(X, Y)
    [fold] = np.flatnonzero(scorer.runs_["failed"] & (scorer.runs_["sample"] == "fold"))
    assert fold > 4
    # The rows of one fold of ten, which nine in ten models decide as they do elsewhere.
    plain = BootstrapScorer(GaussianNB(), **options).fit(X, Y)
    assert 0.07 < plain.score_ - scorer.score_ < 0.11


@pytest.mark.parametrize("scoring", ["f1", "r2", ["accuracy", "f1"]])
def test_numbers_are_refused_where_rows_of_all_runs_are_pooled(scoring):
    y = X[:, 0] if scoring == "r2" else Y
    with pytest.raises(ValueError, match="which pool the rows of all runs"):
        BootstrapScorer(GaussianNB(), scoring=scoring, error_score=0.0, **OOB).fit(X, y > y.mean())
    with pytest.raises(ValueError, match="where methods are compared"):
        compare_methods({"a": GaussianNB(), "b": GaussianNB()}, X, Y, error_score=0.0)
