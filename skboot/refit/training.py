"""One run: a training sample, a seed, a fitted estimator, and its answers for the other rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_clusterer
from sklearn.exceptions import ConvergenceWarning

from .._base.checks import missing_rows
from .._base.messages import refuse
from .._base.sklearn_compat import n_rows_of
from . import inner_cv
from .callbacks import Tasks
from .lending import Lender, Loan, copy_of_rows

Record = dict[str, Any]
Keep = Callable[["Answers", "Scored"], Mapping[str, Any]]

# Bound of the seeds of estimators: compiled ones read a signed integer of 32 bits.
_LARGEST_SEED = 2**31 - 1
# Word after those of a run's seed; together they seed the order of its rows.
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
    rows : ndarray of shape (n_train,) or None
        Training rows of ``counts`` in the user's order, who gave them; None: in that of the data.
    keeps_states : bool
        Whether random states that the user set are kept, and only those left at None are seeded.
    """

    number: int
    counts: NDArray[Any] | None
    test: NDArray[np.intp] | None
    seed: NDArray[np.uint32]
    order: NDArray[np.uint32] | None = None
    rows: NDArray[np.intp] | None = None
    keeps_states: bool = False


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
    keep : sequence of callable
        Each takes the answers and the rows scored, and returns arrays to keep of a run, by name.
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
    tasks : Tasks or None
        Where callbacks listen: the task that the trainings are parts of.
    """

    estimator: Any
    X: Any
    y: Any
    params: Mapping[str, Any]
    unit: NDArray[np.intp] | None
    classes: NDArray[Any] | None
    keep: Sequence[Keep]
    pairwise: bool
    group_copies: bool
    predict_all: bool
    raise_errors: bool
    folder: str | None = None
    tests: Sequence[HeldOut] = ()
    loan: Loan = field(default_factory=Loan)
    tasks: Tasks | None = None

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


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of a fitted estimator for some rows; each of its methods is called once.

    Attributes
    ----------
    estimator : estimator
        Fitted.
    X, y : array-like of shape (n_scored, ...)
        Rows to answer for, and their targets.
    classes : ndarray of shape (n_classes,) or None
        Classes of all the data, which columns are aligned to.
    lender : Lender or Loan
        Through which X and y are given away.
    """

    estimator: Any
    X: Any
    y: Any
    classes: NDArray[Any] | None
    lender: Lender | Loan = field(default_factory=Loan)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Labels or values, (n_scored,)."""
        predicted = np.asarray(self._ask("predict"))
        is_column = predicted.ndim == 2 and predicted.shape[1] == 1
        return predicted[:, 0] if is_column else predicted

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of each class of all the data, (n_scored, n_classes); 0 for an absent one."""
        return self._aligned(np.asarray(self._ask("predict_proba")), 0.0)

    @cached_property
    def decisions(self) -> NDArray[np.float64]:
        """Decision values, (n_scored,) for two classes; an absent class is below all others."""
        values = np.asarray(self._ask("decision_function"), dtype=np.float64)
        if self.classes is None or self._classes_seen is None:
            return values
        if len(self._classes_seen) == len(self.classes):
            return values
        if values.ndim == 1 and len(self._classes_seen) == 2:
            values = np.column_stack((-values, values))
        elif len(self._classes_seen) == 1:
            values = np.zeros((len(values), 1))
        aligned = self._aligned(values, values.min(axis=1, keepdims=True) - 1)
        return aligned[:, 1] - aligned[:, 0] if aligned.shape[1] == 2 else aligned

    def response(self, kind: str, methods: Sequence[str], positive: int = 1) -> NDArray[Any]:
        """Answers that a metric of this kind of response takes; see `Statistic`."""
        return self.probabilities if kind == "probabilities" else self.scores(methods, positive)

    def scores(self, methods: Sequence[str], positive: int = 1) -> NDArray[Any]:
        """First available response: of two classes one column, else (n_scored, n_classes)."""
        name = self._method(methods)
        if name == "predict":
            return self.predicted
        if np.ndim(self.y) == 2 and np.shape(self.y)[1] > 1:
            return self._of_outputs(name)
        if name == "decision_function":
            return self.decisions if positive == 1 else -self.decisions
        return self._one_column_of_two(positive)

    def comparable(self, methods: Sequence[str], positive: int = 1) -> NDArray[Any] | None:
        """As `scores`, on a scale that models of other training rows share; None where none is.

        Decision values get the probabilities of the same rows, handed out in their own order: the
        ranks within these rows are kept. The clusters of different models have no common names.
        """
        name = self._method(methods)
        scores = self.scores(methods, positive)
        if name != "decision_function":
            return None if is_clusterer(self.estimator) else scores
        if not hasattr(self.estimator, "predict_proba"):
            return None
        columns = self._one_column_of_two(positive)
        if columns.shape != scores.shape:
            return None
        if columns.ndim == 1:
            return in_order_of(columns, scores)
        pairs = zip(columns.T, scores.T, strict=True)
        return np.column_stack([in_order_of(*pair) for pair in pairs])

    def _one_column_of_two(self, positive: int) -> NDArray[np.float64]:
        """Return the probabilities: of two classes those of the positive one."""
        columns = self.probabilities
        return columns[:, positive] if columns.shape[1] == 2 else columns

    def _of_outputs(self, method: str) -> NDArray[np.float64]:
        """Return a score for each of several labels: of a list, the column of the positive class.

        As the scorers of scikit-learn take it; a label that no training row has gets 0.
        """
        answers = self._ask(method)
        if not isinstance(answers, list | tuple):
            return np.asarray(answers, dtype=np.float64)
        columns = [np.asarray(own, dtype=np.float64) for own in answers]
        if method == "decision_function":
            return np.column_stack(columns)
        positive = np.column_stack([own[:, -1] for own in columns])
        seen: Any = self._classes_seen
        if isinstance(seen, list | tuple):
            positive[:, [np.array_equal(known, [0]) for known in seen]] = 0.0
        return positive

    def _method(self, methods: Sequence[str]) -> str:
        name = next((name for name in methods if hasattr(self.estimator, name)), None)
        if name is None:
            kind = type(self.estimator).__name__
            advice = "Use a metric of labels, such as 'accuracy', or an estimator that has it"
            if "predict_proba" in methods:
                advice += f", such as CalibratedClassifierCV({kind}(...))"
            raise AttributeError(
                f"{kind} has no {' and no '.join(methods)}, which the metric reads. {advice}."
            )
        return name

    def _ask(self, method: str) -> Any:
        """Return what a method answers: the one place where answers of estimators are taken.

        Answers that are not finite fail the run, as scikit-learn's metrics do; some metrics, such
        as those of ranks, would make a number of them.
        """
        answers = self.lender.call(getattr(self.estimator, self._method([method])), self.X)
        # Classifiers of several outputs return the probabilities of each in a list.
        of_outputs = method != "predict" and np.ndim(self.y) == 2 and np.shape(self.y)[1] > 1
        in_parts = of_outputs and isinstance(answers, list | tuple)
        name, n_rows = f"{type(self.estimator).__name__}.{method}", n_rows_of(self.X)
        for part in answers if in_parts else [answers]:
            n_answers = n_rows_of(part) if np.ndim(part) or sparse.issparse(part) else 1
            if n_answers != n_rows:
                raise refuse(
                    f"{name} returns {n_answers} answers for {n_rows} rows. It must return one for "
                    "each row of X."
                )
            values = np.asarray(part.data if sparse.issparse(part) else part)
            if missing_rows(values) is not None or np.ma.is_masked(part):
                raise refuse(
                    f"{name} returns NaN, infinity or None for some rows. Mend the estimator, or "
                    "the steps before it."
                )
        # Sparse labels of several outputs are left to scorers, which read them as they are.
        of_one = sparse.issparse(answers) and np.ndim(self.y) < 2
        return answers.toarray() if of_one else answers

    @cached_property
    def _classes_seen(self) -> NDArray[Any] | None:
        return getattr(self.estimator, "classes_", None)

    def _aligned(self, columns: NDArray[Any], absent: Any) -> NDArray[np.float64]:
        """Return a column for each class of all the data, `absent` for those not trained on."""
        seen = self._classes_seen
        if self.classes is None or seen is None or np.array_equal(seen, self.classes):
            return columns
        at = np.searchsorted(self.classes, seen)
        if columns.ndim != 2 or columns.shape[1] != len(seen):
            raise ValueError(
                f"A training sample lacks a class, and the answers of shape {columns.shape} do not "
                "say which columns are left."
            )
        aligned = np.empty((len(columns), len(self.classes)))
        aligned[:] = absent
        aligned[:, at] = columns
        return aligned


