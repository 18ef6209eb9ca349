"""Estimators and scorers that write into what they are given: nobody else sees it.

Expected numbers are those of the same estimator when it works on copies.
"""

import array
import tempfile
import warnings
from collections import UserList

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from skboot import BootstrapScorer, compare_methods
from skboot.model_selection import out_of_fold
from skboot.refit import lending
from skboot.refit.lending import Loan, copy_of, copy_of_rows, locked, with_copied_objects
from skboot.refit.training import has_rows

pytestmark = pytest.mark.filterwarnings("ignore:BootstrapScorer", "ignore:compare_methods")

N = 60


def made(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 30, 1] + 0.8 * y[:, None] * [1, 5, 0.1]
    return X, y


class Greedy(ClassifierMixin, BaseEstimator):
    """Nearest mean of the first column, by means that it takes in place; spoils all it is given."""

    def __init__(self, spoil=True):
        self.spoil = spoil

    def fit(self, X, y, sample_weight=None, extra=()):
        column, y_all = first_column(X), np.array(y)
        self.classes_ = np.unique(y_all)
        weight = np.ones(len(y_all)) if sample_weight is None else np.array(sample_weight)
        self.means_ = [
            np.average(column[y_all == c], weights=weight[y_all == c]) for c in self.classes_
        ]
        self.means_[0] += sum(np.sum(part) for part in extra)
        if self.spoil:
            for given in (X, y, sample_weight, *extra):
                spoilt(given)
        return self

    def predict(self, X):
        return self.classes_[(self._score(X) > 0).astype(int)]

    def decision_function(self, X):
        return self._score(X)

    def _score(self, X):
        column = first_column(X)
        if self.spoil:
            spoilt(X)
        low, high = self.means_
        return abs(column - low) - abs(column - high)


def first_column(X):
    if sparse.issparse(X):
        return X.toarray()[:, 0]
    if hasattr(X, "iloc"):
        return np.array([np.ravel(cell)[0] for cell in X.iloc[:, 0]], dtype=float)
    if hasattr(X, "to_numpy"):
        return X.to_numpy()[:, 0].copy()
    return np.array([np.ravel(row)[0] for row in X], dtype=float)


def spoilt(value):
    """Overwrite whatever is in there."""
    if sparse.issparse(value):
        value.data[:] = -7
    elif hasattr(value, "iloc") and value.ndim == 2:
        for cell in value.iloc[:, 0]:
            spoilt(cell)
        value[value.columns[0]] = -7.0
    elif hasattr(value, "iloc"):
        value.iloc[:] = 0
    elif hasattr(value, "insert_column"):
        value[0, 0] = -7.0
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for cell in value.ravel():
            spoilt(cell)
    elif isinstance(value, np.ndarray):
        value[...] = 0
    elif isinstance(value, list):
        for cell in value:
            spoilt(cell)
        value[:] = [0] * len(value)


def in_memory_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r+")


def nested_in_frame(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"cell": [list(row) for row in X], "number": X[:, 1]})


def objects(X):
    found = np.empty(len(X), dtype=object)
    found[:] = [row.copy() for row in X]
    return found


CONTAINERS = {
    "array": lambda X, _: X.copy(),
    "array by columns": lambda X, _: np.asfortranarray(X),
    "part of an array": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "memory map": in_memory_map,
    "csr": lambda X, _: sparse.csr_matrix(X),
    "csc": lambda X, _: sparse.csc_array(X),
    "list": lambda X, _: X.tolist(),
    "list of arrays": lambda X, _: [row.copy() for row in X],
    "objects": lambda X, _: objects(X),
    "pandas": lambda X, _: pytest.importorskip("pandas").DataFrame(X, columns=list("abc")),
    "lists in pandas": lambda X, _: nested_in_frame(X),
    "polars": lambda X, _: pytest.importorskip("polars").DataFrame(X, schema=list("abc")),
}


