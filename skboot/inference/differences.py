"""Paired differences: intervals, p-values that agree with them, and adjustment for many.

* `tango_interval`, `mcnemar_exact`: two systems that are right or wrong on the same rows;
* `delong_test`: two areas under ROC curves on the same rows;
* `difference_interval`, `p_value`: any metric, from the bootstrap of the difference.

Several differences at once are in `skboot.inference.multiplicity`.

A p-value here is the smallest 1 - level whose interval of the same method excludes 0, so the two
never disagree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from ..metrics.ranking import delong_covariance
from .confidence_interval import ConfidenceInterval
from .intervals import METHODS, Evidence, confidence_interval
from .proportions import Discordant as Discordant
from .proportions import tango_limits, tango_statistic

Floats = NDArray[np.float64]

# Fewer discordant rows than this, and bootstrap intervals of the difference are unreliable.
FEW_DISCORDANT = 10

# Limits and deviations below this share of their size are rounding.
_ROUNDING = 1e-10

# Intervals of one system that a difference has as well; "studentized" would need influence values
# of the difference on each resample, the bias of two systems is much the same, and the rest are for
# a single proportion.
_BOOTSTRAP = ("percentile", "expanded", "basic", "normal", "t", "bca")
CLOSED_FORM = ("tango", "delong")
DIFFERENCE_METHODS = (*_BOOTSTRAP, *CLOSED_FORM)


@dataclass(frozen=True, eq=False)
class Difference:
    """What is known of the difference of two systems.

    Attributes
    ----------
    evidence : Evidence
        Of the first minus the second: estimate, replicates, design.
    discordant : Discordant or None
        For means of 0/1 values of independent rows.
    identical : bool
        Whether both systems predict the same on every row.
    """

    evidence: Evidence
    discordant: Discordant | None = None
    identical: bool = False

    @property
    def varies(self) -> bool:
        """Whether the difference varies over the resamples."""
        ordered = self.evidence.sorted_replicates
        return len(ordered) > 1 and bool(ordered[0] < ordered[-1])


# ------------------------------------------------------------------ right or wrong


def tango_interval(
    first_only: int, second_only: int, n: int, *, confidence_level: float = 0.95
) -> ConfidenceInterval:
    """Score interval for the difference of two proportions on the same rows.

    Use it for two accuracies on one test set when few rows tell the systems apart: bootstrap
    intervals are unreliable below about ten such rows.

    Parameters
    ----------
    first_only : int
        Rows on which only the first system is right.
    second_only : int
        Rows on which only the second system is right.
    n : int
        All rows, those on which both are right or both wrong included.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        For the first proportion minus the second.

    Raises
    ------
    ValueError
        If the counts are negative or more than n, or the level is out of range.

    Notes
    -----
    The limits are the differences d at which (b - c - n d) / sqrt(n (2 q + d (1 - d))) is -/+ z,
    with q the maximum-likelihood estimate of the second discordant probability under d.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> from skboot.inference import tango_interval
    >>> low, high = tango_interval(1, 7, 21)
    >>> round(low, 3), round(high, 3)
    (-0.517, -0.026)
    """
    _check_counts("tango_interval", first_only, second_only, n)
    if not 0 < confidence_level < 1:
        raise ValueError(
            "The 'confidence_level' parameter of tango_interval must be a float in (0, 1). Got "
            f"{confidence_level!r}. Use confidence_level=0.95 for a 95% interval."
        )
    low, high = _tango(Discordant(first_only, second_only, n), confidence_level)
    return ConfidenceInterval(low, high, confidence_level, "tango")


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Exact p-value that two systems are right equally often, from the same rows.

    Parameters
    ----------
    first_only : int
        Rows on which only the first system is right.
    second_only : int
        Rows on which only the second system is right.

    Returns
    -------
    float
        Two-sided binomial p-value of the smaller count among both, 1 without discordant rows.

    Raises
    ------
    ValueError
        If a count is negative or no integer.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157, in its exact form.

    Examples
    --------
    >>> from skboot.inference import mcnemar_exact
    >>> mcnemar_exact(2, 8)
    0.109375
    """
    _check_counts("mcnemar_exact", first_only, second_only, first_only + second_only)
    tail = binom.cdf(min(first_only, second_only), first_only + second_only, 0.5)
    return min(1.0, 2 * float(tail))


