"""Scores with a judge: few human labels correct those that a judge gave to all rows.

Question: does ``proxy=`` hold the true value where few rows have a human label, whatever the judge
is worth, and is its interval shorter than that of human labels alone, or at least hardly longer?
Written before the run; the form was chosen on other seeds of other designs: two classes of equal or
of .2 positive rows, normal scores, judges that are wrong in 2 to 50 % of the rows whatever the
system says, on rows of one class alone, or more often where the system is wrong; two systems that
share hard rows; 30 and 60 groups of equal size.

Form. l f(judge, unlabelled) + f(human) - l f(judge, labelled); l by the jackknife's variances, or 0
where its interval is no shorter than that of human labels alone, which is then the result. The
terms share resamples; to their variance comes that of further labelled rows on which the judge is
wrong, a Poisson number of mean 2 x (share of labelled rows on which the judge is right), more where
its errors come in groups. Student's t of one less than the labelled units, on the logit scale where
the score has two ends; of differences expanded percentiles.

Designs, none of which the form was chosen on. "accuracy": four classes of .4, .3, .2 and .1, .3 of
the rows hard, accuracy .86. "F1": .3 positive, sensitivity .75, specificity .9. "AUC": .4 positive,
d' 1.4. "mean": gamma values of shape 1.5, mean 3. "ratings": five grades. "difference": accuracies
.86 and .79 that share hard rows. "groups": 2 to 12 rows, accuracy .85 that varies between groups,
as do the errors of the judge. Judges: "good" is wrong in 5 % of the rows (more often where rows are
hard or the system is wrong), or adds noise of .4 standard deviations and a bias; "middling" 20 %,
or noise of one; "useless" knows nothing; "biased" errs to one side. 50, 100 and 300 labelled rows
(50 and 100 groups), and 1000 or, for accuracy and differences, 5000 others (300 groups).

Peers. PPI++ as published, of means: z limits, and the weight of its own formula. Of right and wrong
rows post-stratification in closed form: Wilson's limits of each stratum by the judge, put together
by recovered variances (MOVER).

Rule. 1000 data sets a cell, 499 resamples. A cell passes if the exact one-sided 95 % lower limit of
its coverage is at least 90.5 %, two points under the aim of 92.5, and its mean width is at most
1.05 times that of human labels alone. Data sets that are refused, for fewer than ten labels of a
class, do not count. Where a peer holds as much at less width, the page says so.

After the run: two cells fail, differences with 50 labels by a middling and by a biased judge, where
few rows tell the systems apart (record 0099 has two forms that were tried and not taken). The
median ratio leaves out a data set on whose labelled rows two systems are alike, so that labels
alone have no width; its cell was run again, on the same data sets.

``make coverage-study STUDY=judges`` goes on with the table.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from skboot import bootstrap_score, compare_systems, proportion_interval

from ..runner import TableStudy, one_line, shown_coverage

N_DATA_SETS, N_RESAMPLES, SEED = 1000, 499, 11
AIM, WIDEST = 92.5, 1.05
HEADER = (
    *("cell", "data sets", "coverage %", "Monte Carlo error", "lower limit", "width"),
    *("labels alone %", "labels alone width", "ratio", "median ratio", "weight", "refused"),
    *("PPI++ %", "PPI++ width", "strata %", "strata width"),
)
JUDGES = ("good", "middling", "useless", "biased")
WRONG = {"good": 0.05, "middling": 0.2}
CLASSES = np.array([0.4, 0.3, 0.2, 0.1])
GRADES = np.array([0.05, 0.1, 0.2, 0.35, 0.3])


class Sample(NamedTuple):
    """Truth, judge and answers of all rows, of which the first are labelled, and the true value.

    `answers` is None for means, whose values are the truth; a pair for two systems.
    """

    truth: np.ndarray
    judge: np.ndarray
    answers: object
    n_labelled: int
    value: float
    groups: np.ndarray | None = None


class Found(NamedTuple):
    """Limits by the judge, by labels alone, and by peers; and the weight of the judge."""

    ours: tuple[float, float]
    alone: tuple[float, float]
    weight: float
    published: tuple[float, float]
    strata: tuple[float, float]


# ------------------------------------------------------------------ data


def judged(rng, truth, judge, likely, wrong, alone):
    """Labels of a judge: wrong more often where it is likely, with ``wrong`` in place of truth."""
    if judge == "useless":
        return alone
    share = WRONG[judge]
    chance = np.where(likely, 2 * share, share * (1 - 2 * likely.mean()) / (1 - likely.mean()))
    return np.where(rng.random(len(truth)) < chance, wrong, truth)


def of_classes(rng, n, others, judge, second=False):
    """Four classes, and the answers of one system or of two, which share hard rows."""
    n_rows = n + others
    truth, hard = rng.choice(4, n_rows, p=CLASSES), rng.random(n_rows) < 0.3
    following = (truth + 1) % 4

    def system(easy, of_hard):
        wrong = rng.random(n_rows) < np.where(hard, of_hard, easy)
        return np.where(wrong, following, truth)

    first, other = system(0.05, 0.35), system(0.08, 0.5133)
    if judge == "biased":
        # It takes the first system's errors for truth.
        labels = np.where((first != truth) & (rng.random(n_rows) < 0.6), first, truth)
    else:
        anything = rng.choice(4, n_rows, p=CLASSES)
        labels = judged(rng, truth, judge, hard, following, anything)
    if second:
        value = (0.7 * 0.08 + 0.3 * 0.5133) - (0.7 * 0.05 + 0.3 * 0.35)
        return Sample(truth, labels, (first, other), n, value)
    return Sample(truth, labels, first, n, 1 - 0.7 * 0.05 - 0.3 * 0.35)


def of_two_classes(rng, n, others, judge):
    """Rare positives, and the answers of a system."""
    n_rows = n + others
    truth = (rng.random(n_rows) < 0.3).astype(int)
    answers = (rng.random(n_rows) < np.where(truth == 1, 0.75, 0.1)).astype(int)
    if judge == "biased":
        labels = np.where((truth == 0) & (rng.random(n_rows) < 0.12), 1, truth)
    else:
        anything = (rng.random(n_rows) < 0.3).astype(int)
        labels = judged(rng, truth, judge, answers != truth, 1 - truth, anything)
    value = 2 * 0.3 * 0.75 / (0.3 + 0.3 * 0.75 + 0.7 * 0.1)
    return Sample(truth, labels, answers, n, value)


def of_scores(rng, n, others, judge):
    """Normal scores of two classes."""
    n_rows = n + others
    truth = (rng.random(n_rows) < 0.4).astype(int)
    scores = rng.normal(size=n_rows) + 1.4 * truth
    if judge == "biased":
        labels = np.where((truth == 1) & (rng.random(n_rows) < 0.15), 0, truth)
    else:
        anything = (rng.random(n_rows) < 0.4).astype(int)
        labels = judged(rng, truth, judge, (scores > 0.7) != (truth == 1), 1 - truth, anything)
    return Sample(truth, labels, scores, n, float(norm.cdf(1.4 / np.sqrt(2))))


def of_values(rng, n, others, judge):
    """Skewed values, and a judge's."""
    values = rng.gamma(1.5, 2.0, n + others)
    noise = rng.normal(size=len(values)) * np.sqrt(6)
    labels = {
        "good": 0.8 * values + 1 + 0.4 * noise,
        "middling": 0.8 * values + 1 + noise,
        "useless": rng.gamma(1.5, 2.0, len(values)),
        "biased": 2 * np.sqrt(values),
    }[judge]
    return Sample(values, labels, None, n, 3.0)


