"""Subgroups of one test set: their own intervals, and the gap between the two furthest apart.

Question: with ``by=``, does the interval of each subgroup hold its true score, does that of the
largest gap leave out 0 in at most 5 % of the data sets where all subgroups are equal, hold the true
difference of the two subgroups that it speaks of, and find a difference that there is? Written
before the run. The first cells are those that the gap's interval was chosen on (record 0032), with
new data sets; the others are new: twenty subgroups, very unequal sizes, rare errors and positives,
heavy tails, groups within and across subgroups.

Design. Subgroups of stated sizes, in which the score is the same, or under "power" is not. Of one
system the targets "smallest" and "largest" are the true scores of the subgroups with the fewest and
the most rows, whose intervals are each by itself; "gap" is 0: it is left out where the interval of
the gap leaves out the true difference of its two subgroups; "zero" is no difference, and 100 % less
its coverage is the level, or the power. Of several systems the gaps are those of their differences,
and a data set counts where any of them errs. 1000 repetitions. A data set of which too few
subgroups are large enough has no gap; it tells nothing apart and has no interval ("no interval" in
the target "gap").

Tools. statsmodels: "overlap" tells subgroups apart where two of their 95 % intervals (Wilson, t) do
not overlap, "Tukey" by the range of all means (losses). scipy: the chi-squared test of equal
accuracies, the F test of equal mean losses. "max - min percentiles": what packages of fairness give
when asked for intervals, percentiles of the largest score less the smallest over resamples of the
rows, which are never below 0. 200 repetitions of the last and of Tukey's.

Rule. The level is at most 5 % in every cell, up to 2.6 Monte Carlo standard errors. The intervals
of single subgroups keep the rule of `frozen_systems`: at least 93 % in at least 90 % of the cells,
at least 91 % in all, up to 2.6 errors, outside the stated exceptions of the smallest subgroup with
a warning. The gap holds the true difference as they do. A cell outside is reported as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special, stats

from skboot import bootstrap_score, compare_systems

from ..exceptions import exception_of
from ..peers import N_RESAMPLES
from ..runner import LEVEL, Cell, Study, Tool, decision
from ..scores import SCORES

NO_LIMITS = np.nan, np.nan


@dataclass(frozen=True)
class Subgroups:
    """Answers of one system or several; `values` are the true scores of one, by subgroup.

    Names are numbers. `losses` are per-row values where the score is their mean. With y_true None
    the predictions are such values.
    """

    y_true: np.ndarray | None
    y_preds: tuple[np.ndarray, ...]
    by: np.ndarray
    metric: str
    values: np.ndarray
    groups: np.ndarray | None = None
    losses: np.ndarray | None = None
    exception: str = ""

    @property
    def truth(self) -> Mapping[str, float]:
        """The targets."""
        if len(self.y_preds) > 1:
            return {"zero": 0.0}
        sizes = np.bincount(self.by, minlength=len(self.values))
        return {
            "smallest": self.values[sizes.argmin()],
            "largest": self.values[sizes.argmax()],
            "gap": 0.0,
            "zero": 0.0,
        }


# ------------------------------------------------------------------ one system


def _sample(y, p, by, metric, values, *, score="", losses=None, groups=None):
    """A sample, with the exception that its smallest subgroup is in."""
    found = ""
    if score:
        rows = by == np.bincount(by).argmin()
        own = None if groups is None else groups[rows]
        found = exception_of(
            SCORES[score], np.zeros(rows.sum()) if y is None else y[rows], p[rows], own
        )
    return Subgroups(y, (p,), by, metric, np.asarray(values, dtype=float), groups, losses, found)


def _sizes(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def _halves(sizes):
    """Classes, half of each subgroup's rows each."""
    return np.concatenate([np.arange(n) % 2 for n in sizes])


def accuracy(*sizes: int, right: object = 0.85) -> Callable:
    """Rows are answered rightly with one probability, or one for each subgroup."""
    values = np.broadcast_to(right, len(sizes))

    def draw(rng):
        by = _sizes(sizes)
        y = np.zeros(len(by), dtype=int)
        p = (rng.random(len(by)) >= values[by]).astype(int)
        return _sample(y, p, by, "accuracy", values, losses=(p == 0).astype(float))

    return draw


def f1(*sizes: int, rate: object = 0.8, prevalence: float | None = None) -> Callable:
    """The same share of either class is found; half of the rows are positive, or some at random."""
    rates = np.broadcast_to(rate, len(sizes))
    share = 0.5 if prevalence is None else prevalence
    values = 2 * share * rates / (share * rates + (1 - share) * (1 - rates) + share)

    def draw(rng):
        by = _sizes(sizes)
        y = _halves(sizes) if prevalence is None else (rng.random(len(by)) < share).astype(int)
        p = np.where(rng.random(len(by)) < rates[by], y, 1 - y)
        return _sample(y, p, by, "f1", values, score="F1")

    return draw


