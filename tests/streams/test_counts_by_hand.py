"""Streams of 30 units or more by hand: what was drawn is read from means of one unit each.

Exact, since all accumulators of one seed draw a unit alike: replicates of every metric are its
plain function on rows that weigh as often as their unit was drawn; those of curves and of scores in
intervals follow from the same weights.
"""

from functools import cache, partial

import numpy as np
import pytest
from identity_cases import (
    ALL,
    FAST,
    any_seed,
    call_of,
    close,
    each_of,
    labels_of_columns,
    plain_value,
    quiet,
    rows_of,
    unless,
)
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

B = 19
GRID = np.array([0.07, 0.2, 0.35, 0.6, 0.8, 0.93])
CURVES = ("roc", "det", "precision_recall", "decision")


def streamed(metric, y, p, unit, weight=None, **options):
    found = skboot.BootstrapAccumulator(metric, random_state=3, n_resamples=B, **options)
    return found.update(y, p, sample_weight=weight, **unit)


@cache
def times_drawn(n_units, by_groups):
    """How often each of the units is drawn, but for a factor of each resample, (B, n_units)."""
    rows = np.arange(n_units)
    unit = {"groups": rows} if by_groups else {"start": 0}
    each = [quiet(streamed("mean", None, 1.0 * (rows == k), unit).result) for k in rows]
    found = np.transpose([one.bootstrap_distribution for one in each])
    close(found.sum(axis=1), np.ones(B))
    # Whole numbers, of which some unit is drawn once.
    times = found / np.min(np.where(found > 0, found, np.inf), axis=1, keepdims=True)
    close(times, times.round(), 1e-7, 1e-7)
    assert 0.5 < times.mean() < 1.5
    assert abs(times.var() - 1) < 0.4
    return times


