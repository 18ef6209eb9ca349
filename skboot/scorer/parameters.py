"""Refuse what cannot be right, before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks as check
from .._sklearn_compat import n_rows_of
from ..method_error.cv_bootstrap import CV_INTERVALS
from ..method_error.method_intervals import METHOD_INTERVALS, STRATEGIES
from . import on_test_set

_CALLER = "BootstrapScorer"


def check_parameters(scorer: Any, *, has_test: bool) -> None:
    """Check the parameters of a scorer, for a fit with or without a test set."""
    check.check_choice("strategy", scorer.strategy, _CALLER, STRATEGIES)
    check.check_choice("inner_cv", scorer.inner_cv, _CALLER, ("grouped", "as-is"))
    check.check_confidence_level(scorer.confidence_level, _CALLER)
    check.check_flag("stratify", scorer.stratify, _CALLER)
    check.check_flag("refit", scorer.refit, _CALLER)
    check.check_n_jobs(scorer.n_jobs, _CALLER)
    check.check_verbose(scorer.verbose, _CALLER)
    check.check_folder(scorer.memory, _CALLER)
    if has_test:
        on_test_set.check_asked(
            scorer.estimand,
            scorer.interval,
            scorer.n_train_resamples,
            scorer.n_seeds,
            scorer.n_test_resamples,
        )
    else:
        _check_without_test(scorer)
    error_score = scorer.error_score
    is_nan = isinstance(error_score, float) and np.isnan(error_score)
    if not is_nan and not (isinstance(error_score, str) and error_score == "raise"):
        raise check.fail(_CALLER, "error_score", "be np.nan or 'raise'", repr(error_score))
    if scorer.memory is not None and scorer.random_state is None:
        advice = "Set random_state=0, so that a later fit can find the runs of this one."
        raise check.fail(_CALLER, "memory", "be None without a random_state", "both", advice)


def check_rows_of_fit(X: Any, y: Any, groups: Any, caller: str) -> None:
    """Refuse masked values, targets of mixed types, and columns of another length than X."""
    for name, values in (("X", X), ("y", y), ("groups", groups)):
        check.check_not_masked(name, values, caller)
        sized = all(hasattr(own, "shape") or hasattr(own, "__len__") for own in (X, values))
        if not sized:
            # None, and what the estimator may know how to read.
            continue
        n_values = 0 if getattr(values, "shape", None) == () else n_rows_of(values)
        if n_values != n_rows_of(X):
            must = f"have as many rows as X, {n_rows_of(X)}"
            advice = "Row order is what pairs them; an index is never used."
            raise check.fail(caller, name, must, f"{n_values}", advice)
    if isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", "") == "O":
        labels = check.converted("y", y, caller)
        if labels.dtype.kind == "O" and labels.ndim == 1:
            check.check_no_missing("y", labels, caller)
            check.numbered_labels("y", labels, caller)


def checked_groups(groups: Any) -> NDArray[np.intp]:
    """Number the groups of the training list."""
    caller = f"{_CALLER}.fit"
    labels = check.check_rows("groups", groups, caller)
    if labels.ndim != 1:
        raise check.fail(caller, "groups", "be of shape (n_samples,)", f"shape {labels.shape}")
    return check.check_groups(labels, caller)


def _check_without_test(scorer: Any) -> None:
    check.check_choice("interval", scorer.interval, _CALLER, ("auto", *METHOD_INTERVALS))
    check.check_count("n_train_resamples", scorer.n_train_resamples, _CALLER, 2)
    check.check_count("n_cv_repeats", scorer.n_cv_repeats, _CALLER, 1)
    check.check_count("n_seeds", scorer.n_seeds, _CALLER, 1)
    check.check_count("n_test_resamples", scorer.n_test_resamples, _CALLER, 2)
    if scorer.estimand != "method":
        advice = "Give X_test for 'system'; without one only 'method' is known."
        raise check.fail(_CALLER, "estimand", "be 'method'", repr(scorer.estimand), advice)
    if scorer.interval in CV_INTERVALS and scorer.strategy != "cv-bootstrap":
        must = f"not be {scorer.interval!r} with strategy={scorer.strategy!r}"
        advice = "Use 'adjusted' or 'hull'."
        raise check.fail(_CALLER, "interval", must, repr(scorer.interval), advice)
