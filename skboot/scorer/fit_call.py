"""What a fit asks for: the parameters of `BootstrapScorer`, and the rows, checked before any work.

`BootstrapScorer.fit` and `skboot.compare_methods` both make a `FitCall` and a `FitData`, which
`skboot.scorer.training_runs.run_all_trainings` trusts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from .._base import checks as check
from .._base.copies import Columns, Distinct, can_be_read
from .._base.sklearn_compat import n_rows_of, with_exact_integers
from .._base.warnings import Note, only_advises
from .._base.wayfinding import OF_MODELS, OF_PREDICTIONS
from .._base.workers import is_cross_validated
from ..inference.intervals import FOR_ONE_SCORE, interval_named
from ..inference.run_intervals import ESTIMANDS, check_method
from ..method_error.cv_bootstrap import CV_INTERVALS
from ..method_error.method_intervals import METHOD_INTERVALS, STRATEGIES
from ..refit.samples import MOST_FOLDS
from ..study.row_order import warn_of_orders
from . import held_out
from .held_out import name_in

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
    tests: held_out.HeldOutSets | None

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
            tests = held_out.held_out_sets(*of_tests)
        check_rows_of_fit(X, y, groups)
        X, y, groups = indexable(X, y, groups)
        if tests is not None:
            held_out.check_axes(X, tests)
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