@each_of([name for name in FAST if call_of(name).score.data not in ("sets", "tables")])
@any_seed
def test_replicates_of_a_stream_are_the_function_on_rows_as_often_as_drawn(name, seed):
    place = list(ALL).index(name)
    by_groups, weighted = bool(place % 2), bool(place // 2 % 2)
    call = call_of(name, "rows", weighted, seed, n=68 if by_groups else 34)
    numbers = np.arange(call.n) % 34
    unit = {"groups": numbers} if by_groups else {"start": 0}
    weight = call.columns.get("sample_weight", np.ones(call.n))
    given = call.columns.get("sample_weight")
    options = {"labels": labels_of_columns(call), "interval": "percentile"}
    stream = unless("needs all rows", streamed, call.score.metric, call.y_true, call.y_pred, unit,
                    given, **options)  # fmt: skip
    if stream is None:
        return
    result = quiet(stream.result)
    close(result.estimate, plain_value(call.score, call.y_true, call.y_pred, given), 1e-8)
    for times, value in zip(times_drawn(34, by_groups), result.bootstrap_distribution, strict=True):
        kept = np.flatnonzero(times[numbers] > 0)
        drawn = weight * times[numbers]
        expected = plain_value(call.score, call.y_true, call.y_pred, drawn, kept)
        if call.score.weighs and not np.isnan(expected):
            close(value, expected, 1e-7, 1e-9)


# ------------------------------------------------------------------ curves


def case(n, n_groups, weighted=False):
    rng = np.random.default_rng([n, n_groups])
    y, _ = rows_of("two", rng, n)
    systems = {name: np.clip(0.2 * y + 0.8 * rng.beta(2, 2, n), 0.001, 0.999) for name in "AB"}
    groups = np.arange(n) % n_groups
    weight = rng.integers(1, 9, n) / 4 if weighted else None
    if n > 1000:
        # Some intervals have a point of the grid between their scores, and rows of both classes.
        for score in systems.values():
            score[::10] = np.resize(GRID, n // 10) + rng.uniform(-5e-4, 5e-4, n // 10)
    return y, systems, groups, weight


def curve_at(curve, y, score, weight):
    options = {"curve": curve, "grid": GRID, "n_resamples": 2, "random_state": 0}
    options["band"] = "pointwise"
    return quiet(skboot.bootstrap_curve, y, score, sample_weight=weight, **options).estimate


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("weighted", [False, True])
def test_replicates_of_a_streamed_curve_are_curves_of_rows_as_often_as_drawn(curve, weighted):
    y, systems, groups, weight = case(66, 33, weighted)
    systems = {name: score.round(1) for name, score in systems.items()}
    one = streamed("roc_auc", y, systems, {"groups": groups}, weight, systems=["A", "B"])
    found = quiet(one.curve, curve, grid=GRID, band="pointwise")
    weight = np.ones(66) if weight is None else weight
    for name, score in systems.items():
        close(found[name].estimate, curve_at(curve, y, score, weight))
        for times, values in list(zip(times_drawn(33, True), found[name].bootstrap_distribution,
                                      strict=True))[:3]:  # fmt: skip
            kept = times[groups] > 0
            drawn = (weight * times[groups])[kept]
            close(values, curve_at(curve, y[kept], score[kept], drawn), 1e-8, 1e-10)


# ------------------------------------------------------------------ scores in intervals


def in_intervals(score, n_bins):
    """Number of the interval of each score, in rising order: of equal leading bits.

    Above one half they are the bits of the distance from one.
    """
    half = int(np.float64(0.5).view(np.uint64))
    bits = [int(np.float64(s).view(np.uint64)) if s <= 0.5
            else 2 * half - int(np.float64(1 - s).view(np.uint64)) for s in score]  # fmt: skip
    shift = 0
    while len({b >> shift for b in bits}) > n_bins:
        shift += 1
    return np.unique([b >> shift for b in bits], return_inverse=True)[1]


OF_RANKS = {
    "roc_auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
    "equal_error_rate": own.equal_error_rate,
    "of error rates": partial(own.false_positive_rate_at, false_negative_rate=0.3),
}


@pytest.mark.parametrize("metric", OF_RANKS)
@pytest.mark.parametrize("n_bins", [3, 7, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_resamples_are_counted_in_intervals_around_the_estimate(metric, n_bins, weighted):
    y, systems, groups, weight = case(190, 33, weighted)
    function, score = OF_RANKS[metric], systems["A"]
    asked = function if metric == "of error rates" else metric
    one = streamed(asked, y, score, {"groups": groups}, weight, n_bins=n_bins)
    result = quiet(one.result)
    weight = np.ones(190) if weight is None else weight
    coarse, fine = in_intervals(score, n_bins), in_intervals(score, 64 * n_bins)
    estimate = function(y, fine, sample_weight=weight)
    close(result.estimate, estimate)
    on_data = function(y, coarse, sample_weight=weight)
    for times, value in zip(times_drawn(33, True), result.bootstrap_distribution, strict=True):
        drawn = function(y, coarse, sample_weight=weight * times[groups])
        close(value, np.clip(estimate + drawn - on_data, 0, 1), 1e-8, 1e-10)
    told = [note for note in result.notes if "intervals" in note and "at most" in note]
    assert len(told) == (n_bins < 1000)
    if told and n_bins == 7:
        assert f"at most {64 * n_bins} intervals (7 for resamples)" in told[0]
        assert "leaves the estimate as it is" in told[0]


def test_the_error_of_intervals_is_that_of_the_best_and_the_worst_order_within_them():
    y, systems, groups, _ = case(400, 33)
    score = systems["B"]
    for metric in ("roc_auc", "average_precision", "neg_equal_error_rate"):
        one = streamed(own.equal_error_rate if "equal" in metric else metric, y, score,
                       {"groups": groups}, n_bins=2)  # fmt: skip
        result = quiet(one.result)
        fine = in_intervals(score, 128)
        sizes = np.bincount(fine)
        assert (sizes > 1).any()
        [note] = [note for note in result.notes if "intervals" in note]
        found = float(note.split("estimate by at most ")[1].split(";")[0])
        function = OF_RANKS[metric.removeprefix("neg_")]
        ends = [function(y, 2 * fine + side) for side in (y, 1 - y)]
        error = max(abs(end - result.estimate) for end in ends)
        # Average precision may be lower still where ties count as one threshold.
        assert error <= found
        assert found <= error + (0.01 if metric == "average_precision" else 1e-6)


# ------------------------------------------------------------------ curves of intervals


class Cells:
    """Rows in intervals of scores, with their ends."""

    def __init__(self, y, score, weight, n_bins):
        self.y, self.number = y, in_intervals(score, n_bins)
        order = np.lexsort((score, self.number))
        first = np.searchsorted(self.number[order], np.arange(self.number.max() + 1))
        self.low, self.high = score[order][first], score[order][np.append(first[1:], 0) - 1]
        self.is_exact = len(np.unique(score)) <= n_bins
        self.weigh(weight)

    def weigh(self, weight):
        self.weight = weight
        self.by_class = np.array([np.bincount(self.number, weight * (self.y == k)) for k in (0, 1)])
        return self

    def score(self):
        return self.low[self.number]

    def around(self, share, side, falling):
        """Weights of the side and of others before, and with, the interval that reaches a share."""
        sides = self.by_class[[side, 1 - side]]
        upto = np.cumsum(sides[:, ::-1] if falling else sides, axis=1)
        at = np.flatnonzero(upto[0] >= share * upto[0, -1] * (1 - 1e-12))[0]
        before = upto[:, at - 1] if at else np.zeros(2)
        k = len(self.low) - 1 - at if falling else at
        return before, upto[:, at], upto[:, -1], self.low[k] == self.high[k]

    def of_threshold(self, t):
        unsure = (self.low[self.number] < t) & (self.high[self.number] >= t)
        return unsure, self.low[self.number] >= t


def asked_of(curve, x):
    """Share that is looked for, of which class, and whether from the highest score down."""
    return (x, 1, True) if curve == "precision_recall" else (1 - x, 0, False)


def lacking_by_hand(curve, cells):
    """Share of the variance of a bridge that is inside the interval of each point."""
    found = []
    for x in GRID:
        if curve == "decision":
            unsure, above = (cells.weight[own].sum() for own in cells.of_threshold(x))
            found.append(unsure / max(unsure + above, 1e-300))
            continue
        s, side, falling = asked_of(curve, x)
        before, after, total, is_one = cells.around(s, side, falling)
        a, b = before[0] / total[0], after[0] / total[0]
        found.append(0.0 if is_one else (s - a) * (b - s) / ((b - a) * s * (1 - s)))
    return np.array(found)


def error_by_hand(curve, cells, estimate):
    """How far each point may be from the curve of all scores, whatever their order is."""
    found = []
    for x, value in zip(GRID, estimate, strict=True):
        if curve == "decision":
            unsure, _ = cells.of_threshold(x)
            gained, lost = (cells.weight[unsure & (cells.y == k)].sum() for k in (1, 0))
            found.append(max(gained, lost * x / (1 - x)) / cells.weight.sum())
            continue
        s, side, falling = asked_of(curve, x)
        before, after, total, is_one = cells.around(s, side, falling)
        if curve == "precision_recall":
            ends = s * total[0] / (s * total[0] + after[1]), after[0] / (after[0] + before[1])
        else:
            ends = np.array([before[1], after[1]]) / total[1]
            ends = ends if curve == "det" else 1 - ends[::-1]
        found.append(0.0 if is_one else max(value - ends[0], ends[1] - value))
    return np.array(found)


def precision_within(cells, weight):
    """Precision where the negatives of an interval come evenly among its positives."""
    found = []
    cells.weigh(weight)
    for x in GRID:
        before, after, total, _ = cells.around(x, 1, True)
        share = (x * total[0] - before[0]) / (after[0] - before[0])
        negatives = before[1] + share * (after[1] - before[1])
        found.append(x * total[0] / (x * total[0] + negatives))
    return np.array(found)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("n_bins", "weighted"), [(2, False), (12, True)])
def test_a_curve_of_intervals_lies_around_that_of_finer_ones(curve, n_bins, weighted):
    y, systems, groups, weight = case(190 if n_bins == 2 else 1800, 33, weighted)
    one = streamed("roc_auc", y, systems, {"groups": groups}, weight, systems=["A", "B"],
                   n_bins=n_bins)  # fmt: skip
    found = quiet(one.curve, curve, grid=GRID, band="pointwise")
    weight = np.ones(len(y)) if weight is None else weight
    times = np.vstack([np.ones(33), times_drawn(33, True)])[:, groups]
    for name, score in systems.items():
        coarse, fine = (Cells(y, score, weight, n) for n in (n_bins, 64 * n_bins))
        result, lacking = found[name], lacking_by_hand(curve, coarse)
        close(result.estimate, curve_at(curve, y, fine.score(), weight))
        known = lacking <= 0.5
        error = np.where(known, error_by_hand(curve, fine, result.estimate), np.inf)
        error = np.where(known & fine.is_exact, 0, error)
        close(result.bin_error, error, 1e-9, 1e-11)
        drawn = [
            precision_within(coarse, weight * own_times)
            if curve == "precision_recall"
            else np.nan_to_num(curve_at(curve, y, coarse.score(), weight * own_times))
            for own_times in times[:4]
        ]
        larger = 1 / np.sqrt(1 - np.where(known, lacking, 0))
        bounds = (-np.inf, 1) if curve == "decision" else (0, 1)
        expected = np.clip(result.estimate + larger * (np.array(drawn[1:]) - drawn[0]), *bounds)
        close(result.bootstrap_distribution[:3], expected, 1e-8, 1e-10)
    both = found["A"].bin_error + found["B"].bin_error
    close(found["difference"].bin_error, both)
    assert n_bins == 2 or np.sum((both > 0) & np.isfinite(both)) > 0


@pytest.mark.parametrize("n_bins", [12, 1000])
def test_weighted_rows_of_a_stream_are_worth_what_their_sums_vary_like(n_bins):
    y, systems, groups, weight = case(190, 33, weighted=True)
    one = streamed("roc_auc", y, systems["A"], {"groups": groups}, weight, n_bins=n_bins)
    times = times_drawn(33, True)[:, groups]

    def worth(rows):
        return min(weight[rows].sum() ** 2 / np.var(times @ (weight * rows), ddof=1), 190)

    share = np.average(y, weights=weight)
    roc, decision, precision = (
        quiet(one.curve, curve, grid=GRID, band="pointwise")
        for curve in ("roc", "decision", "precision_recall")
    )
    close(precision.reference, np.full(len(GRID), share))
    close(decision.reference, share - (1 - share) * GRID / (1 - GRID))
    below = worth(y == 0)
    x = roc.x
    free = (x < 2 / below) | (x < 1 / below) | (x > 1 - 1 / below)
    np.testing.assert_array_equal(roc._free_below, free)
    n = worth(y >= 0)
    score = Cells(y, systems["A"], weight, 64 * n_bins).score()
    above = (score[:, None] >= GRID).astype(float)
    a, b = ((n / weight.sum() * (weight * (y == k)) @ above + 2) / (n + 6) for k in (1, 0))
    odds = GRID / (1 - GRID)
    close(decision._floor, np.sqrt((a + b * odds**2 - (a - b * odds) ** 2) / n), 1e-8)
