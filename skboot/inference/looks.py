"""Looks that may be repeated: how far an interval must reach to hold at all of them at once.

A fixed-sample interval at the quantile z holds at one look. At every look from the first one on
holds the same interval at sqrt(a^2 + log(t / m)), with m units at the first look and t at this one
(Robbins & Siegmund 1970): of a Brownian motion it is left with the probability 2 (1 - Phi(a) + a
phi(a)), which is 5 % at a = 2.7955. Limits are made about the values that the data do not
contradict, not about the estimate: a variance at the estimate is too small just where the estimate
is too good.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from .._base.checks import check_count, fail
from .._base.warnings import say
from ._tuning import FEWEST_GROUPS_AT_LOOK, FEWEST_ROWS_AT_LOOK
from .evidence import Evidence

# Quantile of the normal beyond which no level in double precision tells it from 1.
_FARTHEST = 8.0


def checked_first_look(interval: Any, first_look: Any, **refused: Any) -> int | None:
    """Accept a number of units with the interval "anytime", and None with all others.

    Parameters
    ----------
    interval : str
        That is asked for.
    first_look : int or None
        Units at the first look.
    **refused : optional
        Arguments that this interval does not have, by name: None or False where not given.

    Returns
    -------
    int or None
    """
    if interval != "anytime":
        if first_look is None:
            return None
        must = f"be None with interval={interval!r}"
        advice = "It is for looks that may be repeated: interval='anytime'."
        raise fail("first_look", must, repr(first_look), advice)
    if first_look is None:
        must = "be the number of rows, or groups, at the first look with interval='anytime'"
        advice = (
            "Fix it before the data are seen: the interval is narrowest there, and does not hold "
            f"before it. Use first_look={FEWEST_ROWS_AT_LOOK} to look from {FEWEST_ROWS_AT_LOOK} "
            "rows on."
        )
        raise fail("first_look", must, "None", advice)
    for name, value in refused.items():
        if value is not None and value is not False:
            advice = "No interval that holds at every look is known for it: use interval='auto'."
            got = repr(value) if isinstance(value, str) else type(value).__name__
            raise fail(name, "not be given with interval='anytime'", got, advice)
    return check_count("first_look", first_look, FEWEST_GROUPS_AT_LOOK)


def least_units(evidence: Evidence) -> int:
    """Return the fewest rows, or groups, at which an interval may be looked at."""
    return FEWEST_ROWS_AT_LOOK if evidence.drawn.design.units_are_rows else FEWEST_GROUPS_AT_LOOK


def level_at_look(evidence: Evidence, confidence_level: float) -> float:
    """Level of the fixed-sample interval that is as wide as the one which holds at every look.

    Parameters
    ----------
    evidence : Evidence
        Of at least as many units as at the first look.
    confidence_level : float
        Of all looks together, of two sides; at most 0 for a side at a level below .5.

    Returns
    -------
    float
        Of two sides.
    """
    first, drawn = evidence.first_look, evidence.drawn
    assert first is not None
    say("choice", f"Intervals hold at all looks at once, from {first} {drawn.design.unit}s on.")
    a = boundary(confidence_level)
    z = min(np.sqrt(a * a + np.log(drawn.n_units[0] / first)), _FARTHEST)
    return float(1 - 2 * ndtr(-z))


# A call has one level, and a study many limits at it.
@lru_cache(maxsize=64)
def boundary(confidence_level: float) -> float:
    """Quantile at the first look: a of 2 (1 - Phi(a) + a phi(a)) = 1 - level.

    Parameters
    ----------
    confidence_level : float
        Below 1; 0 for one that is smaller.

    Returns
    -------
    float
    """
    rest = 1 - max(confidence_level, 0.0)

    def too_wide(a: float) -> float:
        density = np.exp(-a * a / 2) / np.sqrt(2 * np.pi)
        return float(2 * (ndtr(-a) + a * density) - rest)

    return float(brentq(too_wide, 0.0, 40.0, xtol=1e-13)) if rest < 1 else 0.0
