"""Runs: training samples, seeds, what is kept of each, and how a killed fit goes on."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import average_precision_score, f1_score, r2_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing

from skboot._sklearn_compat import take
from skboot.method_error.prediction_error import prediction_error
from skboot.metrics.lookup import resolve_metrics
from skboot.refit import inner_cv, runner
from skboot.refit.influence import ErrorFunction, replicate
from skboot.refit.samples import draw_training_samples
from skboot.refit.training import Answers, Job, Run, prepared, record_of
from skboot.splitters import BootstrapSplit

REFERENCES = Path(__file__).parent / "references" / "ipred"


class Labels:
    """Keeps the answers of a run as they are."""

    key = "labels"

    def keep(self, answers, scored):
        return {"labels": answers.predicted, "rows": scored.rows}


def mapped(array):
    """The array as a worker of joblib gets it."""
    with tempfile.NamedTemporaryFile() as file:
        written = np.memmap(file.name, array.dtype, "w+", shape=array.shape)
        written[:] = array
        return written


def job_of(estimator, X, y, **options):
    settings = dict(
        params={},
        unit=None,
        classes=np.unique(y),
        keep=(Labels().keep,),
        pairwise=False,
        group_copies=True,
        predict_all=False,
        raise_errors=True,
    )
    return Job(estimator=estimator, X=X, y=y, **{**settings, **options})


def a_seed(k=0):
    return np.random.SeedSequence(k).generate_state(4)


def drawn(n_rows=60, **options):
    settings = dict(
        unit=None,
        codes=None,
        stratify=False,
        n_resamples=20,
        n_repeats=2,
        n_seeds=1,
        seed=np.random.SeedSequence(0),
    )
    return draw_training_samples(n_rows, **{**settings, **options})


# ------------------------------------------------------------------ against R


def test_linear_discriminants_on_the_indices_of_ipred_agree_with_r():
    """Both fit the same discriminant; one row of a tie in 1e5 may fall on the other side."""
    y = load_iris().target
    with gzip.open(REFERENCES / "iris_lda" / "indices.csv.gz") as file:
        indices = np.loadtxt(file, delimiter=",", dtype=int) - 1
    with gzip.open(REFERENCES / "iris_lda" / "loss_all.csv.gz") as file:
        expected_losses = np.loadtxt(file, delimiter=",", dtype=int)
    expected = json.loads((REFERENCES / "iris_lda" / "expected.json").read_text())
    # R's iris is the original; scikit-learn's copy differs from it in two rows.
    table = np.genfromtxt(REFERENCES / "iris.csv", delimiter=",", skip_header=1)[:, :4]
    weights = np.array([np.bincount(row, minlength=150) for row in indices])
    job = job_of(LinearDiscriminantAnalysis(), table, y, predict_all=True)
    runs = [Run(k, counts, None, a_seed(k)) for k, counts in enumerate(weights)]
    losses = np.array([record_of(job, run)["labels"] != y for run in runs])
    assert np.mean(losses != expected_losses) < 1e-3
    full = LinearDiscriminantAnalysis().fit(table, y).predict(table)
    found = prediction_error(
        losses,
        weights,
        resubstitution_losses=full != y,
        no_information_rate=np.mean(y[:, None] != full),
    )
    assert found.resubstitution == pytest.approx(expected["err_resub"], abs=1e-12)
    assert found.no_information_rate == pytest.approx(expected["gamma"], abs=1e-12)
    assert found.oob == pytest.approx(expected["Err1"], abs=2e-4)
    assert found.point632_plus == pytest.approx(expected["e632plus_fully_clipped"], abs=2e-4)


# ------------------------------------------------------------------ samples


def test_a_run_is_never_judged_on_rows_it_was_trained_on():
    X, y = make_classification(60, random_state=0)
    X[:, 0] = np.arange(60)

    class Remembers(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.rows_, self.classes_ = set(X[:, 0]), np.unique(y)
            return self

        def predict(self, X):
            assert not self.rows_ & set(X[:, 0])
            return np.zeros(len(X), dtype=int)

    job = job_of(Remembers(), X, y)
    for run in drawn().runs():
        assert record_of(job, run)["error"] is None


def test_no_stream_of_a_splitter_with_the_same_seed_is_used():
    ours = drawn().counts
    theirs = [
        np.bincount(train, minlength=60)
        for train, _ in BootstrapSplit(20, random_state=0).split(np.empty((60, 0)))
    ]
    assert not (ours[:, None] == np.array(theirs)).all(axis=-1).any()


def test_groups_are_whole_in_folds_and_samples():
    unit = np.repeat(np.arange(12), 5)
    samples = drawn(unit=unit)
    assert samples.counts.shape == (20, 12)
    for fold_of in samples.folds:
        assert all(len(set(fold_of[unit == g])) == 1 for g in range(12))


def test_folds_hold_the_classes_evenly_and_rows_once():
    codes = np.repeat([0, 1, 2], [40, 14, 6])
    samples = drawn(codes=codes)
    assert samples.n_folds == 6
    for fold_of in samples.folds:
        for k in range(3):
            per_fold = np.bincount(fold_of[codes == k], minlength=6)
            assert per_fold.max() - per_fold.min() <= 1


@pytest.mark.parametrize(("n_rows", "expected"), [(4, 4), (9, 9), (200, 10)])
def test_there_are_fewer_folds_where_rows_are_few(n_rows, expected):
    assert drawn(n_rows).n_folds == expected


def test_stratified_samples_keep_the_size_of_each_class():
    codes = np.repeat([0, 1], [50, 10])
    counts = drawn(codes=codes, stratify=True).counts
    assert set(counts[:, codes == 1].sum(axis=1)) == {10}


def test_bootstrap_samples_keep_the_order_of_the_data_unless_copies_are_left_apart():
    class Order(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.rows_ = X[:, 0].astype(int)
            return self

    class Kept:
        key = "order"

        def keep(self, answers, scored):
            return {"order": answers.estimator.rows_}

    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    samples = drawn(n_seeds=2)
    for grouped in (True, False):
        job = job_of(Order(), X, y, keep=(Kept().keep,), group_copies=grouped)
        orders = [record_of(job, run)["order"] for run in samples.runs()[:40]]
        for run, order in zip(samples.runs(), orders, strict=False):
            np.testing.assert_array_equal(np.bincount(order, minlength=60), run.counts)
            assert (np.diff(order) >= 0).all() == grouped
        # Runs that differ only in their seed have the rows in one order.
        for first, second in zip(orders[::2], orders[1::2], strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, np.ndarray.tolist, mapped])
def test_rows_are_taken_as_scikit_learn_takes_them(make):
    table = np.random.default_rng(0).normal(size=(30, 3))
    rows = np.array([29, 3, 3, 0])
    for data in (make(table), make(table[:, 0])):
        found = take(data, rows)
        np.testing.assert_array_equal(found, _safe_indexing(data, rows))
        assert isinstance(found, list) == isinstance(data, list)


# ------------------------------------------------------------------ seeds


def test_runs_are_seeded_as_prepared_seeds_a_clone_of_the_estimator():
    """What is to be set is looked up once for all runs."""
    X, y = make_classification(60, random_state=0)
    search = GridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2]},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )

    class States:
        key = "states"

        def keep(self, answers, scored):
            params = answers.estimator.get_params()
            cv = params["cv"]
            cv = cv.cv if isinstance(cv, inner_cv.UniqueRowsSplit) else cv
            return {"states": (params["estimator__random_state"], cv.random_state)}

    job = job_of(search, X, y, keep=(States().keep,))
    for run in (drawn().runs()[0], drawn().runs()[-1]):
        params = prepared(search, np.random.default_rng(run.seed)).get_params()
        expected = params["estimator__random_state"], params["cv"].random_state
        assert record_of(job, run)["states"] == expected
    assert search.cv.random_state == 7


def test_every_random_state_is_overwritten_those_of_inner_splitters_included():
    search = GridSearchCV(
        make_pipeline(SelectKBest(), GradientBoostingClassifier(random_state=7)),
        {"selectkbest__k": [1]},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )
    estimator = VotingClassifier([("search", search), ("tree", DecisionTreeClassifier())])

    def states(seed):
        params = prepared(estimator, np.random.default_rng(seed)).get_params()
        key = "search__estimator__gradientboostingclassifier__random_state"
        return params["search__cv"].random_state, params[key], params["tree__random_state"]

    assert len(set(states(0))) == 3
    assert states(0) == states(0)
    assert all(isinstance(s, int) for s in states(0))
    assert not set(states(0)) & set(states(1))
    assert search.cv.random_state == 7


def test_repeated_splitters_are_seeded_and_unshuffled_ones_left():
    def folds(cv, seed):
        search = prepared(GridSearchCV(GaussianNB(), {}, cv=cv), np.random.default_rng(seed))
        return [test.tolist() for _, test in search.cv.split(np.zeros((8, 1)))]

    repeated = RepeatedKFold(n_splits=2)
    assert folds(repeated, 0) == folds(repeated, 0)
    assert folds(repeated, 0) != folds(repeated, 1)
    assert folds(KFold(2), 0) == [test.tolist() for _, test in KFold(2).split(np.zeros((8, 1)))]


# ------------------------------------------------------------------ answers


def test_classes_missing_from_a_training_sample_get_probability_zero():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = GaussianNB().fit(X[4:], y[4:])
    answers = Answers(model, X, y, np.unique(y))
    np.testing.assert_array_equal(answers.probabilities[:, 0], 0)
    np.testing.assert_allclose(answers.probabilities[:, 1:], model.predict_proba(X))


def test_decisions_of_a_missing_class_are_below_all_others():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    model = LinearDiscriminantAnalysis().fit(X[:8], y[:8])
    answers = Answers(model, X, y, np.unique(y))
    assert answers.decisions.shape == (12, 3)
    assert (answers.decisions[:, 2] < answers.decisions[:, :2].min(axis=1)).all()


# ------------------------------------------------------------------ influence


def error_function(metric, classes=None):
    statistics, _ = resolve_metrics(metric, labels=classes)
    return ErrorFunction(next(iter(statistics.values())), -1.0, classes)


def by_hand(metric, y, given, units):
    value = metric(y, given)
    names = np.unique(units)
    left = [metric(y[units != u], given[units != u]) for u in names]
    return -value, -(len(names) - 1) * (value - np.array(left))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("name", "metric"),
    [("average_precision", average_precision_score), ("f1", f1_score), ("roc_auc", roc_auc_score)],
)
def test_influence_is_the_jackknife_of_scikit_learns_metric(name, metric, grouped):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    given = np.round(rng.normal(size=60) + y, 1)
    given = (given > 0.5).astype(int) if name == "f1" else given
    units = np.repeat(np.arange(15), 4) if grouped else None
    error, influence = replicate(error_function(name, np.array([0, 1])), y, given, units, 0)
    expected = by_hand(metric, y, given, np.arange(60) if units is None else units)
    assert error == pytest.approx(expected[0], abs=1e-12)
    # The placement values of the AUC are its derivative, not its difference.
    exact = dict(atol=1e-10) if grouped or name != "roc_auc" else dict(atol=0.2)
    np.testing.assert_allclose(influence, expected[1], **exact)


def test_functions_that_must_be_called_are_called_for_some_rows_only():
    rng = np.random.default_rng(0)
    y, given = rng.normal(size=(2, 500))
    calls = []

    def metric(a, b):
        calls.append(len(a))
        return r2_score(a, b)

    error, influence = replicate(error_function(metric), y, given, None, 3)
    assert error == pytest.approx(-r2_score(y, given))
    assert len(calls) == 65
    assert np.isfinite(influence).sum() == 64


# ------------------------------------------------------------------ inner cross-validation


def test_copies_of_a_row_are_on_one_side_of_inner_folds():
    rng = np.random.default_rng(0)
    ids = rng.integers(30, size=60)
    for base in (3, None, KFold(4, shuffle=True, random_state=0)):
        split = inner_cv.UniqueRowsSplit(base, ids, classifier=True)
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
    assert inner_cv.left_as_they_are(estimator, 100) == names


# ------------------------------------------------------------------ going on


def test_records_are_the_same_in_workers(monkeypatch):
    monkeypatch.setattr("skboot._workers._WORTH_WORKERS", 0.0)
    X, y = make_classification(60, random_state=0)
    runs = drawn(n_repeats=0).runs()
    job = job_of(DecisionTreeClassifier(max_features=1), X, y, keep=(PicklableLabels().keep,))
    alone, two = (
        runner.run_all(job, runs, n_jobs=n, verbose=0, seconds_per_run=1.0) for n in (1, 2)
    )
    for a, b in zip(alone, two, strict=True):
        np.testing.assert_array_equal(a["labels"], b["labels"])


class PicklableLabels:
    key = "labels"

    def keep(self, answers, scored):
        return {"labels": answers.predicted}


PROGRAM = """
import sys, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from skboot.scorer import BootstrapScorer

