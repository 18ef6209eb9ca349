"""One metric, design or study said in two ways: as another metric, of fewer columns, by its parts.

Exact where both draw the same groups; else the error of each is said.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet, scored
from scipy.special import expit, logit
from scipy.stats import norm, t
from sklearn.metrics import (
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    roc_auc_score,
    zero_one_loss,
)

import skboot
from skboot import Trials
from skboot import metrics as own

pytestmark = pytest.mark.identity

N = 120
OPTIONS = {"n_resamples": 99, "random_state": 0}


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


def data(seed, n=N):
    """Random numbers, labels of three classes, decisions, probabilities and groups of rows."""
    rng = np.random.default_rng([seed, n])
    y = rng.permutation(np.arange(n) % 5 // 2)
    p = np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), y)
    prob = rng.dirichlet(np.ones(3), n) + 0.6 * np.eye(3)[y]
    return rng, y, p, prob / prob.sum(axis=1, keepdims=True), rng.permutation(np.arange(n) // 3)


# ------------------------------------------------------------------ metrics


@any_seed
@pytest.mark.parametrize("weighted", [False, True])
def test_recall_weighted_by_the_classes_is_the_accuracy(weighted, seed):
    rng, y, p, _, groups = data(seed)
    options = {"groups": groups, **({"sample_weight": rng.random(N) + 0.2} if weighted else {})}
    recall, accuracy = (scored(y, p, metric=m, **options) for m in ("recall_weighted", "accuracy"))
    close(recall.bootstrap_distribution, accuracy.bootstrap_distribution)
    for method in ("percentile", "bca", "studentized"):
        close(quiet(recall.interval, method), quiet(accuracy.interval, method), 1e-7, 1e-9, method)


@any_seed
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_areas_of_classes_weigh_rows_as_scikit_learn_does(average, seed):
    rng, y, _, prob, groups = data(seed)
    weight = rng.integers(1, 5, N) * np.where(y == 1, 3.0, 1.0)
    area = partial(roc_auc_score, multi_class="ovr", average=average)
    result = scored(y, prob, metric=area, sample_weight=weight, groups=groups)
    close(result.estimate, area(y, prob, sample_weight=weight))


@any_seed
def test_an_actual_detection_cost_is_that_of_bayes_decisions(seed):
    rng = np.random.default_rng(seed)
    y, priors = rng.integers(0, 2, N), np.array([0.7, 0.3])
    score = rng.normal(size=N) + 2 * y - 1
    costs = np.array([[-0.4, 1.5], [2.0, 0.3]])
    positive = expit(score + logit(priors[1]))
    decided = own.bayes_decisions(np.column_stack([1 - positive, positive]), costs=costs)
    expected = own.expected_cost(y, decided, costs=costs, priors=priors)
    metric = partial(own.actual_detection_cost, costs=costs, priors=priors)
    close(metric(y, score), expected)
    groups = np.arange(N) // 2
    result = scored(y, score, metric=metric, groups=groups)
    other = partial(own.expected_cost, costs=costs, priors=priors)
    same = scored(y, decided, metric=other, groups=groups)
    close(result.bootstrap_distribution, same.bootstrap_distribution)


@any_seed
@pytest.mark.parametrize("grouped", [False, True])
def test_a_negated_metric_is_the_mirror_image_in_runs_and_gaps(grouped, seed):
    rng, y, p, _, groups = data(seed)
    groups = groups if grouped else None
    runs = [np.where(rng.random(N) < 0.2, 0, p) for _ in range(4)]
    values, truth = rng.normal(size=(4, N)), rng.normal(size=N)
    for truths, predicted, loss in (
        (y, runs, zero_one_loss),
        (truth, values, mean_squared_error),
        (y, [run.astype(float) for run in runs], mean_absolute_error),
    ):
        turned = make_scorer(loss, greater_is_better=False)
        for varied in ("seed", "training", "both", "independent"):
            options = {"varied": varied, "groups": groups, **OPTIONS}
            if varied in ("training", "both"):
                options["full_runs"] = predicted[:2]
            if varied == "both":
                options["training"] = [0, 0, 1, 1]
            plain = quiet(skboot.bootstrap_runs, truths, predicted, metric=loss, **options)
            mirror = quiet(skboot.bootstrap_runs, truths, predicted, metric=turned, **options)
            close(mirror.estimate, -plain.estimate)
            close(mirror.bootstrap_distribution, -plain.bootstrap_distribution)
            low, high = mirror.confidence_interval
            close([low, high], [-plain.confidence_interval.high, -plain.confidence_interval.low])
    by = np.arange(N) % 2
    gaps = [
        scored(y, p, metric=metric, by=by, groups=groups)["gap"]
        for metric in (
            "accuracy",
            zero_one_loss,
            make_scorer(zero_one_loss, greater_is_better=False),
        )
    ]
    for gap in gaps[1:]:
        close(gap.estimate, gaps[0].estimate)
        if gap.estimate > 1e-9:  # either part may come first where they tie
            close([*gap.confidence_interval], [*gaps[0].confidence_interval], 1e-7, 1e-9)


# ------------------------------------------------------------------ designs


@any_seed
@pytest.mark.parametrize("groups", [None, 2])
def test_strata_within_tasks_hold_their_shares(groups, seed):
    """The values are those of strata within tasks, each unit of equally many rows."""
    rng = np.random.default_rng(seed)
    strata, task = np.repeat(rng.permutation(4), N // 4), np.arange(N) // 4 % 3
    columns = {"strata": strata, "average_over": task, "metric": "mean"}
    if groups:
        columns["groups"] = np.arange(N) // groups
    result = scored(None, 2.0**strata + task, **columns)
    close(result.bootstrap_distribution, result.estimate)
    assert np.ptp(scored(None, rng.normal(size=N), **columns).bootstrap_distribution) > 0


@any_seed
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_a_subgroup_of_one_population_is_the_call_on_its_rows(metric, seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in range(12) for b in range(a, 12)])
    n = len(pairs)
    y = rng.integers(0, 2, n)
    p = np.where(rng.random(n) < 0.25, 1 - y, y)
    # Members in one part stand in the second column alone.
    by = np.where(pairs.min(axis=1) < 3, "few", "others")
    options = {"metric": metric, **OPTIONS}
    table = scored(y, p, groups=Trials(*pairs.T), by=by, **options)
    for part in ("few", "others"):
        rows = by == part
        alone = scored(y[rows], p[rows], groups=Trials(*pairs[rows].T), **options)
        turned = scored(y[rows], p[rows], groups=Trials(*pairs[rows][:, ::-1].T), **options)
        assert table[part].n_units == alone.n_units == turned.n_units
        close([*alone.confidence_interval], [*turned.confidence_interval])


@any_seed
def test_a_gap_within_groups_is_the_mean_of_their_differences(seed):
    """Of halves of every group that vary together; within a third of the width."""
    rng = np.random.default_rng(seed)
    n_groups = 60
    level = rng.normal(size=n_groups)
    first, second = (level + 0.3 * rng.normal(size=n_groups) for _ in range(2))
    values = np.concatenate([first + 1, second])
    groups, by = np.tile(np.arange(n_groups), 2), np.repeat(["a", "b"], n_groups)
    gap = scored(None, values, metric="mean", groups=groups, by=by, n_resamples=999)["gap"]
    alone = scored(None, first + 1 - second, metric="mean", n_resamples=999)
    close(gap.estimate, abs(alone.estimate))
    low, high = gap.confidence_interval
    expected = alone.confidence_interval.high - alone.confidence_interval.low
    assert 0.67 < (high - low) / expected < 1.5


@any_seed
def test_few_groups_that_err_weigh_as_their_rows(seed):
    """Whole weights, equal within a group, are rows that come as often."""
    rng = np.random.default_rng(seed)
    groups = np.arange(N) // 6
    y = np.zeros(N, int)
    p = np.where((groups < 2) & (rng.random(N) < 0.7), 1, 0)
    times = rng.integers(1, 6, groups.max() + 1)[groups]
    weighted = scored(y, p, groups=groups, sample_weight=times.astype(float))
    rows = np.repeat(np.arange(N), times)
    repeated = scored(y[rows], p[rows], groups=groups[rows])
    close(weighted.estimate, repeated.estimate)
    close([*weighted.confidence_interval], [*repeated.confidence_interval], 1e-7, 1e-9)


# ------------------------------------------------------------------ pairs


@any_seed
@pytest.mark.parametrize("weighted", [False, True])
def test_limits_of_a_difference_of_means_are_those_of_the_differences(weighted, seed):
    rng = np.random.default_rng(seed)
    groups = np.arange(N) // 2
    a, b = rng.gamma(2.0, size=(2, N))
    columns = {"groups": groups} | ({"sample_weight": rng.random(N) + 0.2} if weighted else {})
    alone = scored(None, a - b, metric="mean", **OPTIONS, **columns)
    for interval in ("bca", "percentile", "t", "normal"):
        limits = quiet(alone.interval, interval)
        pair = compared(None, {"a": a, "b": b}, metric="mean", interval=interval, **columns)
        close([*pair.pairs[0].confidence_interval], [*limits], 1e-7, 1e-9, interval)


@any_seed
def test_delong_of_unpaired_areas_is_the_root_of_the_sum_of_squares(seed):
    rng = np.random.default_rng(seed)
    truths = {name: np.arange(n) % 3 // 2 for name, n in (("a", 90), ("b", 150))}
    scores = {name: y + rng.normal(size=len(y)) for name, y in truths.items()}
    options = {"metric": "roc_auc", "interval": "delong"}
    pair = compared(truths, scores, paired=False, **options).pairs[0]
    alone = [scored(truths[name], scores[name], metric="roc_auc") for name in "ab"]
    by = [quiet(one.interval, "delong") for one in alone]
    close(pair.difference, alone[0].estimate - alone[1].estimate)
    # DeLong's limits of one area are on the logit scale: its error follows from their distance.
    low, high = (logit([one.low for one in by]), logit([one.high for one in by]))
    area = np.array([one.estimate for one in alone])
    errors = (high - low) / 2 / norm.ppf(0.975) * area * (1 - area)
    width = pair.confidence_interval.high - pair.confidence_interval.low
    assert width / 2 / norm.ppf(0.975) == pytest.approx(np.hypot(*errors), rel=0.15)


@any_seed
def test_one_sided_limits_of_equal_differences_are_the_outer_ones(seed):
    """Of two copies of one system; within a sixth of the standard error."""
    rng, y, p, *_ = data(seed)
    other = np.where(rng.random(N) < 0.3, 0, p)
    systems, options = {"A": p, "B": other, "C": other}, {"reference": "A", "n_resamples": 3999}
    both = compared(y, systems, confidence_level=0.95, **options).pairs[0]
    for alternative, side in (("greater", 0), ("less", 1)):
        one = compared(y, systems, confidence_level=0.975, alternative=alternative, **options)
        found, expected = one.pairs[0].simultaneous_interval, both.simultaneous_interval
        assert abs(found[side] - expected[side]) < both.standard_error / 6


@any_seed
def test_a_gap_among_three_pairs_has_the_level_of_a_third(seed):
    rng, y, p, _, groups = data(seed, 240)
    others = {name: np.where(rng.random(240) < 0.25, 0, p) for name in "BC"}
    options = {"by": groups % 2, "groups": groups, "metric": "accuracy", "n_resamples": 199}
    every = compared(y, {"A": p, **others}, **options)["gap"]
    for name, gap in every.items():
        first, _, second = name.partition(" - ")
        systems = {one: {"A": p, **others}[one] for one in (first, second)}
        alone = compared(y, systems, confidence_level=1 - 0.05 / 3, **options)["gap"]
        [expected] = alone.values()
        close(gap.estimate, expected.estimate)
        low, high = gap.confidence_interval
        close([low, high], [*expected.confidence_interval], 1e-6, 1e-6)


# ------------------------------------------------------------------ curves and streams


CURVES = ["roc", "det", "precision_recall", "decision"]


def curve_of(y, p, **options):
    return quiet(skboot.bootstrap_curve, y, p, **{**OPTIONS, **options})


@any_seed
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("curve", CURVES)
def test_a_band_of_one_point_is_the_interval_of_the_point(curve, grouped, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    p = expit(rng.normal(size=N) + 1.2 * y - 0.6)
    columns = {"groups": np.arange(N) // 10, "grid": [0.4]} if grouped else {"grid": [0.4]}
    band = curve_of(y, p, curve=curve, n_resamples=1999, **columns)
    point = curve_of(y, p, curve=curve, band="pointwise", n_resamples=1999, **columns)
    close(band.estimate, point.estimate)
    width, expected = (float(one.high[0] - one.low[0]) for one in (band, point))
    assert width == pytest.approx(expected, rel=0.12)


@any_seed
@pytest.mark.parametrize("curve", CURVES)
def test_the_reference_of_a_curve_weighs_rows(curve, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    p = np.round(expit(rng.normal(size=N) + y - 0.5), 2)
    times = rng.integers(1, 4, N) + 2 * y
    rows = np.repeat(np.arange(N), times)
    weighted = curve_of(y, p, curve=curve, grid=[0.2, 0.5], sample_weight=times * 1.0)
    repeated = curve_of(y[rows], p[rows], curve=curve, grid=[0.2, 0.5], groups=rows)
    close(np.array(weighted.reference, dtype=float), np.array(repeated.reference, dtype=float))
    close(weighted.estimate, repeated.estimate)


@any_seed
def test_a_group_in_text_is_itself_beside_longer_names(seed):
    rng = np.random.default_rng(seed)
    names = np.array(["s" * (1 + k // 20) + str(k % 20) for k in range(60)])
    groups = np.tile(rng.permutation(60), 6)
    values = rng.normal(size=60)[groups] + rng.normal(size=360)
    whole, parts = (skboot.BootstrapAccumulator("mean", **OPTIONS) for _ in range(2))
    whole.update(None, values, groups=[str(names[k]) for k in groups])
    short = np.char.str_len(names[groups]) <= 2
    first = np.arange(360) < 180
    for some in (first & short, first & ~short, ~first):
        parts.update(None, values[some], groups=[str(names[k]) for k in groups[some]])
    one, other = quiet(whole.result), quiet(parts.result)
    assert one.n_units == other.n_units
    close(one.bootstrap_distribution, other.bootstrap_distribution)
    close([*one.confidence_interval], [*other.confidence_interval])


@any_seed
@pytest.mark.parametrize("metric", ["accuracy", "mean"])
def test_p_values_are_of_the_t_law_of_their_intervals(metric, seed):
    rng, y, p, _, groups = data(seed)
    if metric == "mean":
        truth, systems = None, {"a": rng.normal(size=N), "b": rng.normal(size=N) + 0.1}
    else:
        truth, systems = y, {"a": p, "b": np.where(rng.random(N) < 0.2, rng.integers(0, 3, N), p)}
    pair = compared(truth, systems, metric=metric, interval="t", groups=groups).pairs[0]
    low, high = pair.confidence_interval
    half, freedom = (high - low) / 2, len(np.unique(groups)) - 1
    statistic = abs(pair.difference) / (half / t.ppf(0.975, freedom))
    # No p-value of resamples is below the share of two of them.
    expected = max(2 * t.sf(statistic, freedom), 2 / (OPTIONS["n_resamples"] + 1))
    assert pair.p_value == pytest.approx(expected, rel=0.02)


@any_seed
def test_a_perfect_ranking_is_no_error_of_the_smaller_class(seed):
    rng = np.random.default_rng(seed)
    for few in (12, 30):
        y = rng.permutation(np.arange(150 + few) < few).astype(int)
        result = scored(y, y + 0.5 * rng.random(len(y)), metric="roc_auc")
        alone = skboot.inference.proportion_interval(few, few)
        close(result.confidence_interval.low, alone.low, 1e-6)


@any_seed
def test_rates_of_the_other_class_are_each_others(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    p = np.where(rng.random(N) < np.where(y == 1, 0.3, 0.1), 1 - y, y)
    options = {"groups": np.arange(N) // 2}
    for one, other in (("sensitivity", "specificity"), ("ppv", "npv")):
        first = scored(y, p, metric=one, pos_label=0, **options)
        second = scored(y, p, metric=other, pos_label=1, **options)
        close(first.estimate, second.estimate)
        close(first.bootstrap_distribution, second.bootstrap_distribution)


# ------------------------------------------------------------------ searches and runs


@any_seed
def test_searches_among_systems_of_chance_are_near_chance(seed):
    """The mean of eight useless systems is .5, and the best of them one to two errors above."""
    found, best = [], []
    for k in range(8):
        rng = np.random.default_rng([seed, k])
        y = rng.integers(0, 2, 150)
        systems = {f"c{k}": rng.random(150) for k in range(8)}
        result = quiet(skboot.search_score, y, systems, metric="roc_auc", **OPTIONS)
        areas = [roc_auc_score(y, own) for own in systems.values()]
        found.append(result.estimate - np.mean(areas))
        best.append(max(areas) - np.mean(areas))
    assert np.mean(found) < 0.4 * np.mean(best)


@any_seed
def test_a_search_by_a_loss_keeps_its_limits_in_a_file(seed, tmp_path):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=80)
    systems = {f"c{k}": y + (1 + 0.1 * k) * rng.normal(size=80) for k in range(4)}
    for metric in ("mean_absolute_error", "neg_mean_absolute_error"):
        found = quiet(skboot.search_score, y, systems, metric=metric, **OPTIONS)
        found.save(tmp_path / "search.npz")
        loaded = skboot.results.EvaluationResult.load(tmp_path / "search.npz")
        for level in (0.8, 0.95):
            limits = quiet(found.interval, confidence_level=level)
            close([*quiet(loaded.interval, confidence_level=level)], [*limits])
            assert min(limits) <= found.estimate <= max(limits)


@any_seed
def test_more_samples_of_one_list_leave_the_variance_of_training(seed):
    """Runs that come twice say nothing new of a list that is the same for all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 300)
    runs = {
        name: [np.where(rng.random(300) < level + 0.2 * rng.random(), 1 - y, y) for _ in range(8)]
        for name, level in (("a", 0.1), ("b", 0.2))
    }
    full = {name: own[:1] for name, own in runs.items()}
    twice = {name: own * 2 for name, own in runs.items()}
    options = {"varied": "training", "full_runs": full, **OPTIONS}
    one, two = (
        quiet(skboot.compare_runs, y, own, **options).pairs[0].standard_error
        for own in (runs, twice)
    )
    assert 0.85 < two / one < 1.15
    # All are of one list, which their mean does not average out.
    spread = [np.var([np.mean(run == y) for run in own], ddof=1) for own in runs.values()]
    assert one > 0.7 * np.sqrt(sum(spread))


# ------------------------------------------------------------------ data sets


@any_seed
def test_the_error_over_given_data_sets_is_the_root_of_the_sum_of_squares(seed):
    rng = np.random.default_rng(seed)
    results = {}
    for k in range(6):
        y = rng.integers(0, 2, 200)
        systems = {
            name: np.where(rng.random(200) < share, 1 - y, y)
            for name, share in (("a", 0.2), ("b", 0.3))
        }
        results[f"set {k}"] = compared(y, systems, n_resamples=199)
    across = quiet(skboot.compare_across, results, estimand="these", **OPTIONS).pairs[0]
    errors = np.array([one.pairs[0].standard_error for one in results.values()])
    sizes = np.array([one.pairs[0].difference for one in results.values()])
    close(abs(across.difference), abs(sizes.mean()))
    assert across.standard_error == pytest.approx(np.sqrt((errors**2).sum()) / 6, rel=0.1)
