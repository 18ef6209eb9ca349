"""What a fit asks for: the parameters of `BootstrapScorer`, and the rows, checked before any work.

`BootstrapScorer.fit` and `skboot.compare_methods` both make a `FitCall` and a `FitData`, which
`skboot.scorer.fit.run_all_trainings` trusts.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from .._base import checks as check
from .._base.copies import Columns, Distinct, can_be_read
from .._base.errors import Note, only_advises
from .._base.hints import OF_MODELS, OF_PREDICTIONS
from .._base.sklearn_compat import (
    MultimetricScorer,
    n_rows_of,
    routing_enabled,
    scorer_parts,
    with_exact_integers,
    with_rows,
)
from .._base.versions import versions_used
from .._base.work import check_fits, is_cross_validated
from ..inference.intervals import FOR_ONE_SCORE, interval_named
from ..inference.runs import ESTIMANDS, check_method
from ..method_error.cv_bootstrap import CV_INTERVALS
from ..method_error.prediction_error import METHOD_INTERVALS, STRATEGIES
from ..metrics.costs import SAME_KIND
from ..metrics.lookup import check_response
from ..metrics.statistic import MetricError, NotANumber
from ..refit import training
from ..refit.estimates import MethodError, method_error
from ..refit.identity import Key, UnknownIdentity
from ..refit.lending import Lender, Loan
from ..refit.run_metrics import ErrorFunction, RunMetric, RunRecords, Target
from ..refit.samples import (
    MOST_FOLDS,
    PERMUTATIONS,
    DrawnSamples,
    TrainingSamples,
    draw_training_samples,
    full_run_seed,
    stream,
)
from ..refit.scoring import (
    Entry,
    Needed,
    named_scorers,
    needed_of,
    refused_weights,
    run_metrics_of,
    weights_of_rows,
)
from ..refit.training import (
    Answers,
    HeldOut,
    Job,
    Record,
    Run,
    Scored,
    Tasks,
    kept_on_tests,
    key_on_test,
)
from ..study.measured import Scoring, measured_by
from ..study.row_order import warn_of_orders
from ..study.rows import Rows

# The test sets of a fit: one or several by name, checked before any training.


@dataclass(frozen=True, eq=False)
class HeldOutSets:
    """The test sets of a call.

    Attributes
    ----------
    names : list
        As the user named them; a single None for a test set that is not in a dict.
    rows : list of HeldOut
    groups : list of ndarray or None
        Group of each test row.
    weights : list of ndarray or None
        Weight of each test row.
    """

    names: list[Any]
    rows: list[HeldOut]
    groups: list[Any]
    weights: list[Any]

    @property
    def are_weighted(self) -> bool:
        """Whether the rows of a test set have weights."""
        return any(own is not None for own in self.weights)


def held_out_sets(
    X_test: Any, y_test: Any, groups_test: Any, sample_weight_test: Any
) -> HeldOutSets:
    """Check the test sets, one or a dict of them."""
    if X_test is None or y_test is None:
        missing = "X_test" if X_test is None else "y_test"
        raise check.fail(missing, "be given with the rest of the test set", "None")
    if not isinstance(X_test, dict):
        rows = _rows("", X_test, y_test)
        weights = weights_of_rows("sample_weight_test", sample_weight_test, len(rows.y))
        return HeldOutSets([None], [rows], [_groups("", groups_test, rows)], [weights])
    names = list(X_test)
    if not names:
        raise check.fail("X_test", "hold at least one test set", "{}")
    columns = {
        "y_test": y_test,
        "groups_test": groups_test,
        "sample_weight_test": sample_weight_test,
    }
    for name, own in columns.items():
        if own is None:
            continue
        if not isinstance(own, Mapping) or set(own) != set(names):
            given = f"{list(own)}" if isinstance(own, Mapping) else type(own).__name__
            raise check.fail(name, f"be a dict with the keys of X_test, {names}", given)
    groups = dict.fromkeys(names) if groups_test is None else groups_test
    by_set = dict.fromkeys(names) if sample_weight_test is None else sample_weight_test
    rows_of = {name: _rows(f"[{name!r}]", X_test[name], y_test[name]) for name in names}
    return HeldOutSets(
        names,
        list(rows_of.values()),
        [_groups(f"[{name!r}]", groups[name], rows) for name, rows in rows_of.items()],
        [
            weights_of_rows(f"sample_weight_test[{name!r}]", by_set[name], len(rows.y))
            for name, rows in rows_of.items()
        ],
    )


def _rows(of: str, X: Any, y: Any) -> HeldOut:
    check.check_readable(f"X_test{of}", X)
    X = with_rows(X)
    truth = check.check_rows(f"y_test{of}", y)
    check.check_size(f"y_test{of}", truth)
    try:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        must = "be an array-like, a row for each sample"
        raise check.fail(f"X_test{of}", must, type(X).__name__) from None
    if n_rows != len(truth):
        must = f"have as many rows as X_test{of}, {n_rows}"
        raise check.fail(f"y_test{of}", must, f"{len(truth)}")
    if n_rows < 2:
        advice = "One row does not show how much test rows vary."
        raise check.fail(f"X_test{of}", "hold at least two rows", "one row", advice)
    return HeldOut(X, truth)


def _groups(of: str, groups: Any, rows: HeldOut) -> Any:
    if groups is None:
        return None
    name = f"groups_test{of}"
    labels = check.check_rows(name, groups)
    if len(labels) != len(rows.y):
        must = f"have as many rows as y_test{of}, {len(rows.y)}"
        raise check.fail(name, must, f"{len(labels)}")
    with check.arguments_named({"groups": name}):
        if labels.ndim == 2:
            check.check_pairs(labels, False)
        else:
            check.check_groups(labels)
    return labels


@only_advises()
def shared_groups(groups: Any, tests: HeldOutSets) -> list[str]:
    """Return a sentence for each test set that shares groups with the training set."""
    if groups is None:
        return []
    known = set(check.check_column("groups", groups).tolist())
    told = []
    for name, own in zip(tests.names, tests.groups, strict=True):
        shared = set() if own is None else known & set(np.asarray(own).ravel().tolist())
        if shared:
            which = "The test set" if name is None else f"The test set {name!r}"
            told.append(
                f"{which} shares {len(shared)} groups with the training set: the score is that "
                "on known groups, not on new ones."
            )
    return told


def name_in(argument: str, name: Any) -> str:
    """Name the part of an argument that belongs to a test set."""
    return argument if name is None else f"{argument}[{name!r}]"


def check_axes(X: Any, tests: HeldOutSets) -> None:
    """Refuse rows of a test set that have another number of axes than those to train on."""
    given = getattr(X, "ndim", None)
    for name, rows in zip(tests.names, tests.rows, strict=True):
        own = getattr(rows.X, "ndim", given)
        if given is not None and own != given:
            must = f"have {given} axes, as X has"
            raise check.fail(name_in("X_test", name), must, f"{own}")


def check_columns(y: NDArray[Any] | None, tests: HeldOutSets) -> None:
    """Refuse a test set whose targets have other columns than those of the training set."""
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if y is not None and rows.y.shape[1:] != y.shape[1:]:
            must = f"have the columns of y, of shape {y.shape}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, f"shape {rows.y.shape}")


def with_classes_of(classes: NDArray[Any], tests: HeldOutSets) -> NDArray[Any]:
    """Classes of the training set and of all test sets."""
    known = _kind_of(classes)
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if (kind := _kind_of(rows.y)) != known:
            must = f"hold labels of the kind that y holds, {known}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, kind, SAME_KIND)
    return np.unique(np.concatenate([classes, *(rows.y for rows in tests.rows)]))


def _kind_of(labels: NDArray[Any]) -> str:
    """Return what labels are, in a word."""
    kinds = {"M": "dates", "m": "durations"} | dict.fromkeys("biuf", "numbers")
    return kinds.get(labels.dtype.kind, "text")


# Share of rows below which copies move no score: iris holds one row twice.
_SMALLEST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class FitCall:
    """Checked parameters of a fit, which `BootstrapScorer` describes; without the estimator.

    Attributes
    ----------
    raise_errors : bool
        Whether ``error_score`` is "raise".
    failed_score : float
        The ``error_score`` that a failed run counts with; NaN: it is left out.
    scores_training : bool
        Whether runs are scored on their training rows, too.
    seed : numpy.random.SeedSequence
        Made of ``random_state``.
    train_samples : ndarray of shape (n_train_resamples, n_units) or None
        How often each row or group is in samples that are not drawn; see `with_own_samples`.
    train_rows : list of ndarray or None
        Training rows of these samples, where the user gave them.
    """

    scoring: Any
    strategy: str
    n_train_resamples: int
    n_cv_repeats: int
    n_seeds: int
    n_test_resamples: int
    estimand: str
    interval: str
    confidence_level: float
    stratify: bool
    inner_cv: str
    raise_errors: bool
    n_jobs: int | None
    seed: np.random.SeedSequence
    memory: Any
    verbose: int | None
    train_samples: Any = None
    train_rows: list[NDArray[np.intp]] | None = None
    failed_score: float = np.nan
    scores_training: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any], *, has_test: bool, one: bool = False) -> FitCall:
        """Check the parameters of `BootstrapScorer`, for a fit with or without a test set.

        ``one``: whether one method is fitted, which may be without training samples, and whose
        failed runs may count.
        """
        model_alone = one and bool(parameters["refit"])
        given = {own.name: parameters[own.name] for own in fields(cls) if own.name in parameters}
        given["interval"] = interval_named(given["interval"])
        random_state, error_score = parameters["random_state"], parameters["error_score"]
        check.check_choice("strategy", given["strategy"], STRATEGIES)
        check.check_choice("inner_cv", given["inner_cv"], ("grouped", "as-is"))
        level = check.check_confidence_level(given["confidence_level"])
        stratify = check.check_flag("stratify", given["stratify"])
        n_jobs, verbose = check.check_workers(given["n_jobs"], given["verbose"])
        check.check_folder(given["memory"])
        if has_test:
            names = ("estimand", "interval", "n_train_resamples", "n_seeds", "n_test_resamples")
            _check_with_test(*(given[name] for name in names))
        else:
            _check_without_test(given, model_alone)
        raise_errors = isinstance(error_score, str) and error_score == "raise"
        is_number = isinstance(error_score, Real) and not isinstance(error_score, bool)
        if not (raise_errors or is_number) or (is_number and np.isinf(float(error_score))):
            raise check.fail("error_score", "be a number or 'raise'", repr(error_score))
        if is_number and not np.isnan(float(error_score)) and (has_test or not one):
            must = "be np.nan or 'raise' with a test set, and where methods are compared"
            advice = "A run that failed has no answers to resample."
            raise check.fail("error_score", must, repr(error_score), advice)
        if given["memory"] is not None and random_state is None:
            advice = "Set random_state=0, so that a later fit can find the runs of this one."
            raise check.fail("memory", "be None without a random_state", "a folder", advice)
        counts = ["n_train_resamples", "n_seeds", "n_test_resamples"]
        checked = {
            # Integers of numpy overflow where they are multiplied.
            **{name: int(given[name]) for name in counts + ["n_cv_repeats"] * (not has_test)},
            "confidence_level": level,
            "stratify": stratify,
            "n_jobs": n_jobs,
            "verbose": verbose,
            "raise_errors": raise_errors,
            "failed_score": float(error_score) if is_number else np.nan,
            "seed": check.check_seed(random_state),
        }
        return cls(**given | checked)


def _check_without_test(given: Mapping[str, Any], model_alone: bool) -> None:
    """Check the parameters that mean something else on a test set."""
    interval, strategy, estimand = (given[name] for name in ("interval", "strategy", "estimand"))
    check.check_choice("interval", interval, ("auto", *METHOD_INTERVALS))
    advice = "Use 0 to have the model alone, without a result." if model_alone else ""
    n_samples = check.check_count("n_train_resamples", given["n_train_resamples"], 0, advice)
    if n_samples == 1 or (n_samples == 0 and not model_alone):
        check.check_count("n_train_resamples", n_samples, 2, advice)
    check.check_count("n_cv_repeats", given["n_cv_repeats"], 1)
    check.check_count("n_seeds", given["n_seeds"], 1)
    check.check_count("n_test_resamples", given["n_test_resamples"], 2)
    if not check.is_among(estimand, ["method"]):
        advice = (
            "Give X_test for 'system', 'pooled' and 'next_run'; without one only 'method' is known."
        )
        if check.is_among(estimand, ["pooled"]):
            advice = (
                "Give X_test for 'pooled', or interval='percentile' for the percentiles of "
                "out-of-bag scores of single runs."
            )
        raise check.fail("estimand", "be 'method'", repr(estimand), advice)
    if interval in CV_INTERVALS and strategy != "cv-bootstrap":
        must = f"not be {interval!r} with strategy={strategy!r}"
        advice = "Use 'adjusted' or 'hull'."
        raise check.fail("interval", must, repr(interval), advice)


def _check_with_test(
    estimand: str, interval: str, n_train_resamples: int, n_seeds: int, n_test_resamples: int
) -> None:
    """Refuse an estimand or interval that so many runs cannot give."""
    check.check_choice("estimand", estimand, ESTIMANDS)
    known = ["auto", "components", *FOR_ONE_SCORE]
    check.check_choice("interval", interval, known)
    check.check_count("n_train_resamples", n_train_resamples, 0)
    check.check_count("n_seeds", n_seeds, 1)
    check.check_count("n_test_resamples", n_test_resamples, 2)
    if n_train_resamples == 1:
        advice = "Use 0 for a claim conditional on the training set, or at least ten."
        raise check.fail("n_train_resamples", "be 0 or at least 2", "1", advice)
    if estimand == "system":
        if interval == "components":
            must = "be one of bootstrap_score's for the estimand 'system'"
            raise check.fail("interval", must, "'components'")
        return
    if n_train_resamples == 0 and n_seeds == 1:
        raise check.fail(
            "estimand",
            "be 'system' with n_train_resamples=0 and n_seeds=1",
            repr(estimand),
            "One run does not show how runs vary: use estimand='system' for this trained model, or "
            "more seeds or training samples.",
        )
    # The pooled recipe goes by the name of its interval.
    if not (estimand == "method" and interval == "percentile"):
        check_method(estimand, interval)
    if interval == "t" and n_seeds == 1:
        must = "not be 't' with n_seeds=1"
        raise check.fail("interval", must, "'t'", "It is over the seeds: give several.")


# ------------------------------------------------------------------ rows


@dataclass(frozen=True, eq=False)
class FitData:
    """Checked rows to train on, and the test sets.

    Attributes
    ----------
    X, y : array-like of n_samples rows
        What scikit-learn can index.
    unit : ndarray of shape (n_samples,) or None
        Number of the group of each row.
    groups : array-like of shape (n_samples,) or None
        Groups as the user names them.
    tests : HeldOutSets or None
    """

    X: Any
    y: Any
    unit: NDArray[np.intp] | None
    groups: Any
    tests: HeldOutSets | None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        groups: Any,
        X_test: Any = None,
        y_test: Any = None,
        groups_test: Any = None,
        sample_weight_test: Any = None,
    ) -> FitData:
        """Check the arguments of a fit."""
        tests = None
        of_tests = (X_test, y_test, groups_test, sample_weight_test)
        if any(part is not None for part in of_tests):
            tests = held_out_sets(*of_tests)
        check_rows_of_fit(X, y, groups)
        X, y, groups = indexable(X, y, groups)
        if tests is not None:
            check_axes(X, tests)
        unit = None if groups is None else _checked_groups(groups)
        return cls(X, with_exact_integers(y), unit, groups, tests)


def warn_of_order_of_fit(X: Any, y: Any, groups: Any, **tests: Any) -> None:
    """Warn of rows whose index labels stand in another order than those of X."""
    given = [tests]
    X_test = tests.get("X_test")
    if isinstance(X_test, Mapping):
        of_each = {name: own for name, own in tests.items() if own is not None}
        given = [{f"{k}[{key!r}]": own[key] for k, own in of_each.items()} for key in X_test]
    warn_of_orders({"X": X, "y": y, "groups": groups}, *given)


def check_estimator(name: str, value: Any) -> None:
    """Refuse what cannot be trained."""
    if isinstance(value, type):
        advice = f"Make one: {value.__name__}()."
        raise check.fail(name, "be an estimator", f"the class {value.__name__}", advice)
    if not hasattr(value, "fit"):
        must, got = "be an estimator, with a fit method", f"a {type(value).__name__}"
        advice = OF_MODELS if isinstance(value, Mapping) else OF_PREDICTIONS
        raise check.fail(name, must, got, advice)


@only_advises()
def notes_on_copies(call: FitCall, data: FitData) -> list[Note]:
    """Return a caution where rows that are scored are copies of rows that are trained on.

    Without groups, copies among the rows are counted where these are resampled; those of rows of a
    test set always. Rows that no array holds, such as files that are read when they are asked for,
    are not looked at.
    """
    if not (can_be_read(data.X) and can_be_read(data.y)):
        return []
    n_rows = n_rows_of(data.X)
    if not n_rows:
        return []
    resampled = data.unit is None and (data.tests is None or call.n_train_resamples > 0)
    of_rows, of_tests = 0, []
    columns = Columns(data.X, data.y)
    distinct = Distinct(columns)
    if resampled and distinct.n_copies >= _SMALLEST_SHARE * n_rows:
        of_rows = distinct.n_copies
    tests = [] if data.tests is None else zip(data.tests.names, data.tests.rows, strict=True)
    for name, rows in tests:
        if can_be_read(rows.X) and (
            n_copies := distinct.n_copies_in(Columns(rows.X, rows.y, numbers=columns.numbers))
        ):
            of_tests.append(f"{n_copies} of {len(rows.y)} rows of {name_in('X_test', name)}")
    text = ""
    if of_rows:
        text = (
            f"{of_rows} of {n_rows} rows of X are copies of others (targets included), but "
            "count as rows of their own. Give "
            "groups=skboot.model_selection.copies_as_groups(X, y), or drop them. "
        )
    if of_tests:
        text += (
            f"{', '.join(of_tests)} are copies of rows of X (targets included), which were trained "
            "on: drop them from the test set."
        )
    return [Note("caution", text.rstrip())] if text else []


def with_own_samples(call: FitCall, data: FitData) -> FitCall:
    """Return the call with the training samples that the user gave, as counts of units."""
    given = call.train_samples
    if given is None:
        return call
    known = ("oob", ".632", ".632+")
    if data.tests is None and call.strategy not in known:
        must = f"be one of {list(known)} with train_samples"
        raise check.fail("strategy", must, repr(call.strategy), "They are out-of-bag estimates.")
    if call.stratify:
        raise check.fail("train_samples", "not be combined with stratify", "")
    # Text splits too, but not rows.
    is_splitter = hasattr(given, "split") and not isinstance(given, str | bytes)
    splits = given.split(data.X, data.y, data.groups) if is_splitter else given
    unit = np.arange(n_rows_of(data.X)) if data.unit is None else data.unit
    rows, counts = [], []
    for k, split in enumerate(splits):
        counts.append(_counts_of(k, split, unit))
        rows.append(np.asarray(split[0], dtype=np.intp))
    if len(rows) < 2:
        raise check.fail("train_samples", "hold at least 2 samples", str(len(rows)))
    return replace(
        call, train_samples=np.array(counts), n_train_resamples=len(rows), train_rows=rows
    )


def _counts_of(k: int, split: Any, unit: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how often each unit is in the training side of a split, with all others outside."""
    name, n_rows = f"train_samples[{k}]", len(unit)
    try:
        train, test = (np.asarray(side) for side in split)
    except (TypeError, ValueError):
        raise check.fail(
            name, "be two arrays of row indices, train and test", repr(split)
        ) from None
    for side in (train, test):
        if side.ndim != 1 or side.dtype.kind not in "iu":
            raise check.fail(name, "be integer row indices", f"{side.dtype} of {side.shape}")
        if len(side) and not 0 <= side.min() <= side.max() < n_rows:
            got = f"values from {side.min()} to {side.max()}"
            raise check.fail(name, f"be row indices from 0 to {n_rows - 1}", got)
    of_rows = np.bincount(train, minlength=n_rows)
    if not np.array_equal(np.unique(test), np.flatnonzero(of_rows == 0)):
        advice = "Give train and np.setdiff1d(np.arange(n), train)."
        must = "test all rows that it does not train on, and no others"
        raise check.fail(name, must, f"{len(np.unique(test))} test rows", advice)
    first = np.unique(unit, return_index=True)[1]
    counts: NDArray[np.intp] = of_rows[first]
    if np.any(of_rows != counts[unit]):
        raise check.fail(name, "hold whole groups", "parts of some")
    if counts.sum() != len(first):
        what = "rows" if len(first) == n_rows else "groups"
        must = f"draw as many {what} as there are, {len(first)}"
        advice = "The weights and standard errors of out-of-bag estimates are for these."
        raise check.fail(name, must, str(counts.sum()), advice)
    return counts


