"""Looks that may be repeated: how often an interval that holds at every look ever leaves the truth.

Question: of paths of growing data with a look at every batch, on how many does
`skboot.Anytime` ever leave out the truth, and at how many units does a gate stop? Written
before the run; the forms were chosen on 500 to 4000 paths of other seeds.

Form. The fixed-sample interval that suits, at the quantile sqrt(a^2 + log(t / m)) with m units at
the first look and t at this one (Robbins and Siegmund 1970): Wilson's for shares of rows and for
ratios that are made of them (F1), Tango's for paired right and wrong rows, limits of areas on the
logit scale and what is recovered of two, Wilson's at the rows that groups are worth; for all others
Student's t with the influence of the units, longer on the side of their tail, with the degrees of
freedom that the kurtosis of the influences leaves. Under 12 of these the limits are the whole
range; under 30 rows of the rarer class, or of those that a ratio is of, there is no look.

Paths. 10,000 a cell. Rows come in batches of 100, from 100 to 10,000, with a look at each; groups
of 10 rows in batches of 10 groups, from the first look (20 or 60) to 1000. Scores of areas fall
into 64 intervals (two systems: 16 each), so that counts hold them. The limits are those of the
library given counts, areas or influences; it is asked where a necessary condition of leaving out
the truth holds: the distance is larger than the quantile times the smallest standard error that the
form can have (of one area: half of that). A gate is judged by the lower limit of a candidate that
is worse by exactly its margin.

Peers. "each at 95 %": the estimate -/+ 1.96 standard errors, at every look. "plug-in": the same at
the quantile of the boundary.

Rule. A cell passes if at most 5.5 % of its paths ever leave out the truth, and a gate if at most
2.8 % ever pass.

Added after the first run, by the same rule: accuracy of rows with exponential weights, and areas
under the ROC curve in groups, both with the influence of the units; a look at 300 to 1000 paths of
another seed came before. And two accuracies of a stream, which knows no rows: Tango's interval at
the rows that the variance of the difference over 999 Poisson resamples tells.

Stopping. A gate with a margin of .03 on paired rows of which 10 % tell both apart, candidates that
are equal, better by .02 and worse by .03; 10,000 paths, Tango's statistic, batches of 100 rows.
"anytime" with the first look at 500 rows stops as it passes or fails, at 10,000 rows at the latest;
"fixed" looks once, at the 872 rows of a power of 80 % if both are equal (z = 1.96); "five looks"
has O'Brien and Fleming's spending at five looks of 900 rows in all. Reported are the share that
passes and the mean number of rows; no rule.

``make coverage-study STUDY=anytime`` goes on with both tables.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta, norm

from skboot.inference.differences import Difference, difference_interval
from skboot.inference.evidence import DrawnUnits, Evidence, JackknifeBias
from skboot.inference.intervals import boundary, limits_of, problem_with
from skboot.inference.proportions import Discordant, TwoAreas
from skboot.metrics.statistic import DeLong, Facts, Proportion

from ..runner import TableStudy, monte_carlo_error, one_line

HEADER = (
    "cell",
    "sides",
    "paths",
    "ever %",
    "Monte Carlo error",
    "truth below %",
    "truth above %",
    "each at 95 %",
    "plug-in",
)
STOPPING = (
    "candidate",
    "plan",
    "paths",
    "passes %",
    "fails %",
    "rows, mean",
    "rows, 90 % of paths",
)
N_PATHS, AT_ONCE = 10_000, 1000
BATCH, MOST_ROWS, FIRST_ROWS = 100, 10_000, 100
GROUP, GROUPS_AT_ONCE, MOST_GROUPS = 10, 10, 1000
A, Z = boundary(0.95), float(ndtri(0.975))
# Share of a distance below which rounding could hide that it is larger.
SURELY = 1 - 1e-9


class Paths(NamedTuple):
    """Some paths, arrays (n_paths, n_looks), and what the library says at one look of one path.

    Attributes
    ----------
    estimate, error : ndarray
        Of the score or the difference.
    least_error : ndarray
        Times the quantile: a distance from the truth below which it is surely held.
    limits : callable
        From path and look to limits; None where the library refuses to look.
    """

    estimate: np.ndarray
    error: np.ndarray
    least_error: np.ndarray
    limits: object


def quantiles(units, first):
    """Quantile of the boundary at each look."""
    return np.sqrt(A * A + np.log(units / first))


def evidence_of(estimate, n_units, first, kind="rows", facts=None, **known):
    """Evidence without resamples."""
    drawn = DrawnUnits(kind, (int(n_units),))
    facts = Facts(additive=True) if facts is None else facts
    return Evidence(float(estimate), np.empty(0), drawn, facts, first_look=first, **known)


def asked(known):
    """Limits of a score, None where it is refused."""
    if problem_with("anytime", known):
        return None
    return limits_of(known, "anytime", 0.95)


# ------------------------------------------------------------------ shares and ratios of rows


def batches(rng, n_paths, shares, units, per_batch):
    """Cumulative counts of rows of each kind, (n_paths, n_looks, n_kinds)."""
    sizes = np.diff(units, prepend=0) * per_batch
    counts = [rng.multinomial(size, shares, n_paths) for size in sizes]
    return np.cumsum(np.stack(counts, axis=1), axis=1)


def accuracy(rng, n_paths, units, first, share):
    """Right and wrong rows."""
    hits = batches(rng, n_paths, [share, 1 - share], units, 1)[..., 0]
    p = hits / units

    def limits(k, j):
        facts = Facts(
            (0.0, 1.0), additive=True, proportion=Proportion(int(hits[k, j]), int(units[j]), True)
        )
        return asked(evidence_of(p[k, j], units[j], first, facts=facts))

    wilson = np.sqrt(share * (1 - share) / units) + 0 * p
    return share, Paths(p, np.sqrt(p * (1 - p) / units), SURELY * wilson, limits)


def f1(rng, n_paths, units, first, positive, sensitivity, alarms):
    """F1 by the share of hits among all rows that are positive or called so."""
    hit, missed = positive * sensitivity, positive * (1 - sensitivity)
    alarm = (1 - positive) * alarms
    counts = batches(rng, n_paths, [hit, missed, alarm, 1 - hit - missed - alarm], units, 1)
    n = np.maximum(counts[..., :3].sum(axis=-1), 1)
    share = counts[..., 0] / n
    truth, estimate = hit / (hit + missed + alarm), 2 * share / (1 + share)

    def limits(k, j):
        known = Proportion(int(counts[k, j, 0]), int(n[k, j]), False, "f1")
        facts = Facts((0.0, 1.0), additive=True, proportion=known)
        return asked(evidence_of(estimate[k, j], units[j], first, facts=facts))

    # Limits are those of the share, whose distance is stretched by at most the slope at 0.
    slope = 2 / (1 + share) ** 2
    error = slope * np.sqrt(share * (1 - share) / n)
    near = np.abs(estimate - 2 * truth / (1 + truth)) / np.maximum(np.abs(share - truth), 1e-300)
    least = SURELY * np.sqrt(truth * (1 - truth) / n) * near
    return 2 * truth / (1 + truth), Paths(estimate, error, least, limits)


# ------------------------------------------------------------------ influences of units


def of_sums(units, first, kind, estimate, powers, by_group=None, with_facts=None):
    """Paths of a score with the sums of the second to fourth powers of the influences."""
    squares, cubes, fourths = powers
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)
        kurtosis = units * fourths / squares**2
        freedom = 2 * units / (kurtosis - 1)
    error = np.sqrt(squares * units / (units - 1))

    def limits(k, j):
        more = {} if by_group is None else by_group(k, j)
        facts = Facts(additive=True) if with_facts is None else with_facts(k, j)
        known = evidence_of(
            estimate[k, j],
            units[j],
            first,
            kind,
            facts,
            acceleration=float(acceleration[k, j]),
            jackknife_bias=JackknifeBias(0.0, float(np.sqrt(squares[k, j]))),
            error_freedom=float(freedom[k, j]),
            **more,
        )
        return asked(known)

    return Paths(estimate, error, SURELY * error, limits)


def mean(rng, n_paths, units, first, draw, truth, kind="rows"):
    """Means of values of the units; ``draw`` makes so many of them."""
    values = draw(rng, (n_paths, units[-1])) - truth
    at = units - 1
    moments = [np.cumsum(values**k, axis=1)[:, at] / units for k in (1, 2, 3, 4)]
    m, second, third, fourth = moments
    squares = np.maximum(second - m**2, 0.0)
    cubes = third - 3 * m * second + 2 * m**3
    fourths = np.maximum(fourth - 4 * m * third + 6 * m**2 * second - 3 * m**4, 0.0)
    squares = np.where(squares > 1e-13 * second.max(), squares, 0.0)
    powers = squares / units, cubes / units**2, fourths / units**3
    return truth, of_sums(units, first, kind, truth + m, powers)


def weighted_accuracy(rng, n_paths, units, first, share):
    """Right and wrong rows with exponential weights."""
    weight = rng.exponential(size=(n_paths, units[-1]))
    right = rng.random(weight.shape) < share
    sums = [
        [
            np.cumsum(np.where(kind, weight**k, 0.0), axis=1)[:, units - 1]
            for kind in (right, ~right)
        ]
        for k in (1, 2, 3, 4)
    ]
    total = sums[0][0] + sums[0][1]
    p = sums[0][0] / total
    powers = [
        (of_right * (1 - p) ** k + of_wrong * (-p) ** k) / total**k
        for k, (of_right, of_wrong) in zip((2, 3, 4), sums[1:], strict=True)
    ]
    facts = Facts((0.0, 1.0), additive=True, weighted=True)
    return share, of_sums(units, first, "rows", p, powers, with_facts=lambda k, j: facts)


def log_losses(rng, shape, a, b, sharper=1.0):
    """Log losses of probabilities that are Beta; sharper ones are overconfident."""
    p = np.clip(rng.beta(a, b, shape), 1e-9, 1 - 1e-9)
    said = p**sharper / (p**sharper + (1 - p) ** sharper)
    said = np.clip(said, 1e-6, 1 - 1e-6)
    return np.where(rng.random(shape) < p, -np.log(said), -np.log(1 - said))


def exponential(rng, shape):
    """Exponential losses."""
    return rng.exponential(size=shape)


def group_losses(rng, shape):
    """Means over groups of exponential losses whose scale is the group's own, of mean 1."""
    return rng.gamma(4, 0.25, shape) * rng.gamma(GROUP, 1 / GROUP, shape)


