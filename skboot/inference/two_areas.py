"""The difference of two areas under ROC curves on the same rows, in closed form.

DeLong's interval is symmetric, and near an area of 1 its standard error is smallest where the area
came out too large, so that a worse system passes for a better one. `TwoAreas.limits` widens it to
hold what limits of both areas on the logit scale allow (record 0090).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, hypot, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

Floats = NDArray[np.float64]

# Tail area below which quantiles of Student's t overflow.
_LEAST_TAIL = 1e-300
# Share of the quantile below which a limit on the logit scale is a straight line.
_STRAIGHT = 1e-6


class TwoAreas(NamedTuple):
    """Areas of two systems on the same independent rows, and how far they may be off.

    Attributes
    ----------
    first, second : float
        Areas.
    first_error, second_error : float
        Standard errors after DeLong et al. (1988).
    error : float
        Of the difference.
    correlation : float
        Of both areas; 0 where one of them has no error.
    smaller_class : float
        Rows of the smaller class, at least 2; no whole number where a size is planned.
    """

    first: float
    second: float
    first_error: float
    second_error: float
    error: float
    correlation: float
    smaller_class: float

    def mirrored(self) -> TwoAreas:
        """Return the same with the systems exchanged."""
        return TwoAreas(self.second, self.first, self.second_error, self.first_error, *self[4:])

    def as_if_equal(self) -> TwoAreas:
        """Return two areas at the mean of both whose difference is as sure as this one."""
        area = (self.first + self.second) / 2
        each = hypot(self.first_error, self.second_error) / sqrt(2)
        correlation = 1 - (self.error / each) ** 2 / 2 if each > 0 else 0.0
        return TwoAreas(area, area, each, each, self.error, correlation, self.smaller_class)

    def on_rows(self, times: float, inflation: float = 1.0) -> TwoAreas:
        """Return the same areas on so many times the rows, with so many times the variance."""
        factor = sqrt(inflation / times)
        return self._replace(
            first_error=factor * self.first_error,
            second_error=factor * self.second_error,
            error=factor * self.error,
            smaller_class=max(times * self.smaller_class, 2.0),
        )

    def limits(self, quantile: float) -> tuple[float, float]:
        """Limits of the first area minus the second, for a quantile of the normal of at least 0.

        The outer of d -/+ q s and of the limits that are recovered from those of both areas (MOVER;
        Zou & Donner 2008, Statistics in Medicine 27, 1693, equation 6, with the correlation of both
        as Zou 2007, Psychological Methods 12, 399). The limits of an area lie at
        expit(logit(a) -/+ k q s / (a (1 - a))), and their distances are divided by
        k = (1 - r^2)^(1/4): what both areas have in common cannot move them apart. q is the
        quantile of Student's t with one less than the rows of the smaller class.
        """
        q = _quantile_of_t(quantile, self.smaller_class)
        share = max(1 - self.correlation**2, 0.0) ** 0.25
        down_1, up_1 = _reach(self.first, self.first_error, q, share, self.smaller_class)
        down_2, up_2 = _reach(self.second, self.second_error, q, share, self.smaller_class)
        difference, half = self.first - self.second, q * self.error
        below = max(half, _joint(down_1, up_2, self.correlation))
        above = max(half, _joint(up_1, down_2, self.correlation))
        return max(difference - below, -1.0), min(difference + above, 1.0)


def area_limits(
    area: float, error: float, smaller_class: float, quantile: float
) -> tuple[float, float]:
    """Limits of one area on the logit scale, for a quantile of the normal of at least 0.

    Of a perfect ranking they are those of no error on the smaller class. The quantile is taken as
    in `TwoAreas.limits`.
    """
    q = _quantile_of_t(quantile, smaller_class)
    down, up = _reach(area, error, q, 1.0, smaller_class)
    return max(area - down, 0.0), min(area + up, 1.0)


def _quantile_of_t(quantile: float, smaller_class: float) -> float:
    """Quantile of Student's t at the level of a normal one; classes of one row count as of two."""
    tail = max(float(ndtr(-quantile)), _LEAST_TAIL)
    return -float(stdtrit(max(smaller_class, 2) - 1, tail))


def _reach(area: float, error: float, q: float, share: float, n: float) -> tuple[float, float]:
    """Distances from an area down and up to its limits, for a share of the quantile."""
    if not 0 < area < 1:
        # All n rows are in order, or none: the score limit of a share without any error.
        reach = (q / hypot(sqrt(n), q)) ** 2
        return (reach, 0.0) if area >= 1 else (0.0, reach)
    if share < _STRAIGHT:
        return q * error, q * error
    if area < 0.5:
        return _reach(1 - area, error, q, share, n)[::-1]
    moved, to_half = share * q * error / (area * (1 - area)), log(area / (1 - area))
    # a - expit(logit(a) - x) = a (1 - a) (1 - e^-x) / (a e^-x + 1 - a), and its mirror image.
    # Beyond 1/2 it goes on as a straight line: where it slowed down, the joint distance of two
    # correlated areas would fall, and a higher level have the shorter interval.
    down = area - 0.5 + (moved - to_half) / 4
    if moved < to_half:
        down = -area * (1 - area) * expm1(-moved) / (1 + area * expm1(-moved))
    up = -area * (1 - area) * expm1(-moved) / (1 + (1 - area) * expm1(-moved))
    return down / share, up / share


def _joint(one: float, other: float, correlation: float) -> float:
    """Distance that two distances in opposite directions make together."""
    return sqrt(max(one * one + other * other - 2 * correlation * one * other, 0.0))


@dataclass(frozen=True, eq=False)
class AreasOfSystems:
    """Areas under ROC curves of several systems on the same independent rows.

    Attributes
    ----------
    areas : ndarray of shape (n_systems,)
    covariance : ndarray of shape (n_systems, n_systems)
        After DeLong et al. (1988); NaN with fewer than two rows of a class.
    smaller_class : int
        Rows of the smaller class.
    """

    areas: Floats
    covariance: Floats
    smaller_class: int

    def error(self, first: int, second: int) -> float:
        """Standard error of the difference of two systems."""
        return delong_error(self.covariance, first, second)

    def pair(self, first: int, second: int) -> TwoAreas | None:
        """Return two of them; None with fewer than two rows of a class."""
        if self.smaller_class < 2:
            return None
        one, other = (sqrt(float(self.covariance[k, k])) for k in (first, second))
        r = float(self.covariance[first, second]) / (one * other) if one * other > 0 else 0.0
        return TwoAreas(
            float(self.areas[first]),
            float(self.areas[second]),
            one,
            other,
            self.error(first, second),
            min(max(r, -1.0), 1.0),
            self.smaller_class,
        )


def delong_error(covariance: Floats, first: int, second: int) -> float:
    """Standard error of a difference of two areas, from their covariance matrix."""
    of_both = covariance[first, first] + covariance[second, second]
    variance = of_both - 2 * covariance[first, second]
    # The difference of two systems with the same ranks is rounding.
    return 0.0 if variance <= 1e-14 * of_both else float(np.sqrt(variance))
