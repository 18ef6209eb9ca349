"""Comparisons over data sets by hand: means, ranks, tests of scipy, tables in any form or order.

Exact but for the studentized intervals, which a loop of resamples gives within an eighth of their
width.
"""

from functools import cache

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
        turned = result.pair(pair.second, pair.first)
        assert (turned.share_better, turned.share_worse) == (pair.share_worse, pair.share_better)
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
@pytest.mark.parametrize("n", [4, 9])
def test_a_difference_that_never_varies_takes_holms_largest_step(n, side):
    """Exact: Holm's steps are of the p-values that the pairs show, whatever they are."""
    scores = table_of(n)
    scores[:, 1] = scores[:, 0] - 0.25
    result = across(scores, adjust="holm", alternative=side)
    assert result.pair("one", "two").p_value == 1
    shown = np.array([pair.p_value for pair in result.pairs])
    close([pair.p_value_adjusted for pair in result.pairs], holm(shown))


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
        y = rng.integers(0, 2, [60, 80, 500][k % 3] + 5 * k)
        # What is easier for one is not for another: more than the errors tell.
        systems = {
            name: np.where(rng.random(len(y)) < share + rng.uniform(-0.15, 0.15), 1 - y, y)
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
        assert between > 0
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


# ------------------------------------------------------------------ exact, from the draws


@cache
def drawn_data_sets(n):
    """How often each resample holds each data set, by methods that are right on one alone."""
    result = quiet(
        skboot.compare_across, np.eye(n), datasets=[f"set {k}" for k in range(n)],
        methods=[f"{k}" for k in range(n)], greater_is_better=True, **OPTIONS
    )  # fmt: skip
    counts = n * np.transpose([one.bootstrap_distribution for one in result.systems.values()])
    close(counts, counts.round(), 1e-9, 1e-9)
    close(counts.sum(axis=1), np.full(len(counts), n))
    return counts.round()


def at_rank(values, level):
    n = len(values)
    return np.sort(values)[min(max(int(np.ceil((n + 1) * level - 1e-9)), 1), n) - 1]


def table_with_ties(n, kind):
    scores = table_of(n, 7)
    if kind == "ties":
        scores = scores.round(0)
    if kind == "always first":
        scores[:, 0] = scores.max(axis=1) + 0.1 + 0.01 * np.arange(n) % 0.07
    if kind == "always apart":
        scores[:, 1] = scores[:, 0] - 0.25
    if kind == "equal":
        scores[:, 1] = scores[:, 0]
    return scores


def one_sided(low, high, side):
    return [-np.inf if side == "less" else low, np.inf if side == "greater" else high]


TABLES = ("any", "ties", "always first", "always apart", "equal")


def error_of_ranks(ranks, weights):
    """Standard errors of mean ranks, not below those with two more of the ends each."""
    n, m = ranks.shape
    more = np.vstack([ranks, np.full((2, m), 1.0), np.full((2, m), float(m))])
    own = np.append(weights, np.ones(4))
    found = []
    for k in range(m):
        mean, padded = np.average(ranks[:, k], weights=weights), np.average(more[:, k], weights=own)
        variance = np.average((ranks[:, k] - mean) ** 2, weights=weights) * n / (n - 1)
        found.append(max(variance, np.average((more[:, k] - padded) ** 2, weights=own)) / n)
    return np.sqrt(found)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(("n", "level"), [(6, 0.95), (8, 0.8), (13, 0.95)])
def test_mean_ranks_reach_out_to_the_largest_deviation_of_the_draws(kind, n, level):
    scores = table_with_ties(n, kind)
    ranks = stats.rankdata(-scores, axis=1)
    mean, error = ranks.mean(axis=0), error_of_ranks(ranks, np.ones(n))
    reach = stats.t.ppf(1 - (1 - level) / 6, n - 1)
    if n >= 8:
        far = [
            np.abs(np.average(ranks, weights=counts, axis=0) - mean) / error_of_ranks(ranks, counts)
            for counts in drawn_data_sets(n)
        ]
        reach = max(at_rank(np.max(far, axis=1), level), stats.t.ppf(0.5 + level / 2, n - 1))
    found = across(scores, confidence_level=level, adjust=None).mean_ranks()
    assert found.n_datasets == n
    for k, name in enumerate(NAMES):
        row = found[name]
        limits = np.clip([mean[k] - reach * error[k], mean[k] + reach * error[k]], 1, 3)
        close([row.mean_rank, row.low, row.high], [mean[k], *limits], 1e-9)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("side", SIDES)
def test_studentized_intervals_are_at_ranks_of_the_draws(kind, side):
    n, level = 24, 0.9
    scores = table_with_ties(n, kind)
    result = across(scores, alternative=side, confidence_level=level)
    counts = drawn_data_sets(n)
    tail = (1 - level) / (2 if side == "two-sided" else 1)
    named = [
        (pair, scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)])
        for pair in result.pairs
    ]
    pivots, alone = {}, {}
    for pair, own in named:
        mean, error = own.mean(), own.std(ddof=1) / np.sqrt(n)
        drawn = counts @ own / n
        close(pair.bootstrap_support, np.mean(drawn > 1e-12) + np.mean(np.abs(drawn) < 1e-12) / 2)
        if error < 1e-12:
            wide = 0.0 if abs(mean) < 1e-12 else np.inf
            assert [*pair.confidence_interval] == one_sided(-wide, wide, side)
            assert pair.p_value == pair.p_value_adjusted == 1
            continue
        squares = np.sum(counts * (own - drawn[:, None]) ** 2, axis=1) / n
        spread = np.sqrt(squares / (n - 1))
        pivot = (drawn - mean) / spread
        low = mean - error * at_rank(pivot, 1 - tail)
        high = mean + error * at_rank(-pivot, 1 - tail)
        alone[pair.first, pair.second] = low, high
        close([*pair.confidence_interval], one_sided(low, high, side), 1e-8)
        t = mean / error
        above = (1 + np.sum(pivot >= t * (1 - np.sign(t) * 1e-10))) / (len(pivot) + 1)
        below = (1 + np.sum(pivot <= t * (1 + np.sign(t) * 1e-10))) / (len(pivot) + 1)
        p = {"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}[side]
        close(pair.p_value, p)
        pivots[pair.first, pair.second] = pivot
    towards = {"two-sided": np.abs, "greater": lambda x: x, "less": lambda x: -x}[side]
    largest = np.max([towards(pivot) for pivot in pivots.values()], axis=0)
    for pair, own in named:
        if (pair.first, pair.second) not in pivots:
            continue
        mean, error = own.mean(), own.std(ddof=1) / np.sqrt(n)
        low, high = alone[pair.first, pair.second]
        half = at_rank(largest, level) * error
        low, high = one_sided(min(low, mean - half), max(high, mean + half), side)
        close([*pair.simultaneous_interval], [low, high], 1e-8)
        joint = (1 + np.sum(largest >= towards(mean / error) - 1e-9)) / (len(largest) + 1)
        close(pair.p_value_adjusted, max(pair.p_value, joint))


@pytest.mark.parametrize("n", [6, 24])
def test_a_method_over_data_sets_has_its_mean_and_its_own_interval(n):
    scores = table_of(n)
    result = across(scores, confidence_level=0.9, adjust=None)
    for k, name in enumerate(NAMES):
        one, own = result.systems[name], scores[:, k]
        error = own.std(ddof=1) / np.sqrt(n)
        close([one.estimate, one.standard_error], [own.mean(), error])
        half = stats.t.ppf(0.95, n - 1) * error
        close([*one.interval("t")], [own.mean() - half, own.mean() + half])
        half = stats.t.ppf(0.8, n - 1) * error
        close([*one.interval("t", 0.6)], [own.mean() - half, own.mean() + half])
        assert one.confidence_interval.method == ("t" if n < 8 else "studentized")
        assert one.n_units == n
        assert f"{n} data sets" in one.summary()
        words = "t interval over the data sets" if n < 8 else "studentized"
        assert words in one.claim() + one.summary()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_signed_ranks_with_ties_are_of_all_signs(side, seed):
    rng = np.random.default_rng(seed)
    own = rng.integers(-2, 5, 9) / 2
    scores = np.column_stack([own, np.zeros(9), own + 1])
    [pair, *_] = across(scores, alternative=side, adjust=None).pairs
    kept = own[own != 0]
    ranks = stats.rankdata(np.abs(kept))
    sums = np.array([ranks[list(signs)].sum() for k in range(2 ** len(kept))
                     for signs in [[bool(k >> j & 1) for j in range(len(kept))]]])  # fmt: skip
    found = ranks[kept > 0].sum()
    above, below = np.mean(sums >= found), np.mean(sums <= found)
    p = {"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}[side]
    close(pair.wilcoxon_p_value, p)
