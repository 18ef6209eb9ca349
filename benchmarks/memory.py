"""Memory of calls on many rows, and of trainings in two workers, beside scikit-learn's own.

Each case runs in a process of its own, and a case of a peer in another. A number is what the
process held at most beyond what it held before, or what a worker holds of its own, by the bytes of
the arrays that it was given.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# Rows, and megabytes of X; a test makes them small.
ROWS = {"roc_auc": 3_000_000, "r2": 1_000_000}
MEGABYTES = 500
# Seconds between two looks at the memory of workers, and that a training takes.
_LOOK_EVERY = 0.02
_TRAINING = 0.3


class Case(NamedTuple):
    """A call, what it is compared with, and how many times its input it may hold."""

    name: str
    call: str
    peer: str
    peer_call: str
    at_most: float


def cases() -> Iterator[Case]:
    """All cases, with calls as `main` knows them."""
    for metric, times in (("roc_auc", 2.0), ("r2", 3.0)):
        name = f"{metric}, n {ROWS[metric]:,}, 1,999 resamples"
        yield Case(name, metric, "one sklearn score", f"{metric} sklearn", times)
    name = f"trainings in two workers, X of {MEGABYTES} MB, each worker"
    yield Case(name, "workers", "sklearn cross_validate", "workers sklearn", 1.3)


class Nothing(ClassifierMixin, BaseEstimator):
    """Copies nothing, and takes as long as a training."""

    def fit(self, X, y):
        self.classes_, self.middle_ = np.unique(y), float(X[:, 0].mean())
        time.sleep(_TRAINING)
        return self

    def predict(self, X):
        return (X[:, 0] > self.middle_).astype(int)


def measured() -> list[dict]:
    """Rows of the table: how many times its input each call holds, and its peer."""
    rows = []
    for case in cases():
        ours, theirs = (_in_a_process(call) for call in (case.call, case.peer_call))
        rows.append(
            {
                "workload": case.name,
                "skboot": f"{ours:.2f}",
                "peer": case.peer,
                "of_peer": f"{theirs:.2f}",
                "goal": f"{case.at_most:g}",
            }
        )
        print(*rows[-1].values(), sep=", ", file=sys.stderr, flush=True)
    return rows


def _in_a_process(call: str) -> float:
    sizes = json.dumps([ROWS, MEGABYTES])
    command = [sys.executable, __file__, *call.split(), sizes]
    # An empty part would be the directory that the process runs in, whatever lies there.
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(Path(__file__).parents[1]), *([before] if before else [])])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=tempfile.gettempdir(),
    )
    return float(done.stdout.splitlines()[-1])


def status(key: str, process: int | str = "self", file: str = "status") -> int:
    """A size of a process in bytes; 0 for one that has ended."""
    try:
        with open(f"/proc/{process}/{file}") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))
    except (OSError, StopIteration):
        return 0


# ------------------------------------------------------------------ in the process of a case


def _of_a_score(metric: str, n: int, *, by_sklearn: bool) -> float:
    from sklearn import metrics

    from skboot import bootstrap_score

    function = {"roc_auc": metrics.roc_auc_score, "r2": metrics.r2_score}[metric]

    def call(rows):
        if by_sklearn:
            return function(*rows)
        return bootstrap_score(*rows, metric=metric, random_state=0)

    def rows_of(n):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 2, n) if metric == "roc_auc" else rng.normal(size=n)
        y_pred = rng.normal(size=n)
        y_pred += truth  # in place: with no other array, the peak is what is held at the end
        return truth, y_pred

    # What is imported and tabulated once is not the cost of a row.
    call(rows_of(2000))
    rows = rows_of(n)
    before = status("VmHWM")
    call(rows)
    return (status("VmHWM") - before) / sum(column.nbytes for column in rows)


def _of_workers(megabytes: float, *, by_sklearn: bool) -> float:
    from memory import Nothing as estimator  # by a name that workers can import
    from sklearn.model_selection import ShuffleSplit, cross_validate

    from skboot import BootstrapScorer

    X = np.random.default_rng(0).normal(size=(int(megabytes * 1e6 / 800), 100))
    y = (X[:, 0] > 0).astype(int)
    largest, done = {}, threading.Event()

    def look() -> None:
        while not done.is_set():
            for process in _children():
                # Pages of X that workers map are shared, and are not theirs.
                size = status("Anonymous:", process, "smaps_rollup")
                largest[process] = max(largest.get(process, 0), size)
            time.sleep(_LOOK_EVERY)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        if by_sklearn:
            splits = ShuffleSplit(16, train_size=0.632, random_state=0)
            cross_validate(estimator(), X, y, cv=splits, n_jobs=2)
        else:
            scorer = BootstrapScorer(
                estimator(),
                strategy="oob",
                n_train_resamples=16,
                refit=False,
                n_jobs=2,
                random_state=0,
            )
            scorer.fit(X, y)
    finally:
        done.set()
        thread.join()
    return max(largest.values(), default=0) / X.nbytes


def _children() -> list[str]:
    found: list[str] = []
    for task in os.listdir("/proc/self/task"):
        try:
            found += Path(f"/proc/self/task/{task}/children").read_text().split()
        except OSError:
            continue
    return found


def main() -> None:
    """Measure one case, and print its number."""
    warnings.simplefilter("ignore")
    call, *peer, sizes = sys.argv[1:]
    rows, megabytes = json.loads(sizes)
    by_sklearn = bool(peer)
    sys.path.insert(0, str(Path(__file__).parent))
    if call == "workers":
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        print(_of_workers(megabytes, by_sklearn=by_sklearn))
    else:
        print(_of_a_score(call, rows[call], by_sklearn=by_sklearn))


if __name__ == "__main__":
    main()