def cell_sums(rng, n_paths, units, first, shares, parts, facts_of):
    """A function of counts of rows of some kinds.

    ``parts`` returns the score, and the influence of a row of each kind, of counts.
    """
    counts = batches(rng, n_paths, shares, units, 1).astype(float)
    estimate, influence = parts(counts)
    truth = float(parts(np.array(shares)[None, None] * 1e12)[0][0, 0])
    powers = [np.sum(counts * influence**k, axis=-1) for k in (2, 3, 4)]
    # Squares that are rounding are those of systems without any difference.
    powers[0] = np.where(powers[0] > 1e-20, powers[0], 0.0)

    def with_facts(k, j):
        return facts_of(counts[k, j])

    return truth, of_sums(units, first, "rows", estimate, powers, with_facts=with_facts)


def f1_parts(truth, said):
    """F1 and the influence of rows of each kind on it, as a function of counts."""

    def parts(counts):
        below = np.maximum(counts @ (truth + said), 1.0)
        value = 2 * (counts @ (truth * said)) / below
        influence = (2 * truth * said - value[..., None] * (truth + said)) / below[..., None]
        return value, influence

    return parts


def macro_f1(rng, n_paths, units, first, positive, sensitivity, alarms):
    """The mean of F1 of both classes."""
    truth, said = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    both = f1_parts(truth, said), f1_parts(1 - truth, 1 - said)
    shares = [positive * sensitivity, positive * (1 - sensitivity)]
    shares += [(1 - positive) * alarms, (1 - positive) * (1 - alarms)]

    def parts(counts):
        (one, of_one), (other, of_other) = (part(counts) for part in both)
        return (one + other) / 2, (of_one + of_other) / 2

    def facts_of(counts):
        sizes = np.array([counts[:2].sum(), counts[2:].sum()], dtype=np.int64)
        return Facts((0.0, 1.0), additive=True, class_sizes=sizes)

    return cell_sums(rng, n_paths, units, first, shares, parts, facts_of)


