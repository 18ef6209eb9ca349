"""The "cv-bootstrap" interval and its influence functions: definitions, guards, coverage."""

import numpy as np
import pytest
from method_error_problems import drawn, nearest_mean_scores
from scipy import stats as moments
from scipy.special import expit, logit
from scipy.stats import beta, binom, norm
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from skboot.inference import prediction_error
from skboot.inference.proportions import score_limits
from skboot.method_error.cv_bootstrap import (
    auc_error_influence,
    cross_validated_variance,
    cv_bootstrap,
    group_influence,
    limits_on_scale,
    mover_limits,
    share_of_training,
)

Z = norm.ppf(0.975)


def out_of_fold_losses(rng, x, y, n_repeats=5):
    rows, losses = np.arange(len(y)), []
    for _ in range(n_repeats):
        fold = rng.permutation(len(y)) % 10
        scores = nearest_mean_scores(x, y, (fold != np.arange(10)[:, None]).astype(int))
        losses.append((scores[fold, rows] > 0) != y)
    return np.array(losses, dtype=float)


@pytest.fixture
def problem():
    """Losses of 120 models on 40 rows, their counts, out-of-fold losses."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = 0.8 * y[:, None] + rng.normal(size=(40, 2))
    weights = drawn(rng, 120, 40)
    losses = ((nearest_mean_scores(x, y, weights) > 0) != y).astype(float)
    return losses, weights, out_of_fold_losses(rng, x, y)


def pieces(losses, weights, cv_losses):
    outside = np.where(weights == 0, losses, np.nan)
    scores = np.nanmean(outside, axis=1)
    centred = cv_losses - cv_losses.mean(axis=1, keepdims=True)
    return cv_losses.mean(), centred, weights, scores, outside - scores[:, None]


# Definition ------------------------------------------------------------------------------------


def test_variances_are_those_of_their_definition(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    result = cv_bootstrap(centre, cv, counts, scores, influence)
    n_resamples, n = counts.shape
    assert result.variance_cv == pytest.approx(np.mean([np.var(line, ddof=1) for line in cv]) / n)
    assert result.variance_cv_averaged == pytest.approx(np.var(cv.mean(axis=0), ddof=1) / n)
    mean_influence = np.nanmean(influence, axis=0)
    residual, sampling = np.empty(n_resamples), np.empty(n_resamples)
    for b in range(n_resamples):
        rows = counts[b] == 0
        residual[b] = scores[b] - scores.mean() - mean_influence[rows].mean()
        sampling[b] = np.var(influence[b, rows] - mean_influence[rows], ddof=1) / rows.sum()
    expected = max(0, residual.var(ddof=1) - sampling.mean())
    assert result.variance_training == pytest.approx(expected)
    total = 0.0
    for i in range(n):
        products = (counts[:, i] - counts[:, i].mean()) * (residual - residual.mean())
        total += (cv[:, i].mean() / n + products.mean()) ** 2
        total -= products.var(ddof=1) / n_resamples
    assert result.variance_jackknife == pytest.approx(total)
    largest = max(total, result.variance_cv + expected, result.standard_error**2)
    assert result.standard_error_conservative == pytest.approx(np.sqrt(largest))


def percentile(values, share):
    """Linear interpolation between order statistics, counted from 0."""
    ordered, at = sorted(values), share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def defined_error(
    centre, cv, counts, scores, influence, resubstitution=None, *, share=None, seed_variance=0.0
):
    """Standard error of "cv-bootstrap", in plain loops."""
    used = [b for b in range(len(scores)) if np.isfinite(scores[b])]
    n, first = counts.shape[1], percentile(scores[used], 0.25)
    median, third = percentile(scores[used], 0.5), percentile(scores[used], 0.75)
    low, high = first - 1.5 * (third - first), third + 1.5 * (third - first)
    factor = {}
    for b in used:
        factor[b] = 1.0
        if third > first and scores[b] < low:
            factor[b] = (low - median) / (scores[b] - median)
        if third > first and scores[b] > high:
            factor[b] = (high - median) / (scores[b] - median)
    moved = {b: median + factor[b] * (scores[b] - median) for b in used}
    mean_of = []
    for i in range(n):
        outside = [b for b in used if counts[b, i] == 0]
        total = sum(factor[b] * influence[b, i] for b in outside)
        mean_of.append(total / len(outside) if outside else 0.0)
    residual, noise = {}, []
    for b in used:
        rows = [i for i in range(n) if counts[b, i] == 0]
        residual[b] = moved[b] - sum(mean_of[i] for i in rows) / len(rows)
        if len(rows) > 1:
            own = [factor[b] * influence[b, i] - mean_of[i] for i in rows]
            noise.append(np.var(own, ddof=1) / len(rows) + seed_variance)
    middle = sum(residual.values()) / len(used)
    residual = {b: residual[b] - middle for b in used}
    repeats = len(cv)
    averaged = [sum(cv[r][i] for r in range(repeats)) / repeats for i in range(n)]
    test = sum(np.var(cv[r], ddof=1) for r in range(repeats)) / repeats / n
    floor = np.var(averaged, ddof=1) / n
    covariance = 0.0
    for i in range(n):
        mean_count = sum(int(counts[b, i]) for b in used) / len(used)
        products = [(counts[b, i] - mean_count) * residual[b] for b in used]
        covariance += 2 / n * averaged[i] * sum(products) / len(used)
    of_samples = list(residual.values())
    spread = (percentile(of_samples, 0.75) - percentile(of_samples, 0.25)) / 1.349
    robust = max(0.0, spread**2 - percentile(noise, 0.5))
    left, cap = 1.0, np.inf
    if resubstitution is not None:
        between = (resubstitution + centre) / 2
        if centre <= resubstitution:
            left = 0.0
        elif not (median <= between or centre >= median):
            left = ((centre - between) / (median - between)) ** 2
        cap = (np.sqrt(test) + max(centre - resubstitution, 0.0) / 2) ** 2
    left = left if share is None else share
    total = test + left * robust + np.sqrt(left) * max(covariance, 0.0)
    return np.sqrt(max(floor, min(cap, total)))


@pytest.mark.parametrize("resubstitution", [0.1, 0.02, 0.9, None])
def test_the_standard_error_is_that_of_its_definition(problem, resubstitution):
    given = pieces(*problem)
    known = {} if resubstitution is None else {"resubstitution": resubstitution}
    expected = defined_error(*given, resubstitution)
    assert cv_bootstrap(*given, **known).standard_error == pytest.approx(expected)


def test_the_standard_error_is_that_of_its_definition_where_training_samples_explode(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    rng = np.random.default_rng(7)
    times = np.exp(rng.exponential(size=120) ** 3)[:, None]
    given = (centre, cv, counts, scores * times[:, 0], influence * times)
    given[3][:5] = np.nan
    result = cv_bootstrap(*given, resubstitution=0.05)
    assert result.standard_error == pytest.approx(defined_error(*given, 0.05))
    assert result.n_beyond_fences > 10
    assert result.standard_error_conservative > 100 * result.standard_error


def test_the_noise_of_seeds_is_no_spread_between_training_samples(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    noisy = scores + np.random.default_rng(5).normal(scale=0.1, size=len(scores))
    given = centre, cv, counts, noisy, influence
    apart, together = cv_bootstrap(*given, seed_variance=0.005), cv_bootstrap(*given)
    assert together.variance_training - apart.variance_training == pytest.approx(0.005)
    assert apart.standard_error == pytest.approx(defined_error(*given, seed_variance=0.005))
    assert apart.standard_error < 0.9 * together.standard_error
    assert apart.variance_jackknife == together.variance_jackknife


def test_training_samples_add_at_most_half_of_the_optimism(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    noise = np.random.default_rng(5).normal(scale=0.3, size=len(scores))
    given = (centre, cv, counts, scores + noise, influence)
    test = np.sqrt(np.mean([np.var(line, ddof=1) for line in cv]) / 40)
    free = cv_bootstrap(*given)
    assert free.variance_cap == np.inf
    for optimism in (0.0, 0.04):
        found = cv_bootstrap(*given, resubstitution=centre - optimism)
        assert found.variance_cap == pytest.approx((test + optimism / 2) ** 2)
        assert found.standard_error <= test + optimism / 2 + 1e-12
        assert found.standard_error < free.standard_error
    # Where models do better on other rows than on their own, the test rows alone count.
    odd = cv_bootstrap(*given, resubstitution=centre + 0.2)
    assert odd.standard_error == pytest.approx(test)


def test_the_conservative_interval_is_at_least_as_wide(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    # Samples without a unit that is hard to judge do worse: all of the covariance, no spread left.
    harm = 0.01 * counts @ cv.mean(axis=0)
    for factor in (0.3, 1.0, 3.0):
        given = (centre, cv, counts, factor * scores + harm, factor * influence)
        found = cv_bootstrap(*given)
        assert found.standard_error_conservative >= found.standard_error
        assert found.standard_error == pytest.approx(defined_error(*given))
        assert found.covariance_training > 0


@pytest.mark.parametrize(("high", "heavy"), [(1.0, True), (np.inf, False), (np.inf, True)])
def test_skewed_losses_without_a_bound_have_fewer_degrees_of_freedom(problem, high, heavy):
    _, _, counts, scores, influence = pieces(*problem)
    cv = np.random.default_rng(3).normal(size=(2, 40))
    cv[:, 0] += 8.0 * heavy
    result = cv_bootstrap(0.3, cv, counts, scores, influence, bounds=(0, high))
    kurtosis = moments.kurtosis(cv.mean(axis=0), fisher=False)
    worth = 39 if np.isfinite(high) else min(39, max(6, 2 * 40 / (kurtosis - 1)))
    assert result.degrees_of_freedom == pytest.approx(worth)
    assert (worth < 20) == (high > 1 and heavy)
    for method in ("cv-bootstrap", "cv-bootstrap-conservative"):
        reach = student.ppf(0.975, worth) * result.standard_error_of(method) / 0.3
        limit = result.interval(method=method).high
        if high == 1:
            # The smallest limit of points from .3 on.
            points, half = np.linspace(0.3, 0.5, 200_001), reach * 0.3
            limits = logit(points) + half / (points * (1 - points))
            assert logit(limit) == pytest.approx(limits.min())
            continue
        scaled = np.log(limit / 0.3) if high > 1 else (logit(limit) - logit(0.3)) * 0.7
        assert scaled == pytest.approx(reach)


def test_fewer_resamples_than_were_studied_have_a_caution_beside_the_same_formula(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    few = (centre, cv, counts[:25], scores[:25], influence[:25])
    found = cv_bootstrap(*few, resubstitution=0.1)
    assert found.standard_error == pytest.approx(defined_error(*few, 0.1))
    [note] = found.interval_with_notes().notes
    assert "25 resamples are too few" in note.text
    assert note.is_warning


@pytest.mark.parametrize(
    ("seed", "high"),
    [
        (1, 1.0),
        pytest.param(2, 1.0, marks=pytest.mark.slow),
        (3, np.inf),
        pytest.param(4, np.inf, marks=pytest.mark.slow),
    ],
)
def test_the_monte_carlo_error_is_that_of_fresh_bootstrap_samples(seed, high):
    rng = np.random.default_rng(seed)
    y = np.arange(50) % 2
    x = 0.8 * y[:, None] + rng.normal(size=(50, 2))
    cv = out_of_fold_losses(rng, x, y) if high == 1 else rng.exponential(size=(5, 50))
    centred = cv - cv.mean(axis=1, keepdims=True)

    def found(n_resamples):
        counts = drawn(rng, n_resamples, 50)
        scores = nearest_mean_scores(x, y, counts)
        losses = (scores > 0) != y if high == 1 else (scores / 2 - y) ** 2
        _, _, counts, scores, influence = pieces(losses.astype(float), counts, cv)
        centre, bounds = cv.mean(), (0, high)
        result = cv_bootstrap(centre, centred, counts, scores, influence, bounds=bounds)
        return np.ptp(result.interval()), *result.half_width_errors()

    few, many = (np.transpose([found(n) for _ in range(150)]) for n in (100, 400))
    # The standard deviation of 150 widths has an error of 6%. What is told is of first order, and
    # of other numbers of samples a guess.
    assert few[1].mean() == pytest.approx(few[0].std() / few[0].mean(), rel=0.3)
    assert few[2].mean() == pytest.approx(many[0].std() / many[0].mean(), rel=0.5)


def test_no_sample_moves_an_interval_that_the_guard_decides():
    counts = drawn(np.random.default_rng(0), 100, 20)
    zeros = np.zeros((100, 20))
    result = cv_bootstrap(0.0, zeros[:5], counts, zeros[:, 0], zeros, guard="proportion")
    assert np.isnan(result.monte_carlo_errors).all()
    losses = np.random.default_rng(1).random((2, 20)) < 0.5
    cv = losses - losses.mean(axis=1, keepdims=True)
    narrow = cv_bootstrap(losses.mean(), cv, counts, 0.5 + zeros[:, 0], zeros, guard="proportion")
    assert narrow.half_width_errors() == (0, 0)


def test_limits_too_large_for_a_float_have_no_monte_carlo_error(problem):
    _, cv, counts, scores, influence = pieces(*problem)
    result = cv_bootstrap(1e-4, cv, counts, scores, influence, bounds=(0, np.inf))
    assert result.interval().high == np.inf
    assert np.isnan(result.half_width_errors()).all()


def test_a_pooled_centre_keeps_all_of_the_training_variance(problem):
    given = pieces(*problem)
    result = cv_bootstrap(*given, resubstitution=0.1, pooled=True)
    assert result.training_share == 1.0
    assert result.standard_error == pytest.approx(defined_error(*given, 0.1, share=1.0))


def test_the_share_of_the_training_variance_follows_the_learning_curve():
    assert share_of_training(0.1, 0.3, 0.4) == pytest.approx((0.1 / 0.2) ** 2)
    assert share_of_training(0.1, 0.3, 0.3) == 1.0  # the curve is flat
    assert share_of_training(0.1, 0.3, 0.19) == 1.0  # below half way: no learning curve
    assert share_of_training(0.3, 0.3, 0.4) == 0.0  # nothing is learnt beyond the training rows
    assert share_of_training(0.1, 0.3, 5.0) == pytest.approx((0.1 / 4.8) ** 2)


def test_a_wide_interval_says_that_training_samples_are_the_reason(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    usual = cv_bootstrap(centre, cv, counts, scores, influence, resubstitution=0.1)
    assert not usual.interval_with_notes().notes
    times = np.exp(np.random.default_rng(7).exponential(size=120) ** 3)[:, None]
    wide = cv_bootstrap(
        centre, cv, counts, scores * times[:, 0], influence * times, bounds=(0, 1e9)
    )
    for method in ("cv-bootstrap", "cv-bootstrap-conservative"):
        assert wide.is_unstable(method)
        found = wide.interval_with_notes(method=method)
        assert "bootstrap samples are unstable" in found.notes[-1].text
        assert "on all units the method may be steadier" in found.notes[-1].text
        assert f"{wide.n_beyond_fences} of 120 give outliers" in found.notes[-1].text
        assert found.interval.method == method


def test_limits_that_the_guard_decides_are_not_said_to_be_wide_for_training_samples():
    # One of 400 rows is wrong in one of 100 samples; Wilson's limits of no error are far wider.
    rng = np.random.default_rng(0)
    counts = rng.multinomial(400, np.full(400, 1 / 400), size=100)
    scores = np.where(np.arange(100) == 0, 1 / 150, 0.0)
    influence = np.zeros((100, 400))
    influence[0, 0] = 1.0
    found = cv_bootstrap(
        0.0, np.zeros((5, 400)), counts, scores, influence, bounds=(0, 1), guard="proportion"
    )
    method = "cv-bootstrap-conservative"
    assert found.is_unstable(method)
    made = found.interval_with_notes(method=method)
    assert "unstable" not in " ".join(note.text for note in made.notes)
    low, high = made.interval
    assert (low, high) == pytest.approx(score_limits(0.0, 400, norm.ppf(0.975)), abs=1e-12)


def test_squares_too_large_for_a_float_leave_the_narrower_interval_finite(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    huge = np.where(np.arange(120) < 10, 1e200, 1.0)[:, None]
    given = (centre, cv, counts, scores * huge[:, 0], influence * huge)
    result = cv_bootstrap(*given, bounds=(0, np.inf), resubstitution=0.1)
    expected = defined_error(*given, 0.1)
    assert result.standard_error == pytest.approx(expected)
    assert result.interval().high < 20
    assert tuple(result.interval(method="cv-bootstrap-conservative")) == (0.0, np.inf)


def test_prediction_error_uses_the_general_entry(problem):
    losses, weights, cv_losses = problem
    result = prediction_error(
        losses,
        weights,
        resubstitution_losses=losses[0],
        no_information_rate=0.5,
        cv_losses=cv_losses,
    )
    general = cv_bootstrap(*pieces(*problem), guard="proportion", resubstitution=losses[0].mean())
    np.testing.assert_allclose(result.cv.standard_error, general.standard_error)
    for method in ("cv-bootstrap", "cv-bootstrap-conservative"):
        np.testing.assert_allclose(result.interval(method), general.interval(method=method))
        assert result.interval(method).method == method


def test_grouped_losses_are_ratios_of_group_sums():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(15), rng.integers(1, 5, size=15))
    n = len(groups)
    of_groups = drawn(rng, 100, 15)
    weights = of_groups[:, groups]
    losses, cv_losses = rng.random((100, n)), rng.random((2, n))
    result = prediction_error(
        losses,
        weights,
        resubstitution_losses=losses[0],
        no_information_rate=0.5,
        groups=groups,
        cv_losses=cv_losses,
    )
    scores, influence = np.empty(100), np.full((100, 15), np.nan)
    for b in range(100):
        rows = weights[b] == 0
        scores[b] = losses[b, rows].mean()
        of_rows = losses[b, rows] - scores[b]
        present = np.unique(groups[rows])
        influence[b, present] = group_influence(of_rows, groups[rows], 15)[present]
    cv = group_influence([line - line.mean() for line in cv_losses], groups, 15)
    full = losses[0].mean()
    general = cv_bootstrap(
        cv_losses.mean(), cv, of_groups, scores, influence, n_rows=n, resubstitution=full
    )
    expected = defined_error(cv_losses.mean(), cv, of_groups, scores, influence, full)
    assert result.cv.standard_error == pytest.approx(expected)
    for name in ("variance_cv", "variance_training", "variance_jackknife", "standard_error"):
        np.testing.assert_allclose(getattr(result.cv, name), getattr(general, name))
    assert result.cv.n_effective == 15
    np.testing.assert_allclose(result.interval("cv-bootstrap"), general.interval())


def test_influence_may_be_read_in_columns(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    whole = cv_bootstrap(centre, cv, counts, scores, influence)
    parts = cv_bootstrap(centre, cv, counts, scores, lambda columns: influence[:, columns])
    assert parts == whole


def test_resamples_without_a_score_are_left_out_and_counted(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    rest = cv_bootstrap(centre, cv, counts[9:], scores[9:], influence[9:])
    scores[:9] = np.nan
    some = cv_bootstrap(centre, cv, counts, scores, influence)
    assert some.standard_error == rest.standard_error
    assert "9 of 120 resamples" in some.notes[0]
    assert not some.cautions


def test_few_resamples_leave_the_jackknife_out(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    few = cv_bootstrap(centre, cv, counts[:25], scores[:25], influence[:25])  # 4 sqrt(40) = 25.3
    assert np.isnan(few.variance_jackknife)
    made = few.interval_with_notes(method="cv-bootstrap-conservative")
    assert "use at least 26, better 52" in made.notes[-1].text
    assert made.notes[-1].is_warning
    assert few.notes == few.cautions
    assert len(few.notes) == 1
    expected = max(few.standard_error**2, few.variance_cv + few.variance_training)
    assert few.standard_error_conservative == pytest.approx(np.sqrt(expected))
    assert not np.isnan(
        cv_bootstrap(centre, cv, counts[:26], scores[:26], influence[:26]).variance_jackknife
    )


def test_heavy_tails_are_said(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    assert not cv_bootstrap(centre, cv, counts, scores, influence, bounds=(0, np.inf)).notes
    cv[:, 0] = 50
    heavy = cv_bootstrap(centre, cv, counts, scores, influence, bounds=(0, np.inf))
    assert "heavy-tailed" in heavy.notes[0]
    assert heavy.cautions == heavy.notes


# Scales and guards -----------------------------------------------------------------------------


def test_limits_on_the_logit_scale_are_symmetric_and_clipped():
    low, high = limits_on_scale(0.2, 0.05, 2.0, (0, 1), 50)
    odds = np.log(0.25) + np.array([-1, 1]) * 2 * 0.05 / (0.2 * 0.8)
    np.testing.assert_allclose((low, high), 1 / (1 + np.exp(-odds)))
    np.testing.assert_allclose(limits_on_scale(0.8, 0.05, 2.0, (0, 1), 50), (1 - high, 1 - low))
    np.testing.assert_allclose(
        limits_on_scale(-0.6, 0.1, 2.0, (-1, 1), 50), (2 * low - 1, 2 * high - 1)
    )
    assert limits_on_scale(0.005, 0.01, 2.0, (0, 1), 50)[0] == 0
    assert limits_on_scale(0.995, 0.01, 2.0, (0, 1), 50)[1] == 1


def test_a_better_point_with_the_same_standard_error_has_no_worse_limit():
    # Before, a point of .0005 with a standard error of .005 had the limit .99.
    points = np.append(0.0, np.geomspace(1e-6, 0.4, 200))
    for error in (1e-4, 0.005, 0.05, 0.2):
        found = np.array([limits_on_scale(p, error, 1.96, (0, 1), 600) for p in points])
        assert (np.diff(found, axis=0) >= -1e-12).all()
        free = np.array([limits_on_scale(p, error, 1.96, (0, 1), 10**9)[1] for p in points[1:]])
        grid = np.geomspace(1e-6, 0.5, 100_001)
        plain = expit(logit(grid) + 1.96 * error / (grid * (1 - grid)))
        least = np.minimum.accumulate(plain[::-1])[::-1]
        np.testing.assert_allclose(free, least[np.searchsorted(grid, points[1:])], rtol=1e-3)
        # Where the normal interval does not reach the bound nothing changes.
        apart = points[1:] > 1.96 * error
        steps = 1.96 * error / (points[1:] * (1 - points[1:]))
        np.testing.assert_allclose(free[apart], expit(logit(points[1:]) + steps)[apart])


def test_a_standard_error_of_five_thousandths_reaches_no_third_of_the_range():
    low, high = limits_on_scale(-1.0, 0.005, 1.964, (-1, 0), 600)
    assert (low, high) == (-1, pytest.approx(-1 + np.e * 1.964 * 0.005, rel=0.02))
    mirrored = limits_on_scale(1.0, 0.005, 1.964, (0, 1), 600)
    assert mirrored == pytest.approx((-high, -low))


def test_limits_on_the_log_scale_stay_on_their_side_of_the_bound():
    low, high = limits_on_scale(2.0, 0.5, 2.0, (0, np.inf), 50)
    np.testing.assert_allclose((low, high), 2 * np.exp([-0.5, 0.5]))
    mirrored = limits_on_scale(-2.0, 0.5, 2.0, (-np.inf, 0), 50)
    np.testing.assert_allclose(mirrored, (-high, -low))
    assert limits_on_scale(0.0, 0.5, 2.0, (0, np.inf), 50) == (0.0, 1.0)


def test_limits_without_bounds_are_symmetric():
    assert limits_on_scale(1.0, 0.5, 2.0, (-np.inf, np.inf), 50) == (0.0, 2.0)


def test_interval_is_t_on_the_scale_of_the_bounds(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    result = cv_bootstrap(centre, cv, counts, scores, influence, n_effective=12)
    expected = limits_on_scale(centre, result.standard_error, student.ppf(0.95, 11), (0, 1), 12)
    np.testing.assert_allclose(result.interval(0.9), expected)


def test_wilson_limits_solve_the_score_equation():
    for share, n in ((0.1, 20), (0.5, 7), (0.0, 12)):
        for limit in score_limits(share, n, Z):
            assert (share - limit) ** 2 == pytest.approx(Z**2 * limit * (1 - limit) / n)


def test_proportion_guard_holds_wilson(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    tight = (centre, cv * 0.01, counts, scores * 0 + scores.mean(), influence * 0)
    low, high = cv_bootstrap(*tight, guard="proportion").interval()
    # Little variance asks for more rows than there are: clipped to all of them.
    np.testing.assert_allclose((low, high), score_limits(centre, 40, Z))
    bare = cv_bootstrap(*tight).interval()
    assert low < bare.low < bare.high < high


def test_balanced_guard_holds_the_class_rates(problem):
    _, cv, counts, scores, influence = pieces(*problem)
    rates, sizes = np.array([0.05, 0.9]), np.array([180, 10])
    tight = (rates.mean(), cv * 0.01, counts, scores * 0, influence * 0)
    result = cv_bootstrap(*tight, guard="balanced", class_errors=rates, class_sizes=sizes)
    np.testing.assert_allclose(result.interval(), mover_limits(rates, sizes, Z))


def test_mover_limits_of_one_class_are_wilsons():
    rate, size = np.array([0.3]), np.array([25])
    np.testing.assert_allclose(mover_limits(rate, size, Z), score_limits(0.3, 25, Z))


def test_mover_limits_cover_a_rare_class():
    # Exact coverage, all outcomes of 20 and 200 rows weighted by their probability.
    true, sizes = np.array([0.85, 0.03]), np.array([20, 200])
    first, second = np.arange(21), np.arange(201)
    chance = np.outer(binom.pmf(first, 20, 0.85), binom.pmf(second, 200, 0.03))
    covered = np.zeros(chance.shape)
    for i, j in np.argwhere(chance > 1e-7):
        low, high = mover_limits(np.array([i / 20, j / 200]), sizes, Z)
        covered[i, j] = low <= true.mean() <= high
    assert 0.94 < (covered * chance).sum() < 0.99


@pytest.mark.parametrize("centre", [0.0, 1.0])
def test_no_spread_at_a_bound_gives_the_exact_limit_for_no_event(centre):
    counts = drawn(np.random.default_rng(2), 50, 20)
    zeros = np.zeros((50, 20))
    result = cv_bootstrap(centre, zeros[:3], counts, zeros[:, 0] + centre, zeros, n_effective=8)
    low, high = result.interval()
    width = beta.ppf(0.975, 1, 8)  # Clopper-Pearson, none of 8
    np.testing.assert_allclose((low, high), (0, width) if centre == 0 else (1 - width, 1))
    assert "8 independent units" in result.interval_with_notes().notes[-1].text


def test_no_spread_between_the_bounds_still_has_width():
    # A constant prediction: balanced error is one half in every resample.
    counts = drawn(np.random.default_rng(3), 50, 20)
    zeros = np.zeros((50, 20))
    result = cv_bootstrap(0.5, zeros[:3], counts, zeros[:, 0] + 0.5, zeros)
    low, high = result.interval()
    np.testing.assert_allclose((low, high), score_limits(0.5, 20, Z))


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ((0.1, 0.2, 0.25), 0.25),
        ((0.1, 0.2, 0.2), 1),
        ((0.1, 0.2, 0.1), 1),
        ((0.2, 0.2, 0.3), 0),
        ((np.nan, 0.2, 0.3), 1),
    ],
)
def test_less_of_the_spread_holds_the_faster_the_error_falls(errors, expected):
    np.testing.assert_allclose(share_of_training(*errors), expected)
    # Errors of scores that are turned, such as 1 - accuracy and -accuracy, differ by a constant.
    np.testing.assert_allclose(share_of_training(*(error - 1 for error in errors)), expected)


def test_the_variance_of_a_difference_is_that_of_its_definition(problem):
    centre, cv, counts, scores, influence = pieces(*problem)
    change = cv + np.random.default_rng(2).normal(scale=0.2, size=cv.shape)
    scores = scores + 0.05 * counts @ cv.mean(axis=0)
    one = cv_bootstrap(centre, change, counts, scores, influence)
    test = np.mean([np.var(line, ddof=1) for line in change]) / 40
    floor, left_out = np.var(change.mean(axis=0), ddof=1) / 40, 0.3 * one.variance_jackknife
    for share, optimism in ((1.0, np.inf), (0.4, np.inf), (0.4, 0.02), (0.4, 0.0)):
        total = left_out + share * (one.variance_jackknife - left_out)
        expected = max(floor, min((np.sqrt(test) + optimism / 2) ** 2, total))
        found = cross_validated_variance(
            change, counts, scores, influence, left_out=left_out, share=share, optimism=optimism
        )
        assert found == pytest.approx(expected)
        assert (found < total) == np.isfinite(optimism)


# Influence functions ---------------------------------------------------------------------------


def check_influence(metric, value, influence):
    """Influence is the slope of the metric towards a sample of that unit alone."""
    n = len(influence)
    assert value == pytest.approx(metric(np.ones(n)))
    assert influence.mean() == pytest.approx(0, abs=1e-12)
    for row in range(n):
        step = 1e-6 * n * (np.eye(n)[row] - 1 / n)
        slope = (metric(1 + step) - metric(1 - step)) / 2e-6
        assert influence[row] == pytest.approx(slope, abs=1e-6)


@pytest.fixture
def labelled():
    rng = np.random.default_rng(4)
    y = np.tile([0, 0, 1], 6)
    return y, np.round(y + rng.normal(size=18), 1)


def test_influence_of_auc_error_is_that_of_scikit_learns_score_with_ties(labelled):
    y, score = labelled
    assert len(np.unique(score)) < len(score)

    def metric(weight):
        return 1 - roc_auc_score(y, score, sample_weight=weight)

    check_influence(metric, *auc_error_influence(y == 1, score))


def test_the_area_of_one_class_has_undefined_influence():
    value, influence = auc_error_influence([True, True], [0.1, 0.2])
    assert np.isnan(value)
    assert np.isnan(influence).all()


def test_influence_of_groups_is_the_derivative_of_the_ratio():
    rng = np.random.default_rng(5)
    groups, losses = np.array([0, 0, 0, 1, 2, 2]), rng.random(6)

    def metric(weight):
        return np.average(losses, weights=weight[groups])

    influence = group_influence(losses - losses.mean(), groups, 3)
    check_influence(metric, losses.mean(), influence)


# Coverage --------------------------------------------------------------------------------------


def test_interval_covers_the_methods_error():
    # 300 samples of 60 rows, nearest-mean classifier, 200 resamples and 5 x 10 folds; measured
    # coverage 97 to 98% in 600. At a true 97%, 93% or less has a chance of 1 in 3000.
    rng = np.random.default_rng(6)

    def sample(n):
        y = rng.integers(2, size=n)
        return 0.7 * y[:, None] * (np.arange(5) < 3) + rng.normal(size=(n, 5)), y

    limits, truth = [], []
    for _ in range(300):
        (x, y), (x_new, y_new) = sample(60), sample(4000)
        weights = drawn(rng, 200, 60)
        losses = (nearest_mean_scores(x, y, weights) > 0) != y
        high, low = x[y == 1].mean(axis=0), x[y == 0].mean(axis=0)
        new = x_new @ (high - low) > (high @ high - low @ low) / 2
        truth.append(np.mean(new != y_new))
        result = prediction_error(
            losses,
            weights,
            resubstitution_losses=losses[0],
            no_information_rate=0.5,
            cv_losses=out_of_fold_losses(rng, x, y),
        )
        limits.append(result.interval("cv-bootstrap"))
    low, high = np.transpose(limits)
    assert np.mean((low <= np.mean(truth)) & (np.mean(truth) <= high)) > 0.93
