"""How far rows depend on each other, from the value or the influence of each row.

Of rows in time:

* `optimal_block_length`: how long blocks must be (Politis & White 2004, with the correction of
  Patton, Politis & White 2009, for circular blocks); several series of a panel have one length,
  from autocovariances that are pooled over them;
* `over_time`: the standard error of a score by equal-weighted cosines, with its degrees of freedom
  (EWC; Lazarus, Lewis, Stock & Watson 2018), and how much consecutive rows have in common;
* `plain_season`: after how many rows values repeat, where they plainly do;
* `move_together`: whether series share what moves them, which blocks of each of them lose;
* `neighbours_are_alike`: whether rows that were taken as independent hardly are, and were not just
  sorted.

Of rows that pair members of two crossed factors:

* `crossed_covariances`, `robust_variance`: the cluster-robust variance of a score, from the
  influence of each cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.special import chdtrc, ndtri

from .._base.work import single_threaded_blas
from ..metrics.statistic import Statistic
from ..resampling.design import CrossedDesign, RowDesign
from ..resampling.jackknife import has_closed_forms
from ..resampling.plan import ResamplingPlan
from ._tuning import (
    COSINES,
    FEW_ROWS_CARRY,
    FEWEST_APART,
    FEWEST_BLOCKS,
    FEWEST_COSINES,
    FEWEST_ROWS,
    FEWEST_SEASONS,
    LOST,
    MORE_SIMILAR,
    MORE_SURE,
    MOST_ALIKE,
    PARTS_APART,
    PLAIN_SEASON,
    SHORTEST_SEASON,
    SIMILAR,
    SLOPE,
    UNSURE,
    UNSURE_TOGETHER,
)
from .distribution import BoundStatistic, JackknifeValues, leave_out

Floats = NDArray[np.float64]


def optimal_block_length(influence: Floats, sizes: NDArray[np.integer]) -> float:
    """Length of circular blocks whose resamples have the variance of the data, or nearly so.

    Parameters
    ----------
    influence : ndarray of shape (n_samples,)
        Influence of each row on the metric, series by series, in time order.
    sizes : ndarray of shape (n_series,)
        Rows of each series.

    Returns
    -------
    float
        At least 1; 1 where no row differs from another.

    Notes
    -----
    L = (2 G^2 / D)^(1/3) n^(1/3), with G = sum lambda(k / M) |k| R(k), D = 4/3 g^2, and g = sum
    lambda(k / M) R(k); R are autocovariances, lambda is 1 up to 1/2 and falls to 0 at 1. M is twice
    the first lag from which the next K = max(5, log10 n) autocorrelations are smaller than
    2 sqrt(log10(n) / n), and at most ceil(sqrt n) + K.
    """
    n = len(influence)
    centred = influence - np.repeat(np.add.reduceat(influence, _first(sizes)) / sizes, sizes)
    n_lags = max(5, int(np.log10(n)))
    # Beyond the longest series nothing is seen.
    most = min(int(np.ceil(np.sqrt(n))) + n_lags, int(sizes.max()) - 2)
    size = float(centred @ centred)
    if most < 1 or size <= 1e-24 * float(influence @ influence):
        return 1.0
    lags = _Lags(centred, sizes)
    limit = 2 * np.sqrt(np.log10(n) / n)
    small, bandwidth = 0, most
    for lag in range(1, most + 1):
        small = small + 1 if abs(lags.correlation(lag)) < limit else 0
        if small == n_lags and lag < most:
            bandwidth = min(2 * (lag - n_lags + 1), most)
            break
    k = np.arange(1, bandwidth + 1)
    covariance = np.array([lags.covariance(lag) for lag in k.tolist()])
    weighted = 2 * np.minimum(1.0, 2 * (1 - k / bandwidth)) * covariance
    spectrum = size / n + float(weighted.sum())
    slope = float(k @ weighted)
    if spectrum == 0:
        return 1.0
    return float(max(1.0, (1.5 * n) ** (1 / 3) * abs(slope / spectrum) ** (2 / 3)))


def shortest_block(influence: Floats) -> int:
    """Fewest rows of a block: 2 where few rows carry the variation, or none, else 1.

    So few do not show whether they stand together, and single rows would say that they do not.
    """
    squares = (influence - influence.mean()) ** 2
    fourth = float(squares @ squares)
    return 2 if float(squares.sum()) ** 2 < FEW_ROWS_CARRY * fourth or fourth == 0 else 1


def longest_block(n_samples: int, shortest: int) -> int:
    """Most rows of a block: a third of the shortest series, 3 sqrt(n) of n rows, enough blocks.

    Two series or more have `FEWEST_BLOCKS` by the first rule alone.
    """
    longest = (n_samples - 1) // (FEWEST_BLOCKS - 1)
    return max(1, min(int(np.ceil(3 * np.sqrt(n_samples))), shortest // 3, longest))


def leave_out_blocks(
    plan: ResamplingPlan, statistics: Sequence[BoundStatistic], most: int
) -> JackknifeValues | None:
    """Evaluate statistics without each block of a plan of rows in time.

    None where that has no closed form for all of them, and there are more blocks than ``most``.
    """
    binding = plan.bind([bound.coding for bound in statistics])
    if has_closed_forms(binding.units_of_codes) or plan.design.n_units[0] <= most:
        with single_threaded_blas():
            return leave_out(binding, statistics)
    return None


class OverTime(NamedTuple):
    """How much a score varies over rows in time.

    Attributes
    ----------
    standard_error : float
        Standard error by equal-weighted cosines.
    degrees_of_freedom : float
        Number of cosines; of several series by Satterthwaite's rule.
    correlation : float
        Correlation of the influences of consecutive rows, at least 0.
    """

    standard_error: float
    degrees_of_freedom: float
    correlation: float


def over_time(shares: Floats, sizes: NDArray[np.integer], length: int) -> OverTime:
    """How much a score varies, from what each row moves it.

    Parameters
    ----------
    shares : ndarray of shape (n_samples,)
        Influence of each row over the number of rows, series by series, in time order; without
        dependence the sum of their squares is the variance of the score.
    sizes : ndarray of shape (n_series,)
        Rows of each series.
    length : int
        Rows of a block.

    Returns
    -------
    OverTime

    Notes
    -----
    The variance of a series of n rows is n times the mean of the B first squared coordinates of its
    shares on cosines that go 1/2, 1, 3/2, ... times round, B = .4 n^(2/3) (Lazarus et al. 2018,
    equation 4), or half as many as there are blocks where these are fewer: blocks follow what the
    rows show of their dependence.

    The correlation is (c + m) / (v + 2 m), with v the sum of squared shares, c that of the products
    of consecutive ones, and m = sum of fourth powers / v: one pair of rows as large as those that
    carry the variation, of which the second follows the first. Of few wrong rows it is the share
    that follow a wrong one, (n_11 + 1) / (n_1 + 2), beyond chance; of none it is one half.
    """
    # Imported here, because few calls have rows in time.
    from .runs import satterthwaite

    centred = shares - np.repeat(np.add.reduceat(shares, _first(sizes)) / sizes, sizes)
    squares = centred**2
    size = float(squares.sum())
    if size <= 1e-24 * float(shares @ shares):
        centred[:] = size = 0.0
    terms = []
    for start, n in zip(_first(sizes).tolist(), sizes.tolist(), strict=True):
        most = min(round(COSINES * n ** (2 / 3)), n // (2 * length))
        n_cosines = min(max(most, FEWEST_COSINES), n - 1)
        if n_cosines:
            # The transform of the values and their mirror image has cosines alone.
            series = centred[start : start + n]
            waves = np.fft.rfft(np.concatenate((series, series[::-1])))
            square = float(np.mean(np.abs(waves[1 : n_cosines + 1]) ** 2) / 2)
            terms.append((square, float(n_cosines)))
    variance = sum(square for square, _ in terms)
    correlation = 0.5
    if size > 0:
        carrier = float(squares @ squares) / size
        together = _Lags(centred, sizes).covariance(1) * len(centred)
        correlation = (together + carrier) / (size + 2 * carrier)
    df = satterthwaite(variance, terms, otherwise=sum(df for _, df in terms))
    return OverTime(float(np.sqrt(variance)), float(df), float(np.clip(correlation, 0, MOST_ALIKE)))


def plain_season(influence: Floats, sizes: NDArray[np.integer]) -> int | None:
    """After how many rows influences repeat; None where no season is plain.

    Parameters
    ----------
    influence : ndarray of shape (n_samples,)
        Influence of each row on the metric, series by series, in time order.
    sizes : ndarray of shape (n_series,)
        Rows of each series; the longest one is looked at.

    Returns
    -------
    int or None
        At least `SHORTEST_SEASON`, so that the series has `FEWEST_SEASONS` or more. A frequency is
        plain whose power is `PLAIN_SEASON` times what the median of its neighbours lets expect.
    """
    longest = int(np.argmax(sizes))
    start, n = int(_first(sizes)[longest]), int(sizes[longest])
    values = influence[start : start + n] - influence[start : start + n].mean()
    power = np.abs(np.fft.rfft(values)) ** 2
    strongest, most = 0, PLAIN_SEASON
    for k in range(FEWEST_SEASONS, n // SHORTEST_SEASON + 1):
        # A season that does not go into the rows shows at two frequencies.
        reach = max(8, k // 2)
        near = np.concatenate((power[max(1, k - reach) : k - 1], power[k + 2 : k + reach]))
        # Of an exponential distribution the mean is the median over log 2.
        if power[k] * np.log(2) > most * (usual := float(np.median(near))) and usual > 0:
            strongest, most = k, power[k] * np.log(2) / usual
    if not strongest:
        return None
    longest_season = min(-(-n // (strongest - 1)), n // FEWEST_SEASONS)
    periods = np.arange(max(n // (strongest + 1), SHORTEST_SEASON), longest_season + 1)
    waves = np.exp(-2j * np.pi * np.outer(1 / periods, np.arange(n))) @ values
    return int(periods[np.argmax(np.abs(waves))])


def move_together(
    influence: Floats, sizes: NDArray[np.integer], length: int, n_looks: int = 1
) -> bool:
    """Whether series rise and fall at the same positions, so that blocks of each lose variance.

    Parameters
    ----------
    influence : ndarray of shape (n_samples,)
        Influence of each row on the metric, series by series, in time order.
    sizes : ndarray of shape (n_series,)
        Rows of each series; those of the most common size are looked at.
    length : int
        Rows of a block.
    n_looks : int
        In how many influences an alarm is looked for.

    Returns
    -------
    bool
        False without two series of one size.

    Notes
    -----
    Coordinates of a stationary series on cosines hardly depend on each other, however slow it is
    (as in `over_time`), and have either sign. At each frequency the squared sum over series, over
    the sum of their squares, has mean 1 and variance 2 (1 - sum c^4 / (sum c^2)^2) if no two
    series depend on each other, and the mean over frequencies is about a multiple of chi squared.
    It must be as large as that is with a chance of `UNSURE_TOGETHER`.

    The variance of block sums of all series together must be `LOST` times that of blocks of each
    as well: what repeats with each block, as a season does, varies in neither.

    Of 1000 panels of independent series a cell (2 to 12 series of 40 to 120 rows, coefficients 0 to
    .9) at most .3% were taken to move together by absolute errors, .7% by squared ones and 1.4%
    by fourth powers; of those of 12 series of 120 rows with coefficient .6 that share half of their
    variance 99% (record 0105).
    """
    most_common = np.bincount(sizes).argmax()
    is_own = np.repeat(sizes == most_common, sizes)
    panel = influence[is_own].reshape(-1, most_common)
    waves = dct(panel, norm="ortho")[:, 1:]
    power = np.sum(waves**2, axis=0)
    varies = power > 1e-24 * float(influence @ influence)
    waves, power = waves[:, varies], power[varies]
    if len(panel) < 2 or not len(power):
        return False
    ratio = np.sum(waves, axis=0) ** 2 / power
    variance = float(np.sum(2 * (1 - np.sum(waves**4, axis=0) / power**2)))
    df = 2 * len(power) ** 2 / variance if variance > 0 else np.inf
    if not chdtrc(df, df * ratio.mean()) < UNSURE_TOGETHER / n_looks:
        return False
    sums = np.cumsum(np.concatenate((panel, panel[:, :length]), axis=1), axis=1)
    sums = sums[:, length:] - sums[:, :-length]
    return bool(np.var(sums.sum(axis=0)) > LOST * np.var(sums, axis=1).sum())


def _first(sizes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the position of the first row of each series."""
    return np.cumsum(sizes) - sizes