def f1_difference(rng, n_paths, units, first, positive, right, alarms, alike):
    """F1 of the first less that of the second; ``alike`` is how often they draw the same number."""
    kinds = np.array([(k >> 2, k >> 1 & 1, k & 1) for k in range(8)])
    truth = kinds[:, 0]
    both = f1_parts(truth, kinds[:, 1]), f1_parts(truth, kinds[:, 2])
    shares = []
    for is_positive, one, other in kinds:
        (p, q) = right if is_positive else alarms
        same = max(min(p, q) if one and other else 0, 0)
        if one != other:
            same = max(p - q, 0) if one else max(q - p, 0)
        elif not one:
            same = 1 - max(p, q)
        apart = (p if one else 1 - p) * (q if other else 1 - q)
        share = positive if is_positive else 1 - positive
        shares.append(share * (alike * same + (1 - alike) * apart))

    def parts(counts):
        (one, of_one), (other, of_other) = (part(counts) for part in both)
        return one - other, of_one - of_other

    def facts_of(counts):
        # The systems by themselves are refused below 30 rows of the class.
        n = int(min(counts[truth == 1].sum(), counts[truth == 0].sum()))
        return Facts((-1.0, 1.0), additive=True, smaller_class=n)

    return cell_sums(rng, n_paths, units, first, shares, parts, facts_of)


