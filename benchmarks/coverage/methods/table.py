"""Run the cells of a study of methods, and write a table that a stopped run goes on with.

A cell is a `designs.Design`, judged from one training of all samples together, or a `Fitted`,
judged by `BootstrapScorer` itself. Data set k of a cell is drawn from the seed (seed of the study,
number of the cell, k). Lines are appended when a cell is finished; a cell that the table already
has is skipped.
"""

import platform
import time
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

from ..runner import RESULTS, append, read
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


def run(
    name,
    cells,
    intervals,
    minutes,
    *,
    seed,
    n_sets,
    n_others=0,
    candidates=None,
    reference=CONSERVATIVE,
):
    """Append cells that `results/name.csv` does not have; return whether all are there.

    `intervals` maps a `Parts` to (low, high) by name; of `Fitted` cells those of the library are
    taken, and `candidates`, functions of the arguments of `cv_bootstrap`, by name. `n_sets` is a
    function of the cell. Other methods are run on the first `n_others` data sets. Widths are given
    over those of the interval `reference`.
    """

    def rows_of(number, title, design):
        fitted = isinstance(design, Fitted)
        one, given = (of_fitted, candidates or {}) if fitted else (of_design, intervals)
        found = one(design, given, (seed, number), n_sets(design), n_others)
        for row in lines(*found, reference):
            yield [title, design.kind, design.metric, *row, versions()]

    return in_turn(RESULTS / f"{name}.csv", HEADER, cells, rows_of, minutes)


def in_turn(path, header, cells, rows_of, minutes):
    """Append the cells that a table does not have, in its first column; whether all are there.

    `rows_of` is given the number of the cell, its title, and what `cells` holds under the title.
    """
    end = time.monotonic() + 60 * minutes
    done = {row[header[0]] for row in read(path)}
    for number, (title, cell) in enumerate(cells.items()):
        if title in done:
            continue
        if time.monotonic() > end:
            return False
        rows = [dict(zip(header, row, strict=True)) for row in rows_of(number, title, cell)]
        append(path, rows, header)
    return True


def of_design(design, intervals, seed, n_sets, n_others):
    expected = truth(design, np.random.default_rng([*seed, 10**6]))[0]
    centres, limits = np.empty(n_sets), {}
    for k in range(n_sets):
        rng = np.random.default_rng([*seed, k])
        X, y, groups = design.draw(rng, design.size)
        parts = parts_of(design, X, y, groups, samples_of(design, y, groups, rng))
        centres[k] = parts.centres.mean()
        found = intervals(parts)
        if k < n_others:
            found |= others(design, X, y, groups, parts, rng)
        for name, pair in found.items():
            limits.setdefault(name, []).append(tuple(pair)[:2])
    return expected, centres, limits


def of_fitted(design, candidates, seed, n_sets, n_others):
    expected = _expected(design, np.random.default_rng([*seed, 10**6]))
    centres, limits = np.empty(n_sets), {}
    for k in range(n_sets):
        rng = np.random.default_rng([*seed, k])
        X, y, groups = design.draw(rng, design.size)
        scorer = BootstrapScorer(
            design.estimator, scoring=design.metric, refit=False, random_state=k, **design.options
        )
        # What the scorer gives to cv_bootstrap is what candidates are given.
        watched = mock.patch.object(estimates, "cv_bootstrap", wraps=cv_bootstrap)
        with warnings.catch_warnings(), watched as calls:
            warnings.simplefilter("ignore")
            scorer.fit(X, y, groups=groups)
            centres[k] = scorer.score_
            for name in ("cv-bootstrap", CONSERVATIVE):
                limits.setdefault(name, []).append(tuple(scorer.result_.interval(name))[:2])
            (given,) = (call for call in calls.call_args_list if "resubstitution" in call.kwargs)
            sign = -1 if scorer.result_.greater_is_better else 1
            for name, form in candidates.items():
                made = form(*given.args, **given.kwargs)
                for title, kind in ((name, "cv-bootstrap"), (f"{name} conservative", CONSERVATIVE)):
                    pair = sign * np.array(made.interval(0.95, kind)[:2])
                    limits.setdefault(title, []).append(tuple(np.sort(pair)))
            if k < n_others:
                own = corrected_t(_fold_scores(design, X, y, groups, k))
                limits.setdefault("corrected t", []).append(own)
    return expected, centres, limits


def lines(expected, centres, limits, reference):
    """Rows of the table of one cell, from the interval on."""
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
