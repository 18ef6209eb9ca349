"""What a fit asks for: the parameters of `BootstrapScorer`, the rows, and where parameters go.

`BootstrapScorer.fit`, `skboot.compare_methods` and `skboot.learning_curve` make a `FitCall` and a
`FitData`, checked before any work, which `skboot.scorer.fit.run_all_trainings` trusts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from .._base import checks as check
from .._base.arguments import TwoColumns
from .._base.copies import ComparedColumns, DistinctRows, can_be_read
from .._base.errors import Note, only_advises
from .._base.hints import OF_MODELS, OF_PREDICTIONS
from .._base.sklearn_compat import (
    MultimetricScorer,
    n_rows_of,
    routing_enabled,
    with_exact_integers,
    with_rows,
)
from ..inference.intervals import FOR_ONE_LOOK, canonical_interval, checked_interval
from ..inference.runs import ESTIMANDS, check_method
from ..method_error.cv_bootstrap import CV_INTERVALS
from ..method_error.prediction_error import METHOD_INTERVALS, STRATEGIES
from ..metrics.cells import SAME_KIND
from ..refit.samples import (
    MOST_FOLDS,
)
from ..refit.scoring import (
    named_scorers,
    weights_of_rows,
)
from ..refit.training import (
    HeldOut,
)
from ..resampling.design import ROWS, DesignWords, words_of_groups
from ..study.rows import name_all_missing, warn_of_orders

# Module of scikit-learn whose functions fit an estimator on each fold.
_FITS_FOLDS = "sklearn.model_selection._validation"
# Share of rows below which copies move no score: iris holds one row twice.
_SMALLEST_SHARE = 0.01

# ------------------------------------------------------------------ parameters

# Training samples by default: of all that is no "cv-bootstrap" interval, and of that, where more
# make the numbers steadier and neither narrower nor safer (records 0130 and 0131).
RESAMPLES = 200
CV_RESAMPLES = 80


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
    def of(
        cls, parameters: Mapping[str, Any], *, has_test: bool, one_method: bool = False
    ) -> FitCall:
        """Check the parameters of `BootstrapScorer`, for a fit with or without a test set.

        ``one_method``: whether one method is fitted, which may be without training samples, and
        whose failed runs may count.
        """
        model_alone = one_method and bool(parameters["refit"])
        arguments = {
            parameter.name: parameters[parameter.name]
            for parameter in fields(cls)
            if parameter.name in parameters
        }
        arguments["interval"] = canonical_interval(arguments["interval"])
        if check.is_among(arguments["n_train_resamples"], ["auto"]):
            is_cv_bootstrap = (
                not has_test
                and check.is_among(arguments["strategy"], ["cv-bootstrap"])
                and check.is_among(arguments["interval"], ["auto", "cv-bootstrap"])
            )
            arguments["n_train_resamples"] = CV_RESAMPLES if is_cv_bootstrap else RESAMPLES
        random_state, error_score = parameters["random_state"], parameters["error_score"]
        check.check_choice("strategy", arguments["strategy"], STRATEGIES)
        check.check_choice("inner_cv", arguments["inner_cv"], ("grouped", "as-is"))
        level = check.check_confidence_level(arguments["confidence_level"])
        stratify = check.check_flag("stratify", arguments["stratify"])
        n_jobs, verbose = check.check_workers(arguments["n_jobs"], arguments["verbose"])
        if arguments["memory"] is not None:
            check.check_folder(arguments["memory"])
        if has_test:
            names = ("estimand", "interval", "n_train_resamples", "n_seeds", "n_test_resamples")
            _check_with_test(*(arguments[name] for name in names))
        else:
            _check_without_test(arguments, model_alone)
        raise_errors = isinstance(error_score, str) and error_score == "raise"
        is_number = isinstance(error_score, Real) and not isinstance(error_score, bool)
        if not (raise_errors or is_number) or (is_number and np.isinf(float(error_score))):
            raise check.fail("error_score", "be a number or 'raise'", repr(error_score))
        if is_number and not np.isnan(float(error_score)) and (has_test or not one_method):
            must = "be np.nan or 'raise' with a test set, and where methods are compared"
            advice = "A run that failed has no answers to resample."
            raise check.fail("error_score", must, repr(error_score), advice)
        if arguments["memory"] is not None and random_state is None:
            advice = "Set random_state=0, so that a later fit can find the runs of this one."
            raise check.fail("memory", "be None without a random_state", "a folder", advice)
        counts = ["n_train_resamples", "n_seeds", "n_test_resamples"]
        checked = {
            # Integers of numpy overflow where they are multiplied.
            **{name: int(arguments[name]) for name in counts + ["n_cv_repeats"] * (not has_test)},
            "confidence_level": level,
            "stratify": stratify,
            "n_jobs": n_jobs,
            "verbose": verbose,
            "raise_errors": raise_errors,
            "failed_score": float(error_score) if is_number else np.nan,
            "seed": check.check_seed(random_state),
        }
        return cls(**arguments | checked)


def _check_without_test(arguments: Mapping[str, Any], model_alone: bool) -> None:
    """Check the parameters that mean something else on a test set."""
    interval, strategy, estimand = (
        arguments[name] for name in ("interval", "strategy", "estimand")
    )
    check.check_choice("interval", interval, ("auto", *METHOD_INTERVALS))
    advice = "Use 0 to have the model alone, without a result." if model_alone else ""
    n_samples = check.check_count("n_train_resamples", arguments["n_train_resamples"], 0, advice)
    if n_samples == 1 or (n_samples == 0 and not model_alone):
        check.check_count("n_train_resamples", n_samples, 2, advice)
    check.check_count("n_cv_repeats", arguments["n_cv_repeats"], 1)
    check.check_count("n_seeds", arguments["n_seeds"], 1)
    check.check_count("n_test_resamples", arguments["n_test_resamples"], 2)
    if not (isinstance(estimand, str) and estimand == "method"):
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
    checked_interval(interval, ["auto", "components", *FOR_ONE_LOOK])
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
        check_method("interval", estimand, interval)
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
    words : DesignWords
        Of what is drawn for training: of rows, or of groups by their name.
    """

    X: Any
    y: Any
    unit: NDArray[np.intp] | None
    groups: Any
    tests: HeldOutSets | None
    words: DesignWords = ROWS

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
        unit, words = None, ROWS
        try:
            check_rows_of_fit(X, y, groups)
            if groups is not None:
                unit = check.check_groups(check.check_column("groups", groups))
                words = words_of_groups(groups)
        except ValueError as error:
            columns = {"X": X, "y": y, "groups": groups}
            name_all_missing(error, columns, complete=("y", "groups"))
            raise
        X, y, groups = indexable(X, y, groups)
        n_axes = getattr(X, "ndim", None)
        if tests is not None and n_axes is not None:
            for name, rows in zip(tests.names, tests.rows, strict=True):
                n_axes_of_set = getattr(rows.X, "ndim", n_axes)
                if n_axes_of_set != n_axes:
                    must = f"have {n_axes} axes, as X has"
                    raise check.fail(name_in("X_test", name), must, f"{n_axes_of_set}")
        y = y if type(y) is np.ndarray else with_exact_integers(y)
        return cls(X, y, unit, groups, tests, words)


