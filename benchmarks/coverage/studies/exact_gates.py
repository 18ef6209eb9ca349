"""Error rates of verdicts on right and wrong rows, computed exactly: three intervals.

Run ``python -m benchmarks.coverage exact_gates`` to make the table; seconds. The question, written
before the run: how often does a gate at 95 % pass a system that is worse by exactly the margin,
and fail it; and how often does it pass an equal one? Both rates at the margin should be at most
2.5 %. "tango" is the score interval that verdicts use (Tango 1998), "skewness" the same with its
statistic corrected for skewness, as Laud (2017, Pharmaceutical Statistics 16, 334) corrects score
intervals of independent proportions, "wald" the difference with its normal standard error.

The systems differ in being right on a share of the rows, ``apart``. All numbers of rows on which
one alone is right are enumerated, up to a probability of 1e-11.
"""

import numpy as np
from scipy import stats

from ..runner import TableStudy

Z = stats.norm.ppf(0.975)
N_ROWS = (50, 100, 200, 500, 1000, 2000)
SHARES = (
    (0.05, 0.01),
    (0.05, 0.02),
    (0.05, 0.03),
    (0.1, 0.02),
    (0.1, 0.05),
    (0.2, 0.02),
    (0.2, 0.05),
    (0.3, 0.1),
)
INTERVALS = ("tango", "skewness", "wald")
FIELDS = ("rows", "apart", "margin", "interval", "passed", "failed", "passed_equal")


def statistics(won, lost, n, difference):
    """Score statistics of a difference, Tango's and the one corrected for skewness, and Wald's.

    ``won`` and ``lost`` are rows on which the first, or the second, alone is right.
    """
    # The share of rows that the second alone has right, most likely under the difference.
    a, b = 2 * n, (2 * n - won + lost) * difference - won - lost
    c = -lost * difference * (1 - difference)
    lost_share = np.maximum((np.sqrt(np.maximum(b * b - 4 * a * c, 0)) - b) / (2 * a), 0)
    apart = 2 * lost_share + difference
    variance = np.maximum(apart - difference**2, 1e-300)
    excess = won - lost - n * difference
    tango = excess / np.sqrt(n * variance)
    third_moment = difference - 3 * difference * apart + 2 * difference**3
    skewness = third_moment / variance**1.5 / np.sqrt(n)
    own = won + lost - (won - lost) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        wald = np.where(excess == 0, 0.0, excess / np.sqrt(own))
    return {"tango": tango, "skewness": tango - skewness / 6 * (tango**2 - 1), "wald": wald}


def rates(n, share_apart, margin, worse_by):
    """Percent of "pass" and of "fail", by interval, where the first is worse by so much."""
    chances = stats.binom.pmf(np.arange(n + 1), n, share_apart)
    first_alone = (share_apart - worse_by) / 2
    found = np.zeros((len(INTERVALS), 2))
    for apart in np.flatnonzero(chances > 1e-11):
        won = np.arange(apart + 1.0)
        chance = chances[apart] * stats.binom.pmf(won, apart, first_alone / share_apart)
        by_interval = statistics(won, apart - won, n, -margin)
        for k, name in enumerate(INTERVALS):
            found[k] += chance[by_interval[name] > Z].sum(), chance[by_interval[name] < -Z].sum()
    return dict(zip(INTERVALS, 100 * found, strict=True))


def rows_of(n, apart, margin):
    """Lines of the table for a size, a share of the rows and a margin."""
    at_margin, equal = rates(n, apart, margin, margin), rates(n, apart, margin, 0.0)
    for name in INTERVALS:
        yield name, *(f"{value:.2f}" for value in (*at_margin[name], equal[name][0]))


CELLS = [(n, *shares) for n in N_ROWS for shares in SHARES]
STUDY = TableStudy("exact_gates", FIELDS, CELLS, rows_of)
