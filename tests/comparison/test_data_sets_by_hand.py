"""Comparisons over data sets by hand: means, ranks, tests of scipy, tables in any form or order.

Exact but for what is drawn of the joint law of all pairs.
"""

from functools import cache

import numpy as np
import pytest
from identity_cases import close, quiet
from scipy import optimize, stats

import skboot

pytestmark = pytest.mark.identity

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


def reach(own, t, up):
    """Standard errors from the mean to a limit: farther on the side of the long tail (0088)."""
    tail = max((1 if up else -1) * stats.skew(own), 0) / (6 * np.sqrt(len(own)))
    return t + tail * (2 * t**2 + 1)


def limits_by_hand(own, level, side):
    """Limits at a level, by skewness and quantiles of scipy."""
    n = len(own)
    error = own.std(ddof=1) / np.sqrt(n)
    t = stats.t.ppf(1 - (1 - level) / (2 if side == "two-sided" else 1), n - 1)
    low, high = (own.mean() + k * error * reach(own, t, k > 0) for k in (-1, 1))
    return one_sided(low, high, side)


def p_by_hand(own, side):
    """The t at which the nearer limit is 0, by a root, and what is beyond it."""
    n = len(own)
    t = own.mean() / (own.std(ddof=1) / np.sqrt(n))
    towards = {"two-sided": np.sign(t), "greater": 1, "less": -1}[side]
    if towards * t <= reach(own, 0.0, towards < 0):
        return 1.0 if side == "two-sided" else None
    at = optimize.brentq(lambda q: reach(own, q, towards < 0) - abs(t), 0, abs(t) + 1)
    return stats.t.sf(at, n - 1) * (2 if side == "two-sided" else 1)


