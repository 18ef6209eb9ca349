"""Scores and differences that few units decide: does the default hold, or is it told?

Question: on designs where the number of units that decide is small and something else is large, do
the intervals of `bootstrap_score`, `bootstrap_runs` and `compare_systems` hold the true value, or
warn? The designs are those that an audit of designs of no study found wrong: pinball losses of
outer quantiles, R2 of heavy tails, strata of a few rows, groups whose label is constant, perfect
rankings, few units in a difference, metrics without a closed form on few groups, areas of few
positives, averages over many classes in runs, skewed ratings of a judge.

Rules, written before the runs:

* Forms and thresholds were chosen on the families "chosen". The rule is judged on "held out", which
  no choice saw, and on both seeds together.
* A cell holds if the upper Monte Carlo limit (one-sided, 95 %, Wilson) of its coverage is at least
  93 %; for differences of equal systems, if the lower limit of the share that is told apart is at
  most 5.5 %.
* A cell that does not hold passes if a warning came in at least half of its misses.

A warning is any `UserWarning` of the call that says that coverage, or the result, suffers; not
those of resamples without a value. An interval with undefined limits is no miss, and counts as
told.

    make coverage-study STUDY=deciding

takes about 12 minutes of one core. Lines of the version "before" are those of `BEFORE`, which was
run with the package of an earlier revision on the path.

Columns: version, design, family, cell, data sets, coverage (%; of equal systems 100 less the share
that is told apart), warned in % of misses, warned in % of all, median width.
"""

import time
import warnings
from functools import partial

import numpy as np
from scipy import stats
from sklearn import metrics

from skboot import bootstrap_runs, bootstrap_score, compare_systems

from ..runner import TableStudy, one_line

SEEDS = (1, 2)
N_SETS = {"chosen": 60, "held out": 100}
"""Data sets of each seed, at most: a cell stops after MOST_SECONDS of each."""
MOST_SECONDS = 12
N_RESAMPLES = 599
OF_COVERAGE = ("coverage", "rough", "decide", "too short", "attains", "rests on", "no interval")

# Laws of errors: the first of each line were chosen on.
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "t3": lambda rng, n: rng.standard_t(3, size=n) / np.sqrt(3),
    "t5": lambda rng, n: rng.standard_t(5, size=n) / np.sqrt(5 / 3),
    "gumbel": lambda rng, n: stats.gumbel_r.rvs(-0.57722, size=n, random_state=rng) / 1.28255,
    "lognormal": lambda rng, n: (rng.lognormal(size=n) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1)),
}


def _score(metric, y_true, y_pred, i, **options):
    return bootstrap_score(
        y_true, y_pred, metric=metric, n_resamples=N_RESAMPLES, random_state=i, **options
    ).confidence_interval


def _apart(y_true, systems, i, metric, **options):
    [pair] = compare_systems(
        y_true, systems, metric=metric, n_resamples=N_RESAMPLES, random_state=i, **options
    ).pairs
    return pair.confidence_interval


# ------------------------------------------------------------------ designs: (rng, i) to limits


def pinball(law, share, n):
    sample = LAWS[law](np.random.default_rng(0), 2_000_000)
    forecast = np.quantile(sample, share)
    loss = partial(metrics.mean_pinball_loss, alpha=share)
    truth = loss(sample, np.full(len(sample), forecast))
    return lambda rng, i: _score(loss, LAWS[law](rng, n), np.full(n, forecast), i), truth


def r2(law, n):
    def draw(rng, i):
        y = LAWS[law](rng, n)
        return _score("r2", y, y + 0.6 * rng.normal(size=n), i)

    return draw, 1 - 0.36


def _stratified(rng, law, n_strata, size, kind):
    level = np.random.default_rng(n_strata).normal(size=n_strata) * 0.7
    strata = np.repeat(np.arange(n_strata), size)
    level, n = level[strata], len(strata)
    if kind == "values":
        truth = 2 * level + LAWS[law](rng, n)
        return strata, truth, truth + 0.8 * LAWS[law](rng, n)
    positive = (rng.random(n) < 1 / (1 + np.exp(0.4 - level))).astype(int)
    return strata, positive, 1.2 * positive + LAWS[law](rng, n) + 0.3 * level


