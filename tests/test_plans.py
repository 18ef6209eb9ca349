"""Plans ask for the size that brute force finds, say how sure they are, and refuse the rest."""

import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from made_results import checked_html
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB

from skboot import (
    BootstrapScorer,
    bootstrap_runs,
    bootstrap_score,
    compare_methods,
    compare_runs,
    compare_systems,
    plan_evaluation,
)
from skboot.results import EvaluationPlan

RNG = np.random.default_rng(3)
N = 200
Y = RNG.integers(0, 2, N)
A, B = (np.where(RNG.random(N) < rate, 1 - Y, Y) for rate in (0.1, 0.2))
LOSSES = RNG.gamma(2.0, size=N)


def normal_runs(seed=0, n_runs=8, n=150, deviation=0.1, own=0.7):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=n)
        + deviation * rng.normal(size=(n_runs, 1))
        + own * rng.normal(size=(n_runs, n))
    )


def system(**options):
    return bootstrap_score(None, LOSSES, metric="mean", random_state=0, **options)


def several_runs(varied="seed", **options):
    with warnings.catch_warnings():
        # Few runs are warned of.
        warnings.simplefilter("ignore")
        return bootstrap_runs(
            None, normal_runs(**options), metric="mean", varied=varied, n_resamples=99
        )


def trained_runs(n_lists=12, n_seeds=2, n_full=3, n=150):
    losses = normal_runs(1, n_lists * n_seeds, n)
    losses += 0.1 * np.repeat(np.random.default_rng(2).normal(size=(n_lists, 1)), n_seeds, axis=0)
    return bootstrap_runs(
        None,
        losses,
        metric="mean",
        varied="both",
        training=np.repeat(np.arange(n_lists), n_seeds),
        full_runs=normal_runs(3, n_full, n),
        n_resamples=99,
        random_state=0,
    )


def pair_of_systems(**options):
    options = {"random_state": 0, **options}
    return compare_systems(Y, {"A": A, "B": B}, **options).pairs[0]


def pair_of_runs(**options):
    runs = {"A": normal_runs(0) + 0.1, "B": normal_runs(0)[:, ::-1]}
    options = {"metric": "mean", "greater_is_better": True, "random_state": 0, **options}
    return compare_runs(None, runs, n_resamples=99, **options).pairs[0]


def half_width(result):
    low, high = result.confidence_interval
    return (high - low) / 2


# ------------------------------------------------------------------ a proportion


def beta_half_width(share, n):
    """Of the outer limits of two Beta distributions (record 0116), at the level .95."""
    laws = [stats.beta(share * n + part, n - share * n + part) for part in (0.6, 1.0)]
    high = max(share, *(law.ppf(0.975) for law in laws))
    return (high - min(share, *(law.ppf(0.025) for law in laws))) / 2


def wilson_half_width(share, n, level=0.95):
    """By Wilson (1927), written down here."""
    z = stats.norm.ppf(0.5 + level / 2)
    return z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("half", [0.2, 0.05, 0.013])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_a_proportion_needs_the_rows_that_brute_force_finds(share, half, level):
    plan = plan_evaluation(proportion=share, half_width=half, confidence_level=level)
    n = next(n for n in range(1, 100_000) if wilson_half_width(share, n, level) <= half)
    assert plan.n_units == n
    assert plan.value == pytest.approx(wilson_half_width(share, n, level))
    assert (plan.unit, plan.n_runs, plan.n_units_range, plan.confidence_level) == (
        "row",
        None,
        None,
        level,
    )


