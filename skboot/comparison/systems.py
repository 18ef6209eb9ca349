"""Compare trained systems on one test set: paired differences from one plan of resamples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks as check
from .._evaluating import CallWarnings, chosen_interval, result_of
from .._evidence import Prepared, ScoreCall, jackknives_of, prepare
from .._inputs import (
    Part,
    Rows,
    resampling_plan,
    statistics_of_systems,
    subgroups,
)
from .._typing import Adjustment, DifferenceInterval, Metric, Metrics, SystemsOptions
from .._warnings import Note, texts_of, warn_of
from ..inference.distribution import BoundStatistic, JackknifeValues, bootstrap, leave_out
from ..inference.intervals import Evidence
from ..metrics.adapters import without_sign
from ..metrics.additive import RowMean
from ..metrics.names import ACCURACY_IF_NOT_GIVEN
from ..metrics.ranking import RocAuc, delong_covariance, positive_rows, positive_scores
from ..metrics.statistic import Statistic
from ..resampling.plan import Binding
from ..results import ResultTable
from ..results.comparison import ComparisonResult
from .arguments import check_adjust, check_interval, check_reference, checked_systems
from .system_pairs import Contestant, compare_pairs, largest_gaps, pairs_of

_CALLER = "compare_systems"


@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric = ...,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ComparisonResult: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metrics,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ComparisonResult]: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metrics,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ResultTable]: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric = ...,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable: ...
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    reference: str | None = None,
    adjust: Adjustment | None = "max-t",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: DifferenceInterval = "auto",
    same_population: bool = False,
    greater_is_better: bool | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> ComparisonResult | ResultTable:
    """Compare trained systems on the same test rows, with intervals for their differences.

    Every resample draws the same rows for all systems, so that what is hard for all of them
    cancels out of the differences.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels or values. None with ``metric="mean"`` or a callable of predictions alone.
    y_preds : dict of str to array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions of each system by its name, as `bootstrap_score` takes them. Row order is what
        pairs them.
    metric : str, callable, scorer, list or dict
        As of `bootstrap_score`. A list or dict gives a dict of results.
    reference : str, optional
        Name of the system that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once: simultaneous intervals and p-values from the joint
        bootstrap; Holm's p-values with Bonferroni intervals; or none.
    groups : array-like of shape (n_samples,) or (n_samples, 2), optional
        Rows of one group (speaker, patient) are drawn together. Two columns are crossed factors.
    strata : array-like of shape (n_samples,), optional
        Units are drawn within strata.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    by : array-like of shape (n_samples,), optional
        A category per row: gives a comparison per subgroup and, under ``"gap"``, for each pair
        of systems the two subgroups between which its difference changes most, with an
        interval that is simultaneous over all of these. Subgroups that say too little leave the
        gap by name, as in `bootstrap_score`.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : str
        Of the differences: ``"auto"`` (``"expanded"``; ``"tango"`` where fewer than ten
        independent rows tell two systems apart), percentile, expanded, basic, normal, t, bca,
        tango (right or wrong on independent rows), delong (area under the ROC curve of
        independent rows).
    same_population : bool
        With crossed groups: both columns name members of one population.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and then
        nothing is called better or worse. A value that contradicts a known metric is refused.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call, whatever the order of the
        systems.
    n_jobs : int, optional
        Workers at most; used when the work takes seconds. The numbers do not depend on it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    ComparisonResult or dict
        ``pairs`` holds a record per difference, ``systems`` each system by itself. A dict for a
        list or dict of metrics, and for ``by``.

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.
    RuntimeError
        If the metric raises on a resample.

    Warns
    -----
    sklearn.exceptions.UndefinedMetricWarning
        If the metric is undefined on some resamples; they are left out and counted.
    UserWarning
        If an interval is known to be unreliable in the case at hand.

    See Also
    --------
    bootstrap_score : One system.

    Notes
    -----
    The p-value of a difference is the smallest 1 - level whose interval of the same method
    excludes 0, at least 2 / (n_resamples + 1): it is at most 0.05 exactly when the 95 % interval
    excludes 0. Simultaneous intervals are d -/+ c se, with se the standard deviation of the
    difference over the resamples and c the quantile of the largest studentized deviation over
    all differences (Westfall & Young 1993, section 2.3), never inside the interval of the
    difference by itself.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing; Tango (1998), Statistics in
    Medicine 17, 891-908; DeLong et al. (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=500)
    >>> hard = rng.random(500) < 0.2  # rows on which both systems often err
    >>> predictions = {
    ...     "large": y_true ^ (hard & (rng.random(500) < 0.5)),
    ...     "small": y_true ^ (hard & (rng.random(500) < 0.7)),
    ... }
    >>> result = compare_systems(y_true, predictions, random_state=0)
    >>> pair = result.pair("large", "small")
    >>> print(f"{pair:.3f}, p = {pair.p_value:.3f}")
    0.034 (0.008 to 0.062), p = 0.010
    """
    level = check.check_confidence_level(confidence_level, _CALLER)
    check_interval(interval, _CALLER)
    check_adjust(adjust, _CALLER)
    rows = checked_systems(y_true, y_preds, sample_weight, labels, _CALLER)
    check_reference(reference, rows, _CALLER)
    statistics, single = statistics_of_systems(metric, rows, greater_is_better, _CALLER)
    first = next(iter(rows.values()))
    workers = check.check_workers(n_jobs, verbose, _CALLER)
    plan = resampling_plan(
        groups, strata, same_population, None, n_resamples, random_state, first.n_samples, _CALLER
    )
    settings = {
        "confidence_level": level,
        "interval": interval,
        "reference": reference,
        "adjust": adjust,
        "n_resamples": plan.n_resamples,
        "groups": groups is not None,
        "strata": strata is not None,
        "sample_weight": sample_weight is not None,
        "by": by is not None,
        "same_population": bool(same_population),
    }
    alone = ScoreCall(first, plan, "auto", level, settings, _CALLER, workers)
    call = CompareSystemsCall(alone, rows, interval, reference, adjust)
    results, notes = _compare(call, statistics, subgroups(by, first.n_samples, _CALLER))
    warn_of(notes, _CALLER)
    return next(iter(results.values())) if single else ResultTable(results)


# ------------------------------------------------------------------ evaluation


@dataclass(frozen=True, eq=False)
class CompareSystemsCall:
    """Checked arguments of a comparison; ``alone`` is the call of each system by itself."""

    alone: ScoreCall
    rows: dict[str, Rows]
    interval: str
    reference: str | None
    adjust: str | None


@dataclass(frozen=True, eq=False)
class _Unit:
    """One system, by one metric, in one subgroup."""

    name: str
    metric: str
    part: Part
    call: ScoreCall
    prepared: Prepared
    evidence: Evidence

    @property
    def columns(self) -> tuple[Any, Any, Any]:
        """Truth, predictions and weights of the rows of the subgroup."""
        return self.call.rows.of(self.subject.statistic, self.part.rows)

    @property
    def subject(self) -> BoundStatistic:
        """The metric and the reduced rows."""
        return self.prepared.subject


def _compare(
    call: CompareSystemsCall,
    statistics: Mapping[str, Mapping[str, Statistic]],
    parts: Sequence[Part],
) -> tuple[dict[str, Any], list[Note]]:
    """Return a comparison by metric, within it a table by subgroup, and the warnings."""
    units = _units(call, statistics, parts)
    binding = call.alone.plan.bind([unit.subject.coding for unit in units])
    units, left_out = _bootstrapped(call, units, binding)
    warned = CallWarnings()
    results: dict[str, Any] = {}
    with warned.collecting():
        for metric in statistics:
            table = {}
            families = {}
            for part in parts:
                of_part = {
                    unit.name: (k, unit)
                    for k, unit in enumerate(units)
                    if unit.metric == metric and unit.part is part
                }
                contestants = _contestants(call, of_part, left_out, warned)
                families[part.name] = contestants
                table[part.name] = _comparison(call, metric, part, contestants, warned)
            if len(parts) > 1:
                statistic = statistics[metric][next(iter(call.rows))]
                pairs = pairs_of(call.rows, call.reference)
                gaps = largest_gaps(call.alone, metric, statistic, parts, families, pairs, warned)
                results[metric] = ResultTable(table | {"gap": ResultTable(gaps)})
            else:
                results[metric] = table[None]
    return results, warned.notes


def _units(
    call: CompareSystemsCall,
    statistics: Mapping[str, Mapping[str, Statistic]],
    parts: Sequence[Part],
) -> list[_Unit]:
    """Return the reduced rows of every system, in an order that does not depend on the call."""
    by_system_name: dict[str, list[_Unit]] = {}
    for name, rows in call.rows.items():
        alone = replace(call.alone, rows=rows)
        for metric, by_system in statistics.items():
            for part in parts:
                prepared = prepare(alone, by_system[name], part)
                # The differences do without standard errors on every resample.
                with_variance = prepared.interval == "studentized"
                subject = replace(prepared.subject, with_variance=with_variance)
                prepared = replace(prepared, subject=subject)
                unit = _Unit(name, metric, part, alone, prepared, prepared.facts)
                by_system_name.setdefault(name, []).append(unit)
    order = sorted(by_system_name, key=lambda name: _content(by_system_name[name]))
    return [unit for name in order for unit in by_system_name[name]]


def _content(units: Sequence[_Unit]) -> bytes:
    """Return a digest of the numbers of a system; systems are sorted by it, not by their names."""
    digest = hashlib.blake2b(digest_size=16)
    for unit in units:
        subject = unit.subject
        arrays = [subject.coding.code, subject.reduced.terms]
        if all(array is None for array in arrays):
            arrays = [unit.columns[1]]
        for array in arrays:
            if isinstance(array, np.ndarray) and array.dtype.hasobject:
                digest.update(repr(array.tolist()).encode())
            elif isinstance(array, np.ndarray):
                digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def _bootstrapped(
    call: CompareSystemsCall, units: list[_Unit], binding: Binding
) -> tuple[list[_Unit], JackknifeValues | None]:
    """Return the systems with replicates, and their values without single units of the design."""
    subjects = [unit.subject for unit in units]
    alone = call.alone
    distributions = bootstrap(binding, subjects, alone.workers, caller=alone.caller)
    left_out = None
    if call.interval == "bca":
        design = call.alone.plan.design
        if design.no_jackknife:
            must = f"not be 'bca' with {design.groups_in_messages}"
            advice = f"{design.no_jackknife.capitalize()}. Use interval='expanded'."
            raise check.fail(call.alone.caller, "interval", must, "'bca'", advice)
        left_out = leave_out(binding, subjects)
    prepared = {k: unit.prepared for k, unit in enumerate(units)}
    jackknives = jackknives_of(call.alone, binding, prepared, distributions)
    done = [
        replace(unit, evidence=unit.prepared.evidence(distribution, jackknife))
        for unit, distribution, jackknife in zip(units, distributions, jackknives, strict=True)
    ]
    return done, left_out


def _contestants(
    call: CompareSystemsCall,
    units: Mapping[str, tuple[int, _Unit]],
    left_out: JackknifeValues | None,
    warned: CallWarnings,
) -> dict[str, Contestant]:
    """Systems of one metric and subgroup, in the order of the call."""
    errors = _delong_covariance(call, {name: units[name][1] for name in call.rows})
    contestants = {}
    for name in call.rows:
        rank, unit = units[name]
        chosen = chosen_interval(unit.call, unit.evidence)
        result = result_of(
            unit.call, unit.metric, unit.subject.statistic, unit.part, unit.evidence, chosen, warned
        )
        contestants[name] = Contestant(
            name=name,
            rank=rank,
            evidence=unit.evidence,
            result=result,
            shared_notes=(
                *(note for note in chosen.notes if note.kind == "few"),
                *unit.call.rows.notes_for(unit.subject.statistic),
            ),
            predicted=unit.columns[1],
            right=_right_rows(unit),
            left_out=None if left_out is None else (left_out, left_out.values[rank]),
            delong=None if errors is None else errors[name],
        )
    return contestants


def _right_rows(unit: _Unit) -> NDArray[np.bool_] | None:
    """Whether each row counts as 1, in the metric's direction, for independent 0/1 rows."""
    proportion, statistic = unit.evidence.proportion, unit.subject.statistic
    if proportion is None or not isinstance(statistic, RowMean):
        return None
    _, _, exact, scale, sign = proportion
    if not (exact and scale == "identity" and unit.evidence.independent_rows):
        return None
    values = statistic.values_of(unit.subject.reduced) > 0.5
    return values if sign > 0 else ~values


