"""Confidence intervals for one number, from its bootstrap distribution and facts about the data.

Each interval is a pure function ``(evidence, confidence_level) -> (low, high)``, registered where
it stands with its needs and its words; `confidence_interval` checks the needs and calls it. To add
an interval, put a module into this folder with the function under `registered`: public functions
accept its name, summaries use its words, and tests/inference/test_interval_contract.py holds it to
the contract.

Levels are quantiles of the bootstrap distribution at ``(n_resamples + 1) * level``, interpolated
on the normal scale (Davison & Hinkley 1997, equation 5.8), as R's boot does: with 1999 resamples
the usual levels are order statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..._base.lazy import import_modules
from ..._base.warnings import tell
from ..cautions import too_few_resamples
from ..confidence_interval import ConfidenceInterval, within_range
from ..evidence import Evidence

Floats = NDArray[np.float64]

# Share of the estimate's size below which a difference from it is rounding.
ROUNDING = 1e-14
# Share of the farther limit below which a limit of a difference differs from 0 by rounding.
_ROUNDING_OF_LIMITS = 1e-10


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval that a caller can ask for by name.

    Attributes
    ----------
    name : str
        The name.
    limits : callable
        From evidence and a confidence level to the pair of limits.
    needs : callable
        From evidence to the reason why the interval cannot be made, "" where it can.
    words : str
        Name in a summary.
    title : str
        Name in a table, where ``words`` do not have it.
    uses_resamples : bool
        Whether the limits depend on the replicates; else they are made of counts, or of a standard
        error on the data.
    of_standard_errors : bool
        Whether it needs the influence of units on the data, or on each resample.
    leaves_out : bool
        Whether it needs the metric without each unit.
    for_one_score : bool
        Whether a caller may ask for it for one score; else it is one of several differences.
    for_difference : bool
        Whether a paired difference has it as well.
    no_difference : str
        Why a paired difference does not have it, to be read after its name.
    """

    name: str
    limits: Callable[[Evidence, float], tuple[Any, Any]]
    needs: Callable[[Evidence], str]
    words: str
    title: str = ""
    uses_resamples: bool = True
    of_standard_errors: bool = False
    leaves_out: bool = False
    for_one_score: bool = True
    for_difference: bool = False
    no_difference: str = ""


INTERVALS: dict[str, Interval] = {}
"""Every interval of one number, by name."""


def registered(
    name: str, words: str, needs: Callable[[Evidence], str], **facts: Any
) -> Callable[[Callable[[Evidence, float], tuple[Any, Any]]], Any]:
    """Register a function as an interval; ``facts`` are those of `Interval`."""

    def register(
        limits: Callable[[Evidence, float], tuple[Any, Any]],
    ) -> Callable[[Evidence, float], tuple[Any, Any]]:
        INTERVALS[name] = Interval(name, limits, needs, words, **facts)
        return limits

    return register


ALTERNATIVES = ("two-sided", "greater", "less")
"""What an interval or a p-value of a difference is against, in scipy's words."""

MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
"""The same of the difference with the other sign."""


