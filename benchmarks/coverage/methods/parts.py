"""From one data set of a design to what every interval of a method is made of.

`parts_of` trains on all training samples at once, and returns the arguments of
`skboot.method_error.cv_bootstrap.cv_bootstrap`; given the training samples that `BootstrapScorer`
draws, a test holds its intervals against those of `BootstrapScorer` itself. `others` gives the
intervals of other methods:

* corrected resampled t (Nadeau and Bengio 2003) of the 50 folds of 5 x 10-fold cross-validation;
* Bayle, Bayle, Janson and Mackey (2020): one 10-fold cross-validation, rows as if independent;
* nested cross-validation (Bates, Hastie and Tibshirani 2024): 20 x 5 folds, 300 fits;
* conservative z (Nadeau and Bengio 2003): 15 splits, 10 x 2 x 15 on halves, 315 fits.

`customary` gives what is common in their place: t intervals over folds as if these were
independent, and percentiles of the out-of-bag scores.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from skboot.method_error.cv_bootstrap import auc_error_influence, cv_bootstrap, group_influence
from skboot.refit.estimates import filled_influence

from .designs import LOSSES, SHARES

LEVEL = 0.95
Z = float(ndtri((1 + LEVEL) / 2))


class Parts(NamedTuple):
    """Errors (smaller is better) and influence values; units are rows or groups."""

    centres: np.ndarray  # (n_repeats,) error by each cross-validation
    influence: np.ndarray  # (n_repeats, n_units)
    counts: np.ndarray  # (n_resamples, n_units)
    scores: np.ndarray  # (n_resamples,) out-of-bag
    oob_influence: np.ndarray  # (n_resamples, n_units)
    resubstitution: float
    options: dict  # further arguments of cv_bootstrap
    class_errors: np.ndarray  # (n_repeats, 2) of balanced errors, or empty
    fold_errors: np.ndarray  # (n_repeats, n_folds)
    inside: np.ndarray  # (n_resamples,) error on the own training sample
    on_all: np.ndarray  # (n_resamples,) error on all rows


def bootstrap(parts, n_resamples=None, n_repeats=None, form=cv_bootstrap, **changes):
    """`CVBootstrap` from the first resamples and repeats, of the library or of another form."""
    some, few = slice(n_resamples), slice(n_repeats)
    options = dict(parts.options, resubstitution=parts.resubstitution, **changes)
    if len(parts.class_errors):
        options["class_errors"] = parts.class_errors[few].mean(axis=0)
    return form(
        float(parts.centres[few].mean()),
        parts.influence[few],
        parts.counts[some],
        parts.scores[some],
        parts.oob_influence[some],
        **options,
    )


class Samples(NamedTuple):
    """Bootstrap samples, as counts of units, and the fold of each row in each repeat."""

    counts: np.ndarray  # (n_resamples, n_units)
    folds: np.ndarray  # (n_repeats, n_rows)


def samples_of(design, y, groups, rng):
    """Training samples as `BootstrapScorer` has them, from another stream of random numbers."""
    n_units = len(y) if groups is None else design.size
    chances = np.full(n_units, 1 / n_units)
    n_folds, codes = min(10, n_units), None
    if y.dtype.kind == "i":
        codes = y
        n_folds = min(n_folds, max(int(np.bincount(y).min()), 5))
    folds = np.empty((design.n_repeats, len(y)), dtype=int)
    for fold in folds:
        if groups is not None:
            fold[:] = (rng.permutation(n_units) % n_folds)[groups]
            continue
        order = rng.permutation(len(y))
        if codes is not None:
            order = order[np.argsort(codes[order], kind="stable")]
        fold[order] = np.arange(len(y)) % n_folds
    return Samples(rng.multinomial(n_units, chances, size=design.n_resamples), folds)


def parts_of(design, X, y, groups, samples):
    """Train on all training samples, and judge."""
    n, n_folds = len(y), int(samples.folds.max()) + 1
    row_counts = samples.counts if groups is None else samples.counts[:, groups]
    row_counts = row_counts.astype(float)
    in_fold = samples.folds[:, None, :] == np.arange(n_folds)[:, None]
    weights = np.concatenate((np.ones((1, n)), row_counts, ~in_fold.reshape(-1, n)))
    answers = design.learner(X, y, weights, X)
    left_out, by_fold = answers[1 : 1 + len(row_counts)], answers[1 + len(row_counts) :]
    by_fold = by_fold.reshape(*in_fold.shape[:2], *by_fold.shape[1:])
    out_of_fold = np.take_along_axis(
        by_fold, samples.folds[:, None, :].reshape(len(in_fold), 1, n, *[1] * (by_fold.ndim - 3)), 1
    )[:, 0]
    of = design.metric
    scores, row_influence = error_and_influence(of, left_out, y, row_counts == 0)
    repeats, influence = error_and_influence(of, out_of_fold, y)
    folds = error_and_influence(
        of, by_fold.reshape(-1, *by_fold.shape[2:]), y, in_fold.reshape(-1, n)
    )
    fold_errors = folds[0].reshape(in_fold.shape[:2])
    if of == "1 - AUC":
        repeats = np.nanmean(fold_errors, axis=1)
    oob_influence = row_influence
    if groups is not None and of == "1 - AUC":
        influence = group_influence(influence, groups, design.size)
        by_group = [
            auc_without_groups(own, y, groups, design.size, rows)
            for own, rows in zip(left_out, row_counts == 0, strict=True)
        ]
        scores, oob_influence = (np.array(own) for own in zip(*by_group, strict=True))
    elif groups is not None:
        influence = group_influence(influence, groups, design.size)
        rows = np.maximum((row_counts == 0).sum(axis=1), 1)[:, None]
        present = (samples.counts == 0).sum(axis=1)[:, None]
        sums = np.stack([np.bincount(groups, own, design.size) for own in row_influence])
        oob_influence = sums * present / rows
    # Of one positive, or one group with positives, nothing is known without it.
    oob_influence = filled_influence(oob_influence, samples.counts == 0, 0.5)(slice(None))
    inside = error_and_influence(of, left_out, y, row_counts)[0] if of in LOSSES else np.array([])
    on_all = error_and_influence(of, left_out, y)[0] if of in LOSSES else np.array([])
    missing = design.kind == "no resubstitution"
    return Parts(
        repeats,
        influence,
        samples.counts,
        scores,
        oob_influence,
        np.nan if missing else float(error_and_influence(of, answers[:1], y)[0][0]),
        _options(design, y, out_of_fold, np.arange(len(y)) if groups is None else groups),
        _class_errors(design, y, out_of_fold),
        fold_errors,
        inside,
        on_all,
    )


def error_and_influence(metric, answers, y, weights=None):
    """Error of each model on the rows that its line of `weights` holds, and influence values.

    Influence values are scaled so that their variance over the m rows, divided by m, is that of
    the error; those of other rows are 0.
    """
    weights = np.ones(answers.shape[:2]) if weights is None else np.asarray(weights, dtype=float)
    if metric in LOSSES:
        return _of_losses(LOSSES[metric](answers, y), weights)
    if metric == "balanced error":
        return _of_classes(((answers > 0) != y).astype(float), y, weights)
    if metric == "1 - R2":
        return _of_ratio((answers - y) ** 2, y, weights)
    errors, influence = np.full(len(answers), np.nan), np.zeros(answers.shape)
    for line, rows in enumerate(weights > 0):
        if y[rows].min(initial=1) != y[rows].max(initial=0):
            value = average_precision_error if metric == "1 - AP" else auc_error_influence
            errors[line], influence[line, rows] = value(y[rows] == 1, answers[line, rows])
    return errors, influence


def average_precision_error(positive, scores):
    """1 - average precision of distinct scores, and influence by leaving each row out."""
    own = scores[positive]
    above = scores >= own[:, None]  # (n_positive, n)
    ranks, hits = above.sum(axis=1), above[:, positive].sum(axis=1)
    value = np.mean(hits / ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (hits[:, None] - above * positive) / (ranks[:, None] - above)
    share[np.arange(len(own)), np.flatnonzero(positive)] = 0.0  # The row itself is gone.
    with np.errstate(invalid="ignore", divide="ignore"):
        without = share.sum(axis=0) / (len(own) - positive)
    return 1 - value, -(len(scores) - 1) * (value - without)


def auc_without_groups(scores, y, groups, n_groups, rows):
    """1 - AUC on some rows, and its influence values by leaving each of their groups out."""
    influence = np.zeros(n_groups)
    positive, negative = rows & (y == 1), rows & (y == 0)
    if not (positive.any() and negative.any()):
        return np.nan, influence
    gaps = scores[positive][:, None] - scores[negative]
    ordered = (gaps > 0) + 0.5 * (gaps == 0)
    to_groups = [np.eye(n_groups)[groups[side]] for side in (positive, negative)]
    wins = to_groups[0].T @ ordered @ to_groups[1]
    sizes = [own.sum(axis=0) for own in to_groups]
    value = wins.sum() / (sizes[0].sum() * sizes[1].sum())
    left = wins.sum() - wins.sum(axis=0) - wins.sum(axis=1) + np.diag(wins)
    pairs = (sizes[0].sum() - sizes[0]) * (sizes[1].sum() - sizes[1])
    present = sizes[0] + sizes[1] > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        without = left / pairs
    influence[present] = -(present.sum() - 1) * (value - without)[present]
    return 1 - value, influence


def _of_losses(losses, weights):
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.einsum("ij,ij->i", losses, weights) / weights.sum(axis=1)
    return errors, np.where(weights > 0, losses - errors[:, None], 0.0)


def _of_classes(losses, y, weights):
    errors, influence = np.zeros(len(losses)), np.zeros(losses.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        for k in (0, 1):
            own = weights * (y == k)
            mean = np.einsum("ij,ij->i", losses, own) / own.sum(axis=1)
            errors += mean / 2
            scale = weights.sum(axis=1) / (2 * own.sum(axis=1))
            influence += np.where(own > 0, scale[:, None] * (losses - mean[:, None]), 0.0)
    return errors, influence


def _of_ratio(losses, y, weights):
    total = weights.sum(axis=1)
    gaps = (y - (weights @ y / total)[:, None]) ** 2
    loss = np.einsum("ij,ij->i", losses, weights) / total
    spread = np.einsum("ij,ij->i", gaps, weights) / total
    errors = loss / spread
    influence = (losses - loss[:, None] - errors[:, None] * (gaps - spread[:, None])) / spread[
        :, None
    ]
    return errors, np.where(weights > 0, influence, 0.0)


def _options(design, y, out_of_fold, groups):
    options = {"bounds": design.bounds, "n_rows": len(y)}
    if design.metric in SHARES:
        # Rows of the rarest class, or groups that hold it (record 0120).
        options["n_effective"] = min(len(np.unique(groups[y == one])) for one in (0, 1))
    if design.metric == "balanced error":
        options |= {"guard": "balanced", "class_sizes": np.bincount(y, minlength=2)}
    elif design.metric == "1 - AP":
        options["pooled"] = True
    elif design.metric in LOSSES:
        losses = LOSSES[design.metric](out_of_fold, y)
        if np.isin(losses, design.bounds).all():
            options["guard"] = "proportion"
    return options


def _class_errors(design, y, out_of_fold):
    if design.metric != "balanced error":
        return np.empty((0, 2))
    wrong = (out_of_fold > 0) != y
    return np.stack([wrong[:, y == k].mean(axis=1) for k in (0, 1)], axis=1)


# ------------------------------------------------------------------ other methods


def others(design, X, y, groups, parts, rng):
    """(low, high) by the name of the method."""
    found = {"corrected t": corrected_t(parts.fold_errors), "Bayle": bayle(parts)}
    if design.metric in LOSSES and groups is None:
        found["nested CV"] = nested_cv(design, X, y, rng)
    found["conservative z"] = conservative_z(design, X, y, groups, rng)
    return found


def corrected_t(fold_errors):
    errors = fold_errors[np.isfinite(fold_errors)]
    share = 1 / (fold_errors.shape[1] - 1)  # test rows per training row
    half = stdtrit(len(errors) - 1, (1 + LEVEL) / 2)
    half *= errors.std(ddof=1) * np.sqrt(1 / len(errors) + share)
    return errors.mean() - half, errors.mean() + half


def customary(parts):
    """(low, high) by name: of the first cross-validation, of all, of the bootstrap samples."""
    found = {"percentiles, out-of-bag": np.nanquantile(parts.scores, [0.025, 0.975])}
    for name, errors in (("folds", parts.fold_errors[0]), ("repeated folds", parts.fold_errors)):
        errors = errors[np.isfinite(errors)]
        half = stdtrit(len(errors) - 1, (1 + LEVEL) / 2) * errors.std(ddof=1) / len(errors) ** 0.5
        found[f"t over {name}"] = errors.mean() - half, errors.mean() + half
    return found


def bayle(parts):
    half = Z * parts.influence[0].std() / np.sqrt(parts.influence.shape[1])
    return parts.centres[0] - half, parts.centres[0] + half


def nested_cv(design, X, y, rng, n_repeats=20, n_folds=5):
    """As in the paper; the model without folds j and k serves both."""
    n, losses_of = len(y), LOSSES[design.metric]
    pairs = [(j, k) for k in range(n_folds) for j in range(k)]
    folds = np.array([rng.permutation(n) % n_folds for _ in range(n_repeats)])
    left_out = [
        [folds == k for k in range(n_folds)],
        [(folds == j) | (folds == k) for j, k in pairs],
    ]
    weights = 1.0 - np.concatenate([np.stack(own, axis=1) for own in left_out], axis=1)
    answers = design.learner(X, y, weights.reshape(-1, n), X)
    losses = losses_of(answers, y).reshape(n_repeats, -1, n)
    inner, gaps, outer_all = [], [], []
    for own, fold in zip(losses, folds, strict=True):
        for k in range(n_folds):
            outer = own[k, fold == k]
            without = [
                own[n_folds + pairs.index((min(j, k), max(j, k))), fold == j]
                for j in range(n_folds)
                if j != k
            ]
            within = np.concatenate(without)
            gaps.append((within.mean() - outer.mean()) ** 2 - outer.var(ddof=1) / len(outer))
            inner.append(within)
            outer_all.append(outer)
    inner, outer_all = np.concatenate(inner), np.concatenate(outer_all)
    error, sigma = inner.mean(), inner.std(ddof=1)
    mse = (n_folds - 1) / n_folds * np.mean(gaps)
    half = np.clip(np.sqrt(max(mse, 0.0)), sigma / np.sqrt(n), sigma * np.sqrt(n_folds / n))
    centre = error - (1 + (n_folds - 2) / n_folds) * (error - outer_all.mean())
    return centre - Z * half, centre + Z * half


def conservative_z(design, X, y, groups, rng, n_splits=15, n_halves=10):
    """Mean of splits with a tenth for testing; variance between halves with as many test units."""
    unit = np.arange(len(y)) if groups is None else groups
    n_units = int(unit.max()) + 1
    n_test = max(n_units // 10, 1)
    train, test = [], []
    for _ in range(n_splits):
        _split(rng.permutation(n_units), n_test, n_units, train, test)
    for _ in range(n_halves):
        order = rng.permutation(n_units)
        for half in (order[: n_units // 2], order[n_units // 2 : 2 * (n_units // 2)]):
            for _ in range(n_splits):
                _split(rng.permutation(half), n_test, n_units, train, test)
    train, test = np.array(train)[:, unit], np.array(test)[:, unit]
    answers = design.learner(X, y, train.astype(float), X)
    errors = error_and_influence(design.metric, answers, y, test)[0]
    by_half = np.nanmean(errors[n_splits:].reshape(n_halves, 2, n_splits), axis=2)
    half = Z * np.sqrt(np.nanmean((by_half[:, 0] - by_half[:, 1]) ** 2) / 2)
    centre = np.nanmean(errors[:n_splits])
    return centre - half, centre + half


def _split(order, n_test, n_units, train, test):
    inside, outside = np.zeros(n_units, bool), np.zeros(n_units, bool)
    outside[order[:n_test]] = True
    inside[order[n_test:]] = True
    train.append(inside)
    test.append(outside)


def shifted_percentiles(parts):
    """Noma et al. (2021): percentiles of the apparent error, moved by the mean optimism."""
    optimism = np.nanmean(parts.on_all - parts.inside)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(parts.inside, tails) + optimism
    return parts.resubstitution + optimism, low, high