def dense(value):
    if sparse.issparse(value):
        return value.toarray().tolist()
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    return [np.ravel(row).tolist() for row in value]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("has_test", [False, True])
def test_nothing_of_the_callers_is_changed_and_no_run_sees_what_others_wrote(
    container, has_test, tmp_path
):
    X, y = made()
    make = CONTAINERS[container]
    X_given, X_test = make(X, tmp_path), CONTAINERS[container](made(seed=1)[0], tmp_path)
    if container == "memory map":
        X_test = X_test.copy()
    before = dense(X_given), dense(X_test)
    y_given, y_test, weight, extra = y.copy(), y.copy(), np.linspace(1, 2, N), np.zeros(4)
    test = dict(X_test=X_test, y_test=y_test) if has_test else {}
    found = {}
    for spoil in (True, False):
        options = {} if has_test else {"strategy": "optimism"}
        scorer = BootstrapScorer(
            Greedy(spoil), scoring=["accuracy", "roc_auc"], n_train_resamples=8,
            n_test_resamples=50, random_state=0, **options,
        )  # fmt: skip
        scorer.fit(X_given, y_given, sample_weight=weight, extra=[extra], **test)
        scores = scorer.score(X_test, y_test)
        predicted = scorer.predict(X_test).tolist()
        assert (dense(X_given), dense(X_test)) == before
        assert y_given.tolist() == y_test.tolist() == y.tolist()
        assert weight.tolist() == np.linspace(1, 2, N).tolist()
        assert not extra.any()
        found[spoil] = scorer.confidence_interval_, scorer.score_, scores, predicted
    assert repr(found[True]) == repr(found[False])


@pytest.mark.parametrize("backend", [None, "threading", "loky"])
def test_scaling_in_place_gives_the_numbers_of_scaling_copies(backend, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    (A, a), (B, b) = made(80, 0), made(300, 1)
    A0, B0 = A.copy(), B.copy()
    found = []
    for copy in (True, False):
        scorer = BootstrapScorer(
            make_pipeline(StandardScaler(copy=copy), LogisticRegression()),
            scoring=["accuracy", "roc_auc"], n_train_resamples=10, random_state=0,
            n_test_resamples=50, n_jobs=None if backend is None or copy else 2,
        )  # fmt: skip
        with parallel_config(backend or "loky"):
            found.append(repr(scorer.fit(A, a, X_test=B, y_test=b).confidence_interval_))
    assert found[0] == found[1]
    assert np.array_equal(A, A0)
    assert np.array_equal(B, B0)


def test_out_of_fold_and_compared_methods_leave_the_data_alone():
    from sklearn.model_selection import GridSearchCV

    X, y = made()
    X0 = X.copy()
    pipe = make_pipeline(StandardScaler(copy=False), LogisticRegression())
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1]},
    ).fit(X, y)
    expected = out_of_fold(search, X, y)
    search.estimator = pipe
    found = out_of_fold(search, X, y)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    both = {"in place": pipe, "on copies": make_pipeline(StandardScaler(), LogisticRegression())}
    result = compare_methods(both, X, y, n_train_resamples=10, random_state=0)
    assert result.pairs[0].difference == 0
    assert np.array_equal(X, X0)


class NeedsBuffer(GaussianNB):
    """As compiled code that asks for a buffer it could write to; says how often it refused."""

    refusals = 0

    def predict(self, X):
        if not X.flags.writeable:
            type(self).refusals += 1
            raise ValueError("buffer source array is read-only")
        return super().predict(X)


