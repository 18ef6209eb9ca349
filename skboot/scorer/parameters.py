"""Refuse what cannot be right, before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..inference.cv_bootstrap import CV_INTERVALS
from ..inference.method import METHOD_INTERVALS, STRATEGIES
from . import on_test_set

_CALLER = "BootstrapScorer"


def check_parameters(scorer: Any, *, has_test: bool) -> None:
    """Check the parameters of a scorer, for a fit with or without a test set."""
    check.check_choice("strategy", scorer.strategy, _CALLER, STRATEGIES)
    check.check_choice("inner_cv", scorer.inner_cv, _CALLER, ("grouped", "as-is"))
    check.check_confidence_level(scorer.confidence_level, _CALLER)
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
    if not is_nan and error_score != "raise":
        raise check.fail(_CALLER, "error_score", "be np.nan or 'raise'", repr(error_score))
    if scorer.memory is not None and scorer.random_state is None:
        advice = "Set random_state=0, so that a later fit can find the runs of this one."
        raise check.fail(_CALLER, "memory", "be None without a random_state", "both", advice)


def checked_groups(groups: Any) -> NDArray[np.intp]:
    """Number the groups of the training list."""
    labels = np.asarray(groups)
    if labels.ndim != 1:
        must = "be of shape (n_samples,)"
        raise check.fail(f"{_CALLER}.fit", "groups", must, f"shape {labels.shape}")
    return check.check_groups(groups, f"{_CALLER}.fit")


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
