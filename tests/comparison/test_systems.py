"""compare_systems: paired differences, their intervals and p-values, and which are significant."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from made_results import four_systems, two
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, roc_auc_score

from skboot import bootstrap_score, compare_runs, compare_systems
from skboot.inference import delong_test, tango_interval
from skboot.results import ResultTable

N = 400


@pytest.fixture(scope="module")
def data():
    return four_systems()


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=N)
    common = y + rng.normal(size=N)
    return y, {
        name: common + s * rng.normal(size=N)
        for name, s in zip("ABC", [0.3, 1.0, 2.0], strict=True)
    }


# ------------------------------------------------------------------ what is computed


def accuracy_of_labels(y_true, y_pred):
    return np.mean(y_true == y_pred)


METRICS = {
    "accuracy": ("accuracy", accuracy_score),
    "f1": ("f1", f1_score),
    "callable": (accuracy_of_labels, accuracy_of_labels),
    "partial": (partial(f1_score, average="macro"), partial(f1_score, average="macro")),
}


@pytest.mark.parametrize("name", METRICS)
def test_differences_are_those_of_the_metric(data, name):
    y, systems = data
    metric, function = METRICS[name]
    result = compare_systems(y, systems, metric=metric, n_resamples=199, random_state=0)
    assert len(result.pairs) == 6
    for pair in result.pairs:
        expected = function(y, systems[pair.first]) - function(y, systems[pair.second])
        assert_allclose(pair.difference, expected, atol=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", accuracy_of_labels])
def test_systems_of_a_resample_see_the_same_rows(data, metric):
    # A system that errs wherever another does, and on more rows, is worse on every resample.
    y, systems = data
    worse = np.where(np.arange(N) % 20 == 0, 1 - y, systems["A"])
    result = compare_systems(y, {"A": systems["A"], "worse": worse}, metric=metric, random_state=0)
    assert (result.replicates("A", "worse") >= 0).all()


def test_the_bootstrap_of_an_accuracy_difference_has_its_exact_variance(data):
    y, systems = data
    [pair] = compare_systems(y, two(systems), n_resamples=9999, random_state=0).pairs
    rows = (systems["A"] == y).astype(float) - (systems["C"] == y)
    # Relative error of a standard deviation from 9999 resamples: 1 / sqrt(2 B) = 0.7%.
    assert_allclose(pair.standard_error, rows.std() / np.sqrt(N), rtol=0.03)


def test_explicit_expanded_interval_is_the_one_of_per_row_differences(data):
    # The difference of two accuracies is the mean of per-row differences, an independent path.
    y, systems = data
    rows = (systems["A"] == y).astype(float) - (systems["C"] == y)
    pair = compare_systems(y, two(systems), n_resamples=19_999, random_state=0).pairs[0]
    alone = bootstrap_score(
        None,
        rows,
        metric="mean",
        greater_is_better=True,
        interval="expanded",
        n_resamples=19_999,
        random_state=1,
    )
    assert pair.confidence_interval.method == "expanded"
    assert_allclose(pair.confidence_interval[:2], alone.confidence_interval[:2], atol=0.003)


def test_metrics_of_one_call_share_resamples_fast_and_generic(data):
    y, systems = data
    metric = {"fast": "accuracy", "slow": accuracy_of_labels}
    found = compare_systems(y, two(systems), metric=metric, n_resamples=198, random_state=0)
    fast, slow = (found[name].replicates("A", "C") for name in ("fast", "slow"))
    assert_allclose(fast, slow, atol=1e-12)
    assert isinstance(found, ResultTable)


def test_mean_of_losses_is_better_when_smaller():
    rng = np.random.default_rng(0)
    base = rng.gamma(2, size=300)
    losses = {"worse": base + 0.3 + rng.normal(0, 0.1, 300).clip(-0.2), "better": base}
    result = compare_systems(None, losses, metric="mean", greater_is_better=False, random_state=0)
    assert result.best == "better"
    assert "better is significantly better than worse" in result.claim()


def test_regression_metrics_and_probabilities_are_compared():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    systems = {"A": y + rng.normal(size=100), "B": y + 2 * rng.normal(size=100)}
    [pair] = compare_systems(
        y, systems, metric="neg_mean_absolute_error", n_resamples=198, random_state=0
    ).pairs
    expected = mean_absolute_error(y, systems["B"]) - mean_absolute_error(y, systems["A"])
    assert_allclose(pair.difference, expected)
    labels = np.arange(99) % 3
    prob = {name: rng.dirichlet(np.ones(3), 99) for name in "AB"}
    found = compare_systems(labels, prob, metric="neg_log_loss", n_resamples=198, random_state=0)
    assert np.isfinite(found.pairs[0].confidence_interval[:2]).all()


# ------------------------------------------------------------------ designs


@pytest.mark.filterwarnings("ignore:compare_systems. Neighbouring rows have similar values")
def test_groups_widen_the_interval_of_correlated_rows():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 10)
    gain = rng.normal(0.0, 1.0, 40)[group]
    losses = {"A": rng.normal(size=400) + gain, "B": rng.normal(size=400)}
    widths = [
        np.diff(
            compare_systems(None, losses, metric="mean", groups=groups, random_state=0)
            .pairs[0]
            .confidence_interval[:2]
        )[0]
        for groups in (None, group)
    ]
    assert widths[1] > 1.5 * widths[0]


def test_strata_crossed_groups_and_weights_are_taken(data):
    y, systems = data
    strata = compare_systems(y, two(systems), strata=y, n_resamples=198, random_state=0)
    assert "stratum" in strata.held_fixed[1]
    with pytest.warns(UserWarning, match="fewer than 40 members on one side"):
        crossed = compare_systems(
            y,
            two(systems),
            groups=np.column_stack([np.arange(N) % 20, np.arange(N) // 20]),
            n_resamples=198,
            random_state=0,
        )
    assert crossed.pairs[0].confidence_interval.method == "expanded"
    weights = np.linspace(1, 2, N)
    weighted = compare_systems(
        y, two(systems), sample_weight=weights, n_resamples=198, random_state=0
    )
    expected = [np.average(systems[name] == y, weights=weights) for name in "AC"]
    assert_allclose(weighted.pairs[0].difference, expected[0] - expected[1])


def test_subgroups_are_compared_within_and_between(data):
    y, systems = data
    by = np.array(["x", "y", "z", "x"])[np.arange(N) % 4]
    table = compare_systems(y, two(systems), by=by, random_state=0)
    assert list(table) == ["x", "y", "z", "gap"]
    differences = {}
    for name in "xyz":
        rows = by == name
        differences[name] = accuracy_score(y[rows], systems["A"][rows]) - accuracy_score(
            y[rows], systems["C"][rows]
        )
        assert_allclose(table[name].pairs[0].difference, differences[name])
        assert table[name].n_samples == rows.sum()
    gap = table["gap"]["A - C"]
    assert_allclose(gap.estimate, max(differences.values()) - min(differences.values()))
    assert gap.confidence_interval.method == "simultaneous"


# ------------------------------------------------------------------ exact requirements


@pytest.mark.parametrize("metric", ["accuracy", "f1", accuracy_of_labels])
@pytest.mark.parametrize("interval", ["auto", "expanded", "bca", "t"])
def test_identical_systems_differ_by_zero_and_say_so(data, metric, interval):
    y, systems = data
    result = compare_systems(
        y,
        {"one": systems["A"], "two": systems["A"].copy()},
        metric=metric,
        interval=interval,
        n_resamples=198,
        random_state=0,
    )
    [pair] = result.pairs
    assert (pair.difference, pair.p_value, pair.p_value_adjusted) == (0.0, 1.0, 1.0)
    assert pair.confidence_interval[:2] == (0.0, 0.0)
    assert pair.bootstrap_support == 0.5
    assert any("degenerate" in note for note in result.notes)
    assert "(no width)" in result.summary()
    assert not pair.excludes_zero


def test_identical_scores_differ_by_zero_in_auc(scores):
    y, systems = scores
    three = {"one": systems["A"], "two": systems["A"] * 1.0, "three": systems["B"]}
    for interval in ("auto", "delong"):
        result = compare_systems(y, three, metric="roc_auc", interval=interval, random_state=0)
        assert result.pair("one", "two").confidence_interval[:2] == (0.0, 0.0)
        assert result.pair("one", "two").p_value == 1.0
        other = replace(result.pair("two", "three"), first="one")
        assert result.pair("one", "three") == other


@pytest.mark.parametrize("metric", ["accuracy", "f1", accuracy_of_labels])
@pytest.mark.parametrize("interval", ["auto", "percentile", "expanded", "bca", "basic", "normal"])
def test_exchanging_two_systems_mirrors_everything_exactly(data, metric, interval):
    y, systems = data
    options = {"metric": metric, "interval": interval, "n_resamples": 198, "random_state": 3}
    [pair] = compare_systems(y, {"A": systems["A"], "C": systems["C"]}, **options).pairs
    [back] = compare_systems(y, {"C": systems["C"], "A": systems["A"]}, **options).pairs
    assert back == pair._mirrored()
    # Exchanging what the names stand for mirrors as well.
    [named] = compare_systems(y, {"A": systems["C"], "C": systems["A"]}, **options).pairs
    assert named.confidence_interval == back.confidence_interval
    assert (named.difference, named.p_value) == (-pair.difference, pair.p_value)


@pytest.mark.parametrize("adjust", ["max-t", "holm"])
def test_the_order_of_many_systems_does_not_matter(data, adjust):
    y, systems = data
    options = {"adjust": adjust, "n_resamples": 199, "random_state": 0}
    one = compare_systems(y, systems, **options)
    other = compare_systems(y, dict(reversed(systems.items())), **options)
    for pair in one.pairs:
        assert other.pair(pair.first, pair.second) == pair


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore:compare_systems. Only")
@pytest.mark.parametrize("n_groups", [None, 8, 20])
@pytest.mark.parametrize("n_resamples", [1999, 500])
def test_p_values_agree_with_intervals_marginal_and_simultaneous(n_groups, n_resamples):
    rng = np.random.default_rng(0)
    y = np.zeros(300, int)
    groups = None if n_groups is None else np.arange(300) % n_groups
    apart = 0
    for seed in range(15):
        hard = rng.random(300) < 0.4
        systems = {
            str(k): (hard & (rng.random(300) < 0.4 + 0.06 * k)).astype(int) for k in range(4)
        }
        result = compare_systems(
            y, systems, groups=groups, n_resamples=n_resamples, random_state=seed
        )
        for pair in result.pairs:
            low, high = pair.confidence_interval
            assert (pair.p_value <= 0.05) == (low > 0 or high < 0)
            assert (pair.p_value_adjusted <= 0.05) == pair.excludes_zero
            apart += pair.excludes_zero
            wide = pair.simultaneous_interval
            assert wide.low <= low
            assert high <= wide.high
    assert 0 < apart < 90


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_accuracies_that_few_rows_tell_apart_get_tangos_interval(data):
    y, systems = data
    near = systems["A"].copy()
    near[:5] = 1 - near[:5]
    [pair] = compare_systems(y, {"A": systems["A"], "near": near}, random_state=0).pairs
    right = [systems["A"] == y, near == y]
    b, c = np.sum(right[0] & ~right[1]), np.sum(right[1] & ~right[0])
    assert pair.confidence_interval[:3] == tango_interval(b, c, N)[:3]
    assert pair.mcnemar_p_value == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue)
    grouped = compare_systems(
        y, {"A": systems["A"], "near": near}, groups=np.arange(N) // 4, random_state=0
    ).pairs[0]
    assert grouped.confidence_interval.method == "t"
    assert grouped.mcnemar_p_value is None


def test_error_rates_have_the_mirrored_tango_interval(data):
    from sklearn.metrics import zero_one_loss

    y, systems = data
    accuracy = compare_systems(y, two(systems), interval="tango", random_state=0).pairs[0]
    error = compare_systems(
        y, two(systems), interval="tango", metric=zero_one_loss, random_state=0
    ).pairs[0]
    assert error.confidence_interval == accuracy._mirrored().confidence_interval


def test_auc_by_delong_equals_the_paired_test(scores):
    y, systems = scores
    result = compare_systems(y, systems, metric="roc_auc", interval="delong", random_state=0)
    for pair in result.pairs:
        expected = delong_test(y, systems[pair.first], systems[pair.second])
        assert_allclose(pair.p_value, expected.p_value, rtol=1e-9)
        half = stats.norm.ppf(0.975) * expected.standard_error
        limits = [expected.difference - half, expected.difference + half]
        assert_allclose(pair.confidence_interval[:2], limits, rtol=1e-9)


def test_the_numbers_do_not_depend_on_the_number_of_workers(scores):
    y, systems = scores
    options = {"metric": roc_auc_score, "n_resamples": 120, "random_state": 0}
    one = compare_systems(y, systems, **options)
    assert compare_systems(y, systems, n_jobs=2, **options) == one


def test_the_first_resamples_of_many_are_the_few(data):
    y, systems = data
    few = compare_systems(y, systems, n_resamples=100, random_state=0)
    many = compare_systems(y, systems, n_resamples=500, random_state=0)
    assert_array_equal(few.replicates("A", "B"), many.replicates("A", "B")[:100])


# ------------------------------------------------------------------ several systems


@pytest.mark.parametrize("n_groups", [None, 8, 50])
def test_simultaneous_intervals_are_those_of_the_joint_law_of_the_largest_t(data, n_groups):
    y, systems = data
    groups = None if n_groups is None else np.arange(len(y)) % n_groups
    n = len(y) if n_groups is None else n_groups
    with warnings.catch_warnings():
        # Of few groups.
        warnings.simplefilter("ignore", UserWarning)
        result = compare_systems(y, systems, groups=groups, random_state=0)
    replicates = np.array([result.replicates(p.first, p.second) for p in result.pairs])
    differences = np.array([p.difference for p in result.pairs])
    errors = replicates.std(axis=1, ddof=1)
    deviations = np.abs(replicates - differences[:, None]) / errors[:, None]
    # Student's t of each: a normal deviation by an independent chi. 100 times as many as are used,
    # so that what is left is the error of 1999 draws: .005 of a level of 5%, four of them here.
    chi = np.sqrt(stats.chi2.rvs(n - 1, size=(100, *deviations.shape), random_state=1) / (n - 1))
    largest = np.sort((np.sqrt(n / (n - 1)) * deviations / chi).max(axis=1).ravel())
    narrow, wide = np.quantile(largest, [0.93, 0.97])
    for pair, d, se in zip(result.pairs, differences, errors, strict=True):
        low, high = pair.simultaneous_interval[:2]
        own = pair.confidence_interval
        for limit, of_pair in ((d - low, d - own.low), (high - d, own.high - d)):
            assert max(narrow * se, of_pair) - 1e-9 <= limit <= max(wide * se, of_pair) + 1e-9
        joint = np.mean(largest >= abs(d) / se)
        assert_allclose(pair.p_value_adjusted, max(pair.p_value, joint), atol=0.02)


def test_a_reference_is_compared_with_all_others(data):
    y, systems = data
    result = compare_systems(y, systems, reference="B", random_state=0)
    assert [(pair.first, pair.second) for pair in result.pairs] == [
        ("A", "B"),
        ("C", "B"),
        ("D", "B"),
    ]
    assert result.best == "A"
    assert result.indistinguishable_from_best is None
    with pytest.raises(KeyError, match="were not compared"):
        result.pair("A", "C")


def test_who_differs_significantly_from_the_best(data):
    y, systems = data
    result = compare_systems(y, systems, random_state=0)
    assert result.best == "A"
    assert result.indistinguishable_from_best == ("B",)
    assert result.distinguishable_from_best == ("C", "D")
    assert "C and D did significantly worse" in result.claim()
    assert "B did not differ significantly from it" in result.claim()


@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
def test_no_superiority_is_claimed_where_the_interval_holds_zero(data, adjust):
    y, systems = data
    result = compare_systems(y, two(systems, "A", "B"), adjust=adjust, random_state=0)
    assert not result.pairs[0].excludes_zero
    assert "better than" not in result.claim()
    assert "nor that they are equal" in result.claim()


def test_unadjusted_comparisons_have_no_simultaneous_interval(data):
    y, systems = data
    result = compare_systems(y, systems, adjust=None, random_state=0)
    assert all(pair.simultaneous_interval is None for pair in result.pairs)
    assert all(np.isnan(pair.p_value_adjusted) for pair in result.pairs)
    assert "not adjusted" in result.claim()


def test_holm_says_when_the_resamples_are_too_few(data):
    y, systems = data
    result = compare_systems(y, systems, adjust="holm", n_resamples=198, random_state=0)
    assert any("n_resamples=239" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore:compare_systems. The area under")
def test_a_difference_that_never_varies_is_not_significant_by_max_t(scores):
    y, _ = scores
    rng = np.random.default_rng(0)
    separated = y + 0.1 * rng.random(N)
    systems = {"perfect": separated, "reversed": -separated, "noise": rng.random(N)}
    with pytest.warns(UserWarning, match="Worse than scores that ignore the input"):
        result = compare_systems(y, systems, metric="roc_auc", interval="expanded", random_state=0)
    pair = result.pair("perfect", "reversed")
    assert pair.difference == 1.0
    assert pair.p_value_adjusted == 1.0
    assert not pair.excludes_zero
    assert any("zero width" in note for note in result.notes)


@pytest.mark.filterwarnings("ignore:compare_systems. undefined")
@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
def test_an_undefined_metric_gives_undefined_differences_with_the_reason(data, adjust):
    y, systems = data
    result = compare_systems(
        y, systems, metric=lambda a, b: np.nan, n_resamples=198, adjust=adjust, random_state=0
    )
    for pair in result.pairs:
        assert np.isnan([pair.p_value, pair.p_value_adjusted, *pair._widest_interval[:2]]).all()
        assert not result.is_distinguishable(pair)
    assert any("undefined" in note for note in result.notes)


# ------------------------------------------------------------------ bad input


BAD = {
    "one system": ({"y_preds": {"A": [0, 1, 1, 0]}}, "at least two systems"),
    "no dict": ({"y_preds": [[0, 1, 1, 0]] * 2}, "be a dict of the predictions"),
    "lengths": ({"y_preds": {"A": [0, 1, 1, 0], "B": [0, 1]}}, r"y_preds\['B'\]"),
    "missing": ({"y_preds": {"A": [0, 1, 1, 0], "B": [0, np.nan, 1, 0]}}, r"y_preds\['B'\]"),
    "kind": ({"y_preds": {"A": [0, 1, 1, 0], "B": [0.2, 0.4, 0.1, 0.3]}}, r"y_preds\['B'\]"),
    "reference": ({"reference": "Z"}, "'reference' parameter"),
    "adjust": ({"adjust": "bonferroni"}, "'max-t', 'holm' or None"),
    "interval": ({"interval": "exact"}, "'interval' parameter"),
    "wilson": ({"interval": "wilson"}, "for a single proportion"),
    "studentized": ({"interval": "studentized"}, "influence values"),
    "delong": ({"interval": "delong"}, "area under the ROC curve"),
    "level": ({"confidence_level": 95}, "confidence_level=0.95"),
    "tango on f1": ({"metric": "f1", "interval": "tango"}, "'tango' needs 0/1 values"),
    "crossed bca": (
        {"interval": "bca", "groups": [[0, 0], [0, 1], [1, 0], [1, 1]]},
        "'bca' with crossed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_refused_with_advice(case):
    wrong, message = BAD[case]
    given = {"y_preds": {"A": [0, 1, 1, 0], "B": [0, 1, 0, 0]}, "n_resamples": 39} | wrong
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 1, 1], given.pop("y_preds"), **given)


def test_a_data_frame_is_taken_as_its_columns(data):
    pd = pytest.importorskip("pandas")
    y, systems = data
    frame = pd.DataFrame(systems)
    found = compare_systems(pd.Series(y), frame, n_resamples=199, random_state=0)
    assert found == compare_systems(y, systems, n_resamples=199, random_state=0)


# ------------------------------------------------------------------ one side


@pytest.mark.parametrize("interval", ["auto", "percentile", "t", "tango"])
def test_one_sided_comparisons_are_halves_of_two_sided_ones(data, interval):
    y, systems = data
    options = {"interval": interval, "random_state": 0}
    both = compare_systems(y, systems, confidence_level=0.9, **options)
    above = compare_systems(y, systems, alternative="greater", **options)
    below = compare_systems(y, systems, alternative="less", **options)
    for both_sides, one, other in zip(both.pairs, above.pairs, below.pairs, strict=True):
        assert_allclose(one.confidence_interval, (both_sides.confidence_interval.low, np.inf))
        assert_allclose(other.confidence_interval, (-np.inf, both_sides.confidence_interval.high))
        smaller = one if both_sides.difference > 0 else other
        assert_allclose(smaller.p_value, both_sides.p_value / 2, atol=1e-9)
        assert one.p_value + other.p_value >= 0.999
        assert (one.p_value <= 0.05) == (one.confidence_interval.low > 0)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("n_groups", [None, 12])
def test_one_sided_simultaneous_intervals_agree_with_adjusted_p_values(alternative, n_groups):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        losses = {f"s{k}": rng.normal(0.08 * k, 1.0, size=240) for k in range(5)}
        groups = None if n_groups is None else np.arange(240) % n_groups
        options = {"metric": "mean", "groups": groups, "n_resamples": 499, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = compare_systems(None, losses, alternative=alternative, **options)
            two_sided = compare_systems(None, losses, **options)
        for pair, both in zip(result.pairs, two_sided.pairs, strict=True):
            low, high = pair.simultaneous_interval
            assert (pair.p_value_adjusted <= 0.05) == (low > 0 or high < 0)
            finite = both.simultaneous_interval
            # One side gives away less than two.
            assert low >= finite.low - 1e-12 if alternative == "greater" else high <= finite.high
            assert low <= pair.confidence_interval.low
            assert high >= pair.confidence_interval.high


def test_one_side_of_the_exchanged_difference_is_the_other_side(data):
    y, systems = data
    two = {name: systems[name] for name in list(systems)[:2]}
    options = {"random_state": 0, "n_resamples": 499}
    [above] = compare_systems(y, two, alternative="greater", **options).pairs
    turned = dict(reversed(two.items()))
    [below] = compare_systems(y, turned, alternative="less", **options).pairs
    mirrored = below._mirrored()
    assert mirrored.alternative == "greater"
    assert mirrored.confidence_interval == above.confidence_interval
    assert mirrored.p_value == above.p_value
    assert mirrored.mcnemar_p_value == above.mcnemar_p_value


def test_the_one_sided_t_interval_is_scipys():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.2, 1.0, size=60), rng.normal(size=60)
    options = {"metric": "mean", "interval": "t", "n_resamples": 19_999, "random_state": 0}
    for alternative in ("greater", "less"):
        systems = {"A": first, "B": second}
        [pair] = compare_systems(None, systems, alternative=alternative, **options).pairs
        test = stats.ttest_rel(first, second, alternative=alternative)
        # The bootstrap standard error has a Monte Carlo error of .5%; five of them.
        assert_allclose(pair.p_value, test.pvalue, rtol=0.1)
        limits, expected = pair.confidence_interval, test.confidence_interval(0.95)
        side = 0 if alternative == "greater" else 1
        assert abs(limits[side] - expected[side]) < 0.025 * abs(expected[side] - pair.difference)


def test_with_a_reference_the_other_system_is_first(data):
    y, systems = data
    name = next(iter(systems))
    options = {"alternative": "greater", "random_state": 0, "n_resamples": 499}
    result = compare_systems(y, systems, reference=name, **options)
    for pair in result.pairs:
        assert pair.second == name
        assert np.isinf(pair.confidence_interval.high)
        assert pair.confidence_interval.low <= pair.difference


def test_decisions_need_two_sides(data):
    y, systems = data
    result = compare_systems(y, systems, alternative="less", n_resamples=99, random_state=0)
    pair = result.pairs[0]
    calls = {
        "verdict": pair.verdict,
        "equivalence_margin": lambda: pair.equivalence_margin,
        "ranks": result.ranks,
        "top": result.top,
        "distinguishable": lambda: result.distinguishable_from_best,
        "indistinguishable": lambda: result.indistinguishable_from_best,
    }
    for call in calls.values():
        with pytest.raises(ValueError, match="alternative='less'"):
            call()


def test_texts_and_tables_say_which_side(data):
    y, systems = data
    result = compare_systems(y, systems, alternative="greater", n_resamples=99, random_state=0)
    assert "against the differences not being above 0" in " ".join(result.summary().split())
    assert "one-sided 95%" in result.claim()
    assert result.to_dict()["alternative"] == "greater"
    assert "at least 0." in result.to_markdown()
    assert "<svg" in result._repr_html_()
    two = {name: systems[name] for name in list(systems)[:2]}
    pair = compare_systems(y, two, alternative="less", n_resamples=99, random_state=0)
    assert "one-sided 95% CI at most " in pair.claim()


def test_an_unknown_alternative_is_refused(data):
    y, systems = data
    with pytest.raises(ValueError, match="'alternative' parameter of compare_systems"):
        compare_systems(y, systems, alternative="larger")


@pytest.mark.parametrize(
    ("metric", "answer"),
    [("accuracy", 1), ("accuracy", 0), ("brier_score", 0.3), ("log_loss", [0.6, 0.4])],
)
def test_a_system_that_answers_the_same_for_every_row_is_noted(metric, answer):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    varied = np.broadcast_to(np.asarray(answer), (200, *np.shape(answer))).copy()
    constant = varied.copy()
    varied[-1] = varied[-1][::-1] if varied.ndim == 2 else 1 - varied[-1]
    options = {"metric": metric, "n_resamples": 99, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_systems(y, {"nearly": varied, "dull": constant}, **options)
        runs = compare_runs(y, {"nearly": [varied] * 2, "dull": [constant] * 2}, **options)
    for notes in (result.notes, runs.notes):
        (note,) = (text for text in notes if "tells no rows apart" in text)
        assert note.startswith("dull gives the same answer for every row")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_note_on_one_system_names_it_and_one_on_all_does_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [70, 60])
    scores = {name: y + rng.normal(size=130) for name in ("a", "b")}
    options = {"metric": "roc_auc", "n_resamples": 99, "random_state": 0}
    few = "The {} rows of the smaller class decide this score (fewer than 50)".format

    def notes(*n_rows):
        pairs = zip(scores.items(), n_rows, strict=True)
        y_preds = {name: values[:n] for (name, values), n in pairs}
        truths = {name: y[:n] for name, n in zip(scores, n_rows, strict=True)}
        result = compare_systems(truths, y_preds, paired=False, **options)
        return [note.partition(": expect")[0] for note in result.notes]

    assert f"b: {few(30)}" in notes(130, 100)
    assert {f"a: {few(10)}", f"b: {few(30)}"} <= {*notes(80, 100)}
    assert few(30) in notes(100, 100)
