"""From what was found in the runs to results and fitted attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, texts_of
from ..inference._tuning import FEW_GROUPS
from ..inference.automatic import IntervalWithNotes
from ..inference.evidence import ConfidenceInterval, Drawn, Evidence
from ..method_error.prediction_error import MethodErrorSummary, method_interval
from ..metrics.statistic import Facts
from ..refit.estimates import MethodError
from ..refit.run_metrics import LabelRunMetric, LossRunMetric, RunMetric, RunRecords, ValueRunMetric
from ..resampling.design import GROUPS, ROWS
from ..results import EvaluationResult, ResultTable, wording
from ..results.basis import ScoresBasis
from ..results.method_basis import MethodBasis
from ..results.result import Provenance, evaluation_result
from ..results.table import Entry, leaves
from .fit import FitCall

# Rows of the rarest class up to which every interval of a method was measured to be unreliable.
_SMALL_CLASS = 20

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2 % of the distinct rows, so that the out-of-bag score is that of "
    "a method trained on less data: low for most methods."
)
_NO_INTERVAL = "No interval of the optimism-corrected score is known; use another strategy for one."

# Parameters that a result keeps.
_RECORDED = (
    "strategy",
    "n_train_resamples",
    "n_cv_repeats",
    "n_seeds",
    "interval",
    "confidence_level",
    "stratify",
    "inner_cv",
)
RECORDED_WITH_TEST = (
    *(name for name in _RECORDED if name not in ("strategy", "n_cv_repeats")),
    "n_test_resamples",
    "estimand",
)

# Attributes that the model alone does not have.
WITH_RESULT = (
    "result_",
    "score_",
    "confidence_interval_",
    "standard_error_",
    "variance_components_",
    "runs_",
)
# Attributes that a fit with a test set does not have.
WITHOUT_TEST = (
    "resubstitution_score_",
    "oob_score_",
    "point632_score_",
    "point632_plus_score_",
    "no_information_score_",
    "relative_overfitting_rate_",
    "weight_",
    "prediction_instability_",
)

# Metrics that keep the answers of rows, the most telling first.
_KEEP_ANSWERS: dict[str, type[RunMetric]] = {
    "probability": LossRunMetric,
    "value": ValueRunMetric,
    "label": LabelRunMetric,
}
# Tails of the models' answers for a row that its range leaves out.
_TAILS = (0.025, 0.975)


def record_of(call: FitCall, estimator: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of the call that a result keeps."""
    return {"estimator": repr(estimator)} | {name: getattr(call, name) for name in names}


def score_lines(result: EvaluationResult | ResultTable) -> list[str]:
    """Return a line for each score, after its name where the metric does not say it."""
    if isinstance(result, EvaluationResult):
        return [wording.short(result)]
    lines = []
    for path, score in leaves(result):
        assert isinstance(score, EvaluationResult)
        name = Entry(path, score).name
        lines.append(("" if name == score.metric else f"{name}: ") + wording.short(score))
    return lines


def results_of(
    call: FitCall, estimator: Any, kept: RunRecords, errors: Sequence[MethodError]
) -> list[tuple[EvaluationResult, tuple[str, ...]]]:
    """Return the result and its cautions for each metric."""
    record = record_of(call, estimator, _RECORDED)
    return [_make_result(call, kept, error, record) for error in errors]


def attributes_of(found: MethodError, result: EvaluationResult) -> dict[str, Any]:
    """Return the fitted attributes for one metric."""
    error, score = found.error, found.metric.score

    def scored(name: str) -> float:
        return np.nan if error is None else score(float(getattr(error, name)))

    return {
        "result_": result,
        "score_": result.estimate,
        "confidence_interval_": result.confidence_interval,
        "standard_error_": result.standard_error,
        "resubstitution_score_": scored("resubstitution"),
        "oob_score_": scored("oob"),
        "point632_score_": scored("point632"),
        "point632_plus_score_": scored("point632_plus"),
        "no_information_score_": scored("no_information_rate"),
        "relative_overfitting_rate_": np.nan if error is None else error.relative_overfitting_rate,
        "weight_": np.nan if error is None else error.weight,
        "variance_components_": dict(found.components),
    }


