"""Trainings of an estimator: each takes rows, clones, seeds, fits, answers and keeps.

`record_of` is one training from its rows to its record, `run_all` are all of them, in one process
or several, and from where a fit that was stopped had come to. What an estimator is beside its
``fit`` stands before it: its inner cross-validation (`UniqueRowsSplit`), its random states
(`Recipe`), its answers (`Answers`), and the callbacks that hear of it (`Tasks`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit, check_cv

from .._base.checks import missing_rows
from .._base.errors import counted, fail, refuse
from .._base.sklearn_compat import n_rows_of, take
from .._base.values import arrays_of, remove_abandoned, replace_link, write_atomically
from .._base.work import progress, results_in_chunks
from ..resampling.design import ROWS, DesignWords
from .lending import Lender, Loan, copy_of_rows

_T = TypeVar("_T")

# ------------------------------------------------------------------ callbacks
# Trainings as tasks of a scorer (scikit-learn 1.9 or newer). `sklearn.callback` is experimental,
# and so is this. Contexts travel with a job to workers, and are made for each training there.


@dataclass(frozen=True, eq=False)
class Tasks:
    """The trainings of a fit, as tasks below that of the fit.

    Attributes
    ----------
    owner : estimator
        Whose fit it is.
    context : CallbackContext
        Of the task that trainings are parts of.
    contexts : dict
        Those of trainings by number: one that is done again with copies is the same task.
    """

    owner: Any
    context: Any
    contexts: dict[int | str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, owner: Any, n_tasks: int, X: Any, y: Any) -> Tasks:
        """Begin the task of a fit.

        Parameters
        ----------
        owner : estimator
            Has the methods of `sklearn.callback.CallbackSupportMixin`.
        n_tasks : int
            Trainings on all rows, and one for all those on samples.
        X, y : array-like
        """
        context = owner._init_callback_context(max_subtasks=n_tasks)
        return cls(owner, context.call_on_fit_task_begin(estimator=owner, X=X, y=y))

    def of_samples(self, n_runs: int) -> Tasks:
        """Begin the task of all trainings on samples and folds."""
        context = self.context.subcontext("fits-on-samples", None, n_runs, False)
        return replace(self, context=context.call_on_fit_task_begin(estimator=self.owner))

    def end(self, **fit_data: Any) -> None:
        """End the task."""
        self.context.call_on_fit_task_end(estimator=self.owner, **fit_data)

    def run(
        self,
        work: Callable[[], _T],
        estimator: Any,
        number: int | str,
        fit_data: Mapping[str, Any],
    ) -> _T:
        """Train an estimator as a task of its own, which ends however the training does.

        Parameters
        ----------
        work : callable
            Fits the estimator.
        estimator : estimator
        number : int or str
            Of the run; of one on all rows a name.
        fit_data : mapping
            X, y and metadata, as callbacks are told of them.
        """
        if number not in self.contexts:
            task_id = None if self.context.sequential_subtasks else number
            name = "fit-on-all-rows" if task_id is None else "fit-on-sample"
            self.contexts[number] = self.context.subcontext(name, task_id)
        context = self.contexts[number]
        try:
            with context.propagate_callback_context(estimator):
                context.call_on_fit_task_begin(estimator=self.owner, **fit_data)
                return work()
        finally:
            context.call_on_fit_task_end(estimator=self.owner, **fit_data)


# ------------------------------------------------------------------ inner cross-validation
# A bootstrap sample holds rows several times. A search inside it that splits these rows at random
# has copies of one row on both sides of its folds, and prefers what remembers rows. Here the inner
# splitter sees every row once, and the copies follow.
#
# `group_copies` changes an estimator before it is fitted; `left_as_they_are` names the parameters
# that cannot be changed this way.


# Estimators for which cv=None is not five folds, but none at all (chains) or a closed form of
# leaving one row out (ridge).
_NONE_IS_NO_FOLDS = {"ClassifierChain", "RegressorChain"}
_NONE_IS_CLOSED_FORM = {"RidgeCV", "RidgeClassifierCV"}
_OWN_FOLDS = {"TargetEncoder"}
# Rows above which scikit-learn's gradient boosting stops early by early_stopping="auto".
_LARGE_FOR_EARLY_STOPPING = 10_000


class UniqueRowsSplit:
    """Split the distinct rows by another splitter; copies go where their row goes.

    Parameters
    ----------
    cv : int, None or splitter
        What splits the distinct rows.
    ids : ndarray of shape (n_train,)
        Equal for copies of one row.
    classifier : bool
        Whether an int or None makes stratified folds of class labels.
    """

    def __init__(self, cv: Any, ids: NDArray[np.intp], classifier: bool) -> None:
        self.cv, self.classifier = cv, classifier
        _, self._first, self._copy_of = np.unique(ids, return_index=True, return_inverse=True)
        # Successive halving asks whether the splits are the same at every call.
        self.random_state = getattr(cv, "random_state", 0) if getattr(cv, "shuffle", True) else 0

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield training and test rows, copies included."""
        if n_rows_of(X) != len(self._copy_of):
            # An earlier step has left out or made rows, so that copies cannot be recognised.
            yield from check_cv(self.cv, y, classifier=self.classifier).split(X, y, groups)
            return
        distinct = (
            np.empty((len(self._first), 0)),
            *(self._distinct(values) for values in (y, groups)),
        )
        splitter = check_cv(self.cv, distinct[1], classifier=self.classifier)
        for train, test in splitter.split(*distinct):
            yield self._with_copies(train), self._with_copies(test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits of the other splitter."""
        y, groups = self._distinct(y), self._distinct(groups)
        return int(check_cv(self.cv, y, classifier=self.classifier).get_n_splits(X, y, groups))

    def get_metadata_routing(self) -> Any:
        """Ask for what the other splitter asks for."""
        return check_cv(self.cv).get_metadata_routing()

    def _distinct(self, values: Any) -> Any:
        has_copies = values is not None and n_rows_of(values) == len(self._copy_of)
        return take(values, self._first) if has_copies else values

    def _with_copies(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        chosen = np.zeros(len(self._first), dtype=bool)
        chosen[rows] = True
        return np.flatnonzero(chosen[self._copy_of])


def group_copies(estimator: Any, ids: NDArray[np.intp], keys: Mapping[str, bool]) -> None:
    """Make inner cross-validation of an estimator keep rows of equal id together, in place.

    `keys` are those of the `Recipe` of this estimator, or of the one that it is a clone of.
    """
    params = estimator.get_params(deep=True)
    for key, classifier in keys.items():
        estimator.set_params(**{key: UniqueRowsSplit(params[key], ids, classifier)})


def left_as_they_are(estimator: Any, n_rows: int) -> list[str]:
    """Parameters of inner cross-validation and early stopping that copies leak through."""
    params = estimator.get_params(deep=True)
    outermost = {key for key, _ in _owners_of_cv(estimator, params)}
    names = []
    for key in sorted(params):
        name, value = key.rpartition("__")[2], params[key]
        is_switch = name in ("early_stopping", "n_iter_no_change") and value is not None
        if name != "cv" and not is_switch:
            continue
        owner = _owner(estimator, params, key)
        if name == "cv":
            leaks = _cross_validates(owner, value) and (
                key not in outermost or not _can_be_wrapped(owner, value)
            )
            short = value is None or isinstance(value, str | Integral)
        elif name == "early_stopping":
            leaks = value is True or (value == "auto" and n_rows > _LARGE_FOR_EARLY_STOPPING)
            short = True
        else:
            # It switches early stopping on in estimators without early_stopping=.
            leaks, short = not hasattr(owner, "early_stopping"), True
        if leaks:
            names.append(f"{key}={value!r}" if short else key)
    return names


def _owners_of_cv(estimator: Any, params: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return each ``cv`` parameter that is not below another one, and the estimator it is of."""
    owners = []
    for key in sorted(params):
        prefix, _, name = key.rpartition("__")
        if name != "cv":
            continue
        # The ``cv`` parameters of all estimators around this one.
        parts = prefix.split("__") if prefix else []
        around = ["__".join([*parts[:depth], "cv"]) for depth in range(len(parts))]
        if not any(
            _cross_validates(_owner(estimator, params, above), params[above])
            for above in around
            if above in params
        ):
            owners.append((key, _owner(estimator, params, key)))
    return owners


def _owner(estimator: Any, params: Mapping[str, Any], key: str) -> Any:
    prefix = key.rpartition("__")[0]
    return params[prefix] if prefix else estimator


def _cross_validates(owner: Any, cv: Any) -> bool:
    return not (cv is None and type(owner).__name__ in _NONE_IS_NO_FOLDS)


def _can_be_wrapped(owner: Any, cv: Any) -> bool:
    name = type(owner).__name__
    if name in _OWN_FOLDS or not _cross_validates(owner, cv):
        return False
    if cv is None:
        return name not in _NONE_IS_CLOSED_FORM
    if isinstance(cv, PredefinedSplit | UniqueRowsSplit):
        return False
    return hasattr(cv, "split") or (isinstance(cv, Integral) and not isinstance(cv, bool))


# ------------------------------------------------------------------ a training


Record = dict[str, Any]

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
    seed : ndarray of shape (4,) or None
        Words that seed every random state of the estimator; None where nothing is seeded.
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
    seed: NDArray[np.uint32] | None
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


class AnswersKeeper(Protocol):
    """A metric of runs as a training knows it; see `skboot.refit.run_metrics`."""

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Return the arrays to keep of a run, by name; a run fails by what it raises."""


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
    metrics : sequence of AnswersKeeper
        What runs are for; of metrics that need the same arrays of a run, one.
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
    words : DesignWords
        Of what is drawn: of rows, or of groups by their name.
    """

    estimator: Any
    X: Any
    y: Any
    params: Mapping[str, Any]
    unit: NDArray[np.intp] | None
    classes: NDArray[Any] | None
    metrics: Sequence[AnswersKeeper]
    pairwise: bool
    group_copies: bool
    predict_all: bool
    raise_errors: bool
    folder: str | None = None
    tests: Sequence[HeldOut] = ()
    loan: Loan = field(default_factory=Loan)
    tasks: Tasks | None = None
    words: DesignWords = ROWS

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
class ScoredRows:
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
        """Answers that a metric of this kind of response takes; see `Statistic`.

        Probabilities of all classes, or the first available response: of two classes one column,
        else (n_scored, n_classes).
        """
        if kind == "probabilities":
            return self.probabilities
        name = self._method(methods)
        if name == "predict":
            return self.predicted
        if np.ndim(self.y) == 2 and np.shape(self.y)[1] > 1:
            return self._output_scores(name)
        if name == "decision_function":
            return self.decisions if positive == 1 else -self.decisions
        return self._one_column_of_two(positive)

    def comparable(self, methods: Sequence[str], positive: int = 1) -> NDArray[Any] | None:
        """The first response, on a scale that models of other rows share; None where there is none.

        Decision values get the probabilities of the same rows, handed out in their own order: the
        ranks within these rows are kept. The clusters of different models have no common names.
        """
        name = self._method(methods)
        scores = self.response("scores", methods, positive)
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

    def _output_scores(self, method: str) -> NDArray[np.float64]:
        """Return a score for each of several labels: of a list, the column of the positive class.

        As the scorers of scikit-learn take it; a label that no training row has gets 0.
        """
        answers = self._ask(method)
        if not isinstance(answers, list | tuple):
            return np.asarray(answers, dtype=np.float64)
        columns = [np.asarray(columns_of_output, dtype=np.float64) for columns_of_output in answers]
        if method == "decision_function":
            return np.column_stack(columns)
        positive = np.column_stack([columns_of_output[:, -1] for columns_of_output in columns])
        classes_seen: Any = self._classes_seen
        if isinstance(classes_seen, list | tuple):
            positive[:, [np.array_equal(classes, [0]) for classes in classes_seen]] = 0.0
        return positive

    def _method(self, methods: Sequence[str]) -> str:
        name = next((name for name in methods if hasattr(self.estimator, name)), None)
        if name is None:
            kind = type(self.estimator).__name__
            advice = "Use a metric of labels, such as 'accuracy', or an estimator that has it"
            if is_regressor(self.estimator):
                advice = "Use a metric of values, such as 'r2', or a classifier"
            elif "predict_proba" in methods:
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
        answer: Any = getattr(self.estimator, method, None)
        if answer is None:
            self._method([method])  # says which metrics do without it
        answers = self.lender.call(answer, self.X)
        # Classifiers of several outputs return the probabilities of each in a list.
        of_outputs = method != "predict" and np.ndim(self.y) == 2 and np.shape(self.y)[1] > 1
        in_parts = of_outputs and isinstance(answers, list | tuple)
        name, n_rows = f"{type(self.estimator).__name__}.{method}", n_rows_of(self.X)
        for part in answers if in_parts else [answers]:
            n_answers = n_rows_of(part) if np.ndim(part) or sparse.issparse(part) else 1
            if n_answers != n_rows:
                raise refuse(
                    f"{name} returns {counted(n_answers, 'answer')} for {counted(n_rows, 'row')}. "
                    "It must return one for each row of X."
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
        classes_seen = self._classes_seen
        if (
            self.classes is None
            or classes_seen is None
            or np.array_equal(classes_seen, self.classes)
        ):
            return columns
        at = np.searchsorted(self.classes, classes_seen)
        if columns.ndim != 2 or columns.shape[1] != len(classes_seen):
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


def train_and_answer(job: Job, run: Run, record: Record, lender: Lender) -> Record:
    """Train on one sample, and return the arrays to keep of the answers for the other rows.

    The time of the fit and its warnings are put into ``record``, also where the run fails.
    """
    if run.counts is not None:
        train, outside = rows_of_sample(run, job.every_row, job.unit, job.group_copies)
        rows = job.every_row if job.predict_all else np.flatnonzero(outside)
        outside = outside[rows]
    elif run.test is not None:
        rows, train_rows = run.test, np.ones(job.n_rows, dtype=bool)
        train_rows[rows] = False
        train, outside = np.flatnonzero(train_rows), np.ones(len(rows), dtype=bool)
    else:
        train = rows = job.every_row
        outside = np.zeros(job.n_rows, dtype=bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = with_states(job.estimator, job.recipe, run.seed, keep=run.keeps_states)
            if run.counts is not None and job.group_copies and job.recipe.inner_cv:
                group_copies(estimator, train, job.recipe.inner_cv)
            start = time.perf_counter()
            is_full = run.counts is None and run.test is None
            fit(estimator, job, None if is_full else train, lender, run.number)
            record["fit_time"] = time.perf_counter() - start
            lender.be_strict()
            if job.tests:
                return kept_on_tests(
                    job, estimator, train if run.counts is not None else None, lender
                )
            X = job.X
            if job.pairwise or len(rows) < job.n_rows:
                X = copy_of_rows(job.X, rows, train if job.pairwise else None)
            y = None if job.y is None else copy_of_rows(job.y, rows)
            answers = Answers(estimator, X, y, job.classes, lender)
            scored = ScoredRows(
                rows,
                outside,
                None if job.unit is None else job.unit[rows],
                train if job.predict_all and run.counts is not None else None,
                "fold" if run.counts is None else "bootstrap",
                run.number,
            )
            arrays: Record = {}
            for metric in job.metrics:
                arrays.update(metric.keep(answers, scored))
            return arrays
        finally:
            warned = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
            record["n_convergence"] = len(caught) - len(warned)
            record["warnings"] = {(warning.category, str(warning.message)) for warning in warned}


def kept_on_tests(
    job: Job, estimator: Any, train: NDArray[np.intp] | None, lender: Lender | Loan
) -> Record:
    """Arrays to keep of an estimator's answers for each test set, under `key_on_test`."""
    record: Record = {}
    for k, (X, y) in enumerate(job.tests):
        prefix = key_on_test(k, "")
        # A kernel has a column for each training row.
        columns = X[:, train] if job.pairwise and train is not None else X
        answers = Answers(estimator, columns, y, job.classes, lender)
        scored = ScoredRows(np.arange(len(y)), np.ones(len(y), dtype=bool), None, None, "test")
        for metric in job.metrics:
            arrays = metric.keep(answers, scored)
            record.update({prefix + key: array for key, array in arrays.items()})
    return record


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
    inner_cv : dict of str to bool
        The parameters that `group_copies` replaces; whether a classifier owns each.
    sets_states : bool
        Whether the user set one of the random states.
    is_random : bool
        Whether the estimator has random states that can be set.
    """

    states: tuple[str, ...]
    splitters: tuple[str, ...]
    inner_cv: Mapping[str, bool]
    sets_states: bool
    is_random: bool

    @classmethod
    def of(cls, estimator: Any) -> Recipe:
        """Walk once over all parameters, nested ones included."""
        params = estimator.get_params(deep=True)
        states = tuple(k for k in sorted(params) if ("__" + k).endswith("__random_state"))
        rng, splitters = np.random.default_rng(0), []
        for key, value in sorted(params.items(), key=itemgetter(0)):
            splits = hasattr(value, "split") and not hasattr(value, "get_params")
            if splits and not isinstance(value, str) and _reseed(deepcopy(value), rng):
                splitters.append(key)
        return cls(
            states,
            tuple(splitters),
            {
                key: bool(is_classifier(owner))
                for key, owner in _owners_of_cv(estimator, params)
                if _can_be_wrapped(owner, params[key])
            },
            any(params[key] is not None for key in states),
            bool(states or splitters),
        )


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
    is_nested = any("__" in key for key in states)
    if type(estimator).set_params is BaseEstimator.set_params and not is_nested:
        # `BaseEstimator.set_params` does the same, but asks for all parameters first.
        for key, value in states.items():
            setattr(estimator, key, value)
        return estimator
    return estimator.set_params(**states)


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
    data_of_task = dict(zip(("X", "y"), data, strict=False))
    weights = {**shared, **by_row}.get("sample_weight")
    if weights is not None:
        data_of_task["metadata"] = {"sample_weight": weights}
    return job.tasks.run(work, estimator, number, data_of_task)


def has_rows(value: Any, n_rows: int) -> bool:
    """Return whether a parameter of fit has one value per row, as scikit-learn decides it.

    What it decides in `_check_method_params`, but for texts, dicts and arrays without dimensions,
    on which it then fails.
    """
    if isinstance(value, str | bytes | Mapping) or getattr(value, "shape", None) == ():
        return False
    sized = hasattr(value, "__getitem__") and (hasattr(value, "__len__") or hasattr(value, "shape"))
    return sized and n_rows_of(value) == n_rows


def rows_of_sample(
    run: Run, all_rows: NDArray[np.intp], unit: NDArray[np.intp] | None, group_copies: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the training rows of a bootstrap sample, and which of all rows it left out."""
    assert run.counts is not None
    counts = run.counts if unit is None else run.counts[unit]
    # Training rows are in the order of the data, as in folds and in the run on all rows.
    train, outside = all_rows.repeat(counts), counts == 0
    if run.rows is not None:
        train = run.rows
    elif not group_copies:
        # Rows are shuffled, as splitters give them. Copies side by side would stay in one fold of
        # an unshuffled search, and hide the leak that this option shows.
        assert run.seed is not None
        words = [*run.seed, _ORDER] if run.order is None else run.order
        train = np.random.default_rng(words).permutation(train)
    return train, outside


# ------------------------------------------------------------------ all trainings
# Each record depends on its run alone, so that the numbers are the same for any number of workers.
#
# Finished runs are kept in a folder, one file each. Files hold arrays and numbers only and are read
# without unpickling. Each names its fit and its run, and is read only if these are the right ones
# and every byte that counts is as it was written; else the run is done again.

# Far more columns than the answers of an estimator have beside one for each class and target.
_VALUES_PER_ROW = 64
# Bytes of a file beside its arrays: headers, and the numbers of a run.
_OVERHEAD = 1 << 20
_INTEGERS = ("number", "n_convergence")
# Key of the reason why a run could not be written; no file holds it.
UNKEPT = "unkept"


def run_all(
    job: Job,
    runs: Sequence[Run],
    *,
    n_jobs: int | None,
    verbose: int | None,
    seconds_per_run: float,
) -> list[Record]:
    """Records of all runs, in their order.

    Parameters
    ----------
    job : Job
        What they share.
    runs : sequence of Run
    n_jobs : int or None
        Workers, as joblib understands it.
    verbose : int or None
        Whether progress is reported; see `progress`.
    seconds_per_run : float
        Guess, from the run on all rows.

    Returns
    -------
    list of dict
    """
    records: dict[int, Record] = {}
    with progress(len(runs), "runs", verbose) as done:
        # A link in the place of the folder is replaced before the first run is kept.
        if job.folder is not None and not Path(job.folder).is_symlink():
            for name in ("run-*", "probe.*"):
                remove_abandoned(job.folder, f".{name}")
            records = finished_runs(job.folder, [run.number for run in runs], _most_bytes(job))
            done(len(records), resumed=True)
        pending = [run for run in runs if run.number not in records]
        if job.folder is not None and pending:
            # A folder that keeps no run is refused before any is done.
            try:
                replace_link(job.folder)
                Path(job.folder).mkdir(parents=True, exist_ok=True)
                probe, text = Path(job.folder) / "probe", b"runs of a fit are kept here"
                write_atomically(probe, lambda file: file.write(text), follow=False)
                probe.unlink(missing_ok=True)  # another fit into it may have been quicker
            except OSError as error:
                place, reason = str(Path(job.folder).parent), error.strerror or error
                advice = "Give another folder, or leave memory= out: the runs are then not kept."
                must = "be a folder that can be written"
                raise fail("memory", must, f"{place!r}: {reason}", advice) from error
        try:
            for chunk in results_in_chunks(
                record_of, job, pending, n_jobs=n_jobs, seconds_each=seconds_per_run
            ):
                records.update((record["number"], record) for record in chunk)
                done(len(chunk))
        except (KeyboardInterrupt, BrokenProcessPool) as stopped:
            stopped.add_note(_note_on_stop(job, runs))
            raise
    return [records[run.number] for run in runs]


def record_of(job: Job, run: Run) -> Record:
    """Return and write the record of one run; an error is recorded unless it is to be raised."""
    record: Record = {"number": run.number, "failure": None, "fit_time": np.nan}
    try:
        record.update(job.loan.attempt(partial(train_and_answer, job, run, record)))
    except Exception as error:
        if job.raise_errors:
            raise
        # As text: an exception need not survive the way back from a worker.
        record["failure"] = f"{type(error).__name__}: {error}"
        return record
    if job.folder is not None:
        try:
            write_run(job.folder, record)
        except OSError as error:
            # The disk may have become full in a fit of days, whose numbers need no file.
            record[UNKEPT] = error.strerror or str(error)
    return record


def write_run(folder: str, record: Record) -> None:
    """Write the record of a run that succeeded."""
    path = _path(folder, record["number"])
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {key: np.asarray(v) for key, v in record.items() if key not in ("failure", "warnings")}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("With memory=, labels must be strings or numbers, not Python objects.")
    contents: dict[str, Any] = {f"a{k}": array for k, array in enumerate(arrays.values())}
    contents |= {"names": np.array(list(arrays)), "run": np.array(_identity(path))}
    write_atomically(path, lambda file: np.savez(file, **contents), follow=False)


def finished_runs(
    folder: str, numbers: Sequence[int], n_bytes: float = np.inf
) -> dict[int, Record]:
    """Records of the runs that have a file, by number.

    Parameters
    ----------
    folder : str
    numbers : sequence of int
        Of the runs.
    n_bytes : float
        What the arrays of a run can hold at most; a file that claims more is not unpacked.
    """
    records: dict[int, Record] = {}
    for number in numbers:
        path = _path(folder, number)
        # A link is no file of a fit: the run is done again, and its file takes its place.
        if not path.is_file() or path.is_symlink():
            continue
        try:
            arrays = arrays_of(path, min(n_bytes + _OVERHEAD, path.stat().st_size))
            if arrays.pop("run").item() != _identity(path):
                # Of another run or fit.
                continue
            names = arrays.pop("names").tolist()
            record: Record = {name: arrays[f"a{k}"] for k, name in enumerate(names)}
        except Exception:
            # A damaged file can make its readers raise anything: the run is done again.
            continue
        for name, value in record.items():
            if value.ndim == 0:
                record[name] = int(value) if name in _INTEGERS else float(value)
        records[number] = {**record, "failure": None, "warnings": set()}
    return records


def _most_bytes(job: Job) -> int:
    """Return more than the arrays of a run can hold: a few values per row, class and metric."""
    n_rows = job.n_rows + sum(len(test.y) for test in job.tests)
    n_values = _VALUES_PER_ROW + (0 if job.classes is None else len(job.classes))
    n_values += int(np.prod(np.shape(job.y)[1:]))
    widest = 8 if job.classes is None else max(8, job.classes.dtype.itemsize)
    return 2 * n_rows * n_values * widest * len(job.metrics)


def _note_on_stop(job: Job, runs: Sequence[Run]) -> str:
    """Return how many runs of a stopped fit are kept, and how to go on from there."""
    if job.folder is None:
        return (
            "The runs that had finished are lost. With memory='a folder' and a random_state they "
            "would be kept, and the same call would resume from there."
        )
    folder = Path(job.folder)
    n_finished = sum(_path(folder, run.number).exists() for run in runs)
    return (
        f"{n_finished} of {len(runs)} runs are kept in the folder given as memory= "
        f"({str(folder.parent)!r}): the same call resumes from there."
    )


def _path(folder: str | Path, number: int) -> Path:
    return Path(folder) / f"run-{number:06d}.npz"


def _identity(path: Path) -> str:
    """Return which run of which fit a file is of, by its place."""
    return f"{path.parent.name}/{path.stem}"
