"""Several runs, and strata: what is said twice of them, and what a closed form of numpy says.

A score that is a mean of row values has the limits, by every estimand, of "mean" on these values.
The components are those of the analysis of variance; strata lose a degree of freedom each, in the
test variance (n / (n - H), DESIGN 4.7 and record 0005) and in the quantile of t. An interval over
the runs alone has the error of their scores, and says that it holds the test rows fixed.
"""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from identity_cases import (
    OPTIONS,
    PRODUCTS,
    call_of,
    close,
    freedom_by_hand,
    means_of,
    quiet,
    scored,
    spread_of,
)
from scipy.special import ndtri, stdtrit

import skboot

pytestmark = pytest.mark.identity

# Intervals by estimand; those of one system are of test_means.
ASKED = (
    *(("method", "auto"), ("method", "components"), ("method", "t")),
    *(("next_run", "auto"), ("next_run", "components"), ("pooled", "percentile")),
    *(("system", "percentile"), ("system", "t"), ("system", "normal")),
)
# The rows of `all_limits`, two for each of these, that use no resamples of independent rows.
ALIKE = slice(0, 2 * 5)
NAMES = ("neg mse", "accuracy", "neg error", "pinball")
TRAINED = np.repeat(["first", "second", "third"], 2)


def runs_of(y_true, y_preds, **options):
    return quiet(skboot.bootstrap_runs, y_true, y_preds, **{**OPTIONS, **options})


def compared(y_true, methods, **options):
    return quiet(skboot.compare_runs, y_true, methods, **{**OPTIONS, **options})


def all_limits(result):
    """Limits by each estimand and each of its intervals."""
    return np.array(
        [
            [*quiet(result.interval, method, level, estimand=estimand)]
            for estimand, method in ASKED
            for level in (0.8, 0.95)
        ]
    )


def turned(limits):
    return -np.asarray(limits)[..., ::-1]


def assert_same_runs(one, other, rtol=1e-7):
    close(one.estimate, other.estimate)
    close(one.standard_error, other.standard_error, rtol)
    components = [[*result.variance_components.values()] for result in (one, other)]
    assert [*one.variance_components] == [*other.variance_components]
    close(*components, rtol)
    close(all_limits(one), all_limits(other), rtol, 1e-9)


def values_of_runs(n_runs=6, n=40, seed=0, scale=0.3):
    """Values of rows: of the row, the run and both."""
    rng = np.random.default_rng(seed)
    own = scale * rng.normal(size=(n_runs, 1))
    return 4 + own + rng.normal(size=n) + 0.7 * rng.normal(size=(n_runs, n))


def n_strata(columns):
    return len(np.unique(columns["strata"])) if "strata" in columns else 1


