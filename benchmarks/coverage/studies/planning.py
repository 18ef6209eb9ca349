"""What plans promise, and what evaluations of the planned size then show, by simulation.

``make coverage-study STUDY=planning`` makes the table (about half an hour); the tests hold it
against the rule, and slow tests run some cells again.

The rule, written before the first run:

* ``width``: each of 500 pilots is drawn and planned from, an evaluation of the planned size is
  drawn from the same source, and the half-width of its interval is divided by the one that was
  asked for. The mean of these ratios must be within 5 % of 1.
* ``power``: the plan is made from the true components, for a power of 80 %; the share of 2000
  evaluations of that size whose interval leaves out 0 on the right side, or that pass the margin,
  must be within 4 points of the power that the plan expects.
* ``pilots``, added later with its rule, before its run: 50 pilots of 4000 rows are drawn, each is
  planned from for a power of 80 %, and 40 evaluations of its size follow, 2000 in all. The share
  that passes the margin must be at least 77 %, and its exact one-sided 95 % lower limit at least
  75. Both systems are equally good. An audit found 70.3 and 76.0 % for F1 by the mean plan of eight
  pilots. The error is that over the pilots.
* Cells of ``few`` are shown and not judged: pilots of 20 groups, 10 groups, or 5 runs. The square
  root of a variance from so few is too small on average, so that plans are too small as well.

Half-widths that are asked for are those that an evaluation of four times the pilot's units (twice,
for runs) would have by the true components. ``units`` is the mean of the planned sizes, ``true``
the size by the true components, ``low`` and ``high`` are how often the true size is below and above
the range that the plan prints (percent, 5 in all by its level), ``error`` is the Monte Carlo error.

Designs. accuracy: independent rows. AUC: binormal scores of two balanced classes. groups: 5 to 20
rows each, accuracy with a beta rate per group and intra-class correlation .1, or a normal loss with
.3. runs: the value of row i in run s is u_i + r_s + e_is, normal.

Labels of ``pilots``: positives are found, and negatives taken for them, with probabilities that
give precision and recall; the second system decides by the same uniform number as the first in a
share of the rows. "Unlike" systems have the same F1 by different recalls. Macro F1: classes of 60,
30 and 10 % of the rows, of which 75 % are right.
"""

import warnings
from functools import partial

import numpy as np
from scipy.stats import rankdata

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems, plan_evaluation
from skboot.inference.planning import ShareSpread, Spread, smallest
from skboot.inference.proportions import wilson_limits

from ..runner import TableStudy, one_line

SEED = 20261122
N_PILOTS = 500
N_EVALUATIONS = 2000
N_RESAMPLES = 999
POWER = 0.8
LEVEL = 0.95
FIELDS = ("kind", "cell", "units", "true", "shown", "promised", "error", "low", "high")

# ------------------------------------------------------------------ one system, or several runs


def accuracy(rng, n, n_runs, rate):
    """Right and wrong on independent rows."""
    right = (rng.random(n) < rate).astype(int)
    return bootstrap_score(np.ones(n, int), right, n_resamples=99, random_state=int(n))


def auc(rng, n, n_runs, shift):
    """Area under the ROC curve of binormal scores."""
    y = rng.integers(0, 2, n)
    scores = rng.normal(size=n) + shift * y
    return bootstrap_score(y, scores, metric="roc_auc", n_resamples=N_RESAMPLES, random_state=n)


def groups_of(rng, n):
    """Group of each row, for groups of 5 to 20 rows."""
    return np.repeat(np.arange(n), rng.integers(5, 21, n))


def grouped_accuracy(rng, n, n_runs, rate):
    """Right and wrong in groups, each with a rate of its own."""
    group, total = groups_of(rng, n), 1 / 0.1 - 1
    rates = rng.beta(rate * total, (1 - rate) * total, n)
    right = (rng.random(len(group)) < rates[group]).astype(int)
    ones = np.ones(len(group), int)
    return bootstrap_score(ones, right, groups=group, n_resamples=N_RESAMPLES, random_state=n)


def grouped_losses(rng, n, n_runs, mean):
    """Normal losses in groups."""
    group = groups_of(rng, n)
    losses = mean + np.sqrt(0.3) * rng.normal(size=n)[group]
    losses = losses + np.sqrt(0.7) * rng.normal(size=len(group))
    options = {"groups": group, "n_resamples": N_RESAMPLES, "random_state": n}
    return bootstrap_score(None, losses, metric="mean", **options)


def runs(rng, n, n_runs, deviation):
    """Losses of several runs, whose means have this standard deviation."""
    losses = rng.normal(size=n) + deviation * rng.normal(size=(n_runs, 1))
    losses = losses + np.sqrt(0.5) * rng.normal(size=(n_runs, n))
    return bootstrap_runs(None, losses, metric="mean", n_resamples=99, random_state=n)


