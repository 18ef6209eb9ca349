"""Intervals for the performance of a method, from what a result stores of its runs.

`MethodErrorSummary` is what a result stores: an error by a strategy, with the errors and standard
errors of `skboot.method_error.error632` and `skboot.method_error.cv_bootstrap`, without the runs
themselves. `method_interval` makes any of the intervals for the estimand "method" from it, on the
metric's own scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._base.warnings import Note
from ..inference.automatic import IntervalWithNotes
from ..inference.confidence_interval import ConfidenceInterval
from .cv_bootstrap import CV_INTERVALS, CVBootstrap, with_texts
from .error632 import POINTS, ErrorSummary

STRATEGIES = ("cv-bootstrap", "oob", ".632", ".632+", "optimism")
METHOD_INTERVALS = (*CV_INTERVALS, "adjusted", "hull", "normal", "t", "percentile")


@dataclass(frozen=True, eq=False)
class MethodErrorSummary:
    """The error of a method by a strategy, with all that intervals for its score are made of.

    Attributes
    ----------
    strategy : {"cv-bootstrap", "oob", ".632", ".632+", "optimism"}
        Where the point estimate comes from.
    sign : float
        The score is ``-sign`` times the error.
    optimism : float
        Error by the optimism correction, NaN if unknown.
    error : skboot.method_error.error632.ErrorSummary
        What intervals are made of.
    """

    strategy: str
    sign: float
    optimism: float
    error: ErrorSummary

    def to_parts(self) -> dict[str, Any]:
        """Return its fields, to be written to a file."""
        error = {f.name: getattr(self.error, f.name) for f in fields(self.error)}
        if self.error.cv is not None:
            error["cv"] = {f.name: getattr(self.error.cv, f.name) for f in fields(self.error.cv)}
        return {
            "strategy": self.strategy,
            "sign": self.sign,
            "optimism": self.optimism,
            "error": error,
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> MethodErrorSummary:
        """Return the equal of the object whose ``to_parts`` are given."""
        error = dict(parts["error"])
        if error["cv"] is not None:
            error["cv"] = CVBootstrap(**error["cv"])
        return cls(**{**parts, "error": ErrorSummary(**error)})

    @property
    def point(self) -> float:
        """Error by the strategy."""
        if self.strategy == "cv-bootstrap":
            return np.nan if self.error.cv is None else float(self.error.cv.centre)
        if self.strategy == "optimism":
            return self.optimism
        return float(getattr(self.error, POINTS[self.strategy]))

    @property
    def automatic(self) -> str:
        """Interval that "auto" stands for."""
        return "cv-bootstrap" if self.strategy == "cv-bootstrap" else "adjusted"

    @property
    def point_standard_error(self) -> float:
        """Standard error of the point."""
        return self.standard_error_for("auto")

    def standard_error_for(self, interval: str) -> float:
        """Standard error of the point as an interval has it."""
        if self.strategy == "cv-bootstrap":
            cv = self.error.cv
            return np.nan if cv is None else cv.standard_error_of(interval)
        return np.nan if self.strategy == "optimism" else self.error.standard_error


def method_interval(
    summary: MethodErrorSummary, method: str, confidence_level: float
) -> IntervalWithNotes:
    """Interval for the score of a method at its training-set size.

    Parameters
    ----------
    summary : MethodErrorSummary
    method : {"auto", "cv-bootstrap", "cv-bootstrap-conservative", "adjusted", "hull", "normal", \
"t", "percentile"}
    confidence_level : float
        In (0, 1).

    Returns
    -------
    IntervalWithNotes
        On the scale of the score, with its notes.

    Raises
    ------
    ValueError
        If the interval is unknown, or the runs do not support it.
    """
    method = summary.automatic if method == "auto" else method
    if method not in METHOD_INTERVALS:
        raise ValueError(
            f"The interval of a method must be one of {sorted(METHOD_INTERVALS)} or 'auto'. "
            f"Got {method!r}."
        )
    if method in CV_INTERVALS and summary.strategy != "cv-bootstrap":
        raise ValueError(
            f"The interval {method!r} needs the cross-validation fits of "
            "strategy='cv-bootstrap'. Use 'adjusted' or 'hull'."
        )
    if np.isnan(summary.point):
        return IntervalWithNotes(ConfidenceInterval(np.nan, np.nan, confidence_level, method))
    if summary.strategy == "optimism":
        why = "No standard error of the optimism-corrected score is known; use another strategy."
        return with_texts(ConfidenceInterval(np.nan, np.nan, confidence_level, method), (why,))
    error = summary.error
    point = ".632+"
    if method == "adjusted":
        error = replace(error, point632_plus=summary.point)
    limits, notes = error.interval_with_notes(method, confidence_level, point=point)
    if method != "hull":
        notes = _without_points(summary, notes, error.point_notes)
    limits = limits.mirrored() if summary.sign > 0 else limits.mirrored().mirrored()
    return IntervalWithNotes(limits, notes)


def _without_points(
    summary: MethodErrorSummary, notes: tuple[Note, ...], point_notes: tuple[str, ...]
) -> tuple[Note, ...]:
    """Return the notes without those on the .632 points, where another point is the estimate."""
    if summary.strategy in (".632", ".632+"):
        return notes
    return tuple(note for note in notes if note.text not in point_notes)
