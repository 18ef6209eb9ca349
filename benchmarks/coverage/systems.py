"""Generators of frozen systems: what a system answers on n rows, and the truth of its score.

Each function returns `draw(rng) -> SystemSample`. The truth is what the score tends to with ever
more rows, by an exact formula or by quadrature (a test holds each against a large sample).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import integrate, optimize, special, stats

from .exceptions import exception_of
from .samples import SystemSample
from .scores import COSTS, SCORES

Draw = Callable[[np.random.Generator], SystemSample]
# Share of positives where scores are latent qualities.
PREVALENCE = 0.4


def _drawn(name: str, truth: float, rows: Callable) -> Draw:
    score = SCORES[name]

    def draw(rng):
        y, p = rows(rng)
        return SystemSample(y, p, score, {"": truth}, exception=exception_of(score, y, p))

    return draw


def proportion(n: int, accuracy: float) -> Draw:
    """Rows are answered rightly with one probability."""

    def rows(rng):
        y = rng.integers(0, 2, size=n)
        return y, np.where(rng.random(n) < accuracy, y, 1 - y)

    return _drawn("accuracy", accuracy, rows)


def rates_score(name: str, prevalence: float, recall: float, false: float) -> float:
    """F1, MCC, kappa or cost of a system with a recall and a rate of false alarms."""
    hits, wrong = prevalence * recall, (1 - prevalence) * false
    missed, left = prevalence - hits, 1 - prevalence - wrong
    found, agreement = hits + wrong, hits + left
    chance = prevalence * found + (1 - prevalence) * (1 - found)
    scale = np.sqrt(prevalence * (1 - prevalence) * found * (1 - found))
    return {
        "F1": 2 * hits / (prevalence + found),
        "MCC": (hits * left - wrong * missed) / scale,
        "kappa": (agreement - chance) / (1 - chance),
        **{cost: wrong * table[0][1] + missed * table[1][0] for cost, table in COSTS.items()},
    }[name]


def two_classes(name: str, n: int, prevalence: float, recall: float, false: float) -> Draw:
    """Classes are found with a recall, and falsely at a rate: F1, MCC, kappa, cost."""

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        return y, (rng.random(n) < np.where(y == 1, recall, false)).astype(int)

    return _drawn(name, rates_score(name, prevalence, recall, false), rows)


def classes(n_classes: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Shares of classes, which fall like 1 / (1 + k / K), and their accuracies from low to high."""
    shares = 1 / (1 + np.arange(n_classes) / n_classes)
    found = np.linspace(high, low, n_classes)[np.argsort(np.sin(np.arange(n_classes)))]
    return shares / shares.sum(), found


def classes_score(name: str, shares: np.ndarray, found: np.ndarray) -> float:
    """Macro F1 or kappa where what is not found is taken for one of the next two classes."""
    n_classes = len(shares)
    table = np.diag(shares * found)
    for step in (1, 2):
        table[np.arange(n_classes), (np.arange(n_classes) + step) % n_classes] += (
            shares * (1 - found) / 2
        )
    decided = table.sum(axis=0)
    chance = shares @ decided
    return float(
        {
            "macro F1": np.mean(2 * np.diag(table) / (shares + decided)),
            "kappa": (np.trace(table) - chance) / (1 - chance),
        }[name]
    )


def many_classes(name: str, n: int, n_classes: int, low: float, high: float) -> Draw:
    """Classes of falling shares, found with accuracies from low to high."""
    shares, found = classes(n_classes, low, high)

    def rows(rng):
        y = rng.choice(n_classes, size=n, p=shares)
        other = (y + rng.integers(1, 3, size=n)) % n_classes
        return y, np.where(rng.random(n) < found[y], y, other)

    return _drawn(name, classes_score(name, shares, found), rows)


def binormal_auc(distance: float, spread: float) -> float:
    """Area under the curve of N(distance, spread) against N(0, 1)."""
    return float(special.ndtr(distance / np.hypot(1, spread)))


def binormal_precision(distance: float, spread: float, prevalence: float) -> float:
    """Average precision of the same, by quadrature over the recall."""

    def precision(recall):
        threshold = distance - spread * special.ndtri(recall)
        hits = prevalence * recall
        return hits / (hits + (1 - prevalence) * special.ndtr(-threshold))

    return integrate.quad(precision, 0, 1, limit=500)[0]


def scored(name: str, n: int, prevalence: float, auc: float, spread: float = 1.0) -> Draw:
    """Scores are normal in both classes: AUC, average precision. MLstatkit wants them in (0, 1)."""
    distance = special.ndtri(auc) * np.hypot(1, spread)
    truth = auc if name == "AUC" else binormal_precision(distance, spread, prevalence)

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        return y, special.expit(
            np.where(y == 1, distance + spread * rng.normal(size=n), rng.normal(size=n))
        )

    return _drawn(name, truth, rows)


# Errors of regression, each with variance 1 where it has one.
ERRORS = {
    "normal": stats.norm(),
    "t5": stats.t(5, scale=np.sqrt(3 / 5)),
    "t3": stats.t(3, scale=np.sqrt(1 / 3)),
    "lognormal .5": stats.lognorm(0.5, loc=-np.exp(0.125)),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
}


