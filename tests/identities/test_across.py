"""Comparisons over data sets by hand: means, ranks, tests of scipy, tables in any form or order.

Exact but for the studentized intervals, which a loop of resamples gives within an eighth of their
width.
"""

import numpy as np
import pytest
from identity_cases import close, quiet
from scipy import stats

import skboot

OPTIONS = {"n_resamples": 399, "random_state": 0}
SIDES = ("two-sided", "greater", "less")
NAMES = ("one", "two", "three")


def table_of(n, seed=0):
    """Scores of three methods on data sets, of which one is harder than another."""
    rng = np.random.default_rng([seed, n])
    level = rng.gamma(3.0, size=(n, 1))
    return (level + [0.3, 0.0, 0.15] + 0.4 * rng.normal(size=(n, 3))).round(4)


def across(scores, better=True, **options):
    n = len(scores)
    given = {"datasets": [f"set {k}" for k in range(n)], "methods": [*NAMES]}
    options = {"greater_is_better": better, **OPTIONS, **given, **options}
    return quiet(skboot.compare_across, scores, **options)


def holm(p_values):
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(np.sort(p_values) * np.arange(len(p_values), 0, -1)).clip(max=1)
    found = np.empty(len(p_values))
    found[order] = steps
    return found


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("n", [5, 9, 24])
def test_what_data_sets_say_besides_is_said_by_scipy(n, better, side):
    scores = table_of(n)
    result = across(scores, better, margin=0.2, alternative=side)
    differences = np.array([scores[:, a] - scores[:, b] for a, b in ((0, 1), (0, 2), (1, 2))])
    wilcoxon = [stats.wilcoxon(own, alternative=side).pvalue for own in differences]
    close([pair.wilcoxon_p_value for pair in result.pairs], wilcoxon)
    close([pair.wilcoxon_p_value_adjusted for pair in result.pairs], holm(wilcoxon))
    for own, pair in zip(differences, result.pairs, strict=True):
        close(pair.difference, own.mean())
        close(pair.standard_error, own.std(ddof=1) / np.sqrt(n))
        close(pair.standard_deviation, own.std(ddof=1))
        assert pair.between_deviation is None
        ahead = own if better else -own
        close(pair.share_better, np.mean(ahead > 0.2))
        close(pair.share_worse, np.mean(ahead < -0.2))
        close(pair.share_within_margin, np.mean(np.abs(own) <= 0.2))
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    close([*result.friedman], [statistic, p_value])
    ranks = stats.rankdata(-scores if better else scores, axis=1).mean(axis=0)
    found = result.mean_ranks()
    for name, rank in zip(NAMES, ranks, strict=True):
        row = found[name]
        close(row.mean_rank, rank)
        assert 1 <= row.low <= rank <= row.high <= 3
        close(result.systems[name].estimate, scores[:, NAMES.index(name)].mean())
    reach = stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2)
    close(found.critical_difference, reach * np.sqrt(3 * 4 / (6 * n)), 1e-6)


@pytest.mark.parametrize("n", [5, 24])
def test_limits_of_mean_ranks_are_of_the_errors_of_ranks(n):
    """About; exact for few data sets, whose t is Bonferroni's."""
    scores = table_of(n)
    ranks = stats.rankdata(-scores, axis=1)
    found = across(scores).mean_ranks()
    for k, name in enumerate(NAMES):
        own = ranks[:, k]
        more = np.concatenate([own, [1, 1, 3, 3]])
        error = np.sqrt(max(own.var(ddof=1), more.var()) / n)
        bonferroni = stats.t.ppf(1 - 0.05 / 6, n - 1)
        low, high = own.mean() - bonferroni * error, own.mean() + bonferroni * error
        row = found[name]
        if n < 8:
            close([row.low, row.high], [max(low, 1), min(high, 3)], 1e-7)
        else:
            single = stats.t.ppf(0.975, n - 1) * error
            for limit, mean in ((row.low, own.mean()), (row.high, own.mean())):
                if 1 < limit < 3:
                    assert single * (1 - 1e-9) <= abs(limit - mean) <= 1.25 * bonferroni * error


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("adjust", [None, "holm", "max-t"])
def test_few_data_sets_have_students_test(adjust, side):
    scores = table_of(6)
    for reference in (None, "two"):
        result = across(scores, adjust=adjust, alternative=side, reference=reference)
        tests = []
        for pair in result.pairs:
            own = scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)]
            test = stats.ttest_1samp(own, 0.0, alternative=side)
            close(pair.p_value, test.pvalue, 1e-7)
            close([*pair.confidence_interval], [*test.confidence_interval(0.95)], 1e-7)
            tests.append((own, test))
        k = len(tests)
        assert k == (3 if reference is None else 2)
        for pair, adjusted, (own, test) in zip(
            result.pairs, holm([test.pvalue for _, test in tests]), tests, strict=True
        ):
            if adjust is None:
                assert pair.simultaneous_interval is None
                continue
            wide = stats.ttest_1samp(own, 0.0, alternative=side).confidence_interval(1 - 0.05 / k)
            if adjust == "holm":
                close(pair.p_value_adjusted, adjusted, 1e-7)
                close([*pair.simultaneous_interval], [*wide], 1e-7)
                continue
            # The joint law is inside Bonferroni's.
            low, high = pair.simultaneous_interval
            assert low <= pair.confidence_interval.low + 1e-9
            assert high >= pair.confidence_interval.high - 1e-9
            assert low >= wide.low - 1e-9
            assert high <= wide.high + 1e-9
            assert test.pvalue - 1e-9 <= pair.p_value_adjusted <= min(1, k * test.pvalue) + 0.02


