"""Run the cells of a study of methods, and write a table that a stopped run goes on with.

A cell is a `designs.Design`, judged from one training of all samples together, or a `Fitted`,
judged by `BootstrapScorer` itself. Data set k of a cell is drawn from the seed (seed of the study,
number of the cell, k). Lines are appended when a cell is finished; a cell that the table already
has is skipped.
"""

import platform
import warnings
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy
import sklearn
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import skboot
from skboot.method_error.cv_bootstrap import cv_bootstrap
from skboot.refit import estimates
from skboot.scorer import BootstrapScorer

from ..runner import titled
from .designs import truth
from .parts import corrected_t, others, parts_of, samples_of

HEADER = [
    "cell",
    "kind",
    "metric",
    "interval",
    "data sets",
    "truth",
    "bias in sd",
    "covered %",
    "Monte Carlo error",
    "truth below %",
    "truth above %",
    "width over 3.92 sd",
    "width over reference",
    "versions",
]
CONSERVATIVE = "cv-bootstrap-conservative"


class Fitted(NamedTuple):
    """A cell that `BootstrapScorer` runs, with any estimator and scorer."""

    estimator: object
    draw: object  # (rng, size) -> X, y, groups
    size: int
    metric: str  # name of a scorer
    options: dict  # of BootstrapScorer
    kind: str


def versions():
    return (
        f"skboot {skboot.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def study(
    name, cells, intervals, *, seed, n_sets, n_others=0, candidates=None, reference=CONSERVATIVE
):
    """The study of cells by their titles.

    `intervals` maps a `Parts` to (low, high) by name; of `Fitted` cells those of the library are
    taken, and `candidates`, functions of the arguments of `cv_bootstrap`, by name. `n_sets` is a
    function of the cell. Other methods are run on the first `n_others` data sets. Widths are given
    over those of the interval `reference`.
    """

    def rows_of(number, design):
        fitted = isinstance(design, Fitted)
        one, given = (of_fitted, candidates or {}) if fitted else (of_design, intervals)
        found = one(design, given, (seed, number), n_sets(design), n_others)
        return rows(design, *found, reference)

    return titled(name, HEADER, cells, rows_of)


def repeated(limits_of, seed, n_sets):
    """Estimates of data sets, and limits by name; `limits_of` is given a generator and a number."""
    centres, limits = np.empty(n_sets), {}
    for k in range(n_sets):
        centres[k], found = limits_of(np.random.default_rng([*seed, k]), k)
        for name, pair in found.items():
            limits.setdefault(name, []).append(tuple(pair)[:2])
    return centres, limits


def of_design(design, intervals, seed, n_sets, n_others):
    expected = truth(design, np.random.default_rng([*seed, 10**6]))[0]

    def limits_of(rng, k):
        X, y, groups = design.draw(rng, design.size)
        parts = parts_of(design, X, y, groups, samples_of(design, y, groups, rng))
        found = intervals(parts)
        if k < n_others:
            found |= others(design, X, y, groups, parts, rng)
        return parts.centres.mean(), found

    return expected, *repeated(limits_of, seed, n_sets)


def of_fitted(design, candidates, seed, n_sets, n_others):
    expected = _expected(design, np.random.default_rng([*seed, 10**6]))

    def limits_of(rng, k):
        X, y, groups = design.draw(rng, design.size)
        limits = {}
        scorer = BootstrapScorer(
            design.estimator, scoring=design.metric, refit=False, random_state=k, **design.options
        )
        # What the scorer gives to cv_bootstrap is what candidates are given.
        watched = mock.patch.object(estimates, "cv_bootstrap", wraps=cv_bootstrap)
        with warnings.catch_warnings(), watched as calls:
            warnings.simplefilter("ignore")
            scorer.fit(X, y, groups=groups)
            for name in ("cv-bootstrap", CONSERVATIVE):
                limits[name] = scorer.result_.interval(name)
            (given,) = (call for call in calls.call_args_list if "resubstitution" in call.kwargs)
            sign = -1 if scorer.result_.greater_is_better else 1
            for name, form in candidates.items():
                made = form(*given.args, **given.kwargs)
                for title, kind in ((name, "cv-bootstrap"), (f"{name} conservative", CONSERVATIVE)):
                    pair = sign * np.array(made.interval(0.95, kind)[:2])
                    limits[title] = np.sort(pair)
            if k < n_others:
                limits["corrected t"] = corrected_t(_fold_scores(design, X, y, groups, k))
        return scorer.score_, limits

    return expected, *repeated(limits_of, seed, n_sets)


def rows(design, expected, centres, limits, reference):
    """Rows of the table of one cell, without its title."""
    spread = 2 * 1.96 * centres.std(ddof=1)
    bias = (centres.mean() - expected) / centres.std(ddof=1)
    wide = np.diff(np.array(limits[reference]), axis=1)[:, 0]
    for name, pairs in limits.items():
        low, high = np.array(pairs).T
        n, below, above = len(low), expected < low, expected > high
        width = (high - low).mean()
        covered = 1 - np.mean(below | above)
        # The error of a coverage near 1 is that of one at least as far from 1 as half a data set.
        safe = min(covered, 1 - 0.5 / n)
        yield [
            design.kind,
            design.metric,
            name,
            n,
            f"{expected:.5g}",
            f"{bias:.2f}",
            f"{100 * covered:.1f}",
            f"{100 * np.sqrt(safe * (1 - safe) / n):.2f}",
            f"{100 * below.mean():.1f}",
            f"{100 * above.mean():.1f}",
            f"{width / spread:.3f}",
            f"{width / wide[:n].mean():.3f}",
            versions(),
        ]


def _expected(design, rng, n_sets=400, n_fresh=4000):
    """Mean score of the method on fresh rows."""
    scorer, scores = get_scorer(design.metric), []
    for _ in range(n_sets):
        X, y, groups = design.draw(rng, design.size)
        share = 1 if groups is None else len(y) / design.size
        model = design.estimator.fit(X, y)
        X, y, _ = design.draw(rng, int(n_fresh / share))
        scores.append(scorer(model, X, y))
    return float(np.mean(scores))


def _fold_scores(design, X, y, groups, seed):
    """Scores of 5 x 10 folds, (5, 10); NaN where undefined."""
    scorer, scores = get_scorer(design.metric), []
    for repeat in range(5):
        kinds = {"shuffle": True, "random_state": 5 * seed + repeat}
        if groups is not None:
            folds = GroupKFold(10, **kinds).split(X, y, groups)
        else:
            folds = (StratifiedKFold if y.dtype.kind == "i" else KFold)(10, **kinds).split(X, y)
        for train, test in folds:
            if "roc_auc" in design.metric and y[test].min() == y[test].max():
                scores.append(np.nan)
                continue
            scores.append(scorer(design.estimator.fit(X[train], y[train]), X[test], y[test]))
    return np.reshape(scores, (5, 10))


def shares(rows, names, digits=2):
    """Lines of a Markdown table: a cell per line, "covered % / width" of each interval named."""
    found = {}
    for row in rows:
        width = f"{float(row['width over 3.92 sd']):.{digits}f}"
        found.setdefault(row["cell"], {})[row["interval"]] = f"{row['covered %']} / {width}"
    for cell, own in found.items():
        yield f"| {cell} | " + " | ".join(own.get(name, "") for name in names) + " |"