def _check_counts(caller: str, first_only: int, second_only: int, n: int) -> None:
    for name, value in (("first_only", first_only), ("second_only", second_only), ("n", n)):
        if isinstance(value, bool) or value != int(value) or value < 0:
            raise ValueError(
                f"The {name!r} parameter of {caller} must be an integer of at least 0. "
                f"Got {value!r}."
            )
    if first_only + second_only > n or (caller == "tango_interval" and n == 0):
        raise ValueError(
            f"The 'n' parameter of {caller} must be the number of all rows, at least "
            f"first_only + second_only. Got n={n}, first_only={first_only}, "
            f"second_only={second_only}."
        )


def _tango(counts: Discordant, confidence_level: float) -> tuple[float, float]:
    return tango_limits(counts, float(ndtri(0.5 + confidence_level / 2)))


# ------------------------------------------------------------------ areas under ROC curves


class DelongTest(NamedTuple):
    """Paired test of two areas under ROC curves.

    Attributes
    ----------
    difference : float
        First area minus second.
    standard_error : float
        Of the difference.
    z : float
        Difference by standard error; 0 where both are 0.
    p_value : float
        Two-sided, from the normal distribution.
    """

    difference: float
    standard_error: float
    z: float
    p_value: float


def delong_test(y_positive: ArrayLike, first: ArrayLike, second: ArrayLike) -> DelongTest:
    """Test whether two systems have the same area under the ROC curve, on the same rows.

    Parameters
    ----------
    y_positive : array-like of shape (n_samples,)
        Which rows are positive: booleans, or 0 and 1.
    first : array-like of shape (n_samples,)
        Scores of the first system, larger for the positive class.
    second : array-like of shape (n_samples,)
        Scores of the second.

    Returns
    -------
    DelongTest
        NaN with fewer than two rows of either class.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> from skboot.inference import delong_test
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> test = delong_test(y, [0.1, 0.4, 0.35, 0.8, 0.7, 0.9], [0.3, 0.1, 0.6, 0.5, 0.7, 0.2])
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.333, 0.221)
    """
    scores = np.stack([np.asarray(first), np.asarray(second)])
    areas, covariance = delong_covariance(np.asarray(y_positive) == 1, scores)
    difference = float(areas[0] - areas[1])
    error = delong_error(covariance, 0, 1)
    if error == 0:
        z = 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    else:
        z = difference / error
    return DelongTest(difference, error, z, 2 * float(ndtr(-abs(z))))


def delong_error(covariance: Floats, first: int, second: int) -> float:
    """Standard error of a difference of two areas, from their covariance matrix."""
    own = covariance[first, first] + covariance[second, second]
    variance = own - 2 * covariance[first, second]
    # Of two systems with the same ranks nothing but rounding is left.
    return 0.0 if variance <= 1e-14 * own else float(np.sqrt(variance))


# ------------------------------------------------------------------ any difference


def planned_method(discordant: Discordant | None) -> str:
    """Method that "auto" takes: "tango" under ten discordant rows, else "expanded"."""
    if discordant is not None and sum(discordant[:2]) < FEW_DISCORDANT:
        return "tango"
    return "expanded"


def automatic_method(difference: Difference) -> str:
    """Method that "auto" takes, given the resamples.

    Parameters
    ----------
    difference : Difference
        With replicates.

    Returns
    -------
    str
        "tango" as well where right and wrong rows are known but the resamples do not vary.
    """
    if difference.discordant is not None and not difference.varies:
        return "tango"
    return planned_method(difference.discordant)


def difference_interval(
    difference: Difference, method: str, confidence_level: float
) -> ConfidenceInterval:
    """Interval for a difference by the named method.

    Parameters
    ----------
    difference : Difference
        What is known.
    method : str
        One of `DIFFERENCE_METHODS`.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        [0, 0] for systems that predict the same on every row.

    Raises
    ------
    ValueError
        If the method needs what is not known.
    """
    evidence = difference.evidence
    if difference.identical:
        return ConfidenceInterval(0.0, 0.0, confidence_level, method)
    if method != "tango":
        found = confidence_interval(evidence, method, confidence_level)
        return found.with_limits(*snapped(found.low, found.high))
    if difference.discordant is None:
        raise ValueError(
            "The interval 'tango' needs 0/1 values (right or wrong) of independent, unweighted, "
            "unstratified rows. Use interval='expanded'."
        )
    low, high = _tango(difference.discordant, confidence_level)
    return ConfidenceInterval(low, high, confidence_level, "tango")