def studentized(values, n_resamples, rng):
    """Pivots of resamples of the data sets."""
    drawn = values[rng.integers(0, len(values), (n_resamples, len(values)))]
    error = drawn.std(axis=1, ddof=1) / np.sqrt(len(values))
    return (drawn.mean(axis=1) - values.mean()) / error


@pytest.mark.parametrize("side", SIDES)
def test_intervals_over_data_sets_are_studentized(side):
    scores = table_of(20)
    level = 0.9
    result = across(scores, alternative=side, confidence_level=level, n_resamples=3999)
    rng, tail = np.random.default_rng(1), (1 - level) / (2 if side == "two-sided" else 1)
    pivots = []
    for pair in result.pairs:
        own = scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)]
        pivot = studentized(own, 3999, rng)
        high, low = own.mean() - pair.standard_error * np.quantile(pivot, [tail, 1 - tail])
        found = pair.confidence_interval
        assert np.isinf(found.low) == (side == "less")
        assert np.isinf(found.high) == (side == "greater")
        for limit, expected in ((found.low, low), (found.high, high)):
            assert np.isinf(limit) or abs(limit - expected) < (high - low) / 8
        t = own.mean() / pair.standard_error
        above, below = np.mean(pivot >= t), np.mean(pivot <= t)
        p = {"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}[side]
        assert abs(pair.p_value - p) < 0.03
        pivots.append(own)
    # All pairs reach out to one quantile, or to their own limit where that is farther.
    reach = []
    for pair in result.pairs:
        for k, side_is_there in enumerate((side != "less", side != "greater")):
            far = abs(pair.simultaneous_interval[k] - pair.difference) / pair.standard_error
            near = abs(pair.confidence_interval[k] - pair.difference) / pair.standard_error
            if side_is_there:
                assert far >= near - 1e-9
                reach.append((far, near))
    common = min(far for far, _ in reach)
    assert all(far == pytest.approx(max(common, near), rel=1e-6) for far, near in reach)
    assert len(pivots) == 3


@pytest.mark.parametrize(
    ("adjust", "n"),
    [
        *((None, 20), ("holm", 6), ("max-t", 20)),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in ((None, 6), ("holm", 20), ("max-t", 6))
        ),
    ],
)
def test_a_p_value_over_data_sets_agrees_with_its_interval(adjust, n):
    for seed in range(2):
        scores = table_of(n, seed)
        for side in SIDES:
            for pair in across(scores, alternative=side, adjust=adjust).pairs:
                low, high = pair.confidence_interval
                assert (pair.p_value <= 0.05 + 1e-9) == (low > 0 or high < 0)
                if adjust == "max-t":
                    low, high = pair.simultaneous_interval
                    assert (pair.p_value_adjusted <= 0.05 + 1e-9) == (low > 0 or high < 0)