# ------------------------------------------------------------------ groups


def group_shares(rng, n_paths, units, first, share, correlation):
    """Accuracy over groups whose own accuracies are Beta."""
    strength = 1 / correlation - 1
    own = rng.beta(share * strength, (1 - share) * strength, (n_paths, units[-1]))
    x = rng.binomial(GROUP, own) / GROUP
    at = units - 1
    p = np.cumsum(x, axis=1)[:, at] / units
    spread = np.sqrt(np.maximum(np.cumsum(x**2, axis=1)[:, at] / units - p**2, 0) / (units - 1))

    def limits(k, j):
        n = int(units[j])
        values = x[k, :n] - p[k, j]
        known = evidence_of(
            p[k, j],
            n,
            first,
            "groups",
            Facts(
                (0.0, 1.0),
                additive=True,
                proportion=Proportion(round(n * GROUP * p[k, j]), n * GROUP, True),
            ),
            jackknife_bias=JackknifeBias(0.0, 1.0),
            acceleration=0.0,
            group_influence=values / n,
            group_weight=np.full(n, float(GROUP)),
            n_effective_rows=float(n * GROUP),
        )
        return asked(known)

    least = np.sqrt(share * (1 - share) / (GROUP * units)) + 0 * p
    return share, Paths(p, spread, SURELY * least, limits)


def group_area(rng, n_paths, units, first, positive, auc, correlation, n_intervals=32):
    """The area under the ROC curve of scores with an effect of the group, in intervals."""
    n_groups, shift = units[-1], math.sqrt(2) * norm.ppf(auc)
    ends = np.linspace(-2.5, shift + 2.5, n_intervals - 1)
    of_class = [np.diff(norm.cdf(ends - mu), prepend=0, append=1) for mu in (shift, 0.0)]
    truth = float(parts_of_area(*(x[None] * 1e12 for x in of_class))[0][0])
    group = np.repeat(np.arange(n_groups), GROUP)
    seen = (np.arange(n_groups)[:, None] < units).astype(float)
    estimate, powers = np.empty((n_paths, len(units))), np.empty((3, n_paths, len(units)))
    small = np.empty((n_paths, len(units)))
    for path in range(n_paths):
        own, noise = rng.standard_normal(n_groups)[group], rng.standard_normal(len(group))
        is_positive = rng.random(len(group)) < positive
        score = math.sqrt(correlation) * own + math.sqrt(1 - correlation) * noise
        at = np.searchsorted(ends, score + shift * is_positive) + n_intervals * ~is_positive
        counts = np.bincount(group * 2 * n_intervals + at, minlength=n_groups * 2 * n_intervals)
        counts = counts.reshape(n_groups, 2 * n_intervals).astype(float)
        total = np.cumsum(counts, axis=0)[units - 1]
        pos, neg = total[:, :n_intervals], total[:, n_intervals:]
        value, up, down = parts_of_area(pos, neg)
        n_pos, n_neg = (np.maximum(x.sum(axis=1), 1) for x in (pos, neg))
        of_rows = np.concatenate(
            [(up - value[:, None]) / n_pos[:, None], (down - value[:, None]) / n_neg[:, None]],
            axis=1,
        )
        influence = (counts @ of_rows.T) * seen
        estimate[path], small[path] = value, np.minimum(n_pos, n_neg)
        powers[:, path] = [np.sum(influence**k, axis=0) for k in (2, 3, 4)]

    def with_facts(k, j):
        return Facts((0.0, 1.0), additive=True, smaller_class=int(small[k, j]))

    return truth, of_sums(units, first, "groups", estimate, powers, with_facts=with_facts)


def group_difference(rng, shape, apart, difference, correlation):
    """Differences of two systems in groups whose shares of rows that tell them apart are Beta."""
    strength = 1 / correlation - 1
    own = rng.beta(apart * strength, (1 - apart) * strength, shape)
    n = rng.binomial(GROUP, own)
    return (2 * rng.binomial(n, (apart + difference) / (2 * apart)) - n) / GROUP


