"""Evaluation sets that are never in one place: in batches, or on many machines.

Use `BootstrapAccumulator` where predictions arrive batch by batch, or are too many for memory. It
keeps sums for every resample, not rows; accumulators of shards are merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ._base import checks as check
from ._base.arguments import Anytime
from ._base.doors import door
from ._base.errors import arguments_named, collected, parts_of, warn_of
from ._base.hints import Hinting
from ._base.typing import ArrayLike, Band, CurveOverThresholds, Metric, Metrics
from ._base.values import arrays_of_bytes
from ._base.work import DEFAULT_WORKERS
from .comparison.arguments import checked_options
from .comparison.systems import compare_studies, study_of_systems
from .inference.distribution import check_replicates_fit
from .inference.intervals import checked_interval
from .results import EvaluationResult, ResultTable
from .results.comparison import ComparisonResult
from .results.curve import CurveResult, curve_named
from .streams.columns import STREAMED_DIFFERENCES, STREAMED_SCORES
from .streams.source import Stream
from .streams.state import (
    N_BINS,
    UNITS,
    StreamSettings,
    StreamState,
    batch_added,
    bytes_of_state,
    check_state_fits,
    metric_of_record,
    metric_record,
    settings_record,
    state_of_record,
)
from .study.rows import IntervalOptions, warn_of_orders
from .study.study import results_of, study_of_system

# Parts of a seed in the record of the settings.
_SEED = ("entropy", "spawn_key", "pool_size")
_IN_ORDER = (
    "Rows were counted in the order of arrival: for the same numbers in another order, or from "
    "several workers, give start=, ids= or groups= in update."
)


_OF_SYSTEMS = (
    "For batches of several systems use BootstrapAccumulator(..., systems=['A', 'B']) and "
    "update(y_true, {'A': a, 'B': b})."
)


class BootstrapAccumulator(Hinting):
    """Bootstrap of predictions that arrive in batches, or lie on several machines.

    Each row, or group, is resampled independently, a Poisson number of times with mean 1 that
    depends only on the seed, the resample and its id. So the result does not depend on the order of
    rows, the size of batches, or the machine, and only sums are kept. Fewer than 30 rows or groups
    are kept, and give the result of `bootstrap_score`, `compare_systems` or `bootstrap_curve` on
    all rows in the order of their numbers or ids.

    Parameters
    ----------
    metric : str, callable, list or dict
        Scoring names, losses by their own names, ``"mean"``, functions of `sklearn.metrics` or
        `skboot.metrics`, and `functools.partial` of these, as in `skboot.bootstrap_score`. Means of
        rows, metrics of labels and R2 are exact. The area under the ROC curve, average precision
        (of two classes or averaged over the ``labels``) and error rates at a threshold are exact
        for up to ``n_bins`` distinct scores; beyond, a note bounds the error of the estimate.
        `curve` gives the curves that belong to them.
    random_state : int or SeedSequence
        Must be the same for all accumulators that will be merged.
    n_resamples : int
        Number of resamples, at least 2.
    systems : sequence of str, optional
        Names of systems to compare on the same rows.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities, and of scores of several classes. Required for
        these, because a batch may lack some; one column of probabilities of the labels 0 and 1
        needs none.
    n_bins : int
        Maximum number of intervals of a score in resamples, at least 2; for the data 64 times as
        many, up to a million, where there are two classes. The intervals have equal leading bits of
        the floating-point number (above one half, of its distance from one), as many bits as fit.
        An average over classes takes ``16 * n_classes * n_bins * n_resamples`` bytes at most, pair
        by pair half ``n_classes`` times as many, and is refused above 2 GB.
    confidence_level : float
        In (0, 1).
    interval : {"auto", "wilson", "percentile", "expanded", "basic", "normal", "t"} or Anytime
        ``"auto"`` is Wilson's for 0/1 values of independent rows, else expanded percentiles. Others
        need rows that can be left out, and are refused. With ``systems`` it is that of the
        differences, and never Wilson's. `skboot.Anytime` is for shares of rows and ratios of them
        (accuracy, precision, recall, F1), for which sums suffice; with ``systems`` for shares of
        rows alone. Use at least 999 resamples, to estimate their spread well enough.
    greater_is_better : bool, optional
        Direction of ``"mean"``, which skboot cannot know.
    pos_label : label, optional
        The positive class of metrics that have one, and of `curve`, as in `skboot.bootstrap_score`.
        Must be the same for all accumulators that will be merged.

    Attributes
    ----------
    n_samples : int
        Number of rows so far.

    See Also
    --------
    bootstrap_score : For rows that fit into memory: more intervals, and any metric.

    Notes
    -----
    A ratio of weighted sums has the variance of the multinomial bootstrap to first order; the
    number of rows of a resample varies. The probabilities of a weight are right within 2**-17. Rows
    of weight zero count as absent.

    Rows of fewer than 30 groups are kept up to 2**20 numbers and texts; those of a group are
    ordered by truth, predictions and weight.

    Rows whose ``start`` was given before are refused. Rows whose ``ids`` were given before count
    twice, with a warning where the sizes of resamples vary too much. Repeated rows of ``groups``
    cannot be detected.

    References
    ----------
    Hanley & MacGibbon (2006), Computer Methods and Programs in Biomedicine 83, 57-62; Chamandy,
    Muralidharan, Najmi & Naidu (2012), Estimating uncertainty for massive data streams.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import BootstrapAccumulator
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=20_000)
    >>> y_pred = np.where(rng.random(20_000) < 0.9, y_true, 1 - y_true)
    >>> accumulator = BootstrapAccumulator("f1", random_state=0, n_resamples=999)
    >>> for start in range(0, 20_000, 5_000):
    ...     batch = slice(start, start + 5_000)
    ...     _ = accumulator.update(y_true[batch], y_pred[batch], start=start)
    >>> print(accumulator.result())
    0.9029 (0.8987 to 0.9073)
    """

    @door("BootstrapAccumulator")
    def __init__(
        self,
        metric: Metric | Metrics = "accuracy",
        *,
        random_state: int | np.random.SeedSequence,
        n_resamples: int = 1999,
        systems: Any = None,
        labels: ArrayLike | None = None,
        n_bins: int = N_BINS,
        confidence_level: float = 0.95,
        interval: str | Anytime = "auto",
        greater_is_better: bool | None = None,
        pos_label: Any = None,
    ) -> None:
        level = check.check_confidence_level(confidence_level)
        intervals = STREAMED_SCORES if systems is None else STREAMED_DIFFERENCES
        interval = checked_interval(interval, intervals)
        metric_record(metric)
        seed = random_state
        if not isinstance(seed, np.random.SeedSequence):
            if seed is None or isinstance(seed, np.random.Generator | np.random.RandomState):
                # It would give shards different resamples.
                must = "be an integer of at least 0 or a numpy SeedSequence"
                advice = "Accumulators that are merged must have the same: random_state=0."
                raise check.fail("random_state", must, repr(seed), advice)
            seed = check.check_seed(seed)
        advice = "1999 is enough for a 95% interval."
        self._settings = StreamSettings(
            metric=metric,
            seed=seed,
            n_resamples=check.check_count("n_resamples", n_resamples, 2, advice),
            systems=_checked_systems(systems),
            labels=check.check_labels(labels, None),
            n_bins=check.check_count("n_bins", n_bins, 2),
            confidence_level=level,
            interval=interval,
            greater_is_better=check.check_direction(greater_is_better),
            pos_label=check.check_label("pos_label", pos_label),
        )
        # Metrics that a stream cannot have are refused before the first row.
        n_scores = len(self._settings.readings) * len(self._settings.systems)
        check_replicates_fit(self._settings.n_resamples, n_scores)
        self._state = StreamState.empty(self._settings)

    def __repr__(self) -> str:
        rows = check.counted(self._state.n_rows, "row")
        return f"<BootstrapAccumulator: {rows}, {self._settings.n_resamples} resamples>"

    @property
    def n_samples(self) -> int:
        """Number of rows so far."""
        return self._state.n_rows

    # -------------------------------------------------------------- rows

    @door("BootstrapAccumulator.update")
    def update(
        self,
        y_true: ArrayLike | None,
        y_pred: Any,
        *,
        start: int | None = None,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or None
            True labels or values; None with ``metric="mean"``.
        y_pred : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of these
            Predictions; by the name of the system where there are ``systems``.
        start : int, optional
            Number of the first row in the whole data; the rows of the batch follow one another.
            Without ``start``, ``ids`` and ``groups``, rows are counted in the order of arrival.
        ids : array-like of shape (n_samples,), optional
            Integers or texts, each of one row of the whole data.
        groups : array-like of shape (n_samples,), optional
            Integers or texts. Rows of one group are resampled together, also with those of other
            batches.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; in all batches or in none.

        Returns
        -------
        self
            Unchanged if an error is raised.

        Raises
        ------
        ValueError
            If several of ``start``, ``ids`` and ``groups`` are given, for rows that were added
            before, or for arguments that cannot be right; the message says what to do.
        """
        settings, units = self._settings, {"start": start, "ids": ids, "groups": groups}
        names = [name for name, value in units.items() if value is not None]
        if len(names) > 1:
            advice = "Without any, rows are counted in the order of arrival."
            raise check.fail(UNITS, "be one of these", " and ".join(names), advice)
        unit = names[0] if names else "arrival"
        if settings.systems == (None,):
            if isinstance(y_pred, dict):
                must = "be an array, because the accumulator has no systems"
                advice = f"Name them: BootstrapAccumulator(..., systems={list(y_pred)})."
                raise check.fail("y_pred", must, "a dict", advice)
            predicted = {"y_pred": y_pred}
        else:
            if not isinstance(y_pred, dict) or set(y_pred) != set(settings.systems):
                must = f"be a dict with the systems {list(settings.systems)}"
                got = f"{sorted(map(str, y_pred))}" if isinstance(y_pred, dict) else "no dict"
                raise check.fail("y_pred", must, got)
            predicted = {f"y_pred[{name!r}]": y_pred[name] for name in settings.systems}
        ids_of_units = units.get(unit)
        try:
            state = batch_added(
                settings, self._state, y_true, predicted, sample_weight, unit, ids_of_units
            )
        except ValueError as error:
            bad = parts_of(error)
            if bad is None or bad.about != "systems":
                raise
            # An accumulator takes several systems otherwise than functions do.
            advice = f"{bad.advice} {_OF_SYSTEMS}"
            raise bad._replace(advice=advice).error() from error.__cause__
        with collected() as notes:
            beside = {"sample_weight": sample_weight, unit: ids_of_units}
            warn_of_orders({"y_true": y_true, **predicted, **beside})
        # Where warnings are errors, nothing is added.
        warn_of([*notes, *state.doubts], "BootstrapAccumulator")
        self._state = replace(state, doubts=())
        return self

    # -------------------------------------------------------------- shards

    @door("BootstrapAccumulator.merge")
    def merge(self, other: BootstrapAccumulator) -> Self:
        """Add the rows of another accumulator with the same settings.

        Parameters
        ----------
        other : BootstrapAccumulator
            State of other rows; it is not changed.

        Returns
        -------
        self
            With the rows of both.

        Raises
        ------
        ValueError
            If the settings differ, including ``random_state``, units are identified differently or
            by order of arrival, or both have some row.
        """
        its_class: Any = type(other)
        if not issubclass(its_class, BootstrapAccumulator):
            must = "be a BootstrapAccumulator"
            raise check.fail("other", must, its_class.__name__)
        if other is self:
            raise check.fail("other", "be another accumulator", "the same one")
        records = [settings_record(accumulator._settings) for accumulator in (self, other)]
        seeds = [[record.pop(name) for name in _SEED] for record in records]
        record, record_b = records
        differing = ["random_state"] if seeds[0] != seeds[1] else []
        differing += [name for name in record if record[name] != record_b[name]]
        if differing:
            must = "have the same settings"
            got = f"another {' and another '.join(differing)}"
            raise check.fail("other", must, got)
        mine, theirs = self._state, other._state
        if mine.unit and theirs.unit:
            if "arrival" in (mine.unit, theirs.unit):
                must = "have rows with numbers or ids of their own, and so must this one"
                got = "rows that were counted in the order of arrival"
                advice = "Give start=, ids= or groups= in each update: see its parameters."
                raise check.fail("other", must, got, advice)
            if mine.unit != theirs.unit:
                must = f"have rows that are identified by {mine.unit}"
                raise check.fail("other", must, theirs.unit)
            if mine.weighted != theirs.weighted:
                must = f"have {'weights' if mine.weighted else 'no weights'} of rows"
                raise check.fail("other", must, "the opposite")
        with arguments_named(dict.fromkeys(("start", "ids", "y_true"), "other")):
            self._state = mine.plus(theirs, self._settings)
        return self

    @door("BootstrapAccumulator.to_bytes")
    def to_bytes(self) -> bytes:
        """Return settings and sums as bytes, which `from_bytes` reads; nothing is pickled.

        Returns
        -------
        bytes
            Equal for equal rows, however these were batched and merged, if each row adds whole
            numbers.
        """
        return bytes_of_state(self._settings, self._state)

    @classmethod
    @door("BootstrapAccumulator.from_bytes")
    def from_bytes(cls, data: bytes) -> Self:
        """Return the accumulator whose `to_bytes` are given.

        Parameters
        ----------
        data : bytes
            They are checked and never run.

        Returns
        -------
        BootstrapAccumulator

        Raises
        ------
        ValueError
            If they are something else, damaged, or of a later version.
        """
        record, arrays = arrays_of_bytes(data)
        try:
            state = state_of_record(record, arrays)
            arguments = record["settings"]
            seed = {name: arguments.pop(name) for name in _SEED}
            if not isinstance(seed["pool_size"], int) or not 4 <= seed["pool_size"] <= 1024:
                raise ValueError("a seed of another kind")
            if (first_look := arguments.pop("first_look", None)) is not None:
                arguments["interval"] = Anytime(first_look)
            metric = metric_of_record(arguments.pop("metric"))
            random_state = np.random.SeedSequence(**seed)
            accumulator = cls(metric=metric, random_state=random_state, **arguments)
            check_state_fits(state, accumulator._settings)
        except Exception as error:
            # Bytes with a right checksum may hold anything all the same.
            raise ValueError(f"data must be what to_bytes() gave: {error}") from error
        accumulator._state = state
        return accumulator

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, state: bytes) -> None:
        self.__dict__.update(self.from_bytes(state).__dict__)

    # -------------------------------------------------------------- results

    @door("BootstrapAccumulator.result")
    def result(self) -> EvaluationResult | ComparisonResult | ResultTable:
        """Return the score of all rows so far with its interval; more rows may follow.

        Returns
        -------
        EvaluationResult, ComparisonResult or dict
            A ComparisonResult with ``systems``; a dict for a list or dict of metrics.

        Raises
        ------
        ValueError
            If there were no rows, or fewer than 30 groups of more rows than are kept.

        Warns
        -----
        sklearn.exceptions.UndefinedMetricWarning
            If a metric is undefined on some resamples; they are left out and counted.
        UserWarning
            If rows seem to have been added twice.
        """
        settings, state = self._settings, self._state
        scoring, level = settings.scoring, settings.confidence_level
        interval = settings.interval
        stream = Stream.of(settings, state)
        if settings.systems == (None,):
            score_options = IntervalOptions(
                interval=interval, confidence_level=level, workers=DEFAULT_WORKERS
            )
            if stream.arguments is None:
                study = stream.study(score_options, scoring.settings)
            else:
                study = study_of_system(*stream.arguments, scoring, score_options)
            results = results_of(study)
        else:
            comparison = checked_options(interval, "max-t", level, "two-sided", None)
            score_options = IntervalOptions(
                interval=comparison.looks or "auto",
                confidence_level=level,
                workers=DEFAULT_WORKERS,
            )
            if stream.arguments is None:
                study = stream.study(score_options, scoring.settings | comparison.settings)
            else:
                study = study_of_systems(*stream.arguments, scoring, score_options, comparison)
            results = compare_studies(comparison, {"": study})
        return _with_order(results, state)

    @door("BootstrapAccumulator.curve")
    def curve(
        self,
        curve: CurveOverThresholds = "roc",
        *,
        band: Band = "simultaneous",
        grid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> CurveResult | ResultTable[CurveResult]:
        """Return a curve over thresholds of all rows so far with its band; more rows may follow.

        It is read from the sums of a metric of the scores of two classes, such as ``"roc_auc"``,
        which must be among the metrics.

        Parameters
        ----------
        curve : {"roc", "det", "precision_recall", "decision"}
            As in `skboot.bootstrap_curve`.
        band : {"simultaneous", "pointwise"}
            Whether the limits hold for the whole curve at once, or for each point by itself.
        grid : array-like of shape (n_grid,), optional
            Where the curve has values, rising; as in `skboot.bootstrap_curve`.
        pos_label : label, optional
            The positive class; that of the accumulator when None, or else 1 if the labels are 0 and
            1, or -1 and 1.

        Returns
        -------
        CurveResult or ResultTable
            A table with ``systems``; with exactly two also their ``"difference"``. ``bin_error``
            says how far each point may be from the curve of all scores, where these were counted in
            intervals; the band is wider by this.

        Raises
        ------
        ValueError
            If no metric has the scores of two classes, there were no rows, or fewer than 30 groups
            of more rows than are kept, or for arguments that cannot be right.

        Warns
        -----
        sklearn.exceptions.UndefinedMetricWarning
            If the curve is undefined at a point on some resamples, which are left out there.

        Examples
        --------
        >>> import numpy as np
        >>> from skboot import BootstrapAccumulator
        >>> rng = np.random.default_rng(0)
        >>> y_true = rng.integers(0, 2, size=5000)
        >>> y_score = y_true + rng.normal(size=5000)
        >>> accumulator = BootstrapAccumulator("roc_auc", random_state=0, n_resamples=999)
        >>> _ = accumulator.update(y_true, y_score, start=0)
        >>> print(accumulator.curve("roc").at(0.1))
        0.390 (0.362 to 0.419)
        """
        # Few accumulators are asked for one.
        from .streams.curves import check_accumulator, curves_of_stream
        from .study.curves import CurveAsked

        settings, state = self._settings, self._state
        positive = settings.pos_label if pos_label is None else pos_label
        options = CurveAsked(curve_named(curve), band, grid, positive)
        check_accumulator(settings, options)
        results = curves_of_stream(Stream.of(settings, state), options, "y_pred")
        alone = settings.systems == (None,)
        return _with_order(results[""] if alone else ResultTable(results), state)


def _checked_systems(systems: Any) -> tuple[str | None, ...]:
    """Return the names of systems, (None,) without."""
    if systems is None:
        return (None,)
    is_list = isinstance(systems, Iterable) and not isinstance(systems, str)
    names = list(systems) if is_list else []
    if len(names) < 2 or not all(isinstance(name, str) for name in names):
        must = "be None or the names of at least two systems"
        raise check.fail("systems", must, repr(systems))
    if len(set(names)) < len(names):
        raise check.fail("systems", "hold different names", repr(systems))
    return tuple(names)


def _with_order(results: Any, state: StreamState) -> Any:
    """Return results with a note on rows that were counted in the order of arrival."""
    if state.unit != "arrival":
        return results
    if isinstance(results, ResultTable):
        return ResultTable({name: _with_order(result, state) for name, result in results.items()})
    return results._with_provenance(notes=(*results.notes, _IN_ORDER))
