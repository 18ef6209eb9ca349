"""The methods of the neutral benchmark, from losses of trained models; all at 95 %.

Each returns limits. Formulas are those of the papers, with the settings of the benchmark; a test
holds them against numbers that R printed, and another against the benchmark's own results.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from ..runner import LEVEL, Limits

Z = float(ndtri((1 + LEVEL) / 2))


def _about(centre, half) -> Limits:
    return Limits(float(centre - half), float(centre + half))


def holdout(losses) -> Limits:
    """Mean loss of rows left out, with their standard error."""
    return _about(np.mean(losses), Z * np.std(losses, ddof=1) / np.sqrt(len(losses)))


def corrected_t(errors, n_train, n_test) -> Limits:
    """Errors of random splits; their variance is corrected for common rows.

    Nadeau and Bengio (2003, Machine Learning 52:239).
    """
    quantile = stdtrit(len(errors) - 1, (1 + LEVEL) / 2)
    scale = np.sqrt(1 / len(errors) + n_test / n_train)
    return _about(np.mean(errors), quantile * scale * np.std(errors, ddof=1))


def all_pairs(losses) -> Limits:
    """Cross-validation, its losses as if independent.

    Bayle, Bayle, Janson and Mackey (2020, NeurIPS 33:16339).
    """
    return _about(np.mean(losses), Z * np.std(losses) / np.sqrt(len(losses)))


def five_times_two(errors) -> Limits:
    """Five times two folds; errors (5, 2), and the first fold is the estimate.

    Dietterich (1998, Neural Computation 10:1895).
    """
    square = np.sum((errors - errors.mean(axis=1, keepdims=True)) ** 2) / len(errors)
    return _about(errors[0, 0], stdtrit(len(errors), (1 + LEVEL) / 2) * np.sqrt(square))


def nested(outer, inner) -> Limits:
    """Nested cross-validation with its correction of the bias.

    Bates, Hastie and Tibshirani (2024, JASA 119:1434). `outer` has the losses of each fold of each
    repeat, (n_repeats, n_folds, n_rows / n_folds); `inner` those of the cross-validation of the
    other folds, (n_repeats, n_folds, n_rows less those of the fold).
    """
    n_folds, n = outer.shape[1], outer.shape[1] * outer.shape[2]
    gaps = (inner.mean(axis=2) - outer.mean(axis=2)) ** 2
    square = np.mean(gaps - outer.var(axis=2, ddof=1) / outer.shape[2])
    square *= (n_folds - 1) / n_folds
    least = inner.std(ddof=1) / np.sqrt(n)
    half = max(least, min(np.sqrt(max(square, 0.0)), np.sqrt(n_folds) * least))
    bias = (1 + (n_folds - 2) / n_folds) * (inner.mean() - outer.mean())
    return _about(inner.mean() - bias, Z * half)


def conservative_z(errors, halves) -> Limits:
    """Errors of splits, their variance from pairs of halves.

    Nadeau and Bengio (2003). `errors` (n_splits,), `halves` (n_halvings, 2, n_splits).
    """
    means = halves.mean(axis=2)
    square = np.mean((means[:, 0] - means[:, 1]) ** 2) / 2
    return _about(errors.mean(), Z * np.sqrt(square))


def out_of_bag(losses, counts) -> tuple[float, float]:
    """Out-of-bag error and its standard error, as published.

    Efron and Tibshirani (1997, JASA 92:548, equations 35 to 43). Rows that no sample left out do
    not count.
    """
    outside = counts == 0
    usable = outside.any(axis=0)
    outside, n = outside[:, usable], counts.shape[1]
    left_out = np.where(outside, losses[:, usable], 0.0)
    times = outside.sum(axis=0)
    by_row = left_out.sum(axis=0) / times
    error = by_row.mean()
    sums = left_out.sum(axis=1) / n
    moved = (counts[:, usable] - counts[:, usable].mean(axis=0)).T @ sums / times
    effect = (2 + 1 / (n - 1)) * (by_row - error) / n + moved
    return float(error), float(np.sqrt(n / usable.sum() * np.sum(effect**2)))


def normal(centre, standard_error) -> Limits:
    """Normal limits."""
    return _about(centre, Z * standard_error)


def point632_plus(out_of_bag_error, inside, chance) -> float:
    """.632+ of Efron and Tibshirani (1997), its overfitting rate not clipped, as the benchmark."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.float64(out_of_bag_error - inside) / np.float64(chance - inside)
        weight = 0.632 / (1 - 0.368 * rate)
    return float((1 - weight) * inside + weight * out_of_bag_error)


def shifted(errors_inside, inside, point) -> Limits:
    """Percentiles of the errors of bootstrap models on their own rows, moved by the optimism.

    Noma et al. (2021, Statistics in Medicine 40:5691).
    """
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(errors_inside, tails) + point - inside
    return Limits(float(low), float(high))


def replace_one(centre, half_error, replaced) -> Limits:
    """Cross-validation; its variance from half of the rows, one at a time replaced by another.

    Austern and Zhou (2020, arXiv 2001.11111, formulas 6 and 27).
    """
    return _about(centre, Z * np.sqrt(np.sum((half_error - replaced) ** 2) / 4))
