"""Grouped scores of which few groups make the variation: score intervals, and what they say."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from sklearn import metrics

from skboot import bootstrap_score, compare_systems
from skboot.results import EvaluationResult

ignore_few = pytest.mark.filterwarnings(
    "ignore:(bootstrap_score|compare_systems). (Only . of|No) .*decision"
)
ignore_caution = pytest.mark.filterwarnings("ignore:(bootstrap_score|compare_systems)")


def errors_in(n_groups, *erring, size=10, n_wrong=1):
    """Truth, predictions and groups; each erring group gets ``n_wrong`` rows wrong."""
    groups = np.repeat(np.arange(n_groups), size)
    truth = np.tile([0, 1], n_groups * size // 2)
    predicted = truth.copy()
    for group in erring:
        rows = np.flatnonzero(groups == group)[:n_wrong]
        predicted[rows] = 1 - predicted[rows]
    return truth, predicted, groups


def wilson(p, n):
    z2 = stats.norm.ppf(0.975) ** 2
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2)))
    return ((p + z2 / (2 * n)) + np.array([-half, half])) / (1 + z2 / n)


def effective_rows(scores, n_rows):
    """Rows of records 0031 and 0091, in a plain loop over groups: right rows and rows of each."""
    p, n, n_groups = sum(scores) / sum(n_rows), sum(n_rows), len(n_rows)
    second = fourth = squares = without = within = 0.0
    for score, size in zip(scores, n_rows, strict=True):
        influence = (score - p * size) / n
        second += influence**2
        fourth += influence**4
        squares += size**2
        without += size**2 * (n / (n - size)) ** 2
        within += score * (size - score) / size
    carriers, equal = second**2 / fourth, n**2 / squares
    z, t = stats.norm.ppf(0.975), lambda df: stats.t.ppf(0.975, df)
    inflation = (n_groups - 1) / n_groups * without / squares
    rows = min(p * (1 - p) / (second * inflation), n)
    # Fleiss and Cuzick (1979), as they write it.
    correlation = np.clip(1 - within / ((n - n_groups) * p * (1 - p)), 0, 1)
    of_any = n / (1 + (squares / n - 1) * correlation)
    rows_or_groups = max(
        rows * (z / t(min(carriers + 2, equal - 1))) ** 2,
        min(rows, equal) * (z / t(equal - 1)) ** 2,
    )
    return min(rows_or_groups, of_any * (z / t(equal - 1)) ** 2)


# ------------------------------------------------------------------ proportions


@ignore_few
@pytest.mark.parametrize("n_groups", [20, 100, 1000])
@pytest.mark.parametrize("n_erring", [1, 2, 3])
def test_a_few_erring_groups_give_wilsons_interval_at_the_effective_size(n_groups, n_erring):
    truth, predicted, groups = errors_in(n_groups, *range(n_erring), n_wrong=4)
    result = bootstrap_score(truth, predicted, groups=groups, n_resamples=199, random_state=0)
    right = np.bincount(groups, truth == predicted)
    n = effective_rows(right, np.bincount(groups))

    assert result.confidence_interval.method == "wilson"
    assert result.confidence_interval[:2] == pytest.approx(wilson(result.estimate, n))
    assert f"Wilson interval with {n:.1f} effective rows" in " ".join(result.summary().split())
    assert f"Wilson interval with {n:.1f} effective rows, {n_groups} groups" in result.claim()


@pytest.mark.filterwarnings("ignore:bootstrap_score. The 20 resampled groups .* equivalent to 8")
def test_unequal_groups_count_as_fewer():
    n_rows = np.array([40, 5, 5, 5, 5] * 4)
    groups = np.repeat(np.arange(20), n_rows)
    truth = np.ones(len(groups), int)
    predicted = np.where((groups == 0) & (np.arange(len(groups)) < 30), 0, 1)
    result = bootstrap_score(truth, predicted, groups=groups, n_resamples=199, random_state=0)
    n = effective_rows(np.bincount(groups, predicted), n_rows)
    assert result.confidence_interval[:2] == pytest.approx(wilson(result.estimate, n))
    assert n < 10


@ignore_few
def test_few_succeeding_groups_mirror_few_erring_ones():
    truth, predicted, groups = errors_in(30, 1, 2, n_wrong=7)
    options = {"groups": groups, "n_resamples": 199, "random_state": 0}
    low, high = bootstrap_score(truth, predicted, **options).confidence_interval
    mirrored = bootstrap_score(truth, 1 - predicted, **options).confidence_interval
    assert mirrored[:2] == pytest.approx((1 - high, 1 - low))


@ignore_few
@pytest.mark.parametrize(
    "metric",
    ["f1", "f1_macro", "balanced_accuracy", "matthews_corrcoef", "precision", "recall", "mean"],
)
def test_no_metric_of_sums_reaches_over_its_whole_range(metric):
    truth, predicted, groups = errors_in(40, 3, 4, n_wrong=2)
    arguments = (None, (truth == predicted)) if metric == "mean" else (truth, predicted)
    result = bootstrap_score(*arguments, metric=metric, groups=groups, random_state=0)
    low, high = result.confidence_interval
    method = result.confidence_interval.method
    assert method == "wilson"
    assert 0.8 < low < result.estimate < high <= 1
    assert "effective rows" in result.claim()


@ignore_few
def test_subgroups_and_compared_systems_have_the_same_guard():
    truth, predicted, groups = errors_in(40, 3, 4, n_wrong=2)
    options = {"groups": groups, "n_resamples": 299, "random_state": 0}
    alone = bootstrap_score(truth, predicted, **options).confidence_interval
    other = np.where(np.arange(len(truth)) % 3, truth, 1 - truth)
    systems = compare_systems(truth, {"a": predicted, "b": other}, **options).systems
    assert systems["a"].confidence_interval == alone

    half = np.where(groups < 20, "first", "second")
    part = groups < 20
    own = bootstrap_score(truth[part], predicted[part], **(options | {"groups": groups[part]}))
    table = bootstrap_score(truth, predicted, by=half, **options)
    assert table["first"].confidence_interval == own.confidence_interval


@ignore_few
def test_the_guard_holds_at_other_levels_and_from_a_file(tmp_path):
    truth, predicted, groups = errors_in(40, 3, 4, n_wrong=2)
    result = bootstrap_score(truth, predicted, groups=groups, random_state=0)
    result.save(tmp_path / "result")
    loaded = EvaluationResult.load(tmp_path / "result")
    assert loaded == result
    assert loaded.claim() == result.claim()
    assert loaded.interval("auto") == result.confidence_interval
    wider = loaded.interval(confidence_level=0.99)
    assert wider.method == "wilson"
    assert 0.7 < wider.low < result.confidence_interval.low
    assert result.confidence_interval.high < wider.high < 1


def test_given_values_that_all_are_ones_are_hits():
    groups = np.repeat(np.arange(20), 10)
    options = {"metric": "mean", "groups": groups, "random_state": 0}
    result = bootstrap_score(None, np.ones(200), **options)
    n = 20 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    assert result.confidence_interval[:2] == pytest.approx(wilson(1.0, n))


@pytest.mark.filterwarnings("ignore:.*this score:UserWarning")
def test_given_resamples_are_used_whatever_the_groups_do():
    truth, predicted, groups = errors_in(40, 3, 4, n_wrong=2)
    resamples = np.random.default_rng(0).integers(0, 400, (99, 400))
    options = {"groups": groups, "resamples": resamples}
    result = bootstrap_score(truth, predicted, **options)
    assert result.confidence_interval == result.interval("expanded")


def test_many_erring_groups_stay_studentized():
    rng = np.random.default_rng(0)
    truth, predicted, groups = errors_in(40)
    predicted = np.where(rng.random(len(truth)) < 0.2, 1 - truth, truth)
    result = bootstrap_score(truth, predicted, groups=groups, random_state=0)
    assert result.confidence_interval.method == "studentized"
    assert result.notes == ()


@ignore_few
def test_a_studentized_interval_that_reaches_the_end_of_the_range_is_replaced():
    # At this level the resamples count that miss all groups with errors.
    truth, predicted, groups = errors_in(20, 0, 1, 2, 3)
    result = bootstrap_score(
        truth, predicted, groups=groups, confidence_level=0.999, n_resamples=1999, random_state=0
    )
    assert result.interval("studentized").uncut[0] == -np.inf
    assert result.confidence_interval.method == "wilson"
    reason = "reaches the end of the range (most of the variation comes from about 6 of"
    assert any(reason in note for note in result.notes)


def test_groups_that_all_have_the_same_score_have_an_interval_of_some_width():
    truth, predicted, groups = errors_in(20, *range(20))
    result = bootstrap_score(truth, predicted, groups=groups, random_state=0)
    n = 200 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 19)) ** 2
    assert result.confidence_interval[:2] == pytest.approx(wilson(0.9, n))
    assert "Every group has the same score" in result.notes[0]


def test_a_score_that_no_resample_moves_is_not_taken_for_groups_that_agree():
    truth, _, groups = errors_in(20, *range(20))
    result = bootstrap_score(
        truth, np.ones_like(truth), metric="matthews_corrcoef", groups=groups, random_state=0
    )
    assert result.confidence_interval[:2] == (0, 0)
    assert "zero width" in result.notes[0]


# ------------------------------------------------------------------ influences


def derivative(metric, truth, predicted, weights, rows):
    """Central difference of scikit-learn's value by the weight of some rows, in percent."""
    up, down = weights.copy(), weights.copy()
    up[rows] *= 1 + 1e-4
    down[rows] *= 1 - 1e-4
    values = [metric(truth, predicted, sample_weight=each) for each in (up, down)]
    return (values[0] - values[1]) / 2e-4


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("accuracy", metrics.accuracy_score),
        ("f1_macro", lambda *a, **k: metrics.f1_score(*a, average="macro", **k)),
        ("balanced_accuracy", metrics.balanced_accuracy_score),
        ("matthews_corrcoef", metrics.matthews_corrcoef),
        ("neg_mean_squared_error", lambda *a, **k: -metrics.mean_squared_error(*a, **k)),
        ("r2", metrics.r2_score),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_influences_of_groups_are_derivatives_by_their_weight(name, function, weighted):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 12, 150)
    truth = rng.integers(0, 3, 150)
    predicted = np.where(rng.random(150) < 0.8, truth, rng.integers(0, 3, 150))
    weights = rng.lognormal(size=150) if weighted else np.ones(150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evidence = bootstrap_score(
            truth,
            predicted,
            metric=name,
            groups=groups,
            sample_weight=weights if weighted else None,
            n_resamples=99,
            random_state=0,
        )._evidence
    expected = [derivative(function, truth, predicted, weights, groups == g) for g in range(12)]
    assert evidence.group_influence == pytest.approx(expected, abs=1e-6)
    assert np.sum(evidence.group_influence**2) == pytest.approx(evidence.standard_error**2)
    assert evidence.group_weight == pytest.approx(np.bincount(groups, weights))
    assert evidence.n_effective_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@ignore_caution
def test_influences_are_centred_within_strata():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(12), 10)
    losses = rng.exponential(size=120) + (groups % 2)
    evidence = bootstrap_score(
        None, losses, metric="mean", groups=groups, strata=groups % 2, random_state=0
    )._evidence
    means = losses.reshape(12, 10).mean(axis=1)
    centres = np.array([means[::2].mean(), means[1::2].mean()])
    assert evidence.group_influence == pytest.approx((means - centres[np.arange(12) % 2]) / 12)


