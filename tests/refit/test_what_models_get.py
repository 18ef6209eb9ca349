"""What a fit hands to its models, finds again in a folder and says of itself, by plain counts."""

import logging
import re
import warnings

import numpy as np
import pytest
from identity_cases import close, quiet, scored
from scipy import sparse, special, stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import (
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    median_absolute_error,
    root_mean_squared_error,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import skboot
from skboot.inference import prediction_error
from skboot.metrics import expected_cost

pytestmark = pytest.mark.identity

N = 30
GIVEN, SEEDS = [], []


class Asked(RegressorMixin, BaseEstimator):
    """A weighted mean that notes what it was fitted to, and what it is asked for."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None, factor=None, names=None):
        GIVEN.append(("fit", type(X), numbers(X), np.array(y), sample_weight, factor, names))
        self.mean_ = np.average(y, weights=sample_weight) + self.shift
        return self

    def predict(self, X):
        GIVEN.append(("predict", type(X), numbers(X)))
        return self.mean_ + 0.1 * np.cos(numbers(X))


def numbers(X):
    """Numbers of the rows, which the last column holds."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return X[:, -1].astype(int)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack((rng.normal(size=N), np.arange(N))), rng.normal(size=N)


def fitted(estimator, X, y, params=(), **options):
    options = {"n_train_resamples": 6, "n_cv_repeats": 1, "random_state": 0, **options}
    GIVEN.clear()
    SEEDS.clear()
    scorer = skboot.BootstrapScorer(estimator, **options)
    quiet(scorer.fit, X, y, **dict(params))
    return scorer


def frame_of(X):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=["a", "b"], index=np.arange(N) * 3 % N)


def series_of(column):
    return pytest.importorskip("pandas").Series(column)


CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "frame": frame_of,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "array": sparse.csr_array,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_rows_of_any_form_are_the_rows(kind, rows):
    X, y = rows
    scoring = ["neg_mean_squared_error", "neg_median_absolute_error"]
    alone, of_kind = (fitted(Asked(), own, y, scoring=scoring) for own in (X, CONTAINERS[kind](X)))
    for name in scoring:
        close(of_kind.score_[name], alone.score_[name])
        close([*of_kind.confidence_interval_[name]], [*alone.confidence_interval_[name]])
    fits = [own for own in GIVEN if own[0] == "fit"]
    for _, form, chosen, targets, *_ in fits:
        # Columns that are stored apart are put together by row first.
        kept = sparse.csr_matrix if kind == "csc" else type(CONTAINERS[kind](X))
        assert form is kept
        np.testing.assert_array_equal(targets, y[chosen])
    assert len(fits) == 1 + 6 + 10


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("form", [np.asarray, list, series_of])
def test_what_fits_are_given_by_row_follows_the_rows_and_all_else_is_left(form, grouped, rows):
    X, y = rows
    weights = np.arange(N) % 4 + 1.0
    given = {
        "sample_weight": form(weights),
        "factor": 3,
        "names": "n" * N,
    }
    if grouped:
        given["groups"] = np.arange(N) // 2
    fitted(Asked(), X, y, given)
    fits = [own for own in GIVEN if own[0] == "fit"]
    assert len(fits) == 17
    for _, _, chosen, _, own, factor, names in fits:
        np.testing.assert_array_equal(own, weights[chosen])
        assert (factor, names) == (3, given["names"])


@pytest.mark.parametrize("strategy", ["cv-bootstrap", "optimism", "test set"])
def test_a_kernel_is_the_method_on_the_rows_behind_it(strategy):
    rng = np.random.default_rng(0)
    X, X_test = rng.normal(size=(N, 3)), rng.normal(size=(12, 3))
    y, y_test = (own[:, 0] + rng.normal(size=len(own)) for own in (X, X_test))
    found = []
    for kernel, rows_, tests in (("linear", X, X_test), ("precomputed", X @ X.T, X_test @ X.T)):
        params = {"X_test": tests, "y_test": y_test} if strategy == "test set" else {}
        more = {} if params else {"strategy": strategy}
        options = {"scoring": "neg_mean_absolute_error", **more}
        found.append(fitted(KernelRidge(kernel=kernel), rows_, y, params, **options))
    close(found[1].score_, found[0].score_)
    close(found[1].runs_["score"], found[0].runs_["score"])
    close([*found[1].confidence_interval_[:2]], [*found[0].confidence_interval_[:2]])


class Labels(ClassifierMixin, Asked):
    def fit(self, X, y):
        GIVEN.append(("fit", numbers(X), np.array(y)))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        GIVEN.append(("predict", numbers(X)))
        return self.classes_[np.cos(numbers(X)).round().astype(int) % len(self.classes_)]


