"""Bands of curves by hand, from what a curve says of its points.

Exact, but for the quantile of a normal process of curves over thresholds, which comes from draws of
its own: 4000 of them against 16 000 here, whose difference is above .08 once in 10 000 calls.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from identity_cases import close, columns_of, freedom_by_hand, quiet, rows_of
from scipy.special import ndtr, ndtri, stdtrit

import skboot

pytestmark = pytest.mark.identity

GRIDS = {
    "roc": [0.01, 0.05, 0.1, 0.13, 0.3, 0.36, 0.7, 0.95, 0.99],
    "det": [0.01, 0.04, 0.1, 0.13, 0.3, 0.36, 0.7, 0.96, 0.995],
    "precision_recall": [0.02, 0.05, 0.1, 0.2, 0.5, 0.55, 0.9, 0.97, 0.995],
    "calibration": [0.0, 0.355, 0.505, 0.645, 1.0],
    "calibration_smooth": [*np.linspace(0.15, 0.85, 20)],
    "decision": [0.1, 0.2, 0.45, 0.6, 0.97],
}
OVER_THRESHOLDS = ("roc", "det", "precision_recall")
STREAMED = ("roc", "det", "precision_recall", "decision")
DESIGNS = ("rows", "groups", "groups in strata", "weights", "all alike", "alike in groups", "few")
N = 60
# Of 7 rows of a class little is known of one side, or nothing.
OF_FEW = [0.05, 0.15, 0.18, 0.2, 0.25, 0.28, 0.5, 0.8, 0.9]


def case(design):
    rng = np.random.default_rng(len(design))
    y, score = rows_of("probability", rng, N)
    columns = columns_of(design, N, rng) if design in DESIGNS[1:3] else {}
    if design == "weights":
        columns["sample_weight"] = rng.integers(1, 9, N) / 4
    other = np.round(0.6 * score + 0.4 * rng.random(N), 2).clip(0.01, 0.99)
    if design == "few":
        y = (np.arange(N) % 9 != 0).astype(int)
    if "alike" in design:
        other = score
        columns = {"groups": np.arange(N) // 6} if "groups" in design else {}
        y = np.where(score <= 0.36, 0, y)
        y[np.argsort(score)[-6:]] = 1
    return y, {"A": score, "B": other}, columns


@cache
def curves_of(curve, design, band="simultaneous", level=0.9):
    y, systems, columns = case(design)
    grid = OF_FEW if design == "few" and curve in OVER_THRESHOLDS else GRIDS[curve]
    options = {"curve": curve, "grid": grid, "band": band, "confidence_level": level}
    found = quiet(
        skboot.bootstrap_curve, y, systems, n_resamples=99, random_state=0, **options, **columns
    )
    return y, found


@cache
def streamed_curves(curve, band="simultaneous", level=0.9, n_bins=12):
    """Rows of which most have a score of their own, counted in intervals."""
    rng = np.random.default_rng(5)
    y = (np.arange(2000) % 5 < 2).astype(int)
    systems = {name: np.clip(0.25 * y + rng.beta(2, 3, 2000) * 0.7, 0.001, 0.999) for name in "AB"}
    options = {"n_resamples": 99, "random_state": 0, "confidence_level": level}
    one = skboot.BootstrapAccumulator("roc_auc", systems=["A", "B"], n_bins=n_bins, **options)
    one.update(y, systems, start=0)
    grid = [0.01, 0.1, 0.3, 0.7, 0.9]
    return y, systems, quiet(one.curve, curve, band=band, grid=grid)


def near(grid, n):
    """Points within 1.5 standard errors of a share of n rows."""
    for x in grid:
        reach = max(1.5 * np.sqrt(x * (1 - x) / n), 1 / n)
        yield np.abs(grid - x) <= reach * (1 + 1e-9)


class Scale:
    def __init__(self, behind):
        self.n = behind

    def of(self, values):
        if self.n is None:
            return values
        return np.arcsin(np.sqrt((np.clip(values, 0, 1) * self.n + 0.375) / (self.n + 0.75)))

    def back(self, values):
        if self.n is None:
            return values
        share = np.sin(np.clip(values, 0, np.pi / 2)) ** 2
        return np.clip((share * (self.n + 0.75) - 0.375) / self.n, 0, 1)


def errors_of(found, scale):
    """Standard deviations of replicates, at least those that are believed."""
    replicates = scale.of(found.bootstrap_distribution)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        # A point that no replicate reaches has no spread.
        warnings.simplefilter("ignore", RuntimeWarning)
        error = np.nan_to_num(np.nanstd(replicates, axis=0, ddof=1))
    error[error < 1e-12] = 0
    least = found._floor if found._behind is None else 0.5 / np.sqrt(found._behind + 0.5)
    return replicates, error, np.zeros(len(error)) if least is None else least


def reach_of(found, normal):
    """Student's t at the level of a normal quantile, for the spread of resamples."""
    df, inflation = freedom_of_rows(found.unit, found.n_units, found._n_strata)
    return np.sqrt(inflation) * stdtrit(df, ndtr(normal))


