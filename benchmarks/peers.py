"""Compare skboot with other packages and plain loops: time, memory, and that answers agree.

Run ``make bench``. Every row does the same work in the same run on one core: the tool and its
peer take turns, the ratio of their median times is shown, and the standard errors of both
bootstrap distributions must agree within their Monte Carlo error. Peers that are plain loops over
resamples are run with fewer resamples and scaled, which the table says. Absolute times depend on
the machine; ratios much less.

Writes docs/guide/benchmarks.md and docs/guide/benchmarks.png.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn import metrics

from skboot import bootstrap_score

DOCS = Path(__file__).parents[1] / "docs" / "guide"
LEVEL = 0.95


@dataclass
class Row:
    """One workload: skboot's call, the peer's call, and how both report their spread."""

    workload: str
    peer: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    goal: str
    # The peer did this share of the resamples; its time is divided by it.
    share: float = 1.0
    # From each answer to (estimate, standard error) or None where only times are compared.
    spread: tuple[Callable, Callable] | None = None
    resamples: tuple[int, int] = (1000, 1000)
    least: float | None = None
    most: float | None = None


@dataclass
class Timing:
    """Median seconds of both sides, their ratio, and how far the spreads are apart."""

    row: Row
    ours: float
    theirs: float
    agreement: str
    peak: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def held(self) -> bool:
        low = self.row.least is None or self.ratio >= self.row.least
        return low and (self.row.most is None or 1 / self.ratio <= self.row.most)


def measure(row: Row, repeats: int) -> Timing:
    """Take turns, ours then theirs, and compare medians of CPU time."""
    mine, theirs = row.ours(), row.theirs()
    ours_seconds, their_seconds = [], []
    for _ in range(repeats):
        ours_seconds.append(cpu(row.ours))
        their_seconds.append(cpu(row.theirs))
    tracemalloc.start()
    row.ours()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Timing(
        row,
        float(np.median(ours_seconds)),
        float(np.median(their_seconds)) / row.share,
        agreement(row, mine, theirs),
        peak,
    )


def cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def agreement(row: Row, mine: object, theirs: object) -> str:
    """Relative difference of the standard errors, in units of its Monte Carlo error."""
    if row.spread is None:
        return "same work"
    a, b = row.spread[0](mine), row.spread[1](theirs)
    error = np.sqrt(sum(0.5 / n for n in row.resamples))
    z = np.log(a / b) / error
    if abs(z) > 5:
        raise AssertionError(f"{row.workload} / {row.peer}: spreads {a} and {b} differ (z={z:.1f})")
    return f"SE ratio {a / b:.3f} ({z:+.1f} s.e.)"


# ------------------------------------------------------------------ data


def labels(n: int, n_classes: int, dtype: type = np.int64, accuracy: float = 0.8):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, n_classes, n).astype(dtype)
    other = rng.integers(0, n_classes, n).astype(dtype)
    return y_true, np.where(rng.random(n) < accuracy, y_true, other)


def scores(n: int, prevalence: float = 0.5):
    rng = np.random.default_rng(0)
    y_true = (rng.random(n) < prevalence).astype(int)
    return y_true, rng.normal(size=n) + 1.5 * y_true


# ------------------------------------------------------------------ peers


def half_width(low: float, high: float) -> float:
    return (high - low) / 2 / stats.norm.ppf(0.5 + LEVEL / 2)


def confidence_intervals(metric, y_true, y_pred, n_resamples, conditions=None):
    from confidence_intervals import evaluate_with_conf_int

    return evaluate_with_conf_int(
        y_pred, metric, labels=y_true, conditions=conditions, num_bootstraps=n_resamples, alpha=5
    )


def scipy_mean(values, n_resamples):
    return stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=n_resamples,
        method="percentile",
        vectorized=True,
        batch=max(1, 10**6 // len(values)),
        rng=np.random.default_rng(0),
    )


def sklearn_loop(metric, y_true, y_pred, n_resamples, units=None):
    rng = np.random.default_rng(0)
    n = len(y_true)
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        rows = rng.integers(0, n, n)
        values[b] = metric(y_true[rows], y_pred[rows])
    return values


def numpy_concatenation(correct, groups, n_resamples):
    rng = np.random.default_rng(0)
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        drawn = rng.integers(0, len(rows_of), len(rows_of))
        values[b] = correct[np.concatenate([rows_of[g] for g in drawn])].mean()
    return values


def trials_loop(metric, y_true, y_score, enrolled, tested, n_resamples):
    rng = np.random.default_rng(0)
    n_left, n_right = enrolled.max() + 1, tested.max() + 1
    truth, score = y_true.reshape(n_left, n_right), y_score.reshape(n_left, n_right)
    values = np.empty(n_resamples)
    for b in range(n_resamples):
        at = np.ix_(rng.integers(0, n_left, n_left), rng.integers(0, n_right, n_right))
        values[b] = metric(truth[at].ravel(), score[at].ravel())
    return values


def equal_error_rate(y_true, y_score):
    fpr, tpr, _ = metrics.roc_curve(y_true, y_score, drop_intermediate=False)
    gap = fpr - (1 - tpr)
    k = int(np.searchsorted(gap, 0))
    share = -gap[k - 1] / (gap[k] - gap[k - 1])
    return fpr[k - 1] + share * (fpr[k] - fpr[k - 1])


our_spread = lambda result: result.standard_error  # noqa: E731
loop_spread = lambda values: np.std(values, ddof=1)  # noqa: E731
scipy_spread = lambda result: result.standard_error  # noqa: E731
peer_spread = lambda answer: half_width(*answer[1])  # noqa: E731


# ------------------------------------------------------------------ workloads


def accuracy_rows():
    y, p = labels(100_000, 2)
    correct = (y == p).astype(float)
    for n_resamples, scipy_least, peer_least in ((1000, 700, 7000), (10_000, 3000, 30_000)):
        ours = partial(bootstrap_score, y, p, n_resamples=n_resamples, random_state=0)
        name = f"accuracy, n 1e5, {n_resamples} resamples"
        yield Row(
            name,
            "scipy.stats.bootstrap, vectorised",
            ours,
            partial(scipy_mean, correct, 100),
            f"at least {scipy_least}x",
            100 / n_resamples,
            (our_spread, scipy_spread),
            (n_resamples, 100),
            least=scipy_least,
        )
        yield Row(
            name,
            "confidence_intervals 0.0.3",
            ours,
            partial(confidence_intervals, metrics.accuracy_score, y, p, 50),
            f"at least {peer_least}x",
            50 / n_resamples,
            None,
            least=peer_least,
        )
    for dtype in (np.int8, np.int64):
        y, p = labels(10_000_000, 2, dtype)
        yield Row(
            f"accuracy, n 1e7 {np.dtype(dtype)}, 10,000 resamples",
            "one (y == p).mean()",
            partial(bootstrap_score, y, p, n_resamples=10_000, random_state=0),
            lambda y=y, p=p: (y == p).mean(),
            "at most 1.8x its time",
            most=1.8,
        )


def label_rows():
    for n_classes, least, n_peer in ((2, 10_000, 20), (10, 1000, 20), (100, 150, 20)):
        y, p = labels(100_000, n_classes)
        macro = partial(metrics.f1_score, average="macro")
        ours = partial(bootstrap_score, y, p, metric=macro, n_resamples=1000, random_state=0)
        yield Row(
            f"macro F1, n 1e5, {n_classes} classes, 1000 resamples",
            "confidence_intervals 0.0.3",
            ours,
            partial(confidence_intervals, macro, y, p, n_peer),
            f"at least {least}x",
            n_peer / 1000,
            None,
            least=least,
        )
        if n_classes == 10:
            yield Row(
                "macro F1, n 1e5, 10 classes, 1000 resamples",
                "loop over sklearn f1_score",
                ours,
                partial(sklearn_loop, macro, y, p, 40),
                "at least 500x",
                0.04,
                (our_spread, loop_spread),
                (1000, 40),
                least=500,
            )


def loss_rows():
    losses = np.random.default_rng(0).exponential(size=100_000)
    yield Row(
        "mean of continuous losses, n 1e5, 1000 resamples",
        "scipy.stats.bootstrap, vectorised",
        partial(
            bootstrap_score,
            None,
            losses,
            metric="mean",
            n_resamples=1000,
            random_state=0,
            interval="percentile",
        ),
        partial(scipy_mean, losses, 100),
        "at least 2.5x",
        0.1,
        (our_spread, scipy_spread),
        (1000, 100),
        least=2.5,
    )


def rank_rows():
    y, s = scores(100_000)
    for name, metric, least in (
        ("ROC AUC", metrics.roc_auc_score, 70),
        ("average precision", metrics.average_precision_score, 40),
    ):
        yield Row(
            f"{name}, n 1e5, 1000 resamples",
            "loop over scikit-learn",
            partial(bootstrap_score, y, s, metric=metric, n_resamples=1000, random_state=0),
            partial(sklearn_loop, metric, y, s, 20),
            f"at least {least}x",
            0.02,
            (our_spread, loop_spread),
            (1000, 20),
            least=least,
        )
    rare = scores(100_000, 0.01)
    yield Row(
        "ROC AUC, n 1e5, 1 % positives, 1000 resamples",
        "loop over scikit-learn",
        partial(bootstrap_score, *rare, metric="roc_auc", n_resamples=1000, random_state=0),
        partial(sklearn_loop, metrics.roc_auc_score, *rare, 20),
        "at least 150x",
        0.02,
        (our_spread, loop_spread),
        (1000, 20),
        least=150,
    )
    yield Row(
        "equal error rate, n 1e5, 1000 resamples",
        "one sklearn roc_curve",
        partial(
            bootstrap_score, y, s, metric="neg_equal_error_rate", n_resamples=1000, random_state=0
        ),
        partial(metrics.roc_curve, y, s),
        "cheaper",
        most=1.0,
    )


def group_rows():
    y, p = labels(100_000, 2)
    groups = np.random.default_rng(1).integers(0, 1000, 100_000)
    ours = partial(bootstrap_score, y, p, groups=groups, n_resamples=1000, random_state=0)
    yield Row(
        "grouped accuracy, n 1e5, 1000 groups, 1000 resamples",
        "numpy concatenation",
        ours,
        partial(numpy_concatenation, (y == p).astype(float), groups, 100),
        "at least 60x",
        0.1,
        (our_spread, loop_spread),
        (1000, 100),
        least=60,
    )
    yield Row(
        "grouped accuracy, n 1e5, 1000 groups, 1000 resamples",
        "confidence_intervals 0.0.3 (its own two-stage scheme)",
        ours,
        partial(confidence_intervals, metrics.accuracy_score, y, p, 2, groups),
        "at least 10,000x",
        0.002,
        None,
        least=10_000,
    )


def crossed_rows():
    n = 1000
    enrolled, tested = (a.ravel() for a in np.indices((n, n)))
    y, s = scores(n * n, 0.05)
    pairs = np.column_stack((enrolled, tested))
    for name, metric, plain, least in (
        ("equal error rate", "neg_equal_error_rate", equal_error_rate, 150),
        ("ROC AUC", "roc_auc", metrics.roc_auc_score, 60),
    ):
        yield Row(
            f"crossed 1000 x 1000 trials, {name}, 200 resamples",
            "indexing + scikit-learn",
            partial(
                bootstrap_score, y, s, metric=metric, groups=pairs, n_resamples=200, random_state=0
            ),
            partial(trials_loop, plain, y, s, enrolled, tested, 4),
            f"at least {least}x",
            0.02,
            (our_spread, loop_spread),
            (200, 4),
            least=least,
        )


def overhead_rows():
    y, p = labels(100, 2)
    yield Row(
        "whole call, accuracy, n 100, 1999 resamples",
        "1 ms of work",
        partial(bootstrap_score, y, p, random_state=0),
        partial(spin, 1e-3),
        "under 1 ms",
        most=1.0,
    )


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


WORKLOADS = {
    "accuracy": accuracy_rows,
    "labels": label_rows,
    "losses": loss_rows,
    "ranks": rank_rows,
    "groups": group_rows,
    "crossed": crossed_rows,
    "overhead": overhead_rows,
}


# ------------------------------------------------------------------ report


def report(timings: list[Timing]) -> str:
    packages = ("skboot", "numpy", "scipy", "scikit-learn", "confidence_intervals")
    lines = [
        "# How fast it is",
        "",
        "Made by `make bench`: one core, both sides in the same run, medians of CPU time. Peers",
        "that loop over resamples ran fewer of them, and their time was scaled. Times are this",
        "machine's; read the ratios. "
        + ", ".join(f"{name} {version(name)}" for name in packages)
        + f", Python {platform.python_version()}.",
        "",
        "| workload | peer | skboot | peer | ratio | goal | peak memory | answers |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for t in timings:
        ratio = f"{t.ratio:,.0f}x" if t.ratio >= 10 else f"{t.ratio:.2f}x"
        if t.row.most is not None:
            ratio = f"{1 / t.ratio:.2f} of it"
        lines.append(
            f"| {t.row.workload} | {t.row.peer} | {duration(t.ours)} | {duration(t.theirs)} "
            f"| {ratio} | {t.row.goal}{'' if t.held else ' (missed)'} | {t.peak:.0f} MB "
            f"| {t.agreement} |"
        )
    return "\n".join(lines) + "\n"


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def main() -> None:
    """Measure the chosen workloads, print the table, and write it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=WORKLOADS, nargs="+", default=list(WORKLOADS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    timings = []
    for name in options.only:
        for row in WORKLOADS[name]():
            timings.append(measure(row, options.repeats))
            print(report(timings).splitlines()[-1], file=sys.stderr, flush=True)
    text = report(timings)
    print(text)
    if options.write:
        (DOCS / "benchmarks.md").write_text(text)


if __name__ == "__main__":
    main()
