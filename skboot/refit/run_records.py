"""What was kept of all runs, read by row, by bootstrap sample and by fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..method_error._columns import column_blocks
from .run_metrics import Target
from .samples import TrainingSamples
from .training import Record

Array = NDArray[Any]


class RowsOfRuns(NamedTuple):
    """What bootstrap runs kept of consecutive rows.

    Attributes
    ----------
    rows : slice
    data : ndarray of shape (n_runs, n_rows, ...)
    outside : ndarray of shape (n_runs, n_rows)
        Which of them each run left out.
    """

    rows: slice
    data: Array
    outside: Array


@dataclass(frozen=True, eq=False)
class RunRecords:
    """What was kept of all runs.

    Attributes
    ----------
    target : Target
    samples : TrainingSamples
    full : list of dict
        Records of the runs on all rows, one per seed.
    records : list of dict
        Records of the other runs, in their order.
    all_rows : bool
        Whether bootstrap runs answered for all rows.
    failed_score : float
        Score that a failed run counts with; NaN: it is left out.
    """

    target: Target
    samples: TrainingSamples
    full: Sequence[Record]
    records: Sequence[Record]
    all_rows: bool
    failed_score: float = np.nan

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.samples.folds.shape[1]

    @property
    def n_units(self) -> int:
        """Number of rows or groups that were drawn from."""
        return int(self.samples.counts.shape[1])

    @cached_property
    def row_counts(self) -> Array:
        """How often each row is in each bootstrap sample, (n_resamples, n_samples)."""
        unit = self.target.unit
        return self.samples.counts if unit is None else self.samples.counts[:, unit]

    def of_bootstrap(self, key: str) -> tuple[Array, Array]:
        """Values kept per row, (n_runs, n_samples, ...), and the numbers of these runs."""
        records = self.records[: self.samples.n_bootstrap_runs]
        runs = np.array([k for k, record in enumerate(records) if key in record], dtype=np.intp)
        if not len(runs):
            return np.empty((0, self.n_rows)), runs
        first = records[runs[0]][key]
        data = np.zeros((len(runs), self.n_rows, *first.shape[1:]), dtype=first.dtype)
        for values, k in zip(data, runs, strict=True):
            counts = self.row_counts[k // self.samples.n_seeds]
            rows = slice(None) if self.all_rows else np.flatnonzero(counts == 0)
            own = records[k][key]
            # Rows without an answer weigh nothing. They hold one of the run's answers, since not
            # every loss takes a zero.
            values[:] = own[0] if len(own) else 0
            values[rows] = own
        return data, runs

    def by_rows(self, key: str) -> Iterator[RowsOfRuns]:
        """Yield what bootstrap runs kept of consecutive rows, 0 where a run kept nothing of one.

        Read in blocks, the answers of many runs never are one array.
        """
        records = self.records[: self.samples.n_bootstrap_runs]
        runs = np.array([k for k, own in enumerate(records) if key in own], dtype=np.intp)
        if not len(runs):
            return
        samples, of_runs = runs // self.samples.n_seeds, [records[k][key] for k in runs]
        first, n_read = of_runs[0], np.zeros(len(runs), dtype=np.intp)
        blocks = [*column_blocks(len(runs), self.n_rows)]
        for rows in blocks:
            units = rows if self.target.unit is None else self.target.unit[rows]
            outside = self.samples.counts[:, units][samples] == 0
            answered = np.ones_like(outside) if self.all_rows else outside
            data = np.zeros((*answered.shape, *first.shape[1:]), dtype=first.dtype)
            ends = n_read + answered.sum(axis=1)
            for own, values, given, start, end in zip(
                data, of_runs, answered, n_read, ends, strict=True
            ):
                own[given] = values[start:end]
            n_read = ends
            yield RowsOfRuns(rows, data, outside)

    @property
    def counts_failures(self) -> bool:
        """Whether failed runs count with a score of their own."""
        return bool(np.isfinite(self.failed_score))

    def failed_bootstrap(self) -> Array:
        """Numbers of the bootstrap runs that failed and count; empty where they are left out."""
        records = self.records[: self.samples.n_bootstrap_runs] if self.counts_failures else ()
        failed = [k for k, record in enumerate(records) if record.get("error") is not None]
        return np.array(failed, dtype=np.intp)

    def of_folds(self, key: str) -> Array:
        """Values kept per row in each whole repeat, (n_repeats x n_seeds, n_samples, ...).

        Repeats with folds that failed are whole where these count; rows of such folds then hold an
        answer of another one, and are those of `failed_in_folds`.
        """
        repeats = []
        for fold_of, records in self._repeats(key):
            first = next(record[key] for record in records if key in record)
            data = np.zeros((self.n_rows, *first.shape[1:]), dtype=first.dtype)
            for fold, record in enumerate(records):
                data[fold_of == fold] = record.get(key, first[:1])
            repeats.append(data)
        return np.array(repeats)

    def failed_in_folds(self, key: str) -> Array:
        """Which rows of `of_folds` are in a fold that failed, (n_repeats x n_seeds, n_samples)."""
        return np.array(
            [
                np.array([key not in record for record in records])[fold_of]
                for fold_of, records in self._repeats(key)
            ]
        )

    def _repeats(self, key: str) -> Iterator[tuple[Array, list[Record]]]:
        """Yield the fold of each row, and the records of the folds, of each whole repeat."""
        for repeat, fold_of in enumerate(self.samples.folds):
            for s in range(self.samples.n_seeds):
                records = self.fold_records(repeat, s)
                n_known = sum(key in record for record in records)
                if n_known == len(records) or (self.counts_failures and n_known):
                    yield fold_of, records

    def fold_values(self, key: str, failed: float = np.nan) -> Array:
        """Numbers kept per fold, (n_repeats, n_seeds, n_folds); ``failed`` where a run failed."""
        shape = (len(self.samples.folds), self.samples.n_seeds)
        values = [
            [record.get(key, failed) for record in self.fold_records(repeat, s)]
            for repeat in range(shape[0])
            for s in range(shape[1])
        ]
        return np.array(values, dtype=float).reshape(*shape, self.samples.n_folds)

    def fold_records(self, repeat: int, s: int) -> list[Record]:
        """Records of the folds of a repeat, for one seed."""
        n_seeds, n_folds = self.samples.n_seeds, self.samples.n_folds
        first = self.samples.n_bootstrap_runs + repeat * n_folds * n_seeds + s
        return [self.records[first + fold * n_seeds] for fold in range(n_folds)]