def _delong_covariance(
    call: CompareSystemsCall, units: Mapping[str, _Unit]
) -> dict[str, tuple[NDArray[np.float64], int, int]] | None:
    """Return the covariance of the areas, the number of each system in it and the smaller class."""
    if call.interval != "delong":
        return None
    statistics = {name: without_sign(unit.subject.statistic) for name, unit in units.items()}
    has_delong = all(
        isinstance(statistics[name], RocAuc)
        and unit.evidence.delong is not None
        and unit.evidence.independent_rows
        for name, unit in units.items()
    )
    if not has_delong:
        raise check.fail(
            call.alone.caller,
            "interval",
            "not be 'delong' unless the metric is the area under the ROC curve of two classes, on "
            "independent, unweighted rows",
            "'delong'",
            "Use interval='expanded'.",
        )
    ordered = sorted(units, key=lambda name: _content([units[name]]))
    y_true, pos_label = units[ordered[0]].columns[0], statistics[ordered[0]].pos_label
    positive = positive_rows(y_true, pos_label)
    scores = [positive_scores(units[name].columns[1]) for name in ordered]
    _, covariance = delong_covariance(positive, np.array(scores))
    small = int(min(positive.sum(), (~positive).sum()))
    return {name: (covariance, k, small) for k, name in enumerate(ordered)}


# ------------------------------------------------------------------ results


def _comparison(
    call: CompareSystemsCall,
    metric: str,
    part: Part,
    contestants: Mapping[str, Contestant],
    warned: CallWarnings,
) -> ComparisonResult:
    """Return the comparison by one metric on one subgroup."""
    pairs, notes = compare_pairs(
        contestants,
        pairs_of(contestants, call.reference),
        interval=call.interval,
        adjust=call.adjust,
        confidence_level=call.alone.confidence_level,
    )
    warned.add([note for note in notes if note.kind == "resamples"][:1])
    shared = dict.fromkeys(
        note for contestant in contestants.values() for note in contestant.shared_notes
    )
    return ComparisonResult(
        metric=metric if part.name is None else f"{metric} ({part.name})",
        estimand="system",
        systems={name: contestant.result for name, contestant in contestants.items()},
        pairs=tuple(pairs),
        reference=call.reference,
        adjust=call.adjust,
        automatic=call.interval == "auto",
        notes=texts_of((*notes, *shared)),
        held_fixed=("the trained systems", *call.alone.plan.design.held_fixed),
        settings=call.alone.settings,
    )
