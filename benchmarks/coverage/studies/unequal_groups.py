"""Groups of unequal size: how often intervals and ranks hold, and when "auto" warns.

Question: groups of very unequal size count like fewer groups of equal size, G_e = (sum n)^2 / sum
n^2 (Kish 1965). How wide must intervals and ranks be for that? Written before the run.

Forms. (today) nothing knows of sizes. (data) The standard error on the data is that of leaving out
one group at a time (CV3; MacKinnon, Nielsen and Webb 2023), with t of G_e - 1 degrees of freedom.
(sizes) The same factor from the sizes alone, as if all means of groups varied alike; t of G_e - 1.
Each of both with Student's t in the place of the resamples' quantiles, or with these quantiles
times the ratio of the half-width to that of equal groups. Proportions whose variation comes from
few groups: Wilson's interval at the smaller of today's rows and those by the intra-class
correlation of Fleiss and Cuzick (1979).

Designs. "geometric": the same sizes in every data set, in geometric steps, over groups in a random
order. "uniform": whole numbers. "lognormal": drawn anew, sigma 1, median 10, so that 40 groups
count like about 17. Rates of groups are beta, with an intra-class correlation; "two kinds": one
group in two is always right, the other at .94; "size tells": the logit of a group's rate rises by
half of the logarithm of its size, so that the truth is that of a row of new groups. "MAE": losses
exp(z / 2), z normal, of which groups share .3 of the variance. "F1", "AUC": latent qualities of
`systems.grouped`. Differences: normal values of which groups share half of the variance, and equal
systems; any difference of two that is told apart is wrong.

Rule. 1000 data sets a cell of one score and of two systems, 400 of ranks, 999 resamples. A form
passes a cell of 12 effective groups or more if the exact one-sided 95 % lower limit of its coverage
is at least 90.5 (92.5 less 2), and one of systems if that of no wrong pair is at least 92 (94 less
2); ranks are told beside it. Among forms that pass all cells of seed 1 that are not marked "held
out", the one of the least geometric mean width is taken; it is confirmed by the same limits on seed
2, on which the cells that are held out are run as well. Cells under 12 effective groups must warn
in at least 95 %. Where sizes are equal every number must stay; 40 groups of 5 to 20 must not lose
coverage.

``make coverage-study STUDY=unequal_groups`` goes on with the table. "before" are the numbers of the
library without any of it, on the same data sets. "CV3", added later, are leave-one-group-out errors
with t of G - 1 degrees of freedom, as they were published (not of G_e - 1), on the same data sets;
all pairs of several systems at Bonferroni's level.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from scipy import special, stats

from skboot import bootstrap_score, compare_systems

from ..references import cv3, cv3_limits
from ..runner import TableStudy, one_line, shown_coverage
from ..samples import SystemSample
from ..scores import SCORES

HEADER = (
    "cell",
    "seed",
    "version",
    "data sets",
    "effective groups",
    "coverage %",
    "Monte Carlo error",
    "lower limit",
    "width",
    "truth below",
    "truth above",
    "warned %",
    "ranks held %",
)
LEVEL = 0.95
N_RESAMPLES = 999
SIGMA = 0.5


# ------------------------------------------------------------------ sizes


def geometric(least, greatest, rng, n_groups):
    """Sizes in geometric steps, in a random order."""
    return rng.permutation(np.rint(np.geomspace(least, greatest, n_groups)).astype(int))


def uniform(least, greatest, rng, n_groups):
    """Whole numbers."""
    return rng.integers(least, greatest + 1, n_groups)


def lognormal(rng, n_groups):
    """Sizes drawn anew, with a long tail."""
    return np.maximum(np.rint(10 * rng.lognormal(size=n_groups)).astype(int), 1)


def effective_groups(sizes):
    """Groups of equal size that are worth these."""
    return sizes.sum() ** 2 / np.sum(sizes**2)


# ------------------------------------------------------------------ values of rows


def beta_rates(mean, icc, rng, sizes):
    """Rates of groups; the truth is their mean."""
    total = 1 / icc - 1
    return rng.beta(mean * total, (1 - mean) * total, len(sizes)), mean


def two_kinds(rng, sizes):
    """One group in two is always right, the other at .94."""
    return np.where(rng.random(len(sizes)) < 0.5, 1.0, 0.94), 0.97


def size_tells(rng, sizes):
    """Larger groups are better; sizes are lognormal."""
    rates = special.expit(1.0 + 0.5 * np.log(sizes / 10) + rng.normal(0, 0.5, len(sizes)))
    return rates, _truth_by_size()


def _truth_by_size():
    """Rate of a row: groups count by their sizes, which are those of `lognormal`."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    edges = np.arange(1, 20_000)
    below = stats.norm.cdf(np.log((edges + 0.5) / 10))
    chance = np.diff(below, prepend=0.0)
    at = special.expit(1.0 + 0.5 * np.log(edges / 10)[:, None] + 0.5 * nodes)
    return float(np.sum(chance * edges * (at @ weights / weights.sum())) / np.sum(chance * edges))


