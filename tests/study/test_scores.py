"""bootstrap_score: R's numbers, the toy conditions, correlated samples, subgroups, messages."""

import json
import re
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from skboot import Crossed, Trials, bootstrap_score, compare_systems
from skboot.inference import proportion_interval

REFERENCES = Path(__file__).parents[1] / "references"
ignore_extreme = pytest.mark.filterwarnings("ignore:.*too few for a quantile:UserWarning")
ignore_caution = pytest.mark.filterwarnings("ignore:bootstrap_score.*:UserWarning")


def labels_and_predictions(n=300, n_classes=3, seed=0, accuracy=0.8):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, n_classes, n)
    y_pred = np.where(rng.random(n) < accuracy, y_true, rng.integers(0, n_classes, n))
    return y_true, y_pred


# ------------------------------------------------------------------ R's numbers


def r_case(case):
    folder = REFERENCES / "boot" / case
    expected = json.loads((folder / "expected.json").read_text())
    data = np.genfromtxt(folder / "data.csv", delimiter=",", names=True, deletechars='"')
    data = {name.strip('"'): data[name] for name in data.dtype.names}
    indices = np.loadtxt(folder / "indices.csv", delimiter=",", dtype=int) - 1
    return expected, data, indices


def r_call(case, data):
    """How each of R's statistics is asked for."""
    if case == "aircondit_mean":
        return (None, data["hours"]), {"metric": "mean"}
    if case == "city_ratio":
        return (None, data["x"] / data["u"]), {"metric": "mean", "sample_weight": data["u"]}
    if case == "cluster_ratio_14":
        share = data["correct"] / data["size"]
        return (None, share), {"metric": "mean", "sample_weight": data["size"]}
    if case == "accuracy_30":
        return (np.ones(30, dtype=int), data["correct"].astype(int)), {"metric": "accuracy"}
    if case == "rmse_25":
        arguments = (data["e"], np.zeros(len(data["e"])))
        return arguments, {"metric": metrics.root_mean_squared_error}
    return (data["y"].astype(int), data["score"]), {"metric": metrics.roc_auc_score}


CASES = ["aircondit_mean", "city_ratio", "accuracy_30", "rmse_25", "auc_40", "cluster_ratio_14"]
INTERVALS = {"percentile": "perc", "basic": "basic", "normal": "norm", "studentized": "stud"}


@ignore_extreme
@ignore_caution
@pytest.mark.parametrize("case", CASES)
def test_r_indices_give_r_numbers(case):
    """Estimate, bias, standard error, replicates and all limits equal R's boot to 1e-9."""
    expected, data, indices = r_case(case)
    arguments, options = r_call(case, data)
    result = bootstrap_score(*arguments, **options, resamples=indices)
    columns = np.genfromtxt(REFERENCES / "boot" / case / "reps.csv", delimiter=",", names=True)

    np.testing.assert_allclose(result.estimate, np.atleast_1d(expected["t0"])[0], rtol=1e-12)
    np.testing.assert_allclose(result.bootstrap_distribution, columns["t"], rtol=1e-12)
    spread = np.std(result.bootstrap_distribution, ddof=1)
    np.testing.assert_allclose(spread, expected["se"], rtol=1e-9)
    np.testing.assert_allclose(result.bias, expected["bias"], rtol=1e-9, atol=1e-12)
    for ours, theirs in INTERVALS.items():
        if theirs not in expected:
            continue
        for level, limits in zip(expected["levels"], expected[theirs], strict=True):
            np.testing.assert_allclose(
                result.interval(ours, level).uncut, limits, rtol=1e-9, atol=1e-9, err_msg=ours
            )


