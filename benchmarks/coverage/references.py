"""Published intervals, written from their papers, and what is often written by hand for groups.

| name | source |
|---|---|
| t of group means, groups by hand | textbooks |
| CV3 | MacKinnon, Nielsen and Webb (2023): leave-one-group-out errors, t of G - 1 |
| `csranks` | Mogstad, Romano, Shaikh and Wilhelm (2024), as the R package csranks has it |
| corrected t | Nadeau and Bengio (2003), corrected resampled t |
| conservative z | Nadeau and Bengio (2003), conservative Z |
| nested CV | Bates, Hastie and Tibshirani (2024) |
| CV per row | Bayle et al. (2020), all-pairs variance |
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from .runner import LEVEL, Tool
from .samples import MethodSample, SystemSample

Z = stats.norm.ppf((1 + LEVEL) / 2)
N_RESAMPLES = 1000


def means_of_groups(sample: SystemSample, seed: int) -> dict:
    """t interval of the mean over groups of the score within each."""
    parts = [sample.groups == group for group in np.unique(sample.groups)]
    score = sample.score.function
    values = [float(score(sample.y_true[rows], sample.y_pred[rows])) for rows in parts]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    reach = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * error
    return {"": (np.mean(values) - reach, np.mean(values) + reach)}


def groups_by_hand(sample: SystemSample, seed: int) -> dict:
    """Percentiles of the score of whole groups that are drawn in a loop."""
    rng, score = np.random.default_rng(seed), sample.score.function
    rows = [np.flatnonzero(sample.groups == group) for group in np.unique(sample.groups)]
    values = []
    for _ in range(N_RESAMPLES):
        drawn = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        values.append(float(score(sample.y_true[drawn], sample.y_pred[drawn])))
    return {"": np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])}


def cv3(sample: SystemSample, seed: int) -> dict:
    """Leave-one-group-out errors and t of G - 1 (MacKinnon, Nielsen and Webb 2023)."""
    y, given, score = sample.y_true, sample.y_pred, sample.score.function
    kept = [sample.groups != group for group in np.unique(sample.groups)]
    without = np.array([float(score(y[rows], given[rows])) for rows in kept])
    return {"": cv3_limits(float(score(y, given)), without)}


def cv3_limits(estimate, without, level: float = LEVEL):
    """Limits of estimates (...), from those without each of the groups (..., n_groups)."""
    n = without.shape[-1]
    squares = np.sum((without - np.asarray(estimate)[..., None]) ** 2, axis=-1)
    reach = stats.t.ppf((1 + level) / 2, n - 1) * np.sqrt((n - 1) / n * squares)
    return estimate - reach, estimate + reach


def csranks(means: np.ndarray, covariance: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest rank of each system, all at once, in steps; a larger mean ranks higher.

    Mogstad, Romano, Shaikh and Wilhelm (2024, Rev. Econ. Stud. 91:476) with the defaults of the R
    package (Wilhelm and Morgen, csranks 1.2): normal draws with the covariance of the means, the
    quantile of the largest scaled difference of the pairs that are not told yet. Pairs that do not
    differ are never told.
    """
    difference = means[:, None] - means
    variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
    error = np.sqrt(np.maximum(variance, 0))
    is_open = error > 1e-9
    told = np.zeros(is_open.shape, dtype=bool)
    while is_open.any():
        draws = rng.multivariate_normal(0 * means, covariance, size=N_RESAMPLES, method="eigh")
        first, second = np.nonzero(is_open)
        largest = np.max((draws[:, first] - draws[:, second]) / error[is_open], axis=1)
        new = is_open & (difference > np.quantile(largest, LEVEL) * error)
        if not new.any():
            break
        told |= new
        is_open &= ~new
    return 1 + told.sum(axis=0), len(means) - told.sum(axis=1)


def _judged(sample: MethodSample, trained: np.ndarray) -> np.ndarray:
    """Losses (n_splits, n_samples) of models trained on the rows marked in each line."""
    answers = sample.learner(sample.X, sample.y, trained.astype(float), sample.X)
    return sample.loss(answers, sample.y)


def _test_folds(rng, sample: MethodSample, n_folds: int, n_repeats: int) -> np.ndarray:
    """Whether each row is tested, (n_repeats, n_folds, n_samples)."""
    n_units = sample.units.max() + 1
    folds = [rng.permutation(n_units) % n_folds for _ in range(n_repeats)]
    return np.array(folds)[:, None, sample.units] == np.arange(n_folds)[:, None]


