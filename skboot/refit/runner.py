"""Run all runs, in one process or several, and from where a fit that was stopped had come to.

Each record depends on its run alone, so that the numbers are the same for any number of workers.

Finished runs are kept in a folder, one file each. Files hold arrays and numbers only and are read
without unpickling. Each names its fit and its run, and is read only if these are the right ones and
every byte that counts is as it was written; else the run is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._base.files import arrays_of, remove_abandoned, replace_link, write_whole
from .._base.messages import fail
from .._base.workers import Progress, in_chunks
from .training import Job, Record, Run, train_and_answer

# Far more columns than the answers of an estimator have beside one for each class and target.
_VALUES_PER_ROW = 64
# Bytes of a file beside its arrays: headers, and the numbers of a run.
_OVERHEAD = 1 << 20
_INTEGERS = ("number", "n_convergence")
# Key of the reason why a run could not be written; no file holds it.
UNKEPT = "unkept"


def run_all(
    job: Job,
    runs: Sequence[Run],
    *,
    n_jobs: int | None,
    verbose: int | None,
    seconds_per_run: float,
) -> list[Record]:
    """Records of all runs, in their order.

    Parameters
    ----------
    job : Job
        What they share.
    runs : sequence of Run
    n_jobs : int or None
        Workers, as joblib understands it.
    verbose : int or None
        Whether progress is reported; see `Progress`.
    seconds_per_run : float
        Guess, from the run on all rows.

    Returns
    -------
    list of dict
    """
    with Progress(len(runs), "runs", verbose) as progress:
        return _all_records(job, runs, progress, n_jobs, seconds_per_run)


def _all_records(
    job: Job, runs: Sequence[Run], progress: Progress, n_jobs: int | None, seconds_per_run: float
) -> list[Record]:
    records: dict[int, Record] = {}
    # A link in the place of the folder is replaced before the first run is kept.
    if job.folder is not None and not Path(job.folder).is_symlink():
        for name in ("run-*", "probe.*"):
            remove_abandoned(job.folder, f".{name}")
        records = finished_runs(job.folder, [run.number for run in runs], _most_bytes(job))
        progress.done(len(records), resumed=True)
    pending = [run for run in runs if run.number not in records]
    if job.folder is not None and pending:
        _check_writable(job.folder)
    try:
        for chunk in in_chunks(
            record_of, job, pending, n_jobs=n_jobs, seconds_each=seconds_per_run
        ):
            records.update((record["number"], record) for record in chunk)
            progress.done(len(chunk))
    except (KeyboardInterrupt, BrokenProcessPool) as stopped:
        stopped.add_note(_note_on_stop(job, runs))
        raise
    return [records[run.number] for run in runs]


def record_of(job: Job, run: Run) -> Record:
    """Return and write the record of one run; an error is recorded unless it is to be raised."""
    record: Record = {"number": run.number, "error": None, "fit_time": np.nan}
    try:
        record.update(job.loan.attempt(partial(train_and_answer, job, run, record)))
    except Exception as error:
        if job.raise_errors:
            raise
        # As text: an exception need not survive the way back from a worker.
        record["error"] = f"{type(error).__name__}: {error}"
        return record
    if job.folder is not None:
        try:
            write_run(job.folder, record)
        except OSError as error:
            # The disk may have become full in a fit of days, whose numbers need no file.
            record[UNKEPT] = error.strerror or str(error)
    return record


def write_run(folder: str, record: Record) -> None:
    """Write the record of a run that succeeded."""
    path = _path(folder, record["number"])
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {key: np.asarray(v) for key, v in record.items() if key not in ("error", "warnings")}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("With memory=, labels must be strings or numbers, not Python objects.")
    contents: dict[str, Any] = {f"a{k}": array for k, array in enumerate(arrays.values())}
    contents |= {"names": np.array(list(arrays)), "run": np.array(_identity(path))}
    write_whole(path, lambda file: np.savez(file, **contents), follow=False)


def finished_runs(
    folder: str, numbers: Sequence[int], n_bytes: float = np.inf
) -> dict[int, Record]:
    """Records of the runs that have a file, by number.

    Parameters
    ----------
    folder : str
    numbers : sequence of int
        Of the runs.
    n_bytes : float
        What the arrays of a run can hold at most; a file that claims more is not unpacked.
    """
    paths = {number: _path(folder, number) for number in numbers}
    # A link is no file of a fit: the run is done again, and its file takes the place of the link.
    there = {k: path for k, path in paths.items() if path.is_file() and not path.is_symlink()}
    records = {number: _read(path, n_bytes) for number, path in there.items()}
    return {number: record for number, record in records.items() if record is not None}


# ------------------------------------------------------------------ steps


def _check_writable(folder: str) -> None:
    """Refuse a folder that keeps no run, before any is done."""
    try:
        replace_link(folder)
        Path(folder).mkdir(parents=True, exist_ok=True)
        probe = Path(folder) / "probe"
        write_whole(probe, lambda file: file.write(b"runs of a fit are kept here"), follow=False)
        probe.unlink(missing_ok=True)  # another fit into the same folder may have been quicker
    except OSError as error:
        place, reason = str(Path(folder).parent), error.strerror or error
        advice = "Give another folder, or leave memory= out: the runs are then not kept."
        must = "be a folder that can be written"
        raise fail("memory", must, f"{place!r}: {reason}", advice) from error


def _most_bytes(job: Job) -> int:
    """Return more than the arrays of a run can hold: a few values per row, class and metric."""
    n_rows = job.n_rows + sum(len(test.y) for test in job.tests)
    n_values = _VALUES_PER_ROW + (0 if job.classes is None else len(job.classes))
    n_values += int(np.prod(np.shape(job.y)[1:]))
    widest = 8 if job.classes is None else max(8, job.classes.dtype.itemsize)
    return 2 * n_rows * n_values * widest * len(job.keep)


def _note_on_stop(job: Job, runs: Sequence[Run]) -> str:
    """Return how many runs of a stopped fit are kept, and how to go on from there."""
    if job.folder is None:
        return (
            "The runs that had finished are lost. With memory='a folder' and a random_state they "
            "would be kept, and the same call would resume from there."
        )
    folder = Path(job.folder)
    n_finished = sum(_path(folder, run.number).exists() for run in runs)
    return (
        f"{n_finished} of {len(runs)} runs are kept in the folder given as memory= "
        f"({str(folder.parent)!r}): the same call resumes from there."
    )


def _path(folder: str | Path, number: int) -> Path:
    return Path(folder) / f"run-{number:06d}.npz"


def _identity(path: Path) -> str:
    """Return which run of which fit a file is of, by its place."""
    return f"{path.parent.name}/{path.stem}"


def _read(path: Path, n_bytes: float) -> Record | None:
    """Return the record in a file; None if it is damaged or of another run or fit."""
    try:
        arrays = arrays_of(path, min(n_bytes + _OVERHEAD, path.stat().st_size))
        if arrays.pop("run").item() != _identity(path):
            return None
        names = arrays.pop("names").tolist()
        record: Record = {name: arrays[f"a{k}"] for k, name in enumerate(names)}
    except Exception:
        # A damaged file can make its readers raise anything.
        return None
    for name, value in record.items():
        if value.ndim == 0:
            record[name] = int(value) if name in _INTEGERS else float(value)
    return {**record, "error": None, "warnings": set()}
