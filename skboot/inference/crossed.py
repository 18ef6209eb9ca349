"""The cluster-robust variance of a score of two crossed factors, from the influence of each cell.

A cell is a pair of members, whose weight in a resample is a product u v. Since u v - 1 = (u - 1) +
(v - 1) + (u - 1)(v - 1), resamples count the noise that cells have of their own three times: with
the members of each side, and by itself (Owen 2007, Annals of Applied Statistics 1:386). Where
members hardly differ, or what they have in common cancels, that makes their variance up to three
times that of the score. The cluster-robust variance counts it once: the squared influences of cells
summed by member of one side, plus those of the other, less those of single cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.statistic import Statistic
from ..resampling.design import CrossedDesign, RowDesign
from ..resampling.plan import ResamplingPlan
from .distribution import BoundStatistic, leave_out

Floats = NDArray[np.float64]


class RobustVariance(NamedTuple):
    """Cluster-robust variance of a score; see `robust_variance`."""

    value: float


def has_influence(statistic: Statistic) -> bool:
    """Whether a metric is smooth, and known without each cell in closed form: of sums or pairs."""
    return statistic.reads in ("sums", "pairs")


def crossed_covariances(
    design: CrossedDesign, statistics: Sequence[BoundStatistic], estimates: Sequence[float]
) -> Floats:
    """Covariances of statistics by the influence of cells, and of all cells of each member.

    Parameters
    ----------
    design : CrossedDesign
        The factors.
    statistics : sequence of BoundStatistic
        Of which `has_influence` is true.
    estimates : sequence of float
        Their values on the data.

    Returns
    -------
    ndarray of shape (1 + n_sides, n_statistics, n_statistics)
        Sums of products of influences, first over the cells that pair two members, then over the
        members of each side; one population is one side. The influence of a row is the estimate
        less the value without it (Efron 1982, section 3); those of the rows of a cell, or a member,
        are added. NaN for a statistic that is undefined without some row.
    """
    influence = np.array(
        [
            _influence(statistic, estimate, design.n_samples)
            for statistic, estimate in zip(statistics, estimates, strict=True)
        ]
    )
    assert design.members is not None
    first, second = design.members.T
    of_two = influence
    sides = [_summed(influence, first), _summed(influence, second)]
    if design.same_population:
        # Resamples count a member that is paired with itself once, as the sums over members do.
        of_two = influence * (first != second)
        n = design.n_units[0]
        sides = [_summed(influence, first, n) + _summed(of_two, second, n)]
    return np.array([part @ part.T for part in (_summed(of_two, design.cells), *sides)])


def _influence(statistic: BoundStatistic, estimate: float, n_samples: int) -> Floats:
    """Influence of each row, (n_samples,): the estimate less the value without it."""
    coding = statistic.coding
    rows = np.arange(n_samples) if coding.rows is None else coding.rows
    # Rows of equal code are interchangeable, so that one of each is left out.
    plan = ResamplingPlan(RowDesign.of(len(rows)), 1, np.random.SeedSequence(0))
    of_code = estimate - leave_out(plan.bind([coding._replace(rows=None)]), [statistic]).values[0]
    influence = np.zeros(n_samples)
    influence[rows] = of_code if coding.code is None else of_code[coding.code.astype(np.intp)]
    return influence


def _summed(influence: Floats, number: NDArray[Any], n: int = 0) -> Floats:
    """Influences of rows summed by number, (n_statistics, n)."""
    return np.array([np.bincount(number, line, n) for line in influence])


def robust_variance(covariances: Any, n_units: tuple[int, ...]) -> Any:
    """Cluster-robust variance of two factors, or of pairs of one population.

    Parameters
    ----------
    covariances : ndarray of shape (1 + n_sides, ...)
        Variances of scores or of differences, by cells and by the members of each side; see
        `crossed_covariances`.
    n_units : tuple of int
        Members of each side.

    Returns
    -------
    ndarray of shape (...)
        V_1 + V_2 - V_cells (Cameron, Gelbach and Miller 2011, Journal of Business & Economic
        Statistics 29:238, equation 2.10) or V_1 - V_cells (Aronow, Samii and Assenova 2015,
        Political Analysis 23:564), each V of members times n / (n - 1). As differences of variances
        can be much too small by chance, at least the largest of its terms.
    """
    cells, *sides = covariances
    sides = [side * n / max(n - 1, 1) for side, n in zip(sides, n_units, strict=True)]
    return np.maximum.reduce([sum(sides) - cells, cells, *sides])
