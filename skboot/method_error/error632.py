"""Formulas of the .632 and .632+ error of a method, and their intervals.

`error632` takes an `OutOfBagError` of any metric, the resubstitution error and the no-information
rate; `skboot.method_error.prediction_error` makes these from the losses of models trained anywhere.

Errors are in loss direction everywhere: smaller is better. Minus a score and one minus a score give
the same answers. Resubstitution is the error of the model of *all* rows on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from .._base.checks import check_choice, check_confidence_level, fail
from .._base.doors import door
from .._base.errors import texts_of
from .._base.typing import ErrorInterval, ErrorPoint
from .._base.values import same_values
from ..inference.automatic import IntervalWithNotes
from ..inference.evidence import ConfidenceInterval, notes_of_cut
from ..inference.proportions import score_limits
from .cv_bootstrap import CV_INTERVALS, Bounds, CVBootstrap, limits_on_scale, with_texts
from .out_of_bag import NEAR_PERFECT, Array, OutOfBagError

POINTS = {"oob": "oob", ".632": "point632", ".632+": "point632_plus"}
"""Fields of `PredictionError` and `MethodErrorSummary` that hold the point of each strategy."""

_ERROR_INTERVALS = ("adjusted", "hull", *CV_INTERVALS, "normal", "t", "percentile")

_REPLICATE_NOTES = {
    "normal": (
        "Mean -/+ z standard deviations of the out-of-bag scores of single resamples, as in "
        "tutorials: with many resamples the same as t, which covers the method's error too often."
    ),
    "t": (
        "Mean -/+ t standard deviations of the out-of-bag scores of single resamples: measured to "
        "cover the method's error in 98.2 to 100% at 95% (trees and logistic regression, 40 to "
        "1000 rows); too wide."
    ),
    "percentile": (
        "Percentiles of the out-of-bag scores of single resamples: measured to cover the method's "
        "error in 97.5 to 100% at 95% (trees and logistic regression, 40 to 1000 rows), 87 to "
        "100% on other designs."
    ),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorSummary:
    """What intervals for the error of a method are made of, without the rows behind it.

    Attributes
    ----------
    resubstitution, oob, no_information_rate, relative_overfitting_rate, weight : float
        As in `PredictionError`.
    point632, point632_plus, standard_error, standard_error_unadjusted : float
        As in `PredictionError`.
    bounds : tuple of float
        Smallest and largest possible error.
    n_effective : int
        Degrees of freedom plus one.
    replicates : ndarray of shape (n_resamples,)
        Out-of-bag error of each resample.
    cv : CVBootstrap or None
        Centre and standard errors of the "cv-bootstrap" intervals.
    notes, cautions : tuple of str
        Sentences on what limits the use of these numbers; those that make an interval unreliable.
    """

    resubstitution: float
    oob: float
    no_information_rate: float
    relative_overfitting_rate: float
    weight: float
    point632: float
    point632_plus: float
    standard_error: float
    standard_error_unadjusted: float
    bounds: Bounds
    n_effective: int
    replicates: Array
    cv: CVBootstrap | None
    notes: tuple[str, ...]
    _cautions: tuple[str, ...] = ()

    @property
    def _point_notes(self) -> tuple[str, ...]:
        """Those of the notes that are about the .632 points alone."""
        errors = (self.resubstitution, self.oob, self.no_information_rate, self.bounds)
        return tuple(text for texts in _point_notes(*errors) for text in texts)

    @door("PredictionError.interval")
    def interval(
        self,
        method: ErrorInterval = "adjusted",
        confidence_level: float = 0.95,
        *,
        point: ErrorPoint = ".632+",
    ) -> ConfidenceInterval:
        """Interval for the expected error of the method at this sample size.

        Parameters
        ----------
        method : {"adjusted", "hull", "cv-bootstrap", "cv-bootstrap-conservative", "normal", \
"t", "percentile"}
            "adjusted": `point` -/+ t standard errors, on the scale of the bounds, never inside
            Wilson's interval where the point is within half an error of a bound. "hull": from the
            lower limit of the smaller to the upper limit of the larger of the out-of-bag and .632+
            errors. "cv-bootstrap" and its wider form "cv-bootstrap-conservative": need
            cross-validation losses. "normal", "t" and "percentile": of the out-of-bag scores of
            single resamples.
        confidence_level : float
            In (0, 1).
        point : {".632+", ".632", "oob"}
            The point of "adjusted"; not used by the others.

        Returns
        -------
        ConfidenceInterval
            The pair (low, high), with `confidence_level` and `method`.

        See Also
        --------
        interval_with_notes : The same with its cautions.
        """
        return self.interval_with_notes(method, confidence_level, point=point).interval

    def interval_with_notes(
        self, method: str = "adjusted", confidence_level: float = 0.95, *, point: str = ".632+"
    ) -> IntervalWithNotes:
        """Interval for the expected error of the method, with its notes.

        Parameters
        ----------
        method : str
            As in `interval`.
        confidence_level : float
            In (0, 1).
        point : {".632+", ".632", "oob"}
            As in `interval`.

        Returns
        -------
        IntervalWithNotes
            With `interval`, and `notes` whose `text` is a sentence.
        """
        check_choice("method", method, _ERROR_INTERVALS)
        check_choice("point", point, list(POINTS))
        confidence_level = check_confidence_level(confidence_level)
        if method in CV_INTERVALS:
            if self.cv is None:
                advice = "Give cv_losses to prediction_error, or use 'adjusted' or 'hull'."
                raise fail("method", "be one that the data allow", repr(method), advice)
            return self.cv.interval_with_notes(confidence_level, method)
        notes = self.notes
        if method in _REPLICATE_NOTES:
            scores = self.replicates[np.isfinite(self.replicates)]
            tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
            if method == "percentile":
                low, high = np.quantile(scores, tails, method="weibull")
            else:
                df = np.inf if method == "normal" else len(scores) - 1
                half = stdtrit(df, tails[1]) * scores.std(ddof=1)
                low, high = scores.mean() - half, scores.mean() + half
            interval = ConfidenceInterval(low, high, confidence_level, method)._within(*self.bounds)
            notes = (*notes, _REPLICATE_NOTES[method], *texts_of(notes_of_cut(interval)))
            return with_texts(interval, notes, self._cautions)
        # From the lower limit of the smaller point to the upper limit of the larger one.
        value = getattr(self, POINTS[point])
        points = (value, value) if method == "adjusted" else (self.oob, self.point632_plus)
        quantile = float(stdtrit(self.n_effective - 1, (1 + confidence_level) / 2))
        scale = (self.standard_error, quantile, self.bounds, self.n_effective)
        low = limits_on_scale(min(points), *scale)[0]
        high = limits_on_scale(max(points), *scale)[1]
        lo, hi = self.bounds
        if np.isfinite(lo) and np.isfinite(hi):
            edge = 0.5 / self.n_effective
            for value in set(points):
                share = (value - lo) / (hi - lo)
                # With no spread, or under half an error, the standard error does not depend on the
                # error rate.
                if self.standard_error == 0 or share <= edge or share >= 1 - edge:
                    guard = score_limits(min(max(share, 0), 1), self.n_effective, quantile)
                    low = min(low, lo + (hi - lo) * guard[0])
                    high = max(high, lo + (hi - lo) * guard[1])
        elif low == high:
            notes = (*notes, "The losses do not vary: the interval has no width.")
        interval = ConfidenceInterval(low, high, confidence_level, method)
        return with_texts(interval, notes, self._cautions)


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionError(ErrorSummary):
    """Error of a method at this sample size; made by `prediction_error` or `error632`.

    Attributes
    ----------
    resubstitution : float
        Error of the model of all rows on all rows.
    oob : float
        Out-of-bag error Err(1): averaged per row over the models not trained on it, then over rows.
    no_information_rate : float
    relative_overfitting_rate : float
        R of .632+, as clipped.
    weight : float
        w = .632 / (1 - .368 R).
    point632, point632_plus : float
    standard_error : float
        Of the out-of-bag error, Monte Carlo noise removed.
    standard_error_unadjusted : float
        The same with the Monte Carlo noise of finitely many resamples left in.
    bounds : tuple of float
        Smallest and largest possible error; infinite where there is none.
    clipping : {"full", "literal"}
    n_effective : int
        Degrees of freedom plus one: rows, groups, or the smaller class of a rank metric.
    out_of_bag : OutOfBagError
        Per-row errors, out-of-bag scores per resample, influence values.
    replicates : ndarray of shape (n_resamples,)
        Out-of-bag error of each resample.
    cv : CVBootstrap or None
        Centre and standard errors of the "cv-bootstrap" intervals.
    notes : tuple of str
        Sentences on what limits the use of these numbers.
    cautions : tuple of str
        Those of the notes that make an interval unreliable.

    Examples
    --------
    A model that is right on every row it was trained on, and wrong on a fifth of the others:

    >>> import numpy as np
    >>> from skboot.inference import prediction_error
    >>> rng = np.random.default_rng(0)
    >>> weights = rng.multinomial(50, np.full(50, 1 / 50), size=200)
    >>> losses = np.where(weights > 0, 0.0, np.arange(50) < 10)
    >>> error = prediction_error(
    ...     losses, weights, resubstitution_losses=np.zeros(50), no_information_rate=0.5)
    >>> float(round(error.oob, 3)), float(round(error.point632, 3))
    (0.2, 0.126)
    """

    clipping: str
    out_of_bag: OutOfBagError

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)

    def _summary(self) -> ErrorSummary:
        """Return the part that intervals are made of, without rows and influence values."""
        return ErrorSummary(**{f.name: getattr(self, f.name) for f in fields(ErrorSummary)})


def error632(
    out_of_bag: OutOfBagError,
    *,
    resubstitution: float,
    no_information_rate: float,
    bounds: Bounds = (0, 1),
    clipping: str = "full",
    n_effective: int | None = None,
    cv: CVBootstrap | None = None,
) -> PredictionError:
    """Put an out-of-bag error, a resubstitution error and a no-information rate together.

    Parameters
    ----------
    out_of_bag : OutOfBagError
    resubstitution, no_information_rate : float
        In loss direction, on the scale of the out-of-bag error.
    bounds : tuple of float
    clipping : {"full", "literal"}
    n_effective : int, optional
        Degrees of freedom plus one; the number of units by default. For AUC, the smaller class.
    cv : CVBootstrap, optional

    Returns
    -------
    PredictionError
    """
    gamma = no_information_rate
    rate, weight, plus = point632_plus(resubstitution, out_of_bag.error, gamma, clipping)
    n_effective = out_of_bag.n_units if n_effective is None else n_effective
    optimistic, undefined_rate = _point_notes(resubstitution, out_of_bag.error, gamma, bounds)
    return PredictionError(
        resubstitution=resubstitution,
        oob=out_of_bag.error,
        no_information_rate=gamma,
        relative_overfitting_rate=rate,
        weight=weight,
        point632=point632(resubstitution, out_of_bag.error),
        point632_plus=plus,
        standard_error=out_of_bag.standard_error,
        standard_error_unadjusted=out_of_bag.standard_error_unadjusted,
        bounds=(float(bounds[0]), float(bounds[1])),
        clipping=clipping,
        n_effective=n_effective,
        out_of_bag=out_of_bag,
        replicates=out_of_bag.replicates,
        cv=cv,
        notes=(*out_of_bag.notes, *optimistic, *undefined_rate),
        _cautions=out_of_bag.cautions + optimistic,
    )


def point632(resubstitution: float, oob: float) -> float:
    """.368 resubstitution + .632 out-of-bag (Efron 1983): a resample holds .632 of the rows."""
    return 0.368 * resubstitution + 0.632 * oob


def point632_plus(
    resubstitution: float, oob: float, no_information_rate: float, clipping: str = "full"
) -> tuple[float, float, float]:
    """Relative overfitting rate, weight and .632+ error.

    Parameters
    ----------
    resubstitution, oob, no_information_rate : float
        In loss direction.
    clipping : {"full", "literal"}
        "full": the out-of-bag error is clipped to the larger of the other two throughout, so R is
        in [0, 1] and the result never above that. "literal": R and the .632 term from the unclipped
        error, as in R's ipred.

    Returns
    -------
    relative_overfitting_rate, weight, point : float

    Notes
    -----
    Efron and Tibshirani (1997, clipping: equations 31, 32). R is 0 where either difference is not
    positive. "full" clips to the no-information rate, as R's pec and peperr do, except where
    resubstitution is above it: there their result can fall below both errors.
    """
    clipped = min(oob, no_information_rate)
    if clipping == "full":
        clipped = min(oob, max(no_information_rate, resubstitution))
    oob_error = clipped if clipping == "full" else oob
    rate = 0.0
    if oob_error > resubstitution and no_information_rate > resubstitution:
        rate = (oob_error - resubstitution) / (no_information_rate - resubstitution)
    weight = 0.632 / (1 - 0.368 * rate)
    if clipping == "full":
        return rate, weight, (1 - weight) * resubstitution + weight * clipped
    extra = (clipped - resubstitution) * 0.368 * weight * rate
    return rate, weight, point632(resubstitution, oob) + extra


def optimism(in_sample: ArrayLike, on_all_rows: ArrayLike) -> float:
    """Mean optimism of resubstitution, to be added to the resubstitution error.

    Parameters
    ----------
    in_sample : array-like of shape (n_resamples,)
        Error of model b on its own training sample, copies counted.
    on_all_rows : array-like of shape (n_resamples,)
        Error of model b on all rows, each once.

    Returns
    -------
    float
        Mean of `on_all_rows - in_sample` over resamples where both are defined (Efron 1983).
    """
    gap = np.asarray(on_all_rows, dtype=float) - np.asarray(in_sample, dtype=float)
    return float(np.nanmean(gap))


def _point_notes(
    resubstitution: float, oob: float, no_information_rate: float, bounds: Bounds
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a caution and a note on the .632 points, each empty where it does not apply."""
    optimistic = (
        "The resubstitution error is under a quarter of the out-of-bag error: .632 and .632+ "
        "are optimistic (.632+ by .03 to .05 for forests, boosting and support vectors on 500 "
        "rows); prefer 'oob' or 'cv-bootstrap'."
    )
    undefined_rate = (
        "The no-information rate is not above the resubstitution error: the relative "
        "overfitting rate is undefined and taken as 0."
    )
    near_perfect = resubstitution - bounds[0] < NEAR_PERFECT * (oob - bounds[0])
    return (
        (optimistic,) if near_perfect else (),
        (undefined_rate,) if no_information_rate <= resubstitution else (),
    )