@cache
def freedom_of_rows(unit, n_units, n_strata):
    """Degrees of freedom and inflation of the designs above."""
    if unit != "group":
        return n_units - n_strata, n_units / (n_units - n_strata)
    for design in ("groups", "groups in strata", "alike in groups"):
        columns = case(design)[2]
        known = len(np.unique(columns["groups"])), len(np.unique(columns.get("strata", 0)))
        if known == (n_units, n_strata):
            return freedom_by_hand(columns, N)


def sizes_by_hand(found, y):
    """Rows of equal weight that the negatives and the positives are worth (Kish 1965)."""
    weight = case("weights")[2]["sample_weight"] if found._weighted else np.ones(len(y))
    return [weight[y == k].sum() ** 2 / np.sum(weight[y == k] ** 2) for k in (0, 1)]


def free_by_hand(found, y):
    """Where the data say nothing of a limit: beyond one or two rows of a class."""
    no, yes = sizes_by_hand(found, y)
    outside = np.zeros(len(found.x), dtype=bool)
    below, above = outside, outside
    if found.curve in ("roc", "det"):
        outside = (found.x < 1 / no - 1e-12) | (found.x > 1 - 1 / no + 1e-12)
        below, above = found.x < 2 / no - 1e-12, found.x > 1 - 2 / no + 1e-12
        if found.curve == "det":
            below, above = above, below
    if found.curve == "precision_recall":
        outside = found.x > 1 - 1 / yes + 1e-12
    if found._is_difference:
        outside = outside | (below & above)
        return outside, outside
    return below | outside, above | outside


def laws_of(found, replicates, error, counts, free):
    """Largest deviations of each resample, and those of paths of a normal process."""
    centre = Scale(found._behind).of(found.estimate)
    varies = counts & (error > 0)
    if not varies.any():
        return [None]

    def largest(deviations):
        misses = (np.where(free[0][varies], -np.inf, deviations),
                  np.where(free[1][varies], -np.inf, -deviations))  # fmt: skip
        return np.nanmax(np.maximum(*misses), axis=1, initial=0)

    deviations = (replicates - centre)[:, varies] / error[varies]
    laws = [largest(np.nan_to_num(deviations))]
    if found._is_difference or found.curve not in OVER_THRESHOLDS:
        return laws
    covariance = np.cov(np.nan_to_num(deviations - np.nanmean(deviations, axis=0)).T)
    values, vectors = np.linalg.eigh(np.atleast_2d(covariance))
    draws = np.random.default_rng(9).normal(size=(16_000, len(values)))
    return [*laws, largest(draws * np.sqrt(values.clip(0)) @ vectors.T)]


def critical_by_hand(largest, level, n_exact):
    single = ndtri(0.5 + level / 2)
    if largest is None:
        return ndtri(0.5 + level ** (1 / max(n_exact, 1)) / 2)
    ordered, n = np.sort(largest), len(largest)
    joint = np.arange(1, n + 1) / (n + 1) * (2 * ndtr(ordered) - 1) ** n_exact
    reached = ordered[joint >= level - 1e-9]
    return max(single, reached[0] if len(reached) else ordered[-1])


