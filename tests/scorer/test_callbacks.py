"""Callbacks of scikit-learn 1.9: a task for each training, in one run, as in `GridSearchCV`."""

import importlib
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skboot import BootstrapScorer
from skboot._base import work
from skboot.refit import training

callback = pytest.importorskip("sklearn.callback")
recorders = importlib.import_module("sklearn.callback.tests._utils")
X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X[:200, :4])
Y = Y[:200]
FEW = {"n_train_resamples": 4, "n_cv_repeats": 1, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Counted(GaussianNB):
    n_fits = 0

    def fit(self, X, y):
        Counted.n_fits += 1
        if len(X) == 180 and X[0, 0] != ROW:
            raise RuntimeError("a fold")
        return super().fit(X, y)


ROW = X[0, 0]
CALLS = {
    "left out": ({}, {}),
    "seeds": ({"n_seeds": 2, "strategy": "oob"}, {}),
    "test set": ({"n_seeds": 2}, {"X_test": X[::2], "y_test": Y[::2]}),
    "seeds on a test set": ({"n_train_resamples": 0, "n_seeds": 3}, {"X_test": X, "y_test": Y}),
    "alone": ({"n_train_resamples": 0}, {}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("call", CALLS)
def test_each_training_is_a_task_that_begins_and_ends(call):
    """Also one that fails; numbers are those of a fit that nobody listens to."""
    options, tests = CALLS[call]
    recorder = recorders.RecordingCallback()
    Counted.n_fits = 0
    heard = BootstrapScorer(Counted(), **FEW | options).set_callbacks(recorder).fit(X, Y, **tests)
    n_fits = Counted.n_fits
    names = Counter(
        (one["name"], one["context"].task_name.startswith("fit-on")) for one in recorder.record
    )
    assert names["on_fit_task_begin", True] == names["on_fit_task_end", True] == n_fits
    assert names["setup", False] == names["teardown", False] == 1
    assert len({one["context"].root_uuid for one in recorder.record}) == 1
    silent = BootstrapScorer(Counted(), **FEW | options).fit(X, Y, **tests)
    assert Counted.n_fits == 2 * n_fits
    np.testing.assert_array_equal(heard.predict_proba(X), silent.predict_proba(X))
    if call != "alone":
        np.testing.assert_equal(heard.score_, silent.score_)  # NaN where a fold failed
    assert not any(name.startswith("_callback") for name in vars(heard))
    for one in recorder.record:
        if one["name"] == "on_fit_task_begin" and one["context"].task_name == "fit-on-sample":
            assert len(one["kwargs"]["X"]) == len(one["kwargs"]["y"]) <= len(X)


def test_workers_tell_of_their_trainings(monkeypatch):
    monkeypatch.setattr(work, "_WORTH_WORKERS", 0.0)
    recorder = recorders.RecordingCallback()
    scorer = BootstrapScorer(GaussianNB(), n_jobs=2, **FEW).set_callbacks(recorder).fit(X, Y)
    ends = [one for one in recorder.record if one["name"] == "on_fit_task_end"]
    numbers = [
        one["context"].task_id for one in ends if one["context"].task_name == "fit-on-sample"
    ]
    assert sorted(numbers) == list(range(14))
    assert scorer.score_ == BootstrapScorer(GaussianNB(), **FEW).fit(X, Y).score_


def test_tasks_of_the_estimator_are_below_those_of_the_scorer():
    """A monitor of the estimator logs one run, and a callback that is propagated hears of both."""
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LogisticRegression(max_iter=50).set_callbacks(monitor)
    BootstrapScorer(model, strategy="oob", **FEW).fit(X, Y)
    logs = monitor.get_logs(select="all")
    assert [log.estimator_name for log in logs] == ["BootstrapScorer"]
    # The first task of the scorer is the fit on all rows, and the second holds those on samples.
    paths = [row["task_id_path"] for row in logs[0].data]
    assert len({path[:3] if path[1] else path[:2] for path in paths}) == 5
    recorder = recorders.RecordingAutoPropagatedCallback()
    BootstrapScorer(LogisticRegression(), strategy="oob", **FEW).set_callbacks(recorder).fit(X, Y)
    names = {one["context"].estimator_name for one in recorder.record}
    assert names == {"BootstrapScorer", "LogisticRegression"}


def test_a_model_alone_is_a_task_of_a_search():
    recorder = recorders.RecordingAutoPropagatedCallback()
    alone = BootstrapScorer(LogisticRegression(), n_train_resamples=0)
    GridSearchCV(alone, {}, cv=3).set_callbacks(recorder).fit(X, Y)
    names = Counter(one["context"].estimator_name for one in recorder.record)
    assert {"GridSearchCV", "BootstrapScorer", "LogisticRegression"} == set(names)


@pytest.mark.parametrize(("verbose", "expected"), [(None, 0), (1, 1)])
def test_the_own_progress_steps_back(verbose, expected, monkeypatch):
    told = []
    run_all = training.run_all
    monkeypatch.setattr(
        training, "run_all", lambda *args, **kw: told.append(kw["verbose"]) or run_all(*args, **kw)
    )
    scorer = BootstrapScorer(GaussianNB(), verbose=verbose, strategy="oob", **FEW).fit(X, Y)
    scorer.set_callbacks(recorders.RecordingCallback()).fit(X, Y)
    assert told == [verbose, expected]


def test_callbacks_are_torn_down_after_an_error():
    recorder = recorders.RecordingCallback()
    scorer = BootstrapScorer(GaussianNB(), scoring="f2", **FEW).set_callbacks(recorder)
    with pytest.raises(ValueError, match="f2"):
        scorer.fit(X, Y)
    assert [one["name"] for one in recorder.record][-1] == "teardown"
    assert not any(name.startswith("_callback") for name in vars(scorer))