@only_advises()
def notes_on_folds(call: FitCall, has_test: bool) -> list[Note]:
    """Return advice where training samples are drawn within a fold of another's cross-validation.

    It is seen where scikit-learn fits the folds itself, in this process or in its workers.
    """
    if call.n_train_resamples == 0 or not is_cross_validated():
        return []
    n_folds = 0
    if not has_test and call.strategy == "cv-bootstrap":
        n_folds = MOST_FOLDS * call.n_cv_repeats
    n_fits = call.n_seeds * (1 + call.n_train_resamples + n_folds)
    text = (
        f"up to {n_fits} trainings for one fold of a cross-validation, which needs one. Use "
        "n_train_resamples=0 there, or fit the BootstrapScorer by itself for its interval."
    )
    return [Note("slow", text)]


def check_rows_of_fit(X: Any, y: Any, groups: Any) -> None:
    """Refuse masked values, targets of mixed types, and columns of another length than X."""
    for name, values in (("X", X), ("y", y), ("groups", groups)):
        check.check_readable(name, values)
        if values is not None and (np.isscalar(values) or getattr(values, "shape", None) == ()):
            raise check.fail(name, "have a row for each sample", "a single value")
        sized = all(hasattr(own, "shape") or hasattr(own, "__len__") for own in (X, values))
        if not sized:
            # An argument without a length is None, or the estimator may know how to read it.
            continue
        n_values = n_rows_of(values)
        if n_values != n_rows_of(X):
            must = f"have as many rows as X, {n_rows_of(X)}"
            advice = "Row order is what pairs them; an index is never used."
            raise check.fail(name, must, f"{n_values}", advice)
    if _may_hold_objects(y):
        labels = check.converted("y", y)
        if labels.dtype.kind == "O" and labels.ndim == 1:
            check.check_no_missing("y", labels)
            check.numbered_labels("y", labels)


