"""Learning curves: does the band of `skboot.learning_curve` hold the expected scores?

Question: the score at m rows is the mean over 20 nested training sets of so many of the n rows at
hand, each tested on the rows outside. Does the band hold the expected scores of the method, over
training sets of m rows and new test rows, at all sizes at once, and at each size by itself?

The form of the variance (that of test rows, that of training sets as of a mean of f n of n rows
without replacement, and the covariance of both; held beyond half of the rows at the largest up to
there) was chosen on 200 data sets of each of eleven populations with another seed (linear
discriminant, nearest neighbours, a tree, least squares and ridge, by errors and squared errors, on
60 to 200 rows), and that the covariance may be negative on the cells of kind "chosen on", also with
another seed. The other cells were not looked at.

Design. Sizes of 20, 33, 50, 70 and 90 % of the rows, 20 training sets each. Truths from 2000 fresh
training sets, each nested like those of the curve, on 1000 fresh rows. Deviations
are those of the estimates over the data sets. 500 data sets a cell. "scikit-learn" is its
`learning_curve` with five folds: the mean of the folds and Student's t of them, at each size, on
the first 100 data sets.

Rule, written before the run. A cell passes if the exact one-sided 95 % lower limits of the coverage
of the simultaneous band, and of the pointwise one at each size, are at least 90 % (two points under
the aim of 92), and the mean standard error is .9 to 1.4 times the deviation at each size. Cells
that do not pass are listed on the page.

After the run one thing was changed: F1 of 25 % positives and the area of 10 % held 86.8 and 88.6 %
at nine tenths of the rows, where 12 and 30 rows are tested. The variance of scores that are no
means is there at least that at half of the rows. Cells of such scores were run again on other data
sets, and two were added that had not been looked at.

    make coverage-study STUDY=learning_curves
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit
from sklearn import model_selection
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier

from skboot import learning_curve

from ..methods.designs import (
    Classifier,
    Regressor,
    bayes,
    centroids,
    classes,
    discriminant,
    gamma_noise,
    in_groups,
    linear,
    logit_link,
    newton,
    ridge,
    selected,
    shifted,
    sloped,
    smoother,
    stump,
    wavy,
)
from ..methods.table import versions
from ..runner import titled

N_SETS, N_PEER, N_TRUTH = 500, 100, 2000
# Of cells that were run again, or added, after the first run.
AGAIN = 9801
SHARES = (0.2, 0.33, 0.5, 0.7, 0.9)
MSE, MAE = "neg_mean_squared_error", "neg_mean_absolute_error"
LOGISTIC = Classifier(newton(logit_link, 1.0))


class Method(NamedTuple):
    """A cell: one estimator, or two whose difference is judged."""

    estimators: tuple
    draw: object  # (rng, size) -> X, y, groups
    size: int
    scoring: str = "accuracy"
    kind: str = "not looked at"
    seed: int = 9800


CELLS = {
    "linear discriminant, n 100": Method(
        (Classifier(discriminant),), sloped(5, 1.5), 100, kind="chosen on"
    ),
    "linear discriminant, n 60": Method(
        (Classifier(discriminant),), sloped(5, 1.5), 60, kind="chosen on"
    ),
    "3-NN, n 100": Method((KNeighborsClassifier(3),), sloped(3, 2.0), 100, kind="chosen on"),
    "1-NN, n 300": Method((KNeighborsClassifier(1),), sloped(3, 2.0), 300, kind="chosen on"),
    "least squares, p 8, n 100": Method((Regressor(ridge()),), linear(8), 100, MSE, "chosen on"),
    "ridge, p 30, n 100": Method((Regressor(ridge(3.0)),), linear(30), 100, MSE, "chosen on"),
    "logistic, n 120, log loss": Method((LOGISTIC,), sloped(7, 0.8), 120, "neg_log_loss"),
    "logistic, n 120, AUC": Method((LOGISTIC,), sloped(7, 0.8), 120, "roc_auc", "chosen on", AGAIN),
    "logistic, 25 % positives, n 120, F1": Method(
        (LOGISTIC,), shifted(0.25, 5, 0.8), 120, "f1", "chosen on", AGAIN
    ),
    "logistic, 10 % positives, n 300, AUC": Method(
        (LOGISTIC,), shifted(0.1, 5, 0.8), 300, "roc_auc", "chosen on", AGAIN
    ),
    "logistic, accuracy .96, n 150": Method((LOGISTIC,), sloped(4, 6.0), 150, kind="chosen on"),
    "naive Bayes, 3 classes, n 90": Method((Classifier(bayes(3)),), classes(3, 4, 1.2), 90),
    "stump, n 100": Method((Classifier(stump),), sloped(4, 1.5), 100),
    "kernel smoother, n 80": Method(
        (Regressor(smoother(0.6)),), wavy(3), 80, MSE, kind="chosen on"
    ),
    "best 2 of 20 and least squares, n 100": Method(
        (Regressor(selected(2, ridge())),), linear(20), 100, MSE, kind="chosen on"
    ),
    "least squares, p 4, n 150, gamma(2) errors, MAE": Method(
        (Regressor(ridge()),), linear(4, noise=gamma_noise(2.0)), 150, MAE
    ),
    "ridge, p 10, n 500, R2": Method((Regressor(ridge(1.0)),), linear(10), 500, "r2", seed=AGAIN),
    "centroids, 40 groups of 2 to 6": Method((Classifier(centroids),), in_groups((2, 4, 6), 4), 40),
    "logistic less 3-NN, n 120": Method(
        (LOGISTIC, KNeighborsClassifier(3)), sloped(3, 1.5), 120, kind="chosen on"
    ),
    "least squares less ridge, p 10, n 150": Method(
        (Regressor(ridge()), Regressor(ridge(5.0))), linear(10), 150, MSE, kind="chosen on"
    ),
    "naive Bayes, 15 % positives, n 200, F1": Method(
        (Classifier(bayes(2)),), shifted(0.15, 4, 1.0), 200, "f1", seed=AGAIN
    ),
    "linear discriminant, 20 % positives, n 80, AUC": Method(
        (Classifier(discriminant),), shifted(0.2, 4, 1.0), 80, "roc_auc", seed=AGAIN
    ),
}

HEADER = [
    "cell",
    "kind",
    "metric",
    "size",
    "data sets",
    "truth",
    "bias in sd",
    "covered %",
    "all sizes covered %",
    "mean standard error over sd",
    "width",
    "width of the band",
    "scikit-learn covered %",
    "scikit-learn width",
    "versions",
]


def expected(cell, rng):
    """Expected scores, (n_sizes,): of one method, or the first less the second."""
    scorer, n_sets = get_scorer(cell.scoring), N_TRUTH
    scores = np.full((n_sets, len(SHARES)), np.nan)
    for one in scores:
        X, y, groups = cell.draw(rng, cell.size)
        per_unit = len(y) / cell.size
        X_new, y_new, _ = cell.draw(rng, int(1000 / per_unit))
        for k, share in enumerate(SHARES):
            rows = _some(groups, y, int(np.floor(share * cell.size + 0.5)), rng)
            found = [scorer(each.fit(X[rows], y[rows]), X_new, y_new) for each in cell.estimators]
            one[k] = found[0] - found[1] if len(found) == 2 else found[0]
    return scores.mean(axis=0)


def _some(groups, y, n_units, rng):
    """Rows of so many units; those of the smallest size hold all classes, as those of the curve."""
    if groups is not None:
        return np.flatnonzero(np.isin(groups, rng.permutation(np.unique(groups))[:n_units]))
    rows = np.arange(n_units)
    if y.dtype.kind in "iub":
        for label in np.setdiff1d(y, y[rows]):
            # In the place of a row of the commonest class.
            common = np.flatnonzero(y[rows] == np.bincount(y[rows]).argmax())[0]
            rows[common] = np.flatnonzero(y == label)[0]
    return rows


def curve_of(cell, X, y, groups, seed):
    """The result of skboot."""
    given = dict(zip(("first", "second"), cell.estimators, strict=False))
    one = len(given) == 1
    result = learning_curve(
        cell.estimators[0] if one else given,
        X,
        y,
        scoring=cell.scoring,
        train_sizes=SHARES,
        groups=groups,
        random_state=seed,
    )
    return result if one else result["difference"]


def of_scikit_learn(cell, X, y, groups):
    """Limits by Student's t of five folds, (n_sizes,) each."""
    folds = model_selection.GroupKFold(5) if groups is not None else 5
    given = {"groups": groups, "cv": folds, "scoring": cell.scoring, "shuffle": True}
    sizes = np.array(SHARES) / 0.8
    scores = []
    for each in cell.estimators:
        # 80 % of the rows are the most that five folds train on.
        found = model_selection.learning_curve(
            each, X, y, train_sizes=np.minimum(sizes, 1.0), random_state=0, **given
        )
        scores.append(found[2])
    values = scores[0] - scores[1] if len(scores) == 2 else scores[0]
    half = stdtrit(4, 0.975) * values.std(axis=1, ddof=1) / np.sqrt(5)
    return values.mean(axis=1) - half, values.mean(axis=1) + half