# ------------------------------------------------------------------ losses


def losses_in(n_groups, *erring, size=10, loss=2.0):
    groups = np.repeat(np.arange(n_groups), size)
    losses = np.zeros(len(groups))
    for k, group in enumerate(erring):
        losses[np.flatnonzero(groups == group)[: k + 1]] = loss
    return losses, groups


def score_limits_of_mean(losses, groups, end):
    """Where (m - x)^2 = t^2 v (x - end) / (m - end), found by bisection."""
    size = np.bincount(groups)
    m = losses.mean()
    influence = (np.bincount(groups, losses) - m * size) / len(losses)
    second, fourth = np.sum(influence**2), np.sum(influence**4)
    t2 = stats.t.ppf(0.975, min(second**2 / fourth + 2, len(size) - 1)) ** 2
    variance = second * len(size) / (len(size) - 1)

    def gap(x):
        return (m - x) ** 2 - t2 * variance * (x - end) / (m - end)

    far = m + 100 * np.sign(m - end) * np.sqrt(second)
    return sorted((brentq(gap, end, m), brentq(gap, m, far)))


def test_losses_of_few_groups_have_a_finite_score_interval_and_a_caution():
    losses, groups = losses_in(20, 5, 6)
    with pytest.warns(UserWarning, match="Most of the variation comes from about 2 of the 20"):
        result = bootstrap_score(None, losses, metric="mean", groups=groups, random_state=0)
    assert result.confidence_interval.method == "score"
    expected = score_limits_of_mean(losses, groups, 0.0)
    assert result.confidence_interval[:2] == pytest.approx(expected)
    assert "score interval, 20 groups" in result.claim()
    assert tuple(result.monte_carlo_error) == (0, 0)