def _may_hold_objects(y: Any) -> bool:
    """Whether the targets may be of mixed types, or missing without being NaN."""
    if isinstance(y, list | tuple):
        return True
    dtype = getattr(y, "dtype", None)
    # Types of other packages, such as polars, need not say what numpy will make of them.
    return dtype is not None and (not isinstance(dtype, np.dtype) or bool(dtype.kind == "O"))


def _checked_groups(groups: Any) -> NDArray[np.intp]:
    """Return the number of the group of each row of the training set."""
    return check.check_groups(check.check_column("groups", groups))


# What runs keep of their answers for test sets, so that metrics can be computed of them later.


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """What is kept of a run for all metrics that read the same answers.

    Attributes
    ----------
    key : str
    needed : Needed
        By the first of these metrics.
    metrics : dict of str to ErrorFunction
        All of them.
    """

    key: str
    needed: Needed
    metrics: dict[str, ErrorFunction]

    def keep(self, answers: Answers, scored: Scored) -> Mapping[str, Any]:
        """Answers by their key; a run fails by those that have no score."""
        kind = self.needed.statistic.response
        given = answers.response(kind, self.needed.methods, self.needed.positive)
        found = narrow(np.asarray(given))
        self.check_defined(answers.y, found)
        return {self.key: found}

    def check_defined(self, y: Any, found: NDArray[Any]) -> None:
        """Refuse answers that a metric has no value for."""
        for name, function in self.metrics.items():
            statistic = check_response(function.statistic, y, found)
            if statistic.of_row_values and statistic.response == "labels":
                # A mean over labels has a value whatever they are.
                continue
            if np.isnan(replace(function, statistic=statistic)(y, found)):
                raise ValueError(f"The metric {name!r} is undefined on the test set.")


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in bytes, where they fit: all runs are kept."""
    if labels.dtype.kind not in "iu" or labels.size == 0:
        return labels
    if labels.min() < -128 or labels.max() > 127:
        return labels
    return labels.astype(np.int8)


def responses_of(
    scorers: Mapping[str, Any], classes: Any, several_outputs: bool, model: Any
) -> dict[str, KeptAnswers]:
    """Return the answers that each metric reads; metrics that read the same share them."""
    found: dict[str, KeptAnswers] = {}
    by_key: dict[str, KeptAnswers] = {}
    for name, scorer in scorers.items():
        with check.arguments_named({"metric": "scoring"}):
            needed = needed_of(name, scorer, classes, several_outputs)
        if needed is None:
            raise check.fail(
                "scoring",
                "be metric-based with a test set",
                f"the callable {name!r} of estimator, X and y",
                "Its answers cannot be resampled: use a name, or make_scorer of a metric.",
            )
        method = next((own for own in needed.methods if hasattr(model, own)), "none")
        part = "all" if needed.statistic.response == "probabilities" else needed.positive
        key = method if method == "predict" else f"{method} {part}"
        found[name] = by_key.setdefault(key, KeptAnswers(key, needed, {}))
        found[name].metrics[name] = ErrorFunction(needed.statistic, 1.0, classes)
    return found


def first_record(
    job: Job,
    model: Any,
    fit_time: float,
    scorers: Mapping[str, Any],
    tests: HeldOutSets,
    answers_to_keep: Sequence[KeptAnswers],
) -> Record:
    """Return the record of the run on all rows; refuse metrics that cannot be had."""
    plain = replace(job, keep=[replace(answers, metrics={}).keep for answers in answers_to_keep])
    found = kept_on_tests(plain, model, None, job.loan)
    for k, rows in enumerate(tests.rows):
        with check.arguments_named({"y_true": name_in("y_test", tests.names[k])}):
            for response in answers_to_keep:
                answers = found[key_on_test(k, response.key)]
                labels = job.classes if answers.ndim == 2 else None
                named = {"": [("y_pred", Rows(rows.y, answers, None, labels))]}
                for name in response.metrics:
                    measured_by(Scoring({name: scorers[name]}, several=False), named)
                response.check_defined(rows.y, answers)
    return {"error": None, "fit_time": fit_time, "n_convergence": 0, **found}


# Where parameters of a fit go: to the estimator's ``fit``, and to scorers, as they request.
#
# With metadata routing on, as in `sklearn.model_selection.GridSearchCV`; off, all go to the fits.


Params = dict[str, Any]


class Routed(NamedTuple):
    """Parameters by where they go.

    Attributes
    ----------
    fit : dict
        To the estimator's ``fit``.
    scores : dict of dict
        To each scorer that gets some, by its name.
    """

    fit: Params
    scores: dict[str, Params]


def router_of(router: MetadataRouter, estimators: Mapping[str, Any], scoring: Any) -> Any:
    """Add estimators by name, and the scorer of each, to a router."""
    for name, estimator in estimators.items():
        suffix = f" of {name}" if name else ""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router.add(**{f"estimator{suffix}": estimator}, method_mapping=to_fit)
        scorer = _as_one(scoring, estimator)
        if scorer is not None:
            to_score = MethodMapping().add(caller="fit", callee="score")
            to_score = to_score.add(caller="score", callee="score")
            router.add(**{f"scorer{suffix}": scorer}, method_mapping=to_score)
    return router


def routed_to_fit(
    router: Any, estimator: Any, scoring: Any, params: Mapping[str, Any], name: str = ""
) -> Routed:
    """Return where the parameters of a fit go; refuse those that nothing has requested.

    Parameters
    ----------
    router : MetadataRouter, or object that has one
        From `router_of`.
    estimator : estimator
    scoring : str, callable, list, dict or None
    params : mapping
    name : str
        Of the estimator among several.
    """
    if not routing_enabled():
        return Routed(dict(params), {})
    if not params:
        return Routed({}, {})
    suffix = f" of {name}" if name else ""
    routed = process_routing(router, "fit", **params)
    scorer = f"scorer{suffix}"
    of_scorer = dict(routed[scorer].score) if scorer in routed else {}
    of_fit = dict(routed[f"estimator{suffix}"].fit)
    return Routed(of_fit, by_scorer(scoring, estimator, of_scorer) if of_scorer else {})


def by_scorer(scoring: Any, estimator: Any, params: Mapping[str, Any]) -> dict[str, Params]:
    """Return the parameters that each scorer requests of those that go to all."""
    scorers, single = named_scorers(scoring, estimator)
    if single or not params:
        return {name: dict(params) for name in scorers if params}
    routed = process_routing(MultimetricScorer(scorers=scorers), "score", **params)
    return {name: dict(routed[name].score) for name in scorers if routed[name].score}


def scorers_of_test_weights(scoring: Any, estimator: Any, *, given: bool) -> set[str]:
    """Return the names of the scorers that weigh test rows.

    Parameters
    ----------
    scoring : str, callable, list, dict or None
    estimator : estimator
    given : bool
        Whether there are weights of test rows. With routing off all scorers take them, with
        routing on those that request ``sample_weight``; these cannot do without.
    """
    scorers, single = named_scorers(scoring, estimator)
    if not routing_enabled():
        return set(scorers) if given else set()
    asked = {next(iter(scorers)): _as_one(scoring, estimator)} if single else scorers
    requests = {
        name: get_routing_for_object(scorer).score.requests.get("sample_weight", False)
        for name, scorer in asked.items()
    }
    unset = [name for name, request in requests.items() if request is None]
    if given and unset:
        text = (
            "[sample_weight] of test rows are passed but are not explicitly set as requested or "
            f"not requested for the scorers {unset}: use set_score_request(sample_weight=True)."
        )
        raise UnsetMetadataPassedError(
            message=text, unrequested_params={"sample_weight": None}, routed_params={}
        )
    weighing = {name for name, request in requests.items() if request}
    if given and not weighing:
        advice = "Use set_score_request(sample_weight=True)."
        must = "be None where no scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "weights", advice)
    if weighing and not given:
        must = "be given with X_test where a scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "None")
    return weighing


def _as_one(scoring: Any, estimator: Any) -> Any:
    """Return what a router knows as the scorer; None where there is none."""
    if scoring is None and hasattr(estimator, "score"):
        # As in a search, requests are those of the estimator's own method.
        return check_scoring(estimator)
    if scoring is None and not (is_classifier(estimator) or is_regressor(estimator)):
        return None
    scorers, single = named_scorers(scoring, estimator)
    return next(iter(scorers.values())) if single else MultimetricScorer(scorers=scorers)


# All trainings of a fit: the run on all rows, those on bootstrap samples and on folds.
#
# `run_all_trainings` reads a `FitCall` and sets nothing on a scorer, so that several methods can be
# trained on the same samples (`skboot.compare_methods`).


_Keyed = TypeVar("_Keyed", RunMetric, KeptAnswers)

# Parameters that a run on a training sample depends on: a change of another one needs no new run.
_OF_RUNS = (
    "inner_cv",
    "n_cv_repeats",
    "n_seeds",
    "n_train_resamples",
    "strategy",
    "stratify",
)

# Memory that a run takes beside its answers (bytes): the record and the seed.
_BYTES_PER_RUN = 1024


@dataclass(frozen=True, eq=False)
class Trained:
    """All runs of a method.

    Attributes
    ----------
    model : estimator
        The run on all rows.
    loan : Loan
        How data are lent to it.
    single : bool
        Whether one metric was asked for, not a list or dict.
    notes : list of Note
        Warnings of the trainings.
    estimator_warnings : list of (type, str)
        Category and text of the warnings that the estimator raised on samples and folds, each once.
        Those of the run on all rows were raised when it was fitted.
    train_samples : DrawnSamples or None
        Rows of the bootstrap samples, if there are some.
    """

    model: Any
    loan: Loan
    single: bool
    notes: list[Note]
    estimator_warnings: list[tuple[type[Warning], str]]
    train_samples: DrawnSamples | None

    @property
    def metric_names(self) -> Sequence[str]:
        """Names of the metrics that the runs were scored by."""
        return ()

    @property
    def weighted_metrics(self) -> Collection[str]:
        """Names of those that weigh rows."""
        return ()


@dataclass(frozen=True, eq=False)
class OutOfBagRuns(Trained):
    """All runs of a method, scored on the rows that each run left out.

    Attributes
    ----------
    kept : RunRecords
    metrics : list of RunMetric
    answers : Answers
        Of the model of all rows, for all rows.
    """

    kept: RunRecords
    metrics: list[RunMetric]
    answers: Answers

    @property
    def metric_names(self) -> Sequence[str]:
        return [metric.name for metric in self.metrics]

    @property
    def weighted_metrics(self) -> Collection[str]:
        return [metric.name for metric in self.metrics if metric.is_weighted]

    @cached_property
    def errors(self) -> list[MethodError]:
        """Error of the method by each metric."""
        rng = np.random.default_rng(stream(self.kept.samples.seed, PERMUTATIONS))
        return [
            method_error(metric, self.kept, metric.no_information(self.answers, rng))
            for metric in self.metrics
        ]


@dataclass(frozen=True, eq=False)
class TestSetRuns(Trained):
    """All runs of a method, with their answers for the rows of test sets.

    Attributes
    ----------
    tests : HeldOutSets
    samples : TrainingSamples
    classes : ndarray of shape (n_classes,) or None
    responses, scorers : dict by metric
    weighing : set of str
        Metrics that weigh test rows.
    records : list of dict
        Of the first run on all rows, then of those of `TrainingSamples.runs_for_tests`.
    """

    tests: HeldOutSets
    samples: TrainingSamples
    classes: Any
    responses: dict[str, KeptAnswers]
    scorers: dict[str, Any]
    weighing: set[str]
    records: list[Record]

    @property
    def metric_names(self) -> Sequence[str]:
        return list(self.scorers)

    @property
    def weighted_metrics(self) -> Collection[str]:
        return self.weighing


@dataclass(frozen=True, eq=False)
class ModelAlone(Trained):
    """The run on all rows, which nothing was scored on."""


def run_all_trainings(
    call: FitCall, estimator: Any, data: FitData, routed: Routed, owner: Any = None
) -> Trained:
    """Train an estimator on all training samples, and score its answers or keep them.

    Parameters
    ----------
    call : FitCall
    estimator : estimator
        Cloned for each run.
    data : FitData
    routed : Routed
        Parameters of the estimator's ``fit``, and of the scorers.
    owner : BootstrapScorer, optional
        Whose callbacks hear of the trainings.

    Returns
    -------
    OutOfBagRuns, TestSetRuns or ModelAlone
        The second where the data have a test set, the last without one and training samples.
    """
    tags = get_tags(estimator)
    if data.y is None and tags.target_tags.required:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    tasks = None
    if owner is not None:
        n_full = 1 if data.tests is not None else call.n_seeds if call.n_train_resamples else 1
        n_others = int(call.n_train_resamples > 0 or (data.tests is not None and call.n_seeds > 1))
        tasks = Tasks.of(owner, estimator, n_full + n_others, data.X, data.y)
        if tasks is not None and call.verbose is None:
            # A bar or a log that is set on the scorer reports in place of this package.
            call = replace(call, verbose=0)
    job = Job(
        tasks=tasks,
        estimator=estimator,
        X=data.X,
        y=data.y,
        params={name: with_rows(value) for name, value in routed.fit.items()},
        unit=data.unit,
        classes=None,
        keep=(),
        pairwise=bool(tags.input_tags.pairwise),
        group_copies=call.inner_cv == "grouped",
        predict_all=data.tests is None and (call.strategy == "optimism" or call.scores_training),
        raise_errors=call.raise_errors,
    )
    runs: Trained
    if data.tests is None and call.n_train_resamples == 0:
        runs = ModelAlone(_full_model(job, call.seed, 0)[0], job.loan, True, [], [], None)
    elif data.tests is None:
        runs = _on_rows_left_out(call, job, routed.scores)
    else:
        shared = shared_groups(data.groups, data.tests)
        runs = _on_tests(call, job, data.tests, [Note("caution", text) for text in shared])
    if tasks is not None:
        tasks.end(X=data.X, y=data.y)
    return runs


def _on_tests(call: FitCall, job: Job, tests: HeldOutSets, notes: list[Note]) -> TestSetRuns:
    """Return all runs with their answers for the test sets."""
    scorers, single = named_scorers(call.scoring, job.estimator)
    weighing = scorers_of_test_weights(call.scoring, job.estimator, given=tests.are_weighted)
    start = time.perf_counter()
    model, fit_time = _full_model(job, call.seed, 0)
    job, target = _with_target(job)
    check_columns(target.y, tests)
    if job.classes is not None:
        job = replace(job, classes=with_classes_of(job.classes, tests))
    several_outputs = target.y is not None and target.y.ndim == 2
    responses = responses_of(scorers, job.classes, several_outputs, model)
    for name in sorted(weighing):
        if not responses[name].metrics[name].statistic.takes_weights:
            raise refused_weights(name)
    answers = _one_of_each_key(responses.values())
    job = replace(job, keep=[one.keep for one in answers], tests=tuple(tests.rows))
    with _scoring_of_data():
        first = first_record(job, model, fit_time, scorers, tests, answers)
    seconds = time.perf_counter() - start
    samples, drawn = _samples(call, job, target, n_repeats=0)
    if call.n_train_resamples:
        notes += _copies(job)
    folder, unseen = _folder(call, job, scorers)
    others = _records(
        call,
        replace(job, folder=folder),
        samples.runs_for_tests(),
        seconds,
    )
    return TestSetRuns(
        model=model,
        loan=job.loan,
        single=single,
        notes=[*notes, *unseen, *_failures(others), *_unkept(others)],
        estimator_warnings=_warnings_of(others),
        train_samples=drawn,
        tests=tests,
        samples=samples,
        classes=job.classes,
        responses=responses,
        scorers=scorers,
        weighing=weighing,
        records=[first, *others],
    )


def _on_rows_left_out(
    call: FitCall, job: Job, params: Mapping[str, Mapping[str, Any]]
) -> OutOfBagRuns:
    """Return all runs with their errors on the rows left out."""
    scorers, single = named_scorers(call.scoring, job.estimator)
    # The estimator's own checks of the data come first: its messages are known to users.
    start = time.perf_counter()
    model, fit_time = _full_model(job, call.seed, 0)
    job, target = _with_target(job)
    answers = Answers(model, job.X, job.y, job.classes, job.loan)
    scorers, params, single = _with_entries(scorers, params, single, answers)
    metrics = run_metrics_of(scorers, target, answers, params)
    pooling = [metric.name for metric in metrics if metric.pools_runs]
    if pooling and np.isfinite(call.failed_score):
        must = f"be np.nan or 'raise' for {pooling}, which pool the rows of all runs"
        raise check.fail("error_score", must, f"{call.failed_score:g}")
    job = replace(job, keep=[metric.keep for metric in _one_of_each_key(metrics)])
    n_repeats = call.n_cv_repeats if call.strategy == "cv-bootstrap" else 0
    samples, drawn = _samples(call, job, target, n_repeats)
    with _scoring_of_data():
        full = [_full_record(job, answers, fit_time)]
    seconds = time.perf_counter() - start
    for s in range(1, call.n_seeds):
        other, fit_time = _full_model(job, call.seed, s)
        own = Answers(other, job.X, job.y, job.classes, job.loan)
        full.append(_full_record(job, own, fit_time))
    folder, unseen = _folder(call, job, (scorers, params) if params else scorers)
    records = _records(
        call,
        replace(job, folder=folder),
        samples.runs(),
        seconds,
    )
    failures = _failures(records, call.failed_score)
    notes = [*_copies(job), *unseen, *failures, *_unkept(records)]
    kept = RunRecords(target, samples, full, records, job.predict_all, call.failed_score)
    warned = _warnings_of(records)
    return OutOfBagRuns(model, job.loan, single, notes, warned, drawn, kept, metrics, answers)


def _with_entries(
    scorers: dict[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    single: bool,
    answers: Answers,
) -> tuple[dict[str, Any], Mapping[str, Mapping[str, Any]], bool]:
    """Return a scorer for each entry of the dict that a callable returns, and whether it is none.

    What the callable returns shows only when it is called, on the model of all rows.
    """
    name, scorer = next(iter(scorers.items()))
    if not single or scorer_parts(scorer) is not None:
        return scorers, params, single
    own = params.get(name, {})
    arguments = (answers.X,) if answers.y is None else (answers.X, answers.y)
    scores = answers.lender.call(partial(scorer, answers.estimator), *arguments, **own)
    if not isinstance(scores, Mapping):
        return scorers, params, single
    entries: dict[str, Any] = {str(key): Entry(scorer, key) for key in scores}
    if not entries:
        raise check.fail("scoring", "return at least one score", "an empty dict")
    return entries, dict.fromkeys(entries, own) if own else {}, False


# ------------------------------------------------------------------ steps of both


@contextmanager
def _scoring_of_data() -> Iterator[None]:
    """Name the argument where a metric has no value for the run on all rows."""
    try:
        yield
    except MetricError as failure:
        raise failure.on_data("scoring") from failure.error
    except NotANumber as error:
        must = "return one real number for the data"
        raise check.fail("scoring", must, error.returned) from error


def _full_model(job: Job, seed: np.random.SeedSequence, s: int) -> tuple[Any, float]:
    """Return the model of a run on all rows, and how long its fit took."""

    def work(lender: Lender) -> tuple[Any, float]:
        states = full_run_seed(seed, s)
        model = training.with_states(job.estimator, job.recipe, states, keep=s == 0)
        start = time.perf_counter()
        training.fit(model, job, None, lender, f"all rows, seed {s}")
        return model, time.perf_counter() - start

    return job.loan.attempt(work)


def _with_target(job: Job) -> tuple[Job, Target]:
    """Return the job with the classes of its targets, and the targets themselves."""
    if job.y is None:
        return job, Target(None, None, None, job.unit)
    y = np.asarray(job.y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    y = check.check_rows("y", y) if y.ndim == 1 else y
    check.check_size("y", y)
    if not is_classifier(job.estimator) or y.ndim != 1:
        return job, Target(y, None, None, job.unit)
    classes, codes = np.unique(y, return_inverse=True)
    return replace(job, classes=classes), Target(y, classes, codes, job.unit)


def _samples(
    call: FitCall, job: Job, target: Target, n_repeats: int
) -> tuple[TrainingSamples, DrawnSamples]:
    """Return the training samples and folds of all runs, and what draws the samples again."""
    n_rows = job.n_rows
    if n_rows < 2:
        advice = "One to train on and one to test on are the least."
        must = "have at least two rows"
        raise check.fail("X", must, f"n_samples = {n_rows}", advice)
    if call.stratify and (target.codes is None or job.unit is not None):
        got = "groups" if job.unit is not None else "no class labels"
        must = "be False unless y holds classes and rows are resampled"
        raise check.fail("stratify", must, got)
    bytes_each = call.n_seeds * (_BYTES_PER_RUN + n_rows) + 3 * n_rows
    check_fits("n_train_resamples", call.n_train_resamples, bytes_each)
    check_fits("n_cv_repeats", n_repeats, bytes_each)
    draw = partial(
        draw_training_samples,
        n_rows,
        unit=job.unit,
        codes=target.codes,
        stratify=call.stratify,
        n_resamples=call.n_train_resamples,
        n_repeats=n_repeats,
        n_seeds=call.n_seeds,
        seed=call.seed,
        given=call.train_samples,
        rows_given=call.train_rows,
    )
    seeded = job.recipe.is_random or not job.group_copies
    samples = replace(draw(), about_seeds=_about_seeds(call, job), seeded=seeded)
    return samples, DrawnSamples(draw, job.group_copies)


def _about_seeds(call: FitCall, job: Job) -> tuple[str, ...]:
    """Return whether seeds vary over the runs, for an estimator that has random states."""
    if not job.recipe.is_random or call.n_train_resamples + call.n_seeds == 1:
        return ()
    if call.train_rows is not None and call.n_seeds == 1:
        return ("Random states that you set are those of every run; others vary.",)
    kept = "; those that you set are those of the first run on all rows"
    return (f"Random states vary from run to run{kept if job.recipe.sets_states else ''}.",)


def _records(call: FitCall, job: Job, runs: Sequence[Run], seconds: float) -> list[Record]:
    """Return the records of all runs but the first, which took ``seconds``."""
    tasks = None if job.tasks is None or not runs else job.tasks.of_samples(len(runs))
    records = training.run_all(
        replace(job, tasks=tasks),
        runs,
        n_jobs=call.n_jobs,
        verbose=call.verbose,
        seconds_per_run=seconds,
    )
    if tasks is not None:
        tasks.end()
    return records


def _folder(call: FitCall, job: Job, scorers: Any) -> tuple[str | None, list[Note]]:
    """Return the folder of the runs of this very fit, None without ``memory``, and a caution."""
    if call.memory is None:
        return None, []
    # A clone has no attributes of an earlier fit, and clones are what is trained.
    settings = {"estimator": clone(job.estimator)}
    settings |= {name: getattr(call, name) for name in _OF_RUNS}
    if call.train_samples is not None:
        settings["train_samples"] = (call.train_samples, call.train_rows)
    if call.scores_training:
        settings["scores_training"] = True
    data = (job.X, job.y, job.unit, job.params, *job.tests)
    key = Key()
    try:
        key.add((settings, *data, scorers, call.seed.state, versions_used()))
        name = key.finished()
    except (UnknownIdentity, RecursionError) as error:
        must = "be None where a later call cannot tell whether code and data are the same"
        advice = "Define it as a Python function or class, or leave memory= out."
        raise check.fail("memory", must, str(error), advice) from error
    notes = []
    if key.unseen:
        text = (
            f"memory= does not notice changes of {', '.join(sorted(set(key.unseen)))}, "
            "which functions or classes refer to. Use another folder after such a change."
        )
        notes = [Note("caution", text)]
    return str(Path(call.memory) / name), notes


@only_advises()
def _copies(job: Job) -> list[Note]:
    """Return a caution where inner splits have copies of a row on both sides."""
    left = training.left_as_they_are(job.estimator, job.n_rows) if job.group_copies else []
    if not left:
        return []
    text = (
        f"inner splits by {', '.join(left)} have copies of a row on both sides, which is "
        "optimistic. Use an integer cv of the outermost search, or fixed iterations."
    )
    return [Note("caution", text)]


def _unkept(records: Sequence[Record]) -> list[Note]:
    """Return a caution where runs could not be written to the folder given as ``memory``."""
    reasons = [record[training.UNKEPT] for record in records if training.UNKEPT in record]
    if not reasons:
        return []
    text = (
        f"{len(reasons)} of {len(records)} runs could not be kept in the folder given as memory= "
        f"({reasons[0]}). This fit is complete without them; a later fit would repeat them."
    )
    return [Note("caution", text)]


def _failures(records: Sequence[Record], score: float = np.nan) -> list[Note]:
    """Return how many runs failed, and by which errors; raise if all failed."""
    errors = [record["error"] for record in records if record["error"] is not None]
    if not errors:
        return []
    if len(errors) == len(records):
        raise ValueError(f"All {len(records)} runs failed. First error: {errors[0]}")
    listed = "\n".join(f"  {errors.count(error)} x {error}" for error in dict.fromkeys(errors))
    become = f"count as {score:g}" if np.isfinite(score) else "are left out of every average"
    text = f"{len(errors)} of {len(records)} runs failed and {become}."
    return [Note("failed", f"{text}\n{listed}")]


def _warnings_of(records: Sequence[Record]) -> list[tuple[type[Warning], str]]:
    """Return category and text of the estimator's warnings in all runs, each once."""
    return sorted({warning for record in records for warning in record["warnings"]}, key=str)


def _one_of_each_key(each: Iterable[_Keyed]) -> list[_Keyed]:
    """Return what is kept of a run once where several metrics need the same."""
    return list({one.key: one for one in each}.values())


def _full_record(job: Job, answers: Answers, fit_time: float) -> Record:
    """Return what is kept of a run on all rows."""
    every = np.arange(job.n_rows)
    scored = Scored(every, np.ones(job.n_rows, dtype=bool), job.unit, None, "full")
    record: Record = {"error": None, "fit_time": fit_time, "n_convergence": 0, "warnings": set()}
    for keep in job.keep:
        record.update(keep(answers, scored))
    return record