@ignore_extreme
@ignore_caution
@pytest.mark.parametrize("case", CASES)
def test_r_indices_give_r_bca_with_half_ties(case):
    expected, data, indices = r_case(case)
    arguments, options = r_call(case, data)
    result = bootstrap_score(*arguments, **options, resamples=indices, interval="bca")
    z0, a = expected["z0_mid"], expected["a_jack"]

    assert result._evidence.acceleration == pytest.approx(a, rel=1e-9)
    if expected["z0_mid"] == expected["z0_strict"]:
        for level, limits in zip(expected["levels"], expected["bca_jack"], strict=True):
            np.testing.assert_allclose(result.interval("bca", level)[:2], limits, rtol=1e-9)
    ordered = np.sort(result.bootstrap_distribution)
    for level in (0.8, 0.9, 0.95):
        z = z0 + stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
        alphas = stats.norm.cdf(z0 + z / (1 - a * z))
        ranks = alphas * (len(ordered) + 1)
        low, high = result.interval("bca", level)[:2]
        for limit, rank in zip((low, high), ranks, strict=True):
            k = int(rank)
            assert ordered[k - 1] - 1e-12 <= limit <= ordered[min(k, len(ordered) - 1)] + 1e-12


# ------------------------------------------------------------------ correlated samples


def toy_conditions():
    return np.genfromtxt(REFERENCES / "toy_conditions.csv", delimiter=",", names=True, dtype=int)


def test_toy_accuracy_is_0_855_with_the_one_stage_cluster_bootstrap_variance():
    """Whole conditions with all their samples: the linearised cluster variance, G^2 terms.

    The delta-method variance of a ratio of cluster sums is sum_g (S_g - t N_g)^2 / N^2; the
    one-stage bootstrap has it up to O(1/G). Drawing again inside each condition would add the
    within-condition part (STATISTICS of Davison & Hinkley 1997, section 3.8).
    """
    toy = toy_conditions()
    correct = toy["system_1"] == toy["label"]
    result = bootstrap_score(
        toy["label"], toy["system_1"], groups=toy["condition"], random_state=0, n_resamples=9999
    )

    sums = np.bincount(toy["condition"], correct)
    sizes = np.bincount(toy["condition"])
    residual = (sums - correct.mean() * sizes)[sizes > 0]
    linear = np.sqrt((residual**2).sum()) / len(toy)
    assert result.estimate == 0.855
    assert result.n_units == len(np.unique(toy["condition"]))
    assert result.standard_error == pytest.approx(linear, rel=0.06)
    assert result.confidence_interval.method == "studentized"

    rng = np.random.default_rng(1)
    conditions = np.unique(toy["condition"])
    rows_of = {c: np.flatnonzero(toy["condition"] == c) for c in conditions}
    plain = []
    for _ in range(2000):
        drawn = rng.choice(conditions, len(conditions))
        plain.append(correct[np.concatenate([rows_of[c] for c in drawn])].mean())
    # Two bootstraps of 9999 and 2000 draws: the ratio of sds has a standard error of 1.8%.
    assert result.standard_error == pytest.approx(np.std(plain, ddof=1), rel=0.08)


def test_a_group_per_row_has_the_law_of_independent_rows():
    y_true, y_pred = labels_and_predictions()
    grouped = bootstrap_score(y_true, y_pred, groups=np.arange(300), random_state=1)
    rows = bootstrap_score(y_true, y_pred, random_state=2)
    p = stats.ks_2samp(grouped.bootstrap_distribution, rows.bootstrap_distribution).pvalue
    assert p > 1e-4


def test_groups_widen_the_interval_of_correlated_rows():
    """Twenty copies of each row are worth one."""
    y_true, y_pred = labels_and_predictions(100)
    copies = [np.repeat(a, 20) for a in (y_true, y_pred)]
    grouped = bootstrap_score(*copies, groups=np.repeat(np.arange(100), 20), random_state=0)
    single = bootstrap_score(y_true, y_pred, random_state=0)
    assert grouped.standard_error == pytest.approx(single.standard_error, rel=0.15)


@ignore_caution
def test_crossed_and_one_population_designs_report_their_units():
    rng = np.random.default_rng(0)
    pairs = np.column_stack((rng.integers(0, 20, 400), rng.integers(0, 30, 400)))
    losses = rng.exponential(size=400)
    crossed = bootstrap_score(None, losses, metric="mean", groups=pairs, random_state=0)
    shared = bootstrap_score(None, losses, metric="mean", groups=Trials(*pairs.T), random_state=0)
    assert crossed.n_units == (20, 30)
    assert crossed.confidence_interval.method == "percentile"
    assert shared.n_units == 30
    assert shared.confidence_interval.method == "two-way"