@pytest.mark.parametrize("has_test", [False, True])
def test_an_estimator_that_needs_a_writable_buffer_is_refused_one_once(has_test):
    X, y = made()
    test = dict(X_test=X[::2], y_test=y[::2]) if has_test else {}
    options = dict(n_train_resamples=10, n_test_resamples=50, random_state=0, scoring="accuracy")
    NeedsBuffer.refusals = 0
    found = BootstrapScorer(NeedsBuffer(), **options).fit(X, y, **test)
    assert NeedsBuffer.refusals == 1
    assert not found.runs_["failed"].any()
    expected = BootstrapScorer(GaussianNB(), **options).fit(X, y, **test)
    assert repr(found.confidence_interval_) == repr(expected.confidence_interval_)
    assert found.predict(X).tolist() == expected.predict(X).tolist()
    assert NeedsBuffer.refusals == 1  # still known


class WritesLate(DecisionTreeClassifier):
    """Draws from its own stream when it predicts, then writes, on some rows only."""

    def fit(self, X, y):
        self.rng_ = np.random.default_rng(self.random_state)
        return super().fit(X, y)

    def predict(self, X):
        noise = self.rng_.normal(size=X.shape)
        if self.rng_.random() < 0.2:
            X[0, 0] += 0.0
        return super().predict(X + noise)


