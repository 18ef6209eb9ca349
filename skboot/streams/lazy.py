"""Columns whose rows are not in memory: read once, as the batches of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._base import checks as check
from .._base.arrays import is_dask
from .._base.workers import Workers
from ..inference.distribution import check_replicates_fit
from ..metrics.names import NotGiven
from .columns import Request
from .dask_parts import state_of_dask
from .few_rows import FEWEST_UNITS
from .scanned import DatasetColumns, state_of_scanned
from .state import N_BINS, StreamSettings, StreamState

ADVICE = (
    "Rows that are not in memory are resampled as a stream, one by one. If they fit into memory, "
    "give arrays: .compute(), or .collect()."
)


def read(request: Request) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows of a request; refuse what a stream cannot do before that."""
    request.check_before_reading()
    _check_streamed(request)
    by_argument = request.by_argument
    settings = _settings(request, tuple(by_argument))
    request.check_statistics({name: [one.statistic] for name, one in settings.readings.items()})
    columns = {"y_true": request.y_true, **request.sampling.streamed, **dict(by_argument.values())}
    if _may_be_counted(request, settings):
        counting = replace(settings, may_be_counted=True)
        counting, counts = _read(counting, columns, request.wanted.workers)
        state = counts.drawn(counting) if counting.counted else counts
        if state is not None:
            return counting, state
    return _read(settings, columns, request.wanted.workers)


def _check_streamed(request: Request) -> None:
    """Refuse arguments that need all rows together, and other intervals than the known ones."""
    refused = {**request.sampling.not_streamed, "adjust": request.wanted.adjust}
    for name, value in refused.items():
        if value is not None and value is not False:
            must = "not be given with columns that are not in memory"
            raise check.fail(name, must, _shown(value), ADVICE)
    if request.interval not in request.intervals:
        must = f"be one of {list(request.intervals)} with columns that are not in memory"
        raise check.fail("interval", must, repr(request.interval), ADVICE)


def _shown(value: Any) -> str:
    """Return a value as a message shows it: a column by its type."""
    return repr(value) if np.ndim(value) == 0 and np.isscalar(value) else type(value).__name__


def _settings(request: Request, systems: tuple[str | None, ...]) -> StreamSettings:
    """Return the settings of a stream, checked before the first row is read; any seed will do."""
    scoring, sampling, wanted = request.scoring, request.sampling, request.wanted
    advice = "1999 is enough for a 95% interval."
    metric = scoring.metric
    settings = StreamSettings(
        metric=str(metric) if isinstance(metric, NotGiven) else metric,
        seed=check.check_seed(sampling.random_state),
        n_resamples=check.check_count("n_resamples", sampling.n_resamples, 2, advice),
        systems=systems,
        labels=check.check_labels(scoring.labels, None),
        n_bins=N_BINS,
        confidence_level=wanted.confidence_level,
        interval=request.interval,
        greater_is_better=check.check_direction(scoring.greater_is_better),
        pos_label=check.check_label("pos_label", scoring.pos_label),
    )
    # Metrics that a stream cannot have are refused here.
    n_scores = len(settings.readings) * len(systems)
    check_replicates_fit(settings.n_resamples, n_scores)
    return settings


def _may_be_counted(request: Request, settings: StreamSettings) -> bool:
    """Whether pairs of labels are all that is read: of one system, whose rows are units."""
    metrics = [reading.statistic for reading in settings.readings.values()]
    given = [one for one in request.sampling.streamed.values() if one is not None]
    alone = len(settings.systems) == 1 and not given
    return alone and all(one.response == "labels" for one in metrics)


def _read(
    settings: StreamSettings, columns: Mapping[str, Any], workers: Workers
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows of columns by argument, and its settings."""
    given = {name: one for name, one in columns.items() if one is not None}
    of_dask = [name for name, one in given.items() if is_dask(one)]
    scanned = [name for name, one in given.items() if isinstance(one, DatasetColumns)]
    if of_dask and scanned:
        must = "be of the same kind as other columns"
        got = f"a column of dask, and of scan_dataset in {scanned[0]!r}"
        raise check.fail(of_dask[0], must, got)
    if of_dask:
        settings, state = state_of_dask(settings, given, workers.verbose)
    else:
        settings, state = state_of_scanned(settings, given, workers)
    if state.n_units < FEWEST_UNITS and not state.has_few:
        name, unit = (
            ("groups", "groups") if "groups" in given else ((of_dask or scanned)[0], "rows")
        )
        must = f"hold at least {FEWEST_UNITS} {unit} where they are not in memory"
        advice = "Give arrays, which are resampled together: .compute(), or .collect()."
        raise check.fail(name, must, f"{state.n_units}", advice)
    return settings, state