def test_scipys_wilson_interval_of_the_planned_size_is_as_short_as_asked():
    plan = plan_evaluation(proportion=0.9, half_width=0.02)
    for n, is_enough in ((plan.n_units + 2, True), (plan.n_units - 8, False)):
        assert n % 10 == 0
        low, high = stats.binomtest(n * 9 // 10, n).proportion_ci(0.95, method="wilson")
        assert ((high - low) / 2 <= 0.02) == is_enough


# ------------------------------------------------------------------ what brute force finds


def test_a_mean_needs_the_rows_that_brute_force_finds():
    pilot = system(interval="t")
    half = half_width(pilot) / 2
    spread = half_width(pilot) / stats.t.ppf(0.975, N - 1) * math.sqrt(N)
    n = next(n for n in range(2, 9999) if stats.t.ppf(0.975, n - 1) * spread / n**0.5 <= half)
    plan = plan_evaluation(pilot, half_width=half)
    assert plan.n_units == n
    # The variance may be smaller or larger by the limits of its chi-square law.
    for found, tail in zip(plan.n_units_range, (0.975, 0.025), strict=True):
        own = spread * math.sqrt((N - 1) / stats.chi2.ppf(tail, N - 1))
        n = next(n for n in range(2, 9999) if stats.t.ppf(0.975, n - 1) * own / n**0.5 <= half)
        assert found == n


@pytest.mark.parametrize(
    "make",
    [
        lambda: bootstrap_score(Y, A, random_state=0),
        lambda: bootstrap_score(Y, A, interval="clopper-pearson", n_resamples=99),
        lambda: system(interval="t"),
        lambda: system(interval="normal"),
        lambda: system(interval="t", groups=np.arange(N) // 8),
        lambda: system(interval="t", strata=np.arange(N) % 3),
        several_runs,
        lambda: several_runs("independent"),
        trained_runs,
    ],
)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_pilots_own_width_needs_the_pilots_own_size(make, level):
    pilot = make()
    low, high = pilot.interval(confidence_level=level)
    target = (high - low) / 2 * (1 + 1e-9)
    plan = plan_evaluation(pilot, half_width=target, confidence_level=level)
    assert plan.n_units == pilot.n_units
    assert plan.n_runs == plan.pilot_n_runs
    assert plan.unit == pilot.unit
    assert plan.n_units_range[0] < plan.n_units < plan.n_units_range[1]


@pytest.mark.parametrize(
    ("interval", "twice"), [("bca", 0.5), ("expanded", 0.5), ("studentized", 0.5)]
)
def test_other_intervals_shrink_with_the_square_root(interval, twice):
    pilot = system(interval=interval)
    plan = plan_evaluation(pilot, half_width=twice * half_width(pilot))
    assert plan.n_units == pytest.approx(4 * N, rel=0.12)


def test_runs_and_rows_lessen_the_components_of_the_pilot():
    pilot = several_runs(n_runs=10)
    parts = pilot.variance_components
    plan = plan_evaluation(pilot, half_width=0.15, n_runs=20)
    error = math.sqrt(
        parts["seed"] / 20 + (parts["test"] + parts["interaction"] / 20) / plan.n_units
    )
    assert stats.norm.ppf(0.975) * error < plan.value <= 0.15
    assert plan.value < stats.t.ppf(0.975, 19) * error
    # With any number of rows the runs are left.
    small = plan_evaluation(pilot, half_width=0.9 * plan.value)
    out_of_reach = [row for row in small.table if row.n_units is None]
    assert out_of_reach
    for row in out_of_reach:
        left = stats.t.ppf(0.975, row.n_runs - 1) * math.sqrt(parts["seed"] / row.n_runs)
        # Before that, rows bring degrees of freedom, which can make up for their noise.
        assert 0.9 * plan.value < row.value <= left * (1 + 1e-12)


def test_more_runs_need_fewer_rows():
    plan = plan_evaluation(several_runs(n_runs=10), half_width=0.15)
    needed = [row.n_units for row in plan.table if row.n_units is not None]
    assert needed == sorted(needed, reverse=True)
    assert len(set(needed)) > 2
    row = next(row for row in plan.table if row.n_runs == plan.n_runs)
    assert row.n_units == plan.n_units


def test_where_the_pilots_runs_cannot_do_more_are_planned():
    pilot = several_runs(n_runs=6, deviation=0.5, n=2000)
    parts = pilot.variance_components
    target = 0.7 * stats.t.ppf(0.975, 5) * math.sqrt(parts["seed"] / 6)
    plan = plan_evaluation(pilot, half_width=target)
    assert plan.n_runs == 10
    with pytest.raises(ValueError, match=re.escape("Use more runs (n_runs=)")):
        plan_evaluation(pilot, half_width=target, n_runs=6)


def test_the_part_of_one_training_set_is_out_of_reach():
    pilot = trained_runs()
    plan = plan_evaluation(pilot, half_width=0.95 * half_width(pilot))
    assert any("training set" in note for note in plan.notes)
    with pytest.raises(ValueError, match="Only more training sets"):
        plan_evaluation(pilot, half_width=half_width(pilot) / 50)


# ------------------------------------------------------------------ pairs


def test_the_power_of_a_pair_is_that_of_its_t_interval():
    pair = pair_of_systems()
    plan = plan_evaluation(pair, difference=0.05)
    error = pair.standard_error * math.sqrt(N / (N - 1))

    def power(n):
        shift = 0.05 / (error * math.sqrt(N / n))
        with np.errstate(divide="ignore"):  # scipy 1.11, where the power is near none
            return stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)

    n = next(n for n in range(2, 9999) if power(n) >= 0.8)
    assert plan.n_units == pytest.approx(n, rel=0.01)
    assert plan.value == pytest.approx(power(plan.n_units), abs=0.005)
    assert plan_evaluation(pair, difference=0.05, power=0.95).n_units > plan.n_units
    one_sided = replace(pair, alternative="greater")
    assert plan_evaluation(one_sided, difference=0.05).n_units < 0.85 * plan.n_units


@pytest.mark.parametrize("make", [pair_of_systems, pair_of_runs])
def test_a_margin_is_planned_that_the_verdict_of_the_planned_size_could_show(make):
    pair = make()
    margin = pair.verdict(0.0).detectable_margin
    plan = plan_evaluation(pair, margin=margin)
    # Quantiles of t that are added and the noncentral t differ by a little.
    assert plan.n_units == pytest.approx(pair.n_units, rel=0.02)


def test_the_range_of_a_pair_is_that_of_the_rows_that_tell_it_apart():
    pair = pair_of_systems()
    plan = plan_evaluation(pair, difference=0.05)
    differ = sum(pair._discordant[:2])
    limits = stats.binomtest(differ, N).proportion_ci(0.95, method="wilson")
    for size, share in zip(plan.n_units_range, limits, strict=True):
        assert size == pytest.approx(plan.n_units * share * N / differ, rel=0.01)


def test_systems_with_test_sets_of_their_own_say_whose_size_it_is():
    truth, predicted = {"A": Y, "B": Y[:120]}, {"A": A, "B": B[:120]}
    [pair] = compare_systems(truth, predicted, paired=False, random_state=0).pairs
    plan = plan_evaluation(pair, difference=0.1)
    assert plan.pilot_n_units == 120
    assert any("test sets of their own" in note for note in plan.notes)


def test_units_of_a_pair_are_groups_where_these_were_drawn():
    groups = np.arange(N) // 5
    plan = plan_evaluation(pair_of_systems(groups=groups), difference=0.05)
    assert (plan.unit, plan.pilot_n_units) == ("group", 40)
    assert "groups" in plan.summary()


def test_the_runs_of_a_pair_lessen_their_part():
    pair = pair_of_runs()
    plan = plan_evaluation(pair, difference=0.3, n_runs=30)
    runs, test = (pair.components[name] for name in ("runs", "test"))
    error = math.sqrt(runs * 8 / 30 + test * 150 / plan.n_units)
    assert stats.norm.sf(1.96 - 0.3 / error) == pytest.approx(0.8, abs=0.02)


def test_methods_with_a_test_set_are_pilots():
    X = RNG.normal(size=(N, 3)) + Y[:, None]
    options = {"n_train_resamples": 10, "random_state": 0}
    data = {"X_test": X + 0.1, "y_test": Y}
    fitted = BootstrapScorer(GaussianNB(), n_test_resamples=99, **options).fit(X, Y, **data)
    plan = plan_evaluation(fitted.result_, half_width=0.06)
    assert plan.unit == "row"
    methods = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    result = compare_methods(methods, X, Y, n_test_resamples=99, **options, **data)
    plan = plan_evaluation(result.pairs[0], difference=0.2)
    assert plan.n_units > 1
    with pytest.raises(ValueError, match="'n_runs' parameter of plan_evaluation must be None"):
        plan_evaluation(result.pairs[0], difference=0.2, n_runs=100)


# ------------------------------------------------------------------ cautions


@pytest.mark.parametrize(
    ("make", "unit"),
    [
        (lambda: bootstrap_score(Y[:8], A[:8], random_state=0), "8 rows"),
        (lambda: system(groups=np.arange(N) % 9), "9 groups"),
        (lambda: several_runs(n_runs=5), "5 runs"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # Few rows and groups are warned of.
def test_a_pilot_of_fewer_than_ten_is_met_with_a_caution(make, unit):
    plan = plan_evaluation(make(), half_width=0.2)
    caution = f"The pilot has only {unit} (fewer than 10)"
    assert any(note.startswith(caution) for note in plan.notes)
    assert caution in " ".join(plan.summary().split())


def test_few_rows_that_tell_systems_apart_and_small_plans_are_cautioned_of():
    other = A.copy()
    other[:4] = 1 - other[:4]
    [pair] = compare_systems(Y, {"A": A, "B": other}, random_state=0).pairs
    notes = plan_evaluation(pair, difference=0.05).notes
    assert any("The pilot has only 4 discordant rows for A and B" in note for note in notes)
    notes = plan_evaluation(proportion=0.9, half_width=0.4).notes
    assert any("cover less often" in note for note in notes)


def test_a_pilot_without_errors_says_so_and_its_range_is_wide():
    plan = plan_evaluation(bootstrap_score(Y, Y, random_state=0), half_width=0.01)
    assert any("only hits" in note for note in plan.notes)
    least = stats.binomtest(N, N).proportion_ci(0.95, method="wilson").low
    sizes = [
        next(n for n in range(1, 9999) if beta_half_width(share, n) <= 0.01)
        for share in (1.0, least)
    ]
    assert plan.n_units_range == tuple(sizes)


def test_an_enclosed_half_is_the_share_that_needs_most():
    right = 7 * np.arange(40) % 40 < 18
    pilot = bootstrap_score(Y[:40], np.where(right, Y[:40], 1 - Y[:40]))
    plan = plan_evaluation(pilot, half_width=0.05)
    assert plan.n_units_range[1] == plan_evaluation(proportion=0.5, half_width=0.05).n_units


def test_a_good_pilot_of_one_pair_has_no_caution():
    assert plan_evaluation(pair_of_systems(), difference=0.05).notes == ()


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Give exactly one of the three"),
        ({"half_width": 0.1, "margin": 0.1}, "half_width=0.1 and margin=0.1"),
        ({"half_width": 0.1}, "Got neither"),
        ({"half_width": -0.1, "proportion": 0.9}, "'half_width' .* above 0"),
        ({"half_width": "0.1", "proportion": 0.9}, "'half_width' .* above 0"),
        ({"half_width": True, "proportion": 0.9}, "'half_width' .* above 0"),
        ({"half_width": math.nan, "proportion": 0.9}, "'half_width' .* above 0"),
        ({"half_width": 0.5, "proportion": 0.9}, "below 0.5"),
        ({"half_width": 0.1, "proportion": 90}, r"'proportion' .* in \[0, 1\]"),
        ({"difference": 0.1, "proportion": 0.9}, "give a pair as pilot"),
        ({"half_width": 0.1, "proportion": 0.9, "n_runs": 3}, "None for a pilot without runs"),
        ({"half_width": 0.1, "proportion": 0.9, "confidence_level": 95}, "'confidence_level'"),
        ({"half_width": 0.1, "proportion": 0.9, "power": 1.0}, "'power'"),
        ({"half_width": 0.1, "pilot": "accuracy"}, "Got str"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan_evaluation(**arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (lambda: bootstrap_score(Y, A), {"half_width": 0.1, "proportion": 0.9}, "Got both"),
        (lambda: bootstrap_score(Y, A), {"difference": 0.1}, "be a pair for difference="),
        (lambda: bootstrap_score(Y, A), {"half_width": 0.1, "n_runs": 5}, "without runs"),
        (several_runs, {"half_width": 0.1, "n_runs": 1}, "at least 2"),
        (pair_of_systems, {"half_width": 0.1}, "be an EvaluationResult for half_width="),
        (pair_of_systems, {"margin": 0.0}, "above 0"),
        (
            lambda: replace(pair_of_systems(), alternative="less"),
            {"margin": 0.1},
            "alternative='less'",
        ),
        (lambda: pair_of_runs(greater_is_better=None), {"margin": 0.1}, "larger values"),
        (lambda: pair_of_runs(interval="welch"), {"difference": 0.1}, "test rows fixed"),
        (
            lambda: system(groups=np.stack([np.arange(N) // 10, np.arange(N) % 10], axis=1)),
            {"half_width": 0.1},
            "two crossed factors",
        ),
        (
            lambda: pair_of_systems(groups=np.stack([np.arange(N) // 10, np.arange(N) % 10], 1)),
            {"difference": 0.1},
            "two crossed factors",
        ),
        (
            lambda: bootstrap_runs(
                None, normal_runs(), metric="mean", estimand="next_run", n_resamples=99
            ),
            {"half_width": 0.1},
            "'next_run'",
        ),
        (
            lambda: bootstrap_runs(
                None, normal_runs(), metric="mean", interval="t", n_resamples=99
            ),
            {"half_width": 0.1},
            "interval='components'",
        ),
        (
            lambda: bootstrap_score(Y, A, by=np.arange(N) % 2, n_resamples=99)["gap"],
            {"half_width": 0.1},
            "the largest disparity between subgroups",
        ),
        (
            lambda: (
                BootstrapScorer(GaussianNB(), strategy="oob", n_train_resamples=20)
                .fit(RNG.normal(size=(60, 2)) + Y[:60, None], Y[:60])
                .result_
            ),
            {"half_width": 0.1},
            "stand on a test set",
        ),
        (
            lambda: compare_systems(Y, {"A": A, "B": A}).pairs[0],
            {"difference": 0.1},
            "neither units nor runs vary",
        ),
        (
            lambda: compare_systems(Y, {"A": A, "B": B, "C": 1 - A}),
            {"difference": 0.1},
            r"Give one of its pairs: pilot\.pair\('A', 'B'\)",
        ),
    ],
)
def test_pilots_that_do_not_tell_are_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        plan_evaluation(make(), **arguments)


# ------------------------------------------------------------------ what is shown


def test_a_plan_is_equal_to_what_was_saved(tmp_path):
    plan = plan_evaluation(several_runs(), half_width=0.2)
    plan.save(tmp_path / "plan.npz")
    assert EvaluationPlan.load(tmp_path / "plan.npz") == plan
    assert plan != plan_evaluation(several_runs(), half_width=0.21)


def test_a_frame_has_a_row_per_size():
    pytest.importorskip("pandas")
    plan = plan_evaluation(several_runs(n_runs=10), half_width=0.15)
    frame = plan.to_frame()
    assert list(frame.columns) == ["n_runs", "n_units", "half_width"]
    assert list(frame["n_runs"]) == [row.n_runs for row in plan.table]
    frame = plan_evaluation(pair_of_systems(), difference=0.05).to_frame()
    assert list(frame.columns) == ["n_units", "power"]
    assert frame["power"].is_monotonic_increasing


def test_a_plan_says_what_is_needed_for_what_and_how_surely():
    plan = plan_evaluation(bootstrap_score(Y, A, random_state=0), half_width=0.02)
    low, high = (int(n) for n in plan.n_units_range)
    for text in (plan.summary(), plan.claim(), plan.to_html()):
        assert str(plan.n_units) in text
        assert f"{low} to {high}" in text
    assert str(plan) == f"{plan.n_units} rows for a half-width of 0.02 of the 95% interval"
    checked_html(plan._repr_html_())
    assert f"| {plan.n_units} | 0.02 |" in plan.to_markdown()
    text = plan_evaluation(pair_of_systems(), margin=0.02, power=0.9).claim()
    assert "90% power to pass a margin of 0.02 in accuracy if both are equal" in text


def test_a_range_without_end_is_said_in_words():
    pilot = several_runs(n_runs=4, deviation=0.5, n=2000)
    plan = plan_evaluation(pilot, half_width=1.1 * half_width(pilot))
    assert math.isinf(plan.n_units_range[1])
    assert "or more, without a largest number" in plan.claim()


def test_the_same_pilot_gives_the_same_plan():
    plans = [plan_evaluation(system(interval="t"), half_width=0.1) for _ in range(2)]
    assert plans[0] == plans[1]
    assert_allclose(plans[0].value, 0.1, rtol=0.01)


def test_a_margin_of_areas_is_planned_by_the_interval_that_judges_it():
    rng = np.random.default_rng(0)
    y_true = np.repeat([1, 0], [80, 320])
    scores = rng.normal(size=(2, 400)) + rng.normal(size=400) + 2.5 * y_true
    systems = dict(zip("ab", scores, strict=True))
    [pair] = compare_systems(
        y_true, systems, metric="roc_auc", n_resamples=499, random_state=0
    ).pairs
    plan = plan_evaluation(pair, margin=0.03, power=0.8)

    def power(n_units):
        equal = pair._areas.on_rows(n_units / 400).as_if_equal()
        low, _ = equal.limits(stats.norm.ppf(0.975))
        return stats.t.cdf((0.03 + low) / equal.error, n_units / 5 - 1)

    assert power(plan.n_units) >= 0.8 > power(plan.n_units - 1)
    low, high = plan.n_units_range
    assert low < plan.n_units < high


# ------------------------------------------------------------------ how sure an error is


def test_an_error_that_few_rows_decide_has_few_degrees_of_freedom():
    """By the kurtosis of differences without single rows; those of F1 are its positives."""
    rng = np.random.default_rng(0)
    n = 600
    y = (np.arange(n) < 40).astype(int)
    a, b = (np.where(y == 1, rng.random(n) < 0.7, rng.random(n) < 0.02).astype(int) for _ in "ab")
    [pair] = compare_systems(y, {"a": a, "b": b}, metric="f1", random_state=0).pairs
    kept = ~np.eye(n, dtype=bool)
    without = np.array([f1_score(y[k], a[k]) - f1_score(y[k], b[k]) for k in kept])
    expected = 2 * n / (stats.kurtosis(without, fisher=False) - 1)
    assert pair._error_freedom == pytest.approx(expected, rel=1e-9)
    assert expected < n / 4
    # At twice the rows there are twice as many, and the power is that of Student's t.
    plan = plan_evaluation(pair, margin=0.15)
    error = pair.standard_error * np.sqrt(n / (n - 1) * n / plan.n_units)
    df = expected * plan.n_units / n
    law = stats.nct(df, 0.15 / error) if df < 20 else stats.norm(0.15 / error)
    assert plan.value == pytest.approx(1 - law.cdf(stats.t.ppf(0.975, df)), rel=1e-9)
    assert pair._mirrored()._error_freedom == pair._error_freedom


def test_shares_and_areas_have_closed_forms_and_need_no_such_degrees():
    scores = {"a": A + 0.1 * LOSSES, "b": B + 0.2 * LOSSES}
    for metric, systems in (("accuracy", {"a": A, "b": B}), ("roc_auc", scores)):
        [pair] = compare_systems(Y, systems, metric=metric, random_state=0).pairs
        assert pair._error_freedom is None


def test_normal_losses_have_as_many_degrees_as_rows():
    """A variance of n normal values has n; the standard error of a kurtosis is sqrt(24 / n)."""
    losses = np.random.default_rng(0).normal(size=(2, 5000))
    systems = {"a": 2 + losses[0], "b": 2 + losses[1]}
    [pair] = compare_systems(None, systems, metric="mean", random_state=0).pairs
    assert pair._error_freedom == pytest.approx(5000, rel=4 * np.sqrt(24 / 5000) / 2)


def test_a_plan_in_groups_says_how_many_rows_they_come_to():
    groups = np.arange(N) // 5
    plan = plan_evaluation(system(groups=groups), half_width=0.1)
    assert plan.unit == "group"
    size = f"{plan.n_units} groups (about {5 * plan.n_units} rows)"
    assert f"needed           {size}\n" in plan.summary()
    assert "pilot            40 groups (about 200 rows)\n" in plan.summary()
    assert plan.claim().startswith(f"{size} are expected to give")
    pair = plan_evaluation(pair_of_systems(groups=groups), difference=0.05)
    assert f"{pair.n_units} groups (about {5 * pair.n_units} rows)" in pair.summary()
    assert "(about" not in plan_evaluation(system(), half_width=0.1).summary()