def spread_of_groups(n, of_group, of_row):
    """A ratio of sums over groups of 5 to 20 rows, by the variances of groups and rows."""
    sizes = np.arange(5, 21)
    variance = (np.mean(sizes**2) * of_group + np.mean(sizes) * of_row) / np.mean(sizes) ** 2
    return Spread(n, variance / n)


def spread_of_runs(n, n_runs, deviation):
    """The mean over runs of `runs`."""
    noise = 0.5 / (n * n_runs)
    run, df = deviation**2 / n_runs, n_runs - 1
    return Spread(n, 1 / n, noise, run, 0.0, n_runs, noise=noise, df_runs=df)


def auc_variance(shift, n=400, n_sets=10_000, seed=SEED):
    """Variance per row of the area under the curve, from simulated data sets."""
    rng = np.random.default_rng(seed)
    return n * np.var([area(*binormal(rng, n, shift)) for _ in range(n_sets)])


def binormal(rng, n, *shifts, correlation=0.0):
    """Labels of two balanced classes, and scores for each shift."""
    y = rng.integers(0, 2, n)
    common = rng.normal(size=n)
    own = [rng.normal(size=n) for _ in shifts]
    noise = [np.sqrt(correlation) * common + np.sqrt(1 - correlation) * each for each in own]
    return y, *(shift * y + each for shift, each in zip(shifts, noise, strict=True))


def area(y, scores):
    """Area under the ROC curve by ranks."""
    positive = y == 1
    n1 = positive.sum()
    return (rankdata(scores)[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1))


# kind, cell, what draws, its argument, units and runs of the pilot, times as many, runs asked for
WIDTHS = [
    ("width", "accuracy .9, 200 rows", accuracy, 0.9, 200, None, 4, None),
    ("width", "accuracy .8, 100 rows", accuracy, 0.8, 100, None, 4, None),
    ("width", "AUC .86, 200 rows", auc, 1.5, 200, None, 4, None),
    ("width", "AUC .76, 100 rows", auc, 1.0, 100, None, 4, None),
    ("width", "accuracy .8, 50 groups", grouped_accuracy, 0.8, 50, None, 4, None),
    ("width", "normal losses, 50 groups", grouped_losses, 1.0, 50, None, 4, None),
    ("width", "10 runs, 300 rows", runs, 0.1, 300, 10, 2, None),
    ("width", "10 runs, 300 rows, 20 runs planned", runs, 0.1, 300, 10, 2, 20),
    ("few", "accuracy .8, 20 groups", grouped_accuracy, 0.8, 20, None, 4, None),
    ("few", "normal losses, 10 groups", grouped_losses, 1.0, 10, None, 4, None),
    ("few", "5 runs, 300 rows", runs, 0.1, 300, 5, 2, None),
]


def true_spread(draw, argument, n, n_runs):
    """The error of the pilot by the true components."""
    if draw is accuracy:
        return ShareSpread(argument, wilson_limits)
    if draw is auc:
        return Spread(n, auc_variance(argument) / n, student=False)
    if draw is grouped_accuracy:
        binomial = argument * (1 - argument)
        return spread_of_groups(n, 0.1 * binomial, 0.9 * binomial)
    if draw is grouped_losses:
        return spread_of_groups(n, 0.3, 0.7)
    return spread_of_runs(n, n_runs, argument)


def width_row(
    kind, cell, draw, argument, n, n_runs, times, runs_asked, n_pilots=N_PILOTS, seed=SEED
):
    """One row of the table: realised over promised half-width."""
    spread = true_spread(draw, argument, n, n_runs)
    target = spread.half_width(LEVEL, times * n, runs_asked or n_runs)
    rng = np.random.default_rng([seed, len(cell), n])
    ratios, sizes, below, above = [], [], 0, 0
    for _ in range(n_pilots):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pilot = draw(rng, n, n_runs, argument)
            plan = plan_evaluation(pilot, half_width=target, n_runs=runs_asked)
            low, high = draw(rng, plan.n_units, plan.n_runs, argument).confidence_interval
        ratios.append((high - low) / 2 / target)
        sizes.append(plan.n_units)
        true = smallest(lambda size, s=plan.n_runs: spread.half_width(LEVEL, size, s) <= target, 2)
        below += true is not None and true < plan.n_units_range[0]
        above += (np.inf if true is None else true) > plan.n_units_range[1]
    return {
        "kind": kind,
        "cell": cell,
        "units": f"{np.mean(sizes):.0f}",
        "true": times * n,
        "shown": f"{np.mean(ratios):.4f}",
        "promised": "1",
        "error": f"{np.std(ratios) / np.sqrt(n_pilots):.4f}",
        "low": f"{100 * below / n_pilots:.1f}",
        "high": f"{100 * above / n_pilots:.1f}",
    }