def in_strata(law, metric, n_strata, size):
    kind = "scores" if metric == "roc_auc" else "values"
    many = _stratified(np.random.default_rng(0), law, n_strata, 200_000 // n_strata, kind)
    function = {"roc_auc": metrics.roc_auc_score, "r2": metrics.r2_score}.get(metric)
    function = function or metrics.root_mean_squared_error

    def draw(rng, i):
        strata, y_true, y_pred = _stratified(rng, law, n_strata, size, kind)
        return _score(metric, y_true, y_pred, i, strata=strata)

    return draw, function(*many[1:])


def _constant(rng, law, n_ill, n_well, size):
    groups = np.repeat(np.arange(n_ill + n_well), size)
    positive = (groups < n_ill).astype(int)
    shift = 0.8 * LAWS[law](rng, n_ill + n_well)
    return groups, positive, 1.5 * positive + shift[groups] + rng.normal(size=len(groups))


def constant_labels(law, metric, n_ill, n_well, size):
    _, y, s = _constant(np.random.default_rng(0), law, 400 * n_ill, 400 * n_well, size)
    function = {
        "roc_auc": metrics.roc_auc_score,
        "recall": metrics.recall_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
    }[metric]
    decides = metric != "roc_auc"

    def draw(rng, i):
        # Each group is ill by chance, at least two of them and two well.
        ill = np.clip(rng.binomial(n_ill + n_well, n_ill / (n_ill + n_well)), 2, n_well + n_ill - 2)
        groups, y, s = _constant(rng, law, ill, n_ill + n_well - ill, size)
        return _score(metric, y, (s > 0.8).astype(int) if decides else s, i, groups=groups)

    return draw, function(y, (s > 0.8).astype(int) if decides else s)


def _ranked(rng, law, n_positive, n_negative, apart):
    y = np.r_[np.ones(n_positive, int), np.zeros(n_negative, int)]
    return y, apart * y + LAWS[law](rng, n_positive + n_negative)


def ranking(law, metric, n_positive, n_negative, apart):
    """Of two classes whose sizes are given; the truth is of as large a share of positives."""
    many = _ranked(np.random.default_rng(0), law, 400 * n_positive, 400 * n_negative, apart)
    if metric == "roc_auc":
        truth = metrics.roc_auc_score(*many)
    elif metric == "average_precision":
        truth = metrics.average_precision_score(*many)
    else:
        wrong, right, _ = metrics.roc_curve(*many)
        truth = wrong[np.argmin(np.abs(1 - right - wrong))]
    return lambda rng, i: _score(
        metric, *_ranked(rng, law, n_positive, n_negative, apart), i
    ), truth


def against_the_rest(law, n_rare, apart):
    sizes = np.array([n_rare, 40, 40])

    def rows(rng, times=1):
        y = np.repeat(np.arange(3), sizes * times)
        scores = LAWS[law](rng, 3 * len(y)).reshape(-1, 3)
        scores[np.arange(len(y)), y] += apart
        given = np.exp(scores)
        return y, given / given.sum(axis=1, keepdims=True)

    many = rows(np.random.default_rng(0), 1000)
    truth = metrics.roc_auc_score(*many, multi_class="ovr")
    return lambda rng, i: _score("roc_auc_ovr", *rows(rng), i), truth


def few_units(law, n_units, size):
    def draw(rng, i):
        first, second = LAWS[law](rng, 2 * n_units * size).reshape(2, -1)
        groups = None if size == 1 else np.repeat(np.arange(n_units), size)
        systems, y = {"A": first, "B": second}, np.zeros(n_units * size)
        return _apart(y, systems, i, "mean_absolute_error", groups=groups)

    return draw, 0.0


def few_groups_of_decisions(rate, n_units):
    def draw(rng, i):
        first, second = (rng.random((2, 40 * n_units)) < rate).astype(int)
        systems, y = {"A": first, "B": second}, np.zeros(40 * n_units, int)
        return _apart(y, systems, i, "accuracy", groups=np.arange(40 * n_units) // 40)

    return draw, 0.0


def few_differ(law, n_differ):
    def draw(rng, i):
        first = LAWS[law](rng, 150)
        second, differs = first.copy(), rng.random(150) < n_differ / 150
        second[differs] = LAWS[law](rng, np.count_nonzero(differs))
        return _apart(np.zeros(150), {"A": first, "B": second}, i, "mean_absolute_error")

    return draw, 0.0


def _sites(rng, law, n_sites, kind):
    site = np.repeat(np.arange(n_sites), 40)
    apart, shift, spread = LAWS[law](rng, 3 * n_sites).reshape(3, -1)
    if kind == "values":
        truth = rng.normal(size=len(site)) + shift[site]
        error = 0.8 * np.exp(0.3 * spread)[site] * rng.normal(size=len(site))
        return site, truth, truth + error + 0.12 * shift[site]
    y = (rng.random(len(site)) < 0.3).astype(int)
    return site, y, y * (1.3 + 0.5 * apart)[site] + 0.4 * shift[site] + rng.normal(size=len(site))


def few_sites(law, metric, n_sites):
    function = {
        "roc_auc": metrics.roc_auc_score,
        "average_precision": metrics.average_precision_score,
        "median_absolute_error": metrics.median_absolute_error,
    }[metric]
    kind = "values" if metric == "median_absolute_error" else "scores"
    truth = function(*_sites(np.random.default_rng(0), law, 5000, kind)[1:])

    def draw(rng, i):
        site, y_true, y_pred = _sites(rng, law, n_sites, kind)
        return _score(metric, y_true, y_pred, i, groups=site)

    return draw, truth


def many_classes(concentration, n_runs):
    shares = np.random.default_rng(0).dirichlet(np.full(200, concentration))
    shares = np.maximum(shares, 0.0015)
    shares /= shares.sum()

    def rows(rng, n, runs):
        y, hard, answers = rng.choice(200, size=n, p=shares), rng.random(n), []
        for _ in range(runs):
            wrong = 0.7 * hard + 0.3 * rng.random(n) < 0.25
            answers.append(np.where(wrong, rng.integers(0, 200, size=n), y))
        return y, answers

    y, [answer] = rows(np.random.default_rng(5), 1_000_000, 1)
    truth = metrics.f1_score(y, answer, average="macro")

    def draw(rng, i):
        y, answers = rows(rng, 4000, max(n_runs, 1))
        if n_runs < 2:
            return _score("f1_macro", y, answers[0], i)
        return bootstrap_runs(
            y, answers, metric="f1_macro", varied="seed", n_resamples=299, random_state=i
        ).confidence_interval

    return draw, truth


def ratings(law, n_labelled):
    values = {"lognormal": lambda rng: rng.lognormal(size=2000)}
    values["squared exponential"] = lambda rng: rng.exponential(size=2000) ** 2

    def draw(rng, i):
        truth = values[law](rng)
        judge = truth * np.exp(0.5 * rng.normal(size=2000))
        human = np.where(np.arange(2000) < n_labelled, truth, np.nan)
        return _score("mean", None, human, i, proxy=judge)

    return draw, {"lognormal": np.exp(0.5), "squared exponential": 2.0}[law]


DESIGNS = {
    "pinball loss": {
        "chosen": {
            f"normal, quantile {q}, n {n}": partial(pinball, "normal", q, n)
            for q, n in ((0.9, 60), (0.95, 100), (0.975, 100), (0.99, 100), (0.99, 200))
        },
        "held out": {
            f"{law}, quantile {q}, n {n}": partial(pinball, law, q, n)
            for law in ("t5", "gumbel")
            for q, n in ((0.9, 60), (0.95, 100), (0.975, 200), (0.99, 200), (0.995, 500))
        },
    },
    "R2": {
        "chosen": {
            f"{law}, n {n}": partial(r2, law, n)
            for law in ("normal", "t3", "exponential")
            for n in (60, 100, 300)
        },
        "held out": {
            f"{law}, n {n}": partial(r2, law, n)
            for law in ("lognormal", "t5", "gumbel")
            for n in (60, 200)
        },
    },
    "strata of few rows": {
        "chosen": {
            f"{metric}, {h} of {n}": partial(in_strata, "normal", metric, h, n)
            for metric in ("roc_auc", "r2")
            for h, n in ((40, 2), (30, 3), (20, 5), (12, 8))
        },
        "held out": {
            f"{metric}, {h} of {n}, {law}": partial(in_strata, law, metric, h, n)
            for metric, law in (("roc_auc", "gumbel"), ("root_mean_squared_error", "gumbel"))
            for h, n in ((50, 2), (25, 4), (20, 7))
        },
    },
    "groups whose label is constant": {
        "chosen": {
            f"{metric}, {a} of {a + b}": partial(constant_labels, "normal", metric, a, b, 10)
            for metric in ("roc_auc", "recall", "balanced_accuracy")
            for a, b in ((6, 24), (10, 90))
        },
        "held out": {
            f"{metric}, {a} of {a + b}, {law}": partial(constant_labels, law, metric, a, b, 6)
            for metric in ("roc_auc", "recall", "balanced_accuracy")
            for law in ("gumbel",)
            for a, b in ((6, 24), (8, 32))
        },
    },
    "nearly perfect rankings": {
        "chosen": {
            f"{metric}, normal, {a} + {b}": partial(ranking, "normal", metric, a, b, 4.0)
            for metric in ("average_precision", "equal_error_rate")
            for a, b in ((10, 40), (20, 80))
        },
        "held out": {
            f"{metric}, {law}, {a} + {b}": partial(ranking, law, metric, a, b, 4.5)
            for metric in ("roc_auc", "average_precision", "equal_error_rate")
            for law in ("gumbel",)
            for a, b in ((10, 40), (15, 150))
        }
        | {"one class against the rest, gumbel": partial(against_the_rest, "gumbel", 15, 5.0)},
    },
    "areas of few positives": {
        "chosen": {
            f"normal, {a} + 200": partial(ranking, "normal", "roc_auc", a, 200, 1.5)
            for a in (2, 3, 5)
        },
        "held out": {
            f"gumbel, {a} + 150": partial(ranking, "gumbel", "roc_auc", a, 150, 1.5)
            for a in (2, 4, 5)
        }
        | {
            f"a class of {a} against the rest, gumbel": partial(against_the_rest, "gumbel", a, 1.5)
            for a in (2, 4)
        },
    },
    "equal systems, few units": {
        "chosen": {f"normal, {m} rows": partial(few_units, "normal", m, 1) for m in (2, 3, 4, 5, 8)}
        | {f"decisions, {m} groups": partial(few_groups_of_decisions, 0.15, m) for m in (2, 3, 4)},
        "held out": {
            f"{law}, {m} rows": partial(few_units, law, m, 1)
            for law in ("lognormal", "t5")
            for m in (2, 3, 4, 6, 9)
        }
        | {f"decisions, {m} groups": partial(few_groups_of_decisions, 0.05, m) for m in (2, 3, 5)}
        | {f"gumbel, {m} groups": partial(few_units, "gumbel", m, 10) for m in (2, 3, 5)},
    },
    "equal systems, few rows differ": {
        "chosen": {f"normal, {m}": partial(few_differ, "normal", m) for m in (2, 4, 7)},
        "held out": {f"lognormal, {m}": partial(few_differ, "lognormal", m) for m in (1, 3, 5, 9)},
    },
    "few groups, no closed form": {
        "chosen": {
            f"{metric}, {m} groups": partial(few_sites, "normal", metric, m)
            for metric in ("roc_auc", "average_precision", "median_absolute_error")
            for m in (2, 3, 4, 5, 7)
        },
        "held out": {
            f"{metric}, {m} groups, {law}": partial(few_sites, law, metric, m)
            for metric in ("roc_auc", "average_precision", "median_absolute_error")
            for law in ("gumbel",)
            for m in (2, 3, 5, 8)
        },
    },
    "macro F1 of 200 classes": {
        "chosen": {f"{k} runs": partial(many_classes, 2.0, k) for k in (1, 5)},
        "held out": {f"{k} runs, uneven": partial(many_classes, 0.7, k) for k in (1, 5, 10)},
    },
    "skewed ratings of a judge": {
        "chosen": {f"lognormal, {n}": partial(ratings, "lognormal", n) for n in (50, 100)},
        "held out": {
            f"squared exponential, {n}": partial(ratings, "squared exponential", n)
            for n in (60, 150)
        },
    },
}


def row_of(version, design, family, cell):
    """Line of the table, after what names the cell."""
    draw, truth = DESIGNS[design][family][cell]()
    found, start = [], time.perf_counter()
    for seed in SEEDS:
        for i in range(N_SETS[family]):
            rng = np.random.default_rng([seed, i, len(cell)])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                low, high = draw(rng, i)
            said = any(word in str(one.message) for one in caught for word in OF_COVERAGE)
            undefined = np.isnan(low + high)
            found.append((undefined or low <= truth <= high, said or undefined, high - low))
            if time.perf_counter() - start > MOST_SECONDS * seed:
                break
    held, told, widths = np.array(found, float).T
    of_misses = f"{100 * told[held == 0].mean():.0f}" if (held == 0).any() else ""
    shares = [f"{100 * held.mean():.1f}", of_misses, f"{100 * told.mean():.0f}"]
    return [len(held), *shares, f"{np.nanmedian(widths):.4g}"]


HEADER = ["version", "design", "family", "cell", "data_sets", "coverage", "warned_of_misses"]
HEADER += ["warned", "width"]


def of_version(version):
    """The study of a version of the package; the lines of the other stay."""
    cells = [
        (version, design, family, cell)
        for design, families in DESIGNS.items()
        for family, cells in families.items()
        for cell in cells
    ]
    return TableStudy("deciding", HEADER, cells, one_line(row_of))


STUDY, BEFORE = of_version("now"), of_version("before")
