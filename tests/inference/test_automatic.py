"""What "auto" takes in place of BCa: biased averages over classes, metrics that answer in jumps."""

import warnings
from functools import partial
from typing import get_args

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import EfficiencyWarning, FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics import adjusted_rand_score, f1_score, median_absolute_error, roc_auc_score

from skboot import bootstrap_score
from skboot._base.errors import Note, NoteKind, warn_of
from skboot.inference import ConfidenceInterval
from skboot.inference.automatic import automatic_interval, within_range
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import confidence_interval


def many_classes(n_classes, n_rows, seed=0):
    """Rows of classes, each answered rightly with a probability of its own."""
    rng = np.random.default_rng(seed)
    accuracy = rng.beta(3, 3, size=n_classes)
    y_true = rng.integers(n_classes, size=n_rows)
    wrong = rng.integers(n_classes, size=n_rows)
    return y_true, np.where(rng.random(n_rows) < accuracy[y_true], y_true, wrong)


def score_of(*arguments, **options):
    """Result and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = bootstrap_score(*arguments, random_state=0, **options)
    return result, [str(warning.message) for warning in caught]


def biased(bias, skewed=False, left_out=None, n_resamples=1999):
    """Evidence of 200 rows with replicates off by a share of their standard deviation."""
    levels = (np.arange(n_resamples) + 0.5) / n_resamples
    shape = stats.gamma(4).ppf(levels) if skewed else stats.norm.ppf(levels)
    replicates = (shape - shape.mean()) / shape.std() + bias
    return Evidence.of(0.0, replicates, "rows", (200,), acceleration=0.0, left_out=left_out)


def test_limits_that_rounding_took_beyond_one_end_are_cut_in_order():
    above = 1 + 2e-16
    for limits in ((above, 1.0), (above, above), (-1e-17, -1e-17), (-1e-17, 0.0)):
        cut = within_range(ConfidenceInterval(*limits, 0.95, "percentile"), (0.0, 1.0))
        assert 0 <= cut.low <= cut.high <= 1
        assert tuple(cut) in ((0.0, 0.0), (1.0, 1.0))


# ------------------------------------------------------------------ bias


def test_bias_corrected_is_a_t_interval_about_twice_the_estimate_less_the_mean_replicate():
    replicates = np.random.default_rng(0).gamma(3, size=500)
    evidence = Evidence.of(3.2, replicates, "groups", (12,))
    half = stats.t.ppf(0.95, 11) * replicates.std(ddof=1) * np.sqrt(12 / 11)
    centre = 2 * 3.2 - replicates.mean()
    found = confidence_interval(evidence, "bias-corrected", 0.9)
    np.testing.assert_allclose(found[:2], (centre - half, centre + half), rtol=1e-12)
    assert found.method == "bias-corrected"


@pytest.mark.parametrize("bias", [-2.5, -0.6, 0.6, 2.5])
def test_replicates_that_are_moved_as_a_whole_are_moved_back(bias):
    found = automatic_interval(biased(bias))
    assert found.interval.method == "bias-corrected"
    assert ("errors below" if bias < 0 else "errors above") in found.notes[0].text
    assert sum(found.interval[:2]) / 2 == pytest.approx(-bias, abs=1e-9)


def test_the_jackknife_interval_is_about_the_estimate_less_its_bias_by_the_larger_error():
    replicates = np.random.default_rng(0).gamma(3, size=500)
    spread = replicates.std(ddof=1)
    for error in (0.5 * spread, 2 * spread):
        evidence = Evidence.of(
            3.2, replicates, "rows", (12,), acceleration=0.0, left_out=(0.3, error)
        )
        half = stats.t.ppf(0.95, 11) * max(error, spread) * np.sqrt(12 / 11)
        found = confidence_interval(evidence, "jackknife", 0.9)
        np.testing.assert_allclose(found[:2], (2.9 - half, 2.9 + half), rtol=1e-12)


@pytest.mark.parametrize(
    ("evidence", "method"),
    [
        # Both show a bias.
        (biased(0.6, left_out=(0.7, 1.0)), "jackknife"),
        # Single rows show one that resamples do not.
        (biased(0.4, left_out=(0.55, 1.0)), "jackknife"),
        # Resamples show one that the score does not have.
        (biased(0.3, left_out=(0.0, 1.0)), "jackknife"),
        (biased(0.2, left_out=(0.0, 1.0)), "bca"),
        # In units of the larger error.
        (biased(0.4, left_out=(0.55, 1.15)), "bca"),
        (biased(0.6, skewed=True, left_out=(0.7, 1.0)), "bca"),
        # The levels of BCa run out, whatever the skewness.
        (biased(0.8, skewed=True, left_out=(0.7, 1.0)), "jackknife"),
        (biased(0.8, skewed=True), "bias-corrected"),
    ],
)
def test_what_resamples_and_single_rows_show_of_a_bias_decides(evidence, method):
    found = automatic_interval(evidence)
    assert found.interval.method == method
    texts = [note.text for note in found.notes]
    if method == "jackknife":
        assert sum(found.interval[:2]) / 2 == pytest.approx(-evidence.jackknife_bias[0], abs=1e-9)
        assert "standard errors by the jackknife" in texts[0]


@pytest.mark.parametrize("ratio", [1.1, 1.3])
@pytest.mark.parametrize("bias", [0.0, 0.7])
def test_single_rows_that_decide_more_than_resamples_show_are_warned_of(ratio, bias):
    found = automatic_interval(biased(bias, left_out=(bias, ratio)))
    assert [note.kind for note in found.warnings] == ["caution"] * (ratio > 1.2)
    assert all(f"{ratio:.2g} times" in note.text for note in found.warnings)


@pytest.mark.parametrize(
    ("n_resamples", "ratio", "is_told"),
    [
        # 99 resamples have an error of 7% and those of the study one of 1.6%: 1.2 becomes 1.31.
        (99, 1.25, False), (99, 1.33, True), (199, 1.22, False), (199, 1.29, True),
        (1999, 1.19, False), (1999, 1.21, True), (9999, 1.19, False), (9999, 1.21, True),
    ],
)  # fmt: skip
def test_fewer_resamples_warn_of_single_rows_at_a_larger_ratio(n_resamples, ratio, is_told):
    evidence = biased(0.0, left_out=(0.0, ratio), n_resamples=n_resamples)
    found = automatic_interval(evidence)
    assert any("Leaving out single rows" in note.text for note in found.warnings) == is_told


def test_clusters_that_agree_by_chance_are_not_told_from_chance():
    """Resamples alone told them so in 55 of 100; 97 or more of 100 hold the true 0 at 99%.

    The chance of fewer than 93 is under 1e-4.
    """
    held = {"adjusted_rand_score": 0, "adjusted_mutual_info_score": 0}
    for seed in range(100):
        rows = np.random.default_rng(seed).integers(5, size=(2, 100))
        for metric in held:
            low, high = score_of(*rows, metric=metric, n_resamples=199)[0].confidence_interval
            held[metric] += low <= 0 <= high
    assert min(held.values()) >= 93


@pytest.mark.parametrize("n_labels", [5, 40])
def test_clusters_on_groups_are_left_out_by_group(n_labels):
    """Also where there are as many pairs of labels as rows."""
    rows = np.random.default_rng(2).integers(n_labels, size=(2, 240))
    groups = np.arange(240) // 8
    result, _ = score_of(*rows, metric="adjusted_rand_score", groups=groups, n_resamples=199)
    without = np.array([adjusted_rand_score(*rows[:, groups != k]) for k in range(30)])
    bias = 29 * (without.mean() - result.estimate)
    error = 29 / 30 * np.sqrt(np.sum((without - result.estimate) ** 2))
    np.testing.assert_allclose(result._evidence.jackknife_bias, (bias, error), rtol=1e-9)
    assert result.confidence_interval.method == "jackknife"


@pytest.mark.parametrize("evidence", [biased(-0.4), biased(0.4), biased(0.6, skewed=True)])
def test_little_bias_and_skewed_replicates_keep_bca(evidence):
    found = automatic_interval(evidence)
    assert found.interval.method == "bca"
    assert found.notes == ()


def test_a_thousand_classes_print_the_estimate_its_bias_and_the_corrected_one():
    y_true, y_pred = many_classes(1000, 4000)
    result, said = score_of(y_true, y_pred, metric="f1_macro", n_resamples=499)
    low, high = result.confidence_interval
    method = result.confidence_interval.method
    assert method == "jackknife"
    assert result.estimate == pytest.approx(f1_score(y_true, y_pred, average="macro"))
    bias = result._evidence.jackknife_bias[0]
    corrected = result.estimate - bias
    assert result.estimate < low < corrected < high
    assert any("does not contain the estimate" in note for note in result.notes)
    for text in (result.summary(), result.claim(), str(result)):
        assert f"{result.estimate:.3f}" in text
        assert f"{corrected:.3f}" in text
    assert f"corrected for a bias of {bias:.3f}" in result.claim()
    assert len(said) == 1
    assert "rows of each class decide this score (fewer than 8)" in said[0]
    # A name does not silence it.
    named, _ = score_of(y_true, y_pred, metric="f1_macro", n_resamples=499, interval="percentile")
    assert any("does not contain the estimate" in note for note in named.notes)
    with pytest.warns(UserWarning, match="does not contain the estimate"):
        result.interval("percentile")


def test_percentiles_of_groups_are_moved_back_as_well():
    y_true, y_pred = many_classes(60, 600)
    macro = partial(f1_score, average="macro", zero_division=0)
    result, _ = score_of(
        y_true,
        y_pred,
        metric=lambda y, p: macro(y, p),
        groups=np.arange(600) // 10,
        n_resamples=99,
    )
    assert result.confidence_interval.method == "bias-corrected"


# Sizes of classes, and whether they are too small for an average over classes.
@pytest.mark.parametrize(
    ("sizes", "few"),
    [([20] * 10, False), ([6] * 40, True), ([200, 150, 48, 2], True), ([100, 50, 30, 20], False)],
)
def test_few_rows_in_the_classes_that_decide_are_a_caution(sizes, few):
    rng = np.random.default_rng(0)
    y_true = np.repeat(np.arange(len(sizes)), sizes)
    y_pred = np.where(rng.random(len(y_true)) < 0.7, y_true, rng.permutation(y_true))
    for metric in ("f1_macro", "balanced_accuracy"):
        _, said = score_of(y_true, y_pred, metric=metric, n_resamples=99)
        assert any("of each class decide this score" in text for text in said) == few
        weights = np.full(len(y_true), 0.5)
        options = {"metric": metric, "n_resamples": 99, "sample_weight": weights}
        _, said = score_of(y_true, y_pred, **options)
        assert any("of each class decide this score" in text for text in said) == few
    for metric in ("accuracy", "f1_weighted", "matthews_corrcoef"):
        _, said = score_of(y_true, y_pred, metric=metric, n_resamples=99)
        assert not any("of each class" in text for text in said)


# ------------------------------------------------------------------ jumps


def residuals(n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth, truth + rng.standard_t(4, size=n)


QUANTILES = {
    "median_absolute_error": median_absolute_error,
    "median": lambda y, p: np.median(y - p),
    "upper decile": lambda y, p: np.quantile(abs(y - p), 0.9),
}
SMOOTH = {
    "correlation": lambda y, p: np.corrcoef(y, p)[0, 1],
    "root": lambda y, p: np.sqrt(np.mean((y - p) ** 2)),
    "share": lambda y, p: np.mean(abs(y - p) < 0.7),
    "area": lambda y, p: roc_auc_score(y > 0, p),
    "trimmed": lambda y, p: stats.trim_mean(y - p, 0.1),
}


@pytest.mark.parametrize("name", QUANTILES)
@pytest.mark.parametrize("n", [30, 101])
def test_functions_of_quantiles_are_given_expanded_percentiles_and_a_note(name, n):
    for seed in range(2):
        result, _ = score_of(*residuals(n, seed), metric=QUANTILES[name], n_resamples=499)
        assert result.confidence_interval.method == "expanded"
        assert any("as a median does" in note for note in result.notes)


def test_functions_of_several_quantiles_are_found_but_by_chance():
    """The jackknife agrees with the spread in one of seven: five or more of ten are 1 in 100."""
    found = [
        score_of(
            *residuals(60, seed),
            metric=lambda y, p: np.median(abs(y - p - np.median(y - p))),
            n_resamples=199,
        )[0].confidence_interval.method
        for seed in range(10)
    ]
    assert found.count("expanded") >= 6


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_callables_keep_bca(name):
    result, said = score_of(*residuals(60, 1), metric=SMOOTH[name], n_resamples=499)
    assert result.confidence_interval.method == "bca"
    assert all("rows decide this score" in text for text in (*result.notes, *said))


def test_callables_of_labels_keep_bca():
    rng = np.random.default_rng(0)
    y_true = rng.integers(3, size=90)
    y_pred = np.where(rng.random(90) < 0.6, y_true, rng.integers(3, size=90))
    for metric in (lambda y, p: np.mean(y == p), lambda y, p: f1_score(y == 1, p == 1)):
        result, _ = score_of(y_true, y_pred, metric=metric, n_resamples=199)
        assert result.confidence_interval.method == "bca"


def test_no_interval_is_promised_for_a_largest_error():
    result, said = score_of(
        *residuals(50, 0), metric=lambda y, p: np.max(abs(y - p)), n_resamples=199
    )
    assert any("no bootstrap interval attains its nominal coverage" in text for text in said)
    assert result.confidence_interval.method == "expanded"


def test_what_is_known_of_jumps_and_classes_is_saved(tmp_path):
    median, _ = score_of(*residuals(40, 0), metric=median_absolute_error, n_resamples=99)
    macro, _ = score_of(*many_classes(30, 90), metric="f1_macro", n_resamples=99)
    for result in (median, macro):
        result.save(tmp_path / "result")
        again = type(result).load(tmp_path / "result")
        assert again == result
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert again.interval("auto", 0.9) == result.interval("auto", 0.9)


def test_the_kind_of_a_note_decides_whether_it_is_a_warning_and_of_which_category():
    text = "Only one sentence, whatever it says."
    warned = {"few": UserWarning, "caution": UserWarning, "resamples": UserWarning}
    warned |= {"undefined": UndefinedMetricWarning, "failed": FitFailedWarning}
    warned |= {"slow": EfficiencyWarning}
    for kind in get_args(NoteKind):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_of([Note(kind, text), Note(kind, text)], "judge")
        categories = [one.category for one in caught]
        assert categories == ([warned[kind]] if kind in warned else [])
        assert {str(one.message) for one in caught} <= {f"judge: {text}"}


# ------------------------------------------------------------------ means of values of both signs


def t_by_hand(values, level=0.95):
    """Student's t with the term of skewness (Johnson 1978), outwards alone; record 0088."""
    n, skewness = len(values), stats.skew(values)
    q = stats.t.ppf(0.5 + level / 2, n - 1)
    more = abs(skewness) * (2 * q**2 + 1) / (6 * np.sqrt(n))
    below, above = (q + more, q) if skewness < 0 else (q, q + more)
    error = stats.sem(values)
    return values.mean() - below * error, values.mean() + above * error


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", ["normal", "t", "exponential"])
def test_values_of_both_signs_get_t_farther_on_the_side_of_the_tail(law, seed):
    rng = np.random.default_rng(seed)
    values = {
        "normal": rng.normal(size=40),
        "t": rng.standard_t(2, size=40),
        "exponential": rng.exponential(size=40) - 1,
    }[law]
    result, _ = score_of(None, values, metric="mean")
    assert result.confidence_interval.method == "skewed-t"
    assert tuple(result.confidence_interval) == pytest.approx(t_by_hand(values))
    mirrored, _ = score_of(None, -values, metric="mean")
    low, high = mirrored.confidence_interval
    assert (-high, -low) == pytest.approx(tuple(result.confidence_interval))
    assert tuple(result.interval("skewed-t", 0.8)) == pytest.approx(t_by_hand(values, 0.8))


def test_losses_have_one_sign_and_keep_equal_tails():
    errors = np.random.default_rng(0).normal(size=40)
    given, _ = score_of(None, abs(errors), metric="mean")
    metric, _ = score_of(np.zeros(40), errors, metric="mean_absolute_error")
    assert given.confidence_interval == metric.confidence_interval
    assert given.confidence_interval.method == "studentized"
    by_name, _ = score_of(None, abs(errors), metric="mean", interval="skewed-t")
    assert tuple(by_name.confidence_interval) == pytest.approx(t_by_hand(abs(errors)))


def test_skewness_of_what_is_no_sum_is_not_known():
    with pytest.raises(ValueError, match="functions of sums only"):
        bootstrap_score([0, 1] * 20, np.arange(40), metric="roc_auc", interval="skewed-t")