def warn_of_order_of_fit(X: Any, y: Any, groups: Any, **tests: Any) -> None:
    """Warn of rows whose index labels stand in another order than those of X."""
    sets = [tests]
    X_test = tests.get("X_test")
    if isinstance(X_test, Mapping):
        of_each = {name: parts for name, parts in tests.items() if parts is not None}
        sets = [{f"{k}[{key!r}]": parts[key] for k, parts in of_each.items()} for key in X_test]
    warn_of_orders({"X": X, "y": y, "groups": groups}, *sets)


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
    columns = ComparedColumns(data.X, data.y)
    distinct = DistinctRows(columns)
    if resampled and distinct.n_copies >= _SMALLEST_SHARE * n_rows:
        of_rows = distinct.n_copies
    tests = [] if data.tests is None else zip(data.tests.names, data.tests.rows, strict=True)
    for name, rows in tests:
        if can_be_read(rows.X) and (
            n_copies := distinct.n_copies_in(
                ComparedColumns(rows.X, rows.y, numbers=columns.numbers)
            )
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
    train_samples = call.train_samples
    strategies = ("oob", ".632", ".632+")
    if data.tests is None and call.strategy not in strategies:
        must = f"be one of {list(strategies)} with train_samples"
        raise check.fail("strategy", must, repr(call.strategy), "They are out-of-bag estimates.")
    if call.stratify:
        raise check.fail("train_samples", "not be combined with stratify", "")
    # Text splits too, but not rows.
    is_splitter = hasattr(train_samples, "split") and not isinstance(train_samples, str | bytes)
    splits = train_samples.split(data.X, data.y, data.groups) if is_splitter else train_samples
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
    first_of_unit = np.unique(unit, return_index=True)[1]
    counts: NDArray[np.intp] = of_rows[first_of_unit]
    if np.any(of_rows != counts[unit]):
        raise check.fail(name, "hold whole groups", "parts of some")
    if counts.sum() != len(first_of_unit):
        noun = "rows" if len(first_of_unit) == n_rows else "groups"
        must = f"draw as many {noun} as there are, {len(first_of_unit)}"
        advice = "The weights and standard errors of out-of-bag estimates are for these."
        raise check.fail(name, must, str(counts.sum()), advice)
    return counts


def note_on_folds(call: FitCall, has_test: bool) -> Note:
    """Return advice for training samples that are drawn within a fold of a cross-validation.

    It is shown at the line where scikit-learn fits a fold, in this process or in its workers.
    """
    n_folds = 0
    if not has_test and call.strategy == "cv-bootstrap":
        n_folds = MOST_FOLDS * call.n_cv_repeats
    n_fits = call.n_seeds * (1 + call.n_train_resamples + n_folds)
    text = (
        f"up to {n_fits} trainings for one fold of a cross-validation, which needs one. Use "
        "n_train_resamples=0 there, or fit the BootstrapScorer by itself for its interval."
    )
    return Note("slow", text, about="folds", within=_FITS_FOLDS)


def check_rows_of_fit(X: Any, y: Any, groups: Any) -> None:
    """Refuse masked values, targets of mixed types, and columns of another length than X."""
    for name, values in (("X", X), ("y", y), ("groups", groups)):
        if type(values) is not np.ndarray:
            check.check_readable(name, values)
        if values is not None and (np.isscalar(values) or getattr(values, "shape", None) == ()):
            raise check.fail(name, "have a row for each sample", "a single value")
        sized = all(
            hasattr(column, "shape") or hasattr(column, "__len__") for column in (X, values)
        )
        if not sized:
            # An argument without a length is None, or the estimator may know how to read it.
            continue
        n_values = n_rows_of(values)
        if n_values != n_rows_of(X):
            must = f"have as many rows as X, {n_rows_of(X)}"
            advice = "Row order is what pairs them; an index is never used."
            raise check.fail(name, must, f"{n_values}", advice)
    dtype = getattr(y, "dtype", None)
    # Types of other packages, such as polars, need not say what numpy will make of them.
    is_known = dtype is None or (isinstance(dtype, np.dtype) and dtype.kind != "O")
    # The targets may be of mixed types, or missing without being NaN.
    if isinstance(y, list | tuple) or not is_known:
        labels = check.converted("y", y)
        if labels.dtype.kind == "O" and labels.ndim == 1:
            check.check_no_missing("y", labels)
            check.numbered_labels("y", labels)


# ------------------------------------------------------------------ test sets


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


def held_out_sets(
    X_test: Any, y_test: Any, groups_test: Any, sample_weight_test: Any
) -> HeldOutSets:
    """Check the test sets, one or a dict of them."""
    if X_test is None or y_test is None:
        missing = "X_test" if X_test is None else "y_test"
        raise check.fail(missing, "be given with the rest of the test set", "None")
    if not isinstance(X_test, dict):
        rows, groups, weights = _held_out_set("", X_test, y_test, groups_test, sample_weight_test)
        return HeldOutSets([None], [rows], [groups], [weights])
    names = list(X_test)
    if not names:
        raise check.fail("X_test", "hold at least one test set", "{}")
    columns = {
        "y_test": y_test,
        "groups_test": groups_test,
        "sample_weight_test": sample_weight_test,
    }
    for name, parts in columns.items():
        if parts is None:
            continue
        if not isinstance(parts, Mapping) or set(parts) != set(names):
            got = f"{list(parts)}" if isinstance(parts, Mapping) else type(parts).__name__
            raise check.fail(name, f"be a dict with the keys of X_test, {names}", got)
    by_set = [
        _held_out_set(
            f"[{name!r}]",
            X_test[name],
            *(None if parts is None else parts[name] for parts in columns.values()),
        )
        for name in names
    ]
    return HeldOutSets(names, *map(list, zip(*by_set, strict=True)))


def _held_out_set(
    of: str, X: Any, y: Any, groups: Any, sample_weight: Any
) -> tuple[HeldOut, Any, Any]:
    """Check a test set, whose key in messages is given; return rows, groups and weights."""
    try:
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
        rows = HeldOut(X, truth)
        groups = _held_out_groups(of, groups, rows)
        weights = weights_of_rows(f"sample_weight_test{of}", sample_weight, len(rows.y))
    except ValueError as error:
        columns = {"X": X, "y": y, "groups": groups, "sample_weight": sample_weight}
        columns = {f"{name}_test{of}": column for name, column in columns.items()}
        name_all_missing(error, columns, complete=[*columns][1:])
        raise
    return rows, groups, weights


def _held_out_groups(of: str, groups: Any, rows: HeldOut) -> Any:
    if groups is None:
        return None
    name = f"groups_test{of}"
    labels = groups if isinstance(groups, TwoColumns) else check.check_rows(name, groups)
    if len(labels) != len(rows.y):
        must = f"have as many rows as y_test{of}, {len(rows.y)}"
        raise check.fail(name, must, f"{len(labels)}")
    with check.arguments_named({"groups": name}):
        if len(np.shape(labels)) == 2:
            check.check_pairs(list(np.asarray(labels).T))
        else:
            check.check_groups(labels)
    # A column of a table has a name, which an array of its labels lacks.
    return groups


@only_advises()
def shared_groups(groups: Any, tests: HeldOutSets) -> list[str]:
    """Return a sentence for each test set that shares groups with the training set."""
    if groups is None:
        return []
    unit = words_of_groups(groups).unit
    groups_of_training = set(check.check_column("groups", groups).tolist())
    sentences = []
    for name, groups_of_set in zip(tests.names, tests.groups, strict=True):
        shared = (
            set()
            if groups_of_set is None
            else groups_of_training & set(np.asarray(groups_of_set).ravel().tolist())
        )
        if shared:
            subject = "The test set" if name is None else f"The test set {name!r}"
            sentences.append(
                f"{subject} shares {check.counted(len(shared), unit)} with the training "
                f"set: the score is that on known {unit}s, not on new ones."
            )
    return sentences


def name_in(argument: str, name: Any) -> str:
    """Name the part of an argument that belongs to a test set."""
    return argument if name is None else f"{argument}[{name!r}]"


def check_columns(y: NDArray[Any] | None, tests: HeldOutSets) -> None:
    """Refuse a test set whose targets have other columns than those of the training set."""
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if y is not None and rows.y.shape[1:] != y.shape[1:]:
            must = f"have the columns of y, of shape {y.shape}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, f"shape {rows.y.shape}")


def with_classes_of(classes: NDArray[Any], tests: HeldOutSets) -> NDArray[Any]:
    """Classes of the training set and of all test sets."""
    kind_of_y = _kind_of(classes)
    for name, rows in zip(tests.names, tests.rows, strict=True):
        if (kind := _kind_of(rows.y)) != kind_of_y:
            must = f"hold labels of the kind that y holds, {kind_of_y}"
            argument = name_in("y_test", name)
            raise check.fail(argument, must, kind, SAME_KIND)
    return np.unique(np.concatenate([classes, *(rows.y for rows in tests.rows)]))


def _kind_of(labels: NDArray[Any]) -> str:
    """Return what labels are, in a word."""
    kinds = {"M": "dates", "m": "durations"} | dict.fromkeys("biuf", "numbers")
    return kinds.get(labels.dtype.kind, "text")


# ------------------------------------------------------------------ where parameters go
# To the estimator's ``fit``, and to scorers, as they request with metadata routing on, as in
# `sklearn.model_selection.GridSearchCV`; off, all go to the fits.


Params = dict[str, Any]


class RoutedParams(NamedTuple):
    """Parameters by where they go.

    Attributes
    ----------
    fit_params : dict
        To the estimator's ``fit``.
    scorer_params : dict of dict
        To each scorer that gets some, by its name.
    """

    fit_params: Params
    scorer_params: dict[str, Params]


def router_of(router: MetadataRouter, estimators: Mapping[str, Any], scoring: Any) -> Any:
    """Add estimators by name, and the scorer of each, to a router."""
    for name, estimator in estimators.items():
        suffix = f" of {name}" if name else ""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router.add(**{f"estimator{suffix}": estimator}, method_mapping=to_fit)
        scorer = _routed_scorer(scoring, estimator)
        if scorer is not None:
            to_score = MethodMapping().add(caller="fit", callee="score")
            to_score = to_score.add(caller="score", callee="score")
            router.add(**{f"scorer{suffix}": scorer}, method_mapping=to_score)
    return router


def routed_to_fit(
    router: Any, estimator: Any, scoring: Any, params: Mapping[str, Any], name: str = ""
) -> RoutedParams:
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
        return RoutedParams(dict(params), {})
    if not params:
        return RoutedParams({}, {})
    suffix = f" of {name}" if name else ""
    routed = process_routing(router, "fit", **params)
    scorer = f"scorer{suffix}"
    of_scorer = dict(routed[scorer].score) if scorer in routed else {}
    of_fit = dict(routed[f"estimator{suffix}"].fit)
    return RoutedParams(of_fit, by_scorer(scoring, estimator, of_scorer) if of_scorer else {})


def by_scorer(scoring: Any, estimator: Any, params: Mapping[str, Any]) -> dict[str, Params]:
    """Return the parameters that each scorer requests of those that go to all."""
    scorers, single = named_scorers(scoring, estimator)
    if single or not params:
        return {name: dict(params) for name in scorers if params}
    routed = process_routing(MultimetricScorer(scorers=scorers), "score", **params)
    return {name: dict(routed[name].score) for name in scorers if routed[name].score}


def scorers_of_test_weights(scoring: Any, estimator: Any, *, is_weighted: bool) -> set[str]:
    """Return the names of the scorers that weigh test rows.

    Parameters
    ----------
    scoring : str, callable, list, dict or None
    estimator : estimator
    is_weighted : bool
        Whether there are weights of test rows. With routing off all scorers take them, with
        routing on those that request ``sample_weight``; these cannot do without.
    """
    scorers, single = named_scorers(scoring, estimator)
    if not routing_enabled():
        return set(scorers) if is_weighted else set()
    scorers_asked = {next(iter(scorers)): _routed_scorer(scoring, estimator)} if single else scorers
    requests = {
        name: get_routing_for_object(scorer).score.requests.get("sample_weight", False)
        for name, scorer in scorers_asked.items()
    }
    unset = [name for name, request in requests.items() if request is None]
    if is_weighted and unset:
        text = (
            "[sample_weight] of test rows are passed but are not explicitly set as requested or "
            f"not requested for the scorers {unset}: use set_score_request(sample_weight=True)."
        )
        raise UnsetMetadataPassedError(
            message=text, unrequested_params={"sample_weight": None}, routed_params={}
        )
    weighing = {name for name, request in requests.items() if request}
    if is_weighted and not weighing:
        advice = "Use set_score_request(sample_weight=True)."
        must = "be None where no scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "weights", advice)
    if weighing and not is_weighted:
        must = "be given with X_test where a scorer requests sample_weight"
        raise check.fail("sample_weight_test", must, "None")
    return weighing


def _routed_scorer(scoring: Any, estimator: Any) -> Any:
    """Return what a router knows as the scorer; None where there is none."""
    if scoring is None and hasattr(estimator, "score"):
        # As in a search, requests are those of the estimator's own method.
        return check_scoring(estimator)
    if scoring is None and not (is_classifier(estimator) or is_regressor(estimator)):
        return None
    scorers, single = named_scorers(scoring, estimator)
    return next(iter(scorers.values())) if single else MultimetricScorer(scorers=scorers)
