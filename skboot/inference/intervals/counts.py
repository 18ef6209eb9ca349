"""Intervals of a proportion, from its counts, and of other functions of a table of counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..evidence import Evidence
from ..proportions import SHARE_LIMITS
from ..tables import beta_limits
from . import quantile, registered


def _needs_proportion(evidence: Evidence) -> str:
    if evidence.facts.proportion is None or not evidence.independent_rows:
        return (
            "needs 0/1 values of independent, unweighted, unstratified rows. "
            "Use interval='bca', or 'studentized' with groups."
        )
    return ""


def _needs_mean(evidence: Evidence) -> str:
    share = evidence.facts.proportion
    problem = _needs_proportion(evidence)
    if not problem and share is not None and not share.exact:
        return "is for proportions of a fixed number of rows. Use interval='smoothed'."
    return problem


_SINGLE = "is for a single proportion"


def _of_proportion(
    limits: Callable[[int, int, float], tuple[float, float]], evidence: Evidence, level: float
) -> tuple[float, float]:
    """Return limits of hits / n on the scale of the metric."""
    share = evidence.facts.proportion
    assert share is not None
    # F1 = 2 q / (1 + q) with q the Jaccard index is monotone, so the limits map.
    low, high = map(share.to_metric, limits(share.hits, share.n, level))
    return (low, high) if share.sign > 0 else (high, low)


for _name in ("wald", "wilson", "clopper-pearson"):
    registered(
        _name,
        f"{_name.title()} interval",
        _needs_proportion,
        uses_resamples=False,
        no_difference=_SINGLE,
    )(partial(_of_proportion, SHARE_LIMITS[_name]))


@registered(
    "beta",
    "interval from Beta distributions",
    _needs_mean,
    title="Beta",
    uses_resamples=False,
    no_difference=_SINGLE,
)
def _beta(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Limits of smoothed tables of right and wrong rows, in closed form (record 0116)."""
    return _of_proportion(beta_limits, evidence, confidence_level)


def _needs_table(evidence: Evidence) -> str:
    if evidence.smoothed is not None:
        return ""
    return (
        "is for functions of the table of truth and decision, on rows that are not in groups, and "
        "is drawn when it is asked for. Use interval='bca', or 'expanded' with groups."
    )


@registered("smoothed", "interval from smoothed tables", _needs_table, for_difference=True)
def _smoothed(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Outer percentiles of tables drawn with less and with more beyond the data (record 0116)."""
    tail, ordered = (1 - confidence_level) / 2, evidence.sorted_smoothed
    # A perfect score is at the end of what is possible, and tables with more in all cells are not.
    low, high = min(quantile(ordered, tail)), max(quantile(ordered, 1 - tail))
    return min(low, evidence.estimate), max(high, evidence.estimate)