def one_sided(low, high, side):
    return [-np.inf if side == "less" else low, np.inf if side == "greater" else high]


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
@pytest.mark.parametrize("n", [3, 6, 7, 8, 20])
def test_data_sets_have_students_test_farther_where_the_tail_is_long(n, adjust, side):
    scores = table_of(n)
    for reference in (None, "two"):
        result = across(scores, adjust=adjust, alternative=side, reference=reference)
        tests = []
        for pair in result.pairs:
            own = scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)]
            p_value = p_by_hand(own, side)
            if p_value is None:
                p_value = pair.p_value
                assert p_value >= 0.5
            close(pair.p_value, p_value, 1e-7)
            close([*pair.confidence_interval], limits_by_hand(own, 0.95, side), 1e-7)
            tests.append((own, p_value))
        k = len(tests)
        assert k == (3 if reference is None else 2)
        for pair, adjusted, (own, p_value) in zip(
            result.pairs, holm([p_value for _, p_value in tests]), tests, strict=True
        ):
            if adjust is None:
                assert pair.simultaneous_interval is None
                continue
            wide = limits_by_hand(own, 1 - 0.05 / k, side)
            if adjust == "holm":
                close(pair.p_value_adjusted, adjusted, 1e-7)
                close([*pair.simultaneous_interval], wide, 1e-7)
                continue
            # The joint law is inside Bonferroni's.
            low, high = pair.simultaneous_interval
            assert low <= pair.confidence_interval.low + 1e-9
            assert high >= pair.confidence_interval.high - 1e-9
            assert low >= wide[0] - 1e-9
            assert high <= wide[1] + 1e-9
            assert p_value - 1e-9 <= pair.p_value_adjusted <= min(1, k * p_value) + 1e-9


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [5, 20])
def test_all_pairs_reach_out_to_one_quantile_of_t(n, side):
    scores, level = table_of(n), 0.9
    at = []
    for pair in across(scores, alternative=side, confidence_level=level).pairs:
        own = scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)]
        for up, limit in zip((False, True), pair.simultaneous_interval, strict=True):
            if np.isfinite(limit):
                far = abs(limit - pair.difference) / pair.standard_error
                at.append(
                    optimize.brentq(
                        lambda t, own=own, up=up, far=far: reach(own, t, up) - far, 0, far
                    )
                )
    close(at, np.full(len(at), at[0]), 1e-7)
    single = stats.t.ppf(level + (0.5 - level / 2) * (side == "two-sided"), n - 1)
    assert (
        single
        < at[0]
        <= stats.t.ppf(1 - (1 - level) / (6 if side == "two-sided" else 3), n - 1) + 1e-9
    )


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
        close([same.difference, *same._widest_interval],
              8 * np.array([pair.difference, *pair._widest_interval]), 1e-7)  # fmt: skip
        for negative in (mirrored, other):
            close(negative.difference, -pair.difference)
            close([*negative.confidence_interval], [-x for x in [*pair.confidence_interval][::-1]])
        # The correlations of t statistics are drawn in the order of the pairs.
        rtol = 1e-7 if adjust != "max-t" else 0.05
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
@pytest.mark.parametrize("metric", ["f1", "mean_absolute_error", "accuracy"])
def test_results_of_data_sets_are_the_table_of_their_estimates(metric, estimand):
    """Of these data sets the error is that of their errors, of new ones that of the table."""
    rng = np.random.default_rng(0)
    results, n = {}, 9
    for k in range(n):
        # Few rows tell two systems apart on small data sets: Tango's interval, with no resamples.
        sizes = [14, 80, 500] if metric == "accuracy" else [60, 80, 500]
        y = rng.integers(0, 2, sizes[k % 3] + 5 * k)
        # What is easier for one is not for another: more than the errors tell.
        systems = {
            name: np.where(rng.random(len(y)) < share + rng.uniform(-0.15, 0.15), 1 - y, y)
            for name, share in zip(NAMES, (0.2, 0.3, 0.25), strict=True)
        }
        results[f"set {k}"] = quiet(
            skboot.compare_systems, y, systems, metric=metric, **{**OPTIONS, "n_resamples": 99}
        )
    table = np.array([[one.systems[name].estimate for name in NAMES] for one in results.values()])
    better = metric != "mean_absolute_error"
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
def test_resamples_show_the_support_and_nothing_of_the_interval(kind, side):
    n, level = 24, 0.9
    scores = table_with_ties(n, kind)
    result = across(scores, alternative=side, confidence_level=level)
    again = across(scores, alternative=side, confidence_level=level, random_state=1)
    counts = drawn_data_sets(n)
    for pair, same in zip(result.pairs, again.pairs, strict=True):
        own = scores[:, NAMES.index(pair.first)] - scores[:, NAMES.index(pair.second)]
        drawn = counts @ own / n
        close(pair.bootstrap_support, np.mean(drawn > 1e-12) + np.mean(np.abs(drawn) < 1e-12) / 2)
        assert pair.confidence_interval == same.confidence_interval
        assert pair.p_value == same.p_value
        if own.std() > 1e-12:
            close([*pair.confidence_interval], limits_by_hand(own, level, side), 1e-8, 1e-12)
            continue
        wide = 0.0 if abs(own.mean()) < 1e-12 else np.inf
        assert [*pair.confidence_interval] == one_sided(-wide, wide, side)
        assert pair.p_value == pair.p_value_adjusted == 1


@pytest.mark.parametrize("kind", ["any", "skewed", "heavy"])
def test_one_more_data_set_that_agrees_makes_a_difference_surer(kind):
    """A difference equal to the mean leaves the mean and the skewness term as they are."""
    rng = np.random.default_rng(8)
    for n in (4, 5, 7, 8, 9, 15):
        for _ in range(8):
            own = {"any": rng.normal(1, 1, n), "skewed": rng.exponential(size=n),
                   "heavy": 1 + rng.standard_t(2, n)}[kind]  # fmt: skip
            more = np.append(own, own.mean())
            before, after = (
                across(np.column_stack([x, 0 * x]), methods=["a", "b"], n_resamples=9).pairs[0]
                for x in (own, more)
            )
            assert after.p_value <= before.p_value + 1e-12
            low, high = before.confidence_interval
            assert low - 1e-12 <= after.confidence_interval.low
            assert after.confidence_interval.high <= high + 1e-12


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
        assert one.confidence_interval.method == "skewed-t"
        close([*one.confidence_interval], limits_by_hand(own, 0.9, "two-sided"))
        close([*one.interval("skewed-t", 0.6)], limits_by_hand(own, 0.6, "two-sided"))
        assert one.n_units == n
        assert f"{n} data sets" in one.summary()
        assert "longer on the side of the tail" in one.claim() + one.summary()


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
