"""skboot's own intervals: the default under its name, others of the same call by theirs."""

from __future__ import annotations

import numpy as np

from skboot import bootstrap_score
from skboot.inference import prediction_error
from skboot.inference.intervals import INTERVALS

from .runner import Tool
from .samples import MethodSample, SystemSample

N_TRAIN_RESAMPLES, N_CV_REPEATS, N_FOLDS = 200, 5, 10
BY_NAME = ("percentile", "expanded", "two-way", "normal", "studentized", "bca")


def default_of_system(sample: SystemSample, seed: int) -> dict:
    """The default of `bootstrap_score` alone."""
    return {"": _result(sample, seed).confidence_interval[:2]}


def of_system(sample: SystemSample, seed: int) -> dict:
    """The default of `bootstrap_score`, and other intervals by name from the same resamples."""
    result = _result(sample, seed)
    return {"": result.confidence_interval[:2]} | _by_name(result)


def _result(sample: SystemSample, seed: int):
    return bootstrap_score(
        sample.y_true,
        sample.y_pred,
        metric=sample.score.ours,
        groups=sample.units,
        random_state=seed,
    )


def as_rows(sample: SystemSample, seed: int) -> dict:
    """Intervals that take the rows of groups for independent ones (wrong)."""
    result = bootstrap_score(
        sample.y_true, sample.y_pred, metric=sample.score.ours, random_state=seed
    )
    return {"": result.confidence_interval[:2]}


def _by_name(result):
    found = {}
    for name in BY_NAME:
        assert name in INTERVALS
        try:
            found[name] = result.interval(name)[:2]
        except ValueError:
            # A metric or a design that this interval is refused for.
            continue
    return found


def of_method(sample: MethodSample, seed: int) -> dict:
    """ "cv-bootstrap" and its conservative form, as BootstrapScorer makes them by default."""
    rng = np.random.default_rng(seed)
    units, y = sample.units, sample.y
    n_units = units.max() + 1
    counts = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_TRAIN_RESAMPLES)
    folds = np.array([rng.permutation(n_units) % N_FOLDS for _ in range(N_CV_REPEATS)])[:, units]
    in_fold = folds[:, None, :] == np.arange(N_FOLDS)[:, None]
    weights = np.concatenate(
        (np.ones((1, len(y))), counts[:, units], ~in_fold.reshape(-1, len(y))), dtype=float
    )
    answers = sample.learner(sample.X, y, weights, sample.X)
    by_fold = answers[N_TRAIN_RESAMPLES + 1 :].reshape(in_fold.shape)
    error = prediction_error(
        sample.loss(answers[1 : N_TRAIN_RESAMPLES + 1], y),
        counts[:, units],
        resubstitution_losses=sample.loss(answers[0], y),
        no_information_rate=float(sample.extra.get("no_information_rate", 1.0)),
        groups=sample.groups,
        bounds=sample.bounds,
        cv_losses=sample.loss(np.sum(np.where(in_fold, by_fold, 0), axis=1), y),
    )
    return {
        "": error.interval("cv-bootstrap")[:2],
        "conservative": error.interval("cv-bootstrap-conservative")[:2],
    }


TOOLS = (
    Tool("skboot", of_system, note="bootstrap_score, all defaults; others by name"),
    Tool("skboot, rows", as_rows, note="groups left out: wrong on purpose"),
    Tool("skboot, method", of_method, note="200 bootstrap samples, 5 x 10 folds"),
)
