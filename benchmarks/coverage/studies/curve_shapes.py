"""Bands of curves with cliffs, levels and ties: does a band hold the whole curve?

Question: the curves of `curve_bands` are those of normal scores, which have no cliffs and no ties.
Does the band of `bootstrap_curve` hold whole curves of other shapes, and what does that cost where
scores are normal? Written before the run. The form (the larger of the quantiles of the replicates
and of a normal process; where all rows behind a point are of one label, the outermost of the exact
limit, the band and the replicates' quantile) was chosen on 100 data sets each, of another seed, of
the cells marked (*).

Design. Scores of negatives are standard normal unless said.

* Half of the positives lie four higher, half like negatives (*): precision falls off a cliff.
* Of the positives 60 % lie four higher, 40 % within .02 of .5 (*): the ROC and DET curves have one.
* Half of the negatives lie within .02 of 1.5, positives around 1 (*).
* Six levels, binomial with .7 and .3 (*), and five levels with the chances of a rating scale.
* Scores cut off at 1 from below (*), as of a detector that stays silent; cut off from above.
* Digits of scikit-learn: "5 or more" by five nearest neighbours and by a tree of depth 4, "3 or 8"
  by a forest of 20 trees, "8" by naive Bayes, each trained on 600 rows. The other 1197 are the
  population that 300 rows are drawn from.
* Unequal variances (*), normal scores (*), and exponential ones, to see the width.

A family that no form was chosen on: the rating scale, the cut from above, the digits, exponential
scores. A band covers if it holds the true curve at every point of its default grid, within .001
where the truth is that of three million rows. 1000 resamples, 400 data sets a cell; Campbell's
region, which takes the scores as they come, beside ROC curves.

Rule. A cell passes if the exact one-sided 95 % lower limit of its coverage is at least 89 %, two
points under the aim of 91 %. Widths are shown beside those of the form before, which are measured
on the same data sets by its revision, and have no rule here.

If it does not pass, the cells that fail are listed on the page.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from ..runner import Cell, Study, Tool
from .curve_bands import N_RESAMPLES, CurveSample, campbell, ours

REPETITIONS = 400
POPULATION = 3_000_000
# How far the curve of the population may be from the true one.
CLOSE = 1e-3
ROC, DET, PRECISION = "roc", "det", "precision_recall"


# ------------------------------------------------------------------ scores of a class


def mixed(rng, positive):
    """Half of the positives are four higher."""
    n = len(positive)
    return rng.normal(size=n) + 4 * (positive & (rng.random(n) < 0.5))


def narrow_positives(rng, positive):
    """Of the positives 40 % have nearly one score among the negatives."""
    n = len(positive)
    high = np.where(rng.random(n) < 0.6, rng.normal(4, 1, n), rng.normal(0.5, 0.02, n))
    return np.where(positive, high, rng.normal(size=n))


def narrow_negatives(rng, positive):
    """Half of the negatives have nearly one score among the positives."""
    n = len(positive)
    low = np.where(rng.random(n) < 0.5, rng.normal(-2, 1, n), rng.normal(1.5, 0.02, n))
    return np.where(positive, rng.normal(1, 1, n), low)


def six_levels(rng, positive):
    """Binomial levels."""
    return rng.binomial(5, np.where(positive, 0.7, 0.3)).astype(float)


def ratings(rng, positive):
    """Five levels of a reader who is sure of most negatives."""
    of_class = ((0.6, 0.8, 0.9, 0.97), (0.1, 0.2, 0.4, 0.7))
    u = rng.random(len(positive))
    return sum((u > np.where(positive, p, q)).astype(float) for q, p in zip(*of_class, strict=True))


def silent(rng, positive):
    """Cut off from below."""
    return np.maximum(normal(rng, positive, 1.5), 1.0)


def saturated(rng, positive):
    """Cut off from above."""
    return np.minimum(normal(rng, positive, 1.5), 1.0)


def unequal(rng, positive):
    """Scores of positives that vary twice as much."""
    return np.where(
        positive, 1.5 + 2 * rng.normal(size=len(positive)), rng.normal(size=len(positive))
    )


def normal(rng, positive, apart=1.0):
    """Equal variances."""
    return rng.normal(size=len(positive)) + apart * positive


def exponential(rng, positive):
    """Positives are three times as large."""
    return rng.exponential(np.where(positive, 3.0, 1.0))


# ------------------------------------------------------------------ data sets


def curve_of(score, positive, curve):
    """The curve of all these rows, as a function of what is on the horizontal axis."""
    _, level = np.unique(-score, return_inverse=True)
    hits = np.cumsum(np.bincount(level, positive))
    alarms = np.cumsum(np.bincount(level, ~positive))

    def at(x, _):
        if curve == PRECISION:
            k = np.searchsorted(hits, x * hits[-1] * (1 - 1e-9))
            return hits[k] / (hits[k] + alarms[k])
        found = np.interp(x, np.r_[0, alarms] / alarms[-1], np.r_[0, hits] / hits[-1])
        return 1 - found if curve == DET else found

    return at


def drawn(scores, n, prevalence, curve):
    """Data sets of so many rows, and the curve of a large population."""

    @cache
    def truth():
        rng = np.random.default_rng(20261126)
        positive = rng.random(POPULATION) < prevalence
        return curve_of(scores(rng, positive), positive, curve)

    def draw(rng):
        positive = rng.random(n) < prevalence
        score = scores(rng, positive)
        return CurveSample(positive.astype(int), score, curve, truth(), close=CLOSE)

    return draw


@cache
def _digits(positives, model):
    """Truth and scores of the rows that a model was not trained on."""
    X, digit = load_digits(return_X_y=True)
    y = np.isin(digit, positives)
    order = np.random.default_rng(0).permutation(len(y))
    train, other = order[:600], order[600:]
    return y[other], model.fit(X[train], y[train]).predict_proba(X[other])[:, 1]


def digits(positives, model, curve):
    """300 rows of those that a model was not trained on."""

    def draw(rng):
        positive, score = _digits(positives, model)
        rows = rng.integers(0, len(score), 300)
        truth = curve_of(score, positive, curve)
        return CurveSample(positive[rows].astype(int), score[rows], curve, truth)

    return draw


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", ours, note=f"{N_RESAMPLES} resamples"),
        Tool("Campbell", campbell, "scipy", "two Kolmogorov-Smirnov intervals"),
    )
}
# Scores, rows, share of positives, curves, and what they are called.
SHAPES = (
    ("precision with a cliff", mixed, 400, 0.1, (PRECISION,)),
    ("precision with a cliff", mixed, 400, 0.5, (PRECISION,)),
    ("precision with a cliff", mixed, 2000, 0.1, (PRECISION,)),
    ("positives at one score", narrow_positives, 400, 0.3, (ROC, DET)),
    ("positives at one score", narrow_positives, 2000, 0.3, (ROC,)),
    ("negatives at one score", narrow_negatives, 400, 0.5, (ROC, PRECISION)),
    ("six levels", six_levels, 300, 0.3, (ROC, PRECISION)),
    ("five ratings", ratings, 300, 0.3, (ROC, PRECISION)),
    ("cut off from below", silent, 300, 0.3, (ROC, PRECISION)),
    ("cut off from above", saturated, 300, 0.3, (ROC, PRECISION)),
    ("unequal variances", unequal, 300, 0.3, (ROC,)),
    ("normal scores", normal, 200, 0.5, (ROC, PRECISION)),
    ("normal scores", normal, 1000, 0.1, (ROC, PRECISION)),
    ("exponential scores", exponential, 300, 0.3, (ROC, PRECISION)),
)
FIVE_OR_MORE = (5, 6, 7, 8, 9)
MODELS = (
    ("digits, five neighbours", FIVE_OR_MORE, KNeighborsClassifier(5)),
    ("digits, tree of depth 4", FIVE_OR_MORE, DecisionTreeClassifier(max_depth=4, random_state=0)),
    ("digits, forest of 20", (3, 8), RandomForestClassifier(20, random_state=0)),
    ("digits, naive Bayes", (8,), GaussianNB()),
)
NAMES = {ROC: "ROC", DET: "DET", PRECISION: "precision"}


def _tools(curve):
    return dict.fromkeys(TOOLS if curve == ROC else ["skboot"], REPETITIONS)


def _cells():
    for what, scores, n, prevalence, curves in SHAPES:
        for curve in curves:
            name = f"{NAMES[curve]}, {what}, n {n}, {prevalence} positives"
            yield Cell(name, what, drawn(scores, n, prevalence, curve), _tools(curve))
    for what, positives, model in MODELS:
        for curve in (ROC, PRECISION):
            name = f"{NAMES[curve]}, {what}, n 300"
            yield Cell(name, what, digits(positives, model, curve), _tools(curve))


STUDY = Study("curve_shapes", tuple(_cells()), TOOLS, chunk=50)
