"""Draw how the time of a call grows, and count the single scores that an interval costs.

`draw` shows calls beside peers by rows and by resamples. `growth_times` measures calls alone, by
rows, classes, groups, pairs of systems, subgroups and metrics, which `draw_growth` shows.
`single_scores` divides the time of a call by that
of scikit-learn's function on the same rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from harness import cpu
from packages import confidence_intervals, sklearn_loop
from sklearn import metrics
from workloads import labels, scores

from skboot import bootstrap_score, compare_across, compare_systems

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
# Metrics whose single score is timed: of labels, of scores, and of values.
OF_LABELS = {
    "accuracy": (metrics.accuracy_score, "accuracy"),
    "F1": (metrics.f1_score, "f1"),
    "balanced accuracy": (metrics.balanced_accuracy_score, "balanced_accuracy"),
    "Matthews correlation": (metrics.matthews_corrcoef, "matthews_corrcoef"),
}
OF_SCORES = {
    "ROC AUC": (metrics.roc_auc_score, "roc_auc"),
    "average precision": (metrics.average_precision_score, "average_precision"),
    "log loss": (metrics.log_loss, "neg_log_loss"),
    "Brier score": (metrics.brier_score_loss, "neg_brier_score"),
}
OF_VALUES = {
    "mean squared error": (metrics.mean_squared_error, "neg_mean_squared_error"),
    "mean absolute error": (metrics.mean_absolute_error, "neg_mean_absolute_error"),
    "R2": (metrics.r2_score, "r2"),
}
# Rows of the table, and of the picture of growth.
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
# Rows of calls that grow in something else, and by how many of it.
ROWS_OF_PARTS = 1_000_000
PARTS = [10, 100, 1000]
GROUPS = [10**3, 10**4, 10**5, 10**6]
CLASSES = [2, 10, 100, 1000]
SYSTEMS = [5, 20, 60, 180]
ROWS_OF_SYSTEMS = 1000
# Largest slope on logarithmic axes that is a goal.
STEEPEST = 1.1


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


# ------------------------------------------------------------------ single scores


def single_scores() -> list[dict]:
    """Time of a call with 1,999 resamples over that of scikit-learn's function, by metric and rows.

    The calls and those of the function take turns.
    """
    rows = []
    for name in (*OF_LABELS, *OF_SCORES, *OF_VALUES):
        for n in SIZES:
            data, (function, metric) = _rows_of(name, n)
            call = partial(bootstrap_score, *data, metric=metric, random_state=0)
            one = partial(function, *data)
            call(), one()
            times = np.array([(cpu(call), cpu(one)) for _ in range(REPEATS)])
            ratio = float(np.divide(*np.median(times, axis=0)))
            cell = f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"
            rows.append({"metric": name, "rows": n, "scores": cell})
            print(*rows[-1].values(), sep=", ", file=sys.stderr, flush=True)
    return rows


def _rows_of(name: str, n: int):
    """Truth and predictions of n rows, and the functions of a metric."""
    rng = np.random.default_rng(0)
    if name in OF_VALUES:
        truth = rng.normal(size=n)
        return (truth, truth + rng.normal(size=n)), OF_VALUES[name]
    if name in OF_LABELS:
        return labels(n, 2), OF_LABELS[name]
    chance = rng.random(n)
    return ((rng.random(n) < chance).astype(np.int64), chance), OF_SCORES[name]


# ------------------------------------------------------------------ growth


@dataclass(frozen=True)
class Growth:
    """Calls of growing size: what grows, how it is called, and the call of a size."""

    what: str
    name: str
    sizes: Sequence[int]
    call: Callable[[int], Callable[[], object]]

    def times(self) -> list[float]:
        """Seconds of each size."""
        return [seconds(self.call(size)) for size in self.sizes]


def steepest(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Largest slope between two sizes that follow each other, on logarithmic axes."""
    return max(np.diff(np.log(times)) / np.diff(np.log(sizes)))


def growths() -> list[Growth]:
    """All that are drawn."""
    found = [
        Growth("rows", name, SIZES, partial(_by_rows, name))
        for name in (*OF_LABELS, *OF_SCORES, *OF_VALUES)
    ]
    macro = partial(metrics.f1_score, average="macro")
    each = partial(metrics.recall_score, average=None)
    found.append(Growth("classes", "macro F1", CLASSES, partial(_by_classes, macro)))
    found.append(Growth("classes", "recall of each", CLASSES[:-1], partial(_by_classes, each)))
    for name in ("accuracy", "mean squared error", "ROC AUC"):
        found.append(Growth("groups", name, GROUPS, partial(_by_parts, name, "groups")))
        found.append(Growth("subgroups", name, PARTS, partial(_by_parts, name, "by")))
    pairs = [math.comb(n, 2) for n in SYSTEMS]
    several = [1, 2, 4, 8]
    return [
        *found,
        Growth("metrics", "of labels, 100,000 rows", several, partial(_by_metrics, True)),
        Growth("metrics", "of values, 10,000 rows", several, partial(_by_metrics, False)),
        Growth("pairs of systems", "accuracy", pairs, partial(_by_pairs, "accuracy")),
        Growth("pairs of systems", "R2", pairs, partial(_by_pairs, "R2")),
        Growth("pairs of systems", "methods on 30 data sets", pairs, _by_methods),
    ]