@ignore_caution
@pytest.mark.parametrize("kind", [Crossed, Trials])
def test_few_trials_of_very_many_members_are_summed_as_on_repeated_rows(kind):
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 600, size=(900, 2))
    y_true = rng.integers(0, 2, 900)
    y_pred = np.where(rng.random(900) < 0.2, 1 - y_true, y_true)
    by_hand = bootstrap_score(
        y_true,
        y_pred,
        metric={"fast": "accuracy", "rows": lambda t, p: np.mean(t == p)},
        groups=kind(*pairs.T),
        n_resamples=199,
        interval="percentile",
        random_state=0,
    )
    np.testing.assert_allclose(
        by_hand["fast"].bootstrap_distribution, by_hand["rows"].bootstrap_distribution
    )


# ------------------------------------------------------------------ reproducibility


METRICS = ["accuracy", "f1_macro", "matthews_corrcoef"]


@pytest.mark.parametrize("seed", [3, np.random.SeedSequence(3)])
def test_an_int_or_seed_sequence_gives_the_same_numbers_at_every_call(seed):
    y_true, y_pred = labels_and_predictions()
    first = bootstrap_score(y_true, y_pred, random_state=seed)
    second = bootstrap_score(y_true, y_pred, random_state=seed)
    np.testing.assert_array_equal(first.bootstrap_distribution, second.bootstrap_distribution)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_drawn_from(make):
    y_true, y_pred = labels_and_predictions()
    state, twin = make(0), make(0)
    first = bootstrap_score(y_true, y_pred, random_state=state)
    second = bootstrap_score(y_true, y_pred, random_state=state)
    again = bootstrap_score(y_true, y_pred, random_state=twin)
    assert not np.array_equal(first.bootstrap_distribution, second.bootstrap_distribution)
    np.testing.assert_array_equal(first.bootstrap_distribution, again.bootstrap_distribution)


def test_fresh_entropy_is_kept_so_that_the_call_can_be_repeated():
    y_true, y_pred = labels_and_predictions()
    first = bootstrap_score(y_true, y_pred)
    again = bootstrap_score(y_true, y_pred, random_state=first.seed)
    np.testing.assert_array_equal(first.bootstrap_distribution, again.bootstrap_distribution)


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", metrics.mean_absolute_error])
def test_the_first_100_of_1999_replicates_are_those_of_100(metric):
    y_true, y_pred = labels_and_predictions()
    many = bootstrap_score(y_true, y_pred, metric=metric, random_state=4)
    few = bootstrap_score(
        y_true, y_pred, metric=metric, random_state=4, n_resamples=100, interval="t"
    )
    np.testing.assert_array_equal(many.bootstrap_distribution[:100], few.bootstrap_distribution)


def slow_agreement(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("metric", [slow_agreement, "roc_auc", metrics.mean_absolute_error])
def test_any_number_of_workers_and_backend_gives_the_same_bits(monkeypatch, backend, metric):
    import joblib

    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 3000)
    y_pred = y_true if metric is slow_agreement else rng.normal(size=3000) + y_true
    arguments = {"metric": metric, "random_state": 0, "interval": "percentile"}
    serial = bootstrap_score(y_true, y_pred, **arguments)
    with joblib.parallel_config(backend=backend):
        parallel = bootstrap_score(y_true, y_pred, n_jobs=2, **arguments)
    np.testing.assert_array_equal(serial.bootstrap_distribution, parallel.bootstrap_distribution)


# ------------------------------------------------------------------ metrics and callables


def test_several_metrics_give_a_dict_and_share_resamples():
    y_true, y_pred = labels_and_predictions()
    results = bootstrap_score(
        y_true, y_pred, metric=["accuracy", metrics.zero_one_loss], random_state=0
    )
    assert list(results) == ["accuracy", "zero_one_loss"]
    np.testing.assert_allclose(
        results["accuracy"].bootstrap_distribution,
        1 - results["zero_one_loss"].bootstrap_distribution,
    )


