"""Methods over several data sets: means of new data sets or of these alone, and tests of ranks.

* `MeansOfDrawn`: the data sets are a sample. The mean over them is judged by their spread and their
  skewness, see `skboot.inference.intervals`; resamples show how else it might have come out.
* `mean_of_these`: the data sets are all there is. The mean is as uncertain as the scores on each.
* `ranks_of_rows`, `mean_rank_limits`: mean ranks with intervals that hold for all methods at once;
* `friedman_test`: whether any method differs from any other;
* `critical_difference`: how far two mean ranks must be apart;
* `wilcoxon_p_values`: two methods by the signed ranks of their differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from ._tuning import DATA_SETS_FOR_PIVOTS
from .multiplicity import max_t_quantile
from .runs import satterthwaite

Floats = NDArray[np.float64]

# Share of drawn values, or of their squares, below which a mean, or a variance, is rounding.
_MOMENT_ROUNDING = 1e-12
# Data sets of the best and of the worst rank that are added to the variance of a mean rank, each
# this often, as Agresti & Coull (1998) add two hits and two misses to a proportion.
_ADDED = 2
# Largest number of data sets (data sets) for which the distribution of a signed-rank statistic is
# exact, as scipy has it, with ties or differences of 0 and without; above it the normal
# distribution is taken.
_ALL_SIGNS, _EXACT = 13, 50


# ------------------------------------------------------------------ new data sets


@dataclass(frozen=True, eq=False)
class MeansOfDrawn:
    """Means of several columns over data sets that are a sample, and the same on resamples.

    Attributes
    ----------
    values : ndarray of shape (n_datasets, n_columns)
        A number per data set: scores, differences.
    counts : ndarray of shape (n_resamples, n_datasets)
        How often each resample holds each data set.
    """

    values: Floats
    counts: NDArray[np.integer]

    @cached_property
    def means(self) -> Floats:
        """Over the data sets, (n_columns,)."""
        return np.asarray(self.values.mean(axis=0))

    @cached_property
    def deviations(self) -> Floats:
        """Standard deviation over the data sets, (n_columns,); 0 where they differ by rounding."""
        spread = self.values.std(axis=0, ddof=1)
        return np.where(spread <= _MOMENT_ROUNDING * np.abs(self.values).max(axis=0), 0.0, spread)

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the means, (n_columns,)."""
        return np.asarray(self.deviations / np.sqrt(len(self.values)))

    @property
    def accelerations(self) -> Floats:
        """Skewness over the data sets by 6 times the root of their number, (n_columns,)."""
        scale = np.where(self.deviations > 0, self.deviations, np.inf)
        cubes = (((self.values - self.means) / scale) ** 3).sum(axis=0)
        return np.asarray(cubes / (6 * (len(self.values) - 1) ** 1.5))

    @cached_property
    def _resampled(self) -> tuple[Floats, Floats]:
        """Deviation of the mean on each resample, and its variance there."""
        n = len(self.values)
        centred = np.where(self.deviations > 0, self.values - self.means, 0.0)
        weights = self.counts / n
        shift, squares = weights @ centred, weights @ centred**2
        variance = squares - shift**2
        variance[variance <= _MOMENT_ROUNDING * squares] = 0.0
        return shift, variance / (n - 1)

    @cached_property
    def replicates(self) -> Floats:
        """Means on the resamples, (n_resamples, n_columns)."""
        means = self._resampled[0] + self.means
        # Ties of two methods are exact, so that each counts half.
        means[np.abs(means) <= _MOMENT_ROUNDING * np.abs(self.values).max(axis=0)] = 0.0
        return means

    @cached_property
    def replicate_standard_errors(self) -> Floats:
        """Standard error of the mean in each resample, (n_resamples, n_columns)."""
        return np.asarray(np.sqrt(self._resampled[1]))


# ------------------------------------------------------------------ these data sets


def mean_of_these(errors: Floats, degrees_of_freedom: Floats) -> tuple[Floats, Floats]:
    """Standard error of a mean over given data sets, from the standard error on each.

    Parameters
    ----------
    errors : ndarray of shape (n_datasets, n_columns)
        Standard error on each data set.
    degrees_of_freedom : ndarray of shape (n_datasets, n_columns)
        Degrees of freedom of each of them; infinite where it is known exactly.

    Returns
    -------
    standard_errors : ndarray of shape (n_columns,)
        The square root of sum se_k^2, by the number of data sets.
    degrees_of_freedom : ndarray of shape (n_columns,)
        (sum se_k^2)^2 / sum(se_k^4 / df_k) (Satterthwaite 1946); at least the smallest of them.
    """
    total = (errors**2).sum(axis=0)
    freedom = [
        satterthwaite(
            float(total[k]),
            list(zip(errors[:, k] ** 2, degrees_of_freedom[:, k], strict=True)),
            otherwise=float(degrees_of_freedom[:, k].min()),
        )
        for k in range(errors.shape[1])
    ]
    return np.sqrt(total) / len(errors), np.array(freedom)