@pytest.mark.parametrize(
    ("adjust", "n"),
    [
        *((None, 20), ("holm", 6), ("max-t", 20)),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in ((None, 6), ("holm", 20), ("max-t", 6))
        ),
    ],
)
def test_scale_direction_and_order_of_methods_change_only_what_they_must(adjust, n):
    scores = table_of(n)
    one = across(scores, adjust=adjust)
    larger = across(8 * scores + 3, adjust=adjust)
    turned = across(-scores, better=False, adjust=adjust)
    moved = across(scores[:, ::-1], adjust=adjust, methods=[*NAMES[::-1]])
    sides = {"greater": "less", "less": "greater"}
    for pair in one.pairs:
        same = larger.pair(pair.first, pair.second)
        mirrored = turned.pair(pair.first, pair.second)
        other = moved.pair(pair.second, pair.first)
        close([same.difference, *same.widest_interval],
              8 * np.array([pair.difference, *pair.widest_interval]), 1e-7)  # fmt: skip
        for negative in (mirrored, other):
            close(negative.difference, -pair.difference)
            close([*negative.confidence_interval], [-x for x in [*pair.confidence_interval][::-1]])
        # The correlations of t statistics are drawn in the order of the pairs.
        rtol = 1e-7 if n > 8 or adjust != "max-t" else 0.05
        for again in (same, mirrored, other):
            close(again.p_value, pair.p_value, 1e-7)
            close(again.p_value_adjusted, pair.p_value_adjusted, rtol)
            close(again.wilcoxon_p_value, pair.wilcoxon_p_value)
        close(mirrored.bootstrap_support, pair.bootstrap_support)
        close(other.bootstrap_support, 1 - pair.bootstrap_support)
    for side, other in sides.items():
        greater, less = (across(own, alternative=how, adjust=adjust)
                         for own, how in ((scores, side), (-scores, other)))  # fmt: skip
        for pair, same in zip(greater.pairs, less.pairs, strict=True):
            close(same.p_value, pair.p_value)
            close([*same.confidence_interval], [-x for x in [*pair.confidence_interval][::-1]])


def test_tables_of_any_form_are_one_table():
    pandas = pytest.importorskip("pandas")
    scores = table_of(12)
    names = [f"set {k}" for k in range(12)]
    by_name = {
        name: dict(zip(NAMES, row, strict=True)) for name, row in zip(names, scores, strict=True)
    }
    frame = pandas.DataFrame(scores, index=names, columns=[*NAMES])
    one = across(scores)
    for given in (by_name, frame):
        other = across(given, datasets=None, methods=None)
        assert other.datasets == one.datasets == tuple(names)
        for pair, same in zip(one.pairs, other.pairs, strict=True):
            assert same == pair
        np.testing.assert_array_equal(other.scores, one.scores)


@pytest.mark.parametrize("estimand", ["new", "these"])
@pytest.mark.parametrize("metric", ["f1", "mean_absolute_error"])
def test_results_of_data_sets_are_the_table_of_their_estimates(metric, estimand):
    """Of these data sets the error is that of their errors, of new ones that of the table."""
    rng = np.random.default_rng(0)
    results, n = {}, 9
    for k in range(n):
        y = rng.integers(0, 2, 60 + 10 * k)
        systems = {
            name: np.where(rng.random(len(y)) < share, 1 - y, y)
            for name, share in zip(NAMES, (0.2, 0.3, 0.25), strict=True)
        }
        results[f"set {k}"] = quiet(
            skboot.compare_systems, y, systems, metric=metric, **{**OPTIONS, "n_resamples": 99}
        )
    table = np.array([[one.systems[name].estimate for name in NAMES] for one in results.values()])
    better = metric == "f1"
    found = across(results, None, datasets=None, methods=None, estimand=estimand)
    assert found.greater_is_better == better
    np.testing.assert_array_equal(found.scores, table)
    plain = across(table, better)
    for pair, same in zip(plain.pairs, found.pairs, strict=True):
        close(same.difference, pair.difference)
        own = [one.pair(pair.first, pair.second) for one in results.values()]
        errors = np.array([each.standard_error for each in own])
        # The standard error of resamples is too small by the root of df / n.
        errors *= [np.sqrt(e.n_units / (e.n_units - 1)) for e in own]
        spread = pair.standard_deviation
        between = np.sqrt(max(spread**2 - np.mean(errors**2), 0))
        close(same.between_deviation, between, 1e-6, 1e-9)
        if estimand == "new":
            close([*same.confidence_interval], [*pair.confidence_interval], 1e-9)
            close(same.p_value, pair.p_value)
        else:
            error = np.sqrt(np.sum(errors**2)) / n
            close(same.standard_error, error, 1e-6)
            freedom = np.array([each.n_units - 1 for each in own])
            df = np.sum(errors**2) ** 2 / np.sum(errors**4 / freedom)
            half = stats.t.ppf(0.975, df) * error
            close([*same.confidence_interval], [pair.difference - half, pair.difference + half],
                  1e-5)  # fmt: skip
            close(same.p_value, 2 * stats.t.sf(abs(pair.difference) / error, df), 1e-5)