def balanced(*sizes: int) -> Callable:
    """Three classes, of which the rarest is a sixth of each subgroup."""

    def draw(rng):
        by = _sizes(sizes)
        y = np.concatenate([np.array([0, 0, 0, 1, 1, 2])[np.arange(n) % 6] for n in sizes])
        wrong = rng.random(len(y)) < np.array([0.1, 0.2, 0.4])[y]
        p = np.where(wrong, (y + rng.integers(1, 3, size=len(y))) % 3, y)
        return _sample(y, p, by, "balanced_accuracy", [2.3 / 3] * len(sizes))

    return draw


def auc(*sizes: int, apart: object = 1.2, prevalence: float | None = None) -> Callable:
    """Normal scores of two classes."""
    distance = np.broadcast_to(apart, len(sizes))

    def draw(rng):
        by = _sizes(sizes)
        share = 0.5 if prevalence is None else prevalence
        y = _halves(sizes) if prevalence is None else (rng.random(len(by)) < share).astype(int)
        p = rng.normal(size=len(y)) + distance[by] * y
        return _sample(y, p, by, "roc_auc", special.ndtr(distance / np.sqrt(2)), score="AUC")

    return draw


def many_subgroups(rng) -> Subgroups:
    """300 rows, each in one of 25 subgroups at random."""
    y, by = rng.integers(0, 2, size=300), rng.integers(0, 25, size=300)
    p = rng.normal(size=300) + 1.2 * y
    return _sample(y, p, by, "roc_auc", [special.ndtr(1.2 / np.sqrt(2))] * 25, score="AUC")


LAWS = {
    "squared": (lambda rng, n: rng.normal(size=n) ** 2, 1.0),
    "absolute": (lambda rng, n: np.abs(rng.normal(size=n)), np.sqrt(2 / np.pi)),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
    "squared t5": (lambda rng, n: rng.standard_t(5, size=n) ** 2, 5 / 3),
}


def losses(law: str, *sizes: int, times: object = 1.0) -> Callable:
    """Losses of a regression: normal errors squared or absolute, exponential ones, t5 squared."""
    drawn, mean = LAWS[law]
    scale = np.broadcast_to(times, len(sizes))

    def draw(rng):
        by = _sizes(sizes)
        own = scale[by] * drawn(rng, len(by))
        # Their square roots have the losses that the exceptions look at.
        found = _sample(None, np.sqrt(own), by, "mean", mean * scale, score="MSE")
        return Subgroups(None, (own,), by, "mean", found.values, None, own, found.exception)

    return draw


def in_groups(kind: str, is_nested: bool, n_groups: int = 30, size: int = 10) -> Callable:
    """Rows of groups that vary (correlation .3), which have rows in all subgroups or in one."""

    def draw(rng):
        group = np.repeat(np.arange(n_groups), size)
        by = group % 3 if is_nested else np.arange(len(group)) % 3
        latent = np.sqrt(0.3) * rng.normal(size=n_groups)[group]
        latent += np.sqrt(0.7) * rng.normal(size=len(group))
        if kind == "losses":
            return _sample(None, latent, by, "mean", [0.0] * 3, score="MAE", groups=group)
        if kind == "AUC":
            y = rng.permutation(len(group)) % 2
            value, p = special.ndtr(1.2 / np.sqrt(2)), latent + 1.2 * y
            return _sample(y, p, by, "roc_auc", [value] * 3, score="AUC", groups=group)
        y, p = np.zeros(len(group), dtype=int), (latent > 1.0).astype(int)
        value = special.ndtr(1.0)
        return _sample(y, p, by, "accuracy", [value] * 3, score="accuracy", groups=group)

    return draw


# ------------------------------------------------------------------ several systems


def systems(one: Callable, n_systems: int = 2, shared: float = 0.5) -> Callable:
    """Several systems that are as good: a share of their answers is common to all of them.

    The classes of `one` must not be random.
    """

    def draw(rng):
        common = one(rng)
        found = []
        for _ in range(n_systems):
            own = one(rng)
            assert own.y_true is None or np.array_equal(own.y_true, common.y_true)
            is_common = rng.random(len(common.by)) < shared
            found.append(np.where(is_common, common.y_preds[0], own.y_preds[0]))
        return Subgroups(common.y_true, tuple(found), common.by, common.metric, common.values)

    return draw