def _means(losses: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Mean loss of the tested rows of each line."""
    return np.sum(np.where(tested, losses, 0), axis=-1) / tested.sum(axis=-1)


def corrected_t(sample: MethodSample, seed: int, n_repeats: int = 5, n_folds: int = 10) -> dict:
    """Nadeau and Bengio (2003), on repeated cross-validation: ratio of test to training 1 / 9."""
    rng = np.random.default_rng(seed)
    tested = _test_folds(rng, sample, n_folds, n_repeats).reshape(-1, len(sample.y))
    means = _means(_judged(sample, ~tested), tested)
    n = len(means)
    error = np.std(means, ddof=1) * np.sqrt(1 / n + 1 / (n_folds - 1))
    reach = stats.t.ppf((1 + LEVEL) / 2, n - 1) * error
    naive = stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(means, ddof=1) / np.sqrt(n)
    centre = means.mean()
    return {"": (centre - reach, centre + reach), "naive": (centre - naive, centre + naive)}


def _subsamples(rng, units: np.ndarray, n_test: int, n_splits: int) -> np.ndarray:
    """Units tested in each of some random splits, (n_splits, n_test)."""
    return np.array([rng.permutation(units)[:n_test] for _ in range(n_splits)])


def conservative_z(
    sample: MethodSample, seed: int, n_halvings: int = 10, n_splits: int = 15
) -> dict:
    """Nadeau and Bengio (2003): the variance from two halves, each with the same test sizes."""
    rng = np.random.default_rng(seed)
    units = sample.units
    n_units = units.max() + 1
    n_test = max(n_units // 10, 1)
    lines = [(np.arange(n_units), _subsamples(rng, np.arange(n_units), n_test, n_splits))]
    for _ in range(n_halvings):
        order = rng.permutation(n_units)
        halves = order[: n_units // 2], order[n_units // 2 : 2 * (n_units // 2)]
        lines += [(half, _subsamples(rng, half, n_test, n_splits)) for half in halves]
    tested = np.array([np.isin(units, test) for _, tests in lines for test in tests])
    within = np.array([np.isin(units, own) for own, tests in lines for _ in tests])
    means = _means(_judged(sample, within & ~tested), tested).reshape(-1, n_splits).mean(axis=1)
    centre, pairs = means[0], means[1:].reshape(n_halvings, 2)
    reach = Z * np.sqrt(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 2)
    return {"": (centre - reach, centre + reach)}


def per_row(sample: MethodSample, seed: int, n_folds: int = 10) -> dict:
    """Bayle et al. (2020): standard error of the out-of-fold losses as if independent."""
    rng = np.random.default_rng(seed)
    [tested] = _test_folds(rng, sample, n_folds, 1)
    losses = np.sum(np.where(tested, _judged(sample, ~tested), 0), axis=0)
    reach = Z * losses.std() / np.sqrt(len(losses))
    return {"": (losses.mean() - reach, losses.mean() + reach)}


def nested(sample: MethodSample, seed: int, n_folds: int = 10, n_repeats: int = 10) -> dict:
    """Bates, Hastie and Tibshirani (2024), algorithm 1 with the bias of their equation (17).

    Models without folds j and k are shared by both orders, so that a repeat costs 55 fits.
    """
    rng = np.random.default_rng(seed)
    squared, inner_means, inner_losses, outer_means = [], [], [], []
    for _ in range(n_repeats):
        [folds] = _test_folds(rng, sample, n_folds, 1)
        pairs = [(j, k) for j in range(n_folds) for k in range(j + 1)]
        left_out = np.array([folds[j] | folds[k] for j, k in pairs])
        losses = dict(zip(pairs, _judged(sample, ~left_out), strict=True))
        for k in range(n_folds):
            outer = losses[k, k][folds[k]]
            inner = np.concatenate(
                [losses[max(j, k), min(j, k)][folds[j]] for j in range(n_folds) if j != k]
            )
            squared.append((inner.mean() - outer.mean()) ** 2 - outer.var(ddof=1) / len(outer))
            inner_means.append(inner.mean())
            inner_losses.append(inner)
            outer_means.append(outer)
    n, share = len(sample.y), (n_folds - 1) / n_folds
    spread = np.std(np.concatenate(inner_losses))
    error = np.sqrt(max(share * np.mean(squared), 0))
    error = np.clip(error, spread / np.sqrt(n), spread * np.sqrt(n_folds / n))
    inner, outer = np.mean(inner_means), np.mean(np.concatenate(outer_means))
    bias = (1 + (n_folds - 2) / n_folds) * (inner - outer)
    return {"": (inner - bias - Z * error, inner - bias + Z * error)}


TOOLS = (
    Tool("t of group means", means_of_groups, "scipy", "closed form"),
    Tool("groups by hand", groups_by_hand, "numpy", "percentiles of 1000 resamples"),
    Tool("CV3", cv3, "scipy", "MacKinnon, Nielsen and Webb 2023, t of G - 1"),
    Tool("corrected t", corrected_t, "scipy", "Nadeau and Bengio 2003, 5 x 10 folds"),
    Tool("conservative z", conservative_z, "scipy", "Nadeau and Bengio 2003, 315 fits"),
    Tool("nested CV", nested, "scipy", "Bates et al. 2024, 10 repeats of 10 folds, 550 fits"),
    Tool("CV per row", per_row, "scipy", "Bayle et al. 2020, 10 folds"),
)
