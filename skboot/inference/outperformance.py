"""How often one method beats another: P(A > B) over runs that belong together.

The difference of expected scores says which method is better on average; P(A > B) says how often a
run of the first beats a run of the second that was trained on the same sample. Two methods of
nearly equal mean can differ in it, and a large difference of means can come from few runs: report
both.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ..metrics.additive import mean_of_values
from ..resampling.design import GroupDesign
from ..resampling.plan import ResamplingPlan
from .distribution import BoundStatistic, bootstrap
from .intervals import quantile
from .proportions import score_limits

MEANINGFUL = 0.75
"""P(A > B) from which a method is called meaningfully better (Bouthillier et al. 2021)."""


class Outperformance(NamedTuple):
    """P(A > B) of two methods over paired runs.

    Attributes
    ----------
    probability : float
        Share of the pairs of runs in which the first method scored better, ties half.
    low, high : float
        Percentile interval over bootstrap samples of the pairs.
    confidence_level : float
    n_pairs : int
    """

    probability: float
    low: float
    high: float
    confidence_level: float
    n_pairs: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval lies on one side of .5."""
        return self.low > 0.5 or self.high < 0.5

    @property
    def verdict(self) -> str:
        """By the rule of Bouthillier et al. (2021), in favour of whichever method it is.

        "not significant" where the interval holds .5; "significant, not meaningful" where it does
        not reach beyond .75 (.25); else "significant and meaningful".
        """
        if not self.is_significant:
            return "not significant"
        farthest = max(self.high, 1 - self.low)
        return f"significant{', not' if farthest <= MEANINGFUL else ' and'} meaningful"

    def mirrored(self) -> Outperformance:
        """Return P(B > A) with its interval."""
        return self._replace(probability=1 - self.probability, low=1 - self.high, high=1 - self.low)


def outperformance(
    first: ArrayLike,
    second: ArrayLike,
    *,
    samples: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    seed: np.random.SeedSequence,
) -> Outperformance:
    """P(A > B) with its bootstrap interval.

    Parameters
    ----------
    first, second : array-like of shape (n_runs,)
        Scores of paired runs, larger is better; pairs with a NaN are left out.
    samples : array-like of shape (n_runs,), optional
        Training sample of each pair: pairs of one sample are drawn together.
    n_resamples : int
    confidence_level : float
    seed : numpy.random.SeedSequence

    Returns
    -------
    Outperformance
        All NaN without a pair. Where one method wins all pairs, every resample equals the data: the
        interval is then Wilson's, and [.5, .5] if all pairs are ties.

    References
    ----------
    Bouthillier et al. (2021), MLSys 3: section on P(A > B), with the percentile bootstrap.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    defined = np.isfinite(a) & np.isfinite(b)
    n_pairs = int(np.count_nonzero(defined))
    if n_pairs == 0:
        return Outperformance(np.nan, np.nan, np.nan, confidence_level, 0)
    wins = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))[defined]
    codes = np.arange(n_pairs)
    if samples is not None:
        codes = np.unique(np.asarray(samples)[defined], return_inverse=True)[1]
    share = float(wins.mean())
    if np.all(wins == wins[0]):
        low, high = share, share
        if wins[0] != 0.5:
            normal = float(ndtri(0.5 + confidence_level / 2))
            low, high = score_limits(share, int(codes.max()) + 1, normal)
        return Outperformance(share, low, high, confidence_level, n_pairs)
    shares = np.sort(_bootstrapped(wins, codes, n_resamples, seed))
    low, high = (quantile(shares, (1 + side * confidence_level) / 2) for side in (-1, 1))
    return Outperformance(share, low, high, confidence_level, n_pairs)


def pairs_needed(
    probability: float = MEANINGFUL, *, level: float = 0.05, power: float = 0.95
) -> int:
    """Number of paired runs that distinguishes P(A > B) from one half.

    Parameters
    ----------
    probability : float
        P(A > B) that a test is to find.
    level, power : float
        Of the one-sided test.

    Returns
    -------
    int
        29 at the defaults.

    References
    ----------
    Noether (1987), JASA 82:645-647, for the sign test.
    """
    size = (ndtri(1 - level) + ndtri(power)) / (np.sqrt(6) * (0.5 - probability))
    return ceil(float(size**2))


def too_few_pairs(outperformances: Iterable[Outperformance | None]) -> list[str]:
    """Return a note where the fewest pairs of runs cannot distinguish .75 from one half."""
    fewest = min((shares.n_pairs for shares in outperformances if shares is not None), default=None)
    needed = pairs_needed()
    if fewest is None or fewest >= needed:
        return []
    return [
        f"P(A > B) is estimated from {fewest} pairs of runs: {needed} are needed to detect "
        f"{MEANINGFUL} against .5 with 5 % errors of both kinds."
    ]


def _bootstrapped(
    wins: NDArray[np.float64],
    codes: NDArray[np.intp],
    n_resamples: int,
    seed: np.random.SeedSequence,
) -> NDArray[np.float64]:
    """Return the share of wins on each resample of the pairs, (n_resamples,)."""
    statistic = mean_of_values()
    reduced = statistic.reduce(None, wins, None)
    plan = ResamplingPlan(GroupDesign.of(codes), n_resamples, seed)
    subject = BoundStatistic.of(statistic, reduced)
    [distribution] = bootstrap(plan.bind([subject.coding]), [subject])
    return distribution.replicates
