"""Intervals equal R's on R's own replicates, and formulas equal closed forms."""

import ast
import contextlib
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from skboot import bootstrap_score, compare_systems
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import INTERVALS, confidence_interval, quantile

REFERENCES = Path(__file__).parents[1] / "references"
CASES = ["aircondit_mean", "city_ratio", "accuracy_30", "rmse_25", "auc_40", "cluster_ratio_14"]


def reference(case):
    folder = REFERENCES / "boot" / case
    expected = json.loads((folder / "expected.json").read_text())
    columns = np.genfromtxt(folder / "reps.csv", delimiter=",", names=True)
    return expected, columns


def evidence_of(case):
    expected, columns = reference(case)
    jack = np.array(expected["L_jack"])
    estimate = np.atleast_1d(expected["t0"])
    has_variance = "var" in columns.dtype.names
    return expected, Evidence.of(
        estimate=float(estimate[0]),
        replicates=columns["t"],
        kind="rows",
        n_units=(len(jack),),
        additive=True,
        standard_error=float(np.sqrt(estimate[1])) if has_variance else None,
        replicate_standard_errors=np.sqrt(columns["var"]) if has_variance else None,
        acceleration=float((jack**3).sum() / (6 * (jack**2).sum() ** 1.5)),
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("percentile", "perc"), ("basic", "basic"), ("normal", "norm"), ("studentized", "stud")],
)
def test_limits_equal_those_of_r_boot(case, ours, theirs):
    expected, evidence = evidence_of(case)
    if theirs not in expected:
        assert evidence.replicate_standard_errors is None
        return
    for level, (low, high) in zip(expected["levels"], expected[theirs], strict=True):
        interval = confidence_interval(evidence, ours, level)
        np.testing.assert_allclose(interval[:2], (low, high), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*too few for a quantile:UserWarning")
@pytest.mark.parametrize("case", CASES)
def test_bca_equals_r_boot_once_ties_count_half(case):
    """R counts t* < t0; with its z0 replaced by the half-tie one the limits are these."""
    expected, evidence = evidence_of(case)
    ordered = np.sort(evidence.replicates)
    z0, a = expected["z0_mid"], expected["a_jack"]
    for level in expected["levels"]:
        z = z0 + stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
        levels = stats.norm.cdf(z0 + z / (1 - a * z))
        interval = confidence_interval(evidence, "bca", level)
        wanted = [r_norm_inter(ordered, alpha) for alpha in levels]
        np.testing.assert_allclose(interval[:2], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*too few for a quantile:UserWarning")
@pytest.mark.parametrize("case", ["city_ratio", "rmse_25"])
def test_bca_equals_r_boot_to_the_last_digit_without_ties(case):
    expected, evidence = evidence_of(case)
    assert expected["z0_mid"] == expected["z0_strict"]
    for level, limits in zip(expected["levels"], expected["bca_jack"], strict=True):
        interval = confidence_interval(evidence, "bca", level)
        np.testing.assert_allclose(interval[:2], limits, rtol=1e-9)


def r_norm_inter(ordered, alpha):
    """Davison & Hinkley (1997), equation 5.8, written out for the test."""
    n = len(ordered)
    k = int(np.floor((n + 1) * alpha))
    if k == 0:
        return ordered[0]
    if k >= n:
        return ordered[-1]
    z = stats.norm.ppf([alpha, k / (n + 1), (k + 1) / (n + 1)])
    return ordered[k - 1] + (z[0] - z[1]) / (z[2] - z[1]) * (ordered[k] - ordered[k - 1])


@pytest.mark.parametrize("case", CASES)
def test_quantiles_equal_norm_inter(case):
    expected, columns = reference(case)
    ordered = np.sort(columns["t"])
    found = [quantile(ordered, p) for p in expected["probs"]]
    np.testing.assert_allclose(found, expected["q_norminter"], rtol=1e-12)


def test_quantile_beyond_the_resamples_is_the_extreme_one_with_a_warning():
    with pytest.warns(UserWarning, match="too few for a quantile"):
        assert quantile(np.arange(10.0), 0.01) == 0.0
    with pytest.warns(UserWarning, match="Use n_resamples="):
        assert quantile(np.arange(10.0), 0.995) == 9.0


def test_the_number_of_resamples_that_a_warning_asks_for_is_the_smallest_that_is_enough():
    for level in (0.025, 0.975, 0.00343, 0.9999):
        with pytest.warns(UserWarning, match="too few for a quantile") as caught:
            quantile(np.arange(10.0), level)
        needed = int(str(caught[0].message).partition("Use n_resamples=")[2].split()[0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            quantile(np.arange(float(needed)), level)
        with pytest.warns(UserWarning, match="too few for a quantile"):
            quantile(np.arange(needed - 1.0), level)


@pytest.mark.parametrize("level", [1.7e-72, 6.8e-8, 1 - 6.8e-8])
def test_more_resamples_are_not_asked_for_where_no_practical_number_is_enough(level):
    with pytest.warns(
        UserWarning, match="with so little beyond it: .*No practical number"
    ) as caught:
        quantile(np.arange(1999.0), level)
    assert "Use n_resamples" not in str(caught[0].message)


def test_three_rows_are_not_mended_by_more_resamples():
    result = compare_systems([0, 1, 1], {"A": [0, 1, 0], "B": [1, 1, 1]}, random_state=0)
    assert any("Only 3 rows were compared" in note for note in result.notes)
    assert not any("n_resamples" in note for note in result.notes)


def some_evidence(**changes):
    rng = np.random.default_rng(0)
    facts = {
        "estimate": 0.5,
        "replicates": rng.normal(0.5, 0.1, 1999),
        "kind": "rows",
        "n_units": (100,),
        "additive": True,
        "standard_error": 0.1,
        "replicate_standard_errors": np.full(1999, 0.1),
        "acceleration": 0.0,
    }
    return Evidence.of(**(facts | changes))


@pytest.mark.parametrize(
    "method", ["percentile", "expanded", "basic", "normal", "t", "studentized", "bca"]
)
def test_intervals_nest_by_level_and_hold_the_centre(method):
    evidence = some_evidence()
    inner = confidence_interval(evidence, method, 0.8)
    outer = confidence_interval(evidence, method, 0.95)
    assert outer.low < inner.low < 0.5 < inner.high < outer.high


def test_bca_without_bias_and_acceleration_is_percentile():
    replicates = np.linspace(0, 1, 1999)
    evidence = some_evidence(replicates=replicates, estimate=0.5)
    np.testing.assert_allclose(
        confidence_interval(evidence, "bca")[:2],
        confidence_interval(evidence, "percentile")[:2],
        rtol=1e-12,
    )


def test_expanded_stretches_percentiles_by_the_t_quantile():
    """With n = 10: Phi(sqrt(10/9) t_9(.025)) = 0.00855 (Hesterberg 2015, section 3.3)."""
    ordered = np.sort(some_evidence().replicates)
    interval = confidence_interval(some_evidence(n_units=(10,)), "expanded")
    level = stats.norm.cdf(np.sqrt(10 / 9) * stats.t.ppf(0.025, 9))
    assert level == pytest.approx(0.00855, abs=5e-6)
    assert interval.low == pytest.approx(r_norm_inter(ordered, level))


def test_undefined_replicates_are_left_out_of_quantiles():
    evidence = some_evidence()
    holed = some_evidence(replicates=np.r_[evidence.replicates, np.full(50, np.nan)])
    assert confidence_interval(holed, "percentile") == confidence_interval(evidence, "percentile")


def test_groups_without_spread_in_a_resample_count_as_infinite_pivots():
    errors = np.full(1999, 0.1)
    errors[:100] = 0.0
    replicates = some_evidence().replicates.copy()
    replicates[:100] = 0.7
    rows = some_evidence(replicates=replicates, replicate_standard_errors=errors)
    groups = some_evidence(replicates=replicates, replicate_standard_errors=errors, kind="groups")
    assert np.isfinite(confidence_interval(rows, "studentized").low)
    assert confidence_interval(groups, "studentized").low == -np.inf


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        ("bca", {"kind": "crossed"}, "Use interval='percentile'"),
        ("bca", {"acceleration": None}, "Run again with interval='bca'"),
        ("bca", {"acceleration": np.nan}, "undefined for at least one unit"),
        ("studentized", {"additive": False}, "functions of sums only"),
        ("wilson", {}, "0/1 values"),
        ("delong", {}, "ROC curve of two classes"),
        ("banana", {}, r"'method'.*must be one of \['auto', 'basic'"),
    ],
)
def test_an_interval_that_cannot_be_had_says_why_and_what_to_use(method, changes, message):
    with pytest.raises(ValueError, match=message):
        confidence_interval(some_evidence(**changes), method)


def test_a_name_of_no_interval_leads_to_those_that_the_score_has():
    """Each name that the message lists gives an interval, and no other does."""
    kinds = [{}, {"kind": "crossed"}, {"acceleration": None}, {"additive": False}]
    for evidence in (some_evidence(**changes) for changes in kinds):
        with pytest.raises(ValueError, match="Got 'welch'") as error:
            confidence_interval(evidence, "welch")
        listed = set(ast.literal_eval(re.search(r"\[.*\]", str(error.value))[0]))
        possible = set()
        for name in INTERVALS:
            with contextlib.suppress(ValueError):
                confidence_interval(evidence, name)
                possible.add(name)
        assert listed == {"auto", *possible}


def test_limits_between_two_infinite_pivots_are_infinite_not_undefined():
    """Two groups make half of the pivots infinite; level .025 of 1000 is between two."""
    pivots = np.r_[np.full(250, -np.inf), np.zeros(500), np.full(250, np.inf)]
    assert quantile(pivots, 0.025) == -np.inf
    assert quantile(pivots, 0.975) == np.inf
    assert quantile(np.r_[-np.inf, 0.0, 1.0], 0.3) == -np.inf
    values, groups = np.arange(20.0) ** 2, np.arange(20) // 10
    options = {"metric": "mean", "groups": groups, "n_resamples": 1000, "random_state": 0}
    with pytest.warns(UserWarning, match="Only 2 groups|few"):
        bootstrap_score(None, values, **options)
    result = bootstrap_score(None, values, interval="studentized", **options)
    assert result.confidence_interval[:2] == (-np.inf, np.inf)


@pytest.mark.parametrize("sign", [1, -1])
def test_bca_limits_are_in_order_where_nearly_all_replicates_are_on_one_side(sign):
    """Acceleration 1/6 and bias 3.2: at 99.9% a z is beyond 1, where the formula starts over."""
    rng = np.random.default_rng(0)
    replicates = np.r_[rng.normal(0.0, 0.1, 1998), 0.6]
    evidence = some_evidence(
        estimate=sign * 0.5, replicates=sign * replicates, acceleration=sign * 0.16
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="1999 resamples are too few")
        low, high = confidence_interval(evidence, "bca", 0.999)
    # The level of the far limit is 1, so that it is the extreme replicate.
    far = high if sign > 0 else -low
    assert low < high
    assert far == 0.6


def test_two_rows_have_students_interval_of_their_mean():
    """All resamples with a standard error have the mean itself: there are no pivots to order."""
    low, high = stats.t.interval(0.95, 1, loc=2.0, scale=stats.sem([1.0, 3.0]))
    with pytest.warns(UserWarning, match="About 2 of the 2 rows"):
        result = bootstrap_score(None, [1.0, 3.0], metric="mean", random_state=0)
    np.testing.assert_allclose(result.confidence_interval[:2], (low, high), rtol=1e-12)
    assert not any("zero width" in note for note in result.notes)


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_equal_losses_with_weights_have_no_width_and_the_result_says_so(value):
    """As without weights; the weighted means differ by rounding, or have no standard error."""
    weights = np.random.default_rng(0).random(30)
    with pytest.warns(UserWarning, match="None of the 30 rows moves this score"):
        result = bootstrap_score(
            None, np.full(30, value), metric="mean", sample_weight=weights, random_state=0
        )
    low, high = result.confidence_interval
    assert low == high == pytest.approx(value, rel=1e-12)
    assert "zero width because every resample gave the same value" in result.notes[-1]
    assert "no width" in result.summary()


def test_two_limits_on_one_value_are_not_said_to_be_of_equal_resamples():
    values = np.r_[np.zeros(99), 1.0]
    result = bootstrap_score(
        values, values * 0, metric="accuracy", interval="percentile", n_resamples=999
    )
    with (
        pytest.warns(UserWarning, match="although resamples vary"),
        pytest.warns(UserWarning, match="if it is meant as alpha"),
    ):
        found = result.interval("percentile", 0.01)
    assert found.low == found.high


def test_auto_says_that_too_few_resamples_gave_a_value_instead_of_failing():
    y_true, score = np.arange(20) == 7, np.linspace(0, 1, 20)
    without = np.zeros((2, 20), dtype=int)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        result = bootstrap_score(y_true, score, metric="roc_auc", resamples=without)
    assert result.n_undefined == 2
    assert np.isnan(result.confidence_interval[:2]).all()
    assert "95% CI             undefined: fewer than two resamples gave a value" in result.summary()


def test_two_way_limits_are_percentiles_drawn_in_to_the_mean():
    replicates = np.random.default_rng(7).gamma(4, size=1999)
    known = Evidence.of(4.0, replicates, "crossed", (12, 30), robust_variance=1.3)
    low, high = np.sort(replicates)[[49, 1949]]
    centre = replicates.mean()
    reach = stats.t.ppf(0.975, 11) / stats.norm.ppf(0.975)
    share = reach * np.sqrt(1.3) / replicates.std(ddof=1)
    assert share < 1
    expected = centre + share * (low - centre), centre + share * (high - centre)
    np.testing.assert_allclose(confidence_interval(known, "two-way")[:2], expected, rtol=1e-12)


def test_two_way_limits_are_never_beyond_the_percentiles():
    replicates = np.random.default_rng(8).normal(size=999)
    known = Evidence.of(0.0, replicates, "crossed", (12, 30), robust_variance=9.0)
    assert confidence_interval(known, "two-way")[:2] == confidence_interval(known, "percentile")[:2]