def test_a_lambda_works_and_equals_the_fast_path_in_law():
    y_true, y_pred = labels_and_predictions()
    generic = bootstrap_score(y_true, y_pred, metric=lambda t, p: np.mean(t == p), random_state=0)
    fast = bootstrap_score(y_true, y_pred, random_state=1)
    assert generic.estimate == fast.estimate
    assert stats.ks_2samp(generic.bootstrap_distribution, fast.bootstrap_distribution).pvalue > 1e-4


def test_a_callable_of_predictions_alone_takes_rows_of_strings():
    texts = ["one", "three", "seventeen"] * 20
    result = bootstrap_score(
        None, texts, metric=lambda rows: np.mean([len(r) for r in rows]), random_state=0
    )
    assert result.estimate == pytest.approx((3 + 5 + 9) / 3)


def test_partial_options_reach_the_metric():
    y_true, y_pred = labels_and_predictions(n_classes=2)
    metric = partial(metrics.fbeta_score, beta=2)
    result = bootstrap_score(y_true, y_pred, metric=metric, random_state=0)
    assert result.estimate == pytest.approx(metrics.fbeta_score(y_true, y_pred, beta=2))


def test_a_metric_that_raises_is_reported_with_the_resample_number():
    y_true, y_pred = labels_and_predictions(30)
    calls = []

    def fragile(truth, predicted):
        calls.append(1)
        if len(calls) == 9:
            raise ZeroDivisionError("no such luck")
        return 0.5

    with pytest.raises(
        RuntimeError,
        match=r"ZeroDivisionError on resample 7: no such luck\. Return np\.nan .*strata=",
    ):
        bootstrap_score(y_true, y_pred, metric=fragile, interval="percentile", random_state=0)


def test_a_metric_that_raises_on_the_data_is_named_and_its_own_error_the_cause():
    def broken(truth, predicted):
        raise KeyError("column")

    with pytest.raises(ValueError, match=r"'metric'.*KeyError.*column.*'broken'") as caught:
        bootstrap_score([0, 1], [0, 1], metric=broken)
    assert isinstance(caught.value.__cause__, KeyError)


def test_verbose_shows_progress_on_stderr(capsys):
    y_true, y_pred = labels_and_predictions(50)
    bootstrap_score(
        y_true, y_pred, metric=lambda t, p: 0.0, n_resamples=200, interval="t", verbose=1
    )
    assert "200/200 resamples" in capsys.readouterr().err


def test_undefined_resamples_are_left_out_counted_and_reported_once():
    y_true = np.array([1] + [0] * 20)
    scores = np.linspace(0, 1, 21)[::-1]
    with (
        pytest.warns(UndefinedMetricWarning, match="roc_auc on .* of 500") as caught,
        pytest.warns(UserWarning, match="The 1 row of the smaller class decides this score"),
    ):
        result = bootstrap_score(y_true, scores, metric="roc_auc", n_resamples=500, random_state=0)
    assert sum(issubclass(w.category, UndefinedMetricWarning) for w in caught) == 1
    # A resample of 21 rows misses a given row with probability (20/21)^21 = 0.359.
    assert result.n_undefined == np.isnan(result.bootstrap_distribution).sum()
    assert stats.binomtest(result.n_undefined, 500, (20 / 21) ** 21).pvalue > 1e-4


# ------------------------------------------------------------------ what "auto" chooses


def test_auto_is_wilson_for_accuracy_and_a_perfect_score_has_width():
    answers = np.random.default_rng(0).integers(0, 2, 200)
    result = bootstrap_score(answers, np.where(np.arange(200) % 4, answers, 0), random_state=0)
    assert result.confidence_interval.method == "wilson"
    result = bootstrap_score(np.ones(50, int), np.ones(50, int), random_state=0)
    assert result.confidence_interval.method == "beta"
    low, high = result.confidence_interval
    assert (low, high) == (pytest.approx(stats.beta.ppf(0.025, 51, 1), abs=1e-12), 1)