def in_order_of(values: NDArray[Any], order: NDArray[Any]) -> NDArray[np.float64]:
    """Hand out `values`, (n,), so that they rise as `order` does; rows that tie share the mean."""
    levels, level = np.unique(order, return_inverse=True)
    sums = np.bincount(np.sort(level), weights=np.sort(values), minlength=len(levels))
    return (sums / np.bincount(level))[level]


# ------------------------------------------------------------------ a run


def train_and_answer(job: Job, run: Run, record: Record, lender: Lender) -> Record:
    """Return the arrays to keep of a run.

    The time of its fit and its warnings are put into ``record``, also where the run fails.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return _trained_and_kept(job, run, record, lender)
        finally:
            others = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
            record["n_convergence"] = len(caught) - len(others)
            record["warnings"] = {(warning.category, str(warning.message)) for warning in others}


def _trained_and_kept(job: Job, run: Run, record: Record, lender: Lender) -> Record:
    train, rows, outside = _rows_of(job, run)
    estimator = with_states(job.estimator, job.recipe, run.seed, keep=run.keeps_states)
    if run.counts is not None and job.group_copies and job.recipe.inner_cv:
        inner_cv.group_copies(estimator, train, job.recipe.inner_cv)
    start = time.perf_counter()
    of_all = run.counts is None and run.test is None
    fit(estimator, job, None if of_all else train, lender, run.number)
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
    X = job.X
    if job.pairwise or len(rows) < job.n_rows:
        X = copy_of_rows(job.X, rows, train if job.pairwise else None)
    y = None if job.y is None else copy_of_rows(job.y, rows)
    answers = Answers(estimator, X, y, job.classes, lender)
    return {key: array for keep in job.keep for key, array in keep(answers, scored).items()}


def kept_on_tests(
    job: Job, estimator: Any, train: NDArray[np.intp] | None, lender: Lender | Loan
) -> Record:
    """Arrays to keep of an estimator's answers for each test set, under `key_on_test`."""
    kept: Record = {}
    for k, (X, y) in enumerate(job.tests):
        prefix = key_on_test(k, "")
        # A kernel has a column for each training row.
        columns = X[:, train] if job.pairwise and train is not None else X
        answers = Answers(estimator, columns, y, job.classes, lender)
        scored = Scored(np.arange(len(y)), np.ones(len(y), dtype=bool), None, None, "test")
        for keep in job.keep:
            arrays = keep(answers, scored)
            kept.update({prefix + key: array for key, array in arrays.items()})
    return kept