def _by_rows(name: str, n: int):
    data, (_, metric) = _rows_of(name, n)
    return partial(bootstrap_score, *data, metric=metric, random_state=0)


def _by_classes(function: Callable, n_classes: int):
    data = labels(ROWS_OF_PARTS // 10, n_classes)
    return partial(bootstrap_score, *data, metric=function, n_resamples=199, random_state=0)


def _by_parts(name: str, argument: str, n_parts: int):
    data, (_, metric) = _rows_of(name, ROWS_OF_PARTS)
    parts = np.random.default_rng(1).permutation(np.arange(len(data[0])) % n_parts)
    return partial(bootstrap_score, *data, metric=metric, random_state=0, **{argument: parts})


def _by_pairs(name: str, n_pairs: int):
    n_systems = math.isqrt(2 * n_pairs) + 1
    (truth, first), (_, metric) = _rows_of(name, ROWS_OF_SYSTEMS)
    rng = np.random.default_rng(2)
    systems = {
        f"{k:03}": np.where(rng.random(len(first)) < 0.9, first, rng.permutation(first))
        for k in range(n_systems)
    }
    return partial(compare_systems, truth, systems, metric=metric, random_state=0)


def _by_metrics(are_of_labels: bool, n_metrics: int):
    if are_of_labels:
        names = ["accuracy", "f1", "precision", "recall", "balanced_accuracy"]
        names += ["matthews_corrcoef", "jaccard", "cohen_kappa_score"]
        data = labels(ROWS_OF_PARTS // 10, 2)
    else:
        names = [f"loss {k}" for k in range(1, 9)]
        data = _rows_of("mean squared error", ROWS_OF_PARTS // 100)[0]
    metric = {
        name: name if are_of_labels else partial(metrics.mean_pinball_loss, alpha=k / 9)
        for k, name in enumerate(names[:n_metrics], 1)
    }
    return partial(bootstrap_score, *data, metric=metric, n_resamples=199, random_state=0)


def _by_methods(n_pairs: int):
    table = np.random.default_rng(3).normal(size=(30, math.isqrt(2 * n_pairs) + 1))
    return partial(
        compare_across,
        table,
        datasets=[f"d{k}" for k in range(30)],
        methods=[f"m{k}" for k in range(table.shape[1])],
        greater_is_better=True,
        random_state=0,
    )


def growth_times() -> Iterator[list[dict]]:
    """Seconds of each call at its sizes, one call after another."""
    for growth in growths():
        times = growth.times()
        label = f"{growth.name}: {steepest(growth.sizes, times):.2f}"
        print(f"growth in {growth.what}, {label}", file=sys.stderr, flush=True)
        yield [
            {"what": growth.what, "name": growth.name, "size": size, "seconds": f"{time:.4g}"}
            for size, time in zip(growth.sizes, times, strict=True)
        ]


def _lines_of(rows: Sequence[dict[str, str]]) -> dict[tuple[str, str], tuple[list, list]]:
    """Sizes and seconds of each call, by what grows and its name."""
    found: dict[tuple[str, str], tuple[list, list]] = {}
    for row in rows:
        sizes, times = found.setdefault((row["what"], row["name"]), ([], []))
        sizes.append(int(row["size"]))
        times.append(float(row["seconds"]))
    return found


def steepest_table(rows: Sequence[dict[str, str]]) -> str:
    """Steepest slope of each call, those above the goal marked."""
    text = "| with | call | steepest slope | from first to last |\n|---|---|--:|--:|\n"
    for (what, name), (sizes, times) in _lines_of(rows).items():
        slope = steepest(sizes, times)
        whole = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
        missed = " (**above 1.1**)" if slope > STEEPEST else ""
        text += f"| {what} | {name} | {slope:.2f}{missed} | {whole:.2f} |\n"
    return text


def draw_growth(rows: Sequence[dict[str, str]], path: Path) -> None:
    """Draw growths of one kind into one panel, with their steepest step."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds: dict[str, list[tuple[str, list, list]]] = {}
    for (what, name), (sizes, times) in _lines_of(rows).items():
        kinds.setdefault(what, []).append((name, sizes, times))
    figure, panels = plt.subplots(2, 3, figsize=(13, 9), layout="constrained")
    for axes, (what, of_kind) in zip(panels.flat, kinds.items(), strict=False):
        for k, (name, sizes, times) in enumerate(of_kind):
            label = f"{name}: {steepest(sizes, times):.2f}"
            # Colours come again after ten lines.
            axes.loglog(sizes, times, "o-" if k < 10 else "s--", label=label)
        axes.set(xlabel=what, ylabel="seconds of CPU time")
        axes.grid(alpha=0.3)
        # Above the panel, where it hides no line.
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2}
        axes.legend(fontsize=7, title="steepest step", title_fontsize=7, **place)
    for axes in panels.flat[len(kinds) :]:
        axes.set_axis_off()
    figure.savefig(path, dpi=110)
