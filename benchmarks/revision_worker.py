"""Run workloads of one revision of skboot on demand: the name in, seconds of CPU time out.

Started by compare_revisions.py with the folder of the revision. Uses the public surface alone,
which all revisions share.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np


@cache
def labels(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw labels, and predictions of which four in five are right."""
    rng = np.random.default_rng(0)
    y_true, other = rng.integers(0, n_classes, (2, n))
    return y_true, np.where(rng.random(n) < 0.8, y_true, other)


@cache
def scores(n: int, prevalence: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Draw two classes, and scores."""
    rng = np.random.default_rng(0)
    y_true = (rng.random(n) < prevalence).astype(int)
    return y_true, rng.normal(size=n) + 1.5 * y_true


@cache
def pairs(n: int) -> np.ndarray:
    """Cross two factors of n members."""
    return np.column_stack([a.ravel() for a in np.indices((n, n))])


@cache
def losses(n: int) -> np.ndarray:
    """Draw losses."""
    return np.random.default_rng(0).exponential(size=n)


def score(*data, **settings) -> Callable[[], object]:
    """Make a call of bootstrap_score."""
    from skboot import bootstrap_score

    return lambda: bootstrap_score(*data, random_state=0, **{"n_resamples": 1000, **settings})


@cache
def parts(n: int, n_parts: int) -> np.ndarray:
    """Draw which part each row is in."""
    return np.random.default_rng(1).integers(0, n_parts, n)


@cache
def systems(n_systems: int, n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw two classes, and predictions of systems that are right in 50 to 90% of the rows."""
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, n)
    rates = np.linspace(0.5, 0.9, n_systems)
    return y_true, {str(k): y_true ^ (rng.random(n) > rate) for k, rate in enumerate(rates)}


def compare(*data, **settings) -> Callable[[], object]:
    """Make a call of compare_systems."""
    from skboot import compare_systems

    return lambda: compare_systems(*data, random_state=0, **{"n_resamples": 1999, **settings})


def compare_and_rank(*data, **settings) -> Callable[[], object]:
    """Make a call of compare_systems, with the ranks of the systems."""
    comparison = compare(*data, **settings)
    return lambda: comparison().ranks()


def compare_own_rows(n_systems: int, n: int) -> Callable[[], object]:
    """Make a call of compare_systems on test sets of their own."""
    y_true, predicted = systems(n_systems, n)
    return compare(dict.fromkeys(predicted, y_true), predicted, paired=False)


def gate(n: int) -> Callable[[], object]:
    """Make a call of assert_not_worse."""
    from skboot.testing import assert_not_worse

    y_true, predicted = systems(2, n)
    known = {"margin": 0.5, "random_state": 0, "inconclusive": "pass"}
    return lambda: assert_not_worse(y_true, predicted["1"], predicted["0"], **known)


def across(n_datasets: int, n_methods: int) -> Callable[[], object]:
    """Make a call of compare_across."""
    from skboot import compare_across

    scores = np.random.default_rng(0).normal(size=(n_datasets, n_methods))
    names = {"datasets": range(n_datasets), "methods": range(n_methods)}
    return lambda: compare_across(scores, **names, greater_is_better=True, random_state=0)


def plan(n: int) -> Callable[[], object]:
    """Make a call of plan_evaluation from a pilot of two systems."""
    from skboot import plan_evaluation

    [pair] = compare(*systems(2, n))().pairs
    return lambda: plan_evaluation(pair, margin=0.01)


def runs(n_runs: int, n: int, **settings) -> Callable[[], object]:
    """Make a call of bootstrap_runs."""
    from skboot import bootstrap_runs

    y_true, predicted = systems(n_runs, n)
    given = {"metric": "f1", "random_state": 0, **settings}
    return lambda: bootstrap_runs(y_true, list(predicted.values()), **given)


def runs_compared(n_runs: int, n: int) -> Callable[[], object]:
    """Make a call of compare_runs, of two methods."""
    from skboot import compare_runs

    y_true, predicted = systems(2 * n_runs, n)
    answers = list(predicted.values())
    both = {"a": answers[:n_runs], "b": answers[n_runs:]}
    return lambda: compare_runs(y_true, both, random_state=0)


def curve(n: int, **settings) -> Callable[[], object]:
    """Make a call of bootstrap_curve."""
    from skboot import bootstrap_curve

    return lambda: bootstrap_curve(*scores(n), random_state=0, n_resamples=500, **settings)


