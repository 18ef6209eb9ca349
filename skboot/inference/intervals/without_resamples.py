"""Intervals of other metrics than proportions that use no resamples."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from ..evidence import Evidence
from ..proportions import distance_limits
from . import registered


def _needs_delong(evidence: Evidence) -> str:
    if evidence.facts.delong is not None and np.isnan(evidence.facts.delong.standard_error):
        return "needs at least two rows of each class."
    if evidence.facts.delong is None or not evidence.independent_rows:
        return (
            "needs the area under the ROC curve of two classes, on independent, unweighted "
            "rows. Use interval='bca', or 'expanded' with groups."
        )
    return ""


def _needs_bins(evidence: Evidence) -> str:
    if evidence.facts.bins is None:
        return "is for the expected calibration error."
    if evidence.drawn.kind not in ("rows", "groups", "crossed", "one population"):
        return "knows rows, groups and crossed groups alone."
    return ""


@registered("delong", "DeLong interval", _needs_delong, uses_resamples=False)
def _delong(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """AUC -/+ z standard errors of DeLong et al. (1988)."""
    assert evidence.facts.delong is not None
    half = ndtri(0.5 + confidence_level / 2) * evidence.facts.delong.standard_error
    return evidence.estimate - half, evidence.estimate + half


@registered(
    "bins",
    "interval from exact limits of all bins at once",
    _needs_bins,
    uses_resamples=False,
    no_difference="is made of the bins of one system",
)
def _bins(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Smallest and largest sum of distances of shares within their simultaneous limits.

    The limits of each bin are those of Clopper & Pearson (1934) at the level of one in all (Sidak
    1967), as a quantile of Student's t where groups were drawn.
    """
    assert evidence.facts.bins is not None
    single = ndtri(0.5 + confidence_level ** (1 / evidence.facts.bins.shape[1]) / 2)
    if not evidence.drawn.design.units_are_rows:
        # Imported here, because few calls have groups and bins.
        from ..multiplicity import t_quantile_of_normal

        single = t_quantile_of_normal(
            single, evidence.drawn.degrees_of_freedom, evidence.drawn.inflation
        )
    least, greatest = distance_limits(evidence.facts.bins, float(2 * ndtr(single) - 1))
    # Of a negated error the range ends at 0.
    return (-greatest, -least) if evidence.facts.bounds[1] <= 0 else (least, greatest)
