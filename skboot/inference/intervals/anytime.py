"""The interval that holds at every look at growing data."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..._base.warnings import say
from .._tuning import FEWEST_FREEDOM_AT_LOOK, RARE_ROWS_AT_LOOK
from ..evidence import Evidence
from ..few_groups import few_groups_interval, value_range
from ..looks import least_units, level_at_look
from ..skewed_t import SkewedT
from ..two_areas import area_limits
from . import INTERVALS, registered


def _needs_looks(evidence: Evidence) -> str:
    """Return what is missing, the plan of the looks first, then the data of this one."""
    design, facts = evidence.drawn.design, evidence.facts
    if evidence.first_look is None:
        return (
            "needs first_look=, the number of units at the first look, which functions of frozen "
            "systems take. Use interval='auto'."
        )
    if design.averages_tasks or design.n_factors > 1 or design.units_are_blocks:
        return "is for independent rows and for groups. Use interval='auto'."
    if evidence.drawn.n_strata > 1:
        return "is for rows and groups without strata, whose sizes grow with the data."
    if facts.optimized or not (
        facts.additive or facts.proportion is not None or facts.delong is not None
    ):
        return (
            "needs influence values, which exist for functions of sums and areas under ROC curves. "
            "Use interval='auto'."
        )
    if problem := _too_few(evidence):
        return problem
    if not _is_closed(evidence) and evidence.left_out is None:
        return (
            "needs the metric without each unit, unless it is a share of rows. Give all rows so "
            "far to a function that takes them at once."
        )
    return ""


def _too_few(evidence: Evidence) -> str:
    """Return which units are too few for a look."""
    unit, n_units = evidence.drawn.design.unit, evidence.drawn.n_units[0]
    first, least = evidence.first_look, least_units(evidence)
    assert first is not None
    if first < least:
        return f"needs a first_look of at least {least} {unit}s, and has {first}."
    if n_units < first:
        return (
            f"holds from {first} {unit}s on, and there are {n_units} so far. Look again when there "
            "are more."
        )
    facts = evidence.facts
    few = [facts.smaller_class, facts.delong and facts.delong.smaller_class]
    if facts.class_sizes is not None:
        few.append(int(facts.class_sizes.min()))
    if facts.proportion is not None and not facts.proportion.exact:
        few.append(facts.proportion.n)
    fewest = min((size for size in few if size is not None), default=RARE_ROWS_AT_LOOK)
    if fewest < RARE_ROWS_AT_LOOK:
        return (
            f"holds from {RARE_ROWS_AT_LOOK} rows of the rarer class on, and there are {fewest} so "
            "far. Look again when there are more."
        )
    return ""


def _is_closed(evidence: Evidence) -> bool:
    """Return whether counts of independent rows, or areas of them, have a closed form."""
    known = evidence.facts.proportion is not None or evidence.facts.delong is not None
    return known and evidence.independent_rows


@registered(
    "anytime",
    "interval that holds at every look",
    _needs_looks,
    uses_resamples=False,
    leaves_out=True,
)
def _anytime(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Fixed-sample interval that suits, at the level of the boundary; see `level_at_look`."""
    level = level_at_look(evidence, confidence_level)
    facts = evidence.facts
    if facts.proportion is not None and evidence.independent_rows:
        return INTERVALS["wilson"].limits(evidence, level)
    if facts.delong is not None and evidence.independent_rows:
        negated = facts.bounds[1] <= 0
        low, high = area_limits(abs(evidence.estimate), *facts.delong, ndtri(0.5 + level / 2))
        return (-high, -low) if negated else (low, high)
    if evidence.group_influence is not None and np.all(np.isfinite(value_range(evidence))):
        low, high = few_groups_interval(evidence, level)
        return low, high
    return _by_influence(evidence, level)


def _by_influence(evidence: Evidence, level: float) -> tuple[float, float]:
    """Skewed t with the standard error by leaving out units, and its degrees of freedom.

    The whole range where few units carry the variation: the next ones may carry more than these.
    """
    assert evidence.left_out is not None
    assert evidence.acceleration is not None
    error, freedom = evidence.left_out[1], evidence.error_freedom
    if not error > 0 or freedom is None or not freedom >= FEWEST_FREEDOM_AT_LOOK:
        say(
            "caution",
            f"Too few {evidence.drawn.design.unit}s carry the variation at this look: the limits "
            "are the ends of the range.",
        )
        return evidence.facts.bounds
    drawn = evidence.drawn
    freedom = min(freedom, drawn.degrees_of_freedom)
    error *= np.sqrt(drawn.inflation)
    return SkewedT(evidence.estimate, error, freedom, evidence.acceleration).interval(level)