def fit(n: int, n_test: int = 0, **settings) -> Callable[[], object]:
    """Make a fit of BootstrapScorer, on a test set where it has rows."""
    from sklearn.naive_bayes import GaussianNB

    from skboot import BootstrapScorer

    rng = np.random.default_rng(0)
    y = np.arange(n + n_test) % 2
    X = rng.normal(size=(n + n_test, 5)) + y[:, None]
    test = {"X_test": X[n:], "y_test": y[n:]} if n_test else {}
    few = {"n_train_resamples": 50, "n_cv_repeats": 1, "random_state": 0, **settings}
    return lambda: BootstrapScorer(GaussianNB(), **few).fit(X[:n], y[:n], **test)


def methods(n: int) -> Callable[[], object]:
    """Make a call of compare_methods."""
    from sklearn.naive_bayes import GaussianNB

    from skboot import compare_methods

    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 5)) + y[:, None]
    both = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.1)}
    few = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
    return lambda: compare_methods(both, X, y, **few)


def stream(metric: str, n: int, n_batches: int) -> Callable[[], object]:
    """Add batches to an accumulator, and ask for its result."""
    from skboot import BootstrapAccumulator

    y_true, answer = scores(n) if metric == "roc_auc" else labels(n, 2)
    batches = np.array_split(np.arange(n), n_batches)

    def call() -> object:
        found = BootstrapAccumulator(metric, random_state=0, n_resamples=200)
        for rows in batches:
            found.update(y_true[rows], answer[rows], start=int(rows[0]))
        return found.result()

    return call


def command_line(n: int) -> Callable[[], object]:
    """Score a file by the command line, in this process."""
    import contextlib
    import io
    import tempfile
    from pathlib import Path

    from skboot.cli.main import main

    y_true, answer = labels(n, 2)
    file = Path(tempfile.mkdtemp(prefix="skboot-bench-")) / "rows.csv"
    rows = np.column_stack((y_true, answer))
    np.savetxt(file, rows, fmt="%d", delimiter=",", header="y_true,y_pred", comments="")
    arguments = ["score", str(file), "--y-true", "y_true", "--y-pred", "y_pred"]

    def call() -> object:
        with contextlib.redirect_stdout(io.StringIO()):
            return main(arguments)

    return call