@pytest.mark.parametrize("wrong", [0, 7])
def test_the_interval_of_errors_without_an_upper_bound_says_what_it_takes_for_granted(wrong):
    rated, predicted = np.tile([1, 2, 3], 10), np.tile([1, 2, 3], 10)
    predicted[:wrong] += 1
    options = {"metric": "mean_absolute_error", "random_state": 0}
    with pytest.warns(UserWarning, match="errors of these rows are 0 or 1"):
        result = bootstrap_score(rated, predicted, **options)
    assert result.confidence_interval.method == "beta"
    predicted[-15:] += 2
    result = bootstrap_score(rated, predicted, **options)
    assert not any("0 or 1" in note for note in result.notes)


def test_auto_guards_f1_of_given_resamples_by_wilson_on_jaccard():
    y_true = np.r_[np.ones(30, int), np.zeros(70, int)]
    y_pred = y_true.copy()
    y_pred[[0, 40]] = 1 - y_pred[[0, 40]]
    options = {"metric": "f1", "random_state": 0}
    assert bootstrap_score(y_true, y_pred, **options).confidence_interval.method == "smoothed"
    rows = np.random.default_rng(0).integers(100, size=(99, 100))
    result = bootstrap_score(y_true, y_pred, resamples=rows, **options)
    low, high = proportion_interval(29, 31)
    assert result.confidence_interval.method == "wilson"
    np.testing.assert_allclose(
        result.confidence_interval[:2], (2 * low / (1 + low), 2 * high / (1 + high))
    )


def test_a_top_k_accuracy_is_a_share_of_hits_with_its_wilson_interval():
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(0, 9, 200), rng.dirichlet(np.ones(10), 200)
    with pytest.raises(ValueError, match=r"Give all labels, .* as labels="):
        bootstrap_score(y_true, scores, metric="top_k_accuracy")
    result = bootstrap_score(
        y_true, scores, metric="top_k_accuracy", labels=np.arange(10), random_state=0
    )
    expected = metrics.top_k_accuracy_score(y_true, scores, labels=np.arange(10))
    assert result.estimate == expected
    assert result.confidence_interval[:2] == proportion_interval(round(200 * expected), 200)[:2]
    most = np.sort(np.bincount(y_true))[-2:].sum() / 200
    assert result.naive_estimate == pytest.approx(most, abs=1e-12)


def test_auto_is_bca_for_other_metrics_of_rows():
    y_true, y_pred = labels_and_predictions()
    for metric in ("f1_macro", "matthews_corrcoef", lambda t, p: np.mean(t == p)):
        result = bootstrap_score(y_true, y_pred, metric=metric, random_state=0)
        assert result.confidence_interval.method == "bca"


def test_auto_is_studentized_for_continuous_losses():
    losses = np.random.default_rng(0).exponential(size=200)
    result = bootstrap_score(None, losses, metric="mean", random_state=0)
    assert result.confidence_interval.method == "studentized"


def test_auto_warns_of_heavy_tails():
    losses = np.r_[np.ones(199), 100.0]
    with pytest.warns(UserWarning, match="About 1 of the 200 rows decides this score"):
        bootstrap_score(None, losses, metric="mean", random_state=0)


def test_auto_warns_of_heavy_tails_of_the_residuals_of_r2():
    # In the study of real predictions 82 to 88% of such intervals held the score.
    truth = np.random.default_rng(0).normal(size=200)
    predicted = truth + 0.1 * np.random.default_rng(1).normal(size=200)
    predicted[7] += 1.0
    with pytest.warns(UserWarning, match="About 1 of the 200 rows decides this score"):
        bootstrap_score(truth, predicted, metric="r2", random_state=0)


def test_auto_for_groups_without_error_is_wilson_with_an_effective_size():
    with pytest.warns(UserWarning, match="Only 15 groups"):
        result = bootstrap_score(
            np.ones(60, int), np.ones(60, int), groups=np.repeat(np.arange(15), 4), random_state=0
        )
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, 14)
    n = 15 * (z / t) ** 2
    assert result.confidence_interval.low == pytest.approx(1 - (z**2 / n) / (1 + z**2 / n))
    assert result.confidence_interval.high == 1.0