def between_deviation(deviations: Floats, errors: Floats) -> Floats:
    """Standard deviation of true values over data sets, from that of estimates and their errors.

    Parameters
    ----------
    deviations : ndarray of shape (n_columns,)
        Standard deviation of the estimates over the data sets.
    errors : ndarray of shape (n_datasets, n_columns)
        Standard error of each estimate.

    Returns
    -------
    ndarray of shape (n_columns,)
        The root of what the mean squared error leaves of the variance; 0 where it leaves nothing.
    """
    return np.sqrt(np.maximum(deviations**2 - (errors**2).mean(axis=0), 0.0))


# ------------------------------------------------------------------ ranks


class FriedmanTest(NamedTuple):
    """Friedman's test that all methods have the same expected rank.

    Attributes
    ----------
    statistic : float
        Corrected for ties; NaN where all methods tie on every data set.
    p_value : float
        From the chi-square distribution with n_methods - 1 degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=15)
    >>> scores = np.column_stack([base, base + 0.02 + 0.02 * rng.normal(size=15)])
    >>> result = compare_across(scores, datasets=[f"set {k}" for k in range(15)],
    ...                         methods=["old", "new"], greater_is_better=True, random_state=0)
    >>> f"{result.friedman.statistic:.1f}, p = {result.friedman.p_value:.4f}"
    '15.0, p = 0.0001'
    """

    statistic: float
    p_value: float


def ranks_of_rows(scores: Floats, *, greater_is_better: bool) -> Floats:
    """Rank the methods on each data set, 1 for the best; ties share their mean rank.

    Parameters
    ----------
    scores : ndarray of shape (n_datasets, n_methods)
        One number each.
    greater_is_better : bool
        Direction of the scores.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
    """
    return np.asarray(stats.rankdata(-scores if greater_is_better else scores, axis=1))


def friedman_test(ranks: Floats) -> FriedmanTest:
    """Test whether all methods have the same expected rank.

    Parameters
    ----------
    ranks : ndarray of shape (n_datasets, n_methods)
        Ranks of the methods on each data set, ties sharing their mean.

    Returns
    -------
    FriedmanTest

    References
    ----------
    Friedman (1937), Journal of the American Statistical Association 32:675; Demsar (2006), Journal
    of Machine Learning Research 7:1.
    """
    n, m = ranks.shape
    between = n * ((ranks.mean(axis=0) - (m + 1) / 2) ** 2).sum()
    within = ((ranks - (m + 1) / 2) ** 2).sum() / (n * (m - 1))
    if within == 0:
        return FriedmanTest(np.nan, np.nan)
    statistic = float(between / within)
    return FriedmanTest(statistic, float(special.chdtrc(m - 1, statistic)))


def critical_difference(n_datasets: int, n_methods: int, confidence_level: float) -> float:
    """Return how far two mean ranks must be apart to differ, over all pairs of methods at once.

    Parameters
    ----------
    n_datasets, n_methods : int
        Their numbers.
    confidence_level : float
        1 - the level of the test.

    Returns
    -------
    float
        q sqrt(M (M + 1) / (6 K)), q the quantile of the studentized range of M normal variables
        by sqrt 2 (Nemenyi 1963; Demsar 2006, section 3.2.2).
    """
    quantile = float(stats.studentized_range.ppf(confidence_level, n_methods, np.inf))
    spread = np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
    return float(quantile / np.sqrt(2) * spread)


