"""The two variances of the "cv-bootstrap" interval, and how far bootstrap samples move one of them.

`skboot.method_error.cv_bootstrap` says what they are made of, and makes intervals of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ._columns import Array, columns_of
from ._tuning import JACKKNIFE_RESAMPLES, MONTE_CARLO_DRAWS
from .training_spread import TrainingSpread, training_spread, within_fences


def cv_variances(
    cv: Array,
    counts: Array,
    scores: Array,
    oob_influence: Any,
    share: float,
    seed_variance: float,
    bounds: Any,
) -> dict[str, Any]:
    """Fields of `skboot.method_error.cv_bootstrap.CVBootstrap` that are variances.

    Parameters
    ----------
    cv : ndarray of shape (n_repeats, n_units)
        Influence values of the out-of-fold metric.
    counts : ndarray of shape (n_resamples, n_units)
    scores : ndarray of shape (n_resamples,)
        NaN where undefined; such samples are left out.
    oob_influence : array-like of shape (n_resamples, n_units), or callable
    share : float
        Share of the training variance that is left at the full size.
    seed_variance : float
    bounds : tuple of float

    Returns
    -------
    dict
        By name of the field.
    """
    influence, n_units = cv.mean(axis=0), counts.shape[1]
    lines = np.flatnonzero(np.isfinite(scores))
    given = oob_influence, lines, seed_variance
    plain, capped, n_beyond = _spreads(influence, counts, scores, *given)
    variances = {
        "variance_cv": float(cv.var(axis=1, ddof=1).mean() / n_units),
        "variance_cv_averaged": float(influence.var(ddof=1) / n_units),
        "variance_training": plain.variance,
        "variance_jackknife": _usable_jackknife(plain),
    }
    return {
        "standard_error_conservative": float(np.sqrt(_largest(**variances))),
        **variances,
        **_narrower(variances, capped, influence, share, bounds),
        "n_beyond_fences": n_beyond,
    }


def _spreads(
    influence: Array, counts: Array, scores: Array, given: Any, lines: Array, seed_variance: float
) -> tuple[TrainingSpread, TrainingSpread, int]:
    """Return the training spread, that of scores within their fences, and the number moved."""
    every = columns_of(given)
    whole = len(lines) == len(scores)
    counts, scores = (counts, scores) if whole else (counts[lines], scores[lines])

    def read(columns: slice) -> Array:
        return every(columns) if whole else every(columns)[lines]

    plain = training_spread(influence, counts, scores, read, None, seed_variance)
    moved, factors = within_fences(scores)
    n_beyond = int(np.count_nonzero(factors != 1))
    if not n_beyond:
        return plain, plain, 0
    capped = training_spread(influence, counts, moved, read, factors, seed_variance)
    return plain, capped, n_beyond


def _usable_jackknife(spread: TrainingSpread) -> float:
    """Return V_IJ; NaN with fewer than 4 sqrt(n_units) resamples."""
    enough = len(spread.residual) >= JACKKNIFE_RESAMPLES * np.sqrt(len(spread.effect))
    return spread.jackknife if enough else float("nan")


def _largest(
    variance_cv: float,
    variance_cv_averaged: float,
    variance_training: float,
    variance_jackknife: float,
) -> float:
    """Return the conservative variance: the largest of the three."""
    candidates = [variance_cv_averaged, variance_cv + variance_training]
    if np.isfinite(variance_jackknife):
        candidates.append(variance_jackknife)
    return max(candidates)


def _narrower(
    variances: dict[str, float],
    capped: TrainingSpread,
    influence: Array,
    share: float,
    bounds: tuple[float, float],
) -> dict[str, Any]:
    """Return the standard error of the narrower form, and its parts, by field name."""
    test, averaged = variances["variance_cv"], variances["variance_cv_averaged"]
    cap = _largest(test, averaged, capped.variance, _usable_jackknife(capped))
    robust = capped.robust_variance
    by_count = float(2 * influence @ capped.effect / len(influence))
    by_presence = float(2 * influence @ capped.presence / len(influence))
    parts = (share * robust, by_count, by_presence, cap)
    variance_of = partial(_narrower_variance, averaged, bool(np.isfinite(bounds).all()))
    moves = [share * capped.moves_robust, capped.moves_effect, capped.moves_presence]
    with np.errstate(over="ignore"):
        # The cap is never below the test-sampling variance, which no sample moves.
        of_variance = capped.residual**2 if cap > averaged else np.zeros_like(capped.residual)
    moves.append(capped.moves_jackknife if cap == capped.jackknife else of_variance)
    return {
        "standard_error": float(np.sqrt(variance_of(*parts))),
        "variance_training_robust": robust,
        "covariance_training": by_count,
        "covariance_presence": by_presence,
        "training_share": share,
        "variance_cap": cap,
        "monte_carlo_errors": _monte_carlo_errors(variance_of, parts, np.stack(moves)),
    }


def _narrower_variance(
    averaged: float, bounded: bool, training: Any, by_count: Any, by_presence: Any, cap: Any
) -> Any:
    """Return the variance of the narrower form; of arrays one each."""
    # Of heavy-tailed losses both are noise, and the smaller of two noises is too small.
    covariance = np.minimum(by_count, by_presence) if bounded else by_count
    total = averaged + training + np.maximum(covariance, 0.0)
    return np.maximum(np.minimum(cap, total), averaged)


def _monte_carlo_errors(
    variance_of: Callable[..., Any], parts: tuple[float, ...], moves: Array
) -> tuple[float, float]:
    """Return the relative standard errors of the root of a variance, with more samples as well.

    Its parts are drawn as normal, with the covariance that `moves`, (n_parts, n_used), give their
    means: the variance has kinks, so that four times the samples do not halve its error.
    """
    n_used, variance = moves.shape[1], variance_of(*parts)
    if not (0 < variance < np.inf and np.isfinite(moves).all()):
        return float("nan"), float("nan")
    draws = np.random.default_rng(0).standard_normal((n_used, MONTE_CARLO_DRAWS))
    shifts = (moves - moves.mean(axis=1, keepdims=True)) @ draws / n_used
    middle = np.array(parts)[:, None]
    now, later = (
        float(np.sqrt(variance_of(*(middle + shifts / root))).std(ddof=1) / np.sqrt(variance))
        for root in (1, 2)
    )
    return now, later
