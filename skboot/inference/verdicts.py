"""Verdicts: is the first not worse than the second by more than a margin?

An interval decides: the first passes where the lower limit of its advantage is above minus the
margin, and fails where the upper limit is below it. What one comparison could have shown, had both
been equal, is the `detectable_margin`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from scipy import optimize, special

from .._base.values import same_values
from .._base.wayfinding import Hinting
from .confidence_interval import ConfidenceInterval

# Degrees of freedom below which Student's t quantiles do not add up, and the noncentral law is
# used: at 10 the two differ by less than 1 %.
FEW_DEGREES = 10.0
# Probability with which a detectable margin passes if both are equal.
POWER = 0.8
# Quantile beyond which scipy's noncentral law loses its digits, and an asymptotic form, which is
# right to 1 % there, takes its place.
_FAR_QUANTILE = 30.0


@dataclass(frozen=True)
class Verdict(Hinting):
    """Whether the first of a pair is not inferior to the second, within a margin.

    `skboot.testing.assert_not_worse` and ``pair.verdict(margin)`` of a comparison make them. There
    are three outcomes, so a verdict has no truth value: use ``passed``, ``failed`` or ``outcome``.

    Attributes
    ----------
    outcome : {"pass", "fail", "inconclusive"}
        "pass": the whole interval lies above minus the margin. "fail": it lies below.
    margin : float
        Non-inferiority margin: how much worse the first may be, in units of the metric; 0 asks
        whether it is better.
    smallest_margin : float
        Margins above this one pass; 0 where the first is better.
    detectable_margin : float
        Margin that would pass with a probability of 80 % if both were equal, estimated from this
        comparison.
    interval : ConfidenceInterval
        Of the advantage of the first, positive where it is better: of a loss that of the difference
        with the other sign. Simultaneous over all pairs of the comparison if they were adjusted.
    statement : str
        The verdict in words.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=2000)
    >>> systems = {name: y_true ^ (rng.random(2000) < 0.1) for name in ("new", "old")}
    >>> [pair] = compare_systems(y_true, systems, random_state=0).pairs
    >>> verdict = pair.verdict(margin=0.03)
    >>> verdict.outcome, verdict.passed
    ('pass', True)
    """

    outcome: str
    margin: float
    smallest_margin: float
    detectable_margin: float
    interval: ConfidenceInterval
    statement: str

    @property
    def passed(self) -> bool:
        """Whether the first is shown not to be worse by more than the margin."""
        return self.outcome == "pass"

    @property
    def failed(self) -> bool:
        """Whether the first is shown to be worse by more than the margin."""
        return self.outcome == "fail"

    def __bool__(self) -> NoReturn:
        raise TypeError("A verdict has three outcomes: ask .passed or .outcome.")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            raise TypeError(f"A verdict is not a string: compare .outcome == {other!r}.")
        return same_values(self, other) if isinstance(other, Verdict) else NotImplemented

    def __str__(self) -> str:
        return self.statement


def outcome_of(low: float, high: float, margin: float) -> str:
    """Outcome by the limits of the advantage of the first.

    Parameters
    ----------
    low, high : float
        Limits, on the scale where larger is better for the first; NaN if undefined.
    margin : float
        At least 0.

    Returns
    -------
    {"pass", "fail", "inconclusive"}
    """
    if low > -margin:
        return "pass"
    return "fail" if high < -margin else "inconclusive"


def detectable_margin(half_width: float, standard_error: float, degrees_of_freedom: float) -> float:
    """Margin that an interval passes with 80 % probability where both systems are equal.

    Parameters
    ----------
    half_width : float
        Distance from the estimate to the lower limit.
    standard_error : float
        Of the difference.
    degrees_of_freedom : float
        Of the standard error; infinite for the normal law.

    Returns
    -------
    float
        NaN where one of these is; the half-width where nothing varies, and 0 where any passes.

    Notes
    -----
    ``half_width + t_.8 se``, with t the quantile of Student's law. Under ten degrees of freedom the
    noncentrality at which the lower limit passes with 80 % is solved for instead, because the width
    then varies as much as the estimate (3.76 standard errors at four degrees of freedom, 5.65 at
    two, for a half-width of the 97.5 % quantile).
    """
    if not standard_error > 0 or not np.isfinite(half_width):
        return half_width if standard_error == 0 else np.nan
    if degrees_of_freedom >= FEW_DEGREES:
        return half_width + float(special.stdtrit(degrees_of_freedom, POWER)) * standard_error
    quantile = half_width / standard_error
    if quantile > _FAR_QUANTILE:
        # The law is then that of the standard error alone.
        spread = special.chdtri(degrees_of_freedom, 1 - POWER) / degrees_of_freedom
        return float(np.hypot(quantile * np.sqrt(spread), special.ndtri(POWER))) * standard_error

    def short_of_power(noncentrality: float) -> float:
        found = special.nctdtr(degrees_of_freedom, noncentrality, quantile)
        return float(found) - (1 - POWER)

    start, stop = 0.0, quantile + 2.0
    if short_of_power(start) <= 0:
        # A limit of very few resamples is hardly below the estimate, or above it.
        return 0.0
    while short_of_power(stop) > 0:
        stop *= 2
    return float(optimize.brentq(short_of_power, start, stop, xtol=1e-10)) * standard_error