@pytest.mark.parametrize("inner_cv", ["grouped", "as-is"])
@pytest.mark.parametrize(
    "cv", [3, KFold(3), KFold(3, shuffle=True, random_state=0), StratifiedKFold(3)]
)
def test_folds_inside_a_sample_are_those_of_its_distinct_rows(inner_cv, cv, rows):
    X, y = rows[0], (np.arange(N) % 5 < 2).astype(int)
    search = GridSearchCV(Labels(), {"shift": [0.0]}, cv=cv, refit=False)

    class Searched(ClassifierMixin, BaseEstimator):
        def __init__(self, search=search):
            self.search = search

        def fit(self, X, y):
            GIVEN.append(("sample", numbers(X)))
            self.search.fit(X, y)
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    fitted(Searched(), X, y, inner_cv=inner_cv, strategy="oob", scoring="accuracy")
    samples = [k for k, own in enumerate(GIVEN) if own[0] == "sample"]
    assert len(samples) == 7
    shared = 0
    for start in samples[1:]:
        sample = GIVEN[start][1]
        inside = [set(own[1]) for own in GIVEN[start + 1 : start + 7]]
        sizes = [len(own[1]) for own in GIVEN[start + 1 : start + 7]]
        for train, test in zip(inside[::2], inside[1::2], strict=True):
            shared += len(train & test)
            assert train | test == set(sample)
        assert all(a + b == N for a, b in zip(sizes[::2], sizes[1::2], strict=True))
        if inner_cv == "as-is":
            continue
        # The splitter sees each row once, in the order of the data.
        distinct = np.unique(sample)
        splitter = StratifiedKFold(3) if cv == 3 else cv
        if getattr(splitter, "shuffle", False):
            continue
        folds = [distinct[test] for _, test in splitter.split(distinct, y[distinct])]
        assert inside[1::2] == [set(fold) for fold in folds]
    assert (shared == 0) == (inner_cv == "grouped")


TRUTH = (np.arange(N) % 5 < 2).astype(int)
OF_KNOWN = {"n_train_resamples": 3, "strategy": "cv-bootstrap", "scoring": "accuracy"}


@pytest.fixture(scope="module")
def known_fit(rows, tmp_path_factory):
    """A folder that holds the runs of one fit."""
    folder = tmp_path_factory.mktemp("runs")
    fitted(Searching(), rows[0], TRUTH, memory=folder, **OF_KNOWN)
    return folder


