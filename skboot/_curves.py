"""The engine of `bootstrap_curve`: from checked rows and a plan to curves on resamples.

All systems are evaluated on the same resamples, so that the difference of two curves is that of
their replicates. Columns that are not in memory go the way of a stream.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._curves_bands import Drawn, results_of_curves
from ._curves_inputs import CurveCall, argument_of, checked_call
from ._inputs import is_lazy
from ._messages import arguments_named
from ._workers import Progress, in_chunks, single_threaded_blas
from .metrics.curves import Curve, TwoClassRows
from .metrics.statistic import MetricError, ReducedData
from .resampling.coding import CodedRows
from .resampling.plan import Binding
from .results import ResultTable
from .results.curve import CurveResult

Floats = NDArray[np.float64]


def evaluate_curves(call: CurveCall) -> dict[str, CurveResult]:
    """Evaluate the curve of each system, and the difference of exactly two.

    Parameters
    ----------
    call : CurveCall

    Returns
    -------
    results : dict of str to CurveResult
        By system.
    notes : list of Note
        Warnings of the call.
    """
    return results_of_curves(call, dict(zip(call.curves, _replicated(call), strict=True)))


def curves_of(y_true: Any, y_score: Any, **options: Any) -> Any:
    """Check arguments, evaluate, warn, and return a result, or a table of several systems."""
    scores = y_score.values() if isinstance(y_score, Mapping) else [y_score]
    if is_lazy(y_true, *scores):
        # Few calls need a stream.
        from ._curves_streamed import read_lazy

        results = curves_of_stream(*read_lazy(y_true, y_score, **options))
    else:
        results = evaluate_curves(checked_call(y_true, y_score, **options))
    return ResultTable(results) if isinstance(y_score, Mapping) else results[""]


def curves_of_stream(
    settings: Any, state: Any, asked: Any, arguments: Mapping[str, str]
) -> dict[str, CurveResult]:
    """Return the curves of a stream, of few rows as of rows in memory.

    Parameters
    ----------
    settings : skboot.streams.state.StreamSettings
    state : skboot.streams.state.StreamState
    asked : skboot._curves_streamed.CurveAsked
    arguments : mapping of str to str
        What messages call the scores of each system.
    """
    from ._curves_streamed import curves_of_state
    from .streams.evaluating import few_given

    few = few_given(settings, state)
    if few is None:
        return curves_of_state(settings, state, asked, arguments)
    scores: Any = dict(zip(arguments, few.y_preds.values(), strict=True))
    names = {argument_of(name): argument for name, argument in arguments.items()}
    options = {**asked._asdict(), "confidence_level": settings.confidence_level, **few.options}
    with arguments_named(names):
        alone = scores.get("", scores)
        call = checked_call(few.y_true, alone, **options)
    return evaluate_curves(call)


# ------------------------------------------------------------------ replicates


def _replicated(call: CurveCall) -> list[Drawn]:
    """Evaluate all curves on the data and on the resamples of the plan."""
    pairs = list(call.curves.values())
    reduced = [curve.reduce(rows) for curve, rows in pairs]
    subjects = [(curve, each) for (curve, _), each in zip(pairs, reduced, strict=True)]
    codings = [CodedRows(each.code, each.n_codes, c.reads, each.counts) for c, each in subjects]
    binding = call.plan.bind(codings)
    with single_threaded_blas():
        observed = binding.observed()
        try:
            on_data = [
                curve.evaluate(block, each)[0]
                for block, (curve, each) in zip(observed, subjects, strict=True)
            ]
        except MetricError as failure:
            raise failure.on_data("curve") from failure.error
        replicates = _all_blocks(call, binding, subjects)
        drawn = []
        for k, ((curve, rows), each) in enumerate(zip(pairs, reduced, strict=True)):
            worth = _worth_of_weights(rows)
            behind = curve.behind(observed[k], each, worth)
            floor = curve.floor(observed[k], each, worth)
            drawn.append(Drawn(curve, rows.sizes, on_data[k], replicates[k], behind, floor))
    return drawn


def _all_blocks(
    call: CurveCall, binding: Binding, subjects: Sequence[tuple[Curve, ReducedData]]
) -> list[Floats]:
    """Return the replicates of each curve, (n_resamples, n_grid)."""
    n_resamples = call.plan.n_resamples
    shared = (binding, subjects)
    with Progress(n_resamples, "resamples", call.workers.verbose) as progress:
        started = time.perf_counter()
        blocks = dict([_numbered_block(shared, 0)])
        seconds = time.perf_counter() - started
        progress.done(binding.block_size)
        rest = range(1, binding.n_blocks)
        n_jobs = call.workers.n_jobs
        for chunk in in_chunks(_numbered_block, shared, rest, n_jobs=n_jobs, seconds_each=seconds):
            blocks.update(chunk)
            progress.done(len(chunk) * binding.block_size)
    replicates = []
    for k in range(len(subjects)):
        parts = [blocks[number][k] for number in range(binding.n_blocks)]
        replicates.append(np.concatenate(parts)[:n_resamples])
        replicates[-1].flags.writeable = False
    return replicates


def _numbered_block(
    shared: tuple[Binding, Sequence[tuple[Curve, ReducedData]]], number: int
) -> tuple[int, list[Floats]]:
    """Return the number of a block, and the curves on its resamples."""
    binding, subjects = shared
    try:
        blocks = zip(binding.block(number), subjects, strict=True)
        return number, [curve.evaluate(block, reduced) for block, (curve, reduced) in blocks]
    except MetricError as failure:
        resample = number * binding.block_size + failure.resample
        raise RuntimeError(
            f"The curve raised {type(failure.error).__name__} on resample {resample}: "
            f"{failure.error}"
        ) from failure.error


def _worth_of_weights(rows: TwoClassRows) -> float:
    """Rows of equal weight that are worth a unit of weight (Kish 1965)."""
    if rows.sample_weight is None:
        return 1.0
    relative = rows.sample_weight / rows.sample_weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2) / rows.sample_weight.sum())