def test_the_whole_run_is_repeated_so_that_numbers_do_not_depend_on_who_wrote_first(monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    X, y = made()
    options = dict(n_train_resamples=24, n_test_resamples=50, random_state=0, scoring="accuracy")
    own_copies = np.copy
    found = {}
    for n_jobs in (1, 2):
        with parallel_config("threading"):
            scorer = BootstrapScorer(WritesLate(max_depth=2), n_jobs=n_jobs, **options)
            found[n_jobs] = scorer.fit(X, y, X_test=own_copies(X), y_test=y).runs_["score"]
    monkeypatch.setattr(lending, "locked", copy_of)
    scorer = BootstrapScorer(WritesLate(max_depth=2), **options)
    expected = scorer.fit(X, y, X_test=own_copies(X), y_test=y).runs_["score"]
    assert found[1].tolist() == found[2].tolist() == expected.tolist()


class FailsToFit(GaussianNB):
    calls = 0

    def fit(self, X, y):
        type(self).calls += 1
        if np.unique(X[:, 0]).size < N and X[:, 0].sum() > 0:
            raise RuntimeError("no luck")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_fit_that_fails_on_rows_of_its_own_is_not_repeated():
    X, y = made()
    FailsToFit.calls = 0
    scorer = BootstrapScorer(FailsToFit(), strategy="oob", n_train_resamples=40, random_state=0)
    scorer.fit(X - X.mean(axis=0), y)
    assert 0 < scorer.runs_["failed"].sum() < 40
    assert FailsToFit.calls == 41


def test_a_library_that_warns_and_writes_all_the_same_gets_a_copy():
    """As torch does, which cannot lock what it takes from numpy."""

    def ignores_the_lock(X):
        if not X.flags.writeable:
            warnings.warn("The given NumPy array is not writable, and ...", stacklevel=1)
        held = np.frombuffer(X.data, dtype=X.dtype) if not X.flags.writeable else X
        return float(held.sum())

    loan, X = Loan(), np.ones(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert loan.call(ignores_the_lock, X) == 3
    assert not caught
    assert loan.copies


class WarnsOfItsOwn(GaussianNB):
    """Warns of an array of its own that is locked, as torch does within a loader of data."""

    def fit(self, X, y):
        warnings.warn("an array of this library is read-only", stacklevel=1)
        return super().fit(X, y)


def warning_metric(y_true, y_pred):
    warnings.warn("an array of this library is read-only", stacklevel=1)
    return float(np.mean(y_true == y_pred))


@pytest.mark.filterwarnings("ignore:an array of this library")
def test_a_fit_and_a_metric_that_warn_of_other_arrays_are_no_failures():
    X, y = made(30)
    options = dict(scoring=make_scorer(warning_metric), n_train_resamples=5, random_state=0)
    found = BootstrapScorer(WarnsOfItsOwn(), n_cv_repeats=1, **options).fit(X, y)
    assert not found.runs_["failed"].any()
    options["scoring"] = make_scorer(clean_metric)
    expected = BootstrapScorer(GaussianNB(), n_cv_repeats=1, **options).fit(X, y)
    assert repr(found.confidence_interval_) == repr(expected.confidence_interval_)


def spoiling_scorer(estimator, X, y):
    value = estimator.score(X, y)
    X[:] = 0
    y[:] = 0
    return value


def spoiling_metric(y_true, y_pred):
    value = float(np.mean(y_true == y_pred))
    y_true[:] = 0
    y_pred[:] = 0
    return value


def clean_scorer(estimator, X, y):
    return estimator.score(X, y)


def clean_metric(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize("strategy", ["optimism", "cv-bootstrap"])
def test_scorers_and_metrics_may_write(strategy):
    X, y = made(30)
    X0, y0 = X.copy(), y.copy()
    found = []
    for of_estimator, of_labels in (
        (spoiling_scorer, spoiling_metric),
        (clean_scorer, clean_metric),
    ):
        scorer = BootstrapScorer(
            GaussianNB(), scoring={"scorer": of_estimator, "metric": make_scorer(of_labels)},
            strategy=strategy, n_train_resamples=5, n_cv_repeats=1, random_state=0,
        )  # fmt: skip
        scores = scorer.fit(X, y).score(X, y)
        found.append(repr((scores, scorer.score_, scorer.confidence_interval_)))
    assert found[0] == found[1]
    assert np.array_equal(X, X0)
    assert np.array_equal(y, y0)


def test_a_locked_value_is_the_same_memory_and_an_own_one_the_same_layout():
    X = np.asfortranarray(made()[0])
    assert np.shares_memory(locked(X), X)
    assert not locked(X).flags.writeable
    assert X.flags.writeable
    assert not np.shares_memory(copy_of(X), X)
    assert copy_of(X).flags.f_contiguous
    matrix = sparse.csr_matrix(X)
    assert np.shares_memory(locked(matrix).data, matrix.data)
    with pytest.raises(ValueError, match="read-only"):
        locked(matrix).data *= 2


def test_a_row_that_comes_twice_holds_two_objects():
    row = [1, 2]
    first, second = with_copied_objects([row, row])
    assert first == second == row
    assert first is not second
    assert first is not row


def mapped(array):
    """The array as a worker of joblib gets it."""
    with tempfile.NamedTemporaryFile() as file:
        written = np.memmap(file.name, array.dtype, "w+", shape=array.shape)
        written[:] = array
        return written


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, np.ndarray.tolist, mapped])
def test_rows_are_taken_as_scikit_learn_takes_them(make):
    table = np.random.default_rng(0).normal(size=(30, 3))
    rows = np.array([29, 3, 3, 0])
    for data in (make(table), make(table[:, 0])):
        found = copy_of_rows(data, rows)
        np.testing.assert_array_equal(found, _safe_indexing(data, rows))
        assert isinstance(found, list) == isinstance(data, list)


# ------------------------------------------------------------------ parameters with a value per row

ROWS, OTHER = np.zeros((60, 5)), np.ones((25, 5))
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
    [(OTHER, OTHER[:, 0])],
    [(ROWS, ROWS[:, 0])],
    (OTHER, OTHER[:, 0]),
    OTHER,
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
    taken = _check_method_params(ROWS, {"value": value}, rows)["value"]
    assert has_rows(value, len(ROWS)) == (taken is not value)
    if taken is not value:
        ours = copy_of_rows(value, rows)
        if sparse.issparse(ours):
            ours, taken = ours.toarray(), taken.toarray()
        np.testing.assert_array_equal(ours, taken)


@pytest.mark.parametrize("value", ["x" * 60, dict.fromkeys(range(60)), np.array(1.0)], ids=name_of)
def test_texts_dicts_and_arrays_without_dimensions_are_no_rows(value):
    assert not has_rows(value, 60)