# ------------------------------------------------------------------ two systems, or methods


def accuracy_pair(rng, n, n_runs, effect):
    """Right and wrong; the systems disagree on 15 % of the rows."""
    u = rng.random(n)
    first, second = u < 0.075 + effect / 2, (u >= 0.075 + effect / 2) & (u < 0.15)
    both = (u >= 0.15) & (u < 0.9)
    return np.ones(n, int), {"A": (first | both).astype(int), "B": (second | both).astype(int)}, {}


def auc_pair(rng, n, n_runs, effect):
    """Binormal scores with shifts 1.5 and 1.5 - effect that go together."""
    y, first, second = binormal(rng, n, 1.5, 1.5 - effect, correlation=0.7)
    return y, {"A": first, "B": second}, {"metric": "roc_auc"}


def grouped_pair(rng, n, n_runs, effect):
    """Losses whose differences vary with groups."""
    group = groups_of(rng, n)
    second = rng.normal(size=len(group))
    first = second + effect + np.sqrt(0.3) * rng.normal(size=n)[group]
    first = first + np.sqrt(0.7) * rng.normal(size=len(group))
    return None, {"A": first, "B": second}, {"metric": "mean", "groups": group}


def runs_pair(rng, n, n_runs, effect):
    """Losses of several runs of two methods."""
    common = rng.normal(size=n)
    systems = {}
    for name, mean in (("A", effect), ("B", 0.0)):
        own = common + 0.7 * rng.normal(size=n) + 0.1 * rng.normal(size=(n_runs, 1))
        systems[name] = mean + own + 0.7 * rng.normal(size=(n_runs, n))
    return None, systems, {"metric": "mean"}


def spread_of_pair(draw, effect, n_runs):
    """The error of a difference by the true components, of 100 units."""
    n = 100
    if draw is accuracy_pair:
        return Spread(n, (0.15 - effect**2) / n)
    if draw is auc_pair:
        rng, size = np.random.default_rng(SEED), 400
        found = []
        for _ in range(10_000):
            y, first, second = binormal(rng, size, 1.5, 1.5 - effect, correlation=0.7)
            found.append(area(y, first) - area(y, second))
        return Spread(n, size * np.var(found) / n)
    if draw is grouped_pair:
        return spread_of_groups(n, 0.3, 0.7)
    noise = 2 * 0.49 / (n * n_runs)
    run, df = 2 * 0.01 / n_runs, 2 * (n_runs - 1)
    return Spread(n, 2 * 0.49 / n, noise, run, 0.0, n_runs, noise=noise, df_runs=df)


# kind, cell, what draws, effect, runs of each method, whether it is a margin
POWERS = [
    ("power", "accuracy, difference .03", accuracy_pair, 0.03, None, False),
    ("power", "accuracy, difference .06", accuracy_pair, 0.06, None, False),
    ("power", "accuracy, margin .03", accuracy_pair, 0.03, None, True),
    ("power", "AUC, shifts 1.5 and 1.2", auc_pair, 0.3, None, False),
    ("power", "AUC, shifts 1.5 and 1.0", auc_pair, 0.5, None, False),
    ("power", "normal losses in groups, difference .3", grouped_pair, 0.3, None, False),
    ("power", "normal losses in groups, difference .6", grouped_pair, 0.6, None, False),
    ("power", "5 runs each, difference .25", runs_pair, 0.25, 5, False),
    ("power", "10 runs each, difference .2", runs_pair, 0.2, 10, False),
    ("power", "10 runs each, margin .2", runs_pair, 0.2, 10, True),
]


def size_of_effect(draw, effect):
    """The difference in units of the metric."""
    if draw is not auc_pair:
        return effect
    rng = np.random.default_rng(SEED + 1)
    y, first, second = binormal(rng, 2_000_000, 1.5, 1.5 - effect, correlation=0.7)
    return area(y, first) - area(y, second)


def power_row(kind, cell, draw, effect, n_runs, margin, n_sets=N_EVALUATIONS, seed=SEED):
    """One row of the table: how often an evaluation of the planned size shows what it shall."""
    spread, size = spread_of_pair(draw, 0.0 if margin else effect, n_runs), effect
    if not margin:
        size = size_of_effect(draw, effect)
    n = smallest(lambda n: spread.power(size, LEVEL, n, n_runs) >= POWER, 2)
    rng = np.random.default_rng([seed, len(cell), n])
    shown = 0
    for k in range(n_sets):
        y, systems, options = draw(rng, n, n_runs, 0.0 if margin else effect)
        options = {"n_resamples": N_RESAMPLES, "random_state": k, "adjust": None, **options}
        compare = compare_systems if n_runs is None else compare_runs
        if n_runs is not None or y is None:
            options["greater_is_better"] = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            [pair] = compare(y, systems, **options).pairs
        shown += pair.verdict(size).passed if margin else pair.confidence_interval.low > 0
    share = shown / n_sets
    return {
        "kind": kind,
        "cell": cell,
        "units": n,
        "true": n,
        "shown": f"{100 * share:.1f}",
        "promised": f"{100 * spread.power(size, LEVEL, n, n_runs):.1f}",
        "error": f"{100 * np.sqrt(share * (1 - share) / n_sets):.1f}",
    }


