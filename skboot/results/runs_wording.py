"""What is said of a result that stands on several runs of one method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import rendering

if TYPE_CHECKING:
    from ..inference.variance import Components, TIntervalParts
    from .comparison import ComparisonResult
    from .result import EvaluationResult

_SOURCES = {
    "training": "training samples",
    "seed": "seeds",
    "test": "test units",
    "interaction": "interaction of runs and test units",
}
_METHODS = {
    "components": "t interval from variance components",
    "t": "t interval over the runs alone, test rows held fixed",
    "percentile": "percentiles of all test resamples of all runs",
}
# Narrowing by less than this is not worth advice.
_WORTH = 0.01


def estimand(result: EvaluationResult) -> str:
    """Say what the interval is for."""
    if result.estimand == "method":
        return f"expected performance of the method {_where(result)}"
    if result.estimand == "next_run":
        new = "new training set, new seed"
        if _varied(result) == "seed":
            new = "new seed on this training list"
        if is_untrained(result):
            new = "new seed, all else the same"
        return f"score of the next run: {new}, as many new test rows"
    return f"spread of single runs, {_kind_of_run(result)}"


def claim_of(result: EvaluationResult, name: str, score: str, rows: str) -> str:
    """Begin the sentence for a paper, up to the interval."""
    fixed = ", with the test rows held fixed," if "test rows" in result.held_fixed else ""
    if result.estimand == "method":
        expected = f"{name} to be expected of the method {_where(result)}{fixed}"
        return f"{expected} is estimated at {score} from {rows}"
    if result.estimand == "next_run":
        listed = _varied(result) == "seed" and not is_untrained(result)
        where = " on this training list" if listed else ""
        return f"{name} of the next run{where}, on as many new test rows, is predicted at {score}"
    return f"{name} of single runs, {_kind_of_run(result)}, is {score} on {rows}"


def is_untrained(result: EvaluationResult | ComparisonResult) -> bool:
    """Whether runs that differ in their seed need not have been trained: their values are given."""
    return result.settings.get("varied") == "seed" and not result.settings.get("y_true", True)


def what_it_is_not(result: EvaluationResult) -> str:
    """Add to a claim what the interval must not be taken for."""
    return "; this is not a confidence interval" if result.estimand == "pooled" else ""


def interval_parts(result: EvaluationResult, units: str) -> list[str]:
    """Say how the interval was made, and from what."""
    return [method_name(result), _counted_runs(result), units]


def resampled(result: EvaluationResult, units: str) -> str:
    """Say how often what was resampled."""
    assert result.over_runs is not None
    n_runs, n_resamples = result.over_runs.replicates.shape
    return f"{units}, {n_resamples} times in each of {n_runs} runs"


def method_name(result: EvaluationResult) -> str:
    """Name the interval."""
    method = result.confidence_interval.method
    return _METHODS.get(method, f"{method} interval")


def facts(result: EvaluationResult, digits: int) -> list[tuple[str, str]]:
    """Return runs, variance components and advice as label and text."""
    evidence = result.over_runs
    assert evidence is not None
    lines = [("runs", f"{_counted_runs(result)}: {_range_of(evidence.scores, digits)}")]
    if len(evidence.full_scores):
        lines.append(("full-list runs", _range_of(evidence.full_scores, digits)))
    score = evidence.components.of_score(evidence.n_test_units)
    if not all(math.isnan(part) for part in score):
        lines.append(("one run varies", f"by source, in standard deviations: {_deviations(score)}"))
    advice = _advice(result)
    return [*lines, ("advice", advice)] if advice else lines


# ------------------------------------------------------------------ steps


def _varied(result: EvaluationResult) -> str:
    assert result.over_runs is not None
    return result.over_runs.varied


def _where(result: EvaluationResult) -> str:
    if is_untrained(result):
        return "over runs that differ in their seed as these do"
    seeds = _varied(result) == "seed"
    return "when trained on this training list" if seeds else "at this training-set size"


def _kind_of_run(result: EvaluationResult) -> str:
    if is_untrained(result):
        return "each with its own seed"
    return {
        "seed": "each with its own seed on this training list",
        "independent": "each trained on its own training set",
    }.get(_varied(result), "each trained on a bootstrap sample")


def _counted_runs(result: EvaluationResult) -> str:
    assert result.over_runs is not None
    count = f"{len(result.over_runs.scores)} runs"
    n_full = len(result.over_runs.full_scores)
    return f"{count} and {n_full} on the full training list" if n_full else count


def _range_of(scores: NDArray[np.float64], digits: int) -> str:
    values = (scores.min(), float(np.median(scores)), scores.max())
    low, middle, high = (rendering.number(float(value), digits) for value in values)
    return f"min {low}, median {middle}, max {high}"


def _deviations(score: Components) -> str:
    known = [
        f"{_SOURCES[name]} {math.sqrt(part):.2g}"
        for name, part in score._asdict().items()
        if not math.isnan(part)
    ]
    return ", ".join(known)


def _advice(result: EvaluationResult) -> str:
    """Say what dominates the interval, and what would narrow it by how much."""
    evidence = result.over_runs
    assert evidence is not None
    spread = evidence.next_run if result.estimand == "next_run" else evidence.method
    if result.estimand not in ("method", "next_run") or spread is None or evidence.method is None:
        return ""
    variance = spread.standard_error**2
    if variance == 0 or result.confidence_interval.method == "t":
        return ""
    shares = {name: part / variance for name, part in spread.parts._asdict().items()}
    largest = max(shares, key=lambda name: shares[name])
    told = f"{_SOURCES[largest]} make up most of the variance: {_shares(shares)}"
    if largest == "interaction":
        told = told.replace("make up", "makes up", 1)
    gains = {
        lever: 1 - math.sqrt(max(1 - saved / variance, 0.0))
        for lever, saved in _savings(evidence.varied, spread, evidence.method.parts).items()
    }
    helpful = sorted((lever for lever in gains if gains[lever] >= _WORTH), key=lambda k: -gains[k])
    idle = [lever for lever in gains if gains[lever] < _WORTH]
    sentences = [told]
    if helpful:
        first = f"{helpful[0]} would narrow the interval by about {gains[helpful[0]]:.0%}"
        others = [f"{lever} by about {gains[lever]:.0%}" for lever in helpful[1:]]
        sentences.append(f"twice as many {', '.join([first, *others])}")
    if idle:
        sentences.append(f"more {_joined(idle)} would hardly narrow it")
    if evidence.varied in ("training", "both") and shares["training"] >= 0.1:
        sentences.append(
            "the training part shrinks only with more training lists (varied='independent'), "
            "not with more bootstrap samples of this one"
        )
    return "; ".join(sentences)


def _savings(varied: str, spread: TIntervalParts, method: Components) -> dict[str, float]:
    """Variance saved by twice as many of each; of the next run, in the centre only."""
    rows = (spread.parts.test + spread.parts.interaction) / 2
    runs = (method.seed + method.interaction) / 2
    if varied == "independent":
        return {"test units": rows, "training sets": runs + method.training / 2}
    return {"test units": rows, "seeds": runs}


def _shares(shares: dict[str, float]) -> str:
    return ", ".join(f"{_SOURCES[name]} {share:.0%}" for name, share in shares.items() if share > 0)


def _joined(names: Sequence[str]) -> str:
    return " or ".join(names)