def of_grades(rng, n, others, judge):
    """Grades from 1 to 5, and those of a judge."""
    grades = rng.choice(5, n + others, p=GRADES) + 1
    if judge == "biased":
        moved = grades + (rng.random(len(grades)) < 0.25)
    else:
        wrong = rng.random(len(grades)) < (0.07 if judge == "good" else 0.4)
        moved = grades + np.where(wrong, rng.choice([-1, 1], len(grades)), 0)
    labels = np.clip(moved, 1, 5)
    return Sample(
        grades.astype(float), labels.astype(float), None, n, float(GRADES @ np.arange(1, 6))
    )


def of_groups(rng, n, others, judge):
    """Groups of several sizes, whose accuracy varies, and so do the errors of a judge."""
    sizes = rng.integers(2, 13, n + others)
    group = np.repeat(np.arange(n + others), sizes)
    n_rows, n_groups = len(group), len(sizes)
    truth = rng.integers(0, 2, n_rows)
    answers = np.where(rng.random(n_rows) < rng.beta(5.1, 0.9, n_groups)[group], truth, 1 - truth)
    if judge == "useless":
        labels = rng.integers(0, 2, n_rows)
    elif judge == "biased":
        lenient = (rng.random(n_groups) < 0.5)[group]
        labels = np.where((answers != truth) & lenient, answers, truth)
    else:
        share = WRONG[judge]
        wrong = rng.beta(3 * share, 3 * (1 - share), n_groups)[group]
        labels = np.where(rng.random(n_rows) < wrong, 1 - truth, truth)
    return Sample(truth, labels, answers, int(sizes[:n].sum()), 0.85, group)


