"""Two methods at one training-set size: `compare_methods` beside the tests that are in use.

Question: how often are equal methods told apart, and unequal ones, by the default of
`compare_methods` and by others, and who holds the true difference? Written before the run. Which
interval `compare_methods` takes was decided in `method_differences_at_n`, on other data sets of
these designs and more.

Design. Cells of `method_differences_at_n` with independent rows, 300 data sets each, and for skboot
1000 of the one where these came within two points of the bound (mlxtend, which fits one by one,
200). The target "difference" is that of the expected errors at this number of
rows; "zero" is no difference. A steep and a flat learner are equal at this size, and not on fewer
rows.

Tools. skboot: the default, from the runs of `method_differences_at_n`, which a test holds against
`compare_methods`. "corrected t": Nadeau and Bengio (2003) on 5 x 10 folds by
`skboot.model_selection.corrected_t`, "naive" the plain t of the 50 differences. mlxtend gives
decisions: Dietterich's 5 x 2 cv t test (1998) and Alpaydin's F test (1999), which train on half of
the rows, the resampled t test (30 splits, not corrected) and the t test of ten folds.

Rule. Equal methods are told apart by the default in at most 5 % of the data sets, and the true
difference is held in at least 93 %, up to 2.6 Monte Carlo standard errors (3.3 points of 300). A
cell outside is reported as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from skboot.model_selection import corrected_t

from ..runner import LEVEL, Cell, Study, Tool, decision
from . import method_differences_at_n as designs

N_REPEATS, N_FOLDS = 5, 10
NAMES = (
    "null, class means, 60 rows",
    "null, nearest row, 80 rows",
    "null, least squares, 60 rows",
    "null, class means, 80 rows, ROC AUC",
    "null, class means, 400 rows",
    "steep against flat, 80 rows",
    "steep against flat, squares, 80 rows",
    "power, class means, 100 rows",
)


@dataclass(frozen=True)
class Methods:
    """Rows, and the cell of `method_differences_at_n` that they are of."""

    cell: designs.Cell
    X: np.ndarray
    y: np.ndarray
    truth: Mapping[str, float]
    exception: str = ""


@functools.cache
def _truth(name: str) -> float:
    cell = designs.CELLS[name]
    return 0.0 if cell.is_null else designs.true_difference(cell)[0]


def _drawn(name):
    cell = designs.CELLS[name]

    def draw(rng):
        X, y, _ = designs.sample(rng, cell)
        return Methods(cell, X, y, {"difference": _truth(name), "zero": 0.0})

    return draw


def of_runs(sample, seed):
    """The default interval of `compare_methods`, from the same runs."""
    runs = designs.runs_on(sample.cell, sample.X, sample.y, None, seed)
    return {"": tuple(designs.limits(runs)[designs.SPREADS.index("shared V_IJ")])}


def _corrected(sample, seed):
    cell, n = sample.cell, len(sample.y)
    rng = np.random.default_rng(seed)
    folds = np.concatenate([_folds(rng, sample.y, cell.metric) for _ in range(N_REPEATS)])
    errors = []
    for method in (cell.first, cell.second):
        answers = method.answers(sample.X, sample.y, (~folds).astype(float))
        if cell.metric == "auc":
            values = [
                1 - roc_auc_score(sample.y[test], own[test])
                for own, test in zip(answers, folds, strict=True)
            ]
        else:
            losses = method.loss(answers, sample.y)
            values = np.sum(losses * folds, axis=1) / folds.sum(axis=1)
        errors.append(values)
    n_test = n // N_FOLDS
    found = corrected_t(*errors, n_train=n - n_test, n_test=n_test)
    # The plain standard error leaves out the share that stands for overlapping training samples.
    shrink = np.sqrt((1 / len(folds)) / (1 / len(folds) + n_test / (n - n_test)))
    low, high = found.confidence_interval[:2]
    middle, reach = (low + high) / 2, shrink * (high - low) / 2
    return {"": (low, high), "naive": (middle - reach, middle + reach)}


def _folds(rng, y, metric):
    """Rows tested by each fold of one repeat, (n_folds, n); both classes in each for areas."""
    order = rng.permutation(len(y))
    if metric == "auc":
        order = order[np.argsort(y[order], kind="stable")]
    number = np.empty(len(y), dtype=int)
    number[order] = np.arange(len(y)) % N_FOLDS
    return number == np.arange(N_FOLDS)[:, None]


def _mlxtend(sample, seed):
    from mlxtend import evaluate

    cell = sample.cell
    seed %= 2**32
    options = {"X": sample.X, "y": sample.y, "scoring": cell.scoring, "random_seed": seed}
    found = {}
    for name, test in (
        ("5x2cv t", evaluate.paired_ttest_5x2cv),
        ("5x2cv F", evaluate.combined_ftest_5x2cv),
        ("resampled t", evaluate.paired_ttest_resampled),
        (
            "10-fold t",
            functools.partial(evaluate.paired_ttest_kfold_cv, cv=N_FOLDS, shuffle=True),
        ),
    ):
        statistic, p_value = test(cell.first, cell.second, **options)
        # Scores, larger is better, against errors.
        sign = -1.0 if name == "5x2cv F" else -statistic
        found[name] = {"zero": decision(p_value <= 1 - LEVEL, sign)}
    return found


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", of_runs, note="compare_methods, all defaults"),
        Tool("corrected t", _corrected, note="5 x 10 folds"),
        Tool("mlxtend", _mlxtend, "mlxtend"),
    )
}
REPETITIONS = {"skboot": 300, "corrected t": 300, "mlxtend": 200}
MORE = {"null, nearest row, 80 rows": {"skboot": 1000}}
STUDY = Study(
    "methods_compared",
    tuple(
        Cell(name, name.partition(",")[0], _drawn(name), REPETITIONS | MORE.get(name, {}))
        for name in NAMES
    ),
    TOOLS,
    chunk=300,
)
