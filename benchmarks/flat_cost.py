"""Time and memory of whole calls at 100,000 to 10,000,000 rows, each in a process of its own.

    python -m benchmarks.flat_cost                       all cases; writes flat_cost.csv
    python -m benchmarks.flat_cost --only auc --rows 1000000 --print

Times are CPU times of the process, in nanoseconds per resample and row, the best of some runs.
Memory is the peak of the process during the call beyond what it held before the call, as a
multiple of the bytes of the arrays that the call was given.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_suffix(".csv")
ROWS = (10**5, 10**6, 10**7)
RESAMPLES = 99
RUNS = 3
COLUMNS = ("case", "rows", "resamples", "nanoseconds", "megabytes", "input_megabytes", "times")


def values(n, rng):
    """A loss for each row."""
    return {"y_true": None, "y_pred": rng.exponential(size=n), "metric": "mean"}


def errors(n, rng):
    """Measured and predicted values."""
    truth = rng.normal(size=n)
    predicted = truth + rng.normal(size=n)
    return {"y_true": truth, "y_pred": predicted, "metric": "mean_absolute_error"}


def labels(n, rng):
    """Labels and decisions of two classes."""
    truth = rng.integers(0, 2, n)
    return {"y_true": truth, "y_pred": truth ^ (rng.random(n) < 0.2), "metric": "accuracy"}


def scores(n, rng, metric):
    """Labels and scores of two classes."""
    truth = rng.integers(0, 2, n)
    return {"y_true": truth, "y_pred": rng.normal(size=n) + truth, "metric": metric}


def probabilities(n, rng):
    """Labels and probabilities of the second class."""
    second = rng.random(n)
    truth = (rng.random(n) < second).astype(np.int64)
    return {"y_true": truth, "y_pred": second, "metric": "log_loss"}


def with_column(arguments, **columns):
    """The same rows with further columns."""
    return {**arguments, **columns}


CASES = {
    "mean, percentile": lambda n, rng: values(n, rng) | {"interval": "percentile"},
    "MAE, percentile": lambda n, rng: errors(n, rng) | {"interval": "percentile"},
    "MAE, studentized": lambda n, rng: errors(n, rng) | {"interval": "studentized"},
    "MAE, bca": lambda n, rng: errors(n, rng) | {"interval": "bca"},
    "R2": lambda n, rng: errors(n, rng) | {"metric": "r2"},
    "median absolute error": lambda n, rng: (
        errors(n, rng) | {"metric": "neg_median_absolute_error"}
    ),
    "log loss": lambda n, rng: probabilities(n, rng),
    "accuracy": lambda n, rng: labels(n, rng),
    "ROC AUC": lambda n, rng: scores(n, rng, "roc_auc"),
    "average precision": lambda n, rng: scores(n, rng, "average_precision"),
    "equal error rate": lambda n, rng: scores(n, rng, "equal_error_rate"),
    "MAE, groups of 100 rows": lambda n, rng: (
        errors(n, rng) | {"groups": rng.integers(0, n // 100, n)}
    ),
    "MAE, ten strata": lambda n, rng: errors(n, rng) | {"strata": rng.integers(0, 10, n)},
    "ROC AUC, ten strata": lambda n, rng: (
        scores(n, rng, "roc_auc") | {"strata": rng.integers(0, 10, n)}
    ),
    "accuracy, 20 subgroups": lambda n, rng: labels(n, rng) | {"by": rng.integers(0, 20, n)},
    "MAE, 20 subgroups": lambda n, rng: errors(n, rng) | {"by": rng.integers(0, 20, n)},
    "ROC AUC, 20 subgroups": lambda n, rng: (
        scores(n, rng, "roc_auc") | {"by": rng.integers(0, 20, n)}
    ),
    "accuracy, 20 tasks": lambda n, rng: labels(n, rng) | {"average_over": rng.integers(0, 20, n)},
    "MAE, 20 tasks": lambda n, rng: errors(n, rng) | {"average_over": rng.integers(0, 20, n)},
    "ROC AUC, 20 tasks": lambda n, rng: (
        scores(n, rng, "roc_auc") | {"average_over": rng.integers(0, 20, n)}
    ),
    "MAE of two systems": lambda n, rng: compared(errors(n, rng), rng),
    "ROC AUC of two systems": lambda n, rng: compared(scores(n, rng, "roc_auc"), rng),
}


def compared(arguments, rng):
    """The predictions of two systems on the same rows."""
    one = arguments.pop("y_pred")
    other = one + 0.5 * rng.normal(size=len(one))
    return arguments | {"y_preds": {"one": one, "other": other}}


def arrays_of(arguments):
    """The arrays among the arguments."""
    for value in arguments.values():
        if isinstance(value, Mapping):
            yield from value.values()
        elif isinstance(value, np.ndarray):
            yield value


def status(key):
    """A size of this process in bytes, of /proc/self/status."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def measure(case, n, resamples):
    """Seconds of CPU time and peak bytes of a call beyond what the process held before it."""
    from skboot import bootstrap_score, compare_systems

    warnings.simplefilter("ignore")

    def call(arguments):
        function = compare_systems if "y_preds" in arguments else bootstrap_score
        return function(**arguments, n_resamples=resamples, random_state=0)

    # What is imported and tabulated once is not the cost of a row.
    call(CASES[case](2000, np.random.default_rng(1)))
    arguments = CASES[case](n, np.random.default_rng(0))
    given = sum(array.nbytes for array in arrays_of(arguments))
    # Writing 5 sets the peak to what is resident now.
    Path("/proc/self/clear_refs").write_text("5")
    before, start = status("VmRSS"), time.process_time()
    result = call(arguments)
    seconds = time.process_time() - start
    peak = status("VmHWM") - before
    print(json.dumps({"seconds": seconds, "peak": peak, "given": given, "result": str(result)}))


def row_of(case, n, runs):
    """A row of the table: the best time and the largest peak of some processes."""
    command = [sys.executable, "-m", "benchmarks.flat_cost", "--child", case, "--rows", str(n)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = []
    for _ in range(runs):
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | threads
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = min(one["seconds"] for one in found)
    peak, given = max(one["peak"] for one in found), found[0]["given"]
    return {
        "case": case,
        "rows": n,
        "resamples": RESAMPLES,
        "nanoseconds": round(seconds / n / RESAMPLES * 1e9, 2),
        "megabytes": round(peak / 1e6, 1),
        "input_megabytes": round(given / 1e6, 1),
        "times": round(peak / given, 2),
    }


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=list(CASES))
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--print", action="store_true", help="write no table")
    asked = parser.parse_args()
    if asked.child:
        measure(asked.child, asked.rows[0], RESAMPLES)
        return
    rows = []
    for case in CASES:
        if asked.only in case:
            for n in asked.rows:
                rows.append(row_of(case, n, asked.runs))
                print(*rows[-1].values(), sep=", ", flush=True)
    if not asked.print:
        with TABLE.open("w", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
