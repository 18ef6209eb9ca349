"""Fill bootstrap distributions: run over the blocks of a plan and evaluate statistics on each.

One pass serves every statistic of a call: they share each block's resamples. Undefined values
stay NaN; whoever uses the replicates decides what to do with them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from .._memory import check_fits
from .._validation import fail
from ..metrics.statistic import Floats, MetricError, Reduced, Statistic
from ..resampling.plan import Binding, Coding, LeftOut, ResamplingPlan

# Predicted serial seconds from which starting worker processes pays.
_WORTH_PROCESSES = 3.0
# Peak of memory (bytes) for a replicate and its standard error: 49 measured (record 0037).
_BYTES_PER_VALUE = 50
# Size of a metric between which its square is in the range of double precision.
_SMALLEST, _LARGEST = 1e-150, 1e150
# Values worked on at a time: their temporaries stay in the cache.
_CACHED = 1 << 13
# Tasks per worker: few enough to pickle the data rarely, enough to even out slow ones.
_TASKS_PER_WORKER = 8


@dataclass(frozen=True, eq=False)
class Subject:
    """A statistic and the data it was reduced to.

    Attributes
    ----------
    statistic : Statistic
        The metric.
    reduced : Reduced
        Its reduction.
    coding : Coding
        Code of each row of the whole data set; -1 for rows it does not see.
    with_variance : bool
        Whether to keep a standard error per resample.
    """

    statistic: Statistic
    reduced: Reduced
    coding: Coding
    with_variance: bool = False


@dataclass(frozen=True, eq=False)
class BootstrapDistribution:
    """What resampling says of one statistic.

    Attributes
    ----------
    estimate : float
        Value on the data.
    replicates : ndarray of shape (n_resamples,)
        Value on each resample; NaN where undefined.
    standard_error : float or None
        Infinitesimal-jackknife standard error on the data.
    replicate_standard_errors : ndarray of shape (n_resamples,) or None
        The same on each resample.
    acceleration : float or None
        Of BCa, where it came along; see `acceleration`.
    """

    estimate: float
    replicates: Floats
    standard_error: float | None
    replicate_standard_errors: Floats | None
    acceleration: float | None = None


def check_replicates_fit(n_resamples: int, n_subjects: int, caller: str) -> None:
    """Refuse more resamples of so many statistics than memory holds."""
    check_fits("n_resamples", n_resamples, _BYTES_PER_VALUE * n_subjects, caller)


def bootstrap(
    binding: Binding,
    subjects: Sequence[Subject],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    caller: str = "bootstrap",
) -> list[BootstrapDistribution]:
    """Evaluate statistics on the data and on every resample of a plan.

    Parameters
    ----------
    binding : Binding
        The plan, bound to the subjects' codings in the same order.
    subjects : sequence of Subject
        What to evaluate.
    n_jobs : int or None
        Workers at most; started only when the work is predicted to take seconds. The numbers
        do not depend on it.
    verbose : int
        1 reports progress on stderr.
    caller : str
        Function named in messages.

    Returns
    -------
    list of BootstrapDistribution
        One per subject.

    Raises
    ------
    ValueError
        If memory does not hold the replicates, or a metric has no value on the data.
    RuntimeError
        If a metric raises on a resample; the message gives the resample's number.
    """
    check_replicates_fit(binding.plan.n_resamples, len(subjects), caller)
    with single_threaded_blas():
        try:
            data, parts = _all_blocks(binding, subjects, n_jobs, _Progress(binding, verbose))
        except MetricError as failure:
            raise failure.on_data(caller) from failure.error
    _check_sizes(data.values, subjects, caller)
    values, errors = parts[0]
    if len(parts) > 1:
        values = np.concatenate([part[0] for part in parts], axis=1)
        errors = np.concatenate([part[1] for part in parts], axis=1)
    # A metric that divides by zero on a resample says nothing there, as one that returns NaN.
    values[np.isinf(values)] = np.nan
    standard_errors, errors = np.sqrt(data.variances), np.sqrt(errors)
    # Rounding leaves traces of variance where every unit has the same influence.
    errors[errors < 1e-9 * standard_errors[:, None]] = 0.0
    # Results share these arrays instead of copying them.
    values.flags.writeable = errors.flags.writeable = False
    results = []
    for k, subject in enumerate(subjects):
        standard_error = float(standard_errors[k])
        known = subject.with_variance and np.isfinite(standard_error)
        results.append(
            BootstrapDistribution(
                float(data.values[k]),
                values[k],
                standard_error if known else None,
                errors[k] if known else None,
                data.accelerations[k],
            )
        )
    return results


def _check_sizes(values: Floats, subjects: Sequence[Subject], caller: str) -> None:
    """Refuse values whose squares, which a standard error is made of, are not finite or vanish."""
    for value, subject in zip(values.tolist(), subjects, strict=True):
        if value == 0 or _SMALLEST <= abs(value) <= _LARGEST or value != value:
            continue
        must = f"return 0, NaN, or a number between {_SMALLEST:g} and {_LARGEST:g} in size"
        advice = "Measure in another unit: multiply the values by the same number."
        got = f"{value:g} from {subject.statistic.name!r}"
        raise fail(caller, "metric", must, got, advice)


def bootstrap_each(
    plan: ResamplingPlan, subjects: Sequence[Subject], caller: str = "bootstrap_each"
) -> list[tuple[float, Floats]]:
    """Value on the data and replicates (n_resamples,) of each statistic, bound by itself.

    For many statistics of few codes, whose counts are drawn faster than rows: the resamples agree
    in law, not row by row, and equal those of `bootstrap` with a binding of that statistic alone.
    """
    found = []
    check_replicates_fit(plan.n_resamples, len(subjects), caller)
    with single_threaded_blas():
        for subject in subjects:
            binding = plan.bind([subject.coding])
            evaluate, reduced = subject.statistic.evaluate, subject.reduced
            if binding.by_line and binding.n_blocks == 1:
                # The data and the jackknife are lines of the block, after the resamples.
                values = evaluate(binding.block(0, with_jackknife=True)[0], reduced)
                found.append((float(values[plan.n_resamples]), values[: plan.n_resamples]))
                continue
            blocks = (binding.block(number)[0] for number in range(binding.n_blocks))
            values = np.concatenate([evaluate(block, reduced) for block in blocks])
            estimate = float(evaluate(binding.observed()[0], reduced)[0])
            found.append((estimate, values[: plan.n_resamples]))
    return found


def acceleration(
    binding: Binding, subjects: Sequence[Subject], estimates: Sequence[float]
) -> list[float]:
    """Acceleration of BCa for each subject, by leaving out units of the design.

    Parameters
    ----------
    binding : Binding
        The plan, bound to the subjects' codings in the same order; rows or groups.
    subjects : sequence of Subject
        What to evaluate.
    estimates : sequence of float
        Their values on the data.

    Returns
    -------
    list of float
        NaN where the statistic is undefined without some unit.

    Notes
    -----
    Without strata sum L_i^3 / (6 (sum L_i^2)^(3/2)), L_i = (n - 1) (estimate - t_(-i)), as in R's
    boot (Efron 1987, equation 6.6). With strata the multi-sample form: sum_h sum_i U_hi^3 / n_h^3
    over 6 (sum_h sum_i U_hi^2 / n_h^2)^(3/2), U_hi = (n_h - 1) (mean_h - t_(-hi)) (Davison &
    Hinkley 1997, equation 5.29).
    """
    left_out = leave_out(binding, subjects)
    return [
        left_out.acceleration(own, estimate)
        for own, estimate in zip(left_out.values, estimates, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class LeftOutValues:
    """Statistics without single units of the design.

    Attributes
    ----------
    values : ndarray of shape (n_subjects, n_lines)
        Value of each statistic on each line.
    times : ndarray of shape (n_lines,)
        Number of units that would give the same line.
    strata : ndarray of shape (n_lines,)
        Stratum of the unit.
    """

    values: Floats
    times: NDArray[np.int64]
    strata: NDArray[np.intp]

    def acceleration(self, values: Floats, estimate: float) -> float:
        """Acceleration of a statistic with these values, or of a difference of two of them."""
        return _acceleration(values, self.times, self.strata, estimate)


def leave_out(binding: Binding, subjects: Sequence[Subject]) -> LeftOutValues:
    """Evaluate statistics without each unit of the design; see `acceleration`."""
    parts: list[LeftOut] = []
    values: list[Floats] = []
    with single_threaded_blas():
        for left_out in binding.left_out():
            of_part = np.empty((len(subjects), len(left_out.times)))
            for k, subject in enumerate(subjects):
                _fill_left_out(of_part[k], subject, left_out, k)
            parts.append(left_out)
            values.append(of_part)
    if len(parts) == 1:
        return LeftOutValues(values[0], parts[0].times, parts[0].strata)
    return LeftOutValues(
        np.concatenate(values, axis=1),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.strata for part in parts]),
    )


def _n_sums(subject: Subject) -> int:
    """Sums that a function of sums takes of each resample."""
    if subject.statistic.reads != "sums":
        return 1
    terms = subject.reduced.terms
    return subject.reduced.n_codes if terms is None else int(terms.shape[1])


def _fill_left_out(values: Floats, subject: Subject, left_out: LeftOut, k: int) -> None:
    try:
        for lines, block in left_out.parts(k, _n_sums(subject)):
            values[lines] = subject.statistic.evaluate(block, subject.reduced)
    except MetricError as failure:
        raise RuntimeError(
            f"The metric {subject.statistic.name!r} raised {type(failure.error).__name__} "
            f"without one unit of the data (needed for BCa): {failure.error}"
        ) from failure.error


def _acceleration(
    values: Floats, times: NDArray[np.int64], strata: NDArray[np.intp], estimate: float
) -> float:
    one_stratum = not strata.any()
    sizes = np.array([times.sum()]) if one_stratum else np.bincount(strata, times)
    centres: Any = estimate
    if not one_stratum:
        centres = np.bincount(strata, times * values) / sizes
    single = int(sizes.sum()) == len(times)
    squared = cubed = 0.0
    for first in range(0, len(values), _CACHED):
        part = slice(first, first + _CACHED)
        if one_stratum:
            share = centres - values[part]
            share *= (sizes[0] - 1) / sizes[0]
        else:
            of_line = strata[part]
            share = ((sizes - 1) / sizes)[of_line] * (centres[of_line] - values[part])
        squares = share * share
        if not single:
            squares *= times[part]
        squared += float(squares.sum())
        squares *= share
        cubed += float(squares.sum())
    if np.isnan(squared):
        return np.nan
    # Differences at the level of rounding are not skewness.
    if squared <= (1e-14 * max(values.max(), -values.min())) ** 2 * len(values):
        return 0.0
    return cubed / (6 * squared**1.5)


class _OnData(NamedTuple):
    """Values and variances on the data, and accelerations if they are known, (n_subjects,)."""

    values: Floats
    variances: Floats
    accelerations: Sequence[float | None]


def _on_data(binding: Binding, subjects: Sequence[Subject]) -> _OnData:
    values, variances = _evaluate(_sharing(binding, binding.observed(), subjects), subjects, 1)
    return _OnData(values[:, 0], variances[:, 0], [None] * len(subjects))


def _evaluate(
    blocks: Sequence[Any], subjects: Sequence[Subject], n_lines: int
) -> tuple[Floats, Floats]:
    """Values and variances on the first lines, (n_subjects, n_lines) each.

    Variances are NaN where not asked for. Blocks are evaluated whole, so that products have the
    same shape however many lines are wanted.
    """
    values = np.empty((len(subjects), n_lines))
    variances = np.full_like(values, np.nan)
    for k, (block, subject) in enumerate(zip(blocks, subjects, strict=True)):
        values[k] = subject.statistic.evaluate(block, subject.reduced)[:n_lines]
        if subject.with_variance:
            variance = subject.statistic.variance(block, subject.reduced)
            assert variance is not None
            variances[k] = variance[:n_lines]
    return values, variances


def _sharing(binding: Binding, blocks: Sequence[Any], subjects: Sequence[Subject]) -> Sequence[Any]:
    """The blocks, with the sums of all functions of sums computed in one product."""
    sums = [s.reduced.terms if s.statistic.reads == "sums" else None for s in subjects]
    binding.share_sums(blocks, sums)
    return blocks


def _block(binding: Binding, subjects: Sequence[Subject], number: int) -> tuple[Floats, Floats]:
    first = number * binding.block_size
    n_lines = min(binding.block_size, binding.plan.n_resamples - first)
    try:
        return _evaluate(_sharing(binding, binding.block(number), subjects), subjects, n_lines)
    except MetricError as failure:
        resample = first + failure.line
        raise RuntimeError(
            f"The metric raised {type(failure.error).__name__} on resample {resample}: "
            f"{failure.error}"
        ) from failure.error


def _data_and_first_block(
    binding: Binding, subjects: Sequence[Subject]
) -> tuple[_OnData, tuple[Floats, Floats]]:
    """What is known of the data, and block 0; at once where the block is narrow."""
    if not binding.is_narrow or any(s.statistic.reads != "sums" for s in subjects):
        return _on_data(binding, subjects), _block(binding, subjects, 0)
    blocks = _sharing(binding, binding.block(0, with_jackknife=True), subjects)
    values, variances = _evaluate(blocks, subjects, blocks[0].n_lines)
    times, strata = binding.multiplicity[0], binding.strata
    strata = np.zeros(len(times), np.intp) if strata is None else strata
    drawn = blocks[0].n_lines - len(times) - 1
    accelerations = [_acceleration(own[drawn + 1 :], times, strata, own[drawn]) for own in values]
    lines = slice(0, min(drawn, binding.plan.n_resamples))
    on_data = _OnData(values[:, drawn], variances[:, drawn], accelerations)
    return on_data, (values[:, lines], variances[:, lines])


def _all_blocks(
    binding: Binding,
    subjects: Sequence[Subject],
    n_jobs: int | None,
    progress: _Progress,
) -> tuple[_OnData, list[tuple[Floats, Floats]]]:
    """The data, and blocks in order, in this process or in workers: the numbers are the same."""
    start = time.perf_counter()
    on_data, first = _data_and_first_block(binding, subjects)
    seconds = time.perf_counter() - start
    progress.done(1)
    rest = range(1, binding.n_blocks)
    n_workers = 1 if n_jobs in (None, 1) and not rest else effective_n_jobs(n_jobs)
    if n_workers == 1 or seconds * len(rest) < _WORTH_PROCESSES:
        parts = [first]
        for number in rest:
            parts.append(_block(binding, subjects, number))
            progress.done(1)
        return on_data, parts
    n_tasks = min(len(rest), _TASKS_PER_WORKER * n_workers)
    tasks = [list(numbers) for numbers in np.array_split(rest, n_tasks)]
    done: dict[int, tuple[Floats, Floats]] = {0: first}
    for numbers, chunk in _in_workers(
        n_jobs, (delayed(_chunk)(binding, subjects, task) for task in tasks)
    ):
        done.update(zip(numbers, chunk, strict=True))
        progress.done(len(numbers))
    return on_data, [done[number] for number in range(binding.n_blocks)]


def _chunk(
    binding: Binding, subjects: Sequence[Subject], numbers: list[int]
) -> tuple[list[int], list[tuple[Floats, Floats]]]:
    with single_threaded_blas():
        return numbers, [_block(binding, subjects, number) for number in numbers]


def _in_workers(n_jobs: int | None, tasks: Iterator[Any]) -> Iterator[Any]:
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        # Some joblib backends only return lists.
        parallel = Parallel(n_jobs=n_jobs)
    yield from parallel(tasks)


class _Progress:
    """Resamples done and time left, on stderr."""

    def __init__(self, binding: Binding, verbose: int) -> None:
        self._binding = binding
        self._verbose = verbose
        self._start = self._said = time.perf_counter()
        self._blocks = 0

    def done(self, n_blocks: int) -> None:
        self._blocks += n_blocks
        now = time.perf_counter()
        finished = self._blocks >= self._binding.n_blocks
        if not self._verbose or (now - self._said < 0.5 and not finished):
            return
        self._said = now
        n = self._binding.plan.n_resamples
        n_done = min(self._blocks * self._binding.block_size, n)
        left = (now - self._start) * (n - n_done) / n_done
        end = "\n" if finished else ""
        print(
            f"\r{n_done}/{n} resamples, {left:.0f} s left  ", end=end, file=sys.stderr, flush=True
        )


@cache
def _controller() -> ThreadpoolController:
    # Only the libraries that are limited: asking others for their threads takes time.
    return ThreadpoolController().select(user_api="blas")


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Matrix products in one thread, so that sums do not depend on the number of workers."""
    controller = _controller()
    # Within another such context nothing is to be done, which is quicker.
    if all(library.num_threads == 1 for library in controller.lib_controllers):
        return nullcontext()
    return controller.limit(limits=1)
