"""Intervals for the performance of a method, from what a result stores of its runs.

`Refits` is that store: the errors and standard errors of `skboot.method_error.error632` and
`skboot.method_error.cv_bootstrap`, without the runs themselves. `method_interval` makes any of the
intervals for the estimand "method" from it, on the metric's own scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._warnings import Note
from ..inference.automatic import IntervalWithNotes
from ..inference.confidence_interval import ConfidenceInterval
from ._columns import Array
from .cv_bootstrap import CV_INTERVALS, Bounds, CVBootstrap, with_texts
from .error632 import POINTS, PredictionError
from .out_of_bag import OutOfBagError

STRATEGIES = ("cv-bootstrap", "oob", ".632", ".632+", "optimism")
METHOD_INTERVALS = (*CV_INTERVALS, "adjusted", "hull", "t", "percentile")


@dataclass(frozen=True, eq=False)
class Refits:
    """What the runs of a method say of its error.

    Attributes
    ----------
    strategy : {"cv-bootstrap", "oob", ".632", ".632+", "optimism"}
        Where the point estimate comes from.
    sign : float
        The score is ``-sign`` times the error.
    resubstitution, oob, no_information_rate, relative_overfitting_rate, weight : float
        As in `skboot.inference.PredictionError`, errors.
    point632, point632_plus, optimism : float
        Errors.
    standard_error, standard_error_unadjusted : float
        Of the out-of-bag error.
    bounds : tuple of float
        Of the error.
    n_effective : int
        Degrees of freedom plus one.
    replicates : ndarray of shape (n_resamples,)
        Out-of-bag error per training sample.
    notes, cautions : tuple of str
        Of the .632 family; those of the notes that make an interval unreliable.
    cv : dict or None
        Fields of `skboot.method_error.cv_bootstrap.CVBootstrap`.
    """

    strategy: str
    sign: float
    resubstitution: float
    oob: float
    no_information_rate: float
    relative_overfitting_rate: float
    weight: float
    point632: float
    point632_plus: float
    optimism: float
    standard_error: float
    standard_error_unadjusted: float
    bounds: Bounds
    n_effective: int
    replicates: Array
    notes: tuple[str, ...]
    cv: dict[str, Any] | None
    cautions: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: PredictionError, *, strategy: str, sign: float, optimism: float) -> Refits:
        """What to store of an error.

        Parameters
        ----------
        error : PredictionError
        strategy : str
        sign : float
        optimism : float
            Error by the optimism correction, NaN if unknown.

        Returns
        -------
        Refits
        """
        shared = {f.name for f in fields(cls)} & {f.name for f in fields(error)} - {"cv"}
        cv = error.cv
        return cls(
            strategy=strategy,
            sign=sign,
            optimism=optimism,
            replicates=error.out_of_bag.replicates,
            cv=None if cv is None else {f.name: getattr(cv, f.name) for f in fields(cv)},
            **{name: getattr(error, name) for name in shared},
        )

    def to_parts(self) -> dict[str, Any]:
        """Its fields, to be written to a file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Refits:
        """Make one from its fields, as read from a file."""
        tuples = ("bounds", "notes", "cautions")
        own = {**parts, **{name: tuple(parts[name]) for name in tuples}}
        return cls(**own)

    @property
    def point(self) -> float:
        """Error by the strategy."""
        if self.strategy == "cv-bootstrap":
            return np.nan if self.cv is None else float(self.cv["centre"])
        if self.strategy == "optimism":
            return self.optimism
        return float(getattr(self, POINTS[self.strategy]))

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
            cv = _cv_of(self)
            return np.nan if cv is None else cv.standard_error_of(interval)
        return np.nan if self.strategy == "optimism" else self.standard_error


def method_interval(refits: Refits, method: str, confidence_level: float) -> IntervalWithNotes:
    """Interval for the score of a method at its training-set size.

    Parameters
    ----------
    refits : Refits
    method : {"auto", "cv-bootstrap", "cv-bootstrap-conservative", "adjusted", "hull", "t", \
"percentile"}
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
    method = refits.automatic if method == "auto" else method
    if method not in METHOD_INTERVALS:
        raise ValueError(
            f"The interval of a method must be one of {sorted(METHOD_INTERVALS)} or 'auto'. "
            f"Got {method!r}."
        )
    if method in CV_INTERVALS and refits.strategy != "cv-bootstrap":
        raise ValueError(
            f"The interval {method!r} needs the cross-validation fits of "
            "strategy='cv-bootstrap'. Use 'adjusted' or 'hull'."
        )
    if np.isnan(refits.point):
        return IntervalWithNotes(ConfidenceInterval(np.nan, np.nan, confidence_level, method))
    if refits.strategy == "optimism":
        why = "No standard error of the optimism-corrected score is known; use another strategy."
        return with_texts(ConfidenceInterval(np.nan, np.nan, confidence_level, method), (why,))
    error = replace(_error_of(refits), cv=_cv_of(refits))
    point = ".632+"
    if method == "adjusted":
        error = replace(error, point632_plus=refits.point)
    limits, notes = error.interval_with_notes(method, confidence_level, point=point)
    if method != "hull":
        notes = _without_points(refits, notes, error.point_notes)
    # 0.0 - x: a limit of 0 is not shown as -0.
    low, high = sorted(0.0 - refits.sign * np.array(limits))
    return IntervalWithNotes(ConfidenceInterval(low, high, confidence_level, method), notes)


def _without_points(
    refits: Refits, notes: tuple[Note, ...], point_notes: tuple[str, ...]
) -> tuple[Note, ...]:
    """Return the notes without those on the .632 points, where another point is the estimate."""
    if refits.strategy in (".632", ".632+"):
        return notes
    return tuple(note for note in notes if note.text not in point_notes)


def _error_of(refits: Refits) -> PredictionError:
    out_of_bag = OutOfBagError(
        error=refits.oob,
        by_row=np.empty(0),
        replicates=refits.replicates,
        influence=np.empty(0),
        standard_error=refits.standard_error,
        standard_error_unadjusted=refits.standard_error_unadjusted,
        standard_error_floored=False,
        form="centred",
        n_units=refits.n_effective,
        n_resamples=len(refits.replicates),
        notes=(),
    )
    own = {f.name for f in fields(PredictionError)} & {f.name for f in fields(refits)}
    parts = {name: getattr(refits, name) for name in own - {"cv"}}
    return PredictionError(**parts, clipping="full", out_of_bag=out_of_bag, cv=None)


def _cv_of(refits: Refits) -> CVBootstrap | None:
    if refits.cv is None:
        return None
    cv = refits.cv
    tuples = ("bounds", "notes", "cautions")
    return CVBootstrap(**{**cv, **{name: tuple(cv.get(name, ())) for name in tuples}})