class Slow(DecisionTreeClassifier):
    def fit(self, X, y, **options):
        time.sleep(float(sys.argv[2]))
        return super().fit(X, y, **options)

warnings.simplefilter("ignore")
X, y = make_classification(60, random_state=0)
scorer = BootstrapScorer(
    Slow(max_features=2), scoring=["accuracy", "roc_auc"], n_train_resamples=50, n_cv_repeats=1,
    random_state=3, memory=sys.argv[1] or None,
).fit(X, y)
print([[*scorer.confidence_interval_[k][:2], scorer.score_[k]] for k in scorer.score_])
"""


def test_a_fit_that_was_killed_goes_on_to_the_same_numbers(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    folder = tmp_path / "runs"

    def command(memory, seconds):
        return [sys.executable, str(program), str(memory), str(seconds)]

    expected = subprocess.run(command("", 0), capture_output=True, text=True, check=True).stdout
    killed = subprocess.Popen(command(folder, 0.05))
    deadline = time.monotonic() + 60
    while len(list(folder.rglob("run-*.npz"))) < 10 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = {path: path.stat().st_mtime_ns for path in folder.rglob("run-*.npz")}
    assert 10 <= len(done) < 60
    found = subprocess.run(command(folder, 0), capture_output=True, text=True, check=True).stdout
    assert found == expected
    again = {path: path.stat().st_mtime_ns for path in folder.rglob("run-*.npz")}
    assert len(again) == 60
    assert all(again[path] == when for path, when in done.items())


def test_a_damaged_file_counts_as_absent(tmp_path):
    from skboot.refit import runner

    runner.write_run(
        str(tmp_path), {"number": 0, "fit_time": 0.5, "error": None, "warnings": set()}
    )
    (tmp_path / "run-000001.npz").write_bytes(b"PK half a file")
    assert list(runner.finished_runs(str(tmp_path), [0, 1, 2])) == [0]


def test_twenty_metrics_of_values_keep_one_array_per_run():
    """Memory: 50 runs x 8000 rows of float64 are 3.2 MB; 20 metrics may not multiply that."""
    from sklearn.linear_model import Ridge

    from skboot.scorer import BootstrapScorer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    y = X[:, 0] + rng.normal(size=8000)
    names = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error", "explained_variance"]
    scoring = {f"{name} {k}": name for name in names for k in range(5)}

    def peak(scoring):
        tracemalloc.start()
        BootstrapScorer(
            Ridge(), scoring=scoring, strategy="oob", n_train_resamples=50, random_state=0
        ).fit(X, y)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(scoring) < 64e6
    assert peak(scoring) < peak("r2") + 20e6
