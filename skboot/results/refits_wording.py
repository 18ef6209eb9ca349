"""What is said of a result that stands on trainings on samples of one data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import rendering

if TYPE_CHECKING:
    from .result import EvaluationResult

_METHODS = {
    "cv-bootstrap": "cv-bootstrap interval: cross-validation with the spread of bootstrap samples",
    "cv-bootstrap-conservative": (
        "cv-bootstrap interval, conservative: with the full spread of bootstrap samples"
    ),
    "adjusted": "t interval with the adjusted standard error of the out-of-bag score",
    "hull": "hull of the out-of-bag and .632+ intervals",
    "t": "t interval over out-of-bag scores of single runs; covers 98 to 100 % at 95 %",
    "percentile": "percentiles of out-of-bag scores of single runs; cover 87 to 100 % at 95 %",
}
_CENTRES = {
    "cv-bootstrap": "repeated cross-validation",
    "oob": "rows left out of bootstrap samples",
    ".632": "the .632 rule",
    ".632+": "the .632+ rule",
    "optimism": "resubstitution corrected for optimism",
}


def centre(strategy: str) -> str:
    """Where the estimate of a strategy comes from."""
    return _CENTRES[strategy]


def claim_of(result: EvaluationResult, name: str, score: str) -> str:
    """Begin the sentence for a paper, up to the interval."""
    assert result.refits is not None
    fixed = f", with {' and '.join(result.held_fixed)} held fixed" if result.held_fixed else ""
    return (
        f"{name} to be expected of the method when trained on {result.n_samples} rows from the "
        f"same source{fixed} is estimated at {score} by {_CENTRES[result.refits.strategy]}"
    )


def interval_parts(result: EvaluationResult, units: str) -> list[str]:
    """How the interval was made, and what was resampled."""
    return [f"{result.confidence_interval.method} interval", f"{units} resampled"]


def facts(result: EvaluationResult, score: str, interval: str) -> list[tuple[str, str]]:
    """All a reader should know, as label and text."""
    from .wording import notes_beside_reason

    refits = result.refits
    assert refits is not None
    limits = result.confidence_interval
    if not math.isnan(limits.low + limits.high):
        known = _METHODS.get(limits.method, limits.method)
        interval = f"{interval.partition(' (')[0]} ({known})"
    n_boot = int((result.runs["sample"] == "bootstrap").sum()) if result.runs else 0
    n_fold = int((result.runs["sample"] == "fold").sum()) if result.runs else 0
    runs = f"{n_boot} on bootstrap samples" + (f", {n_fold} of cross-validation" if n_fold else "")
    lines = [
        ("estimand", "expected performance of the method at this training-set size"),
        ("estimate", f"{score}, by {_CENTRES[refits.strategy]}"),
        (f"{rendering.percent(limits.confidence_level)} CI", interval),
        ("standard error", _number(result, result.standard_error)),
        ("resubstitution", _score(result, refits.resubstitution)),
        ("out-of-bag", _score(result, refits.oob)),
        (
            ".632 and .632+",
            ", ".join(_score(result, e) for e in (refits.point632, refits.point632_plus)),
        ),
        ("no information", _score(result, refits.no_information_rate)),
        ("runs", f"{runs}; the distribution holds out-of-bag scores of single runs"),
        ("resampled", f"{result.n_units} {result.unit}s"),
    ]
    if result.runs is None:
        # A search, from its out-of-fold predictions: nothing was trained.
        untold = {"resubstitution", "out-of-bag", ".632 and .632+", "no information", "runs"}
        lines = [line for line in lines if line[0] not in untold]
    if result.n_undefined:
        count = f"{result.n_undefined} of {result.n_resamples} runs"
        lines.append(("left out", f"{count}: they failed, or have no score"))
    if result.held_fixed:
        lines.append(("held fixed", " and ".join(result.held_fixed)))
    return lines + notes_beside_reason(result)


def _score(result: EvaluationResult, error: float) -> str:
    assert result.refits is not None
    return _number(result, 0.0 - result.refits.sign * error)


def _number(result: EvaluationResult, value: float) -> str:
    from .wording import digits_of

    if math.isnan(value):
        return "undefined"
    return rendering.number(value, digits_of(result) + 1)