WORKLOADS = {
    "accuracy, n 100, 1,999 resamples": lambda: score(*labels(100, 2), n_resamples=1999),
    "accuracy, n 1e5": lambda: score(*labels(10**5, 2)),
    "macro F1, n 1e5, 10 classes": lambda: score(*labels(10**5, 10), metric="f1_macro"),
    "macro F1, n 1e5, 100 classes": lambda: score(*labels(10**5, 100), metric="f1_macro"),
    "mean of losses, n 1e5": lambda: score(None, losses(10**5), metric="mean"),
    "ROC AUC, n 1e5": lambda: score(*scores(10**5), metric="roc_auc"),
    "ROC AUC, n 1e5, 1% positives": lambda: score(*scores(10**5, 0.01), metric="roc_auc"),
    "average precision, n 1e5": lambda: score(*scores(10**5), metric="average_precision"),
    "equal error rate, n 1e5": lambda: score(*scores(10**5), metric="neg_equal_error_rate"),
    "grouped accuracy, n 1e5, 1,000 groups": lambda: score(
        *labels(10**5, 2), groups=np.arange(10**5) % 1000
    ),
    "crossed 300 x 300, equal error rate, 200 resamples": lambda: score(
        *scores(90_000, 0.05), metric="neg_equal_error_rate", groups=pairs(300), n_resamples=200
    ),
    "crossed 300 x 300, ROC AUC, 200 resamples": lambda: score(
        *scores(90_000, 0.05), metric="roc_auc", groups=pairs(300), n_resamples=200
    ),
    "20 systems, n 1e5, 1,999 resamples": lambda: compare(*systems(20, 10**5)),
    "180 systems, n 41, 1,999 resamples": lambda: compare(*systems(180, 41)),
    "180 systems, n 41, with ranks": lambda: compare_and_rank(*systems(180, 41)),
    "20 systems on rows of their own, n 1e4": lambda: compare_own_rows(20, 10**4),
    "accuracy of 20 subgroups, n 1e5": lambda: score(*labels(10**5, 2), by=parts(10**5, 20)),
    "mean absolute error of 20 subgroups, n 1e5, 200 resamples": lambda: score(
        losses(10**5),
        losses(10**5)[::-1],
        metric="neg_mean_absolute_error",
        by=parts(10**5, 20),
        n_resamples=200,
    ),
    "ROC AUC of 20 subgroups, n 1e5, 200 resamples": lambda: score(
        *scores(10**5), metric="roc_auc", by=parts(10**5, 20), n_resamples=200
    ),
    "accuracy of 200 subgroups, n 1e5, 299 resamples": lambda: score(
        *labels(10**5, 2), by=parts(10**5, 200), n_resamples=299
    ),
    "mean absolute error of 200 subgroups, n 1e5, 299 resamples": lambda: score(
        losses(10**5),
        losses(10**5)[::-1],
        metric="neg_mean_absolute_error",
        by=parts(10**5, 200),
        n_resamples=299,
    ),
    "ROC AUC of 200 subgroups, n 1e5, 299 resamples": lambda: score(
        *scores(10**5), metric="roc_auc", by=parts(10**5, 200), n_resamples=299
    ),
    "ROC AUC over 20 tasks, n 1e5, 299 resamples": lambda: score(
        *scores(10**5), metric="roc_auc", average_over=parts(10**5, 20), n_resamples=299
    ),
    "ROC AUC of 10,000 groups, n 1e5, 299 resamples": lambda: score(
        *scores(10**5), metric="roc_auc", groups=parts(10**5, 10**4), n_resamples=299
    ),
    "accuracy in 100 strata, n 1e5": lambda: score(*labels(10**5, 2), strata=parts(10**5, 100)),
    "mean of losses in 10 strata, n 1e5, 200 resamples": lambda: score(
        None, losses(10**5), metric="mean", strata=parts(10**5, 10), n_resamples=200
    ),
    "average over 100 tasks of 100 rows": lambda: score(
        *labels(10**4, 2), average_over=np.arange(10**4) % 100
    ),
    "macro F1 over 100 tasks of 100 rows": lambda: score(
        *labels(10**4, 10), metric="f1_macro", average_over=np.arange(10**4) % 100
    ),
    "release gate, n 1e5": lambda: gate(10**5),
    "10 methods across 60 data sets": lambda: across(60, 10),
    "plan from a pair, n 1e4": lambda: plan(10**4),
    "accuracy, n 1000": lambda: score(*labels(1000, 2), n_resamples=1999),
    "ROC AUC of groups, n 1000": lambda: score(
        *scores(1000), metric="roc_auc", groups=np.arange(1000) // 5, n_resamples=1999
    ),
    "mean of losses, n 1000": lambda: score(None, losses(1000), metric="mean", n_resamples=1999),
    "three metrics, n 1e5": lambda: score(*labels(10**5, 2), metric=["accuracy", "f1", "recall"]),
    "four metrics of scores, n 1e4": lambda: score(
        *scores(10**4),
        metric=["roc_auc", "average_precision", "neg_equal_error_rate", "top_k_accuracy"],
    ),
    "ten runs, n 1e4": lambda: runs(10, 10**4),
    "five runs of two methods, n 1e4": lambda: runs_compared(5, 10**4),
    "ROC band, n 1e4": lambda: curve(10**4),
    "precision-recall band, n 1e4": lambda: curve(10**4, curve="precision_recall"),
    "fit, 50 samples of 300 rows": lambda: fit(300),
    "fit with a test set, 50 samples": lambda: fit(300, 300),
    "two methods, 20 samples of 300 rows": lambda: methods(300),
    "stream of labels, 10 batches of 1e4": lambda: stream("accuracy", 10**5, 10),
    "stream of scores, 10 batches of 1e4": lambda: stream("roc_auc", 10**5, 10),
    "command line, n 1000": lambda: command_line(1000),
}


def main() -> None:
    """Answer until the input ends."""
    sys.path.insert(0, sys.argv[1])
    import skboot

    if not str(skboot.__file__).startswith(sys.argv[1]):
        raise RuntimeError(f"skboot of {sys.argv[1]} was not found, but {skboot.__file__}")
    warnings.simplefilter("ignore")
    calls: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        name = json.loads(line)
        seconds = None
        try:
            if name not in calls:
                calls[name] = WORKLOADS[name]()
            start = time.process_time()
            calls[name]()
            seconds = time.process_time() - start
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