# ------------------------------------------------------------------ labels, from pilots

N_PILOTS_OF_LABELS, PILOT_ROWS, N_FOLLOWING = 50, 4000, 40
LEAST_POWER = 77.0
CLASSES = np.array([0.6, 0.3, 0.1])


def both_uniform(rng, n, shared):
    """Uniform numbers of both systems, equal in a share of the rows."""
    first, second = rng.random((2, n))
    return first, np.where(rng.random(n) < shared, first, second)


def positives_found(rng, n, prevalence, shared, *systems):
    """Decisions of two systems, each with a recall and a precision."""
    y = (rng.random(n) < prevalence).astype(int)
    decided = []
    for uniform, (recall, precision) in zip(both_uniform(rng, n, shared), systems, strict=True):
        false = prevalence * recall * (1 / precision - 1) / (1 - prevalence)
        decided.append((uniform < np.where(y == 1, recall, false)).astype(int))
    return y, dict(zip("AB", decided, strict=True))


def three_classes(rng, n, shared, right):
    """Decisions of two systems on three classes; what is wrong is any other class."""
    y = rng.choice(3, n, p=CLASSES)
    decided = []
    for uniform in both_uniform(rng, n, shared):
        other = (y + 1 + (uniform > (1 + right) / 2)) % 3
        decided.append(np.where(uniform < right, y, other))
    return y, dict(zip("AB", decided, strict=True))


# cell, metric, margin, what draws, its arguments
LABELS = [
    (
        "F1 .70, 5 % positives, margin .15",
        "f1",
        0.15,
        positives_found,
        (0.05, 0.6, (0.7, 0.7), (0.7, 0.7)),
    ),
    (
        "F1 .75, 12 % positives, margin .08",
        "f1",
        0.08,
        positives_found,
        (0.12, 0.46, (0.75, 0.75), (0.75, 0.75)),
    ),
    (
        "F1 .70, 5 % positives, unlike systems, margin .15",
        "f1",
        0.15,
        positives_found,
        (0.05, 0.6, (0.85, 0.595), (0.6, 0.84)),
    ),
    (
        "precision .70, 5 % positives, margin .15",
        "precision",
        0.15,
        positives_found,
        (0.05, 0.6, (0.7, 0.7), (0.7, 0.7)),
    ),
    ("macro F1, 3 classes, margin .05", "f1_macro", 0.05, three_classes, (0.6, 0.75)),
]


def labels_row(cell, metric, margin, draw, arguments, n_pilots=N_PILOTS_OF_LABELS, seed=SEED):
    """One row of the table: how often evaluations of planned sizes pass the margin."""
    rng = np.random.default_rng([seed, len(cell), 7])

    def pair_of(n, k):
        y, systems = draw(rng, n, *arguments)
        options = {"n_resamples": N_RESAMPLES, "random_state": k, "adjust": None}
        [pair] = compare_systems(y, systems, metric=metric, **options).pairs
        return pair

    sizes, shares = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(n_pilots):
            n = plan_evaluation(pair_of(PILOT_ROWS, k), margin=margin, power=POWER).n_units
            sizes.append(n)
            passed = [pair_of(n, j).verdict(margin).passed for j in range(N_FOLLOWING)]
            shares.append(np.mean(passed))
    share = np.mean(shares)
    return {
        "kind": "pilots",
        "cell": cell,
        "units": f"{np.mean(sizes):.0f}",
        "shown": f"{100 * share:.1f}",
        "promised": f"{100 * POWER:.1f}",
        "error": f"{100 * np.std(shares) / np.sqrt(n_pilots):.1f}",
    }


# What makes the line of a cell, by its kind and name.
ROWS = {cell[:2]: partial(width_row, *cell) for cell in WIDTHS}
ROWS |= {cell[:2]: partial(power_row, *cell) for cell in POWERS}
ROWS |= {("pilots", cell[0]): partial(labels_row, *cell) for cell in LABELS}


def row_of(*cell):
    """One row of the table, after what names the cell."""
    row = ROWS[cell]()
    return [row.get(name, "") for name in FIELDS[2:]]


STUDY = TableStudy("planning", FIELDS, [*ROWS], one_line(row_of))
