"""How often two equal systems are told apart: nulls and power, by simulation.

``make coverage-study STUDY=comparisons`` makes the table that the user guide shows
(docs/studies/comparisons.md); about fifteen minutes. Slow tests run parts of it again and hold them
against the limits.

Systems err on a row with probability ``rate`` if the row is hard; hard rows are shared. Two of them
disagree on 2 share rate (1 - rate) of the rows.
"""

import warnings
from functools import partial

import numpy as np

from skboot import bootstrap_score, compare_runs, compare_systems

from ..runner import TableStudy, one_line, percent_and_error

N = 500
HARD = 0.4
RATE = 0.4
# The better system of the power columns errs less often on hard rows: 4 points of accuracy.
BETTER = 0.3
LEVEL = 0.95


def errors(rng, n_systems, rates=RATE):
    """0/1 predictions for a truth of zeros, (n_systems, N): ones are errors."""
    hard = rng.random(N) < HARD
    return (hard & (rng.random((n_systems, N)) < np.reshape(rates, (-1, 1)))).astype(int)


def _named(predictions):
    return {f"s{k}": row for k, row in enumerate(predictions)}


TRUTH = np.zeros(N, dtype=int)


def paired(predictions, seed, interval="auto"):
    """Whether the paired interval of the first two excludes 0."""
    [pair] = compare_systems(
        TRUTH, _named(predictions[:2]), interval=interval, random_state=seed
    ).pairs
    return pair.excludes_zero


def unpaired(predictions, seed):
    """Whether the difference of two bootstraps with different resamples excludes 0 (wrong)."""
    first, second = (
        bootstrap_score(TRUTH, row, interval="percentile", random_state=2 * seed + k)
        for k, row in enumerate(predictions[:2])
    )
    low, high = np.quantile(
        first.bootstrap_distribution - second.bootstrap_distribution, [0.025, 0.975]
    )
    return bool(low > 0 or high < 0)


def no_overlap(predictions, seed):
    """Whether two intervals, looked at side by side, do not overlap (wrong)."""
    first, second = (
        bootstrap_score(TRUTH, row, n_resamples=50, random_state=seed).confidence_interval
        for row in predictions[:2]
    )
    return bool(first.high < second.low or second.high < first.low)


def family(predictions, seed, adjust="max-t"):
    """Whether any two of several are told apart."""
    result = compare_systems(TRUTH, _named(predictions), adjust=adjust, random_state=seed)
    return any(result.is_distinguishable(pair) for pair in result.pairs)


def family_marginal(predictions, seed):
    """Whether any two are told apart by their own intervals (wrong)."""
    result = compare_systems(TRUTH, _named(predictions), adjust=None, random_state=seed)
    return any(pair.excludes_zero for pair in result.pairs)


def with_best(predictions, seed):
    """Whether the first, which is better, is told from all others."""
    result = compare_systems(TRUTH, _named(predictions), random_state=seed)
    return all(
        result.is_distinguishable(result.pair("s0", f"s{k}")) for k in range(1, len(predictions))
    )


def subgroup_gap(predictions, seed):
    """Whether the largest gap of one system over four equal subgroups excludes 0."""
    table = bootstrap_score(TRUTH, predictions[0], by=np.arange(N) % 4, random_state=seed)
    low, high = table["gap"].confidence_interval
    return bool(low > 0 or high < 0)


