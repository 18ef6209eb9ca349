"""A Parquet folder of 50,000,000 rows: one process, two workers, and a dask dataframe on two.

    python -m benchmarks.lazy_rows [--rows 50000000] [--folder PLACE]      writes lazy_rows.csv
    python -m benchmarks.lazy_rows --only "ROC AUC"                        its rows alone

Each way scores the decisions (accuracy and F1) and the scores (area under the ROC curve) of the
same folder. Memory is the peak of a worker in the meaning of `benchmarks.shared_rows`; the same
call on the first two files tells what of it are Python, its packages, and tables made once.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.shared_rows import Sampler

TABLE = Path(__file__).with_suffix(".csv")
ROWS_OF_FILE = 500_000
CALLS = {
    "accuracy and F1": ("decision", ["accuracy", "f1"]),
    "ROC AUC": ("score", "roc_auc"),
}
WAYS = ("one process", "two workers", "dask, two workers")


def write_folder(folder, n_rows):
    """Truth, score and decision of the rows, half a million in a file."""
    import pyarrow as pa
    from pyarrow import parquet

    for number in range(-(-n_rows // ROWS_OF_FILE)):
        rng = np.random.default_rng((5, number))
        n = min(ROWS_OF_FILE, n_rows - number * ROWS_OF_FILE)
        truth = (rng.random(n) < 0.3).astype(np.int8)
        score = (rng.normal(size=n) + 1.5 * truth).astype(np.float32)
        columns = {"truth": truth, "score": score, "decision": (score > 0.9).astype(np.int8)}
        parquet.write_table(pa.table(columns), folder / f"part-{number:05}.parquet")


@contextmanager
def columns_of(way, source):
    """The columns of the files, as the way has them, and the number of workers."""
    from skboot import scan_dataset

    if not way.startswith("dask"):
        yield scan_dataset(source), 2 if way == "two workers" else 1
        return
    import dask.dataframe as dd
    import distributed

    with (
        tempfile.TemporaryDirectory() as place,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=place
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield dd.read_parquet(source), 1


def measure(call, way, source, n_resamples):
    """Print what a call answers, and time and memory of its workers."""
    from skboot import bootstrap_score

    column, metric = CALLS[call]
    options = {"metric": metric, "n_resamples": n_resamples, "random_state": 0}
    with columns_of(way, source) as (data, n_jobs):
        sampler = Sampler(own=way == "one process")
        sampler.start()
        start = time.perf_counter()
        answer = bootstrap_score(data["truth"], data[column], n_jobs=n_jobs, **options)
        seconds = time.perf_counter() - start
        sampler.stop()
    results = answer if isinstance(answer, Mapping) else {metric: answer}
    bits = {name: one.bootstrap_distribution.tobytes().hex() for name, one in results.items()}
    texts = "; ".join(f"{name} {one}" for name, one in results.items())
    found = {"bits": bits, "result": texts, "seconds": seconds, "peaks": sampler.peaks}
    print(json.dumps(found))


def measured(call, way, source, n_resamples):
    """What a process of its own printed."""
    command = [sys.executable, "-m", "benchmarks.lazy_rows", "--child", call, way, *source]
    done = subprocess.run(
        [*command, "--resamples", str(n_resamples)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def table_of(folder, calls, n_rows, n_resamples):
    """Yield a row for each call and way."""
    whole, first = [str(folder)], [str(file) for file in sorted(folder.iterdir())[:2]]
    for call in calls:
        bits = None
        for way in WAYS:
            before = measured(call, way, first, n_resamples)["peaks"]
            found = measured(call, way, whole, n_resamples)
            bits = bits or found["bits"]
            yield {
                "call": call,
                "way": way,
                "rows": n_rows,
                "resamples": n_resamples,
                "seconds": round(found["seconds"]),
                "worker_megabytes": round(found["peaks"]["Rss"] / 1e6),
                "allocated_megabytes": round(found["peaks"]["Anonymous"] / 1e6),
                "of_two_files_megabytes": round(before["Rss"] / 1e6),
                "same_bits": found["bits"] == bits,
                "result": found["result"],
            }


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs="+", help="what is run by itself: a call, a way and files")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--only", choices=list(CALLS), help="the call whose rows are replaced")
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one without")
    asked = parser.parse_args()
    if asked.child:
        call, way, *source = asked.child
        measure(call, way, source, asked.resamples)
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as place:
        write_folder(Path(place), asked.rows)
        calls = [asked.only] if asked.only else list(CALLS)
        for row in table_of(Path(place), calls, asked.rows, asked.resamples):
            print(*row.values(), sep=", ", flush=True)
            write_row(row)


def write_row(row):
    """Put a row into the table in the place of that of the same call and way."""
    with TABLE.open(newline="") as file:
        kept = {(one["call"], one["way"]): one for one in csv.DictReader(file)}
    kept[row["call"], row["way"]] = row
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, list(row), lineterminator="\n")
        table.writeheader()
        table.writerows(kept.values())


if __name__ == "__main__":
    main()