def error_score(name: str, errors: str) -> float:
    """Truth of a score of regression; R2 of a signal whose variance is 3."""
    law = ERRORS[errors]
    if name in ("MSE", "RMSE", "R2"):
        mean_square = law.var() + law.mean() ** 2
        return {
            "MSE": mean_square,
            "RMSE": np.sqrt(mean_square),
            "R2": 1 - mean_square / (3 + mean_square),
        }[name]
    if name == "median absolute error":
        return optimize.brentq(lambda x: law.cdf(x) - law.cdf(-x) - 0.5, 0, 50)
    low, high = law.support()
    weight = {"MAE": (1.0, 1.0), "pinball": (0.1, 0.9)}[name]
    below = integrate.quad(lambda x: -x * law.pdf(x), low, 0, limit=500)[0]
    above = integrate.quad(lambda x: x * law.pdf(x), 0, high, limit=500)[0]
    return weight[0] * below + weight[1] * above


def regression(name: str, n: int, errors: str) -> Draw:
    """Predictions p of y = p + error, p normal with variance 3."""
    law = ERRORS[errors]

    def rows(rng):
        p = np.sqrt(3) * rng.normal(size=n)
        return p + law.rvs(size=n, random_state=rng), p

    return _drawn(name, float(error_score(name, errors)), rows)


def mean_log_loss(slope: float, spread: float) -> float:
    """Log loss of expit(slope x) where y has probability expit(x), x normal."""

    def at(x):
        right = special.expit(x)
        given = special.log_expit(slope * x), special.log_expit(-slope * x)
        return -(right * given[0] + (1 - right) * given[1]) * stats.norm.pdf(x, scale=spread)

    return integrate.quad(at, -12 * spread, 12 * spread, limit=500)[0]


def probabilities(n: int, slope: float, spread: float) -> Draw:
    """Log loss: slope 1 is calibrated, more is sure of itself, which makes a heavy tail."""

    def rows(rng):
        x = spread * rng.normal(size=n)
        return (rng.random(n) < special.expit(x)).astype(int), special.expit(slope * x)

    return _drawn("log loss", mean_log_loss(slope, spread), rows)


def _normal(rng, share: float, *size: int) -> np.ndarray:
    """Normal effects with a share of the variance."""
    return np.sqrt(share) * rng.normal(size=size)


def _of_latent(name: str, latent: np.ndarray, rng, at: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose latent quality is N(0, 1): errors, or scores that separate better or worse."""
    if name in ("accuracy", "F1", "macro F1"):
        # Both classes are as frequent and as often wrong, so that all three have one truth.
        y = rng.integers(0, 2, size=len(latent))
        return y, np.where(latent < special.ndtri(at), y, 1 - y)
    if name == "MAE":
        # Losses are lognormal, with sigma `at`.
        return np.zeros(len(latent)), np.exp(at * latent)
    y = (rng.random(len(latent)) < PREVALENCE).astype(int)
    return y, latent + np.sqrt(2) * special.ndtri(at) * y


def _truth_of_latent(name: str, at: float) -> float:
    return float(np.exp(at**2 / 2)) if name == "MAE" else at


def grouped(name: str, n_groups: int, sizes: tuple[int, int], icc: float, at: float) -> Draw:
    """Rows of groups that share a part `icc` of the variance of a latent quality.

    Sizes are uniform from the first to the second. `at` is the accuracy, the area under the curve
    (of latent scores), or the sigma of lognormal losses.
    """
    score, truth = SCORES[name], {"": _truth_of_latent(name, at)}

    def draw(rng):
        n_rows = rng.integers(sizes[0], sizes[1] + 1, size=n_groups)
        groups = np.repeat(np.arange(n_groups), n_rows)
        latent = _normal(rng, icc, n_groups)[groups] + _normal(rng, 1 - icc, len(groups))
        y, p = _of_latent(name, latent, rng, at)
        excepted = exception_of(score, y, p, groups)
        return SystemSample(y, p, score, truth, groups, exception=excepted)

    return draw


def crossed(
    name: str, n_left: int, n_right: int, icc: float, at: float, *, by_member: bool = False
) -> Draw:
    """Every member of one side with every member of the other; each side has a part `icc`.

    For the area under the curve, both classes are met on either side; with `by_member` the label is
    that of the member on the right, as of items.
    """
    score, truth = SCORES[name], {"": _truth_of_latent(name, at)}

    def draw(rng):
        left, right = np.indices((n_left, n_right)).reshape(2, -1)
        latent = _normal(rng, icc, n_left)[left] + _normal(rng, icc, n_right)[right]
        latent += _normal(rng, 1 - 2 * icc, len(left))
        y, p = _of_latent(name, latent, rng, at)
        if by_member:
            y = (rng.random(n_right) < PREVALENCE).astype(int)[right]
            p = latent + np.sqrt(2) * special.ndtri(at) * y
        groups = np.column_stack((left, right))
        excepted = exception_of(score, y, p, groups)
        return SystemSample(y, p, score, truth, groups, exception=excepted)

    return draw


def trials(name: str, n_members: int, icc: float, at: float) -> Draw:
    """Pairs of one population, as in speaker verification: AUC, or accuracy of all trials.

    Each member has two recordings. Pairs of one member are positives, pairs of two negatives; a
    member's effect is in all of its trials.
    """
    score, truth = SCORES[name], {"": _truth_of_latent(name, at)}

    def draw(rng):
        s, t = np.triu_indices(n_members)
        effect = _normal(rng, icc / 2, n_members)
        latent = effect[s] + effect[t]
        y = (s == t).astype(int)
        # A trial of one member has that member's effect twice.
        rest = np.where(s == t, 1 - 2 * icc, 1 - icc)
        latent += np.sqrt(rest) * rng.normal(size=len(s))
        p = latent + np.sqrt(2) * special.ndtri(at) * y
        if name == "accuracy":
            p = np.where(latent < special.ndtri(at), y, 1 - y)
        groups = np.column_stack((s, t))
        excepted = exception_of(score, y, p, groups)
        return SystemSample(y, p, score, truth, groups, same_population=True, exception=excepted)

    return draw