def confidence_interval(
    evidence: Evidence,
    method: str,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> ConfidenceInterval:
    """Confidence interval by the named method.

    Parameters
    ----------
    evidence : Evidence
        Of the score.
    method : str
        A key of `INTERVALS`.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        "greater": the lower limit alone, the upper one is infinite; "less": the reverse.

    Returns
    -------
    ConfidenceInterval
        Cut at the range of the metric. NaN limits if the metric is undefined on the data, or one
        unit was drawn.

    Raises
    ------
    ValueError
        If the method is unknown or the evidence does not support it.
    """
    if method not in INTERVALS:
        raise ValueError(
            f"The interval must be one of {sorted(INTERVALS)} or 'auto'. Got {method!r}."
        )
    if not evidence.drawn.varies:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    problem = problem_with(method, evidence)
    if problem:
        raise ValueError(f"The interval {method!r} {problem}")
    if np.isnan(evidence.estimate):
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    low, high = limits_of(evidence, method, confidence_level, alternative)
    if 0 < high - low <= ROUNDING * abs(evidence.estimate):
        # Replicates that differ by rounding alone are one value: the interval has no width.
        low = high = evidence.estimate
    interval = ConfidenceInterval(float(low), float(high), confidence_level, method)
    return within_range(interval, evidence.facts.bounds, alternative)


def problem_with(method: str, evidence: Evidence) -> str:
    """Return why evidence has no interval by a method, to be read after its name; "" if it has."""
    if evidence.facts.bins is not None and method != "bins":
        return (
            "is not for a sum of distances: resamples inflate it, and their limits exclude the 0 "
            "of a calibrated system. Use interval='bins'."
        )
    return INTERVALS[method].needs(evidence)


def error_without_resamples(evidence: Evidence, method: str) -> float | None:
    """Return the standard error in closed form beside limits that use no resamples; else None."""
    if method not in WITHOUT_RESAMPLES or method == "bins" or np.isnan(evidence.estimate):
        return None
    facts = evidence.facts
    if method == "ewc" and evidence.over_time is not None:
        return evidence.over_time[0]
    if evidence.independent_rows and facts.proportion is not None:
        return facts.proportion.standard_error
    if evidence.independent_rows and facts.delong is not None:
        return facts.delong.standard_error
    return evidence.standard_error


def limits_of(
    evidence: Evidence, method: str, confidence_level: float, alternative: str = "two-sided"
) -> tuple[Any, Any]:
    """Limits by a method whose needs are met, of one number or of a batch of differences."""
    limits = INTERVALS[method].limits
    if alternative == "two-sided":
        return limits(evidence, confidence_level)
    # The limit of one side is that of the two-sided interval which leaves out twice as much. Below
    # a level of .5 its two limits change places, and each is still the one of its side.
    low, high = limits(evidence, 2 * confidence_level - 1)
    infinite = np.full(np.shape(low), np.inf)[()]
    return (low, infinite) if alternative == "greater" else (-infinite, high)


def quantile(ordered: Floats, level: float) -> Any:
    """Quantile at (B + 1) * level, interpolated on the normal scale.

    Parameters
    ----------
    ordered : ndarray of shape (B,) or (n_differences, B)
        Replicates in rising order; of several differences they are finite.
    level : float
        In [0, 1].

    Returns
    -------
    float or ndarray of shape (n_differences,)
        The extreme replicate, with a warning, where B is too small for the level; NaN for B < 2.
    """
    n = ordered.shape[-1]
    if n < 2:
        return np.nan
    rank = (n + 1) * level
    below = int(np.floor(rank + 1e-9))
    if below < 1 or below > n or (below == n and rank > n + 1e-9):
        tell(too_few_resamples(n, level))
        return _number_or_array(ordered[..., 0 if below < 1 else -1])
    if abs(rank - below) < 1e-9:
        return _number_or_array(ordered[..., below - 1])
    lower, upper = ndtri(below / (n + 1)), ndtri((below + 1) / (n + 1))
    share = (ndtri(level) - lower) / (upper - lower)
    start, stop = ordered[..., below - 1], ordered[..., below]
    if ordered.ndim == 1 and (infinite := [float(x) for x in (start, stop) if np.isinf(x)]):
        # Pivots of groups without spread; between two values the one further out is taken.
        return min(infinite) if level < 0.5 else max(infinite)
    return _number_or_array(start + share * (stop - start))


def _number_or_array(value: Any) -> Any:
    """Return a number as a float, and an array as it is."""
    return value if value.ndim else float(value)


def snapped(low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits that are 0 where they differ from 0 by rounding: their sign decides.

    Limits of several differences are arrays (n_differences,). An infinite limit, of a one-sided
    interval, has no rounding.
    """
    one_sided = np.isinf(low) | np.isinf(high)
    size = np.where(one_sided, 0.0, _ROUNDING_OF_LIMITS * np.maximum(abs(low), abs(high)))
    low, high = (np.where(abs(end) <= size, 0.0, end) for end in (low, high))
    return _number_or_array(low), _number_or_array(high)


def needs_replicates(evidence: Evidence) -> str:
    """What an interval of replicates needs, for `registered`."""
    if np.isnan(evidence.estimate) or len(evidence.sorted_replicates) >= 2:
        return ""
    return "needs at least two resamples on which the metric is defined."


# ------------------------------------------------------------------ what the registry holds


import_modules(__name__)

FOR_ONE_SCORE = tuple(name for name, interval in INTERVALS.items() if interval.for_one_score)
"""Names that a caller may ask for, for one score."""

WITHOUT_RESAMPLES = frozenset(
    {"score"} | {name for name, interval in INTERVALS.items() if not interval.uses_resamples}
)
"""Intervals that would be the same with other resamples; "score" is that of few groups."""


OF_STANDARD_ERRORS = frozenset(
    name for name, interval in INTERVALS.items() if interval.of_standard_errors
)
"""Intervals that need standard errors by the influence of the units."""

LEAVING_OUT = frozenset(name for name, interval in INTERVALS.items() if interval.leaves_out)
"""Intervals that need the metric without each unit."""


def words_of(name: str) -> str:
    """Return the name of an interval in a summary."""
    return INTERVALS[name].words if name in INTERVALS else f"{name} interval"


def title_of(name: str, words: str | None = None) -> str:
    """Return the name of an interval as papers print it, such as "BCa", from its words."""
    words = words_of(name) if words is None else words
    written = (word for word in re.findall(r"[\w-]+", words) if word.lower() == name)
    known = INTERVALS[name].title if name in INTERVALS else ""
    return known or next(written, name)


def interval_named(name: Any, also: Sequence[str] = ()) -> Any:
    """Return the name that a caller may give of an interval as tables or summaries print it.

    What no interval is called, none of these nor of those that differences have, stays as it is.
    """
    if not isinstance(name, str) or name in ("auto", *INTERVALS, *also):
        return name
    for own in (*INTERVALS, *also):
        printed = (own, title_of(own), words_of(own))
        if name.lower() in map(str.lower, printed):
            return own
    return name
