"""The largest gap between subgroups says what it is, wherever it is shown."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import brentq

from skboot import bootstrap_score, compare_systems
from skboot.inference import tango_interval
from skboot.results import EvaluationResult


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=600)
    by = np.array(["women", "men", "other"])[np.arange(600) % 3]
    rates = {"A": np.where(by == "men", 0.4, 0.2), "B": 0.25, "C": 0.3}
    return y, {name: y ^ (rng.random(600) < rate) for name, rate in rates.items()}, by


def one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def gap(data):
    y, systems, by = data
    return bootstrap_score(y, systems["A"], by=by, random_state=0)["gap"]


@pytest.fixture(scope="module")
def change(data):
    y, systems, by = data
    return compare_systems(y, systems, by=by, random_state=0)["gap"]["A - B"]


def test_the_gap_of_a_system_is_not_its_performance(gap):
    summary = one_line(gap.summary())
    assert "largest difference between subgroups for this trained system" in summary
    assert "performance" not in summary
    assert "95% simultaneous CI" in summary
    assert "simultaneous over all pairs of subgroups" in summary
    assert "conditional on the trained system note" in summary


def test_the_gap_of_a_comparison_is_a_change_of_a_difference(change):
    summary = one_line(change.summary())
    assert "largest change between subgroups of the difference of two trained systems" in summary
    assert "performance" not in summary
    assert "all pairs of subgroups and all differences of systems" in summary
    assert "conditional on the trained systems note" in summary


def test_the_claim_names_the_pair_and_what_the_interval_is_over(gap, change):
    low, high = gap.confidence_interval[:2]
    assert gap.claim() == (
        f"The largest difference in accuracy between subgroups was {gap.estimate:.2f} "
        f"(other - men) on 600 test rows (95% CI {low:.2f} to {high:.2f}, simultaneous over all "
        "pairs of subgroups, from the limits of each subgroup). On new data from the same source "
        "these two differ."
    )
    assert change.claim().startswith(
        "The largest change between subgroups of a difference in accuracy was "
        f"{change.estimate:.2f} (A - B: other - men) on 600 test rows (95% CI "
    )


def test_the_one_change_between_two_subgroups_is_no_largest_of_several(data):
    y, systems, by = data
    pair = {name: systems[name] for name in "AB"}
    change = compare_systems(y, pair, by=by == "men", n_resamples=399, random_state=0)["gap"]
    assert change["A - B"].notes == (
        "The change between the two subgroups of the difference A - B.",
    )


def test_no_difference_is_claimed_where_the_interval_holds_zero(data):
    y, systems, by = data
    gap = bootstrap_score(y, systems["B"], by=by, random_state=0)["gap"]
    assert gap.confidence_interval.low < 0
    assert gap.claim().endswith(
        "This does not show that subgroups differ, nor that they are equal."
    )


def test_tables_and_pages_mark_the_interval(data, gap, change):
    y, systems, by = data
    for one in (gap, change):
        assert "| simultaneous |" in one.to_markdown()
        assert "& simultaneous &" in one.to_latex()
        assert one.claim() in one._repr_html_()
        assert "simultaneous CI" in repr(one)
    table = bootstrap_score(y, systems["A"], by=by, random_state=0)
    assert table.to_markdown().count("simultaneous") == 1
    assert "95% CI" in table.to_markdown()
    summary = one_line(table.summary())
    assert "accuracy gap (other - men): largest difference between subgroups" in summary


# ------------------------------------------------------------------ limits


def critical(n_subgroups, level=0.95, families=1):
    tail = (1 - level) / families
    return stats.studentized_range.isf(tail, n_subgroups, np.inf) / np.sqrt(2)


def student(c, df):
    return stats.t.isf(stats.norm.sf(c), df)


def recovered(first, second, correlation=0.0):
    """Limits of a difference, from (value, low, high) of each side."""
    (a, low_a, high_a), (b, low_b, high_b) = first, second

    def half(one, other):
        return np.sqrt(one**2 - 2 * correlation * one * other + other**2)

    return a - b - half(a - low_a, high_b - b), a - b + half(high_a - a, b - low_b)


def two_sides(table, gap):
    first, second = gap.metric.partition(" gap (")[2].removesuffix(")").split(" - ")
    return table[first], table[second]


def score_limits(share, n, q):
    """Shares whose score statistic is -/+ q."""

    def score(p):
        return (share - p) - q * np.sqrt(p * (1 - p) / n)

    def mirrored(p):
        return (p - share) - q * np.sqrt(p * (1 - p) / n)

    tiny = 1e-12
    return brentq(score, tiny, share), brentq(mirrored, share, 1 - tiny)


def test_the_limits_of_right_or_wrong_rows_are_newcombes_at_the_level_of_all_pairs(data):
    y, systems, by = data
    table = bootstrap_score(y, systems["A"], by=by, random_state=0)
    gap = table["gap"]
    for level in (0.95, 0.8):
        wilson = 1 - 2 * stats.norm.sf(critical(3, level))
        sides = []
        for side in two_sides(table, gap):
            own = stats.binomtest(round(200 * side.estimate), 200)
            sides.append((side.estimate, *own.proportion_ci(wilson, method="wilson")))
        assert_allclose(gap.interval(confidence_level=level)[:2], recovered(*sides), rtol=1e-6)
    assert gap.confidence_interval.method == "simultaneous"


def test_the_limits_of_two_systems_are_made_of_tangos(data):
    y, systems, by = data
    gaps = compare_systems(y, systems, by=by, random_state=0)["gap"]
    level = 1 - 2 * stats.norm.sf(critical(3, families=3))
    for name, gap in gaps.items():
        one, other = name.split(" - ")
        sides = []
        for subgroup in gap.metric.partition(": ")[2].removesuffix(")").split(" - "):
            rows = by == subgroup
            right = [(systems[each] == y)[rows] for each in (one, other)]
            counts = int(np.sum(right[0] & ~right[1])), int(np.sum(right[1] & ~right[0]))
            low, high = tango_interval(*counts, 200, confidence_level=level)
            sides.append((np.subtract(*counts) / 200, low, high))
        assert_allclose(gap.confidence_interval[:2], recovered(*sides), rtol=1e-6)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro"])
def test_equal_answers_to_ten_classes_have_the_limits_of_equal_answers_to_all_rows(metric):
    # Rows of ten classes of 20 and of 40 count one by one, as those of accuracy do.
    y = np.arange(600) % 10
    wrong = np.arange(600) // 10 % 5 == 0
    systems = dict.fromkeys("AB", np.where(wrong, (y + 1) % 10, y))
    by = np.repeat(["a", "b"], [200, 400])
    gap = compare_systems(y, systems, metric=metric, by=by, random_state=0)["gap"]["A - B"]
    sides = []
    for n in (200, 400):
        q = student(critical(2), n // 10 - 1)
        tango = tango_interval(0, 0, n, confidence_level=1 - 2 * stats.norm.sf(q))
        sides.append((0.0, *tango))
    assert_allclose(gap.confidence_interval[:2], recovered(*sides), rtol=1e-6)


def test_a_subgroup_without_errors_is_not_certain():
    # By the spread of the resamples, which is 0 in c, these are .08 -/+ .04 apart.
    y = np.zeros(400, dtype=int)
    # Rows are sorted by subgroup, and the errors within subgroups are not.
    wrong = np.r_[
        77 * np.arange(200) % 200 < 24, 77 * np.arange(190) % 190 < 19, np.zeros(10, bool)
    ]
    by = np.repeat(["a", "b", "c"], [200, 190, 10])
    gap = bootstrap_score(y, wrong.astype(int), by=by, n_resamples=199, random_state=0)["gap"]
    assert gap.metric == "accuracy gap (c - a)"
    assert gap.confidence_interval.low < 0 < gap.confidence_interval.high


def test_areas_have_the_limits_of_a_proportion_that_varies_as_they_do():
    rng = np.random.default_rng(3)
    by = np.repeat(["a", "b", "c"], [150, 150, 100])
    y = np.arange(400) % 2
    table = bootstrap_score(
        y, rng.normal(size=400) + 1.2 * y, metric="roc_auc", by=by, random_state=0
    )
    gap = table["gap"]
    sides = []
    for side in two_sides(table, gap):
        smallest = side.n_samples // 2
        variance = side.bootstrap_distribution.var(ddof=1) * smallest / (smallest - 1)
        size = np.clip(side.estimate * (1 - side.estimate) / variance, smallest, side.n_samples)
        q = student(critical(3), smallest - 1)
        sides.append((side.estimate, *score_limits(side.estimate, size, q)))
    assert_allclose(gap.confidence_interval[:2], recovered(*sides), rtol=1e-6)


def wider(side, df, q):
    """The wider of Student's t and Hall's correction, whose cubic is solved here by search."""
    draws = side.bootstrap_distribution
    error = draws.std(ddof=1) * np.sqrt((df + 1) / df)
    s = stats.skew(draws)

    def at(normal):
        return brentq(lambda t: t + s * t**2 / 3 + s**2 * t**3 / 27 + s / 6 - normal, -99, 99)

    low, high = max(q, at(q)) * error, max(q, -at(-q)) * error
    return side.estimate, side.estimate - low, side.estimate + high


def test_losses_have_students_limits_or_those_without_skewness_if_these_are_wider():
    rng = np.random.default_rng(4)
    by = np.repeat(["a", "b"], [200, 30])
    table = bootstrap_score(None, rng.normal(size=230) ** 2, metric="mean", by=by, random_state=0)
    sides = [
        wider(side, side.n_samples - 1, student(critical(2), side.n_samples - 1))
        for side in two_sides(table, table["gap"])
    ]
    assert_allclose(table["gap"].confidence_interval[:2], recovered(*sides), rtol=1e-6)


def test_subgroups_that_share_groups_vary_together():
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(20), 20)
    by = np.array(["a", "b"])[np.arange(400) % 2]
    values = rng.normal(size=20)[group] + 0.3 * rng.normal(size=400)
    table = bootstrap_score(None, values, metric="mean", by=by, groups=group, random_state=0)
    first, second = two_sides(table, table["gap"])
    correlation = np.corrcoef(first.bootstrap_distribution, second.bootstrap_distribution)[0, 1]
    assert correlation > 0.9
    sides = [wider(side, 19, student(critical(2), 19)) for side in (first, second)]
    expected = recovered(*sides, correlation)
    assert_allclose(table["gap"].confidence_interval[:2], expected, rtol=1e-6)


def test_subgroups_that_are_one_group_each_are_refused():
    rng = np.random.default_rng(0)
    y, speaker, item = rng.integers(0, 2, 200), np.arange(200) % 10, rng.integers(0, 15, 200)
    with pytest.raises(
        ValueError, match=r"one group for every subgroup\. .*leave groups out, or by"
    ):
        bootstrap_score(y, 1 - y, by=speaker, groups=speaker)
    for column, pairs in enumerate([(item, speaker), (speaker, item)]):
        with pytest.raises(ValueError, match=rf"Leave by out, or give groups\[:, {column}\]"):
            bootstrap_score(y, 1 - y, by=speaker, groups=np.column_stack(pairs))


def test_no_limit_is_outside_the_range_of_a_difference():
    rng = np.random.default_rng(6)
    by = np.repeat(["a", "b", "c"], [100, 14, 12])
    for right in (0.5, 0.9, 1.0):
        y = np.arange(126) % 2
        p = np.where((rng.random(126) < right) | (by == "b"), y, 1 - y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = bootstrap_score(
                y, p, metric=["accuracy", "f1", "recall"], by=by, n_resamples=199, random_state=0
            )
        for own in table.values():
            low, high = own["gap"].confidence_interval[:2]
            assert np.isnan(low) or -1 <= low < high <= 1


def test_exchanging_two_systems_changes_nothing_but_names(data):
    y, systems, by = data
    for metric in ("accuracy", "f1"):
        there, back = (
            compare_systems(
                y, {name: systems[name] for name in names}, metric=metric, by=by, random_state=0
            )["gap"][" - ".join(names)]
            for names in ("AB", "BA")
        )
        assert there.estimate == back.estimate
        assert_allclose(there.confidence_interval[:2], back.confidence_interval[:2])


# ------------------------------------------------------------------ who is left out


def small(metric, sizes, **options):
    """Table of subgroups of some sizes, and the warnings that name the gap."""
    rng = np.random.default_rng(7)
    by = np.repeat(list("abcde")[: len(sizes)], sizes)
    y = np.arange(len(by)) % 2
    answers = (
        rng.normal(size=len(by)) + y if metric == "roc_auc" else y ^ (rng.random(len(by)) < 0.2)
    )
    if metric == "neg_mean_squared_error":
        y, answers = y.astype(float), rng.normal(size=len(by))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = bootstrap_score(y, answers, metric=metric, by=by, random_state=0, **options)
    said = [str(each.message) for each in caught if " disparity of " in str(each.message)]
    return table, said


@pytest.mark.parametrize(
    ("metric", "fewest", "why"),
    [
        ("accuracy", 9, "fewer than 10 rows: c (9)"),
        ("roc_auc", 16, "fewer than 10 rows of a class: c (8)"),
        ("f1", 18, "fewer than 10 rows of a class: c (9)"),
        ("neg_mean_squared_error", 19, "fewer than 20 rows: c (19)"),
    ],
)
def test_a_subgroup_of_few_rows_is_left_out_by_name(metric, fewest, why):
    table, [said] = small(metric, [90, 80, fewest])
    expected = f"Left out of the disparity of {metric} for {why}."
    assert said == f"bootstrap_score: {expected}"
    assert table["gap"].notes[0] == expected
    assert set(table["gap"].metric.partition("(")[2]) <= set("ab -)")
    # The two that are left are told from each other as if there were no third.
    alone, _ = small(metric, [90, 80])
    if metric in ("accuracy", "f1"):
        assert table["gap"].confidence_interval == alone["gap"].confidence_interval


def test_a_subgroup_with_undefined_resamples_is_left_out_by_name():
    rng = np.random.default_rng(8)
    by, y = np.repeat(["a", "b", "c"], [90, 90, 20]), np.arange(200) % 2
    resamples = rng.integers(200, size=(499, 200))
    resamples[:3] %= 180
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = bootstrap_score(y, y ^ (rng.random(200) < 0.2), by=by, resamples=resamples)
    assert table["c"].n_undefined == 3
    assert table["gap"].notes[0].endswith("undefined on some resamples: c (3 of 499).")
    said = [str(each.message) for each in caught]
    assert len(said) == 2
    assert "disparity of accuracy for being undefined on some resamples: c (3 of 499)." in said[1]


@pytest.mark.filterwarnings("ignore:.*this score:UserWarning")
def test_a_subgroup_whose_loss_never_varies_is_left_out_by_name():
    losses = np.r_[np.random.default_rng(9).random(100), np.zeros(50)]
    by = np.repeat(["a", "b", "c"], 50)
    with pytest.warns(UserWarning, match=r"same value on every resample: c \(50 rows\)"):
        table = bootstrap_score(None, losses + 0.5, metric="mean", by=by, random_state=0)
    assert np.isfinite(table["gap"].estimate)


def test_a_gap_of_fewer_than_two_subgroups_is_undefined_and_says_why(tmp_path):
    table, [said] = small("roc_auc", [90, 16, 12])
    gap = table["gap"]
    assert np.isnan([gap.estimate, *gap.confidence_interval[:2], *gap.monte_carlo_error]).all()
    reason = (
        "There is no disparity of roc_auc between subgroups: fewer than two are left. Left out "
        "for fewer than 10 rows of a class: b (8), c (6)."
    )
    assert said == f"bootstrap_score: {reason}"
    assert gap.notes == (reason,)
    assert reason.rstrip(".") in one_line(gap.summary())
    assert reason.rstrip(".") in gap.claim()
    assert "undefined" in table.to_markdown()
    gap.save(tmp_path / "gap.npz")
    assert EvaluationResult.load(tmp_path / "gap.npz") == gap
    with pytest.warns(UserWarning, match="between subgroups: fewer than two are left"):
        low, high = gap.interval(confidence_level=0.8)
    assert np.isnan([low, high]).all()


def test_the_gap_of_two_systems_leaves_out_subgroups_too(data):
    y, systems, _ = data
    by = np.where(np.arange(600) < 9, "few", np.where(np.arange(600) < 300, "one", "two"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gaps = compare_systems(y, systems, by=by, random_state=0)["gap"]
        none = compare_systems(y, systems, by=by == "few", random_state=0)["gap"]
    for name, gap in gaps.items():
        assert {"one", "two"} == set(gap.metric.partition(": ")[2].removesuffix(")").split(" - "))
        assert gap.notes[0] == (
            "Left out of the disparity of accuracy for fewer than 10 rows: few (9)."
        )
        assert np.isnan(none[name].estimate)
        assert none[name].notes[0].startswith("There is no disparity of accuracy")


def test_rare_classes_count_where_classes_are_averaged_evenly():
    rng = np.random.default_rng(10)
    y = np.r_[np.tile([0, 1, 2], 100), np.tile([0, 1], 48), [2] * 4]
    by = np.repeat(["a", "b"], [300, 100])
    p = np.where(rng.random(400) < 0.8, y, rng.integers(0, 3, size=400))
    few = pytest.warns(UserWarning, match="rows of each class decide")
    with few, pytest.warns(UserWarning, match="rows of a class: b"):
        table = bootstrap_score(
            y, p, metric=["f1_macro", "f1_micro", "matthews_corrcoef"], by=by, random_state=0
        )
    assert np.isnan(table["f1_macro"]["gap"].estimate)
    assert np.isfinite(table["f1_micro"]["gap"].estimate)
    assert np.isfinite(table["matthews_corrcoef"]["gap"].estimate)


# ------------------------------------------------------------------ from what is stored


def test_a_saved_gap_has_the_same_limits_at_every_level(tmp_path, gap, change):
    rng = np.random.default_rng(11)
    y = np.arange(300) % 2
    areas = bootstrap_score(
        y, y + rng.normal(size=300), metric="roc_auc", by=np.arange(300) % 3, random_state=0
    )["gap"]
    for one in (gap, change, areas):
        one.save(tmp_path / "gap.npz")
        back = EvaluationResult.load(tmp_path / "gap.npz")
        assert back == one
        limits = [back.interval(confidence_level=level)[:2] for level in (0.5, 0.9, 0.95, 0.99)]
        assert limits[2] == one.confidence_interval[:2]
        for (low, high), (lower, higher) in pairwise(limits):
            assert lower < low < high < higher
        assert back.interval("auto") == one.confidence_interval
        assert back.monte_carlo_error == one.monte_carlo_error
    assert gap.monte_carlo_error == (0, 0)
    assert "none: the interval uses no resamples" in gap.summary()
    assert min(areas.monte_carlo_error) > 0


def test_the_monte_carlo_error_of_a_gap_is_the_spread_over_bootstrap_runs():
    rng = np.random.default_rng(12)
    y = np.arange(200) % 2
    scores, by = y + rng.normal(size=200), np.arange(200) // 100
    runs = [
        bootstrap_score(y, scores, metric="roc_auc", by=by, interval="expanded", n_resamples=199,
                        random_state=seed)
        for seed in range(100)
    ]  # fmt: skip
    limits = np.array([run["gap"].confidence_interval[:2] for run in runs])
    errors = np.array([run["gap"].monte_carlo_error for run in runs[:10]])
    # 100 runs know a spread to 7%: four standard errors.
    assert_allclose(errors.mean(axis=0), limits.std(axis=0, ddof=1), rtol=0.3)


def test_a_gap_can_be_drawn(gap, change):
    pytest.importorskip("matplotlib").use("agg")
    for one in (gap, change):
        assert one.plot().ax_ is not None


def test_a_gap_that_does_not_exist_says_why_once():
    """The subgroup of two rows leaves one alone; there are no resamples of a gap to be left out."""
    y_true = np.arange(40) % 2
    by = np.repeat(["many", "few"], [38, 2])
    y_pred = np.where(np.arange(40) % 7 == 0, 1 - y_true, y_true)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bootstrap_score(y_true, y_pred, by=by, n_resamples=99, random_state=0)
        systems = {"A": y_pred, "B": y_true}
        pairs = compare_systems(y_true, systems, by=by, n_resamples=99, random_state=0)
    summary = " ".join(table["gap"].summary().split())
    assert summary.count("between subgroups: fewer than two are left") == 1
    assert summary.count("few (2)") == 1
    assert "left out" not in summary
    for label in ("simultaneous CI", "standard error", "bias", "Monte Carlo error"):
        assert f"{label} undefined" in summary
    for several in (table, pairs):
        text = " ".join(several.summary().split())
        assert text.count("between subgroups: fewer than two are left") == 1
