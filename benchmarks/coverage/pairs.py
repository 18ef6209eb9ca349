"""Frozen systems on one test set, two or more: generators with the truth.

Each function returns `draw(rng) -> PairSample`. Systems are told by what they are like, one
argument each; rows that are hard for one tend to be hard for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from .exceptions import exception_of
from .samples import PairSample
from .scores import SCORES
from .systems import (
    ERRORS,
    binormal_auc,
    binormal_precision,
    classes,
    classes_score,
    error_score,
    rates_score,
)

Draw = Callable[[np.random.Generator], PairSample]
# Correlation of what two systems find hard.
SHARED = 0.6


def _of_systems(normal: Callable[..., np.ndarray], n_systems: int) -> np.ndarray:
    """Qualities (n_systems, n), correlated by `SHARED`; `normal(*shape)` draws (*shape, n)."""
    common = np.sqrt(SHARED) * normal()
    return common + np.sqrt(1 - SHARED) * normal(n_systems)


def _latent(rng, n: int, n_systems: int) -> np.ndarray:
    """Normal qualities of independent rows."""
    return _of_systems(lambda *shape: rng.normal(size=(*shape, n)), n_systems)


def _drawn(name: str, values: Sequence[float], rows: Callable, **options) -> Draw:
    """Samples of `rows(rng) -> y, predictions[, groups]`, whose systems have these true scores."""
    score, values = SCORES[name], tuple(map(float, values))
    truth = {"difference": values[0] - values[1], "zero": 0.0}
    if len(values) > 2:
        truth = {"all pairs": 0.0} | ({"best": 0.0} if len(set(values)) > 1 else {})

    def draw(rng):
        y, predictions, *groups = rows(rng)
        groups = groups[0] if groups else None
        found = {exception_of(score, y, p, groups) for p in predictions} - {""}
        told = "; ".join(sorted(found))
        return PairSample(
            y, list(predictions), score, truth, values, groups, exception=told, **options
        )

    return draw


def accuracies(n: int, *values: float) -> Draw:
    """Systems with these accuracies."""
    limits = special.ndtri(values)[:, None]

    def rows(rng):
        y = rng.integers(0, 2, size=n)
        return y, np.where(_latent(rng, n, len(values)) < limits, y, 1 - y)

    return _drawn("accuracy", values, rows)


def two_classes(name: str, n: int, prevalence: float, *rates: tuple[float, float]) -> Draw:
    """Systems with recalls and rates of false alarms: F1, MCC."""
    both = np.array(rates)

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        found = np.where(y == 1, both[:, :1], both[:, 1:])
        return y, (special.ndtr(_latent(rng, n, len(both))) < found).astype(int)

    return _drawn(name, [rates_score(name, prevalence, *own) for own in rates], rows)


def macro_f1_scores(n: int, n_classes: int, *accuracies: tuple[float, float]) -> Draw:
    """Classes of falling shares, found by each system with accuracies from low to high."""
    shares = classes(n_classes, *accuracies[0])[0]
    found = np.array([classes(n_classes, *own)[1] for own in accuracies])

    def rows(rng):
        y = rng.choice(n_classes, size=n, p=shares)
        other = (y + rng.integers(1, 3, size=(len(found), n))) % n_classes
        return y, np.where(special.ndtr(_latent(rng, n, len(found))) < found[:, y], y, other)

    return _drawn("macro F1", [classes_score("macro F1", shares, own) for own in found], rows)


def ranked(name: str, n: int, prevalence: float, *areas: float) -> Draw:
    """Systems whose scores are normal in both classes, with these areas under the ROC curve."""
    shift = np.sqrt(2) * special.ndtri(areas)

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        return y, _latent(rng, n, len(areas)) + shift[:, None] * y

    value = {
        "AUC": lambda distance: binormal_auc(distance, 1),
        "average precision": lambda distance: binormal_precision(distance, 1, prevalence),
    }[name]
    return _drawn(name, [value(distance) for distance in shift], rows)


def absolute_errors(n: int, *ratios: float) -> Draw:
    """Predictions with normal errors, each system's so many times as large."""
    scale = np.array(ratios)

    def rows(rng):
        return np.zeros(n), scale[:, None] * _latent(rng, n, len(scale))

    return _drawn("MAE", scale * np.sqrt(2 / np.pi), rows)


def errors(name: str, n: int, law: str, *ratios: float) -> Draw:
    """The same with errors of a law of `systems.ERRORS`: MSE, MAE."""
    scale = np.array(ratios)

    def rows(rng):
        shares = special.ndtr(_latent(rng, n, len(scale)))
        return np.zeros(n), scale[:, None] * ERRORS[law].ppf(shares)

    times = scale**2 if name == "MSE" else scale
    return _drawn(name, times * error_score(name, law), rows)