# ------------------------------------------------------------------ tools


def _ours(sample, seed):
    options = {"metric": sample.metric, "by": sample.by, "groups": sample.groups}
    if len(sample.y_preds) > 1:
        named = {f"m{k}": p for k, p in enumerate(sample.y_preds)}
        found = compare_systems(sample.y_true, named, random_state=seed, **options)
        gaps = [gap.confidence_interval[:2] for gap in found["gap"].values()]
        told = [low > 0 or high < 0 for low, high in gaps]
        return {"": {"zero": decision(any(told))}}
    table = bootstrap_score(sample.y_true, sample.y_preds[0], random_state=seed, **options)
    sizes = np.bincount(sample.by, minlength=len(sample.values))
    # Numbers come back as the words of the table.
    own = {int(name): table[name] for name in table if name != "gap"}
    found = {
        "smallest": own[int(sizes.argmin())].confidence_interval[:2],
        "largest": own[int(sizes.argmax())].confidence_interval[:2],
    }
    low, high = table["gap"].confidence_interval[:2]
    if np.isnan(low):
        return {"": found | {"gap": NO_LIMITS, "zero": decision(False)}}
    first, second = map(int, table["gap"]._basis.pair.split(" - "))
    true = sample.values[first] - sample.values[second]
    return {"": found | {"gap": (low - true, high - true), "zero": (low, high)}}


def _parts(sample):
    return [sample.losses[sample.by == k] for k in range(len(sample.values))]


def _statsmodels(sample, seed):
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.stats.weightstats import DescrStatsW

    parts = _parts(sample)
    is_rate = sample.metric == "accuracy"
    limits = [
        proportion_confint(int(part.sum()), len(part), method="wilson")
        if is_rate
        else DescrStatsW(part).tconfint_mean()
        for part in parts
    ]
    pairs = combinations(limits, 2)
    apart = any(one[0] > other[1] or other[0] > one[1] for one, other in pairs)
    return {"overlap": {"zero": decision(apart)}}


def _tukey(sample, seed):
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    reject = pairwise_tukeyhsd(sample.losses, sample.by, alpha=1 - LEVEL).reject
    return {"": {"zero": decision(bool(np.any(reject)))}}


def _scipy(sample, seed):
    if sample.metric == "accuracy":
        right = np.array([[part.sum(), len(part) - part.sum()] for part in _parts(sample)])
        # Without an error anywhere nothing can differ.
        told = right.sum(axis=0).all() and stats.chi2_contingency(right, correction=False).pvalue
        return {"chi-squared": {"zero": decision(0 < told <= 1 - LEVEL)}}
    return {"F test": {"zero": decision(stats.f_oneway(*_parts(sample)).pvalue <= 1 - LEVEL)}}


def _max_min(sample, seed):
    rng, n = np.random.default_rng(seed), len(sample.by)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES).astype(float)
    member = (sample.by[:, None] == np.arange(len(sample.values))).astype(float)
    with np.errstate(invalid="ignore"):
        means = (counts @ (member * sample.losses[:, None])) / (counts @ member)
    spread = np.nanmax(means, axis=1) - np.nanmin(means, axis=1)
    low, high = np.quantile(spread, [0.025, 0.975])
    true = np.ptp(sample.values)
    return {"": {"gap": (low - true, high - true), "zero": (low, high)}}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", _ours, note="by=, all defaults"),
        Tool("statsmodels", _statsmodels, "statsmodels", "closed forms"),
        Tool("scipy", _scipy, "scipy", "closed forms"),
        Tool("Tukey", _tukey, "statsmodels", "pairwise_tukeyhsd"),
        Tool("max - min percentiles", _max_min, "numpy", "1000 resamples"),
    )
}

# ------------------------------------------------------------------ the study

OURS = {"skboot": 1000}
CLOSED = {"statsmodels": 1000, "scipy": 1000, "max - min percentiles": 200}
TUKEY = {"Tukey": 200}