def test_a_perfect_ranking_gets_the_interval_of_its_smaller_class():
    y_true = np.r_[np.zeros(90, int), np.ones(60, int)]
    with pytest.warns(UserWarning, match="None of the 150 rows moves this score"):
        result = bootstrap_score(y_true, np.arange(150.0), metric="roc_auc", random_state=0)
    z2 = stats.norm.ppf(0.975) ** 2
    assert result.confidence_interval.low == pytest.approx(1 - (z2 / 60) / (1 + z2 / 60))


def test_an_interval_of_zero_width_says_so():
    y = np.r_[np.zeros(20, int), np.ones(30, int)]
    result = bootstrap_score(y, y, interval="percentile", random_state=0)
    assert result.confidence_interval.low == result.confidence_interval.high
    assert any("zero width" in note for note in result.notes)


# ------------------------------------------------------------------ subgroups


def test_subgroup_results_and_the_gap_come_from_one_plan():
    y_true, y_pred = labels_and_predictions(600)
    by = np.array(["a", "b", "c"])[np.arange(600) % 3]
    table = bootstrap_score(y_true, y_pred, by=by, random_state=0)

    assert list(table) == ["a", "b", "c", "gap"]
    for name in "abc":
        rows = by == name
        assert table[name].estimate == metrics.accuracy_score(y_true[rows], y_pred[rows])
        assert table[name].n_samples == 200
    scores = {name: table[name].estimate for name in "abc"}
    best, worst = max(scores, key=scores.get), min(scores, key=scores.get)
    gap = table["gap"]
    assert gap.metric == f"accuracy gap ({best} - {worst})"
    assert gap.estimate == pytest.approx(scores[best] - scores[worst])
    np.testing.assert_allclose(
        gap.bootstrap_distribution,
        table[best].bootstrap_distribution - table[worst].bootstrap_distribution,
    )
    assert gap.confidence_interval.method == "simultaneous"


# ------------------------------------------------------------------ messages