def explained(n: int, *errors: float) -> Draw:
    """R2 of a target with variance 4 by systems with normal errors of these deviations."""
    scale = np.array(errors)

    def rows(rng):
        y = 2 * rng.normal(size=n)
        return y, y + scale[:, None] * _latent(rng, n, len(scale))

    return _drawn("R2", 1 - scale**2 / 4, rows)


def probabilities(n: int, noise: float, *slopes: float) -> Draw:
    """Log loss of expit(slope (x + e)), where y has probability expit(x), x normal, e of a system.

    x has a standard deviation of 1.5, and e that of `noise`.
    """
    steep = np.array(slopes)

    def rows(rng):
        x = 1.5 * rng.normal(size=n)
        y = (rng.random(n) < special.expit(x)).astype(int)
        seen = x + noise * rng.normal(size=(len(steep), n))
        return y, special.expit(steep[:, None] * seen)

    return _drawn("log loss", [_noisy_log_loss(slope, 1.5, noise) for slope in slopes], rows)


def _noisy_log_loss(slope: float, spread: float, noise: float) -> float:
    """Expected loss, by quadrature over x and e."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    x = spread * nodes[:, None]
    seen = slope * (x + noise * nodes)
    right = special.expit(x)
    loss = -(right * special.log_expit(seen) + (1 - right) * special.log_expit(-seen))
    return float(weights @ loss @ weights / weights.sum() ** 2)


def grouped(name: str, n_groups: int, sizes: tuple[int, int], icc: float, *at: float) -> Draw:
    """Rows of groups that share a part `icc` of the variance of what is hard, for all and for each.

    Sizes are uniform from the first to the second. `at`: accuracies, areas under the curve of
    latent scores, or the sigmas of lognormal losses.
    """

    def rows(rng):
        n_rows = rng.integers(sizes[0], sizes[1] + 1, size=n_groups)
        groups = np.repeat(np.arange(n_groups), n_rows)

        def normal(*shape):
            of_groups = np.sqrt(icc) * rng.normal(size=(*shape, n_groups))[..., groups]
            return of_groups + np.sqrt(1 - icc) * rng.normal(size=(*shape, len(groups)))

        return *_of_latent(name, _of_systems(normal, len(at)), rng, at), groups

    return _drawn(name, _true_scores(name, at), rows)


def crossed(name: str, n_left: int, n_right: int, icc: float, *at: float) -> Draw:
    """Every member of one side with every member of the other; each side has a part `icc`."""

    def rows(rng):
        left, right = np.indices((n_left, n_right)).reshape(2, -1)

        def normal(*shape):
            of_left = rng.normal(size=(*shape, n_left))[..., left]
            of_right = rng.normal(size=(*shape, n_right))[..., right]
            rest = np.sqrt(1 - 2 * icc) * rng.normal(size=(*shape, len(left)))
            return np.sqrt(icc) * (of_left + of_right) + rest

        groups = np.column_stack((left, right))
        return *_of_latent(name, _of_systems(normal, len(at)), rng, at), groups

    return _drawn(name, _true_scores(name, at), rows)


def trials(n_members: int, icc: float, *areas: float) -> Draw:
    """Pairs of one population: of one member positive, of two negative, as `systems.trials`."""

    def rows(rng):
        s, t = np.triu_indices(n_members)
        rest = np.where(s == t, 1 - 2 * icc, 1 - icc)

        def normal(*shape):
            effect = np.sqrt(icc / 2) * rng.normal(size=(*shape, n_members))
            return (
                effect[..., s] + effect[..., t] + np.sqrt(rest) * rng.normal(size=(*shape, len(s)))
            )

        y = (s == t).astype(int)
        shift = np.sqrt(2) * special.ndtri(areas)[:, None]
        return y, _of_systems(normal, len(areas)) + shift * y, np.column_stack((s, t))

    return _drawn("AUC", areas, rows, same_population=True)


def _of_latent(name: str, latent: np.ndarray, rng, at: Sequence[float]):
    """Truth and answers of rows of these qualities (n_systems, n)."""
    level, n = np.array(at)[:, None], latent.shape[1]
    if name == "accuracy":
        y = rng.integers(0, 2, size=n)
        return y, np.where(latent < special.ndtri(level), y, 1 - y)
    if name == "MAE":
        return np.zeros(n), np.exp(level * latent)
    y = (rng.random(n) < 0.4).astype(int)
    return y, latent + np.sqrt(2) * special.ndtri(level) * y


def _true_scores(name: str, at: Sequence[float]) -> Sequence[float]:
    return np.exp(np.square(at) / 2) if name == "MAE" else at
