"""Run all runs: in one process or several, with progress, and from where a killed fit stopped.

Each record depends on its run alone, so that the numbers are the same for any number of workers.
Workers get chunks of runs, about eight each: the data are then sent (or mapped, if large) a few
times, not once per run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from . import clusters, storage
from .training import Job, Record, Run, record_of

# Starting workers takes seconds; work predicted to be shorter is done here.
_WORTH_WORKERS = 3.0
_CHUNKS_PER_WORKER = 8
# Far more columns than the answers of an estimator have beside one for each class and target.
_VALUES_PER_ROW = 64


def run_all(
    job: Job, runs: Sequence[Run], *, n_jobs: int | None, verbose: int, seconds_per_run: float
) -> list[Record]:
    """Records of all runs, in their order.

    Parameters
    ----------
    job : Job
        What they share.
    runs : sequence of Run
    n_jobs : int or None
        Workers, as joblib understands it.
    verbose : int
        1 shows progress on stderr.
    seconds_per_run : float
        Guess, from the run on all rows.

    Returns
    -------
    list of dict
    """
    progress = _Progress(len(runs), verbose)
    records: dict[int, Record] = {}
    if job.folder is not None:
        storage.clear(job.folder)
        numbers = [run.number for run in runs]
        records = storage.finished(job.folder, numbers, _most_bytes(job))
        progress.done(len(records), resumed=True)
    pending = [run for run in runs if run.number not in records]
    try:
        for record in _records(job, pending, n_jobs, seconds_per_run):
            for one in record:
                records[one["number"]] = one
            progress.done(len(record))
    except (KeyboardInterrupt, BrokenProcessPool) as stopped:
        stopped.add_note(_what_is_kept(job, runs))
        raise
    return [records[run.number] for run in runs]


def _records(
    job: Job, runs: Sequence[Run], n_jobs: int | None, seconds_per_run: float
) -> Iterator[list[Record]]:
    n_workers = joblib.effective_n_jobs(n_jobs)
    if n_workers == 1 or seconds_per_run * len(runs) < _WORTH_WORKERS:
        with _single_threaded_blas():
            for run in runs:
                yield [_finished(job, run)]
        return
    n_chunks = min(len(runs), _CHUNKS_PER_WORKER * n_workers)
    # Dealt out, not cut: folds of cross-validation take longer than bootstrap samples.
    chunks = [list(runs[start::n_chunks]) for start in range(n_chunks)]
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        # Some joblib backends only return lists.
        parallel = Parallel(n_jobs=n_jobs)
    with clusters.sent(job) as shared:
        yield from parallel(delayed(_chunk)(shared, chunk) for chunk in chunks)


def _chunk(job: Job, runs: Sequence[Run]) -> list[Record]:
    with _single_threaded_blas():
        return [_finished(job, run) for run in runs]


def _finished(job: Job, run: Run) -> Record:
    record = record_of(job, run)
    if job.folder is not None and record["error"] is None:
        storage.write(job.folder, record)
    return record


def _most_bytes(job: Job) -> int:
    """More than the arrays of a run can hold: a few values per row, class and metric."""
    n_rows = job.n_rows + sum(len(test.y) for test in job.tests)
    n_values = _VALUES_PER_ROW + (0 if job.classes is None else len(job.classes))
    n_values += int(np.prod(np.shape(job.y)[1:]))
    widest = 8 if job.classes is None else max(8, job.classes.dtype.itemsize)
    return 2 * n_rows * n_values * widest * len(job.channels)


def _what_is_kept(job: Job, runs: Sequence[Run]) -> str:
    """What became of the runs of a fit that was stopped."""
    if job.folder is None:
        return (
            "The runs that had finished are lost. With memory='a folder' and a random_state they "
            "would be kept, and the same call would go on from there."
        )
    n_finished = storage.n_finished(job.folder, [run.number for run in runs])
    return (
        f"{n_finished} of {len(runs)} runs are kept in the folder given as memory= "
        f"({str(Path(job.folder).parent)!r}): the same call goes on from there."
    )


def _single_threaded_blas() -> Any:
    """The same rounding in this process as in workers, which have one thread each."""
    return threadpool_limits(limits=1, user_api="blas")


class _Progress:
    """Runs done and time left, on stderr."""

    def __init__(self, n_runs: int, verbose: int) -> None:
        self._n_runs, self._verbose = n_runs, verbose
        self._start = self._said = time.perf_counter()
        self._done = self._resumed = 0

    def done(self, n_runs: int, *, resumed: bool = False) -> None:
        self._done += n_runs
        self._resumed += n_runs if resumed else 0
        now, finished = time.perf_counter(), self._done >= self._n_runs
        own = self._done - self._resumed
        if not self._verbose or own == 0 or (now - self._said < 0.5 and not finished):
            return
        self._said = now
        left = (now - self._start) * (self._n_runs - self._done) / own
        text = f"\r{self._done}/{self._n_runs} runs, {left:.0f} s left  "
        print(text, end="\n" if finished else "", file=sys.stderr, flush=True)
