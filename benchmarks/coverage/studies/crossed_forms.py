"""Narrower intervals for two crossed factors, and for pairs of one population: which form?

Question: resamples of both sides count the noise of single cells three times (Owen 2007), so that
percentiles are far too wide where what members share cancels. Which correction is narrow there, and
safe elsewhere? Written before the run.

Design. A latent quality of each cell is normal; each side has a part of its variance (icc). Scores
are the accuracy, the mean of lognormal losses, F1 and the area under the ROC curve. Labels are
drawn by cell, or belong to the members of the second side ("labels by member"); in pairs of one
population a pair of a member with itself is positive. Of incomplete designs a share of the cells is
kept at random. Truths are exact. Designs are other than those of `grouped_systems`. 400 data sets a
cell where members have at least .4 of the variance or labels are theirs, 150 where width alone is
in question; 999 resamples of each. What is chosen is judged on 1000 data sets a cell in
`grouped_systems`.

Forms. With the variance Vb of the resamples, the sum Vc of the squared influences of cells (in one
population of pairs of two members), and for each side the sum Va of the squares of the influences
summed by member, times n / (n - 1), the variances

* robust: sum of Va over the sides, less Vc (Cameron, Gelbach and Miller 2011, equation 2.10; for
  one population Aronow, Samii and Assenova 2015);
* cells: Vb n / (n - 1) - k Vc, n the members of the smaller side, with k = 2, 1.5 or 1;
* larger: the larger of "robust" and "cells" with k = 2,

each at least Vc and each Va. With a = t sqrt(V / Vb), t of n - 1 degrees of freedom, but at most z:

* levels: percentiles at the normal levels of -/+ a;
* scaled: the percentiles of the level, drawn in to the mean of the resamples by a / z;
* symmetric: estimate -/+ t sqrt(V), not bounded by z, of the robust variance.

Tries of 60 to 150 other data sets in some cells led to this list: "levels" of "robust" and of k = 2
fell to 90 % for areas under the curve with strong effects, all misses on the side of the tail.

Rule. A form is eligible if, by the upper Monte Carlo limit (2.6 standard errors), it covers at
least 93 % in every cell with 20 or more members on each side and at least 91 % in all, unless the
default of today ("percentile", in one population "expanded") misses the same bound in that cell; if
in no cell it is wider on average than that default; and if it is at most .9 times as wide where the
default covers more than 98.5 %. Of the eligible ones the narrowest on average (geometric mean of
widths by that default) is taken, and of those within 1 % of it the first in the order above.
Crossed designs and one population are decided apart. If none is eligible, the default stays.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from skboot import bootstrap_score

from ..exceptions import exception_of
from ..runner import Cell, Study, Tool
from ..samples import SystemSample
from ..scores import SCORES

LEVEL = 0.975
PREVALENCE = 0.4
REPETITIONS, FEWER = 400, 150
N_RESAMPLES = 999


# ------------------------------------------------------------------ data


def truth_of(name: str, at: float) -> float:
    """Score of ever more cells; `at` as in `systems.crossed`, for F1 the accuracy."""
    if name == "MAE":
        return float(np.exp(at**2 / 2))
    if name == "F1":
        hits, wrong = PREVALENCE * at, (1 - PREVALENCE) * (1 - at)
        return 2 * hits / (PREVALENCE + hits + wrong)
    return at


def answers(name: str, latent, y, at: float):
    """Labels and answers of cells of these latent qualities."""
    if name == "MAE":
        return np.zeros(len(latent)), np.exp(at * latent)
    if name == "AUC":
        return y, latent + np.sqrt(2) * special.ndtri(at) * y
    return y, np.where(latent < special.ndtri(at), y, 1 - y)


def crossed(name, sides, icc, at, *, kept=1.0, by_member=False):
    """Two crossed factors."""
    score, truth = SCORES[name], {"": truth_of(name, at)}

    def draw(rng):
        left, right = np.indices(sides).reshape(2, -1)
        chosen = np.flatnonzero(rng.random(len(left)) < kept)
        left, right = left[chosen], right[chosen]
        effects = [np.sqrt(part) * rng.normal(size=n) for part, n in zip(icc, sides, strict=True)]
        latent = effects[0][left] + effects[1][right]
        latent += np.sqrt(1 - sum(icc)) * rng.normal(size=len(left))
        y = (rng.random(len(left)) < PREVALENCE).astype(int)
        if by_member:
            y = (rng.random(sides[1]) < PREVALENCE).astype(int)[right]
        y, p = answers(name, latent, y, at)
        groups = np.column_stack((left, right))
        return SystemSample(y, p, score, truth, groups, exception=exception_of(score, y, p, groups))

    return draw


def one_population(name, n_members, icc, at, kept=1.0):
    """Pairs of one population; a share of those of two members is kept."""
    score, truth = SCORES[name], {"": truth_of(name, at)}

    def draw(rng):
        s, t = np.triu_indices(n_members)
        chosen = np.flatnonzero((s == t) | (rng.random(len(s)) < kept))
        s, t = s[chosen], t[chosen]
        effect = np.sqrt(icc / 2) * rng.normal(size=n_members)
        rest = np.where(s == t, 1 - 2 * icc, 1 - icc)
        latent = effect[s] + effect[t] + np.sqrt(rest) * rng.normal(size=len(s))
        y, p = answers(name, latent, (s == t).astype(int), at)
        groups = np.column_stack((s, t))
        excepted = exception_of(score, y, p, groups)
        return SystemSample(y, p, score, truth, groups, same_population=True, exception=excepted)

    return draw


# ------------------------------------------------------------------ forms


def influence(sample: SystemSample) -> np.ndarray:
    """Influence of each cell on the score, (n_samples,): they sum to 0."""
    y, p, name = sample.y_true, sample.y_pred, sample.score.name
    if name == "AUC":
        positive = y == 1
        ranks, m, n = stats.rankdata(p), positive.sum(), (~positive).sum()
        won = np.empty(len(y))
        won[positive] = (ranks[positive] - stats.rankdata(p[positive])) / n
        won[~positive] = 1 - (ranks[~positive] - stats.rankdata(p[~positive])) / m
        area = won[positive].mean()
        return (won - area) / np.where(positive, m, n)
    if name == "F1":
        sizes = float(y.sum() + p.sum())
        f1 = 2 * np.sum(y * p) / sizes
        return (2 * y * p - f1 * (y + p)) / sizes
    losses = sample.score.losses(y, p)
    return (losses - losses.mean()) / len(losses)


def variances(sample: SystemSample) -> tuple[float, list[float], int]:
    """Vc, each Va, and the members of the smaller side."""
    psi, (left, right) = influence(sample), sample.groups.T
    if not sample.same_population:
        sides = []
        for side in (left, right):
            n = len(np.unique(side))
            sides.append(np.sum(np.bincount(side, psi) ** 2) * n / (n - 1))
        return float(psi @ psi), sides, min(len(np.unique(side)) for side in (left, right))
    n, of_two = int(sample.groups.max()) + 1, left != right
    summed = np.bincount(left, psi, n) + np.bincount(right[of_two], psi[of_two], n)
    return float(psi[of_two] @ psi[of_two]), [np.sum(summed**2) * n / (n - 1)], n


def forms(sample: SystemSample, seed: int) -> dict:
    """Limits by form."""
    result = bootstrap_score(
        sample.y_true,
        sample.y_pred,
        metric=sample.score.ours,
        groups=sample.units,
        n_resamples=N_RESAMPLES,
        interval="percentile",
        random_state=seed,
    )
    replicates = result.bootstrap_distribution
    ordered = np.sort(replicates[~np.isnan(replicates)])
    of_cells, of_sides, n = variances(sample)
    z, t = stats.norm.ppf(LEVEL), stats.t.ppf(LEVEL, n - 1)
    drawn, larger = ordered.var(ddof=1), ordered.var(ddof=1) * n / (n - 1)

    def at(reach):
        tail = stats.norm.cdf(-reach)
        ranks = np.array([tail, 1 - tail]) * (len(ordered) + 1) - 1
        return tuple(np.interp(ranks, np.arange(len(ordered)), ordered))

    usual = np.array(result.interval("percentile")[:2])
    found = {"percentile": usual, "expanded": result.interval("expanded")[:2]}
    robust = sum(of_sides) - of_cells
    sizes = {"robust": robust} | {f"cells {k}": larger - k * of_cells for k in (2, 1.5, 1)}
    sizes["larger"] = max(sizes["cells 2"], robust)
    for name, size in sizes.items():
        reach = min(t * np.sqrt(max(size, of_cells, *of_sides) / drawn), z)
        found[f"{name}, levels"] = at(reach)
        found[f"{name}, scaled"] = ordered.mean() + (usual - ordered.mean()) * reach / z
    half = t * np.sqrt(max(robust, of_cells, *of_sides))
    found["robust, symmetric"] = (result.estimate - half, result.estimate + half)
    return found


TOOLS = {"forms": Tool("forms", forms, note="999 resamples of bootstrap_score")}


# ------------------------------------------------------------------ cells

NONE, LITTLE, SOME, MUCH, UNEQUAL = (0.0, 0.0), (0.05, 0.05), (0.2, 0.2), (0.4, 0.4), (0.5, 0.1)
# score, `at`, sides, icc
COMPLETE = (
    ("accuracy", 0.85, (10, 10), LITTLE),
    ("accuracy", 0.85, (25, 25), NONE),
    ("accuracy", 0.85, (25, 25), SOME),
    ("accuracy", 0.95, (12, 60), SOME),
    ("accuracy", 0.7, (25, 60), MUCH),
    ("accuracy", 0.9, (100, 100), LITTLE),
    ("MAE", 0.5, (10, 10), SOME),
    ("MAE", 0.5, (25, 60), NONE),
    ("MAE", 0.5, (25, 60), UNEQUAL),
    ("MAE", 0.8, (50, 50), LITTLE),
    ("F1", 0.85, (12, 60), LITTLE),
    ("F1", 0.85, (25, 25), NONE),
    ("F1", 0.85, (50, 50), SOME),
    ("AUC", 0.9, (10, 10), LITTLE),
    ("AUC", 0.9, (10, 10), MUCH),
    ("AUC", 0.9, (12, 60), SOME),
    ("AUC", 0.75, (25, 25), NONE),
    ("AUC", 0.9, (25, 25), SOME),
    ("AUC", 0.9, (25, 25), MUCH),
    ("AUC", 0.85, (25, 60), UNEQUAL),
    ("AUC", 0.85, (50, 50), MUCH),
    ("AUC", 0.85, (100, 100), LITTLE),
)
BY_MEMBER = (
    ("F1", 0.85, (25, 60), SOME),
    ("AUC", 0.85, (25, 60), NONE),
    ("AUC", 0.85, (50, 50), LITTLE),
    ("AUC", 0.85, (25, 60), SOME),
)
# With the share of the cells that is kept.
INCOMPLETE = (
    ("accuracy", 0.85, (50, 50), SOME, 0.3),
    ("accuracy", 0.85, (50, 50), NONE, 0.1),
    ("MAE", 0.5, (25, 60), LITTLE, 0.3),
    ("AUC", 0.85, (50, 50), SOME, 0.2),
    ("AUC", 0.85, (25, 60), NONE, 0.5),
)
# score, `at`, members, icc, share
PAIRS = (
    ("accuracy", 0.85, 15, 0.0, 1.0),
    ("accuracy", 0.85, 25, 0.2, 1.0),
    ("accuracy", 0.95, 60, 0.0, 1.0),
    ("accuracy", 0.85, 60, 0.4, 0.2),
    ("MAE", 0.5, 25, 0.2, 1.0),
    ("AUC", 0.85, 25, 0.0, 1.0),
    ("AUC", 0.85, 25, 0.2, 1.0),
    ("AUC", 0.85, 80, 0.4, 1.0),
    ("AUC", 0.95, 80, 0.2, 0.2),
)


def _cells():
    def title(name, at, sides, icc):
        return f"{name} {at}, {sides[0]} x {sides[1]}, icc {icc[0]} and {icc[1]}"

    def tools(share):
        return {"forms": REPETITIONS if share >= 0.4 else FEWER}

    for name, at, sides, icc in COMPLETE:
        draw = crossed(name, sides, icc, at)
        yield Cell(title(name, at, sides, icc), "crossed", draw, tools(sum(icc)))
    for name, at, sides, icc in BY_MEMBER:
        draw = crossed(name, sides, icc, at, by_member=True)
        full = f"{title(name, at, sides, icc)}, labels by member"
        yield Cell(full, "crossed", draw, tools(1))
    for name, at, sides, icc, kept in INCOMPLETE:
        draw = crossed(name, sides, icc, at, kept=kept)
        full = f"{title(name, at, sides, icc)}, {kept} kept"
        yield Cell(full, "crossed", draw, tools(sum(icc)))
    for name, at, n, icc, kept in PAIRS:
        share = "" if kept == 1 else f", {kept} kept"
        draw = one_population(name, n, icc, at, kept)
        full = f"{name} {at}, pairs of {n}, icc {icc}{share}"
        yield Cell(full, "one population", draw, tools(2 * icc))


STUDY = Study("crossed_forms", tuple(_cells()), TOOLS, bounds=lambda sample: sample.score.bounds)