GOOD = {"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 0]}


def needs_a_threshold(y_true, y_score, *, threshold):
    return np.mean((y_score >= threshold) == y_true)


BAD_INPUT = {
    "level in percent": ({"confidence_level": 95}, "Use confidence_level=0.95 for a 95% interval"),
    "level out of range": ({"confidence_level": 0.0}, r"must be a float in \(0, 1\). Got 0.0"),
    "no resamples": ({"n_resamples": 0}, "'n_resamples' parameter of bootstrap_score must be an"),
    "lengths": ({"y_pred": [0, 1]}, "as many rows as 'y_pred'. Got 4 rows and 2 rows"),
    "missing truth": ({"y_true": [0, 1, np.nan, 0]}, "'y_true' .* must not contain NaN"),
    "missing prediction": ({"y_pred": [0, None, 1, 0]}, "'y_pred' .* the first in row 1"),
    "infinite scores": (
        {"y_pred": [0.1, np.inf, 0.3, 0.2], "metric": "roc_auc"},
        "'y_pred' .* must not contain NaN, infinity",
    ),
    "missing groups": ({"groups": [0, 1, np.nan, 1]}, "'groups' .* must not contain NaN"),
    "missing weights": ({"sample_weight": [1, 1, np.nan, 1]}, "'sample_weight' .* NaN"),
    "negative weights": ({"sample_weight": [1, 1, -1, 1]}, "'sample_weight' .* at least 0"),
    "one group": ({"groups": ["a"] * 4}, "at least two groups. Got one group, .*'a'"),
    "empty test set": ({"y_true": [], "y_pred": []}, "at least one row. Got an empty array"),
    "unknown metric": (
        {"metric": "acuracy"},
        "'metric' parameter of bootstrap_score must .*'accuracy'",
    ),
    "unknown interval": ({"interval": "exact"}, r"'interval' .* one of \['auto', 'basic'"),
    "two systems for one": (
        {"y_pred": [[1, 1]] * 4},
        "'y_pred' parameter of bootstrap_score must .* use compare_systems",
    ),
    "scores for labels": ({"y_pred": [0.2, 0.7, 0.4, 0.1]}, "'y_pred' .* must .*label"),
    "interval the metric cannot have": (
        {"interval": "wilson", "metric": "matthews_corrcoef"},
        "must be one that these data allow. Got 'wilson', which .* Use interval='bca'",
    ),
    "bca of crossed groups": (
        {"interval": "bca", "groups": [[0, 0], [0, 1], [1, 0], [1, 1]]},
        "no single unit can be left out of both factors. Use interval='percentile'",
    ),
    "strata with crossed groups": (
        {"strata": [0, 0, 1, 1], "groups": [[0, 0], [0, 1], [1, 0], [1, 1]]},
        "'strata' .* must not be combined with crossed groups",
    ),
    "resamples with crossed groups": (
        {"resamples": [[0, 1, 2, 3]] * 2, "groups": [[0, 0], [0, 1], [1, 0], [1, 1]]},
        "'resamples' .* must not be combined with crossed groups",
    ),
    "three columns of groups": (
        {"groups": np.zeros((4, 3))},
        r"shape \(n_samples,\), or \(n_samples, 2\)",
    ),
    "group in two strata": (
        {"groups": [0, 0, 1, 1], "strata": [0, 1, 0, 1]},
        "same for all rows of a group",
    ),
    "another number of trials": (
        {"groups": Trials([1, 2], [2, 3])},
        "a row for each of the 4 rows",
    ),
    "resamples from 1": ({"resamples": [[1, 2, 3, 4]] * 3}, "R counts from 1: subtract 1"),
    "weights for a callable": (
        {"sample_weight": [1, 1, 2, 1], "metric": lambda t, p: 0.0},
        "has no sample_weight argument",
    ),
    "random state": ({"random_state": "seed"}, "Use random_state=0"),
    "one subgroup": ({"by": ["f"] * 4}, "at least two subgroups"),
    "several labels a row for a metric of one": (
        {"y_true": np.eye(4), "y_pred": np.eye(4), "metric": "matthews_corrcoef"},
        "score each column by itself",
    ),
    "a metric without a keyword that it needs": (
        {"metric": metrics.fbeta_score},
        r"with a value for 'beta'\. Got none\. Give functools.partial\(fbeta_score, beta=\.\.\.\)",
    ),
    "a callable without a keyword that it needs": (
        {"metric": needs_a_threshold},
        r"with a value for 'threshold'\. Got none",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_says_which_argument_what_was_given_and_what_to_do(case):
    changes, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message) as caught:
        bootstrap_score(**(GOOD | changes))
    assert re.match(r"The '\w+' parameter of bootstrap_score ", str(caught.value))


# ------------------------------------------------------------------ containers


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_columns_are_paired_by_row_order(library):
    frames = pytest.importorskip(library)
    y_true, y_pred = labels_and_predictions()
    if library == "pandas":
        truth = frames.Series(y_true, index=np.arange(300))
        predicted = frames.Series(y_pred, index=np.arange(300)[::-1])
    else:
        truth, predicted = frames.Series(y_true), frames.Series(y_pred)
    frame = bootstrap_score(truth, predicted, random_state=0)
    plain = bootstrap_score(y_true, y_pred, random_state=0)
    np.testing.assert_array_equal(frame.bootstrap_distribution, plain.bootstrap_distribution)


def test_lists_strings_and_memory_maps_are_accepted(tmp_path):
    y_true, y_pred = labels_and_predictions()
    names = np.array(["ant", "bee", "cow"])
    plain = bootstrap_score(y_true, y_pred, random_state=0).bootstrap_distribution
    np.save(tmp_path / "y.npy", y_true)
    mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
    for truth, predicted in [
        (y_true.tolist(), y_pred.tolist()),
        (names[y_true], names[y_pred].tolist()),
        (names[y_true].astype(object), names[y_pred]),
        (mapped, y_pred),
    ]:
        again = bootstrap_score(truth, predicted, random_state=0).bootstrap_distribution
        np.testing.assert_array_equal(again, plain)


# ------------------------------------------------------------------ memory and size


def test_ten_million_rows_never_make_an_array_of_resamples_by_rows():
    """Peak memory over the inputs stays near one array of the rows, not n_resamples of them."""
    import tracemalloc

    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 10_000_000, dtype=np.int8)
    y_pred = np.where(rng.random(10_000_000) < 0.9, y_true, 1 - y_true).astype(np.int8)
    tracemalloc.start()
    result = bootstrap_score(y_true, y_pred, n_resamples=9999, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    p = result.estimate
    assert p == (y_true == y_pred).mean()
    assert peak < 50e6
    # sd of 9999 replicates: standard error 0.7%.
    assert result.standard_error == pytest.approx(np.sqrt(p * (1 - p) / 1e7), rel=0.04)


@ignore_extreme
@pytest.mark.parametrize(
    ("metric", "interval"),
    [
        ("mean_absolute_error", "percentile"),
        ("mean_absolute_error", "studentized"),
        ("mean_absolute_error", "bca"),
        ("roc_auc", "auto"),
    ],
)
def test_a_call_holds_at_most_four_times_its_input(metric, interval):
    rng, n = np.random.default_rng(0), 400_000
    truth = rng.integers(0, 2, n) if metric == "roc_auc" else rng.normal(size=n)
    predicted = truth + rng.normal(size=n)
    options = {"metric": metric, "interval": interval, "n_resamples": 99, "random_state": 0}
    bootstrap_score(truth[:1000], predicted[:1000], **options)
    tracemalloc.start()
    bootstrap_score(truth, predicted, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Counts and buffers of a block take the same at every size: 4 MB of counts, and a few tiles.
    assert peak < 4 * (truth.nbytes + predicted.nbytes) + 12e6


@ignore_extreme
@pytest.mark.filterwarnings("ignore:.*Leaving out single rows")
@pytest.mark.parametrize(
    ("metric", "label", "times"),
    [("roc_auc", np.int64, 1.0), ("roc_auc", np.int8, 1.8), ("r2", None, 2.3)],
)
def test_areas_and_r2_hold_a_few_columns_of_many_rows(metric, label, times):
    """Each column of a million rows has 8 MB; buffers, whatever the number of rows, have 10."""
    rng, n = np.random.default_rng(0), 1_000_000
    truth = rng.normal(size=n) if label is None else rng.integers(0, 2, n).astype(label)
    predicted = truth + rng.normal(size=n)
    options = {"metric": metric, "n_resamples": 99, "random_state": 0}
    bootstrap_score(truth[:1000], predicted[:1000], **options)
    tracemalloc.start()
    bootstrap_score(truth, predicted, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < times * (truth.nbytes + predicted.nbytes) + 10e6


SHARED = "Both columns of groups name the same members, and are taken for two factors"


@pytest.mark.filterwarnings("ignore:.*With fewer than 40 members")
@pytest.mark.parametrize("door", ["score", "compare"])
def test_text_in_both_columns_that_names_the_same_members_warns_and_numbers_do_not(door):
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 20, (2, 400))
    losses = rng.normal(size=400)
    names = np.array([f"speaker {k}" for k in range(60)])

    def warned(one, other, kind=lambda *columns: np.column_stack(columns)):
        options = {"metric": "mean", "groups": kind(one, other), "n_resamples": 9}
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            if door == "score":
                bootstrap_score(None, losses, **options)
            else:
                compare_systems(None, {"A": losses, "B": -losses}, **options)
        return sum(SHARED in str(each.message) for each in found)

    assert warned(names[first], names[second]) == 1
    assert warned(names[first], names[second + 15]) == 0  # a quarter of the members is shared
    assert warned(names[first], names[second + 30]) == 0
    assert warned(first, second) == 0
    assert warned(names[first], names[second], Trials) == 0
    assert warned(names[first], names[second], Crossed) == 0  # who says so is believed
