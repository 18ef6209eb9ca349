"""Verdicts on areas under ROC curves near 1: which interval of the difference decides?

Run ``python -m benchmarks.coverage area_gates`` to make the table; some minutes. Written before the
run. Question: an area of .94 passes for one of .97 in 4.6 to 7 % of the data sets where 2.5 are
meant, by resamples and by DeLong's interval alike. Which closed form holds 3.5 % from 20 rows of a
class on, without telling equal areas apart in more than 5 %, and how much width does that cost?

Forms. All quantiles but those of the first are of Student's t with one less than the rows of the
smaller class. "normal" and "t": DeLong's interval. The others are the outer of "t" and of limits
that are recovered from limits of each area on the logit scale (MOVER; Zou 2007; Zou and Donner
2008), with s the standard error of an area, r DeLong's correlation, and
l, u = expit(logit(a) -/+ k q s / (a (1 - a))):

    low = d - sqrt(D^2 + U^2 - 2 r D U),  D = (a1 - l1) / k,  U = (u2 - a2) / k.

"whole" has k = 1, the limits of an area by itself; "given" has k = sqrt(1 - r^2), those given the
other area; "between" their geometric mean, k = (1 - r^2)^(1/4). The limits of an area of 1 are
m / (m + q^2) and 1, with m rows of the smaller class, and then r = 0. "ellipse" has the least and
the greatest difference over the ellipse of both areas on the logit scale instead.

Design. Pairs of systems whose scores share latent normal values (correlation .6, or as stated) and
are turned into scores of the named law: normal with equal or with unequal variances (positives
twice as wide), exponential, calibrated probabilities (beta), ten levels, and positives of which a
part scores like negatives ("lost"). Cells "margin": the first is worse by exactly the margin.
Cells "equal". 2000 data sets a cell, a cell's own seed.

Rule. Choice, on seed 1: of the forms that tell equal areas apart in at most 5 % (exact one-sided
lower 95 % limit) in every cell with 20 rows of a class, the one with the most margin cells that
keep both limits: passes in at most 3.5 %, their exact one-sided upper 95 % limit at most 5 %; mean
width at most 1.4 times that of "normal" under 40 rows of the smaller class, 1.25 times from 40 on.
Of forms with as many the one whose largest share of passes is smaller. Confirmation, on seed 2 and
with the cells marked "confirm" beside the others: the same limits, cell by cell. A cell that breaks
them is reported as it is. Beside them, without a limit: how often the interval holds the true
difference, how often the first fails by mistake, and how often it passes where both are equal
(``power``, at the better area and the margin of the cell).

Added after the choice: the form "skboot" is what the package makes of it. Beyond 1/2 a limit of an
area goes on in a straight line, so that the interval of a higher level always holds that of a lower
one; with 20 rows of a class and areas near 1 that concerns few data sets.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from skboot.inference.proportions import AreasOfSystems

from ..runner import TableStudy

N_SETS = 2000
LEVEL = 0.975
MOST_PASSED, MOST_UPPER, MOST_APART = 3.5, 5.0, 5.0
# Rows of the smaller class from which the rule holds, and from which its tighter width does.
FEWEST, MANY = 20, 40
WIDTHS = {"few": 1.4, "many": 1.25}
FIELDS = (
    "run",
    "cell",
    "kind",
    "smaller",
    "form",
    "passed",
    "failed",
    "held",
    "power",
    "width",
)


class Pair(NamedTuple):
    """Two systems: laws of their scores, areas, rows of both classes, latent correlation."""

    laws: tuple[str, str]
    areas: tuple[float, float]
    positives: int
    negatives: int
    shared: float = 0.6

    @property
    def smaller(self) -> int:
        """Rows of the smaller class."""
        return min(self.positives, self.negatives)

    @property
    def title(self) -> str:
        """Name of the cell."""
        law = self.laws[0] if self.laws[0] == self.laws[1] else " and ".join(self.laws)
        first, second = self.areas
        rows = f"{self.positives} + {self.negatives}"
        return f"{law}, {first:g} for {second:g}, {rows} rows, correlation {self.shared:g}"


# ------------------------------------------------------------------ scores of a law

CUTS = np.linspace(-1.2, 3.2, 9)


def scores_of(law, area, share, latent, positive):
    """Scores with an area under the ROC curve, from normal values of the rows of a class."""
    if law == "normal":
        return latent + np.sqrt(2) * ndtri(area) * positive
    if law == "unequal":
        return latent * (2 if positive else 1) + np.sqrt(5) * ndtri(area) * positive
    if law == "exponential":
        return -np.log(ndtr(-latent)) * (area / (1 - area) if positive else 1)
    if law == "ten levels":
        return np.digitize(latent + _shift_of_levels(area) * positive, CUTS)
    if law == "calibrated":
        first, second = _beta_of(area, share)
        return stats.beta.ppf(ndtr(latent), first + positive, second + 1 - positive)
    if law == "lost":
        uniform, lost = ndtr(latent), 2 * (1 - area)
        return np.where(uniform < lost, uniform / lost, 2.0) if positive else uniform
    assert law == "perfect"
    return latent + 100.0 * positive


@lru_cache
def _shift_of_levels(area):
    """Shift of the positives whose area is that, once scores are levels."""
    ends = np.r_[-np.inf, CUTS, np.inf]

    def excess(shift):
        of_positives, of_negatives = np.diff(ndtr(ends - shift)), np.diff(ndtr(ends))
        return of_positives @ (np.cumsum(of_negatives) - of_negatives / 2) - area

    return optimize.brentq(excess, 0, 8)


@lru_cache
def _beta_of(area, share):
    """Law of probabilities whose labels are drawn from them, with an area and a share."""
    at = (np.arange(4000) + 0.5) / 4000

    def excess(log_size):
        first, second = np.exp(log_size) * share, np.exp(log_size) * (1 - share)
        of_positives = stats.beta.ppf(at, first + 1, second)
        return stats.beta.cdf(of_positives, first, second + 1).mean() - area

    size = np.exp(optimize.brentq(excess, -6, 5))
    return size * share, size * (1 - share)


# ------------------------------------------------------------------ data sets


def drawn(pair, seed, n_sets):
    """Areas (n_sets, 2) and DeLong's covariances (n_sets, 2, 2) of data sets."""
    laws = [sum(map(ord, law)) for law in pair.laws]
    numbers = [round(1000 * value) for value in (*pair.areas, pair.shared)]
    rng = np.random.default_rng([seed, *laws, *numbers, pair.positives, pair.negatives])
    share = pair.positives / (pair.positives + pair.negatives)
    sides = []
    for positive, n in ((1, pair.positives), (0, pair.negatives)):
        common, own = rng.normal(size=(n_sets, n)), rng.normal(size=(2, n_sets, n))
        latent = np.sqrt(pair.shared) * common + np.sqrt(1 - pair.shared) * own
        each = zip(pair.laws, pair.areas, latent, strict=True)
        of_systems = [scores_of(law, area, share, values, positive) for law, area, values in each]
        sides.append(np.stack(of_systems, axis=1))
    return areas_and_covariances(*sides)


