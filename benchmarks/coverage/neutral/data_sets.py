"""One data set of a cell: all training samples, the models' losses, and every method's limits.

Methods share what they can: fewer splits or samples are the first ones of more, the folds that
"cv-bootstrap" is made of are those of 10-fold cross-validation stratified by label, all others draw
without strata, as in the paper. The model without two folds of nested cross-validation serves both.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from skboot.inference import prediction_error

from ..methods.designs import Design
from ..methods.parts import samples_of
from ..runner import Limits
from . import intervals
from .learners import LEARNERS
from .processes import LOSSES, PROCESSES, no_information

N_FRESH = {100: 20_000, 500: 50_000}
# Training sets more of each data set, for the expected risk alone.
N_MORE = 4
# And of each cell, whatever the number of its data sets.
N_TRAINED = 100
SPLITS, BOOTSTRAPS = (10, 25, 50, 100), (10, 50, 100)
HALVINGS, HALF_SPLITS = 10, (5, 10, 15)
NESTED, FOLDS = (3, 10), 5
OURS = {"cv-bootstrap 71": (60, 1), "cv-bootstrap": (80, 3), "cv-bootstrap 251": (200, 5)}
N_OURS, N_REPEATS = 200, 5

METHODS = {
    "cv-bootstrap": 111,
    "cv-bootstrap 71": 71,
    "cv-bootstrap 251": 251,
    "cv-bootstrap-conservative": 231,
    "skboot .632+": 201,
    "skboot out-of-bag": 201,
    "holdout 2/3": 1,
    "holdout .9": 1,
    **{f"corrected t {k}": k for k in SPLITS},
    "5 folds": 5,
    "10 folds": 10,
    "leave-one-out": 100,
    "5 x 2": 10,
    **{f"nested {k} x 5": 25 * k for k in NESTED},
    **{f"conservative z 10 x {k}": 21 * k for k in HALF_SPLITS},
    **{f"out-of-bag {k}": k for k in BOOTSTRAPS},
    **{f".632+ {k}": k + 1 for k in BOOTSTRAPS},
    **{f"shifted {k}": k + 1 for k in BOOTSTRAPS[1:]},
    "replace-one": 260,
}
"""Trainings of each method; as they would be counted alone, at 100 rows."""
AT_100_ONLY = ("leave-one-out", "replace-one")
"""At 500 rows they need more than 400 trainings."""


class Cell(NamedTuple):
    """A process, a learner and a number of rows."""

    process: str
    learner: str
    n: int


class Trainings:
    """Training samples of n rows, each kind under a name."""

    def __init__(self, n):
        self.n = n
        self._parts, self._at, self._size = [], {}, 0

    def add(self, name, counts):
        """Add training samples, (n_samples, n)."""
        counts = np.atleast_2d(counts)
        self._at[name] = slice(self._size, self._size + len(counts))
        self._parts.append(counts.astype(float))
        self._size += len(counts)

    @property
    def counts(self):
        """All of them."""
        return np.concatenate(self._parts)

    def __getitem__(self, name):
        return self._at[name]


def _pairs():
    return [(j, k) for k in range(FOLDS) for j in range(k)]


def _replaced(rng, n):
    """Folds of half of the rows, (n // 2,), and the row that replaces each: rows and others."""
    order = rng.permutation(2 * (n // 2))
    return rng.permutation(n // 2) % FOLDS, order[: n // 2], order[n // 2 :]


def plan(rng: np.random.Generator, y: np.ndarray) -> tuple[Trainings, dict]:
    """Training samples of all methods, and what else they need: folds, rows tested."""
    n = len(y)
    found, more = Trainings(n), {}
    found.add("all", np.ones(n))
    design = Design(None, None, n, "error", n_resamples=N_OURS, n_repeats=N_REPEATS)
    samples = samples_of(design, y, None, rng)
    n_ours = int(samples.folds.max()) + 1
    found.add("bootstrap", samples.counts)
    in_fold = samples.folds[:, None, :] == np.arange(n_ours)[:, None]
    found.add("ours", ~in_fold.reshape(-1, n))
    more["ours"] = in_fold
    folds = rng.permutation(n) % 10
    more["10 folds"] = folds == np.arange(10)[:, None]
    found.add("10 folds", ~more["10 folds"])
    n_test = n - round(0.9 * n)
    more["n_test"] = n_test
    found.add("splits", [_without(rng.permutation(n)[:n_test], n) for _ in range(SPLITS[-1])])
    found.add("holdout 2/3", _without(rng.permutation(n)[: n - round(2 / 3 * n)], n))
    halves = np.array([rng.permutation(n) % 2 for _ in range(5)])
    found.add("5 x 2", np.stack((halves == 1, halves == 0), axis=1).reshape(-1, n))
    folds = np.array([rng.permutation(n) % FOLDS for _ in range(NESTED[-1])])
    more["nested"] = folds
    one = folds[:, None, :] == np.arange(FOLDS)[:, None]
    found.add("outer", ~one.reshape(-1, n))
    two = np.stack([one[:, j] | one[:, k] for j, k in _pairs()], axis=1)
    found.add("inner", ~two.reshape(-1, n))
    own = [_without(rng.permutation(n)[:n_test], n) for _ in range(HALF_SPLITS[-1])]
    found.add("z splits", own)
    train, test = [], []
    for _ in range(HALVINGS):
        order = rng.permutation(n)
        for half in (order[: n // 2], order[n // 2 : 2 * (n // 2)]):
            for _ in range(HALF_SPLITS[-1]):
                mixed = rng.permutation(half)
                test.append(~_without(mixed[:n_test], n))
                train.append(~_without(mixed[n_test:], n))
    found.add("z halves", train)
    more["z halves"] = np.array(test)
    if n <= 100:
        found.add("leave-one-out", ~np.eye(n, dtype=bool))
        _add_replaced(found, more, rng)
    return found, more


def _add_replaced(found, more, rng):
    n = found.n
    fold, rows, others = _replaced(rng, n)
    train = [~_without(rows[fold != k], n) for k in range(FOLDS)]
    for at, own in enumerate(fold):
        for k in range(FOLDS):
            if k != own:
                changed = np.where(np.arange(len(rows)) == at, others, rows)
                train.append(~_without(changed[fold != k], n))
    found.add("replace-one", train)
    more["replace-one"] = fold, rows, others


def _without(rows, n):
    inside = np.ones(n, dtype=bool)
    inside[rows] = False
    return inside


# ------------------------------------------------------------------ limits


def limits(losses, inside, chance, bounds, trainings, more) -> tuple[float, dict[str, Limits]]:
    """Estimate by five times ten folds, and the limits of every method.

    Parameters
    ----------
    losses : ndarray of shape (n_trainings, n)
        Of every model on every row.
    chance : float
        No-information error of the model of all rows.
    """

    def of(name):
        return losses[trainings[name]]

    counts = trainings.counts
    boots = counts[trainings["bootstrap"]]
    in_fold = more["ours"]
    out_of_fold = np.einsum("rfn,rfn->rn", of("ours").reshape(in_fold.shape), in_fold)
    found = _ours(of("bootstrap"), boots, inside, chance, bounds, out_of_fold)
    found |= _splits(of, counts, trainings, more)
    found |= _folds(of, trainings, more)
    point = float(inside.mean())
    errors_inside = np.einsum("ij,ij->i", of("bootstrap"), boots) / boots.sum(axis=1)
    for k in BOOTSTRAPS:
        error, spread = intervals.out_of_bag(of("bootstrap")[:k], boots[:k])
        plus = intervals.point632_plus(error, point, chance)
        found[f"out-of-bag {k}"] = intervals.normal(error, spread)
        scale = plus / error if error > 0 else 1.0
        found[f".632+ {k}"] = intervals.normal(plus, spread * scale)
        if k in BOOTSTRAPS[1:]:
            found[f"shifted {k}"] = intervals.shifted(errors_inside[:k], point, plus)
    return float(out_of_fold.mean()), found


def _ours(losses, counts, inside, chance, bounds, out_of_fold):
    """Intervals of skboot, from the first samples and repeats."""
    found, made = {}, {}
    for n_samples, n_repeats in {*OURS.values(), (N_OURS, 3)}:
        made[n_samples, n_repeats] = prediction_error(
            losses[:n_samples],
            counts[:n_samples],
            resubstitution_losses=inside,
            no_information_rate=chance,
            bounds=bounds,
            cv_losses=out_of_fold[:n_repeats],
        )
    for name, numbers in OURS.items():
        found[name] = made[numbers].interval("cv-bootstrap")
    whole = made[N_OURS, 3]
    found["cv-bootstrap-conservative"] = whole.interval("cv-bootstrap-conservative")
    found["skboot .632+"] = whole.interval("adjusted")
    found["skboot out-of-bag"] = whole.interval("adjusted", point="oob")
    return found


def _splits(of, counts, trainings, more):
    """Holdout, corrected t and conservative z."""
    outside = counts[trainings["splits"]] == 0
    errors = _means(of("splits"), outside)
    found = {"holdout .9": intervals.holdout(of("splits")[0][outside[0]])}
    outside_third = counts[trainings["holdout 2/3"]][0] == 0
    found["holdout 2/3"] = intervals.holdout(of("holdout 2/3")[0][outside_third])
    n_test = more["n_test"]
    for k in SPLITS:
        found[f"corrected t {k}"] = intervals.corrected_t(
            errors[:k], len(counts[0]) - n_test, n_test
        )
    errors = _means(of("z splits"), counts[trainings["z splits"]] == 0)
    halves = _means(of("z halves"), more["z halves"]).reshape(HALVINGS, 2, -1)
    for k in HALF_SPLITS:
        found[f"conservative z 10 x {k}"] = intervals.conservative_z(errors[:k], halves[..., :k])
    outside = counts[trainings["5 x 2"]] == 0
    errors = _means(of("5 x 2"), outside).reshape(5, 2)
    found["5 x 2"] = intervals.five_times_two(errors)
    return found


def _folds(of, trainings, more):
    """Cross-validation of ten, five and as many folds as rows, and what is made of five."""
    found = {"10 folds": intervals.all_pairs(of("10 folds")[more["10 folds"]])}
    folds, n = more["nested"], trainings.n
    models = of("outer").reshape(len(folds), FOLDS, n)
    within = of("inner").reshape(len(folds), len(_pairs()), n)
    outer, inner = [], []
    for fold, whole, own in zip(folds, models, within, strict=True):
        outer.append([whole[k, fold == k] for k in range(FOLDS)])
        inner.append([np.concatenate(_inside(own, fold, k)) for k in range(FOLDS)])
    outer, inner = np.array(outer), np.array(inner)
    for k in NESTED:
        found[f"nested {k} x 5"] = intervals.nested(outer[:k], inner[:k])
    five = outer[0].ravel()
    found["5 folds"] = intervals.all_pairs(five)
    if n <= 100:
        found["leave-one-out"] = intervals.all_pairs(np.diag(of("leave-one-out")))
        found["replace-one"] = _replace_one(five.mean(), of("replace-one"), *more["replace-one"])
    return found


def _inside(losses, fold, out):
    """Losses of the cross-validation of all folds but one, by fold."""
    pairs = _pairs()
    return [
        losses[pairs.index((min(k, out), max(k, out))), fold == k] for k in range(FOLDS) if k != out
    ]


def _replace_one(centre, losses, fold, rows, others):
    models, size = losses[:FOLDS], len(rows)
    own = models[fold, rows]
    changed = losses[FOLDS:].reshape(size, FOLDS - 1, -1)
    replaced = np.empty(size)
    for at in range(size):
        by_fold = np.empty((FOLDS, losses.shape[1]))
        by_fold[fold[at]] = models[fold[at]]
        by_fold[[k for k in range(FOLDS) if k != fold[at]]] = changed[at]
        tested = np.where(np.arange(size) == at, others, rows)
        replaced[at] = by_fold[fold, tested].mean()
    return intervals.replace_one(centre, own.mean(), replaced)


def _means(losses, tested):
    return np.einsum("ij,ij->i", losses, tested) / tested.sum(axis=1)


# ------------------------------------------------------------------ data sets


def rng_of(*key) -> np.random.Generator:
    """A generator of its own for each key."""
    return np.random.default_rng([zlib.crc32(str(part).encode()) for part in ("neutral", *key)])


class Outcome(NamedTuple):
    """What one data set gives for one loss.

    `risk` is that of the model of all rows, `risk_error` the error from the number of fresh rows;
    `more` has the risks of models of other training sets; `estimate` is the error by five times ten
    folds, whose spread over data sets widths are measured by.
    """

    risk: float
    risk_error: float
    more: tuple[float, ...]
    estimate: float
    limits: dict[str, Limits]


def outcomes(cell: Cell, seeds: int, number: int) -> dict[str, Outcome]:
    """Outcomes of a data set, by loss. Learners see the same data sets and training samples."""
    process = PROCESSES[cell.process]
    rng = rng_of(seeds, cell.process, cell.n, number)
    rows = process.draw(rng, cell.n)
    trainings, more = plan(rng, rows.y)
    fit, counts = LEARNERS[cell.learner], trainings.counts
    start = int(rng.integers(2**31))
    answers = fit(process, rows.X, rows.y, counts, rows.X, start)
    fresh = process.draw(rng_of("fresh", seeds, cell.process, cell.n), N_FRESH[cell.n])
    every = np.ones((1, cell.n))
    trained = [rows, *(process.draw(rng, cell.n) for _ in range(N_MORE))]
    new = np.concatenate(
        [
            # One model has the same seed as among all: that of all rows is the first.
            fit(process, own.X, own.y, every, fresh.X, start)
            for own in trained
        ]
    )
    risks = process.risks(new, fresh.law)
    found = {}
    for loss in process.losses:
        losses = LOSSES[loss](answers, rows.y)
        inside = losses[0]
        chance = no_information(loss, answers[0], rows.y)
        bounds = (0.0, 1.0) if loss == "zero-one" else (0.0, np.inf)
        estimate, made = limits(losses, inside, chance, bounds, trainings, more)
        risk, error = risks[loss]
        found[loss] = Outcome(risk[0], error[0], tuple(risk[1:]), estimate, made)
    return found


def expected_risks(cell: Cell, seeds: int) -> dict[str, np.ndarray]:
    """Risks of models of training sets that no interval is made of, by loss."""
    process = PROCESSES[cell.process]
    fresh = process.draw(rng_of("fresh", seeds, cell.process, cell.n), N_FRESH[cell.n])
    rng = rng_of("trained", seeds, cell.process, cell.n)
    every, found = np.ones((1, cell.n)), {loss: [] for loss in process.losses}
    for _ in range(N_TRAINED):
        rows, start = process.draw(rng, cell.n), int(rng.integers(2**31))
        answers = LEARNERS[cell.learner](process, rows.X, rows.y, every, fresh.X, start)
        for loss, (risk, _) in process.risks(answers, fresh.law).items():
            found[loss].append(risk[0])
    return {loss: np.array(risks) for loss, risks in found.items()}