VARIED = {
    "seed": {},
    "independent": {},
    "training": {"full_runs": values_of_runs(3, seed=1)},
    "both": {"full_runs": values_of_runs(2, seed=1), "training": TRAINED},
}
each_varied = pytest.mark.parametrize("varied", VARIED)
DESIGNS = {
    "rows": {},
    "weights": {"sample_weight": np.arange(40) % 7 / 2 + 0.5},
    "groups": {"groups": np.arange(40) * 7 % 40 // 3},
    "strata": {"strata": np.arange(40) % 4},
    "groups in strata": {"groups": np.arange(40) // 2, "strata": np.arange(40) // 2 % 3},
}
each_design = pytest.mark.parametrize("design", DESIGNS)


# ------------------------------------------------------------------ a score and its values


@pytest.mark.parametrize(("design", "weighted"), PRODUCTS)
@pytest.mark.parametrize("name", NAMES)
def test_runs_of_a_score_have_the_limits_of_its_values_by_every_estimand(name, design, weighted):
    call = call_of(name, design, weighted)
    y_preds = [call.y_pred, *(call.other() for _ in range(3))]
    values = [means_of(call, run)[0] for run in y_preds]
    sign = means_of(call)[1]
    result = runs_of(call.y_true, y_preds, **call.options)
    mean = runs_of(None, values, **call.as_mean())
    close(result.estimate, sign * mean.estimate)
    close(result.standard_error, mean.standard_error)
    close([*result.variance_components.values()], [*mean.variance_components.values()])
    for estimand, method in ASKED:
        if method == "auto":  # cut at the range of the metric
            continue
        own, expected = (
            [*quiet(one.interval, method, estimand=estimand).uncut] for one in (result, mean)
        )
        close(own, expected if sign > 0 else turned(expected), 1e-7, 1e-9, (estimand, method))


@pytest.mark.parametrize(("design", "weighted"), PRODUCTS)
@pytest.mark.parametrize("name", ["neg mse", "accuracy"])
def test_methods_by_a_score_differ_as_its_values_do(name, design, weighted):
    call = call_of(name, design, weighted)
    y_preds = {
        "A": [call.y_pred, *(call.other() for _ in range(2))],
        "B": [call.other() for _ in range(4)],
    }
    values = {key: [means_of(call, run)[0] for run in own] for key, own in y_preds.items()}
    sign = means_of(call)[1]
    for interval in ("components", "welch"):
        [pair] = compared(call.y_true, y_preds, interval=interval, **call.options).pairs
        [mean] = compared(None, values, interval=interval, **call.as_mean()).pairs
        close(pair.difference, sign * mean.difference)
        close(pair.standard_error, mean.standard_error)
        close(pair.degrees_of_freedom, mean.degrees_of_freedom)
        close([*pair.components.values()], [*mean.components.values()])
        limits = [*mean.confidence_interval]
        close([*pair.confidence_interval], limits if sign > 0 else turned(limits))


# ------------------------------------------------------------------ order, names, units


@each_design
@each_varied
def test_the_order_and_the_names_of_runs_change_nothing(varied, design):
    values, more = values_of_runs(), {"metric": "mean", "varied": varied, **DESIGNS[design]}
    one = runs_of(None, values, **more, **VARIED[varied])
    # The first run stays the system.
    order = [0, 3, 5, 1, 4, 2]
    own = {key: column[::-1] for key, column in VARIED[varied].items()}
    if varied == "both":
        own["training"] = np.array([{"first": 9, "second": 4, "third": 7}[k] for k in TRAINED])[
            order
        ]
    assert_same_runs(runs_of(None, values[order], **more, **own), one)


@each_design
@each_varied
def test_a_constant_shifts_and_a_factor_stretches_what_runs_say(varied, design):
    values, more = values_of_runs(), {"metric": "mean", "varied": varied, **DESIGNS[design]}
    own = VARIED[varied]
    one = runs_of(None, values, **more, **own)
    for factor, shift in ((4.0, 10.0), (-0.5, 3.0)):
        full = {"full_runs": factor * own["full_runs"] + shift} if "full_runs" in own else {}
        same = runs_of(None, factor * values + shift, **more, **{**own, **full})
        close(same.standard_error, abs(factor) * one.standard_error, 1e-7)
        components = np.array([*one.variance_components.values()])
        close([*same.variance_components.values()], factor**2 * components, 1e-7)
        limits = abs(factor) * all_limits(one)
        # Independent rows are drawn by their values in order, which a turned sign reverses.
        known = ALIKE if factor < 0 and design == "rows" else slice(None)
        expected = shift + (limits if factor > 0 else turned(limits))
        close(all_limits(same)[known], expected[known], 1e-7, 1e-9)


@each_design
@pytest.mark.parametrize("interval", ["components", "welch"])
@pytest.mark.parametrize("paired", [False, True])
def test_methods_that_change_places_are_mirrored(paired, interval, design):
    first, second = values_of_runs(), values_of_runs(seed=2) + 0.2
    if not paired:
        second = second[:4]
    more = {"metric": "mean", "paired_runs": paired, "interval": interval, **DESIGNS[design]}
    [one] = compared(None, {"A": first, "B": second}, **more).pairs
    [other] = compared(None, {"B": second, "A": first}, **more).pairs
    assert (other.first, other.second) == (one.second, one.first)
    close(other.difference, -one.difference)
    close(other.standard_error, one.standard_error)
    close(other.degrees_of_freedom, one.degrees_of_freedom)
    close([*other.components.values()], [*one.components.values()])
    for kind in ("confidence_interval", "simultaneous_interval"):
        close([*getattr(other, kind)], turned([*getattr(one, kind)]))
    close(other.p_value, one.p_value)
    close(other.bootstrap_support, 1 - one.bootstrap_support)


# ------------------------------------------------------------------ equal runs


@each_design
def test_equal_runs_are_one_system(design):
    values, columns = values_of_runs(1)[0], DESIGNS[design]
    more = {"metric": "mean", **columns}
    result = runs_of(None, [values] * 5, **more, n_resamples=499)
    one = scored(None, values, **more, n_resamples=499)
    assert result.variance_components["seed"] == result.variance_components["interaction"] == 0
    close(result.estimate, one.estimate)
    # Independent rows have their own variance in the place of that of resamples.
    rtol = 4 / np.sqrt(2 * 499) if design == "rows" else 1e-7
    halves = [np.ptp([*quiet(result.interval, "components")]), np.ptp([*quiet(one.interval, "t")])]
    close(*halves, rtol)
    _, inflation = freedom_by_hand(columns, 40)
    close(result.standard_error, one.standard_error * np.sqrt(inflation), rtol)


# ------------------------------------------------------------------ closed forms


def variances(series, noise):
    """Variance over test units of each series of rows, or of resamples."""
    return np.var(series, axis=-1, ddof=1) * noise


def satterthwaite(total, terms):
    return total**2 / sum(square**2 / df for square, df in terms)


def assert_t(result, variance, df, method="components", estimand="method"):
    limits = [*quiet(result.interval, method, 0.9, estimand=estimand)]
    half = stdtrit(df, 0.95) * np.sqrt(variance)
    close(limits, [result.estimate - half, result.estimate + half], 1e-7)


# Values whose seed or test component is estimated below 0 among them.
@pytest.mark.parametrize(("scale", "rows"), [(0.3, 1.0), (0.0, 1.0), (0.3, 0.0)])
@pytest.mark.parametrize("varied", ["seed", "independent"])
def test_runs_on_rows_have_the_analysis_of_variance(varied, scale, rows):
    s, n = 6, 40
    rng = np.random.default_rng([int(10 * scale), int(rows), 4])
    values = 4 + scale * rng.normal(size=(s, 1)) + rows * rng.normal(size=n)
    values = values + rng.normal(size=(s, n))
    of_runs, of_rows, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = values - of_runs[:, None] - of_rows + mean
    square_run = n * ((of_runs - mean) ** 2).sum() / (s - 1)
    square_row = s * ((of_rows - mean) ** 2).sum() / (n - 1)
    square_rest = (rest**2).sum() / ((s - 1) * (n - 1))
    seed = max((square_run - square_rest) / n, 0)
    test = max((square_row - square_rest) / s, 0)
    result = runs_of(None, values, metric="mean", varied=varied)
    found = result.variance_components
    source, absent = ("seed", "training") if varied == "seed" else ("training", "seed")
    assert np.isnan(found[absent])
    close([found[key] for key in (source, "test", "interaction")], [seed, test, square_rest], 1e-7)
    variance = seed / s + test / n + square_rest / (s * n)
    close(result.standard_error, np.sqrt(variance), 1e-7)
    squares = np.array([square_run, square_row, square_rest]) / (s * n)
    freedom = (s - 1, n - 1, (s - 1) * (n - 1))
    df = satterthwaite(variance, zip(squares, freedom, strict=True))
    assert_t(result, variance, df)
    assert_t(result, np.var(of_runs, ddof=1) / s, s - 1, "t")
    # The next run on as many new rows: its own seed, rows and interaction beside the mean's.
    single = np.var(values, axis=1, ddof=1).mean() / n
    following = variance + seed + single
    squares = [square_run * (s + 1), square_row + s * n * single, square_rest * (s + 1)]
    df = satterthwaite(following, zip(np.array(squares) / (s * n), freedom, strict=True))
    assert_t(result, following, df, estimand="next_run")


@each_varied
@pytest.mark.parametrize("design", ["weights", "groups in strata"])
def test_an_interval_over_the_runs_alone_says_that_it_holds_test_rows_fixed(varied, design):
    """Beside all else that intervals of components hold fixed; its error is that of the scores."""
    values, more = values_of_runs(seed=3), {**VARIED[varied], **DESIGNS[design]}
    more |= {"metric": "mean", "varied": varied, "n_resamples": 9}
    known, alone = (runs_of(None, values, interval=name, **more) for name in ("components", "t"))
    assert "the test rows" not in known.held_fixed
    assert {*alone.held_fixed} == {*known.held_fixed, "the test rows"}
    carry = more.get("full_runs", values)
    scores = np.average(carry, axis=1, weights=more.get("sample_weight"))
    close(alone.standard_error, scores.std(ddof=1) / np.sqrt(len(scores)))
    pair = {"A": values, "B": values[::-1] ** 2}
    more |= {"full_runs": dict.fromkeys(pair, carry)} if "full_runs" in more else {}
    more |= {"training": dict.fromkeys(pair, TRAINED)} if varied == "both" else {}
    known, alone = (compared(None, pair, interval=name, **more) for name in ("components", "welch"))
    assert {*alone.held_fixed} == {*known.held_fixed, "the test rows"}


@each_design
@pytest.mark.parametrize(("varied", "n_full"), [("training", 3), ("both", 2), ("both", 1)])
def test_samples_of_one_list_add_their_variance_in_full(varied, n_full, design):
    values, full = values_of_runs(seed=3, scale=0.8), VARIED[varied]["full_runs"][:n_full]
    more = {"metric": "mean", "varied": varied, **VARIED[varied], **DESIGNS[design]}
    more["full_runs"] = full
    result = runs_of(None, values, **more)
    columns = DESIGNS[design]
    test_df, inflation = freedom_by_hand(columns, 40)
    weights = columns.get("sample_weight")
    scores = np.average(values, axis=1, weights=weights)
    if design == "rows":
        series, list_series, noise = values, full, 1 / 40
    else:
        # The same resamples for all runs, and for those on the list as runs of their own.
        every = [*values, *full]
        pool = runs_of(None, every, metric="mean", estimand="pooled", **columns)
        drawn = pool.bootstrap_distribution.reshape(len(every), -1)
        series, list_series, noise = drawn[:6], drawn[6:], inflation
    k, seed = 6, 0.0
    if varied == "both":
        # Between two seeds of a sample, less what the test units make of their difference.
        pairs, of_pairs = scores.reshape(3, 2), series.reshape(3, 2, -1)
        within = variances(of_pairs[:, 0] - of_pairs[:, 1], noise) / 2
        seed = max((np.var(pairs, axis=1, ddof=1) - within).mean(), 0)
        k, scores, series = 3, pairs.mean(axis=1), of_pairs.mean(axis=1)
    between = np.var(scores, ddof=1)
    single, of_mean = variances(series, noise).mean(), variances(series.mean(axis=0), noise)
    c = k / (k - 1) * (single - of_mean)
    te = variances(list_series.mean(axis=0), noise)
    # What fewer seeds on the list than on each sample add.
    fewer = seed * max(1 / n_full - 1 / 2, 0)
    variance = max(between - c, 0) + te + fewer
    close(result.estimate, np.average(full, axis=1, weights=weights).mean())
    close(result.standard_error, np.sqrt(variance), 1e-7)
    df = satterthwaite(variance, [(between, k - 1), (te, test_df), (fewer, 3)])
    assert_t(result, variance, max(df, 2))
    if n_full > 1:
        alone = np.var(np.average(full, axis=1, weights=weights), ddof=1)
        assert_t(result, alone / n_full, n_full - 1, "t")
    training = max(between - c - seed / 2, 0)
    close(result.variance_components["training"], training, 1e-7)
    if varied == "both":
        close(result.variance_components["seed"], seed, 1e-7)
    following = runs_of(None, values, estimand="next_run", **more)
    expected = 2 * training + (1 + 1 / n_full) * seed + te + variances(list_series, noise).mean()
    close(following.standard_error, np.sqrt(expected), 1e-7)


@each_design
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_methods_differ_by_the_variances_of_their_runs_and_of_common_rows(alike, paired, design):
    methods = {"A": values_of_runs(5, scale=0.8), "B": values_of_runs(5, seed=4) - 0.3}
    if alike:  # the difference of the means does not vary with the rows
        methods["B"] = methods["A"][::-1] - 0.3
    columns = DESIGNS[design]
    [pair] = compared(None, methods, metric="mean", paired_runs=paired, **columns).pairs
    (test_df, inflation), s = freedom_by_hand(columns, 40), 5
    scores = np.average([*methods.values()], axis=2, weights=columns.get("sample_weight"))
    series, noise = np.array([*methods.values()]), 1 / 40
    if design != "rows":
        every = np.concatenate(series)
        pool = runs_of(None, every, metric="mean", estimand="pooled", **columns)
        series, noise = pool.bootstrap_distribution.reshape(2, s, -1), inflation
    if paired:
        scores, series = scores[:1] - scores[1:], series[:1] - series[1:]
    means = series.mean(axis=1)
    of_mean = variances(means[0] if paired else means[0] - means[1], noise)
    between = np.var(scores, axis=1, ddof=1)
    c = s / (s - 1) * (variances(series, noise).mean(axis=1) - variances(means, noise))
    of_runs, of_test = np.maximum(between - c, 0).sum() / s, max(of_mean, c.sum() / s)
    close([pair.components[key] for key in ("runs", "test")], [of_runs, of_test], 1e-7)
    close(pair.standard_error, np.sqrt(of_runs + of_test), 1e-7)
    terms = [(of_test, test_df), *((one / s, s - 1) for one in between)]
    terms += [(one / s, (s - 1) * test_df) for one in c]
    df = max(satterthwaite(of_runs + of_test, terms), 1)
    close(pair.degrees_of_freedom, df, 1e-7)
    half = stdtrit(df, 0.975) * pair.standard_error
    close([*pair.confidence_interval], [pair.difference - half, pair.difference + half], 1e-7)


@each_design
def test_the_pool_has_the_order_statistics_of_all_replicates_of_all_runs(design):
    values, more = values_of_runs(), {"metric": "mean", **DESIGNS[design]}
    pool = runs_of(None, values, estimand="pooled", **more)
    ordered = np.sort(pool.bootstrap_distribution)
    assert len(ordered) == 6 * 39
    limits = [ordered[46], ordered[-47]]  # ranks .2 and .8 of 235
    close([*quiet(pool.interval, confidence_level=0.6)], limits)
    method = runs_of(None, values, **more)
    close([*quiet(method.interval, "percentile", 0.6)], limits)
    close(pool.standard_error, np.std(ordered, ddof=1))


# ------------------------------------------------------------------ strata


@pytest.mark.parametrize("design", ["strata", "groups in strata"])
def test_runs_in_strata_lose_a_degree_of_freedom_for_each(design):
    values, columns = values_of_runs(), DESIGNS[design]
    s = len(values)
    result = runs_of(None, values, metric="mean", **columns)
    pool = runs_of(None, values, metric="mean", estimand="pooled", **columns)
    drawn = pool.bootstrap_distribution.reshape(s, -1)
    n, lost = result.n_units, n_strata(columns)
    noise = n / (n - lost)
    between, of_mean = np.var(values.mean(axis=1), ddof=1), variances(drawn.mean(axis=0), noise)
    c = s / (s - 1) * (variances(drawn, noise).mean() - of_mean)
    a = max(between - c, 0)
    close(
        [result.variance_components[key] for key in ("seed", "test", "interaction")],
        [a, n * max(of_mean - c / s, 0), n * c],
        1e-7,
    )
    variance = a / s + max(of_mean, c / s)
    close(result.standard_error, np.sqrt(variance), 1e-7)
    terms = [(between / s, s - 1), (of_mean, n - lost), (c / s, (s - 1) * (n - lost))]
    assert_t(result, variance, satterthwaite(variance, terms))


def strata_of_equal_sizes(seed=0):
    """Two strata of three rows, whose means and spreads differ, and all 729 resamples of them."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=6) * np.repeat([1, 3], 3) + np.repeat([0, 20], 3)
    one = [*itertools.product(range(3), repeat=3)]
    resamples = np.array([(*a, *(3 + k for k in b)) for a in one for b in one])
    return values, np.repeat(["a", "b"], 3), resamples


def test_all_resamples_of_strata_give_the_variance_of_a_stratified_mean():
    values, strata, resamples = strata_of_equal_sizes()
    result = scored(None, values, metric="mean", strata=strata, resamples=resamples)
    known = np.sqrt(sum(0.25 * np.var(values[strata == h], ddof=1) / 3 for h in "ab"))
    # All resamples, whose variance is taken with B - 1.
    known *= np.sqrt(len(resamples) / (len(resamples) - 1))
    drawn = known * np.sqrt(2 / 3)
    close(spread_of(result), drawn)
    mean = values.mean()
    for method, half in (("t", stdtrit(4, 0.975) * known), ("normal", ndtri(0.975) * drawn)):
        close([*quiet(result.interval, method)], [mean - half, mean + half], 1e-7, 1e-9, method)


@pytest.mark.parametrize("sizes", [(10, 10, 10, 10), (5, 8, 22)])
def test_strata_have_the_variance_within_them_in_every_function(sizes):
    n, lost, options = sum(sizes), len(sizes), {"n_resamples": 9999, "metric": "mean"}
    strata = np.repeat(np.arange(lost), sizes)
    values, other = values_of_runs(2, n) + 5.0 * strata
    other = other + 0.4 * strata

    def drawn_variance(x):
        """Sum of W^2 s^2 / n over the strata, s^2 with divisor n as in resamples."""
        return sum((len(x[strata == h]) / n) ** 2 * np.var(x[strata == h]) / len(x[strata == h])
                   for h in range(lost))  # fmt: skip

    result = scored(None, values, strata=strata, **options)
    systems = {"A": values, "B": other}
    [pair] = quiet(
        skboot.compare_systems, None, systems, strata=strata, random_state=0, interval="t",
        **options,
    ).pairs  # fmt: skip
    for error, x in ((result.standard_error, values), (pair.standard_error, values - other)):
        close(error, np.sqrt(drawn_variance(x)), 4 / np.sqrt(2 * 9999))
    stretch = stdtrit(n - lost, 0.975) * np.sqrt(n / (n - lost))
    low, high = quiet(result.interval, "t")
    close((high - low) / 2, stretch * result.standard_error)
    low, high = pair.confidence_interval
    close((high - low) / 2, stretch * pair.standard_error)
    runs = runs_of(None, [values, values], strata=strata, **options)
    close(runs.standard_error**2, n / (n - lost) * drawn_variance(values), 8 / np.sqrt(2 * 9999))
    # Methods whose runs do not vary: test rows alone.
    [pair] = compared(None, {"A": [values] * 2, "B": [other] * 2}, strata=strata, **options).pairs
    known = n / (n - lost) * drawn_variance(values - other)
    close(pair.standard_error**2, known, 8 / np.sqrt(2 * 9999))
    close(pair.degrees_of_freedom, n - lost)


# ------------------------------------------------------------------ DeLong


def delong_variance(y_true, *scores):
    """Of the area, or of the difference of two, by pairs of rows (DeLong et al. 1988)."""
    in_order = 0.0
    for sign, score in zip((1, -1), scores, strict=False):
        gap = score[y_true == 1][:, None] - score[y_true == 0]
        in_order = in_order + sign * ((gap > 0) + 0.5 * (gap == 0))
    return sum(np.var(in_order.mean(axis=k), ddof=1) / in_order.shape[1 - k] for k in (0, 1))


def test_delong_is_the_closed_form_of_pairs_and_of_rows_without_weights_alone():
    call = call_of("auc")
    systems = {"A": call.y_pred, "B": call.other()}
    result = scored(call.y_true, call.y_pred, metric="roc_auc")
    half = ndtri(0.95) * np.sqrt(delong_variance(call.y_true, call.y_pred))
    limits = np.array([result.estimate - half, result.estimate + half])
    close([*quiet(result.interval, "delong", 0.9)], limits.clip(0, 1))
    options = {"metric": "roc_auc", "interval": "delong", **OPTIONS}
    [pair] = quiet(skboot.compare_systems, call.y_true, systems, **options).pairs
    half = ndtri(0.975) * np.sqrt(delong_variance(call.y_true, *systems.values()))
    close([*pair.confidence_interval], [pair.difference - half, pair.difference + half])
    for columns in (
        {"sample_weight": np.arange(call.n) % 3 + 1.0},
        {"strata": np.arange(call.n) % 2},
        {"groups": np.arange(call.n) // 2},
    ):
        with pytest.raises(ValueError, match="delong"):
            scored(call.y_true, call.y_pred, **options, **columns)
        with pytest.raises(ValueError, match="delong"):
            quiet(skboot.compare_systems, call.y_true, systems, **options, **columns)
        plain = scored(call.y_true, call.y_pred, metric="roc_auc", **columns)
        with pytest.raises(ValueError, match="delong"):
            quiet(plain.interval, "delong")


# ------------------------------------------------------------------ files


def typed(value):
    """The types of all that a value holds."""
    if isinstance(value, Mapping):
        return {key: typed(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [typed(one) for one in value]
    return (type(value), value.dtype) if isinstance(value, np.ndarray) else type(value)


@each_varied
@pytest.mark.parametrize("estimand", ["method", "next_run", "pooled", "system"])
def test_a_file_keeps_the_types_of_what_runs_say(varied, estimand, tmp_path):
    more = {"metric": "mean", "varied": varied, "estimand": estimand, **VARIED[varied]}
    result = runs_of(None, values_of_runs(), **more)
    result.save(tmp_path / "runs.npz")
    again = type(result).load(tmp_path / "runs.npz")
    for own in ("settings", "runs", "variance_components", "monte_carlo_error", "held_fixed"):
        assert typed(getattr(again, own)) == typed(getattr(result, own)), own
    for own in ("estimate", "standard_error", "bias", "n_samples", "n_units", "n_resamples"):
        assert type(getattr(again, own)) is type(getattr(result, own)), own
    assert typed(again.to_dict()) == typed(result.to_dict())
    assert repr(all_limits(again).tolist()) == repr(all_limits(result).tolist())
    components = [*again.variance_components.values()]
    assert {type(one) for one in components} == {float}


@pytest.mark.parametrize("interval", ["components", "welch"])
def test_a_file_keeps_the_types_of_methods_compared(interval, tmp_path):
    methods = {"A": values_of_runs(), "B": values_of_runs(4, seed=2)}
    result = compared(None, methods, metric="mean", interval=interval)
    result.save(tmp_path / "methods.npz")
    again = type(result).load(tmp_path / "methods.npz")
    assert typed(again.to_dict()) == typed(result.to_dict())
    assert typed(again.settings) == typed(result.settings)
    [one], [same] = result.pairs, again.pairs
    for own in ("difference", "standard_error", "degrees_of_freedom", "p_value", "n_runs"):
        assert typed(getattr(same, own)) == typed(getattr(one, own)), own
    assert typed(same.components) == typed(one.components)
    assert {type(part) for part in same.components.values()} == {float}


@each_varied
@pytest.mark.parametrize("rate", [0.7, 0.9, 0.98])
def test_a_component_that_is_said_to_be_0_is_0(varied, rate):
    said = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y_true = rng.integers(2, size=40)
        answers = np.where(rng.random((9, 40)) < rate, y_true, 1 - y_true)
        own = dict(VARIED[varied])
        if "full_runs" in own:
            own["full_runs"] = answers[6:]
        found = runs_of(y_true, answers[:6], metric="accuracy", varied=varied, **own)
        for part, name in (("test", "test-unit"), ("seed", "seed"), ("training", "training")):
            if f"{name} component was estimated below 0" in " ".join(found.notes):
                said.append(part)
                assert found.variance_components[part] == 0, (seed, part)
    assert said