def areas_and_covariances(positives, negatives, at_once=100):
    """The same from scores of shape (n_sets, 2, n); DeLong et al. (1988), equations 4 and 5."""
    of_sides = np.empty(positives.shape), np.empty(negatives.shape)
    for start in range(0, len(positives), at_once):
        part = slice(start, start + at_once)
        upper, lower = positives[part, :, :, None], negatives[part, :, None, :]
        in_order = (upper > lower) + 0.5 * (upper == lower)
        of_sides[0][part], of_sides[1][part] = in_order.mean(axis=3), in_order.mean(axis=2)
    covariances = np.zeros((len(positives), 2, 2))
    for placements in of_sides:
        n = placements.shape[2]
        centred = placements - placements.mean(axis=2, keepdims=True)
        covariances += centred @ centred.transpose(0, 2, 1) / (n * (n - 1))
    return of_sides[0].mean(axis=2), covariances


# ------------------------------------------------------------------ forms


def delong(areas, covariances, quantile):
    """DeLong's limits of the difference."""
    variances = covariances[:, 0, 0] + covariances[:, 1, 1] - 2 * covariances[:, 0, 1]
    half = quantile * np.sqrt(np.maximum(variances, 0))
    difference = areas[:, 0] - areas[:, 1]
    return difference - half, difference + half


def _on_logits(areas, covariances, smaller, quantile):
    """Standard errors on the logit scale, and the correlation; of perfect areas by the rows."""
    errors = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    perfect = areas >= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(perfect, 0, errors / (areas * (1 - areas)))
        r = covariances[:, 0, 1] / errors.prod(axis=1)
    return slopes, np.where((errors == 0).any(axis=1), 0.0, r), perfect