def groups(seed, n_groups, metric="accuracy"):
    """Whether any two of eight systems are told apart on the rows of a few groups.

    Each system has its own taste for groups: systems and groups vary, the systems' means do not
    differ. Losses are normal; by accuracy a large one is an error.
    """
    rng = np.random.default_rng(seed)
    group = np.arange(N) % n_groups
    hard = 0.6 * rng.normal(size=n_groups)[group] + 0.6 * rng.normal(size=N)
    own = 0.5 * rng.normal(size=(8, n_groups))[:, group] + 0.7 * rng.normal(size=(8, N))
    losses = (hard + own) / np.sqrt(2 * 0.6**2 + 0.5**2 + 0.7**2)
    truth = TRUTH if metric == "accuracy" else None
    rows = (losses > 0.84).astype(int) if metric == "accuracy" else losses
    options = {"metric": metric, "groups": group, "n_resamples": 499, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_systems(truth, _named(rows), **options)
    return any(result.is_distinguishable(pair) for pair in result.pairs)


def runs(seed, n_runs, gain=0.0, interval="auto"):
    """Whether two methods of several runs are told apart.

    Each run errs on its own share of the hard rows: runs and rows vary, the methods' means do not
    differ but by ``gain``.
    """
    rng = np.random.default_rng(seed)
    # How each method finds each row: the same on average.
    row = rng.normal(size=(1, N)), rng.normal(size=(2, 1, N))
    run = rng.normal(size=(2, n_runs, 1))
    noise = rng.normal(size=(2, n_runs, N))
    scale = np.sqrt(1 + 0.5**2 + 0.1**2 + 0.7**2)
    latent = (row[0] + 0.5 * row[1] + 0.1 * run + 0.7 * noise) / scale
    wrong = latent > 0.84 + gain * np.array([1.0, 0.0]).reshape(2, 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_runs(
            TRUTH,
            dict(zip("AB", wrong.astype(int), strict=True)),
            interval=interval,
            n_resamples=99,
            random_state=seed,
        )
    return result.pairs[0].excludes_zero


def trained(seed, *, paired=False, n_samples=10, n_seeds=2, n_full=2, n_rows=300, gain=0.0):
    """Whether two methods, run on bootstrap samples of one training list, are told apart.

    Losses with effects of rows, training samples, seeds, and both by rows. The list is a draw, too,
    and its bootstrap samples vary about it as it varies about the mean of all lists; they lose a
    little against it. Half of what a training sample does is common to both methods.
    """
    rng = np.random.default_rng(seed)

    def training_effects(size, by_row):
        common, own = rng.normal(size=(1, size, by_row)), rng.normal(size=(2, size, by_row))
        return np.sqrt(0.5) * (common + own)

    def losses(level, by_row, n):
        """(2, number of training samples, seeds, rows)"""
        shape = (*level.shape[:2], n)
        seeds = 0.03 * rng.normal(size=(*shape, 1)) + 0.4 * rng.normal(size=(*shape, n_rows))
        return rows + (level + by_row)[:, :, None, :] + seeds

    rows = rng.normal(size=n_rows) + 0.3 * rng.normal(size=(2, 1, 1, n_rows))
    rows[0] += gain
    level, by_row = 0.03 * training_effects(1, 1), 0.4 * training_effects(1, n_rows)
    full = losses(level, by_row, n_full)
    level = level + 0.03 * training_effects(n_samples, 1) + 0.02
    by_row = by_row + 0.4 * training_effects(n_samples, n_rows)
    samples = losses(level, by_row, n_seeds).reshape(2, -1, n_rows)
    names = np.repeat(np.arange(n_samples), n_seeds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_runs(
            None,
            dict(zip("AB", samples, strict=True)),
            metric="mean",
            varied="both",
            training={"A": names, "B": names},
            full_runs=dict(zip("AB", full.reshape(2, n_full, n_rows), strict=True)),
            paired_runs=paired,
            n_resamples=9,
            random_state=seed,
        )
    return result.pairs[0].excludes_zero


def share(test, n_systems, repetitions, rates=RATE, first=0):
    """Share of data sets in which a test is positive, in percent, and its standard error."""
    seeds = range(first, first + repetitions)
    return percent_and_error(
        [test(errors(np.random.default_rng(seed), n_systems, rates), seed) for seed in seeds]
    )


def share_of_groups(repetitions, n_groups, metric):
    """The same for eight systems on the rows of a few groups."""
    return percent_and_error([groups(seed, n_groups, metric) for seed in range(repetitions)])


def share_of_trained(repetitions, paired, gain=0.0):
    """The same for methods with two seeds on each of ten bootstrap samples of one list."""
    return percent_and_error(
        [trained(seed, paired=paired, gain=gain) for seed in range(repetitions)]
    )


def share_of_runs(repetitions, n_runs, gain=0.0, interval="auto"):
    """The same for methods of several runs."""
    return percent_and_error([runs(seed, n_runs, gain, interval) for seed in range(repetitions)])


CASES = {
    "two systems, paired (default)": (paired, 2),
    "two systems, unpaired bootstrap": (unpaired, 2),
    "two systems, intervals do not overlap": (no_overlap, 2),
    "eight systems, max-t (any two)": (family, 8),
    "eight systems, Holm (any two)": (lambda p, s: family(p, s, "holm"), 8),
    "eight systems, each pair by itself (any two)": (family_marginal, 8),
    "largest gap over four subgroups": (subgroup_gap, 1),
}
POWER = {
    "two systems, paired (default)": (paired, 2),
    "two systems, unpaired bootstrap": (unpaired, 2),
    "two systems, intervals do not overlap": (no_overlap, 2),
}
N_RUNS = (3, 5, 10)
N_GROUPS = (8, 10, 20, 40)


N_DATA_SETS = 1000


def rules():
    """What tells apart, by its name: under no difference and, or None, under 4 points."""
    for name, (test, n_systems) in CASES.items():
        null = partial(share, test, n_systems, N_DATA_SETS)
        power = partial(share, test, n_systems, N_DATA_SETS, [BETTER, RATE], first=10**6)
        yield name, null, power if name in POWER else None
    for metric, label in (("accuracy", "accuracy"), ("mean", "normal losses")):
        for n_groups in N_GROUPS:
            name = f"eight systems, max-t, {n_groups} groups, {label} (any two)"
            yield name, partial(share_of_groups, N_DATA_SETS, n_groups, metric), None
    for interval, label in (("auto", "components (default)"), ("welch", "Welch, test rows fixed")):
        for n_runs in N_RUNS:
            null = partial(share_of_runs, N_DATA_SETS, n_runs, interval=interval)
            yield f"two methods, {n_runs} runs each, {label}", null, partial(null, gain=0.15)
    for paired, label in ((False, "by themselves"), (True, "paired")):
        null = partial(share_of_trained, N_DATA_SETS, paired)
        name = f"two methods, 10 training samples with 2 seeds, {label}"
        yield name, null, partial(null, gain=0.1)


def row_of(rule):
    """Line of the table for one rule: percent told apart."""
    null, power = RULES[rule]
    shares = null() + (power() if power else ())
    return *(f"{value:.1f}" for value in shares), *[""] * (4 - len(shares))


RULES = {name: tests for name, *tests in rules()}
HEADER = ("rule", "null", "null_error", "power", "power_error")
STUDY = TableStudy("comparisons", HEADER, [(rule,) for rule in RULES], one_line(row_of))