def _of_record():
    """The cells of record 0032."""
    for title, draw in {
        "accuracy .85, 200/190/10 rows": accuracy(200, 190, 10),
        "accuracy .9, 300/80/20 rows": accuracy(300, 80, 20, right=0.9),
        "accuracy .85, five of 80 rows": accuracy(*[80] * 5),
        "accuracy .98, 300/80/20 rows": accuracy(300, 80, 20, right=0.98),
        "squared errors, 300/20 rows": losses("squared", 300, 20),
        "absolute errors, 300/300/20 rows": losses("absolute", 300, 300, 20),
        "exponential losses, 200/100/40 rows": losses("exponential", 200, 100, 40),
    }.items():
        yield title, draw, CLOSED | ({} if title.startswith("accuracy") else TUKEY)
    for title, draw in {
        "F1, 290/10 rows": f1(290, 10, prevalence=0.5),
        "F1, 200/60/40 rows": f1(200, 60, 40),
        "balanced accuracy of three classes, 240/120/60 rows": balanced(240, 120, 60),
        "AUC, 200/16 rows": auc(200, 16, prevalence=0.5),
        "AUC, 25 subgroups of 300 rows": many_subgroups,
        "AUC, 150/150/60 rows": auc(150, 150, 60),
        "AUC .95, 150/150/60 rows": auc(150, 150, 60, apart=2.3),
        "AUC, 200/24 rows": auc(200, 24),
        "accuracy, 30 groups in all of three subgroups": in_groups("accuracy", False),
        "accuracy, 30 groups in one of three subgroups": in_groups("accuracy", True),
        "losses, 30 groups in all of three subgroups": in_groups("losses", False),
        "losses, 30 groups in one of three subgroups": in_groups("losses", True),
        "AUC, 30 groups in all of three subgroups": in_groups("AUC", False),
        "two systems, accuracy .85, 200/190/10 rows": systems(accuracy(200, 190, 10)),
        "two systems, accuracy .9, 300/80/20 rows": systems(accuracy(300, 80, 20, right=0.9)),
        "two systems, accuracy .97, 300/80/20 rows": systems(
            accuracy(300, 80, 20, right=0.97), shared=0.9
        ),
        "three systems, accuracy .85, 200/60/40 rows": systems(accuracy(200, 60, 40), 3),
        "two systems, F1, 200/60/40 rows": systems(f1(200, 60, 40), shared=0.9),
        "two systems, AUC, 150/150/60 rows": systems(auc(150, 150, 60)),
        "two systems, squared errors, 300/20 rows": systems(losses("squared", 300, 20)),
    }.items():
        yield title, draw, {}
    draw = accuracy(200, 200, 200, right=(0.8, 0.8, 0.92))
    yield "power: accuracy .80/.80/.92, 200 rows each", draw, CLOSED


def _new():
    unequal = (400, 200, 100, 80, 60, 60, 50, 50, 40, 40, 30, 30, 25, 25, 20, 20, 15, 15, 12, 12)
    for title, draw in {
        "accuracy .9, twenty of 60 rows": accuracy(*[60] * 20, right=0.9),
        "accuracy .9, twenty of 400 to 12 rows": accuracy(*unequal, right=0.9),
        "accuracy .99, 1000/300/100 rows": accuracy(1000, 300, 100, right=0.99),
        "accuracy .95, 2000/40/40 rows": accuracy(2000, 40, 40, right=0.95),
        "absolute errors, ten of 40 rows": losses("absolute", *[40] * 10),
        "squared t5 errors, 400/100/100 rows": losses("squared t5", 400, 100, 100),
        "squared errors, 1000/100/50 rows": losses("squared", 1000, 100, 50),
        "power: accuracy .9, one of twenty .7, 60 rows each": accuracy(
            *[60] * 20, right=[0.7] + [0.9] * 19
        ),
        "power: squared errors, 1.6 times, 200/100/100 rows": losses(
            "squared", 200, 100, 100, times=(1.0, 1.0, 1.6)
        ),
    }.items():
        is_slow = "accuracy" in title or "ten of" in title
        yield title, draw, CLOSED | ({} if is_slow else TUKEY)
    for title, draw in {
        "F1, 30 % positives, 400/200/100 rows": f1(400, 200, 100, prevalence=0.3, rate=0.9),
        "AUC, 15 % positives, 600/200/200 rows": auc(600, 200, 200, prevalence=0.15),
        "AUC, eight of 100 rows": auc(*[100] * 8),
        "accuracy, 60 groups in all of three subgroups": in_groups("accuracy", False, 60),
        "AUC, 60 groups in one of three subgroups": in_groups("AUC", True, 60),
        "power: F1 .8/.8/.9, 200 rows each": f1(200, 200, 200, rate=(0.8, 0.8, 0.9)),
        "power: AUC .8/.8/.92, 150 rows each": auc(150, 150, 150, apart=(1.2, 1.2, 2.0)),
    }.items():
        yield title, draw, {}


def _cells():
    for title, draw, others in (*_of_record(), *_new()):
        yield Cell(title, "power" if title.startswith("power") else "equal", draw, OURS | others)


STUDY = Study("subgroups", tuple(_cells()), TOOLS)