def recovered(areas, covariances, smaller, quantile, power):
    """Limits recovered from those of both areas, with k = (1 - r^2)^power."""
    slopes, r, perfect = _on_logits(areas, covariances, smaller, quantile)
    k = np.maximum((1 - np.minimum(r**2, 1)) ** power, 1e-3)[:, None]
    with np.errstate(divide="ignore"):
        centre = logit(areas)
    low = np.where(
        perfect, smaller / (smaller + quantile**2), expit(centre - k * quantile * slopes)
    )
    high = np.where(perfect, 1.0, expit(centre + k * quantile * slopes))
    down, up = (areas - low) / k, (high - areas) / k

    def joint(one, other):
        return np.sqrt(np.maximum(one**2 + other**2 - 2 * r * one * other, 0))

    difference = areas[:, 0] - areas[:, 1]
    return difference - joint(down[:, 0], up[:, 1]), difference + joint(up[:, 0], down[:, 1])


def ellipse(areas, covariances, smaller, quantile, n_angles=96):
    """Least and greatest difference over the ellipse of both areas on the logit scale."""
    slopes, r, perfect = _on_logits(areas, covariances, smaller, quantile)
    # An area of 1 stands where half a pair is out of order, and reaches down to the same limit.
    centre = logit(np.minimum(areas, 1 - 0.25 / smaller**2))
    lowest = logit(smaller / (smaller + quantile**2))
    slopes = np.where(perfect, (centre - lowest) / quantile, slopes)
    angle = np.linspace(0, 2 * np.pi, n_angles, endpoint=False)
    second = np.outer(r, np.cos(angle)) + np.outer(np.sqrt(np.maximum(1 - r**2, 0)), np.sin(angle))
    reach = quantile * slopes
    one = expit(centre[:, :1] + reach[:, :1] * np.cos(angle))
    difference = one - expit(centre[:, 1:] + reach[:, 1:] * second)
    return difference.min(axis=1), difference.max(axis=1)


def outer(one, other):
    """The lower of two lower limits, and the higher of two higher ones."""
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


WIDENED = {
    "whole": partial(recovered, power=0.0),
    "between": partial(recovered, power=0.25),
    "given": partial(recovered, power=0.5),
    "ellipse": ellipse,
}
FORMS = ("normal", "t", *WIDENED)


def of_skboot(areas, covariances, smaller):
    """Limits of the difference by skboot."""
    quantile = float(ndtri(LEVEL))
    sets = zip(areas, covariances, strict=True)
    found = [AreasOfSystems(*one, smaller).pair(0, 1).limits(quantile) for one in sets]
    return tuple(np.transpose(found))


def limits_by_form(areas, covariances, smaller):
    """Limits of the difference by every form."""
    quantile = stdtrit(smaller - 1, LEVEL)
    usual = delong(areas, covariances, quantile)
    found = {"normal": delong(areas, covariances, ndtri(LEVEL)), "t": usual}
    for name, widened in WIDENED.items():
        found[name] = outer(usual, widened(areas, covariances, smaller, quantile))
    return found | {"skboot": of_skboot(areas, covariances, smaller)}


# ------------------------------------------------------------------ cells

# Pairs that are written as in the titles, one of them above .98.
ABOVE = ("0.96 for 0.99", "0.97 for 0.995", "0.96 for 1", "0.97 for 1")
RELEASES = (
    (0.92, 0.96, 20, 100),
    (0.94, 0.97, 20, 180),
    (0.94, 0.97, 40, 160),
    (0.94, 0.97, 100, 100),
    (0.95, 0.98, 80, 320),
    (0.80, 0.85, 30, 70),
)
SAME = ((0.95, 20, 180), (0.97, 20, 180), (0.95, 40, 160), (0.85, 30, 70))
LAWS = ("normal", "exponential", "ten levels")
FURTHER_LAWS = ("calibrated", "unequal", "lost")


def _of_law(law, shared=0.6):
    for first, second, positives, negatives in RELEASES:
        yield Pair((law, law), (first, second), positives, negatives, shared)
    for area, positives, negatives in SAME:
        yield Pair((law, law), (area, area), positives, negatives, shared)


