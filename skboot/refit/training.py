"""One run: a training sample, a seed, a fitted estimator, and its answers for the other rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_clusterer
from sklearn.exceptions import ConvergenceWarning

from .._sklearn_compat import n_rows_of
from . import inner_cv
from .lending import Lender, Loan, own_rows

Record = dict[str, Any]

_LARGEST_SEED = 2**31 - 1
# Behind the words of a run's seed: the stream of the order of its rows.
_ORDER = 1


@dataclass(frozen=True, eq=False)
class Run:
    """One training of the estimator.

    Attributes
    ----------
    number : int
        Position among all runs.
    counts : ndarray of shape (n_units,) or None
        How often each unit is in the bootstrap sample; None for a fold of cross-validation, and
        for all rows.
    test : ndarray of shape (n_test,) or None
        Rows of the fold that are left out; None for all rows.
    seed : ndarray of shape (4,)
        Words that seed every random state of the estimator.
    order : ndarray of shape (4,) or None
        Words that seed the order of the rows where they are shuffled, so that runs of one sample
        differ in nothing but the estimator's seed; None: ``seed`` does.
    """

    number: int
    counts: NDArray[Any] | None
    test: NDArray[np.intp] | None
    seed: NDArray[np.uint32]
    order: NDArray[np.uint32] | None = None


class HeldOut(NamedTuple):
    """Rows of a test set.

    Attributes
    ----------
    X : array-like of shape (n_test, n_features)
    y : ndarray of shape (n_test,)
    """

    X: Any
    y: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Job:
    """What all runs share; sent to each worker once per chunk of runs, to a cluster once.

    Attributes
    ----------
    estimator : estimator
        Never fitted itself.
    X : array-like of shape (n_samples, n_features)
        Rows of features.
    y : array-like of shape (n_samples, ...) or None
        Targets as the user gave them.
    params : dict
        Parameters of ``fit``; those with a value per row are sliced with the rows.
    unit : ndarray of shape (n_samples,) or None
        Unit of each row; None where rows are drawn.
    classes : ndarray of shape (n_classes,) or None
        Classes of all the data.
    channels : sequence of Channel
        What is kept of a run.
    pairwise : bool
        Whether X holds a value for each pair of rows.
    group_copies : bool
        Whether inner cross-validation keeps copies of a row together, and bootstrap samples the
        order of the data; else they are shuffled.
    predict_all : bool
        Whether bootstrap runs answer for all rows, not only for those left out.
    raise_errors : bool
        Whether an error of a run is raised instead of recorded.
    folder : str or None
        Where finished runs are kept.
    tests : sequence of HeldOut
        Test sets that runs answer for, instead of the rows left out.
    loan : Loan
        How what they share is given to the estimator, which may write into it.
    """

    estimator: Any
    X: Any
    y: Any
    params: Mapping[str, Any]
    unit: NDArray[np.intp] | None
    classes: NDArray[Any] | None
    channels: Sequence[Channel]
    pairwise: bool
    group_copies: bool
    predict_all: bool
    raise_errors: bool
    folder: str | None = None
    tests: Sequence[HeldOut] = ()
    loan: Loan = field(default_factory=Loan)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return int(n_rows_of(self.X))

    @cached_property
    def every_row(self) -> NDArray[np.intp]:
        """Numbers of all rows."""
        return np.arange(self.n_rows)

    @cached_property
    def recipe(self) -> Recipe:
        """What is to be set in each clone of the estimator, looked up once for all runs."""
        return Recipe.of(self.estimator)


class Channel(Protocol):
    """What is kept of a run for one metric or for several."""

    @property
    def key(self) -> str:
        """Under which its arrays are kept."""

    def keep(self, answers: Answers, scored: Scored) -> Mapping[str, Any]:
        """Arrays to keep, by name."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Which rows a run is judged on.

    Attributes
    ----------
    rows : ndarray of shape (n_scored,)
        The rows answered for, in rising order.
    outside : ndarray of shape (n_scored,)
        Which of them the run was not trained on.
    units : ndarray of shape (n_scored,) or None
        Unit of each; None where rows are drawn.
    train : ndarray of shape (n_train,) or None
        Training rows, copies included, where the run answers for them too.
    kind : {"full", "bootstrap", "fold", "test"}
        What the run was trained on; "test" where the rows are those of a test set.
    number : int
        Number of the run.
    """

    rows: NDArray[np.intp]
    outside: NDArray[np.bool_]
    units: NDArray[np.intp] | None
    train: NDArray[np.intp] | None
    kind: str
    number: int = 0


class Answers:
    """What a fitted estimator says of some rows; each method is called once, on rows untouched.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X, y : array-like of shape (n_scored, ...)
        Rows to answer for, and their targets.
    classes : ndarray of shape (n_classes,) or None
        Classes of all the data, which columns are aligned to.
    lender : Lender or Loan, optional
        Through which X and y are given away.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        classes: NDArray[Any] | None,
        lender: Lender | Loan | None = None,
    ) -> None:
        self.estimator, self.X, self.y, self._classes = estimator, X, y, classes
        self.lender = Loan() if lender is None else lender

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Labels or values, (n_scored,)."""
        found = np.asarray(self._ask("predict"))
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each class of all the data, (n_scored, n_classes); 0 for an absent one."""
        return self._aligned(np.asarray(self._ask("predict_proba")), 0.0)

    @cached_property
    def decisions(self) -> NDArray[np.float64]:
        """Decision values, (n_scored,) for two classes; an absent class is below all others."""
        found = np.asarray(self._ask("decision_function"), dtype=np.float64)
        if self._classes is None or self._own_classes is None:
            return found
        if len(self._own_classes) == len(self._classes):
            return found
        if found.ndim == 1 and len(self._own_classes) == 2:
            found = np.column_stack((-found, found))
        elif len(self._own_classes) == 1:
            found = np.zeros((len(found), 1))
        aligned = self._aligned(found, found.min(axis=1, keepdims=True) - 1)
        return aligned[:, 1] - aligned[:, 0] if aligned.shape[1] == 2 else aligned

    def scores(self, methods: Sequence[str], positive: int = 1) -> NDArray[Any]:
        """First available response: of two classes one column, else (n_scored, n_classes)."""
        name = self._method(methods)
        if name == "predict":
            return self.predicted
        if name == "decision_function":
            return self.decisions if positive == 1 else -self.decisions
        found = self.probabilities
        return found[:, positive] if found.shape[1] == 2 else found

    def comparable(self, methods: Sequence[str], positive: int = 1) -> NDArray[Any] | None:
        """As `scores`, on a scale that models of other training rows share; None where none is.

        Decision values get the probabilities of the same rows, handed out in their own order: the
        ranks within these rows are kept. The clusters of different models have no common names.
        """
        name = self._method(methods)
        given = self.scores(methods, positive)
        if name != "decision_function":
            return None if is_clusterer(self.estimator) else given
        if not hasattr(self.estimator, "predict_proba"):
            return None
        found = self.probabilities
        found = found[:, positive] if found.shape[1] == 2 else found
        if found.shape != given.shape:
            return None
        if found.ndim == 1:
            return in_order_of(found, given)
        return np.column_stack([in_order_of(*pair) for pair in zip(found.T, given.T, strict=True)])

    def _method(self, methods: Sequence[str]) -> str:
        name = next((name for name in methods if hasattr(self.estimator, name)), None)
        if name is None:
            kind = type(self.estimator).__name__
            raise AttributeError(f"{kind} has none of the methods {', '.join(methods)}.")
        return name

    def _ask(self, method: str) -> Any:
        return self.lender.call(getattr(self.estimator, method), self.X)

    @cached_property
    def _own_classes(self) -> NDArray[Any] | None:
        return getattr(self.estimator, "classes_", None)

    def _aligned(self, found: NDArray[Any], absent: Any) -> NDArray[np.float64]:
        own = self._own_classes
        if self._classes is None or own is None or np.array_equal(own, self._classes):
            return found
        at = np.searchsorted(self._classes, own)
        if found.ndim != 2 or found.shape[1] != len(own):
            raise ValueError(
                f"A training sample lacks a class, and the answers of shape {found.shape} do not "
                "say which columns are left."
            )
        aligned = np.empty((len(found), len(self._classes)))
        aligned[:] = absent
        aligned[:, at] = found
        return aligned