def finished(found, low, high, free):
    least, greatest = found._bounds
    error = 0 if found.bin_error is None else found.bin_error
    low, high = np.maximum(low - error, least), np.minimum(high + error, greatest)
    low, high = np.fmin(low, found.estimate), np.fmax(high, found.estimate)
    low, high = np.where(free[0], least, low), np.where(free[1], greatest, high)
    rises = None if found._is_difference else {"roc": True, "det": False}.get(found.curve)
    if rises is not None:
        k = len(low)
        before = [slice(0, j + 1) if rises else slice(j, k) for j in range(k)]
        after = [slice(j, k) if rises else slice(0, j + 1) for j in range(k)]
        low = np.array([low[own].max() for own in before])
        high = np.array([high[own].min() for own in after])
    return low, high


def assert_band(found, y, level):
    scale, share = Scale(found._behind), found._behind is not None
    assert share == (not found._is_difference and found.curve != "decision")
    free = free_by_hand(found, y)
    for told, expected in zip((found._free_below, found._free_above), free, strict=True):
        np.testing.assert_array_equal(np.zeros(len(y)) if told is None else told, expected)
    replicates, error, least = errors_of(found, scale)
    error = np.maximum(error, least)
    if found.curve in OVER_THRESHOLDS and not found._is_difference:
        n = sizes_by_hand(found, y)[int(found.curve == "precision_recall")]
        mean = np.array([np.mean(error[own] ** 2) for own in near(found.x, n)])
        error = np.maximum(np.sqrt(mean), least)
    alike = ((found.estimate <= 0) | (found.estimate >= 1)) & share
    counts = ~(np.isnan(found.estimate) | (free[0] & free[1]))
    in_bins = found.curve == "calibration"
    exact = alike & counts & in_bins
    laws = laws_of(found, replicates, error, counts & ~exact, free)
    critical = max(critical_by_hand(law, level, exact.sum()) for law in laws)
    drawn = not found._is_difference and found.curve in OVER_THRESHOLDS
    assert found._critical == pytest.approx(critical, abs=0.08 if drawn else 1e-9)
    half = reach_of(found, found._critical) * error
    centre = scale.of(found.estimate)
    low, high = scale.back(centre - half), scale.back(centre + half)
    for k in np.flatnonzero(alike):
        tail = 1 - ndtr(found._critical)
        far = tail ** (1 / found._behind[k])
        limits = [(far, 1) if found.estimate[k] >= 1 else (0, 1 - far)]
        if not in_bins:
            drawn_there = np.nanquantile(found.bootstrap_distribution[:, k], [tail, 1 - tail])
            limits += [(low[k], high[k]), drawn_there]
        low[k], high[k] = np.min(limits), np.max(limits)
    low, high = finished(found, low, high, free)
    close(found.low, low, 1e-7, 1e-9, "low")
    close(found.high, high, 1e-7, 1e-9, "high")
    return int((alike & counts).sum())


# A DET curve is a ROC curve upside down.
CASES = [(curve, design) for curve in GRIDS for design in DESIGNS
         if curve != "det" or design in ("rows", "few")]  # fmt: skip


@pytest.mark.parametrize(("curve", "design"), CASES)
def test_a_band_reaches_out_by_its_errors_wherever_something_is_known(curve, design):
    y, found = curves_of(curve, design)
    assert [*found] == ["A", "B", "difference"]
    n_alike = [assert_band(one, y, 0.9) for one in found.values()]
    if design == "all alike" and curve not in ("decision", "calibration_smooth"):
        assert n_alike[0] > 0


@pytest.mark.parametrize("curve", STREAMED)
def test_a_band_of_scores_in_intervals_is_as_much_wider(curve):
    y, _, found = streamed_curves(curve)
    for one in found.values():
        assert (one.bin_error > 0).any()
        assert_band(one, y, 0.9)
    both = found["A"].bin_error + found["B"].bin_error
    np.testing.assert_array_equal(found["difference"].bin_error, both)