def cells(run):
    """Pairs of a run: those of "choice", and in "confirm" further ones."""
    # Fewer than 20 positives: shown, no promise.
    yield Pair(("normal", "normal"), (0.92, 0.96), 18, 102)
    for law in LAWS:
        yield from _of_law(law)
    for shared in (0.3, 0.9):
        yield from _of_law("normal", shared)
    if run == "choice":
        return
    for law in FURTHER_LAWS:
        yield from _of_law(law)
    for shared in (0.3, 0.9):
        yield from _of_law("exponential", shared)
    for laws in (("lost", "normal"), ("normal", "lost"), ("calibrated", "ten levels")):
        for positives, negatives in ((20, 180), (40, 160)):
            yield Pair(laws, (0.94, 0.97), positives, negatives)
        yield Pair(laws, (0.95, 0.95), 20, 180)
    for first, second, positives, negatives in ((0.96, 1.0, 20, 180), (0.97, 1.0, 40, 160)):
        yield Pair(("normal", "perfect"), (first, second), positives, negatives)
    yield Pair(("normal", "normal"), (0.96, 0.99), 20, 180)
    yield Pair(("normal", "normal"), (0.97, 0.995), 40, 160)


def rates(pair, seed, n_sets):
    """Yield for each form percent that pass, fail, hold and pass if equal, and the mean width."""
    by_form = limits_by_form(*drawn(pair, seed, n_sets), pair.smaller)
    true = pair.areas[0] - pair.areas[1]
    equal = pair._replace(areas=(pair.areas[1],) * 2, laws=(pair.laws[1],) * 2)
    of_equal = limits_by_form(*drawn(equal, seed + 1000, n_sets), pair.smaller) if true else {}
    for form, (low, high) in by_form.items():
        # Differences of equal scores are 0 up to rounding.
        passed, failed = low > true + 1e-12, high < true - 1e-12
        power = 100 * np.mean(of_equal[form][0] > true) if true else np.nan
        wrong = 100 * np.mean(passed), 100 * np.mean(failed)
        yield form, *wrong, 100 - sum(wrong), power, np.mean(high - low)


PAIRS = {
    (run, pair.title): (seed, pair)
    for seed, run in ((1, "choice"), (2, "confirm"))
    for pair in cells(run)
}


def rows_of(run, title, n_sets=N_SETS):
    """Lines of the table for one pair of a run."""
    seed, pair = PAIRS[run, title]
    kind = "equal" if pair.areas[0] == pair.areas[1] else "margin"
    for form, *shares, width in rates(pair, seed, n_sets):
        yield kind, pair.smaller, form, *(f"{share:.2f}" for share in shares), f"{width:.5f}"


STUDY = TableStudy("area_gates", FIELDS, [*PAIRS], rows_of)


# ------------------------------------------------------------------ the rule


def upper_limit(percent, n_sets=N_SETS):
    """Exact one-sided 95 % upper limit of a share, in percent."""
    hits = round(percent * n_sets / 100)
    return 100.0 if hits == n_sets else 100 * float(stats.beta.ppf(0.95, hits + 1, n_sets - hits))


def lower_limit(percent, n_sets=N_SETS):
    """Exact one-sided 95 % lower limit of a share, in percent."""
    return 100 - upper_limit(100 - percent, n_sets)


def broken(row, normal):
    """Which limits a row of the table breaks, given that of "normal" of its cell."""
    if row["kind"] == "equal":
        apart = float(row["passed"]) + float(row["failed"])
        return ("told apart",) if lower_limit(apart) > MOST_APART else ()
    passed = float(row["passed"])
    ratio = float(row["width"]) / float(normal["width"])
    most = WIDTHS["few" if int(row["smaller"]) < MANY else "many"]
    over = passed > MOST_PASSED or upper_limit(passed) > MOST_UPPER
    return ("passed",) * over + ("width",) * (ratio > most)


def verdicts(rows):
    """Broken limits by run, form and cell, of cells with 20 rows of a class."""
    normal = {(row["run"], row["cell"]): row for row in rows if row["form"] == "normal"}
    found = {}
    for row in rows:
        if int(row["smaller"]) >= FEWEST:
            at = row["run"], row["cell"]
            found.setdefault((row["run"], row["form"]), {})[row["cell"]] = broken(row, normal[at])
    return found


def chosen(rows):
    """The form that the rule chooses, from the rows of "choice"."""
    scores = {}
    by_form = verdicts(rows)
    for form in FORMS:
        of_cells = by_form["choice", form]
        if any("told apart" in breaks for breaks in of_cells.values()):
            continue
        mine = [row for row in rows if row["run"] == "choice" and row["form"] == form]
        at_margin = [row for row in mine if row["kind"] == "margin" and row["cell"] in of_cells]
        kept = sum(not of_cells[row["cell"]] for row in at_margin)
        scores[form] = kept, -max(float(row["passed"]) for row in at_margin)
    return max(scores, key=scores.get)
