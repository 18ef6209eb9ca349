"""Student's t that reaches farther on the side of the long tail.

The law of t about the mean of n values of skewness g differs from Student's by g (2 t^2 + 1) /
(6 sqrt(n)) at first (Johnson 1978, Journal of the American Statistical Association 73:536; Hall
1992, Journal of the Royal Statistical Society B 54:221): the mean is too low more often than too
high where large values are few. Formulas that move both limits by it, and equal tails of a
studentized bootstrap, trust the skewness of the sample. Of few values it is noise, and what it
takes off the other side is missing there. So the term is added on the side of the long tail alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special


class SkewedT(NamedTuple):
    """An estimate that is judged by its standard error, and by how skewed the values are.

    Attributes
    ----------
    difference : float
        The estimate; mostly a mean difference.
    standard_error : float
        Of it.
    degrees_of_freedom : float
        Of the standard error.
    acceleration : float
        Skewness of the n values by 6 sqrt(n), as of BCa; above 0 the upper limit is the farther.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    acceleration: float

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided limits; below a level of 0 they change places."""
        t = float(special.stdtrit(self.degrees_of_freedom, 0.5 + confidence_level / 2))
        below, above = (_reach(t, max(side * self.acceleration, 0.0)) for side in (-1, 1))
        error = self.standard_error
        return self.difference - below * error, self.difference + above * error

    @property
    def statistic(self) -> float:
        """Value that Student's t would need for the same p-value; NaN without any spread."""
        if self.standard_error == 0:
            return np.nan
        t = self.difference / self.standard_error
        # The limit between the estimate and 0 counts: the lower one of an estimate above 0.
        tail = max(-np.sign(t) * self.acceleration, 0.0)
        return float(np.sign(t) * max(_without_tail(abs(t), tail), 0.0))

    @property
    def p_value(self) -> float:
        """Two-sided, at most 1 - level exactly if the interval excludes 0; 1 without any spread."""
        if self.standard_error == 0:
            return 1.0
        return float(2 * special.stdtr(self.degrees_of_freedom, -abs(self.statistic)))


def _reach(t: float, tail: float) -> float:
    """Standard errors from the estimate to a limit, rising in t."""
    return t + tail * (2 * max(t, 0.0) ** 2 + 1)


def _without_tail(reach: float, tail: float) -> float:
    """The t of a reach."""
    over = reach - tail
    return over if over < 0 else float(2 * over / (1 + np.sqrt(1 + 8 * tail * over)))
