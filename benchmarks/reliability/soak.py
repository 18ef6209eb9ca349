"""Many calls in one process: memory and open files must not grow.

Memory is the resident set of the process. After a warm-up it may rise by what the allocator keeps
in hand, and no further: it is read ten times along the way, and the last half is compared with the
first.
"""

import gc
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.naive_bayes import GaussianNB

import skboot

# Most that memory may rise between the two halves (MB): far below a kilobyte for each call.
MOST_MEGABYTES = 4.0
N_READINGS = 10
METRICS = ("accuracy", "f1", "roc_auc", "mean", "balanced_accuracy")


class Soaked(NamedTuple):
    """How many calls were made, and what they left behind."""

    name: str
    text: str
    calls: int
    failed: int
    megabytes: float
    files: int
    seconds: float

    @property
    def is_flat(self) -> bool:
        return self.megabytes <= MOST_MEGABYTES and self.files <= 0


def resident() -> float:
    """Memory of this process (MB)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def score(k: int) -> None:
    rng = np.random.default_rng(k)
    y = rng.integers(0, 2, 200)
    p = np.where(rng.random(200) < 0.8, y, 1 - y)
    metric = METRICS[k % len(METRICS)]
    groups = np.arange(200) // 5 if k % 3 == 0 else None
    options = {"metric": metric, "groups": groups, "n_resamples": 199, "random_state": k}
    y_true, y_pred = (None, rng.random(200)) if metric == "mean" else (y, p)
    if metric == "roc_auc":
        y_pred = p + rng.normal(size=200)
    result = skboot.bootstrap_score(y_true, y_pred, **options)
    result.summary(), result.to_dict()


def fit(k: int) -> None:
    rng = np.random.default_rng(k)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    scorer = skboot.BootstrapScorer(
        GaussianNB(), scoring=["accuracy", "roc_auc"], n_train_resamples=10, n_cv_repeats=1,
        random_state=k,
    )  # fmt: skip
    scorer.fit(X, y)
    scorer.result_["accuracy"].summary()


WORK = {
    "bootstrap_score": ("calls of bootstrap_score in one process", score, 10_000),
    "BootstrapScorer": ("fits of BootstrapScorer in one process", fit, 500),
}


def soaked(name: str, n: int) -> Soaked:
    """Make calls, and compare memory and open files between their two halves."""
    text, work, _ = WORK[name]
    memory, files, failed, start = [], [], 0, time.perf_counter()
    step = max(1, n // N_READINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(n):
            try:
                work(k)
            except Exception:
                failed += 1
            if k % step == step - 1:
                gc.collect()
                memory.append(resident())
                files.append(open_files())
    half = len(memory) // 2
    rise = float(np.median(memory[half:]) - np.median(memory[1:half] or memory[:1]))
    seconds = round(time.perf_counter() - start, 1)
    return Soaked(name, text, n, failed, round(rise, 2), files[-1] - files[0], seconds)