def limits_of_point(found, k, y, level):
    """Limits of one point by itself, before bounds."""
    value, behind = found.estimate[k], None if found._behind is None else found._behind[k]
    whole = found.unit == "row"
    n = None if behind is None else behind if whole else min(behind, found.n_units)
    alike = behind is not None and value in (0, 1)
    far = ((1 - level) / 2) ** (1 / n) if alike else None
    exact = [(0, 1 - far) if value == 0 else (far, 1)] if alike else []
    if behind is not None and found.curve in OVER_THRESHOLDS:
        scale, replicates = Scale(behind), found.bootstrap_distribution[:, k]
        error = np.nanstd(scale.of(replicates), ddof=1)
        half = reach_of(found, ndtri(0.5 + level / 2)) * max(error, 0.5 / np.sqrt(behind + 0.5))
        centre = scale.of(value)
        limits = [(scale.back(centre - half), scale.back(centre + half)), (value, value), *exact]
        if alike:
            limits.append(np.nanquantile(replicates, [(1 - level) / 2, (1 + level) / 2]))
        return np.min(limits), np.max(limits)
    if alike:
        return exact[0]
    fixed = found.curve == "calibration"
    counted = behind is not None and whole and not found._weighted
    if counted and (fixed or min(value, 1 - value) * behind < 10):
        z = ndtri(0.5 + level / 2)
        centre = (value * behind + z**2 / 2) / (behind + z**2)
        half = z * np.sqrt(value * (1 - value) * behind + z**2 / 4) / (behind + z**2)
        return centre - half, centre + half
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = found.at(found.x[k]).interval("expanded", confidence_level=level)
    least = 0 if found._floor is None else reach_of(found, ndtri(0.5 + level / 2)) * found._floor[k]
    return min(low, value - least), max(high, value + least)


def assert_points(found, y, level):
    free, (least, greatest) = free_by_hand(found, y), found._bounds
    limits = np.transpose(found.pointwise_limits())
    for k, (low, high) in enumerate(limits):
        if np.isnan(found.estimate[k]):
            assert np.isnan(low)
            assert np.isnan(high)
            continue
        error = 0 if found.bin_error is None else found.bin_error[k]
        by_hand = limits_of_point(found, k, y, level)
        expected = (least if free[0][k] else max(by_hand[0] - error, least),
                    greatest if free[1][k] else min(by_hand[1] + error, greatest))  # fmt: skip
        close([low, high], expected, 1e-7, 1e-9, (found.name, k))
        close([*quiet(found.at, found.x[k]).confidence_interval], [low, high])
    if found.band == "pointwise":
        close([found.low, found.high], limits.T)


@pytest.mark.parametrize(("curve", "design"), [("calibration", "rows"), *CASES[1::2]])
def test_a_point_has_the_limits_of_its_share_or_of_its_replicates(curve, design):
    y, found = curves_of(curve, design, "pointwise", 0.8)
    for one in found.values():
        assert_points(one, y, 0.8)


@pytest.mark.parametrize("curve", STREAMED)
def test_a_point_of_scores_in_intervals_has_limits_as_much_farther_out(curve):
    y, _, found = streamed_curves(curve, "pointwise")
    for one in found.values():
        assert_points(one, y, 0.9)


# ------------------------------------------------------------------ what limits are made of


def worth_of(weight):
    return weight.sum() / np.sum(weight**2)


@pytest.mark.parametrize("curve", GRIDS)
@pytest.mark.parametrize("design", ["rows", "weights", "groups", "few"])
def test_floors_and_references_of_curves_are_those_of_their_shares(curve, design):
    y, systems, columns = case(design)
    weight = columns.get("sample_weight", np.ones(N))
    worth = worth_of(weight)
    _, found = curves_of(curve, design)
    x = found["A"].x
    odds = x / (1 - x) if curve == "decision" else np.zeros(len(x))
    share = np.average(y, weights=weight)
    references = {"roc": x, "det": 1 - x, "precision_recall": np.full(len(x), share),
                  "decision": share - (1 - share) * odds}  # fmt: skip
    for name, score in systems.items():
        one = found[name]
        close(one.reference, references.get(curve, one.x))
        if curve == "decision":
            above = score[:, None] >= x
            n = worth * weight.sum()
            a, b = ((worth * weight[y == k] @ above[y == k] + 2) / (n + 6) for k in (1, 0))
            close(one._floor, np.sqrt((a + b * odds**2 - (a - b * odds) ** 2) / n))
        else:
            assert one._floor is None
    difference = found["difference"]
    close(difference.reference, np.zeros(len(x)))
    behind = [found[name]._behind for name in systems]
    least = worth * weight.sum() if curve == "decision" else np.minimum(*behind)
    close(difference._floor, np.maximum(odds, 1) / (least + 2))


