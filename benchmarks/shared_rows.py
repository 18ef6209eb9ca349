"""Memory of two workers that train on bootstrap samples of 1 GB of features.

    python -m benchmarks.shared_rows [--rows 1250000]      writes shared_rows.csv

While the fit runs, a thread reads the memory of all worker processes from /proc every 50 ms. A page
that several processes have mapped counts in full in the resident size (RSS) of each; in the
proportional size (PSS) each of them counts its share, so that the sum over processes is what the
machine holds. Anonymous memory is what a worker has allocated itself: its copies, and Python.
"""

from __future__ import annotations

import argparse
import csv
import os
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from skboot import BootstrapScorer

TABLE = Path(__file__).with_suffix(".csv")
FEATURES = 100
ESTIMATORS = {"none (DummyClassifier)": DummyClassifier(), "GaussianNB": GaussianNB()}
KINDS = ("Rss", "Pss", "Anonymous")


def sizes(pid):
    """Sizes of a process in bytes, by kind; None if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except (OSError, ProcessLookupError):
        return None
    found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return {kind: found.get(kind, 0) for kind in KINDS}


def descendants():
    """Processes that this one started, and those started by them."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (OSError, ProcessLookupError):
            continue
        parents[int(path.parent.name)] = int(fields[1])
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


class Sampler(threading.Thread):
    """Peaks of one worker, and of the sum of all, until it is stopped.

    Workers are the processes that this one started; this one alone if it does the work ``own``.
    """

    def __init__(self, own=False):
        super().__init__(daemon=True)
        self._own = own
        self.peaks = {**dict.fromkeys(KINDS, 0), "Pss of all": 0}
        self.n_workers, self._stop_asked = 0, threading.Event()

    def run(self):
        while not self._stop_asked.wait(0.05):
            workers = {os.getpid()} if self._own else descendants()
            all_sizes = [one for pid in workers if (one := sizes(pid)) is not None]
            for one in all_sizes:
                for kind, size in one.items():
                    self.peaks[kind] = max(self.peaks[kind], size)
            total = sum(one["Pss"] for one in all_sizes)
            self.peaks["Pss of all"] = max(self.peaks["Pss of all"], total)
            large = sum(one["Rss"] > 2e8 for one in all_sizes)
            self.n_workers = max(self.n_workers, large)

    def stop(self):
        self._stop_asked.set()
        self.join()


def measured(name, n, X, y):
    """A row of the table: peaks during a fit with two workers, as multiples of X."""
    warnings.simplefilter("ignore", UserWarning)  # These are too few samples for an interval.
    sampler = Sampler()
    sampler.start()
    start = time.perf_counter()
    scorer = BootstrapScorer(
        ESTIMATORS[name], strategy="oob", n_train_resamples=8, n_jobs=2, random_state=0
    )
    scorer.fit(X, y)
    seconds = time.perf_counter() - start
    sampler.stop()
    multiples = {key: round(size / X.nbytes, 2) for key, size in sampler.peaks.items()}
    return {
        "estimator": name,
        "rows": n,
        "megabytes of X": round(X.nbytes / 1e6),
        "workers": sampler.n_workers,
        **multiples,
        "seconds": round(seconds, 1),
    }


def main():
    """Measure each estimator and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_250_000)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(asked.rows, FEATURES))
    y = (X[:, 0] + rng.normal(size=asked.rows) > 0).astype(int)
    rows = []
    for name in ESTIMATORS:
        rows.append(measured(name, asked.rows, X, y))
        print(rows[-1], flush=True)
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