def key_on_test(k: int, key: str) -> str:
    """Key of a run's answers for the k-th test set."""
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
    sets_states : bool
        Whether the user set one of the random states.
    """

    states: tuple[str, ...]
    splitters: tuple[str, ...]
    inner_cv: list[tuple[str, bool]]
    sets_states: bool

    @classmethod
    def of(cls, estimator: Any) -> Recipe:
        """Walk once over all parameters, nested ones included."""
        params = estimator.get_params(deep=True)
        rng = np.random.default_rng(0)
        states = tuple(k for k in sorted(params) if ("__" + k).endswith("__random_state"))
        return cls(
            states,
            tuple(k for k in sorted(params) if _is_random(params[k], rng)),
            inner_cv.wrapped(estimator, params),
            any(params[k] is not None for k in states),
        )

    @property
    def is_random(self) -> bool:
        """Whether the estimator has random states that can be set."""
        return bool(self.states or self.splitters)


def with_states(estimator: Any, recipe: Recipe, seed: Any, *, keep: bool) -> Any:
    """Clone with every random state overwritten, those of inner splitters included.

    With ``keep`` those that the user set stay, as `sklearn.base.clone` copies them. The others get
    the same integers either way.
    """
    estimator = clone(estimator)
    if not recipe.is_random:
        return estimator
    rng = np.random.default_rng(seed)
    params = estimator.get_params(deep=True) if recipe.splitters or keep else {}
    states: dict[str, Any] = {key: int(rng.integers(_LARGEST_SEED)) for key in recipe.states}
    if keep:
        states = {key: state for key, state in states.items() if params[key] is None}
    for key in recipe.splitters:
        states[key] = deepcopy(params[key])
        _reseed(states[key], rng, keep=keep)
    if type(estimator).set_params is BaseEstimator.set_params and not _nested(states):
        # `BaseEstimator.set_params` does the same, but asks for all parameters first.
        for key, value in states.items():
            setattr(estimator, key, value)
        return estimator
    return estimator.set_params(**states)


def _nested(states: Mapping[str, Any]) -> bool:
    return any("__" in key for key in states)


def _is_random(value: Any, rng: np.random.Generator) -> bool:
    """Return whether a parameter is a splitter that holds a random state."""
    if isinstance(value, str) or not hasattr(value, "split") or hasattr(value, "get_params"):
        return False
    return _reseed(deepcopy(value), rng)


def _reseed(splitter: Any, rng: np.random.Generator, *, keep: bool = False) -> bool:
    """Overwrite the random states of a splitter and of one inside it; return if there was one.

    With ``keep`` only those that are None.
    """
    is_random = False
    owners: tuple[Any, Any] = (splitter, getattr(splitter, "cvargs", None))
    for owner in owners:
        if isinstance(owner, dict):
            if "random_state" in owner:
                state, is_random = int(rng.integers(_LARGEST_SEED)), True
                if not keep or owner["random_state"] is None:
                    owner["random_state"] = state
        # An unshuffled splitter of folds refuses a random state, and needs none.
        elif hasattr(owner, "random_state") and getattr(owner, "shuffle", True):
            state, is_random = int(rng.integers(_LARGEST_SEED)), True
            if not keep or owner.random_state is None:
                owner.random_state = state
    inner = getattr(splitter, "cv", None)
    return (_reseed(inner, rng, keep=keep) if hasattr(inner, "split") else False) or is_random


def fit(
    estimator: Any,
    job: Job,
    train: NDArray[np.intp] | None,
    lender: Lender,
    number: int | str,
) -> Any:
    """Fit on some rows, copies included; None: on all of them, as lent. ``number`` is the run's."""
    shared = dict(job.params)
    by_row: dict[str, Any] = {}
    if train is None:
        data = (job.X,) if job.y is None else (job.X, job.y)
        work = partial(lender.call, estimator.fit, *data, **shared)
    else:
        X = copy_of_rows(job.X, train, train if job.pairwise else None)
        data = (X,) if job.y is None else (X, copy_of_rows(job.y, train))
        by_row = {
            name: copy_of_rows(shared.pop(name), train)
            for name, value in job.params.items()
            if has_rows(value, job.n_rows)
        }
        work = partial(lender.call, partial(estimator.fit, *data, **by_row), **shared)
    if job.tasks is None:
        return work()
    told = dict(zip(("X", "y"), data, strict=False))
    weights = {**shared, **by_row}.get("sample_weight")
    if weights is not None:
        told["metadata"] = {"sample_weight": weights}
    return job.tasks.run(work, estimator, number, told)