def mean_rank_limits(ranks: Floats, counts: NDArray[np.integer], confidence_level: float) -> Floats:
    """Limits of the expected ranks of all methods at once.

    Parameters
    ----------
    ranks : ndarray of shape (n_datasets, n_methods)
        Ranks of the methods on each data set.
    counts : ndarray of shape (n_resamples, n_datasets)
        How often each resample holds each data set.
    confidence_level : float
        Confidence level of all intervals together.

    Returns
    -------
    ndarray of shape (n_methods, 2)
        Mean rank -/+ c standard errors, within 1 and the number of methods. c is the quantile of
        the largest studentized deviation over the resamples, at least Student's t of one mean; for
        few data sets Bonferroni's of Student's t.

    Notes
    -----
    A method that is first on every data set has ranks without spread, and would be first for sure.
    So the variance is at least that with two more data sets on which it were first, and two on
    which it were last. For two methods this is the variance of Agresti & Coull (1998) for a
    proportion.
    """
    n, m = ranks.shape
    mean = ranks.mean(axis=0)
    error = _error(mean, (ranks**2).mean(axis=0), n, m)
    if n < DATA_SETS_FOR_PIVOTS:
        c = float(special.stdtrit(n - 1, 1 - (1 - confidence_level) / (2 * m)))
    else:
        weights = counts / n
        means = weights @ ranks
        deviations = np.abs(means - mean) / _error(means, weights @ ranks**2, n, m)
        # Ranks without spread have no deviations; then that of a single mean is the least.
        least = float(special.stdtrit(n - 1, 0.5 + confidence_level / 2))
        c = max(max_t_quantile(deviations.max(axis=1), confidence_level), least)
    limits = np.stack([mean - c * error, mean + c * error], axis=1)
    return np.asarray(np.clip(limits, 1.0, m))


def _error(mean: Floats, mean_square: Floats, n: int, m: int) -> Floats:
    """Standard error of mean ranks, not below that with some data sets added at both ends."""
    variance = np.maximum(mean_square - mean**2, 0.0) * n / (n - 1)
    total = n + 2 * _ADDED
    padded = (n * mean + _ADDED * (1 + m)) / total
    squares = (n * mean_square + _ADDED * (1 + m**2)) / total
    return np.asarray(np.sqrt(np.maximum(variance, squares - padded**2) / n))


def wilcoxon_p_values(differences: Floats, alternative: str = "two-sided") -> Floats:
    """P-values of Wilcoxon's signed-rank test, as `scipy.stats.wilcoxon` gives them one by one.

    Parameters
    ----------
    differences : ndarray of shape (n_datasets, n_pairs)
        First minus second; differences of 0 are left out.
    alternative : {"two-sided", "greater", "less"}
        Alternative of the first minus the second.

    Returns
    -------
    ndarray of shape (n_pairs,)
        1 where all differences are 0. Exact for up to 50 data sets without ties and differences of
        0, or for up to 13; else by the normal distribution of the statistic.

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1:80.
    """
    sizes, n = np.abs(differences.T), len(differences)
    least, most = (stats.rankdata(sizes, how, axis=1).astype(np.intp) for how in ("min", "max"))
    counts = np.count_nonzero(sizes, axis=1)[:, None]
    # Differences of 0 have the lowest ranks of all. Twice a rank is whole, that of a tie too.
    ranks = np.where(sizes > 0, least + most - 2 * (n - counts), 0)
    tied = np.where(sizes > 0, (most - least + 1) ** 2 - 1, 0).sum(axis=1)
    statistics = np.where(differences.T > 0, ranks, 0).sum(axis=1)
    # By the normal distribution of the statistic: probabilities of one at least, and at most, as
    # large.
    n_used = counts[:, 0].astype(np.float64)
    variance = (n_used * (n_used + 1) * (2 * n_used + 1) - tied / 2) / 24
    with np.errstate(invalid="ignore"):
        z = (statistics / 2 - n_used * (n_used + 1) / 4) / np.sqrt(variance)
    above, below = special.ndtr(-z), special.ndtr(z)
    exact = (n <= _ALL_SIGNS) | ((n <= _EXACT) & (counts[:, 0] == n) & (tied == 0))
    patterns, pattern_numbers = np.unique(
        np.sort(ranks[exact], axis=1), axis=0, return_inverse=True
    )
    laws = np.zeros((len(patterns), n * (n + 1) + 1))
    for law, pattern in zip(laws, patterns, strict=True):
        # The exact probability of each sum of some ranks, each there or not.
        law[0] = 1.0
        for rank in pattern[pattern > 0].tolist():
            law[rank:] += law[:-rank].copy()
            law /= 2
    at = pattern_numbers.ravel(), statistics[exact]
    above[exact] = laws[:, ::-1].cumsum(axis=1)[:, ::-1][at]
    below[exact] = laws.cumsum(axis=1)[at]
    p = {"greater": above, "less": below, "two-sided": 2 * np.minimum(above, below)}[alternative]
    return np.where(counts[:, 0] == 0, 1.0, np.minimum(p, 1.0))
