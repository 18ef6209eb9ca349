"""The engine of `bootstrap_curve`: from checked rows and a plan to curves on resamples.

All systems are evaluated on the same resamples, so that the difference of two curves is that of
their replicates. Columns that are not in memory go the way of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._curves_bands import Drawn, results_of_curves
from ._curves_inputs import CurveCall, argument_of, checked_call
from ._inputs import is_lazy
from ._messages import arguments_named
from ._workers import single_threaded_blas
from .inference.distribution import BoundStatistic, bootstrap
from .metrics.curves import TwoClassRows
from .results import ResultTable
from .results.curve import CurveResult


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
    subjects = [
        BoundStatistic.of(curve, curve.reduce(rows)) for curve, rows in call.curves.values()
    ]
    binding = call.plan.bind([subject.coding for subject in subjects])
    found = bootstrap(binding, subjects, call.workers)
    drawn = []
    with single_threaded_blas():
        of_data = zip(call.curves.values(), subjects, binding.observed(), found, strict=True)
        for (curve, rows), subject, block, each in of_data:
            worth = _worth_of_weights(rows)
            behind = curve.behind(block, subject.reduced, worth)
            floor = curve.floor(block, subject.reduced, worth)
            drawn.append(Drawn(curve, rows.sizes, each.estimate, each.replicates, behind, floor))
    return drawn


def _worth_of_weights(rows: TwoClassRows) -> float:
    """Rows of equal weight that are worth a unit of weight (Kish 1965)."""
    if rows.sample_weight is None:
        return 1.0
    relative = rows.sample_weight / rows.sample_weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2) / rows.sample_weight.sum())
