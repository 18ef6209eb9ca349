"""Draw how the time of a call grows with the number of rows and of resamples."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from harness import cpu
from packages import confidence_intervals, sklearn_loop
from sklearn import metrics
from workloads import labels, scores

from skboot import bootstrap_score

# Resamples that looping peers do; their time is scaled.
FEW = 10
REPEATS = 3
# What is drawn, and rows beside other numbers of resamples.
ROWS = [10**2, 10**3, 10**4, 10**5, 10**6]
RESAMPLES = [10**2, 10**3, 10**4, 10**5]
MANY_ROWS = 10_000
METRICS = {
    "accuracy": (metrics.accuracy_score, "accuracy"),
    "ROC AUC": (metrics.roc_auc_score, "roc_auc"),
    "average precision": (metrics.average_precision_score, "average_precision"),
    "mean of losses": (None, "mean"),
    "equal error rate": (None, "neg_equal_error_rate"),
}


def seconds(call) -> float:
    """Median CPU time."""
    call()
    return float(np.median([cpu(call) for _ in range(REPEATS)]))


def data_of(name: str, n: int):
    """Truth and predictions of n rows for a metric."""
    if name == "mean of losses":
        return None, np.random.default_rng(0).exponential(size=n)
    return labels(n, 2) if name == "accuracy" else scores(n)


def ours(name: str, n: int, n_resamples: int) -> float:
    """Seconds of a whole call."""
    y, p = data_of(name, n)
    metric = METRICS[name][1]
    return seconds(
        partial(bootstrap_score, y, p, metric=metric, n_resamples=n_resamples, random_state=0)
    )


def theirs(peer, name: str, n: int, n_resamples: int) -> float:
    """Seconds of a peer, from a few resamples."""
    y, p = data_of(name, n)
    return seconds(partial(peer, METRICS[name][0], y, p, FEW)) * n_resamples / FEW


def draw(path: Path) -> None:
    """Measure both kinds of growth and draw them on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (by_rows, by_resamples) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    rows, resamples = np.array(ROWS), np.array(RESAMPLES)
    for name, (function, _) in METRICS.items():
        (curve,) = by_rows.loglog(rows, [ours(name, n, 1000) for n in rows], "o-", label=name)
        colour = curve.get_color()
        times = [ours(name, MANY_ROWS, b) for b in resamples]
        by_resamples.loglog(resamples, times, "o-", color=colour, label=name)
        if function is None:
            continue
        loop = partial(theirs, sklearn_loop, name)
        label = f"{name}, loop over scikit-learn"
        by_rows.loglog(
            rows[:4], [loop(n, 1000) for n in rows[:4]], "s--", color=colour, label=label
        )
        by_resamples.loglog(
            resamples, [loop(MANY_ROWS, b) for b in resamples], "s--", color=colour, label=label
        )
    _draw_package(by_rows, by_resamples, rows[:4], resamples)
    by_rows.set(xlabel="rows", ylabel="seconds of CPU time", title="1,000 resamples")
    by_resamples.set(xlabel="resamples", title="10,000 rows")
    figure.legend(*by_rows.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    for axes in (by_rows, by_resamples):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def _draw_package(by_rows, by_resamples, rows, resamples) -> None:
    """Draw the times of a package that loops over resamples, if it is installed."""
    package = partial(theirs, confidence_intervals, "accuracy")
    label = "accuracy, confidence_intervals"
    try:
        by_rows.loglog(rows, [package(n, 1000) for n in rows], "k^:", label=label)
    except ModuleNotFoundError as error:
        print(f"not drawn: {error}", file=sys.stderr)
        return
    times = [package(MANY_ROWS, b) for b in resamples]
    by_resamples.loglog(resamples, times, "k^:", label=label)