@pytest.mark.parametrize("design", ["rows", "weights"])
def test_rows_behind_points_are_those_of_their_thresholds_or_bins(design):
    y, systems, columns = case(design)
    weight = columns.get("sample_weight", np.ones(N))
    for name, score in systems.items():
        _, found = curves_of("precision_recall", design)
        recall = np.array([weight[(score >= t) & (y == 1)].sum() for t in score])
        recall = recall / weight[y == 1].sum()
        for x, behind in zip(found[name].x, found[name]._behind, strict=True):
            threshold = score[recall >= x - 1e-9].max()
            close(behind, worth_of(weight) * weight[score >= threshold].sum())
        _, found = curves_of("calibration", design)
        edges = GRIDS["calibration"]
        number = np.searchsorted(edges[1:-1], score)
        sums = [weight[number == k].sum() for k in range(len(edges) - 1)]
        close(found[name]._behind, worth_of(weight) * np.array(sums))


def short_numbers(n):
    inside = np.arange(1, 200) / 200
    inside = inside[(inside > 1 / n + 1e-12) & (inside < 1 - 1 / n - 1e-12)]
    return np.concatenate(([1 / n], inside, [1 - 1 / n]))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_curve_has_points_at_short_numbers(streamed):
    rng = np.random.default_rng(3)
    y, score = rows_of("probability", rng, 90)
    systems = {"A": score, "B": (0.7 * score).round(2)}
    options = {"n_resamples": 3, "random_state": 0}
    if streamed:
        one = skboot.BootstrapAccumulator("roc_auc", systems=["A", "B"], **options)
        one.update(y, systems, start=0)

    def grid_of(curve):
        if streamed:
            return quiet(one.curve, curve)["B"].x
        return quiet(skboot.bootstrap_curve, y, systems, curve=curve, **options)["B"].x

    for curve, n in (("roc", (y == 0).sum()), ("precision_recall", y.sum())):
        close(grid_of(curve), short_numbers(n))
    # That of DET curves has two digits and is even by normal deviates, on which it is drawn.
    det, n = grid_of("det"), (y == 0).sum()
    lower = det[det <= 0.5]
    close(det, 1 - det[::-1])
    assert (det[0], det[-1]) == (1 / n, 1 - 1 / n)
    close(lower[1:], [float(f"{x:.1e}") for x in lower[1:]])
    assert np.diff(ndtri(det)).max() < 0.06
    hundredths = np.arange(1, 100) / 100
    # Each model has the thresholds that enough of its own rows reach.
    above = np.array([np.sum(systems["B"] >= t) for t in hundredths])
    close(grid_of("decision"), hundredths[above >= 30])


@pytest.mark.parametrize("edges", [[0.0, 0.001, 0.355, 0.505, 1.0], [0.0, 0.355, 0.505, 0.999, 1.0],
                                   [0.0, 0.355, 0.3552, 0.3554, 0.505, 1.0]])  # fmt: skip
def test_a_bin_without_rows_joins_the_one_above_or_the_last_one_below(edges):
    y, systems, _ = case("rows")
    options = {"curve": "calibration", "n_resamples": 9, "random_state": 0}
    found, same = (
        quiet(skboot.bootstrap_curve, y, systems, grid=grid, **options)
        for grid in (edges, [0.0, 0.355, 0.505, 1.0])
    )
    for name in same:
        close([found[name].x, found[name].estimate], [same[name].x, same[name].estimate])


def test_bins_of_a_difference_hold_the_scores_on_their_upper_edges():
    """Most scores are edges; edges below which a system has no row of its own are left out."""
    options = {"curve": "calibration", "n_resamples": 9, "random_state": 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(60) % 2)
        systems = {name: rng.choice(rng.permutation(11)[:6], 60) / 10 for name in "ab"}
        edges = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        found = quiet(skboot.bootstrap_curve, y, systems, grid=edges, **options)
        inner = edges[1:-1]
        while inner:
            bins = [np.digitize(score, inner, right=True) for score in systems.values()]
            lacks = [k for k in range(len(inner) + 1) if not all((own == k).any() for own in bins)]
            if not lacks:
                break
            del inner[min(lacks[0], len(inner) - 1)]
        bins = [np.digitize(score, inner, right=True) for score in systems.values()]
        shares = [[y[own == k].mean() for k in range(len(inner) + 1)] for own in bins]
        close(found["difference"].estimate, np.subtract(*shares))