# ------------------------------------------------------------------ intervals


def of_terms(sample):
    """Values of each row by humans and by the judge, where the score is a mean; else None."""
    truth, judge, answers = sample.truth, sample.judge, sample.answers
    if answers is None:
        return truth, judge
    if isinstance(answers, tuple):
        first, other = answers
        return tuple(
            (first == own).astype(float) - (other == own).astype(float) for own in (truth, judge)
        )
    return (answers == truth).astype(float), (answers == judge).astype(float)


def published(human, judge, n):
    """PPI++ of a mean: weight of Angelopoulos, Duchi & Zrnic (2023), example 6.1, and z limits.

    Centred products of labelled rows are divided by n, as their package does.
    """
    human, labelled, other = human[:n], judge[:n], judge[n:]
    covariance = np.mean((human - human.mean()) * (labelled - labelled.mean()))
    weight = covariance / ((1 + n / len(other)) * np.var(judge, ddof=1))
    weight = float(np.clip(weight, 0, 1)) if np.isfinite(weight) else 0.0
    estimate = human.mean() + weight * (other.mean() - labelled.mean())
    error = np.sqrt(weight**2 * other.var() / len(other) + (human - weight * labelled).var() / n)
    return weight, estimate, (estimate - ndtri(0.975) * error, estimate + ndtri(0.975) * error)


def strata(human, judge, n):
    """Shares of right rows within those that the judge calls right, and wrong, put together."""
    share = judge.mean()
    weights, estimate, below, above = (share, 1 - share), 0.0, 0.0, 0.0
    for weight, call in zip(weights, (1, 0), strict=True):
        own = human[:n][judge[:n] == call]
        if not len(own):
            return np.nan, np.nan
        low, high = proportion_interval(int(own.sum()), len(own))[:2]
        estimate += weight * own.mean()
        below += (weight * (own.mean() - low)) ** 2
        above += (weight * (high - own.mean())) ** 2
    return estimate - np.sqrt(below), estimate + np.sqrt(above)


METRICS = {"accuracy": "accuracy", "F1": "f1", "AUC": "roc_auc", "groups": "accuracy"}


