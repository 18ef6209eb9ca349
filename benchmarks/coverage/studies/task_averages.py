"""How often the interval of an average over tasks holds the truth, by simulation.

Twenty minutes for the whole table. The rule, written before the run: 95 % intervals hold the truth
in at least 93 % of the data sets, less 2.6 Monte Carlo standard deviations; a cell below is
reported as it is. 600 data sets a cell.

Tasks differ in how hard they are. Fixed tasks: new rows of the same tasks for every data set, and
the truth is the average of the metric of each task on endless rows. Drawn tasks: new tasks for
every data set; the truth is the average over endless tasks of as many rows. "ragged": sizes from 5
to 100 rows.
"""

import warnings

import numpy as np
from scipy import stats

from skboot import bootstrap_score

from ..runner import TableStudy, one_line

HEADER = ("metric", "tasks", "n", "rows", "coverage", "above", "below", "width", "sets")
SIZES = {"10": [10], "30": [30], "100": [100], "ragged": [5, 10, 20, 40, 100]}
METRICS = ("accuracy", "f1_macro", "roc_auc")
N_SETS = 600


def tasks_of(rng, n_tasks):
    """Separation of the classes in each task."""
    return np.clip(rng.normal(1.6, 0.5, n_tasks), 0.2, 3.0)


def rows_of(rng, separation, sizes):
    """Task, truth and score of every row; half of a task is positive."""
    task = np.repeat(np.arange(len(sizes)), sizes)
    truth = np.concatenate([np.arange(size) % 2 for size in sizes])
    return task, truth, rng.normal(size=len(task)) + separation[task] * (truth - 0.5)


def truth_of(metric, separation):
    """Metric of each task on endless rows; decisions at 0 are right in Phi(separation / 2)."""
    if metric == "roc_auc":
        return stats.norm.cdf(separation / np.sqrt(2))
    # Both classes are as frequent and as hard, so that macro F1 is the accuracy.
    return stats.norm.cdf(separation / 2)


def expected_f1(rng, sizes, n_tasks=40_000):
    """Macro F1 to be expected of a task of so many rows, for each size."""
    found = []
    for size in sizes:
        right = stats.norm.cdf(tasks_of(rng, n_tasks) / 2)
        positive, negative = size // 2, size - size // 2
        tp, tn = rng.binomial(positive, right), rng.binomial(negative, right)
        wrong = size - tp - tn
        found.append(np.mean((2 * tp / (2 * tp + wrong) + 2 * tn / (2 * tn + wrong)) / 2))
    return np.array(found)


def cell(metric, kind, n_tasks, size, n_data_sets=N_SETS, n_resamples=999):
    """Coverage, share of limits above and below the truth (percent), mean width, and data sets."""
    rng = np.random.default_rng([7, n_tasks, METRICS.index(metric), list(SIZES).index(size)])
    sizes = np.resize(SIZES[size], n_tasks)
    separation = tasks_of(rng, n_tasks)
    if kind == "fixed":
        truth = truth_of(metric, separation).mean()
    elif metric == "f1_macro":
        truth = expected_f1(rng, sizes[: len(SIZES[size])]).mean()
    else:
        truth = truth_of(metric, tasks_of(rng, 1_000_000)).mean()
    above = below = width = 0.0
    for seed in range(n_data_sets):
        own = separation if kind == "fixed" else tasks_of(rng, n_tasks)
        task, y_true, score = rows_of(rng, own, sizes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bootstrap_score(
                y_true,
                score if metric == "roc_auc" else (score > 0).astype(int),
                metric=metric,
                average_over=task,
                groups=task if kind == "drawn" else None,
                n_resamples=n_resamples,
                random_state=seed,
            )
        low, high = result.confidence_interval
        above, below, width = above + (low > truth), below + (high < truth), width + high - low
    n = n_data_sets / 100
    shown = [f"{value:.1f}" for value in (100 - (above + below) / n, above / n, below / n)]
    return *shown, f"{width / n_data_sets:.4f}", n_data_sets


CELLS = [
    (metric, kind, n_tasks, size)
    for kind in ("drawn", "fixed")
    for n_tasks in (10, 30)
    for size in SIZES
    for metric in METRICS
]


def is_enough(row):
    """Whether a row of the table has all its data sets."""
    return int(row["sets"]) >= N_SETS


STUDY = TableStudy("task_averages", HEADER, CELLS, one_line(cell), is_enough)