def right_and_wrong(law, rng, sizes):
    """Truth and predictions, and the accuracy that holds for new groups."""
    rates, accuracy = law(rng, sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return (
        np.ones(len(groups), int),
        (rng.random(len(groups)) < rates[groups]).astype(int),
        accuracy,
    )


def _latent(icc, rng, sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    of_group = np.sqrt(icc) * rng.normal(size=len(sizes))
    return of_group[groups] + np.sqrt(1 - icc) * rng.normal(size=len(groups))


def losses(icc, rng, sizes):
    """Errors whose mean size is the score."""
    given = np.exp(SIGMA * _latent(icc, rng, sizes))
    return np.zeros(len(given)), given, float(np.exp(SIGMA**2 / 2))


def decisions(at, icc, rng, sizes):
    """Both classes are as frequent and as often wrong: F1 is the accuracy."""
    latent = _latent(icc, rng, sizes)
    y = rng.integers(0, 2, len(latent))
    return y, np.where(latent < special.ndtri(at), y, 1 - y), at


def scores(at, icc, rng, sizes):
    """Scores of two classes with an area of `at`."""
    latent = _latent(icc, rng, sizes)
    y = (rng.random(len(latent)) < 0.5).astype(int)
    return y, latent + np.sqrt(2) * special.ndtri(at) * y, at


def equal_systems(n_systems, binary, rng, sizes):
    """Values of equal systems on the same rows: groups share half of the variance."""
    rows = np.array([_latent(0.5, rng, sizes) for _ in range(n_systems)])
    return (rows > 0).astype(float) if binary else rows


# ------------------------------------------------------------------ cells

LARGE, SMALL, EVEN = partial(geometric, 1, 200), partial(geometric, 2, 20), partial(uniform, 5, 20)
ONE = {
    "accuracy .97, 40 groups of 1 to 200": (
        "accuracy", 40, LARGE, partial(right_and_wrong, partial(beta_rates, 0.97, 0.3))),
    "accuracy .97, 15 groups of 1 to 200": (
        "accuracy", 15, LARGE, partial(right_and_wrong, partial(beta_rates, 0.97, 0.3))),
    "accuracy .8, 40 groups of 1 to 200": (
        "accuracy", 40, LARGE, partial(right_and_wrong, partial(beta_rates, 0.8, 0.2))),
    "accuracy .8, 15 groups of 1 to 200": (
        "accuracy", 15, LARGE, partial(right_and_wrong, partial(beta_rates, 0.8, 0.2))),
    "MAE, 40 groups of 1 to 200": ("mean_absolute_error", 40, LARGE, partial(losses, 0.3)),
    "MAE, 15 groups of 1 to 200": ("mean_absolute_error", 15, LARGE, partial(losses, 0.3)),
    "accuracy, two kinds, 40 groups of 1 to 200": (
        "accuracy", 40, LARGE, partial(right_and_wrong, two_kinds)),
    "accuracy, size tells, 40 groups, lognormal": (
        "accuracy", 40, lognormal, partial(right_and_wrong, size_tells)),
    "accuracy .97, 40 groups of 5 to 20": (
        "accuracy", 40, EVEN, partial(right_and_wrong, partial(beta_rates, 0.97, 0.3))),
    "MAE, 40 groups of 5 to 20": ("mean_absolute_error", 40, EVEN, partial(losses, 0.3)),
    "held out: MAE, 40 groups, lognormal": (
        "mean_absolute_error", 40, lognormal, partial(losses, 0.3)),
    "held out: accuracy .95, 40 groups, lognormal": (
        "accuracy", 40, lognormal, partial(right_and_wrong, partial(beta_rates, 0.95, 0.2))),
    "held out: F1 .8, 30 groups of 2 to 60": (
        "f1", 30, partial(geometric, 2, 60), partial(decisions, 0.8, 0.2)),
    "held out: AUC .8, 30 groups of 2 to 60": (
        "roc_auc", 30, partial(geometric, 2, 60), partial(scores, 0.8, 0.2)),
}  # fmt: skip
# Names that `scores` has.
SHORT = {"accuracy": "accuracy", "mean_absolute_error": "MAE", "f1": "F1", "roc_auc": "AUC"}
# Systems, groups, sizes, whether values are 0 and 1, data sets.
SEVERAL = {
    "10 equal systems, 30 groups of 2 to 20": (10, 30, SMALL, False, 400),
    "10 equal systems, 30 groups of 8": (10, 30, partial(uniform, 8, 8), False, 400),
    "3 equal systems, 30 groups of 2 to 20": (3, 30, SMALL, False, 400),
    "2 equal systems, 30 groups of 2 to 200": (2, 30, partial(geometric, 2, 200), False, 1000),
    "held out: 10 equal systems, right and wrong, 40 groups of 2 to 60": (
        10, 40, partial(geometric, 2, 60), True, 400),
}  # fmt: skip
N_DATA_SETS = 1000
SEEDS = (1, 2)


def data_of(name, seed, number):
    """Generator, sizes and groups of one data set."""
    digits = [seed, sum(map(ord, name)), number]
    rng = np.random.default_rng(digits)
    n_groups, sizes_of = (ONE[name] if name in ONE else SEVERAL[name])[1:3]
    sizes = sizes_of(rng, n_groups)
    return rng, sizes, np.repeat(np.arange(n_groups), sizes)


def of_one(name, seed, number):
    """Limits, truth, whether it warned, and effective groups of one score."""
    rng, sizes, groups = data_of(name, seed, number)
    metric, _, _, draw = ONE[name]
    y, given, truth = draw(rng, sizes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = bootstrap_score(
            y, given, metric=metric, groups=groups, n_resamples=N_RESAMPLES, random_state=number
        )
    low, high = result.confidence_interval[:2]
    return low, high, truth, bool(caught), effective_groups(sizes)


def cv3_of_one(name, seed, number):
    """The same facts of CV3, which warns of nothing."""
    rng, sizes, groups = data_of(name, seed, number)
    metric, _, _, draw = ONE[name]
    y, given, truth = draw(rng, sizes)
    score = SCORES[SHORT[metric]]
    limits = cv3(SystemSample(y, given, score, {"": truth}, groups), number)[""]
    low, high = np.clip(limits, *score.bounds)
    return low, high, truth, False, effective_groups(sizes)


def of_several(name, seed, number):
    """Limits of the difference that is furthest off, the same facts, and whether ranks hold."""
    rng, sizes, groups = data_of(name, seed, number)
    n_systems, _, _, binary, _ = SEVERAL[name]
    rows = equal_systems(n_systems, binary, rng, sizes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compare_systems(
            None,
            {f"s{k}": row for k, row in enumerate(rows)},
            metric="mean",
            greater_is_better=True,
            groups=groups,
            n_resamples=N_RESAMPLES,
            random_state=number,
        )
        ranks = result.ranks()
    limits = np.array([pair._widest_interval[:2] for pair in result.pairs])
    held = all(ranks[f"s{k}"].low == 1 for k in range(n_systems))
    return *_furthest(limits), bool(caught), effective_groups(sizes), _width(limits), held


def cv3_of_several(name, seed, number):
    """The same facts of CV3 at Bonferroni's level: ranks hold where no pair is told apart."""
    rng, sizes, groups = data_of(name, seed, number)
    n_systems, n_groups, _, binary, _ = SEVERAL[name]
    rows = equal_systems(n_systems, binary, rng, sizes)
    first, second = np.triu_indices(n_systems, 1)
    gaps = rows[first] - rows[second]
    sums = gaps @ (groups[:, None] == np.arange(n_groups))
    without = (sums.sum(axis=1, keepdims=True) - sums) / (sizes.sum() - sizes)
    limits = np.array(cv3_limits(gaps.mean(axis=1), without, 1 - (1 - LEVEL) / len(gaps))).T
    low, high, _ = _furthest(limits)
    return low, high, 0.0, False, effective_groups(sizes), _width(limits), low <= 0 <= high


def _furthest(limits):
    """Limits of the difference that is furthest off, and the truth."""
    return *limits[np.argmax(np.maximum(limits[:, 0], -limits[:, 1]))], 0.0


def _width(limits):
    return np.mean(limits[:, 1] - limits[:, 0])


# Facts of one score and of several, by version; "before" are those of the library as it was.
VERSIONS = {"after": (of_one, of_several), "CV3": (cv3_of_one, cv3_of_several)}


def row_of(name, seed, version, n_sets=None):
    """One row of the table."""
    one = VERSIONS[version][name not in ONE]
    n_sets = n_sets or (N_DATA_SETS if name in ONE else SEVERAL[name][-1])
    found = np.array([one(name, seed, number) for number in range(n_sets)], float)
    low, high, truth, warned, groups = found[:, :5].T
    below, above = np.sum(truth < low), np.sum(truth > high)
    covered = n_sets - int(below + above)
    width = found[:, 5] if found.shape[1] > 5 else high - low
    return (
        n_sets,
        f"{groups.mean():.1f}",
        *shown_coverage(covered, n_sets),
        f"{width.mean():.4g}",
        int(below),
        int(above),
        f"{100 * warned.mean():.0f}",
        f"{100 * found[:, 6].mean():.1f}" if found.shape[1] > 5 else "",
    )


def cells():
    """Cells of both seeds; those held out on the second alone."""
    return [
        (name, seed, version)
        for version in VERSIONS
        for seed in SEEDS
        for name in (*ONE, *SEVERAL)
        if seed == SEEDS[1] or not name.startswith("held out")
    ]


STUDY = TableStudy("unequal_groups", HEADER, cells(), one_line(row_of))