def runs_of(kept: RunRecords, found: MethodError) -> dict[str, NDArray[Any]]:
    """Return a column per property of the runs: on all rows, on bootstrap samples, on folds."""
    samples, n_full = kept.samples, len(kept.full)
    n_boot, n_folds = samples.n_bootstrap_runs, len(kept.records) - samples.n_bootstrap_runs
    every = [*kept.full, *kept.records]
    scores = np.full(len(every), np.nan)
    scores[:n_full] = [found.metric.score(e) for e in found.full_errors]
    scores[n_full : n_full + n_boot] = _score_of(found, found.run_errors)
    sample = np.concatenate(
        [
            np.zeros(n_full, dtype=int),
            np.arange(n_boot) // samples.n_seeds,
            np.arange(n_folds) // samples.n_seeds,
        ]
    )
    return {
        "sample": np.repeat(["full", "bootstrap", "fold"], [n_full, n_boot, n_folds]),
        "training_sample": sample,
        "seed": np.concatenate([np.arange(n_full), np.arange(n_boot + n_folds) % samples.n_seeds]),
        "score": scores,
        "fit_time": np.array([one["fit_time"] for one in every], dtype=float),
        "failed": np.array([one["error"] is not None for one in every]),
        "n_convergence_warnings": np.array([one["n_convergence"] for one in every], dtype=int),
    }


def instability_of(
    kept: RunRecords, errors: Sequence[MethodError]
) -> dict[str, NDArray[Any]] | None:
    """Spread of the answers for each row over the models that left it out.

    Parameters
    ----------
    kept : RunRecords
    errors : sequence of MethodError

    Returns
    -------
    dict or None
        As the attribute ``prediction_instability_``; None where no metric keeps the one answer of
        each row.

    Notes
    -----
    Riley and Collins (2023) take the answers of all models for all rows, those that a model was
    trained on included, which are nearer to the answers of the model of all rows.
    """
    found = _kept_answers([error.metric for error in errors])
    y = kept.target.y
    if found is None or (y is not None and y.ndim > 1):
        return None
    kind, key, labels = found
    full: Any = kept.full[0].get(key)
    if full is None:
        return None
    blocks = []
    for rows, data, outside in kept.by_rows(key):
        n_models = outside.sum(axis=0)
        gaps = data != full[rows] if kind == "label" else np.abs(data - full[rows])
        # Run after run, so that the sum of a row does not depend on the rows beside it.
        sums = reduce(np.add, np.multiply(gaps, outside, dtype=float))
        difference = np.where(n_models > 0, sums / np.maximum(n_models, 1), np.nan)
        low, high = np.full((2, len(sums)), np.nan)
        for number in np.unique(n_models[n_models > 0]) if kind != "label" else ():
            of_number = n_models == number
            answers = data.T[of_number][outside.T[of_number]].reshape(-1, number)
            low[of_number], high[of_number] = np.quantile(answers, _TAILS, axis=1)
        blocks.append((n_models, difference, low, high))
    if not blocks:
        return None
    names = ("n_models", "difference", *(() if kind == "label" else ("low", "high")))
    columns = dict(zip(names, map(np.concatenate, zip(*blocks, strict=True)), strict=False))
    return {kind: labels[full] if kind == "label" else full, **columns}


def _kept_answers(metrics: Sequence[RunMetric]) -> tuple[str, str, NDArray[Any]] | None:
    """Return what is kept of the answers of rows, under which key, and the labels."""
    for kind, own in _KEEP_ANSWERS.items():
        for metric in metrics:
            key: Any = getattr(metric, "probability_key", metric.key)
            if isinstance(metric, own) and key is not None:
                return kind, key, np.asarray(getattr(metric, "labels", ()))
    return None


def named_cautions(cautions: Mapping[str, Sequence[str]], single: bool) -> list[Note]:
    """Return each caution once, with the names of the metrics where several were asked for."""
    metrics: dict[str, list[str]] = {}
    for name, sentences in cautions.items():
        for sentence in sentences:
            metrics.setdefault(sentence, []).append(name)
    return [
        Note("caution", sentence if single else f"{', '.join(names)}: {sentence}")
        for sentence, names in metrics.items()
    ]