@ignore_caution
def test_the_score_interval_moves_with_the_losses():
    losses, groups = losses_in(20, 5, 6)
    options = {"metric": "mean", "groups": groups, "random_state": 0}
    low, high = bootstrap_score(None, losses, **options).confidence_interval
    shifted = bootstrap_score(None, 3 * losses + 7, **options).confidence_interval
    assert shifted[:2] == pytest.approx((3 * low + 7, 3 * high + 7))
    mirrored = bootstrap_score(None, -losses, **options).confidence_interval
    assert mirrored[:2] == pytest.approx((-high, -low))


def test_two_groups_show_no_tail_and_have_students_interval():
    """Their influences mirror each other: which of them is the tail, rounding would decide."""
    losses = np.array([0.3, 0.5, 1.1, 1.9, 2.0, 4.1])
    groups = np.repeat([0, 1], 3)
    means = losses.reshape(2, 3).mean(axis=1)
    low, high = stats.t.interval(0.95, 1, loc=means.mean(), scale=stats.sem(means))
    for sign in (1, -1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bootstrap_score(
                None, sign * losses, metric="mean", groups=groups, random_state=0
            )
        expected = (low, high) if sign > 0 else (-high, -low)
        np.testing.assert_allclose(result.confidence_interval[:2], expected, rtol=1e-9)


@ignore_caution
def test_a_known_end_of_the_range_is_used():
    losses, groups = losses_in(20, 5, 6)
    # No group is without loss, so the lowest group mean is not the end of the range.
    truth, predicted = np.zeros(200), np.sqrt(losses + 0.1)
    options = {"groups": groups, "random_state": 0}
    result = bootstrap_score(truth, predicted, metric=metrics.mean_squared_error, **options)
    expected = score_limits_of_mean(losses + 0.1, groups, 0.0)
    assert result.confidence_interval[:2] == pytest.approx(expected)
    negated = bootstrap_score(truth, predicted, metric="neg_mean_squared_error", **options)
    assert negated.confidence_interval[:2] == pytest.approx((-expected[1], -expected[0]))


@pytest.mark.parametrize(
    ("metric", "undefined"),
    [("mean", 1), ("neg_mean_squared_error", 0), ("neg_root_mean_squared_error", 0), ("r2", 0)],
)
def test_groups_without_any_loss_leave_the_unbounded_limit_undefined(metric, undefined):
    values, groups = np.tile([0.5, 1.5], 100), np.repeat(np.arange(20), 10)
    arguments = (None, np.zeros(200)) if metric == "mean" else (values, values)
    with pytest.warns(UserWarning, match="No group shows any loss") as caught:
        result = bootstrap_score(*arguments, metric=metric, groups=groups, random_state=0)
    assert len(caught) == 1
    limits = result.confidence_interval[:2]
    assert np.isnan(limits[undefined])
    assert limits[1 - undefined] == result.estimate
    reason = f"the {('lower', 'upper')[undefined]} limit is undefined, since nothing in these 20"
    assert reason in " ".join(result.summary().split())
    assert reason in result.claim()
    with pytest.warns(UserWarning, match="No group shows any loss"):
        result.interval("auto", 0.9)
    assert "fewer than two resamples" not in result.summary()


def test_the_reason_of_an_undefined_limit_of_few_groups_is_no_caution_about_coverage():
    with pytest.warns(UserWarning, match="No group shows any loss") as caught:
        result = bootstrap_score(
            None, np.zeros(50), metric="mean", groups=np.arange(50) // 5, random_state=0
        )
    assert len(caught) == len(result.notes) == 1
    summary = " ".join(result.summary().split())
    assert "95% CI undefined: No group shows any loss" in summary
    assert summary.count("No group shows any loss") == 1
    assert "coverage" not in summary


# ------------------------------------------------------------------ few rows


def test_few_rows_of_losses_are_cautioned_like_few_groups():
    losses = np.random.default_rng(0).exponential(size=8)
    with pytest.warns(
        UserWarning, match=r"of the 8 rows decide this score \(fewer than 5\): expect"
    ):
        result = bootstrap_score(None, losses, metric="mean", random_state=0)
    assert any("expect less coverage than stated" in note for note in result.notes)
    # Ties do not make a mean of losses a proportion.
    with pytest.warns(UserWarning, match="of the 6 rows decide"):
        bootstrap_score(None, [1.0, 2.0, 4.0] * 2, metric="mean", random_state=0)


def test_few_rows_that_are_right_or_wrong_need_no_caution():
    truth = np.array([0, 1] * 6)
    result = bootstrap_score(truth, np.r_[1 - truth[:3], truth[3:]], random_state=0)
    assert result.notes == ()