def has_rows(value: Any, n_rows: int) -> bool:
    """Return whether a parameter of fit has one value per row, as scikit-learn decides it.

    What it decides in `_check_method_params`, but for texts, dicts and arrays without dimensions,
    on which it then fails.
    """
    if isinstance(value, str | bytes | Mapping) or getattr(value, "shape", None) == ():
        return False
    sized = hasattr(value, "__getitem__") and (hasattr(value, "__len__") or hasattr(value, "shape"))
    return sized and n_rows_of(value) == n_rows


def _rows_of(job: Job, run: Run) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Return training rows, rows to answer for, and which of these are left out of training."""
    every = job.every_row
    if run.counts is None and run.test is None:
        return every, every, np.zeros(job.n_rows, dtype=bool)
    if run.counts is None:
        assert run.test is not None
        inside = np.ones(job.n_rows, dtype=bool)
        inside[run.test] = False
        return np.flatnonzero(inside), run.test, np.ones(len(run.test), dtype=bool)
    train, outside = rows_of_sample(run, every, job.unit, job.group_copies)
    if job.predict_all:
        return train, every, outside
    rows = np.flatnonzero(outside)
    return train, rows, np.ones(len(rows), dtype=bool)


def rows_of_sample(
    run: Run, every: NDArray[np.intp], unit: NDArray[np.intp] | None, group_copies: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the training rows of a bootstrap sample, and which of all rows it left out."""
    assert run.counts is not None
    counts = run.counts if unit is None else run.counts[unit]
    # Training rows are in the order of the data, as in folds and in the run on all rows.
    train, outside = every.repeat(counts), counts == 0
    if run.rows is not None:
        train = run.rows
    elif not group_copies:
        # Rows are shuffled, as splitters give them. Copies side by side would stay in one fold of
        # an unshuffled search, and hide the leak that this option shows.
        words = [*run.seed, _ORDER] if run.order is None else run.order
        train = np.random.default_rng(words).permutation(train)
    return train, outside
