"""Columns whose rows are not in memory, given to the functions that score arrays.

Columns of dask, and those of `skboot.scan_dataset`, go the way of a stream: partition by partition
and without being collected. What a stream cannot do is refused by name, before any row is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base import checks as check
from .._base.arrays import is_dask
from .._base.workers import Workers
from ..inference.distribution import check_replicates_fit
from ..metrics.names import NotGiven
from ..study.measured import Scoring
from ..study.rows import Sampling, Wanted
from .dask_parts import state_of_dask
from .few_rows import FEWEST_UNITS
from .scanned import DatasetColumns, state_of_scanned
from .state import N_BINS, StreamSettings, StreamState

ADVICE = (
    "Rows that are not in memory are drawn one by one, as a stream. If memory holds them, give "
    "arrays: .compute(), or .collect()."
)


def check_streamed(known: tuple[str, ...], interval: str, refused: Mapping[str, Any]) -> None:
    """Refuse arguments that need all rows together, and other intervals than the known ones."""
    for name, value in refused.items():
        if value is not None and value is not False:
            must = "not be given with columns that are not in memory"
            raise check.fail(name, must, _shown(value), ADVICE)
    if interval not in known:
        must = f"be one of {list(known)} with columns that are not in memory"
        raise check.fail("interval", must, repr(interval), ADVICE)


def _shown(value: Any) -> str:
    """Return a value as a message shows it: a column by its type."""
    return repr(value) if np.ndim(value) == 0 and np.isscalar(value) else type(value).__name__


def settings_of_lazy(
    scoring: Scoring,
    sampling: Sampling,
    wanted: Wanted,
    systems: tuple[str | None, ...] = (None,),
) -> StreamSettings:
    """Return the settings of a stream, checked before the first row is read.

    Any seed will do.

    Parameters
    ----------
    scoring : Scoring
    sampling : Sampling
    wanted : Wanted
    systems : tuple
        Names of systems; (None,) for one.
    """
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
        interval=wanted.interval,
        greater_is_better=check.check_direction(scoring.greater_is_better),
        pos_label=check.check_label("pos_label", scoring.pos_label),
    )
    # Metrics that a stream cannot have are refused here.
    n_scores = len(settings.readings) * len(systems)
    check_replicates_fit(settings.n_resamples, n_scores)
    return settings


def state_of_lazy(
    settings: StreamSettings, columns: Mapping[str, Any], workers: Workers
) -> StreamState:
    """Return the state of all rows.

    Parameters
    ----------
    settings : StreamSettings
    columns : mapping of str to array-like or None
        Truth, groups and weights by these names; all others are predictions, by the names of their
        arguments, in the order of the systems.
    workers : Workers
        For scanned data sets; dask has its own.
    """
    given = {name: one for name, one in columns.items() if one is not None}
    of_dask = [name for name, one in given.items() if is_dask(one)]
    scanned = [name for name, one in given.items() if isinstance(one, DatasetColumns)]
    if of_dask and scanned:
        must = "be of the same kind as other columns"
        got = f"a column of dask, and of scan_dataset in {scanned[0]!r}"
        raise check.fail(of_dask[0], must, got)
    if of_dask:
        state = state_of_dask(settings, given)
    else:
        state = state_of_scanned(settings, given, workers)
    if state.n_units < FEWEST_UNITS and not state.has_few:
        name, unit = (
            ("groups", "groups") if "groups" in given else ((of_dask or scanned)[0], "rows")
        )
        must = f"hold at least {FEWEST_UNITS} {unit} where they are not in memory"
        advice = "Give arrays, which are drawn together: .compute(), or .collect()."
        raise check.fail(name, must, f"{state.n_units}", advice)
    return state