@pytest.mark.parametrize(
    "change",
    [
        {}, {"n_seeds": 2}, {"strategy": "optimism"}, {"n_train_resamples": 2},
        {"n_cv_repeats": 2}, {"stratify": True}, {"inner_cv": "as-is"}, {"random_state": 1},
        {"scoring": "f1"}, {"estimator": 1.0}, {"groups": np.arange(N) // 2},
        {"rows": 1}, {"truth": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_folder_gives_back_the_runs_of_this_very_fit_alone(change, rows, known_fit, caplog):
    caplog.set_level(logging.INFO)
    X, y, options, folder = rows[0], TRUTH, {**OF_KNOWN}, known_fit
    options |= {key: own for key, own in change.items()
                if key not in ("estimator", "groups", "rows", "truth")}  # fmt: skip
    method = Searching(change.get("estimator", 0.0))
    X = X[::-1] if "rows" in change else X
    y = 1 - y if "truth" in change else y
    params = {"groups": change["groups"]} if "groups" in change else {}
    plain = fitted(method, X, y, params, **options)
    n_fits = len(caplog.records)
    again = fitted(method, X, y, params, memory=folder, **options)
    n_again = len(caplog.records) - n_fits
    close(again.score_, plain.score_)
    for name in ("score", "seed", "training_sample", "sample", "failed"):
        np.testing.assert_array_equal(again.runs_[name], plain.runs_[name])
    # Nothing is done again but the run on all rows, whose model is kept.
    assert (n_again < n_fits) == (change == {})


class Searching(ClassifierMixin, BaseEstimator):
    """A choice by folds inside, which leaves its mark on the answers."""

    def __init__(self, shift=0.0, cv=3, random_state=None):
        self.shift, self.cv, self.random_state = shift, cv, random_state

    def fit(self, X, y):
        # A list of the module would be part of what a folder knows the method by.
        logging.getLogger("fits").info("one")
        splits = self.cv.split(X, y) if hasattr(self.cv, "split") else KFold(self.cv).split(X, y)
        self.mark_ = sum(
            float(numbers(X)[test].sum() * (k + 1)) for k, (_, test) in enumerate(splits)
        )
        self.mark_ += np.random.default_rng(self.random_state).random() + self.shift
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.cos(self.mark_ + numbers(X)) > 0).astype(int) % len(self.classes_)]


class Noted(Searching):
    """The same, with notes of the order of its rows and of its seed."""

    def fit(self, X, y):
        GIVEN.append(("sample", numbers(X)))
        SEEDS.append(self.random_state)
        return super().fit(X, y)


@pytest.mark.parametrize("rarest", [3, 6, 9, 14])
def test_folds_are_as_many_as_the_rarest_class_has_rows_from_five_to_ten(rarest, rows):
    y = np.random.default_rng(0).permutation(np.arange(N) < rarest).astype(int)
    fitted(Labels(), rows[0], y, scoring="accuracy", n_cv_repeats=2)
    inside = [own[1] for own in GIVEN if own[0] == "fit"][7:]
    n_folds = min(max(rarest, 5), 10)
    assert len(inside) == 2 * n_folds
    for repeat in (inside[:n_folds], inside[n_folds:]):
        folds = [np.setdiff1d(np.arange(N), own) for own in repeat]
        np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(N))
        for part in ([0, 1], [0], [1]):
            assert np.ptp([np.isin(y[fold], part).sum() for fold in folds]) <= 1


@pytest.mark.parametrize("inner_cv", ["grouped", "as-is"])
def test_runs_of_one_sample_differ_by_their_seed_alone(inner_cv, rows):
    y = (np.arange(N) % 5 < 2).astype(int)
    fitted(Noted(), rows[0], y, scoring="accuracy", inner_cv=inner_cv, n_seeds=2)
    orders = [own[1] for own in GIVEN if own[0] == "sample"]
    assert len(orders) == 2 * (1 + 6 + 10)
    for first, second in zip(orders[::2], orders[1::2], strict=True):
        np.testing.assert_array_equal(first, second)
    in_order = [np.all(np.diff(order) >= 0) for order in orders[2:14]]
    assert all(in_order) == (inner_cv == "grouped")
    assert len(set(SEEDS)) == len(SEEDS) == 34


class Warns(Asked):
    """Warns of some rows, and cannot be trained on others."""

    def fit(self, X, y):
        total = int(numbers(X).sum())
        if total % 5 == 0 and len(set(numbers(X))) < N:
            raise ValueError("five" if total % 2 else "ten")
        if total % 2:
            warnings.warn("not there yet", ConvergenceWarning, stacklevel=1)
        if total % 3 == 1:
            warnings.warn("a third", stacklevel=1)
        return super().fit(X, y)


@pytest.mark.parametrize("on_test", [False, True])
def test_runs_tell_what_became_of_each_of_them(on_test, rows):
    X, y = rows
    options = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
    options |= {"scoring": "neg_mean_absolute_error"}
    # The same samples, by an estimator that neither fails nor warns.
    fitted(Asked(), X, y, **options)
    samples = [own[2] for own in GIVEN if own[0] == "fit"]
    params = {"X_test": X[:9], "y_test": y[:9]} if on_test else {}
    samples = samples[:21] if on_test else samples
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scorer = skboot.BootstrapScorer(Warns(), **options).fit(X, y, **params)
    totals = np.array([own.sum() for own in samples])
    whole = np.array([len(set(own)) == N for own in samples])
    failed = (totals % 5 == 0) & ~whole
    runs = scorer.runs_
    np.testing.assert_array_equal(runs["failed"], failed)
    # The run on all rows warns where it is fitted.
    np.testing.assert_array_equal(
        runs["n_convergence_warnings"][1:], ((totals % 2 == 1) & ~failed)[1:]
    )
    assert np.isnan(runs["score"][failed]).all()
    assert np.isfinite(runs["score"][:21][~failed[:21]]).all()
    assert np.all(runs["fit_time"][~failed] >= 0)
    told = [str(one.message) for one in caught]
    [of_failures] = [text for text in told if "runs failed" in text]
    assert f"{failed.sum()} of {len(samples) - 1} runs failed" in of_failures
    for word, is_odd in (("five", 1), ("ten", 0)):
        n = np.sum(failed & (totals % 2 == is_odd))
        assert (f"{n} x ValueError: {word}" in of_failures) == (n > 0)
    assert sum(text == "a third" for text in told) <= 2
    assert totals[0] % 3 == 0
    assert ("a third" in told) == bool(np.any((totals % 3 == 1) & ~failed))


TARGETS = {
    "labels": np.arange(N) % 3,
    "words": np.array(list("abc"))[np.arange(N) % 3],
    "whole floats": np.arange(N) % 3 * 1.0,
    "a rare float": (np.arange(N) == 7) * 1.0,
    "a rare label": (np.arange(N) == 7) * 1,
    "fours": np.arange(N) % 8,
    "continuous": np.linspace(0, 1, N),
    "counts": np.arange(N),
    "none": None,
}


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("kind", TARGETS)
def test_folds_of_a_number_hold_classes_evenly_where_there_are_some(kind, cv):
    y, n_folds = TARGETS[kind], cv or 5
    sizes = [0] if y is None else np.unique(y, return_counts=True)[1]
    is_float = y is not None and y.dtype.kind == "f"
    stratified = (min if is_float else max)(sizes) >= n_folds
    folds = (StratifiedKFold if stratified else KFold)(n_folds)
    X = np.zeros((N, 1))
    expected = [*(quiet(lambda: [*folds.split(X, y)]))]
    once = quiet(lambda: [*skboot.SeedSplit(2, cv).split(X, y)])
    again = quiet(
        lambda: [*skboot.BootstrapTestSplit(cv, n_resamples=2, random_state=0).split(X, y)]
    )
    assert len(once) == len(again) == 2 * n_folds
    for k, (train, test) in enumerate(expected):
        for at in (k, k + n_folds):
            np.testing.assert_array_equal(once[at][0], train)
            np.testing.assert_array_equal(once[at][1], test)
        drawn = [tuple(own) for _, own in again[2 * k : 2 * k + 2]]
        assert all(set(own) <= set(test) for own in drawn)
        np.testing.assert_array_equal(again[2 * k][0], train)
    # Each test side has draws of its own, and more of them leave the first as they are.
    more = skboot.BootstrapTestSplit(cv, n_resamples=3, random_state=0)
    for k, (_, test) in enumerate(quiet(lambda: [*more.split(X, y)])):
        if k % 3 < 2:
            np.testing.assert_array_equal(test, again[k // 3 * 2 + k % 3][1])
    places = [tuple(np.searchsorted(expected[k // 2][1], own)) for k, (_, own) in enumerate(again)]
    assert len(set(places)) > n_folds


def test_few_units_always_leave_one_out_and_sets_of_labels_are_classes():
    for n in (2, 3, 4):
        for made, more in ((skboot.BootstrapSplit, {}), (skboot.GroupBootstrapSplit,
                           {"groups": np.arange(n)}), (skboot.StratifiedBootstrapSplit,
                           {"y": np.zeros(n, dtype=int)})):  # fmt: skip
            for train, test in made(60, random_state=0).split(np.zeros((n, 1)), **more):
                assert len(test) > 0
                assert len(train) == n
    sets = np.array([[0, 1], [1, 1], [0, 0]])[np.arange(N) % 3]
    seen = set()
    for train, _ in skboot.StratifiedBootstrapSplit(9, random_state=0).split(
        np.zeros((N, 1)), sets
    ):
        counts = np.unique(sets[train], axis=0, return_counts=True)[1]
        np.testing.assert_array_equal(counts, [10, 10, 10])
        seen.add(tuple(np.sort(train)))
    assert len(seen) == 9
    with pytest.raises(ValueError, match=r"one row of each class in \[2\]"):
        skboot.StratifiedBootstrapSplit(2).split(np.zeros((5, 1)), [0, 0, 1, 1, 2])
    seed = np.random.SeedSequence(3)
    splitter = skboot.BootstrapSplit(3, random_state=seed)
    one, other = ([*splitter.split(np.zeros((N, 1)))] for _ in range(2))
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first[0], second[0])


# ------------------------------------------------------------------ what is said


def losses_of(rng, b, n, level=0.3, heavy=0.0, low=0.0):
    """Losses of models without an upper bound, and what `prediction_error` needs beside them."""
    weights = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)])
    losses = low + rng.gamma(2.0, 0.5, (b, n)) * np.exp(level * rng.normal(size=(b, 1)))
    cv = low + np.tile(rng.gamma(8.0, 0.125, n), (2, 1))
    cv[:, 0] = cv[0, 1:].mean() + heavy * np.sqrt(np.sum((cv[0, 1:] - cv[0, 1:].mean()) ** 2))
    return losses, weights, cv


def said_of(error, method="cv-bootstrap"):
    return " ".join(note.text for note in quiet(error.interval_with_notes, method).notes)


def made(losses, weights, cv, apparent=1.0, chance=3.0, low=0.0):
    return quiet(
        prediction_error, losses, weights, resubstitution_losses=np.full(losses.shape[1], apparent),
        no_information_rate=chance, bounds=(low, np.inf), cv_losses=cv,
    )  # fmt: skip


# Resamples, rows, spread between models, the part of one row, and the lower bound.
CASES = (
    (49, 20, 0.3, 1.0, 0.0), (50, 20, 0.1, 1.1, 2.0), (40, 100, 0.6, 0.9, 1.0),
    (39, 100, 0.3, 1.02, 0.0), (60, 30, 0.45, 0.95, 0.0), (60, 30, 0.9, 0.0, 0.0),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_an_error_follows_from_its_numbers(seed):
    rng = np.random.default_rng(seed)
    for b, n, level, heavy, low in CASES:
        losses, weights, cv = losses_of(rng, b, n, level, heavy, low)
        for share in (0.2, 0.3):
            left = weights == 0
            oob = np.mean([losses[left[:, i], i].mean() for i in range(n)])
            apparent = low + share * (oob - low)
            chance = apparent + (0.5 if seed else -0.1)
            error = made(losses, weights, cv, apparent, chance, low)
            said, of_point = said_of(error), said_of(error, "adjusted")
            assert ("are optimistic" in of_point) == (share < 0.25)
            assert ("rate is not above" in of_point) == (chance <= apparent)
            assert (f"{b} resamples are too few for a stable" in of_point) == (b < 50)
            needed = int(np.ceil(4 * np.sqrt(n)))
            few = f"{b} resamples are too few for the infinitesimal jackknife on {n} units"
            cautious = said_of(error, "cv-bootstrap-conservative")
            assert few not in said
            assert (few in cautious) == (b < needed)
            assert (f"at least {needed}, better {2 * needed}" in cautious) == (b < needed)
            squares = (cv[0] - cv[0].mean()) ** 2
            assert ("more than half" in said) == (squares[0] > squares.sum() / 2)
            cv_error = error.cv
            for method, spread in (("cv-bootstrap", cv_error.standard_error),
                                   ("cv-bootstrap-conservative",
                                    cv_error.standard_error_conservative)):  # fmt: skip
                test = np.var(cv, axis=1, ddof=1).mean() / n
                found = re.search(r"(\d+)% of its variance is due", said_of(error, method))
                assert (found is not None) == (spread**2 > 3 * test)
                if found:
                    assert int(found[1]) == int(f"{100 * (1 - test / spread**2):.0f}")
                    times = re.search(r"move the error ([\d.]+) times", said_of(error, method))[1]
                    expected = np.sqrt(cv_error.variance_training_robust / test)
                    assert times == f"{expected:.1f}"
                    assert f"{cv_error.n_beyond_fences} of {b} give outliers" in said_of(
                        error, method
                    )


def test_small_classes_and_few_groups_are_told_with_their_number():
    rng = np.random.default_rng(0)
    for rarest in (20, 21):
        y = np.arange(60) < rarest
        X = np.column_stack((rng.normal(size=60), np.arange(60)))
        found = fitted(Labels(), X, y.astype(int), strategy="oob", scoring="accuracy")
        said = " ".join(found.result_.notes)
        assert (f"smallest class has {rarest} rows (20 or fewer)" in said) == (rarest <= 20)
    told = []
    for n_groups in range(15, 45):
        X, y = np.column_stack((np.ones(45), np.arange(45))), np.arange(45) % 2
        groups = {"groups": np.arange(45) % n_groups}
        options = {"strategy": "oob", "scoring": "accuracy", "n_train_resamples": 2}
        found = fitted(Labels(), X, y, groups, **options)
        told.append(f"Only {n_groups} groups were resampled" in " ".join(found.result_.notes))
        again = scored(y, found.predict(X), metric="accuracy", **groups, n_resamples=19)
        assert any("groups" in note for note in again.notes) == told[-1]


@pytest.mark.parametrize("n_groups", [None, 10])
@pytest.mark.parametrize("few", ["none", "some of one row"])
@pytest.mark.parametrize("turned", [False, True])
def test_errors_near_a_bound_hold_wilsons_limits_of_all_units(n_groups, few, turned):
    """Within half an error of the bound, or where nothing varies."""
    rng, n = np.random.default_rng(0), 20
    unit = np.arange(n) if n_groups is None else np.arange(n) % n_groups
    u = unit.max() + 1
    weights = np.array([np.bincount(rng.integers(0, u, u), minlength=u)[unit] for _ in range(60)])
    losses = np.zeros((60, n))
    losses[:18, 0] = few != "none"
    losses = 1 - losses if turned else losses
    error = quiet(
        prediction_error, losses, weights, resubstitution_losses=np.full(n, turned * 1.0),
        no_information_rate=1.0, groups=None if n_groups is None else unit,
    )  # fmt: skip
    value, quantile = error.oob, special.stdtrit(u - 1, 0.95)
    edge = min(value, 1 - value)
    assert edge < 0.5 / u
    square = quantile**2 / u
    middle = (value + square / 2) / (1 + square)
    half = quantile * np.sqrt(value * (1 - value) / u + square / (4 * u)) / (1 + square)
    low, high = quiet(error.interval, "adjusted", 0.9, point="oob")
    far = 1 - low if turned else high
    expected = (1 - (middle - half)) if turned else middle + half
    if few != "none":
        # The limit on the logit scale, from half an error, may be the farther one.
        start = 0.5 / u
        places = np.linspace(start, 0.9, 200_001)
        limits = special.logit(places)
        limits += quantile * error.standard_error / (places * (1 - places))
        expected = max(expected, special.expit(limits.min()))
    close(far, expected, 1e-5)
    close(high if turned else low, turned * 1.0, 1e-12)


PAIRS_OF_VALUES = {
    "neg_mean_squared_error": lambda y, f: -((y - f) ** 2),
    "neg_mean_absolute_error": lambda y, f: -np.abs(y - f),
    "neg_mean_squared_log_error": lambda y, f: -((np.log1p(y) - np.log1p(f)) ** 2),
    "neg_mean_absolute_percentage_error": lambda y, f: -np.abs(y - f) / y,
    "neg_mean_gamma_deviance": lambda y, f: -2 * (np.log(f / y) + y / f - 1),
}


@pytest.mark.parametrize("scoring", [*PAIRS_OF_VALUES, "neg_root_mean_squared_error"])
def test_chance_is_the_mean_over_all_pairs_or_is_said_to_be_over_permutations(scoring, rows):
    X, y = rows
    y = np.exp(0.3 * y) + (np.arange(N) < 5)
    scorer = fitted(Asked(), X, y, scoring=scoring, strategy="oob")
    answers = scorer.predict(X)
    root = scoring.startswith("neg_root")
    of_pair = PAIRS_OF_VALUES["neg_mean_squared_error" if root else scoring]
    every = of_pair(y[:, None], answers[None])
    expected = -np.sqrt(-every.mean()) if root else every.mean()
    said = " ".join(scorer.result_.notes)
    if "permutations" not in said:
        close(scorer.no_information_score_, expected)
        return
    assert "is the mean over 100 permutations of the predicted values" in said
    one = [of_pair(y, answers[np.random.default_rng(k).permutation(N)]).mean() for k in range(400)]
    assert abs(scorer.no_information_score_ - expected) < 5 * np.std(one) / 10
    assert scoring in ("neg_mean_absolute_percentage_error", "neg_mean_gamma_deviance")


class Says(Labels):
    """Says of each row whether its number is below a limit."""

    def __init__(self, limit=0, shift=0.0):
        self.limit, self.shift = limit, shift

    def predict(self, X):
        return (numbers(X) < self.limit) * 1


@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
@pytest.mark.parametrize("grouped", [False, True])
def test_methods_that_decide_alike_or_never_alike_have_tangos_limits(strategy, grouped, rows):
    y = np.ones(N, dtype=int)
    y[:15] = 0
    options = {"n_train_resamples": 6, "n_cv_repeats": 1, "random_state": 0, "strategy": strategy}
    groups = np.arange(N) // 3 if grouped else None
    n = 10 if grouped else N
    square = stats.norm.ppf(0.975) ** 2
    right, wrong = Turned(), Says(15)
    for methods, sign in (((right, right), 0), ((right, wrong), 1), ((wrong, right), -1)):
        named = dict(zip("ab", methods, strict=True))
        result = quiet(skboot.compare_methods, named, rows[0], y, scoring="accuracy",
                       groups=groups, **options)  # fmt: skip
        [pair] = result.pairs
        assert (pair.difference, pair.standard_error) == (sign, 0)
        half = (1 + abs(sign)) * square / (n + square)
        close([*pair.confidence_interval], np.clip([sign - half, sign + half], -1, 1))
        close(pair.p_value, 2 * stats.norm.sf(np.sqrt(n * abs(sign))))
        assert f"for {n} independent units" in " ".join(result.notes)
    X, values = rows
    result = quiet(skboot.compare_methods, {"a": Asked(), "b": Asked()}, X, values,
                   scoring="neg_mean_absolute_error", **options)  # fmt: skip
    assert np.isnan([*result.pairs[0].confidence_interval]).all()
    assert "varies neither over rows nor over training samples" in " ".join(result.notes)


LOSSES = {
    "neg_mean_absolute_error": (Asked, make_scorer(mean_absolute_error)),
    "neg_mean_squared_error": (Asked, make_scorer(mean_squared_error)),
    "neg_root_mean_squared_error": (Asked, make_scorer(root_mean_squared_error)),
    "neg_median_absolute_error": (Asked, make_scorer(median_absolute_error)),
    "neg_expected_cost": (Labels, make_scorer(expected_cost)),
    "neg_zero_one_loss": (Labels, make_scorer(zero_one_loss)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_without_its_sign_is_the_mirror_image(name, rows):
    strategy = ("cv-bootstrap", ".632+")[len(name) % 2]
    made, loss = LOSSES[name]
    X, y = rows[0], rows[1] if made is Asked else TRUTH
    turned = make_scorer(loss._score_func, greater_is_better=False)
    of_loss, of_score = (
        fitted(made(), X, y, scoring=own, strategy=strategy) for own in (loss, turned)
    )
    loss_, score = of_loss.result_, of_score.result_
    assert (loss_.greater_is_better, score.greater_is_better) == (False, True)
    assert score.metric == f"neg_{loss._score_func.__name__}"
    close(loss_.estimate, -score.estimate)
    close([*loss_.confidence_interval], [-x for x in [*score.confidence_interval][::-1]])
    close(loss_.standard_error, score.standard_error)
    for attribute in ("point632_plus_score_", "no_information_score_", "oob_score_"):
        close(getattr(of_loss, attribute), -getattr(of_score, attribute))


class Turned(Says):
    """Says the other class."""

    def predict(self, X):
        return 1 - (numbers(X) < 15)


class Only(Labels):
    """Is trained on samples alone, or on folds alone."""

    def __init__(self, on="samples", shift=0.0):
        self.on, self.shift = on, shift

    def fit(self, X, y):
        distinct = len(set(numbers(X)))
        if distinct < N and (distinct == len(X)) == (self.on == "samples"):
            raise ValueError("not on these")
        return super().fit(X, y)


class Remembers(Labels):
    """Says of rows that it was trained on what they were."""

    def fit(self, X, y):
        self.known_ = dict(zip(numbers(X), y, strict=True))
        return super().fit(X, y)

    def predict(self, X):
        return np.array([self.known_.get(k, k % 2) for k in numbers(X)])


def heard(estimator, X, y, **options):
    """A fitted scorer, and what it warned of."""
    options = {"n_train_resamples": 6, "n_cv_repeats": 1, "random_state": 0, **options}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scorer = skboot.BootstrapScorer(estimator, **options).fit(X, y)
    return scorer, " ".join(str(one.message) for one in caught)


def test_a_result_says_what_its_fit_was(rows):
    X, y = rows[0], TRUTH
    for strategy in ("oob", ".632", "cv-bootstrap", "optimism"):
        for stratify in (False, True):
            found, _ = heard(Labels(), X, y, strategy=strategy, stratify=stratify)
            result = found.result_
            said = " ".join(result.notes)
            assert ("holds 63.2% of the distinct rows, so that" in said) == (strategy == "oob")
            fixed = ("the number of training rows of each class",) if stratify else ()
            assert result.held_fixed == fixed
            assert result.settings["strategy"] == strategy
            assert result.settings["stratify"] == stratify
            assert (result.n_samples, result.unit, result.estimand) == (N, "row", "method")
            assert ("No standard error of the optimism" in said) == (strategy == "optimism")
    for strategy in ("oob", ".632", ".632+", "cv-bootstrap"):
        more = {"strategy": strategy, "n_seeds": 2, "scoring": "accuracy"}
        found, _ = heard(Remembers(), X, y, **more)
        said = " ".join(found.result_.notes)
        assert ("are optimistic" in said) == (strategy in (".632", ".632+"))
        assert "The seed component is 0" in said
        assert "seed component" not in " ".join(heard(Noted(), X, y, **more)[0].result_.notes)
    by_name = {}
    for interval in ("auto", "cv-bootstrap", "cv-bootstrap-conservative", "hull"):
        found, _ = heard(Labels(), X, y, interval=interval, n_train_resamples=50)
        by_name[interval] = found.result_
        assert found.result_._automatic == (interval == "auto")
        if interval != "auto":
            again = quiet(by_name["auto"].interval, interval)
            close([*found.confidence_interval_[:2]], [*again[:2]])
    narrow, wide = (by_name[name] for name in ("cv-bootstrap", "cv-bootstrap-conservative"))
    of_widths = np.ptp(narrow.confidence_interval[:2]) / np.ptp(wide.confidence_interval[:2])
    assert (narrow.standard_error < wide.standard_error) == (of_widths < 1)
    reasons = {
        "samples": "In every repeat of cross-validation a fit failed",
        "folds": "The score is undefined: fewer than two training samples",
    }
    for on, undefined in reasons.items():
        for strategy in ("cv-bootstrap", "oob"):
            if on == "folds" and strategy == "oob":
                continue
            found, _ = heard(Only(on), X, y, strategy=strategy)
            is_undefined = (on, strategy) != ("samples", "oob")
            assert (undefined in " ".join(found.result_.notes)) == is_undefined
            assert np.isnan(found.score_) == is_undefined
    _, alone = heard(Labels(), X, y, scoring="accuracy")
    _, both = heard(Labels(), X, y, scoring=["accuracy", "f1"])
    caution = "The smallest class has 12 rows"
    assert f"BootstrapScorer: {caution}" in alone
    assert f"accuracy, f1: {caution}" in both


def test_results_on_test_sets_say_which_set_they_are_of(rows):
    X, y = rows[0], TRUTH
    sets = {"many": X, "few": X[:24]}
    groups = {"many": np.arange(N), "few": np.arange(24) // 8}
    options = {"n_train_resamples": 4, "n_test_resamples": 9, "random_state": 0, "stratify": True}
    found = []
    for shift in (0, 100):
        scorer = skboot.BootstrapScorer(Labels(), scoring=["accuracy", "f1_macro"], **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scorer.fit(
                X, shift * (1 + y) + y, X_test=sets, groups_test=groups,
                y_test={name: shift * (1 + own) + own for name, own in
                        (("many", y), ("few", y[:24]))},
            )  # fmt: skip
        told = [str(one.message) for one in caught]
        of_few = [text for text in told if "3 groups" in text]
        assert of_few
        assert all("X_test['few']:" in text for text in of_few)
        assert not any("X_test['many']: " in text and "groups" in text for text in told)
        found.append(scorer)
    for name in sets:
        for metric in ("accuracy", "f1_macro"):
            one, other = (scorer.result_[name][metric] for scorer in found)
            close(other.estimate, one.estimate)
            close([*other.confidence_interval[:2]], [*one.confidence_interval[:2]])
            assert "the number of training rows of each class" in one.held_fixed
    with pytest.raises(ValueError, match="fewer than two training samples"):
        quiet(
            skboot.BootstrapScorer(Only("folds"), n_train_resamples=4, n_seeds=2, random_state=0)
            .fit, X, y, X_test=X, y_test=y,
        )  # fmt: skip


def test_shared_groups_are_told_and_new_classes_of_a_test_set_are_never_expected(rows):
    X, y = rows[0], TRUTH
    options = {"n_test_resamples": 5, "n_train_resamples": 4}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skboot.BootstrapScorer(Labels(), random_state=0, **options).fit(
            X, y, groups=np.arange(N) // 3, X_test=X[:9] + 50, y_test=y[:9],
            groups_test=np.arange(9) // 3 + 8,
        )  # fmt: skip
    assert "The test set shares 2 groups" in " ".join(str(one.message) for one in caught)
    y_test = np.r_[y[:20], np.full(10, 7)]
    scorer = skboot.BootstrapScorer(Shares(), scoring="neg_brier_score", random_state=0, **options)
    quiet(scorer.fit, X, y, X_test=X, y_test=y_test)
    columns = np.column_stack((Shares().fit(X, y).predict_proba(X), np.zeros(N)))
    truth = y_test[:, None] == [0, 1, 7]
    close(scorer.runs_["score"][0], -np.sum((truth - columns) ** 2, axis=1).mean())


class Shares(Labels):
    def predict_proba(self, X):
        share = 0.5 + 0.4 * np.cos(numbers(X))
        return np.column_stack((share, 1 - share))[:, : len(self.classes_)]


# ------------------------------------------------------------------ searches


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["share", "values"])
def test_the_error_of_a_search_is_that_of_the_losses_of_its_choices(kind, weighted):
    """A weight is as many copies of a row in its group."""
    rng, n, b = np.random.default_rng(1), 24, 99
    values = rng.random((3, n)) if kind == "values" else (rng.random((3, n)) < 0.7) * 1.0
    weight = rng.integers(1, 4, n) if weighted else np.ones(n, dtype=int)
    rows = np.repeat(np.arange(n), weight)
    options = {"n_resamples": b, "random_state": 0, "groups": np.arange(n)}
    drawn = [
        quiet(skboot.bootstrap_score, None, np.arange(n) == k, metric="mean", **options)
        for k in range(n)
    ]
    counts = np.round(np.array([one.bootstrap_distribution for one in drawn]).T * n).astype(int)
    metric, truth, answers = "mean", None, values
    bounds = (-np.inf, np.inf)
    if kind == "share":
        metric, truth = "accuracy", np.zeros(n, dtype=int)
        answers, bounds = 1 - values.astype(int), (-1, 0)
    more = {"sample_weight": weight} if weighted else {}
    found = quiet(
        skboot.search_score, truth, dict(zip("abc", answers, strict=True)), metric=metric,
        greater_is_better=True, **options, **more,
    )  # fmt: skip
    inside = (counts * weight) @ values.T / (counts @ weight)[:, None]
    chosen = np.argmax(inside, axis=1)
    means = values @ weight / weight.sum()
    error = quiet(
        prediction_error, -values[chosen][:, rows], counts[:, rows],
        resubstitution_losses=np.full(len(rows), -means.max()), groups=rows,
        no_information_rate=-means.min(), bounds=bounds,
    )  # fmt: skip
    close(found.estimate, -error.oob, 1e-7)
    close(found.standard_error, error.standard_error, 1e-6)
    low, high = quiet(error.interval, "adjusted", point="oob")
    close([*found.confidence_interval], [-high, -low], 1e-6)
    said = " ".join(found.notes)
    winner, counted = "abc"[means.argmax()], np.bincount(chosen, minlength=3)
    assert f"among 3 configurations: {winner}, with the uncorrected score {means.max():.4g}" in said
    assert f"chosen in {100 * counted[means.argmax()] / b:.0f}%" in said
    assert f"and {np.count_nonzero(counted)} configurations at least once" in said
