"""Fill bootstrap distributions: run over the blocks of a plan and evaluate statistics on each.

One pass serves every statistic of a call: they share each block's resamples. Undefined values
are NaN in the replicates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.errors import Note, only_advises, thousands, warn_before
from .._base.values import power_of_two
from .._base.work import (
    DEFAULT_WORKERS,
    Workers,
    check_fits,
    is_watched,
    progress,
    results_in_chunks,
    single_threaded_blas,
)
from ..metrics.callables import n_cells_with_weights
from ..metrics.lookup import name_of_same_value
from ..metrics.statistic import Evaluated, Floats, MetricError, ReducedData
from ..resampling._tuning import TILE_ELEMENTS
from ..resampling.block import ReadTerms
from ..resampling.coding import CodedRows
from ..resampling.jackknife import JackknifeResamples
from ..resampling.plan import Binding, ResamplingPlan
from ._tuning import BYTES_PER_REPLICATE, JACKKNIFE_VALUES_AT_ONCE
from .evidence import deciding_units

# Sizes of a metric between which its square is in the range of double precision.
_SMALLEST, _LARGEST = 1e-150, 1e150
# Readings of statistics that need not be smooth: their different values without one unit are
# counted, because sorting these values takes less time than evaluating them.
_COUNTED = ("rows", "crossing")
# Least time (seconds, predicted) of all resamples that is announced before they are evaluated.
_WORTH_ADVICE = 5.0
# The same where a metric with a name is meant, which is computed without calls.
_WORTH_A_NAME = 1.0
# Influence of a unit (share of the largest) up to which it does not move a value.
STILL = 0.05
# Calls that are timed before they are named, so that a busy machine is not taken for a slow metric.
_TIMED_CALLS = 3


Of = TypeVar("Of", bound=Evaluated)


@dataclass(frozen=True, eq=False)
class BoundStatistic(Generic[Of]):
    """A statistic and the data it was reduced to.

    Attributes
    ----------
    statistic : Evaluated
        The metric or curve.
    reduced : ReducedData
        Its reduction.
    coding : CodedRows
        Code of each row of the whole data set; -1 for rows it does not see.
    with_variance : bool
        Whether to keep a standard error per resample.
    with_influence : bool
        Whether to keep the influence of each atom of the design on the value on the data.
    """

    statistic: Of
    reduced: ReducedData
    coding: CodedRows
    with_variance: bool = False
    with_influence: bool = False

    @classmethod
    def of(cls, statistic: Of, reduced: ReducedData) -> BoundStatistic[Of]:
        """Bind a statistic to all rows, without standard errors or influences."""
        reads = statistic.reading(reduced)
        coding = CodedRows(reduced.coded, reduced.n_codes, reads, reduced.counts)
        return cls(statistic, reduced, coding)


@dataclass(frozen=True, eq=False)
class BootstrapDistribution:
    """Replicates of one statistic, with its value and standard errors.

    Attributes
    ----------
    estimate : float, or ndarray of shape (n_grid,)
        Value on the data.
    replicates : ndarray of shape (n_resamples,) or (n_resamples, n_grid)
        Value on each resample; NaN where undefined.
    standard_error : float or None
        Infinitesimal-jackknife standard error on the data.
    replicate_standard_errors : ndarray of shape (n_resamples,) or None
        The same on each resample.
    jackknife : Jackknife or None
        Where the first block held it; see `jackknife`.
    influence : ndarray of shape (n_atoms,) or None
        Influence of a unit of each atom on the estimate; None if it was not asked for.
    """

    estimate: Any
    replicates: Floats
    standard_error: float | None
    replicate_standard_errors: Floats | None
    jackknife: Jackknife | None = None
    influence: Floats | None = None


def check_replicates_fit(n_resamples: int, n_statistics: int) -> None:
    """Refuse more resamples of so many statistics than memory holds."""
    check_fits("n_resamples", n_resamples, BYTES_PER_REPLICATE * n_statistics)


def bootstrap(
    binding: Binding,
    statistics: Sequence[BoundStatistic],
    workers: Workers = DEFAULT_WORKERS,
) -> list[BootstrapDistribution]:
    """Evaluate statistics on the data and on every resample of a plan.

    Parameters
    ----------
    binding : Binding
        The plan, bound to the statistics' codings in the same order.
    statistics : sequence of BoundStatistic
        What to evaluate.
    workers : Workers
        Started only when the work is predicted to take seconds.

    Returns
    -------
    list of BootstrapDistribution
        One per statistic.

    Raises
    ------
    ValueError
        If memory does not hold the replicates, or a metric has no value on the data.
    RuntimeError
        If a metric raises on a resample; the message gives the resample's number.
    """
    n_values = sum(bound.statistic.n_values for bound in statistics)
    check_replicates_fit(binding.plan.n_resamples, n_values)
    n_resamples, n_in_first = binding.plan.n_resamples, binding.block_starts[1]
    with progress(n_resamples, "resamples", workers.verbose) as done, single_threaded_blas():
        start = time.perf_counter()
        try:
            data, first_block = _data_and_first_block(binding, statistics)
        except MetricError as failure:
            raise failure.error_on_data() from failure.error
        seconds = time.perf_counter() - start
        if seconds * n_resamples / min(n_resamples, n_in_first) >= _WORTH_A_NAME:
            # Someone who looks at progress sees how long it takes.
            is_shown = bool(workers.verbose) or (workers.verbose is None and is_watched())
            note = _note_on_time(binding, statistics, is_shown)
            if note is not None:
                warn_before(note)
        done(n_in_first)
        blocks = [first_block]
        if binding.n_blocks > 1:
            blocks += _other_blocks(binding, _block, (binding, statistics), workers, done, seconds)
    results = []
    for k, (bound, on_data) in enumerate(zip(statistics, data, strict=True)):
        estimate, variance, jackknife_of_data, influence = on_data
        size = np.abs(estimate)
        outside = ((size < _SMALLEST) & (size > 0)) | (size > _LARGEST)
        if outside.any():
            # Standard errors are made of squares, which are infinite or vanish.
            must = f"return 0, NaN, or a number between {_SMALLEST:g} and {_LARGEST:g} in size"
            advice = "Measure in another unit: multiply the values by the same number."
            value = float(np.atleast_1d(estimate)[np.argmax(outside)])
            got = f"{value:g} from {bound.statistic.name!r}"
            raise fail(bound.statistic.noun, must, got, advice)
        values: Floats = np.concatenate([block[k].values for block in blocks], dtype=np.float64)
        if bound.statistic.parts:
            # An average over tasks of which one is undefined, on the data or too many resamples.
            only = binding.only([k])
            tasks = (only.block(number)[0] for number in range(binding.n_blocks))
            n_undefined = (int(np.isnan(values).sum()), len(values))
            bound.statistic.check_parts(bound.reduced, estimate, only.observed, n_undefined, tasks)
        # A metric that divides by zero on a resample is undefined there, as one that returns NaN.
        values[np.isinf(values)] = np.nan
        standard_error, errors = None, None
        if variance is not None and np.isfinite(variance):
            standard_error = float(np.sqrt(variance))
            errors = np.sqrt(np.concatenate([block[k].variances for block in blocks]))
            # Rounding leaves traces of variance where every unit has the same influence.
            errors[errors < 1e-9 * standard_error] = 0.0
            errors.flags.writeable = False
        # Results share these arrays instead of copying them.
        values.flags.writeable = False
        results.append(
            BootstrapDistribution(
                estimate, values, standard_error, errors, jackknife_of_data, influence
            )
        )
    return results


def over_blocks(
    binding: Binding,
    work: Callable[[Any, int], Any],
    shared: Any,
    workers: Workers = DEFAULT_WORKERS,
) -> list[Any]:
    """Do some work on every block of a plan.

    Parameters
    ----------
    binding : Binding
        Says how many blocks there are.
    work : callable
        ``work(shared, number)``; other processes may call it.
    shared : object
        What all calls of it take.
    workers : Workers
        Started only when the work is predicted to take seconds.

    Returns
    -------
    list
        What it returned, by the number of the block.
    """
    n_resamples = binding.plan.n_resamples
    with progress(n_resamples, "resamples", workers.verbose) as done, single_threaded_blas():
        start = time.perf_counter()
        first_block = work(shared, 0)
        seconds = time.perf_counter() - start
        done(binding.block_starts[1])
        return [first_block, *_other_blocks(binding, work, shared, workers, done, seconds)]


def _other_blocks(
    binding: Binding,
    work: Callable[[Any, int], Any],
    shared: Any,
    workers: Workers,
    done: Callable[[int], None],
    seconds_of_first: float,
) -> list[Any]:
    """Do some work on every block but the first, which took so many seconds: the one loop."""
    blocks: dict[int, Any] = {}
    # The first block may be shorter than those that follow.
    seconds_each = seconds_of_first * binding.block_size / binding.block_starts[1]
    work_of_blocks = (_number_block, (work, shared), range(1, binding.n_blocks))
    for chunk in results_in_chunks(
        *work_of_blocks, n_jobs=workers.n_jobs, seconds_each=seconds_each
    ):
        blocks.update(chunk)
        starts = binding.block_starts
        done(sum(starts[number + 1] - starts[number] for number, _ in chunk))
    return [blocks[number] for number in range(1, binding.n_blocks)]


def _number_block(shared: tuple[Callable[[Any, int], Any], Any], number: int) -> tuple[int, Any]:
    """Return the number of a block, and what the work on it returns."""
    work, work_and_arguments = shared
    return number, work(work_and_arguments, number)


def bootstrap_each(
    plan: ResamplingPlan, statistics: Sequence[BoundStatistic]
) -> list[tuple[float, Floats]]:
    """Value on the data and replicates (n_resamples,) of each statistic, bound by itself.

    For many functions of sums of few codes, whose counts are drawn faster than rows: the resamples
    agree in distribution, not row by row, and equal those of `bootstrap` with a binding of that
    statistic alone. Of two codes, such as right and wrong, all are drawn and summed here.
    """
    distributions = []
    check_replicates_fit(plan.n_resamples, len(statistics))
    with single_threaded_blas():
        counts_of_each = plan.counts_of_two([bound.coding for bound in statistics])
        for bound, counts in zip(statistics, counts_of_each, strict=True):
            reduced = bound.reduced
            values = None
            if counts is not None and reduced.terms is not None:
                sums = counts[:, :1] * reduced.terms[0] + counts[:, 1:] * reduced.terms[1]
                values = bound.statistic.combine(sums, reduced)
            if values is not None:
                distributions.append((float(values[-1]), values[:-1]))
                continue
            [alone] = bootstrap(plan.bind([bound.coding]), [bound])
            distributions.append((alone.estimate, alone.replicates))
    return distributions


class Jackknife(NamedTuple):
    """Acceleration, standard error and bias of a statistic, from leaving out one unit at a time.

    Attributes
    ----------
    acceleration : float
        Acceleration of BCa; NaN where the statistic is undefined without some unit.
    standard_error : float
        Standard error of linear functions; NaN with the acceleration.
    bias : float
        Bias of the estimate; NaN with the acceleration.
    error_freedom : float
        Degrees of freedom of the standard error; see `JackknifeValues.error_freedom`.
    n_values : int or None
        Number of different values of the statistic without one unit; None for statistics of sums
        and pairs, which are smooth, and where few rows differ from each other.
    n_left_out : int
        Number of values: one per unit, or per set of units (interchangeable, or left out together).
    n_units : int
        Number of units, those of other subgroups included.
    """

    acceleration: float
    standard_error: float
    bias: float
    error_freedom: float
    n_values: int | None
    n_left_out: int
    n_units: int

    def among(self, n_own: int) -> Jackknife:
        """Return the jackknife of a statistic that only so many of the units belong to.

        The others move nothing, and count for nothing.
        """
        n = self.n_units
        factor = (n_own - 1) * n / (n_own * (n - 1))
        n_deciding = n * self.error_freedom / (2 * n + self.error_freedom)
        return self._replace(
            error_freedom=2 * n_own * n_deciding / max(n_own - n_deciding, 1e-12),
            standard_error=factor * self.standard_error,
            bias=factor * self.bias,
            n_left_out=min(self.n_left_out, n_own),
            n_units=n_own,
        )


def jackknife(
    binding: Binding, statistics: Sequence[BoundStatistic], estimates: Sequence[float]
) -> list[Jackknife]:
    """Evaluate each statistic without each unit of the design.

    Parameters
    ----------
    binding : Binding
        The plan, bound to the statistics' codings in the same order; rows or groups.
    statistics : sequence of BoundStatistic
        What to evaluate.
    estimates : sequence of float
        Their values on the data.

    Returns
    -------
    list of Jackknife
        One per statistic.

    Notes
    -----
    Without strata the acceleration is sum L_i^3 / (6 (sum L_i^2)^(3/2)), L_i = (n - 1) (estimate -
    t_(-i)), as in R's boot (Efron 1987, equation 6.6). With strata the multi-sample form: sum_h
    sum_i U_hi^3 / n_h^3 over 6 (sum_h sum_i U_hi^2 / n_h^2)^(3/2), U_hi = (n_h - 1) (mean_h -
    t_(-hi)) (Davison & Hinkley 1997, equation 5.29). The standard error is the root of the sum of
    squares in it, which is what resamples of a linear function have. The bias is (n - 1) (mean of
    t_(-i) - estimate) (Quenouille 1956), with the number of strata in the place of 1.
    """
    jackknives: dict[int, Jackknife] = {}
    together = [(binding, list(range(len(statistics))))]
    if any(units.atoms is not None for units in binding.units_of_codes):
        of_two = binding.parts_of_two_without_units()
        blocks = [part.blocks[0] for part in of_two.values()]
        evaluated = _evaluate(binding, blocks, [statistics[k] for k in of_two]) if of_two else []
        for (k, part), (values, _) in zip(of_two.items(), evaluated, strict=True):
            jackknives[k] = _jackknife_of(values, part.times, part.strata, estimates[k])
        together = binding.jackknife_bindings(done=jackknives)
    with single_threaded_blas():
        for binding_of_part, which in together:
            without_units = leave_out(binding_of_part, [statistics[k] for k in which])
            units = without_units.times, without_units.strata
            for k, values in zip(which, without_units.values, strict=True):
                jackknives[k] = _jackknife_of(values, *units, estimates[k], without_units.sizes)
                if statistics[k].coding.reads in _COUNTED and _rows_differ(statistics[k]):
                    # Values that differ by rounding count once.
                    away = values - estimates[k]
                    away /= jackknives[k].standard_error or 1.0
                    n_values = len(np.unique(np.round(away, 9, out=away)))
                    jackknives[k] = jackknives[k]._replace(n_values=n_values)
    return [jackknives[k] for k in range(len(statistics))]


def _rows_differ(bound: BoundStatistic) -> bool:
    """Return whether most rows differ from the others, so that few values show a quantile."""
    data, code = bound.reduced.data, bound.reduced.code
    if code is not None:
        # The coding has the rows of all subgroups, of which these are one.
        return bound.coding.coded is not None and bound.reduced.n_codes > len(code) / 2
    predictions, truth = data.get("y_pred"), data.get("y_true")
    if predictions is None or predictions.dtype.kind not in "fiu" or predictions.ndim > 1:
        return predictions is not None and predictions.dtype.kind == "f"
    rows = predictions.astype(complex)
    if truth is not None and truth.ndim == 1 and truth.dtype.kind in "fiu":
        rows += 1j * truth
    return len(np.unique(rows)) > len(rows) / 2


@dataclass(frozen=True, eq=False)
class JackknifeValues:
    """Statistics without single units of the design.

    Attributes
    ----------
    values : ndarray of shape (n_statistics, n_resamples)
        Value of each statistic on each resample that lacks a unit.
    times : ndarray of shape (n_resamples,)
        Number of units without which the data are this resample.
    strata : ndarray of shape (n_resamples,)
        Stratum of the unit.
    sizes : ndarray of shape (n_resamples,) or None
        Units that each resample lacks; None where each lacks one.
    """

    values: Floats
    times: NDArray[np.int64]
    strata: NDArray[np.intp]
    sizes: NDArray[np.intp] | None = None

    def jackknife(self, values: Floats, estimate: float) -> Jackknife:
        """Return the jackknife of a statistic with these values, or of a difference of two."""
        return _jackknife_of(values, self.times, self.strata, estimate, self.sizes)

    def error_freedom(self, values: Floats) -> float:
        """Degrees of freedom of the standard error of a statistic with these values.

        The variance of n values of kurtosis k has 2 n / (k - 1) (Wilks 1962, section 8.2); NaN
        where a value is undefined, or none varies.
        """
        n, shown = self.times.sum(), self.n_deciding(values)
        return float(2 * n / (n / shown - 1)) if shown not in (0, n) else np.nan

    def n_moving(self, values: Floats) -> int:
        """Units that move a statistic with these values; all unless most do not move it."""
        n = int(self.times.sum())
        away = np.abs(values - np.median(np.repeat(values, self.times)))
        moving = int(self.times[away > STILL * away.max(initial=0.0)].sum())
        return moving if 2 * moving < n and not np.isnan(values).any() else n

    def n_deciding(self, values: Floats) -> float:
        """Units that carry the variation of a statistic with these values; see `deciding_units`."""
        if np.isnan(values).any():
            return np.nan
        sizes = np.bincount(self.strata, self.times)
        centres = np.bincount(self.strata, self.times * values) / sizes
        return deciding_units(values - centres[self.strata], self.times)


def leave_out(binding: Binding, statistics: Sequence[BoundStatistic]) -> JackknifeValues:
    """Evaluate statistics without each unit of the design; see `jackknife`.

    The caller limits matrix products to one thread: there may be many parts.
    """
    parts: list[JackknifeResamples] = []
    values: list[Floats] = []
    for resamples in binding.jackknife_resamples():
        part_values = np.empty((len(statistics), len(resamples.times)))
        for k, bound in enumerate(statistics):
            # The sums that it takes of each resample; None if others than of its terms.
            n_sums, terms = None, bound.reduced.terms
            if terms is not None and bound.coding.reads in ("thresholds", "sums"):
                n_sums = int(terms.shape[1])
            elif bound.coding.reads == "sums":
                n_sums = bound.reduced.n_codes
            try:
                for at, block in resamples.parts(k, n_sums):
                    part_values[k][at] = bound.statistic.evaluate(block, bound.reduced)
            except MetricError as failure:
                without = "without one unit of the data (needed for BCa)"
                raise failure.error_on_rows(without, resampled=False) from failure.error
        # Without their blocks, which hold the counts of all units of each.
        parts.append(resamples._replace(blocks=[]))
        values.append(part_values)
    if len(parts) == 1:
        return JackknifeValues(values[0], *parts[0][1:])
    sizes = [part.sizes for part in parts if part.sizes is not None]
    return JackknifeValues(
        np.concatenate(values, axis=1),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.strata for part in parts]),
        np.concatenate(sizes) if sizes else None,
    )


def _jackknife_of(
    values: Floats,
    times: NDArray[np.int64],
    strata: NDArray[np.intp],
    estimate: float,
    sizes_left_out: NDArray[np.intp] | None = None,
) -> Jackknife:
    """Return the jackknife of some values; ``sizes_left_out`` are the units that each lacks.

    A stratum that lacks a unit weighs less, which is no error. What its level changes by that is
    in proportion to the units, and is taken out.
    """
    one_stratum, n = not strata.any(), int(times.sum())
    sizes = np.array([n]) if one_stratum else np.bincount(strata, times)
    centres: Any = estimate
    lowest = highest = estimate
    if not one_stratum:
        centres = np.bincount(strata, times * values) / sizes
        if sizes_left_out is not None:
            mean_units = np.bincount(strata, times * sizes_left_out) / sizes
            per_unit = (estimate - centres) / mean_units
            values = values + per_unit[strata] * (sizes_left_out - mean_units[strata])
        lowest, highest = centres.min(), centres.max()
    # Fourth powers of values of 1e-149 or 1e149 are in range as those of values near 1.
    greatest, least = float(values.max()), float(values.min())
    size = power_of_two(max(abs(greatest - lowest), abs(least - highest)))
    squared = cubed = fourth = 0.0
    for start in range(0, len(values), JACKKNIFE_VALUES_AT_ONCE):
        part = slice(start, start + JACKKNIFE_VALUES_AT_ONCE)
        if one_stratum:
            share = centres - values[part]
            share *= (sizes[0] - 1) / sizes[0]
        else:
            stratum = strata[part]
            share = ((sizes - 1) / sizes)[stratum] * (centres[stratum] - values[part])
        share /= size
        squares = share * share
        if n != len(times):
            squares *= times[part]
        squared += float(squares.sum())
        squares *= share
        cubed += float(squares.sum())
        squares *= share
        fourth += float(squares.sum())
    if math.isnan(squared):
        return Jackknife(np.nan, np.nan, np.nan, np.nan, None, len(values), n)
    # Differences at the level of rounding are not skewness.
    if math.sqrt(squared) <= 1e-14 * max(greatest, -least) / size * math.sqrt(len(values)):
        return Jackknife(0.0, 0.0, 0.0, np.nan, None, len(values), n)
    bias = (n - len(sizes)) * (float(times @ values) / n - estimate)
    freedom = 2 * n / max(n * fourth / squared / squared - 1, 1e-12)
    acceleration, error = cubed / (6 * squared**1.5), size * math.sqrt(squared)
    return Jackknife(acceleration, error, bias, freedom, None, len(values), n)


# Of a statistic on the data: its value, variance, jackknife and influences, None where not known.
_OnData = tuple[Any, float | None, Jackknife | None, Floats | None]


class _Values(NamedTuple):
    """Values and variances of one statistic on some resamples, (n_resamples, ...) each."""

    values: Floats
    variances: Floats | None


def _data_and_first_block(
    binding: Binding, statistics: Sequence[BoundStatistic]
) -> tuple[list[_OnData], list[_Values]]:
    """Return the values on the data, and the first block; together if one block holds both."""
    data: list[_OnData] = []
    first_block: list[_Values] = []
    are_sums = all(s.statistic.reads == "sums" and not s.statistic.is_curve for s in statistics)
    rows = binding.rows_with_data if are_sums else None
    if rows is None:
        blocks = binding.observed()
        evaluated = _evaluate(binding, blocks, statistics)
        for block, bound, result in zip(blocks, statistics, evaluated, strict=True):
            influence = None
            if bound.with_influence:
                influence = bound.statistic.influence(block, bound.reduced)
            value = result.values[0]
            estimate = float(value) if value.ndim == 0 else value
            variance = None if result.variances is None else float(result.variances[0])
            data.append((estimate, variance, None, influence))
        return data, _block((binding, statistics), 0)
    times, strata = binding.multiplicity[0], binding.strata
    strata = np.zeros(len(times), np.intp) if strata is None else strata
    # Such blocks are of single rows; only groups have influences.
    for result in _evaluate(binding, binding.block(0, with_data=True), statistics):
        # A metric that divides by zero without a unit is undefined there.
        values = np.where(np.isinf(result.values), np.nan, result.values)
        estimate, variances = float(values[rows.data]), result.variances
        jackknife_of_data = _jackknife_of(values[rows.without_unit], times, strata, estimate)
        variance = None if variances is None else float(variances[rows.data])
        data.append((estimate, variance, jackknife_of_data, None))
        first_block.append(
            _Values(
                values[rows.resamples], None if variances is None else variances[rows.resamples]
            )
        )
    return data, first_block


def _block(shared: tuple[Binding, Sequence[BoundStatistic]], number: int) -> list[_Values]:
    """Return values and variances on the resamples of a block."""
    binding, statistics = shared
    start, stop = binding.block_starts[number : number + 2]
    n_resamples = min(stop, binding.plan.n_resamples) - start
    try:
        return _evaluate(binding, binding.block(number), statistics, n_resamples)
    except MetricError as failure:
        resample = f"on resample {start + failure.resample}"
        raise failure.error_on_rows(resample) from failure.error


def _evaluate(
    binding: Binding,
    blocks: Sequence[Any],
    statistics: Sequence[BoundStatistic],
    n_resamples: int | None = None,
) -> list[_Values]:
    """Return values and variances on the first resamples.

    Blocks are evaluated whole, so that the shape of their products does not depend on the number
    of resamples, but by statistics that round nothing; what functions of sums read of them is
    computed in one product.
    """
    together = [[k] for k in range(len(statistics))]
    if len(statistics) > 1:
        read = [
            ReadTerms(s.reduced.terms, s.with_variance) if s.statistic.reads == "sums" else None
            for s in statistics
        ]
        binding.share_sums(blocks, read)
        if any(block.of_two_codes for block in blocks):
            together = _same_formulas(blocks, statistics)
    for block, bound in zip(blocks, statistics, strict=True):
        block.with_variance = bound.with_variance
    evaluated: dict[int, _Values] = {}
    for numbers in together:
        block, bound = blocks[numbers[0]], statistics[numbers[0]]
        has_more = n_resamples is not None and n_resamples < block.n_resamples
        if len(numbers) > 1:
            # The counts of all are read as further resamples of the first one.
            counts = [blocks[k].counts[:n_resamples] for k in numbers]
            block, n_each = block.with_counts(np.concatenate(counts)), len(counts[0])
        else:
            n_each = n_resamples or block.n_resamples
            if has_more and bound.statistic.adds_without_rounding(bound.reduced):
                block = block._part(slice(0, n_resamples))
        values, variances = bound.statistic.evaluate(block, bound.reduced), None
        if bound.with_variance:
            with np.errstate(invalid="ignore"):
                # Where the metric is undefined its gradient is infinite: the variance is NaN.
                variances = bound.statistic.variance(block, bound.reduced)
            assert variances is not None
        for place, k in enumerate(numbers):
            at = slice(place * n_each, (place + 1) * n_each)
            evaluated[k] = _Values(values[at], None if variances is None else variances[at])
    return [evaluated[k] for k in range(len(statistics))]


def _same_formulas(blocks: Sequence[Any], statistics: Sequence[BoundStatistic]) -> list[list[int]]:
    """Return the numbers of statistics, those together that are one function of two counts.

    These are, for instance, the accuracy of many subgroups: as many as have counts in the cache.
    """
    together: list[list[int]] = []
    by_formula: dict[Any, list[int]] = {}
    for k, (block, bound) in enumerate(zip(blocks, statistics, strict=True)):
        formula: tuple[Any, ...] | None = None
        terms, n_together = bound.reduced.terms, 1
        is_sum = bound.statistic.reads == "sums" and isinstance(terms, np.ndarray)
        if is_sum and block.of_two_codes:
            statistic, data = bound.statistic, bound.reduced.data
            formula = (id(statistic), id(data), terms.tobytes(), bound.with_variance)
            n_together = TILE_ELEMENTS // block.counts.size
        numbers = by_formula.get(formula)
        if numbers is None or len(numbers) >= n_together:
            numbers = by_formula[formula] = []
            together.append(numbers)
        numbers.append(k)
    return together


@only_advises(None)
def _name_of(bound: BoundStatistic) -> str | None:
    """Return the name of the metric that a called function is, by its code and its value."""
    data = bound.reduced.data
    if data.get("sample_weight") is not None:
        return None
    _, value = bound.statistic.returned(bound.reduced)
    # One that was called on the data already stands in the place of the user's.
    called = bound.statistic.function
    function = getattr(called, "function", called)
    return name_of_same_value(function, float(value), data["y_true"], data["y_pred"])


@only_advises(None)
def _note_on_time(
    binding: Binding, statistics: Sequence[BoundStatistic], is_shown: bool
) -> Note | None:
    """Return how long functions that are called on every resample take, and what is quicker.

    ``is_shown`` says whether progress is: then only a quicker way is news.
    """
    called = [k for k, bound in enumerate(statistics) if bound.statistic.reads == "rows"]
    n_resamples = binding.plan.n_resamples
    seconds = {}
    for k in called:
        # The shortest of some calls on the data: other work on the machine adds to it.
        times, bound = [], statistics[k]
        for _ in range(_TIMED_CALLS):
            start = time.perf_counter()
            bound.statistic.evaluate(binding.observed()[k], bound.reduced)
            times.append(time.perf_counter() - start)
        seconds[k] = n_resamples * min(times)
    if sum(seconds.values()) < min(_WORTH_ADVICE, _WORTH_A_NAME):
        return None
    slowest = statistics[max(called, key=seconds.__getitem__)]
    name = slowest.statistic.name
    known_name = _name_of(slowest)
    if known_name is None and sum(seconds.values()) < _WORTH_ADVICE:
        return None
    n_systems = sum(statistics[k].statistic.name == name for k in called)
    text = (
        f"about {sum(seconds.values()):.0f} s in one process: {name!r} is called "
        f"{thousands(n_resamples * n_systems)} times, on {slowest.reduced.n_codes} rows."
    )
    n_cells = n_cells_with_weights(slowest.statistic, slowest.reduced)
    if known_name is not None:
        text += (
            f" The metric {known_name!r} has the same value on these rows, and is computed at once."
        )
    elif n_cells is not None:
        text += f" With an argument sample_weight it is called on {n_cells} pairs of labels."
    elif is_shown:
        return None
    else:
        text += " Give n_jobs= to share the calls among processes, or a smaller n_resamples."
    return Note("slow", text, about="time of resamples")