def _make_result(
    call: FitCall, kept: RunRecords, found: MethodError, record: dict[str, Any]
) -> tuple[EvaluationResult, tuple[str, ...]]:
    metric, level = found.metric, call.confidence_level
    summary = None
    interval = ConfidenceInterval(np.nan, np.nan, level, call.interval)
    notes, cautions = list(found.notes), tuple[str, ...]()
    if found.error is not None:
        summary = MethodErrorSummary(
            call.strategy, metric.sign, found.optimism, found.error.summary()
        )
        made = method_interval(summary, call.interval, level)
        interval, cautions = made.interval, _cautions(kept, summary, made, metric)
        notes = [
            *cautions,
            *(text for text in texts_of(made.notes) if text not in cautions),
            *notes,
        ]
    if found.reason:
        notes.insert(0, f"The score is undefined: {found.reason}.")
    if call.strategy == "oob":
        notes.append(_SMALLER_SAMPLES)
    if metric.is_weighted:
        notes.append("Rows are weighted by sample_weight, in the estimate and in the interval.")
    notes += kept.samples.about_seeds
    low, high = metric.bounds
    words = ROWS if kept.target.unit is None else GROUPS
    evidence = Evidence(
        estimate=np.nan if summary is None else metric.score(summary.point),
        replicates=_score_of(found, found.run_errors),
        drawn=Drawn(words.kind, (kept.n_units,)),
        facts=Facts((0.0 - high, 0.0 - low) if metric.sign > 0 else (low, high)),
        standard_error=np.nan if summary is None else summary.standard_error_for(call.interval),
    )
    fixed = ("the number of training rows of each class",) if call.stratify else ()
    result = evaluation_result(
        Provenance(tuple(notes), fixed, kept.samples.seed, record),
        metric=metric.name,
        estimand="method",
        basis=ScoresBasis(evidence) if summary is None else MethodBasis(evidence, summary),
        confidence_interval=interval,
        automatic=call.interval == "auto",
        n_samples=kept.n_rows,
        unit=words.unit,
        greater_is_better=metric.sign > 0,
        runs=runs_of(kept, found),
    )
    return result, cautions


def _score_of(found: MethodError, errors: NDArray[Any]) -> NDArray[np.float64]:
    return 0.0 - found.metric.sign * errors


def _cautions(
    kept: RunRecords, summary: MethodErrorSummary, made: IntervalWithNotes, metric: RunMetric
) -> tuple[str, ...]:
    """Return why this interval may be unreliable."""
    cautions = [note.text for note in made.notes if note.is_warning]
    known: Any = getattr(metric, "statistic", None)
    truth = kept.target.y
    if hasattr(known, "rows_that_vary") and truth is not None and truth.ndim == 1:
        # What the score is divided by, its variance, is known from the truth alone.
        number, few = known.rows_that_vary((truth - np.mean(truth)) ** 2)
        if number < few:
            cautions.append(
                f"About {min(round(number), math.ceil(few) - 1)} of the {len(truth)} rows decide "
                f"the variance of the truth (fewer than {few:.0f}): expect less coverage than "
                "stated."
            )
    rarest = kept.target.smallest_class
    if rarest is not None and rarest <= _SMALL_CLASS and not np.isnan(made.interval.low):
        unit = "rows" if kept.target.unit is None else "groups"
        cautions.append(
            f"The smallest class has {rarest} {unit} ({_SMALL_CLASS} or fewer): expect less "
            "coverage than stated."
        )
    if kept.target.unit is not None and kept.n_units < FEW_GROUPS:
        cautions.append(
            f"Only {kept.n_units} groups were resampled (fewer than {FEW_GROUPS}): expect less "
            "coverage than stated."
        )
    if summary.strategy == "cv-bootstrap" and summary.error.cv is None:
        cautions.append(
            "In every repeat of cross-validation a fit failed or the metric was undefined, as "
            "precision is without positive decisions: the score is undefined."
        )
    return tuple(cautions)