def rows_of(number, cell):
    """Lines of a cell: one a size."""
    truth = expected(cell, np.random.default_rng([cell.seed, number, 10**6]))
    found = {name: [] for name in ("estimate", "error", "low", "high", "at_low", "at_high")}
    peer = []
    for k in range(N_SETS):
        rng = np.random.default_rng([cell.seed, number, k])
        X, y, groups = cell.draw(rng, cell.size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = curve_of(cell, X, y, groups, k)
            if k < N_PEER:
                peer.append(of_scikit_learn(cell, X, y, groups))
        low, high = result.pointwise_limits()
        error = result.bootstrap_distribution.std(axis=0)
        values = (result.estimate, error, result.low, result.high, low, high)
        for own, value in zip(found.values(), values, strict=True):
            own.append(value)
    own = {name: np.array(values) for name, values in found.items()}
    inside = (own["at_low"] <= truth) & (truth <= own["at_high"])
    whole = ((own["low"] <= truth) & (truth <= own["high"])).all(axis=1)
    sd, bias = own["estimate"].std(axis=0, ddof=1), own["estimate"].mean(axis=0) - truth
    of_peer = np.array(peer)
    by_peer = ((of_peer[:, 0] <= truth) & (truth <= of_peer[:, 1])).mean(axis=0)
    for k, share in enumerate(SHARES):
        yield [
            cell.kind,
            cell.scoring,
            f"{share:g}",
            N_SETS,
            f"{truth[k]:.5g}",
            f"{bias[k] / sd[k]:.2f}",
            f"{100 * inside[:, k].mean():.1f}",
            f"{100 * whole.mean():.1f}",
            f"{own['error'][:, k].mean() / sd[k]:.3f}",
            f"{(own['at_high'] - own['at_low'])[:, k].mean():.4g}",
            f"{(own['high'] - own['low'])[:, k].mean():.4g}",
            f"{100 * by_peer[k]:.1f}",
            f"{(of_peer[:, 1] - of_peer[:, 0])[:, k].mean():.4g}",
            versions(),
        ]


STUDY = titled("learning_curves", HEADER, CELLS, rows_of)