def snapped(low: float, high: float) -> tuple[float, float]:
    """Limits, 0 where they differ from it by rounding: on which side of it decides."""
    size = _ROUNDING * max(abs(low), abs(high))
    return (
        0.0 if abs(low) <= size else float(low),
        0.0 if abs(high) <= size else float(high),
    )


def p_value(difference: Difference, method: str, confidence_level: float = 0.95) -> float:
    """Smallest 1 - level whose interval excludes 0.

    Parameters
    ----------
    difference : Difference
        What is known.
    method : str
        One of `DIFFERENCE_METHODS`.
    confidence_level : float
        Of the interval that is shown: the p-value is at most 1 - level exactly if it excludes 0.

    Returns
    -------
    float
        At least 2 / (n_resamples + 1) for methods that use the resamples; NaN if undefined.
    """
    evidence = difference.evidence
    if np.isnan(evidence.estimate):
        return np.nan
    if difference.identical:
        return 1.0
    if method == "tango":
        assert difference.discordant is not None
        return 2 * float(ndtr(-abs(tango_statistic(difference.discordant, 0.0))))
    if method == "delong":
        assert evidence.delong is not None
        if np.isnan(evidence.delong[0]):
            return np.nan
        if evidence.delong[0] == 0:
            return 1.0 if evidence.estimate == 0 else 0.0
        return 2 * float(ndtr(-abs(evidence.estimate / evidence.delong[0])))
    n_defined = len(evidence.sorted_replicates)
    if n_defined < 2:
        return np.nan
    interval = METHODS[method]

    def excludes(level: float) -> bool:
        low, high = snapped(*interval(evidence, level))
        return bool(low > 0 or high < 0)

    with warnings.catch_warnings():
        # That resamples are too few for a level is of no account here.
        warnings.simplefilter("ignore")
        return _smallest(excludes, 2 / (n_defined + 1), confidence_level)


def _smallest(excludes: Callable[[float], bool], floor: float, confidence_level: float) -> float:
    """Bisect for the smallest 1 - level at which an interval excludes 0, not below ``floor``."""
    if excludes(1 - floor):
        return floor
    holding, excluding = floor, 1.0
    # The levels that people look at come first, so that rounding cannot put p on their wrong side.
    for level in (0.95, confidence_level):
        rest = round(1 - level, 12)
        if holding < rest < excluding:
            holding, excluding = (holding, rest) if excludes(level) else (rest, excluding)
    if excluding == 1.0 and not excludes(1e-9):
        return 1.0
    for _ in range(34):
        middle = (holding + excluding) / 2
        if excludes(1 - middle):
            excluding = middle
        else:
            holding = middle
    return excluding


# ------------------------------------------------------------------ several differences


def share_won(differences: ArrayLike, greater_is_better: bool | None) -> float:
    """Share of differences in favour of the first, ties half; undefined ones are left out.

    Parameters
    ----------
    differences : array-like of shape (n_resamples,)
        First minus second.
    greater_is_better : bool or None
        None: the share of differences above 0, whether that is good or bad.

    Returns
    -------
    float
        NaN if no difference is defined.
    """
    values = np.asarray(differences, dtype=float)
    values = values[~np.isnan(values)]
    if greater_is_better is False:
        values = -values
    wins = np.count_nonzero(values > 0) + 0.5 * np.count_nonzero(values == 0)
    return float(wins / len(values)) if len(values) else float("nan")


PROBLEMS: Mapping[str, str] = {
    "studentized": "needs influence values of the difference on each resample, which are not kept",
    "max-t": "is the simultaneous interval, which adjust='max-t' gives beside the other",
    **dict.fromkeys(("wald", "wilson", "clopper-pearson"), "is for a single proportion"),
}
"""Why intervals of one system are not offered for a difference."""