# ------------------------------------------------------------------ paired rows and areas


def tango_of(first_only, second_only, n, difference):
    """Tango's statistic (1998, equation 26) of arrays of counts."""
    b, c = first_only, second_only
    linear = -b - c + (2 * n - b + c) * difference
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * difference * (1 - difference), 0.0))
    variance = n * ((root - linear) / (2 * n) + difference * (1 - difference))
    score = b - c - n * difference
    with np.errstate(divide="ignore", invalid="ignore"):
        found = score / np.sqrt(variance)
    return np.where(variance <= 0, np.where(score == 0, 0.0, np.copysign(np.inf, score)), found)


def paired(rng, n_paths, units, first, apart, difference):
    """Accuracy of two systems on the same rows."""
    better = (apart + difference) / 2
    counts = batches(rng, n_paths, [better, apart - better, 1 - apart], units, 1)
    b, c = counts[..., 0], counts[..., 1]
    d = (b - c) / units

    def limits(k, j):
        known = evidence_of(d[k, j], units[j], first)
        of_pair = Difference(known, Discordant(int(b[k, j]), int(c[k, j]), int(units[j])))
        return tuple(difference_interval(of_pair, "anytime", 0.95))

    error = np.sqrt(np.maximum((b + c) / units - d**2, 0.0) / units)
    z = np.abs(tango_of(b, c, units, difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(z > 0, np.abs(d - difference) / z, 1.0)
    return difference, Paths(d, error, SURELY * least, limits)


def streamed(rng, n_paths, units, first, apart, difference, n_resamples=999):
    """The same of a stream, whose resamples grow with it: a Poisson number of each row."""
    better = (apart + difference) / 2
    counts = batches(rng, n_paths, [better, apart - better, 1 - apart], units, 1)
    d = (counts[..., 0] - counts[..., 1]) / units
    variance = np.empty(d.shape)
    for path, own in enumerate(np.diff(counts, axis=1, prepend=0)):
        drawn = np.cumsum(rng.poisson(own, (n_resamples, *own.shape)), axis=1)
        again = (drawn[..., 0] - drawn[..., 1]) / drawn.sum(axis=-1)
        variance[path] = again.var(axis=0, ddof=1)

    def limits(k, j):
        known = evidence_of(d[k, j], units[j], first)
        told = Discordant.of_spread(float(d[k, j]), float(variance[k, j]), int(units[j]))
        return tuple(difference_interval(Difference(known, told), "anytime", 0.95))

    error = np.sqrt(variance)
    # Tango's variance is at least near that at the estimate; near it few paths are left out.
    return difference, Paths(d, error, error / 2, limits)


def parts_of_area(positive, negative):
    """Area, and the placements of positive and negative scores in each interval, of counts."""
    n_pos, n_neg = (np.maximum(x.sum(axis=-1, keepdims=True), 1) for x in (positive, negative))
    of_positive = (np.cumsum(negative, axis=-1) - negative / 2) / n_neg
    above = np.cumsum(positive[..., ::-1], axis=-1)[..., ::-1]
    of_negative = (above - positive / 2) / n_pos
    return np.sum(positive * of_positive, axis=-1) / n_pos[..., 0], of_positive, of_negative


def covariance_of(counts, one, other, areas):
    """Covariance of two areas by one class: mean product of placements less that of the areas."""
    n = counts.sum(axis=(-2, -1))
    product = np.einsum("plij,pli,plj->pl", counts, one, other, optimize=True)
    return (product / np.maximum(n, 1) - areas) / np.maximum(n - 1, 1)


def two_classes(rng, n_paths, units, positive, of_positive, of_negative):
    """Cumulative counts of positive and negative rows in each interval, (n_paths, n_looks, ...)."""
    shares = np.concatenate([positive * of_positive.ravel(), (1 - positive) * of_negative.ravel()])
    counts = batches(rng, n_paths, shares / shares.sum(), units, 1).astype(np.float64)
    n = of_positive.size
    shape = (*counts.shape[:2], *of_positive.shape)
    return counts[..., :n].reshape(shape), counts[..., n:].reshape(shape)


def area(rng, n_paths, units, first, positive, auc, n_intervals=64):
    """The area under the ROC curve of normal scores in intervals."""
    shift = math.sqrt(2) * norm.ppf(auc)
    ends = np.linspace(-3, shift + 3, n_intervals - 1)
    shares = [np.diff(norm.cdf(ends - mu), prepend=0, append=1) for mu in (shift, 0.0)]
    truth = float(parts_of_area(*(x[None] * 1e12 for x in shares))[0][0])
    pos, neg = two_classes(rng, n_paths, units, positive, *shares)
    value, up, down = parts_of_area(pos, neg)
    n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
    variance = 0.0
    for counts, n, placed in ((pos, n_pos, up), (neg, n_neg, down)):
        spread = np.sum(counts * placed**2, axis=-1) / np.maximum(n, 1) - value**2
        variance = variance + np.maximum(spread, 0.0) / np.maximum(n - 1, 1)
    error, small = np.sqrt(variance), np.minimum(n_pos, n_neg)

    def limits(k, j):
        known = DeLong(float(error[k, j]), int(small[k, j]))
        facts = Facts((0.0, 1.0), delong=known)
        return asked(evidence_of(value[k, j], units[j], first, facts=facts))

    return truth, Paths(value, error, error / 2, limits)


def two_areas(rng, n_paths, units, first, positive, aucs, correlation, n_intervals=16):
    """Two areas of correlated normal scores on the same rows, the first less the second."""
    shifts = [math.sqrt(2) * norm.ppf(auc) for auc in aucs]
    ends = [np.linspace(-2.5, shift + 2.5, n_intervals - 1) for shift in shifts]
    own = np.random.default_rng(0).standard_normal((2, 400_000))
    own[1] = correlation * own[0] + math.sqrt(1 - correlation**2) * own[1]
    shares = []
    for is_positive in (1, 0):
        one, other = (np.searchsorted(ends[k], own[k] + is_positive * shifts[k]) for k in range(2))
        table = np.bincount(one * n_intervals + other, minlength=n_intervals**2)
        shares.append(table.reshape(n_intervals, n_intervals) / own.shape[1])
    of_true = [
        float(parts_of_area(*(1e12 * x.sum(axis=1 - k)[None] for x in shares))[0][0])
        for k in range(2)
    ]
    pos, neg = two_classes(rng, n_paths, units, positive, *shares)
    n_pos, n_neg = pos.sum(axis=(-2, -1)), neg.sum(axis=(-2, -1))
    found = [parts_of_area(pos.sum(axis=3 - k), neg.sum(axis=3 - k)) for k in range(2)]
    values = [one[0] for one in found]

    def both(k, j):
        product = values[k] * values[j]
        if k != j:
            up = covariance_of(pos, found[k][1], found[j][1], product)
            return up + covariance_of(neg, found[k][2], found[j][2], product)
        total = 0.0
        for counts, n, placed in ((pos, n_pos, found[k][1]), (neg, n_neg, found[k][2])):
            squares = np.sum(counts.sum(axis=3 - k) * placed**2, axis=-1)
            spread = squares / np.maximum(n, 1) - product
            total = total + np.maximum(spread, 0.0) / np.maximum(n - 1, 1)
        return total

    first_variance, second_variance, common = both(0, 0), both(1, 1), both(0, 1)
    error = np.sqrt(np.maximum(first_variance + second_variance - 2 * common, 0.0))
    small = np.minimum(n_pos, n_neg)

    def limits(k, j):
        if small[k, j] < 30:
            # Each system by itself is refused.
            return None
        one, other = math.sqrt(first_variance[k, j]), math.sqrt(second_variance[k, j])
        r = float(common[k, j]) / (one * other) if one * other > 0 else 0.0
        areas = TwoAreas(
            float(values[0][k, j]),
            float(values[1][k, j]),
            one,
            other,
            float(error[k, j]),
            min(max(r, -1.0), 1.0),
            float(small[k, j]),
        )
        known = evidence_of(values[0][k, j] - values[1][k, j], units[j], first)
        return tuple(difference_interval(Difference(known, areas=areas), "anytime", 0.95))

    difference = values[0] - values[1]
    return of_true[0] - of_true[1], Paths(difference, error, SURELY * error, limits)


# ------------------------------------------------------------------ cells

ROWS = np.arange(FIRST_ROWS, MOST_ROWS + 1, BATCH)


def groups_from(first):
    """Groups at each look."""
    return np.arange(first, MOST_GROUPS + 1, GROUPS_AT_ONCE)


def _rows():
    """Cells of rows: what is drawn."""
    for share in (0.5, 0.9, 0.97, 0.99):
        yield f"accuracy {share}", 2, partial(accuracy, share=share)
    for positive in (0.1, 0.3):
        shape = {"positive": positive, "sensitivity": 0.85, "alarms": 0.03}
        yield f"F1, {positive:.0%} positive", 2, partial(f1, **shape)
        yield f"macro F1, {positive:.0%} positive", 2, partial(macro_f1, **shape)
    for positive in (0.1, 0.3):
        for auc in (0.75, 0.9, 0.97):
            name = f"AUC {auc}, {positive:.0%} positive"
            yield name, 2, partial(area, positive=positive, auc=auc)
    for name, a, b, sharper in (
        ("calibrated", 0.5, 0.5, 1.0),
        ("overconfident", 0.5, 0.5, 2.0),
        ("10% positive", 0.3, 2.7, 1.0),
    ):
        draw = partial(log_losses, a=a, b=b, sharper=sharper)
        yield f"log loss, {name}", 2, partial(mean, draw=draw, truth=true_loss(a, b, sharper))
    yield "exponential losses", 2, partial(mean, draw=exponential, truth=1.0)
    for apart in (0.02, 0.1, 0.3):
        yield f"two accuracies, {apart:.0%} apart", 2, partial(paired, apart=apart, difference=0.0)
    for apart, margin in ((0.02, 0.01), (0.05, 0.02), (0.1, 0.05), (0.3, 0.05)):
        draw = partial(paired, apart=apart, difference=-margin)
        yield f"gate of accuracy, {apart:.0%} apart, margin {margin}", 1, draw
    for positive in (0.1, 0.3):
        shape = {"positive": positive, "alarms": (0.03, 0.03), "alike": 0.8}
        same = partial(f1_difference, right=(0.85, 0.85), **shape)
        yield f"two F1, {positive:.0%} positive", 2, same
        worse = partial(f1_difference, right=(0.8, 0.85), **shape)
        yield f"gate of F1, {positive:.0%} positive", 1, worse
    for positive, aucs in ((0.1, (0.85, 0.85)), (0.3, (0.85, 0.85))):
        draw = partial(two_areas, positive=positive, aucs=aucs, correlation=0.8)
        yield f"two AUC, {positive:.0%} positive", 2, draw
    for positive, aucs in ((0.1, (0.9, 0.93)), (0.3, (0.85, 0.88))):
        draw = partial(two_areas, positive=positive, aucs=aucs, correlation=0.8)
        yield f"gate of AUC, {positive:.0%} positive", 1, draw


def _groups():
    """The same of groups."""
    for first in (20, 60):
        for share, correlation in ((0.9, 0.1), (0.9, 0.4), (0.97, 0.4)):
            name = f"accuracy {share} in groups, correlation {correlation}, from {first}"
            yield name, 2, first, partial(group_shares, share=share, correlation=correlation)
        areas = partial(group_area, positive=0.3, auc=0.95, correlation=0.3)
        yield f"AUC 0.95 in groups, from {first}", 2, first, areas
        losses = partial(mean, draw=group_losses, truth=1.0, kind="groups")
        yield f"losses in groups, from {first}", 2, first, losses
        for apart, margin, correlation in ((0.1, 0.0, 0.2), (0.1, 0.05, 0.2), (0.02, 0.01, 0.3)):
            draw = partial(
                group_difference, apart=apart, difference=-margin, correlation=correlation
            )
            what = f"gate of accuracy, margin {margin}," if margin else "two accuracies"
            name = f"{what} in groups, {apart:.0%} apart, from {first}"
            sides = 1 if margin else 2
            yield name, sides, first, partial(mean, draw=draw, truth=-margin, kind="groups")


@lru_cache(maxsize=8)
def true_loss(a, b, sharper):
    """Expected log loss, by a rule of many nodes on the quantiles of the probabilities."""
    p = np.clip(beta(a, b).ppf((np.arange(2_000_000) + 0.5) / 2_000_000), 1e-9, 1 - 1e-9)
    said = np.clip(p**sharper / (p**sharper + (1 - p) ** sharper), 1e-6, 1 - 1e-6)
    return float(np.mean(-p * np.log(said) - (1 - p) * np.log(1 - said)))


def cells():
    """Each cell: its name, how many sides count, units at the looks, the first of them, a draw."""
    of_rows = [(name, sides, ROWS, FIRST_ROWS, draw) for name, sides, draw in _rows()]
    late = np.arange(1000, MOST_ROWS + 1, BATCH)
    of_rows.append(("accuracy 0.9, from 1000", 2, late, 1000, partial(accuracy, share=0.9)))
    weighted = partial(weighted_accuracy, share=0.97)
    of_rows.append(("accuracy 0.97 with weights", 2, ROWS, FIRST_ROWS, weighted))
    for margin in (0.0, 0.02):
        name = f"{'gate of accuracy' if margin else 'two accuracies'} of a stream, 5% apart"
        draw = partial(streamed, apart=0.05, difference=-margin)
        of_rows.append((name, 1 if margin else 2, ROWS, FIRST_ROWS, draw))
    return of_rows + [
        (name, sides, groups_from(first), first, draw) for name, sides, first, draw in _groups()
    ]


def crossings(name, n_paths, units, first, draw, seed=1):
    """Whether each path ever has the truth below and above, and the same by both peers."""
    z, found = quantiles(units, first), []
    for start in range(0, n_paths, AT_ONCE):
        rng = np.random.default_rng([seed, sum(map(ord, name)), start])
        truth, paths = draw(rng, min(AT_ONCE, n_paths - start), units, first)
        away = np.abs(paths.estimate - truth)
        ever = np.zeros((len(away), 4), dtype=bool)
        # The batches of a path are looked at in turn, and only where the truth could be left out.
        for k, j in np.argwhere(away > z * paths.least_error):
            if ever[k, 0] and ever[k, 1]:
                continue
            limits = paths.limits(k, j)
            if limits is not None:
                ever[k, 0] |= truth < limits[0]
                ever[k, 1] |= truth > limits[1]
        ever[:, 2] = (away > Z * paths.error).any(axis=1)
        ever[:, 3] = (away > z * paths.error).any(axis=1)
        found.append(ever)
    return np.concatenate(found)


def row_of(name, sides):
    """One row of the table."""
    [(units, first, draw)] = [(own[2], own[3], own[4]) for own in cells() if own[0] == name]
    ever = crossings(name, N_PATHS, units, first, draw)
    below, above, each, plug_in = ever.mean(axis=0)
    share = ever[:, 0].mean() if sides == 1 else (ever[:, 0] | ever[:, 1]).mean()
    return (
        N_PATHS,
        f"{100 * share:.2f}",
        f"{100 * monte_carlo_error(share, N_PATHS):.2f}",
        f"{100 * below:.2f}",
        f"{100 * above:.2f}",
        f"{100 * each:.1f}",
        f"{100 * plug_in:.1f}",
    )


# ------------------------------------------------------------------ stopping

MARGIN, APART, FIRST_GATE, FIXED = 0.03, 0.1, 500, 872
CANDIDATES = {"equal": 0.0, "better by 0.02": 0.02, "worse by the margin": -MARGIN}
# Spending of .025 on one side like O'Brien and Fleming's, at five looks of equal size (Lan and
# DeMets 1983).
FIVE = np.array([4.8769, 3.3569, 2.6803, 2.2898, 2.0310])
PLANS = {
    "anytime": (np.arange(FIRST_GATE, MOST_ROWS + 1, BATCH), None),
    "fixed": (np.array([FIXED]), np.array([Z])),
    "five looks": (180 * np.arange(1, 6), FIVE),
}


def stopping_of(candidate, plan):
    """One row of the table of stopping."""
    units, z = PLANS[plan]
    z = quantiles(units, FIRST_GATE) if z is None else z
    difference = CANDIDATES[candidate]
    better = (APART + difference) / 2
    rng = np.random.default_rng([2, *map(ord, candidate + plan)])
    counts = batches(rng, N_PATHS, [better, APART - better, 1 - APART], units, 1)
    statistic = tango_of(counts[..., 0], counts[..., 1], units, -MARGIN)
    stops = np.abs(statistic) > z
    at = np.where(stops.any(axis=1), stops.argmax(axis=1), len(units) - 1)
    last = statistic[np.arange(N_PATHS), at]
    reached = stops.any(axis=1)
    rows = units[at]
    return (
        N_PATHS,
        f"{100 * np.mean(reached & (last > 0)):.1f}",
        f"{100 * np.mean(reached & (last < 0)):.1f}",
        f"{rows.mean():.0f}",
        f"{np.quantile(rows, 0.9):.0f}",
    )


NAMED = [(name, sides) for name, sides, *_ in cells()]
STOPPED = [(candidate, plan) for candidate in CANDIDATES for plan in PLANS]
STUDY = (
    TableStudy("anytime", HEADER, NAMED, one_line(row_of)),
    TableStudy("anytime_stopping", STOPPING, STOPPED, one_line(stopping_of)),
)