def in_order_of(values: NDArray[Any], order: NDArray[Any]) -> NDArray[np.float64]:
    """Hand out `values`, (n,), so that they rise as `order` does; rows that tie share the mean."""
    levels, level = np.unique(order, return_inverse=True)
    sums = np.bincount(np.sort(level), weights=np.sort(values), minlength=len(levels))
    return (sums / np.bincount(level))[level]


# ------------------------------------------------------------------ a run


def record_of(job: Job, run: Run) -> Record:
    """Train and judge one run; an error is recorded unless it is to be raised."""
    record: Record = {"number": run.number, "error": None, "fit_time": np.nan, "n_convergence": 0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        def work(lender: Lender) -> Record:
            caught.clear()
            return _kept(job, run, record, lender)

        try:
            record.update(job.loan.attempt(work))
        except Exception as error:
            if job.raise_errors:
                raise
            # As text: an exception need not survive the way back from a worker.
            record["error"] = f"{type(error).__name__}: {error}"
    own = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    record["n_convergence"] = len(own)
    record["warnings"] = {(one.category, str(one.message)) for one in caught if one not in own}
    return record


def _kept(job: Job, run: Run, record: Record, lender: Lender) -> Record:
    train, rows, outside = _rows_of(job, run)
    estimator = _with_states(job.estimator, job.recipe, run.seed)
    if run.counts is not None and job.group_copies:
        inner_cv.group_copies(estimator, train, job.recipe.inner_cv)
    start = time.perf_counter()
    fit(estimator, job, None if run.counts is None and run.test is None else train, lender)
    record["fit_time"] = time.perf_counter() - start
    if job.tests:
        return kept_on_tests(job, estimator, train if run.counts is not None else None, lender)
    scored = Scored(
        rows,
        outside,
        None if job.unit is None else job.unit[rows],
        train if job.predict_all and run.counts is not None else None,
        "fold" if run.counts is None else "bootstrap",
        run.number,
    )
    answers = Answers(
        estimator,
        _test_rows(job, rows, train),
        None if job.y is None else own_rows(job.y, rows),
        job.classes,
        lender,
    )
    kept: Record = {}
    for channel in job.channels:
        kept.update(channel.keep(answers, scored))
    return kept


def kept_on_tests(
    job: Job, estimator: Any, train: NDArray[np.intp] | None, lender: Lender | Loan
) -> Record:
    """What is kept of a fitted estimator's answers for each test set, the set's number in front."""
    kept: Record = {}
    for k, (X, y) in enumerate(job.tests):
        every = np.arange(len(y))
        # A kernel has a column for each training row.
        own = X[:, train] if job.pairwise and train is not None else X
        answers = Answers(estimator, own, y, job.classes, lender)
        scored = Scored(every, np.ones(len(y), dtype=bool), None, None, "test")
        for channel in job.channels:
            found = channel.keep(answers, scored)
            kept.update({key_on_test(k, key): value for key, value in found.items()})
    return kept


def key_on_test(k: int, key: str) -> str:
    """Where a run's answers for the k-th test set are kept."""
    return f"test {k}: {key}"


class Recipe(NamedTuple):
    """Parameters of an estimator that are set in each of its clones.

    Attributes
    ----------
    states : tuple of str
        Random states.
    splitters : tuple of str
        Splitters that hold random states.
    inner_cv : list of (str, bool)
        As of `inner_cv.wrapped`.
    """

    states: tuple[str, ...]
    splitters: tuple[str, ...]
    inner_cv: list[tuple[str, bool]]

    @classmethod
    def of(cls, estimator: Any) -> Recipe:
        """Walk once over all parameters, nested ones included."""
        params = estimator.get_params(deep=True)
        rng = np.random.default_rng(0)
        return cls(
            tuple(k for k in sorted(params) if ("__" + k).endswith("__random_state")),
            tuple(k for k in sorted(params) if _is_random(params[k], rng)),
            inner_cv.wrapped(estimator, params),
        )


def prepared(estimator: Any, rng: np.random.Generator) -> Any:
    """Clone with every random state overwritten, those of inner splitters included."""
    return _with_states(estimator, Recipe.of(estimator), rng)


def _with_states(estimator: Any, recipe: Recipe, seed: Any) -> Any:
    estimator = clone(estimator)
    if not recipe.states and not recipe.splitters:
        return estimator
    rng = np.random.default_rng(seed)
    states: dict[str, Any] = {key: int(rng.integers(_LARGEST_SEED)) for key in recipe.states}
    params = estimator.get_params(deep=True) if recipe.splitters else {}
    for key in recipe.splitters:
        states[key] = deepcopy(params[key])
        _reseed(states[key], rng)
    if type(estimator).set_params is BaseEstimator.set_params and not _nested(states):
        # As it does, without asking for all parameters first.
        for key, value in states.items():
            setattr(estimator, key, value)
        return estimator
    return estimator.set_params(**states)


def _nested(states: Mapping[str, Any]) -> bool:
    return any("__" in key for key in states)


def _is_random(value: Any, rng: np.random.Generator) -> bool:
    """Whether a parameter is a splitter that holds a random state."""
    if isinstance(value, str) or not hasattr(value, "split") or hasattr(value, "get_params"):
        return False
    return _reseed(deepcopy(value), rng)


def _reseed(splitter: Any, rng: np.random.Generator) -> bool:
    """Overwrite the random states of a splitter and of one inside it; whether there was one."""
    found = False
    owners: tuple[Any, Any] = (splitter, getattr(splitter, "cvargs", None))
    for owner in owners:
        # An unshuffled splitter of folds refuses a random state, and needs none.
        if isinstance(owner, dict):
            if "random_state" in owner:
                owner["random_state"], found = int(rng.integers(_LARGEST_SEED)), True
        elif hasattr(owner, "random_state") and getattr(owner, "shuffle", True):
            owner.random_state, found = int(rng.integers(_LARGEST_SEED)), True
    inner = getattr(splitter, "cv", None)
    return (_reseed(inner, rng) if hasattr(inner, "split") else False) or found


def fit(estimator: Any, job: Job, train: NDArray[np.intp] | None, lender: Lender) -> Any:
    """Fit on some rows, copies included; None: on all of them, as lent."""
    shared = dict(job.params)
    if train is None:
        data = (job.X,) if job.y is None else (job.X, job.y)
        return lender.call(estimator.fit, *data, **shared)
    X = own_rows(job.X, train) if not job.pairwise else job.X[np.ix_(train, train)]
    data = (X,) if job.y is None else (X, own_rows(job.y, train))
    by_row = {
        name: own_rows(shared.pop(name), train)
        for name, value in job.params.items()
        if has_rows(value, job.n_rows)
    }
    return lender.call(partial(estimator.fit, *data, **by_row), **shared)


def has_rows(value: Any, n_rows: int) -> bool:
    """Whether a parameter of fit has one value per row."""
    if isinstance(value, list | tuple):
        return len(value) == n_rows
    return hasattr(value, "shape") and np.ndim(value) > 0 and n_rows_of(value) == n_rows


def _rows_of(job: Job, run: Run) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Training rows, rows to answer for, and which of these are left out of training."""
    every = job.every_row
    if run.counts is None and run.test is None:
        return every, every, np.zeros(job.n_rows, dtype=bool)
    if run.counts is None:
        assert run.test is not None
        inside = np.ones(job.n_rows, dtype=bool)
        inside[run.test] = False
        return np.flatnonzero(inside), run.test, np.ones(len(run.test), dtype=bool)
    counts = run.counts if job.unit is None else run.counts[job.unit]
    # In the order of the data, as in folds and in the run on all rows.
    train, outside = every.repeat(counts), counts == 0
    if not job.group_copies:
        # As a splitter of samples gives them. Side by side, copies would stay in one fold of an
        # unshuffled search, and hide the leak that was asked for.
        words = [*run.seed, _ORDER] if run.order is None else run.order
        train = np.random.default_rng(words).permutation(train)
    if job.predict_all:
        return train, every, outside
    rows = np.flatnonzero(outside)
    return train, rows, np.ones(len(rows), dtype=bool)


def _test_rows(job: Job, rows: NDArray[np.intp], train: NDArray[np.intp]) -> Any:
    if job.pairwise:
        return job.X[np.ix_(rows, train)]
    return job.X if len(rows) == job.n_rows else own_rows(job.X, rows)