def neighbours_are_alike(
    values: NDArray[Any],
    row: NDArray[np.intp],
    neighbour: NDArray[np.intp],
    strata: NDArray[np.intp] | None = None,
    n_looks: int = 1,
) -> bool:
    """Whether values of neighbours are correlated, more than chance and a sorted order explain.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Values of some rows, in any type that can be sorted.
    row, neighbour : ndarray of shape (n_pairs,)
        Numbers of rows that are neighbours, pair by pair in the order of all rows.
    strata : ndarray of shape (n_rows,), optional
        Pairs of one stratum alone count, and deviations from its mean.
    n_looks : int
        In how many sets of values an alarm is looked for.

    Returns
    -------
    bool
        False with fewer than `FEWEST_ROWS` pairs.

    Notes
    -----
    The rank correlation of neighbours, without the two pairs that speak most for it, must be at
    least `SIMILAR`, and as far from 0 as that of independent rows is with a chance of `UNSURE`. It
    must exceed the correlation of rows that are a few hundredths of all rows apart as well: where
    rows were sorted by something that their values depend on, these are as much alike.
    """
    # Ranks make the largest of heavy tails no larger than the others.
    if values.dtype == bool:
        number, n_true = values.astype(np.intp), int(np.count_nonzero(values))
        counts = np.array([len(values) - n_true, n_true])
    else:
        _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - counts / 2)[number]
    if strata is None:
        strata = np.zeros(len(rank), dtype=np.intp)
    rank -= (np.bincount(strata, rank) / np.maximum(np.bincount(strata), 1))[strata]
    size = float(rank @ rank) / len(rank)
    products = _products(rank, row, neighbour, strata)
    if len(products) < FEWEST_ROWS or size <= 0:
        return False
    # Two errors that happen to be neighbours are no sign of more.
    total = products.sum() - np.partition(products, -2)[-2:].sum()
    correlation = float(total) / (size * len(products))
    error = 1 / float(np.sqrt(len(products)))
    if correlation <= max(SIMILAR, -float(ndtri(UNSURE / n_looks)) * error):
        return False
    nearest = max(FEWEST_APART, len(row) // PARTS_APART)
    apart = [
        _products(rank, row[:-lag], row[lag:], strata) for lag in range(nearest, 2 * nearest + 1)
    ]
    further = np.concatenate(apart)
    beyond = float(further.mean()) / size if len(further) else 0.0
    # What sorted rows have in common cancels in the difference but for its slope, and what is left
    # of their values varies as that of independent rows.
    slope = SLOPE * nearest / len(row)
    return correlation - beyond > max(MORE_SIMILAR, slope, MORE_SURE * error * (1 - beyond))


def _products(
    rank: Floats, rows_a: NDArray[np.intp], rows_b: NDArray[np.intp], strata: NDArray[np.intp]
) -> Floats:
    """Return the products of the pairs whose rows are in one stratum."""
    in_one_stratum = strata[rows_a] == strata[rows_b]
    return rank[rows_a[in_one_stratum]] * rank[rows_b[in_one_stratum]]


class _Lags:
    """Autocovariances within series, pooled over them."""

    def __init__(self, centred: Floats, sizes: NDArray[np.integer]) -> None:
        self._values, self._sizes, self._first = centred, sizes, _first(sizes)
        self._products: dict[int, float] = {}
        # Without several series nothing needs to be masked.
        self._series = np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else None
        size = float(centred @ centred)
        # Sums of squares of the rows that have others so far before them, and behind them.
        self._later, self._earlier = [size], [size]

    def covariance(self, lag: int) -> float:
        """Sum of the products of rows ``lag`` apart, over the number of all rows.

        The lag is at least 1, and less than the number of rows.
        """
        if lag not in self._products:
            later, earlier = self._values[lag:], self._values[:-lag]
            if self._series is not None:
                later = np.where(self._series[lag:] == self._series[:-lag], later, 0.0)
            self._products[lag] = float(later @ earlier) / len(self._values)
        return self._products[lag]

    def correlation(self, lag: int) -> float:
        """Autocorrelation, by the variances of the rows that lie beyond the lag on each side."""
        while len(self._later) < lag + 2:
            step = len(self._later) - 1
            longer = self._sizes > step
            heads = self._first[longer] + step
            tails = self._first[longer] + self._sizes[longer] - 1 - step
            self._later.append(self._later[-1] - float(np.sum(self._values[heads] ** 2)))
            self._earlier.append(self._earlier[-1] - float(np.sum(self._values[tails] ** 2)))
        scale = self._later[lag + 1] * self._earlier[lag + 1]
        if scale <= 0:
            return 0.0
        return self.covariance(lag) * len(self._values) / float(np.sqrt(scale))


# ------------------------------------------------------------------ crossed factors
#
# A cell is a pair of members, whose weight in a resample is a product u v. Since
# u v - 1 = (u - 1) + (v - 1) + (u - 1)(v - 1), resamples count the noise that cells have of their
# own three times: with the members of each side, and by itself (Owen 2007, Annals of Applied
# Statistics 1:386). Where members hardly differ, or what they have in common cancels, that makes
# their variance up to three times that of the score. The cluster-robust variance counts it once:
# the squared influences of cells summed by member of one side, plus those of the other, less those
# of single cells.


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
        Statistics of which `has_influence` is true.
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
    # Influence of each row: the estimate less the value without it.
    influence = np.zeros((len(statistics), design.n_samples))
    for line, statistic, estimate in zip(influence, statistics, estimates, strict=True):
        coding = statistic.coding
        rows = np.arange(design.n_samples) if coding.rows is None else coding.rows
        # Rows of equal code are interchangeable, so that one of each is left out.
        plan = ResamplingPlan(RowDesign.of(len(rows)), 1, np.random.SeedSequence(0))
        binding = plan.bind([coding._replace(rows=None)])
        with single_threaded_blas():
            code_influence = estimate - leave_out(binding, [statistic]).values[0]
        line[rows] = (
            code_influence if coding.code is None else code_influence[coding.code.astype(np.intp)]
        )
    assert design.members is not None
    side_a, side_b = design.members.T
    of_distinct = influence
    sides = [_sum_by_number(influence, side_a), _sum_by_number(influence, side_b)]
    if design.same_population:
        # Resamples count a member that is paired with itself once, as the sums over members do.
        of_distinct = influence * (side_a != side_b)
        n = design.n_units[0]
        sides = [_sum_by_number(influence, side_a, n) + _sum_by_number(of_distinct, side_b, n)]
    return np.array([part @ part.T for part in (_sum_by_number(of_distinct, design.cells), *sides)])


def _sum_by_number(influence: Floats, number: NDArray[Any], n: int = 0) -> Floats:
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