def limits(sample, metric, number):
    """Limits of all forms on a data set."""
    n, asked = sample.n_labelled, {"n_resamples": N_RESAMPLES, "random_state": number}
    labels = np.where(np.arange(len(sample.truth)) < n, sample.truth, np.nan)
    nothing = (np.nan, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(sample.answers, tuple):
            systems = dict(zip("ab", sample.answers, strict=True))
            few = {name: own[:n] for name, own in systems.items()}
            found = compare_systems(labels, systems, proxy=sample.judge, **asked)
            alone = compare_systems(sample.truth[:n], few, **asked).pairs[0]
            ours = found.pairs[0].confidence_interval
        elif sample.answers is None:
            asked["metric"] = "mean"
            found = bootstrap_score(None, labels, proxy=sample.judge, **asked)
            alone, ours = (
                bootstrap_score(None, sample.truth[:n], **asked),
                found.confidence_interval,
            )
        else:
            asked["metric"] = METRICS[metric]
            in_groups = {} if sample.groups is None else {"groups": sample.groups}
            few = {name: column[:n] for name, column in in_groups.items()}
            found = bootstrap_score(
                labels, sample.answers, proxy=sample.judge, **asked, **in_groups
            )
            alone = bootstrap_score(sample.truth[:n], sample.answers[:n], **asked, **few)
            ours = found.confidence_interval
    peer, by_strata = nothing, nothing
    if metric not in ("F1", "AUC", "groups"):
        peer = published(*of_terms(sample), n)[2]
    if metric == "accuracy":
        by_strata = strata(*of_terms(sample), n)
    return Found(tuple(ours), tuple(alone.confidence_interval), found.proxy_weight, peer, by_strata)


# ------------------------------------------------------------------ cells


def _cells():
    for judge in JUDGES:
        for n in (50, 100, 300):
            yield f"accuracy, {judge}, n {n}", "accuracy", partial(of_classes, n=n, others=5000)
            yield f"F1, {judge}, n {n}", "F1", partial(of_two_classes, n=n, others=1000)
            yield f"AUC, {judge}, n {n}", "AUC", partial(of_scores, n=n, others=1000)
            yield f"mean, {judge}, n {n}", "mean", partial(of_values, n=n, others=1000)
            yield (
                f"difference, {judge}, n {n}",
                "difference",
                partial(of_classes, n=n, others=5000, second=True),
            )
            if judge != "useless":
                yield f"ratings, {judge}, n {n}", "mean", partial(of_grades, n=n, others=1000)
            if n < 300:
                yield f"groups, {judge}, n {n}", "groups", partial(of_groups, n=n, others=300)


CELLS = {
    name: (metric, partial(draw, judge=name.split(", ")[1])) for name, metric, draw in _cells()
}


def data_of(name, number):
    """The data set of a cell with a number."""
    return CELLS[name][1](np.random.default_rng([SEED, sum(map(ord, name)), number]))


def row_of(name):
    """One row of the table."""
    found, values, refused = [], [], 0
    for number in range(N_DATA_SETS):
        sample = data_of(name, number)
        try:
            found.append(limits(sample, CELLS[name][0], number))
        except ValueError as error:
            if "human labels of each class" not in str(error):
                raise
            refused += 1
            continue
        values.append(sample.value)
    values = np.array(values)
    sides = [np.array([getattr(one, side) for one in found]) for side in Found._fields]
    ours, alone, weight, *peers = sides
    covered, width = _covered(ours, values), ours[:, 1] - ours[:, 0]
    n, of_alone = len(values), alone[:, 1] - alone[:, 0]
    shown = []
    for peer in peers:
        known = np.isfinite(peer).all(axis=1)
        share, wide = _covered(peer, values), (peer[:, 1] - peer[:, 0])[known]
        shown += [f"{100 * share / n:.1f}", f"{wide.mean():.4g}"] if known.any() else ["", ""]
    return (
        n,
        *shown_coverage(covered, n),
        f"{width.mean():.4g}",
        f"{100 * _covered(alone, values) / n:.1f}",
        f"{of_alone.mean():.4g}",
        f"{width.mean() / of_alone.mean():.3f}",
        f"{np.nanmedian(width / np.where(of_alone > 0, of_alone, np.nan)):.3f}",
        f"{weight.mean():.2f}",
        refused,
        *shown,
    )


def _covered(limits_of_each, values):
    """How many intervals hold the true value."""
    low, high = limits_of_each.T
    return int(np.sum((low <= values) & (values <= high)))


STUDY = TableStudy("judges", HEADER, [(name,) for name in CELLS], one_line(row_of))
