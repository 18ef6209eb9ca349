"""Limits that say the same twice: of turned signs, of copies, of one side, of rows with weights.

All is exact but for rows with uneven weights, whose intervals are held to the width of their own
standard error: Wilson's of counted rows, which would be several times too short, is for rows of
equal weight (DESIGN 4.7).
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import (
    DESIGNS,
    FAST,
    MEANS,
    N_RESAMPLES,
    OPTIONS,
    any_seed,
    call_of,
    close,
    compared,
    each_of,
    freedom_by_hand,
    labels_of_columns,
    means_of,
    one_of,
    product_of,
    quiet,
    scored,
)
from scipy.special import ndtri, stdtrit
from sklearn.metrics import f1_score, jaccard_score, zero_one_loss

import skboot

pytestmark = pytest.mark.identity

OF_COUNTS = ("wilson", "clopper-pearson", "wald")
NAMES_OF_ONE = {
    "accuracy": zero_one_loss,
    "expected_cost": "neg_expected_cost",
    "brier_score": "neg_brier_score",
    "mean_squared_error": "neg_mean_squared_error",
    "log_loss": "neg_log_loss",
    "equal_error_rate": "neg_equal_error_rate",
    "root_mean_squared_error": "neg_root_mean_squared_error",
}
CASE_OF = dict(
    zip(
        NAMES_OF_ONE,
        ("accuracy of two", "error", "brier", "mse", "log_loss", "auc", "mse"),
        strict=True,
    )
)
ADJUSTMENTS = ("max-t", "holm")


def turned(limits, shift=0.0):
    """Limits of ``shift - score``."""
    return [shift - limit for limit in limits][::-1]


def ordered(result, first="A", second="B"):
    """The pair with its systems in this order."""
    pair = result.pairs[0]
    return pair if pair.first == first else pair._mirrored()


# ------------------------------------------------------------------ turned signs


def assert_turned(one, other, shift):
    close(other.estimate, shift - one.estimate)
    close(other.standard_error, one.standard_error)
    close(other.bootstrap_distribution, shift - one.bootstrap_distribution)
    assert other.confidence_interval.method == one.confidence_interval.method
    close([*other.confidence_interval], turned(one.confidence_interval, shift), 1e-7, 1e-9)
    for method in ("percentile", "basic", "studentized", "bca", *OF_COUNTS):
        limits = []
        for result in (one, other):
            try:
                limits.append([*quiet(result.interval, method)])
            except ValueError:
                limits.append(None)
        assert (limits[0] is None) == (limits[1] is None), method
        if limits[0] is not None:
            close(limits[1], turned(limits[0], shift), 1e-7, 1e-9, method)


DESIGNS_AND_WEIGHTS = [*DESIGNS, "weights", "weights of groups in strata"]
# Each name with two designs; with all of them in `make slow`.
NAMES_AND_DESIGNS = [
    pytest.param(name, design, marks=[pytest.mark.slow] if (j - 2 * k) % 6 > 1 else [])
    for k, name in enumerate(NAMES_OF_ONE)
    for j, design in enumerate(DESIGNS_AND_WEIGHTS)
]


@pytest.mark.parametrize(("name", "design"), NAMES_AND_DESIGNS)
def test_a_turned_metric_has_mirrored_limits_in_every_function(name, design):
    weighted, design = (
        "weights" in design,
        design.removeprefix("weights of ").replace("weights", "rows"),
    )
    call = call_of(CASE_OF[name], design, weighted, n=90)
    shift = 1.0 if name == "accuracy" else 0.0
    names = (name, NAMES_OF_ONE[name])
    rows = {} if "groups" in design else {"resamples": call.resamples()}
    y_pred, other = call.y_pred, call.other()
    one, same = (
        scored(call.y_true, y_pred, metric=metric, **rows, **call.columns) for metric in names
    )
    assert_turned(one, same, shift)
    keys = call.columns.get("groups", np.arange(call.n))
    parts = [
        scored(call.y_true, y_pred, metric=metric, by=keys % 3, **rows, **call.columns)
        for metric in names
    ]
    for part in range(3):
        assert_turned(parts[0][part], parts[1][part], shift)
    gaps = [found["gap"] for found in parts]
    close(gaps[1].estimate, gaps[0].estimate)
    close(gaps[1].standard_error, gaps[0].standard_error)
    close([*gaps[1].confidence_interval], [*gaps[0].confidence_interval], 1e-7, 1e-9)
    # The larger score comes first: of the turned one the other.
    pair = gaps[0].metric.partition("(")[2].rstrip(")").split(" - ")
    assert gaps[1].metric.partition("(")[2].rstrip(")").split(" - ") == pair[::-1]

    systems = {"A": y_pred, "B": other}
    two = [
        ordered(compared(call.y_true, systems, metric=metric, **call.columns)) for metric in names
    ]
    close(two[1].difference, -two[0].difference)
    if two[0]._discordant is not None:
        assert sorted(two[0]._discordant[:2]) == sorted(two[1]._discordant[:2])
    # Independent rows of an accuracy are drawn in another order than those of an error.
    drawn_alike = name != "accuracy" or "groups" in design
    if drawn_alike:
        close(two[1].standard_error, two[0].standard_error)
        close(two[1].bootstrap_support, two[0].bootstrap_support)
    if (
        drawn_alike
        or two[0].confidence_interval.method == two[1].confidence_interval.method == "tango"
    ):
        for kind in ("confidence_interval", "simultaneous_interval"):
            close([*getattr(two[1], kind)], turned(getattr(two[0], kind)), 1e-7, 1e-9)
        close(two[1].p_value, two[0].p_value)
        close(two[1].equivalence_margin, two[0].equivalence_margin)
    for margin in (0.0, 0.02, 0.2) if drawn_alike else ():
        verdicts = [pair.verdict(margin) for pair in two]
        assert verdicts[0].outcome == verdicts[1].outcome
        close(verdicts[1].smallest_margin, verdicts[0].smallest_margin)
        close(verdicts[1].detectable_margin, verdicts[0].detectable_margin)

    runs = [
        quiet(skboot.bootstrap_runs, call.y_true, [y_pred, other, call.y_pred], metric=metric,
              estimand=estimand, **call.columns, **OPTIONS)
        for estimand in ("method", "system") for metric in names
    ]  # fmt: skip
    rtol = 1e-7 if drawn_alike else 0.3
    for k in (0, 2):
        close(runs[k + 1].estimate, shift - runs[k].estimate)
        close([*runs[k + 1].confidence_interval], turned(runs[k].confidence_interval, shift), rtol)
    close([*runs[1].variance_components.values()], [*runs[0].variance_components.values()], rtol)

    half = one.standard_error / 2
    sizes = [quiet(skboot.plan_evaluation, pilot, half_width=half).n_units for pilot in (one, same)]
    assert sizes[0] == sizes[1]
    sizes = [quiet(skboot.plan_evaluation, pair, difference=half).n_units for pair in two]
    sizes.append(quiet(skboot.plan_evaluation, two[0]._mirrored(), difference=half).n_units)
    assert len(set(sizes if drawn_alike else sizes[::2])) == 1


# ------------------------------------------------------------------ copies


@each_of(MEANS)
@any_seed
def test_rows_k_times_in_groups_have_the_gap_pair_and_runs_of_the_rows(name, seed):
    call = call_of(name, "groups", product_of(name, seed)[1], seed, n=120)
    groups, other = call.columns["groups"], call.other()
    gaps, pairs, runs = [], [], []
    # Groups are not taken to say more than their rows would if these were independent.
    for times in (3, 12):
        rows = np.repeat(np.arange(call.n), times)
        own = {key: column[rows] for key, column in call.columns.items()}
        own["metric"] = call.score.metric
        y_true, y_pred, second, by = (
            column[rows] for column in (call.y_true, call.y_pred, other, groups % 2)
        )
        gaps.append(scored(y_true, y_pred, by=by, **own)["gap"])
        pairs.append(ordered(compared(y_true, {"A": y_pred, "B": second}, **own)))
        runs.append(quiet(skboot.bootstrap_runs, y_true, [y_pred, second], **own, **OPTIONS))
    for one, same in (gaps, runs):
        close(same.estimate, one.estimate)
        close(same.standard_error, one.standard_error, 1e-3)
        close([*same.confidence_interval], [*one.confidence_interval], 2e-3, 1e-9)
    one, same = pairs
    close(same.difference, one.difference)
    close([*same.confidence_interval], [*one.confidence_interval], 1e-6, 1e-9)
    close([*same.simultaneous_interval], [*one.simultaneous_interval], 1e-6, 1e-9)
    close(same.p_value, one.p_value)


# ------------------------------------------------------------------ weights of rows


def uneven(call):
    """Weights of which a fifth of the rows has nearly all, more of them where values are large."""
    values = means_of(call)[0]
    return np.exp(1.3 * call.rng.normal(size=call.n) + 0.8 * (values > np.median(values)))


@each_of(MEANS, n=2)
@any_seed
def test_uneven_weights_have_the_width_of_their_standard_error(name, seed):
    call = call_of(name, "rows", False, seed, n=200)
    options = {**call.options, "sample_weight": uneven(call), "n_resamples": 199}
    by = call.rng.permutation(call.n) % 2
    found = [scored(call.y_true, call.y_pred, **options)]
    found.append(scored(call.y_true, call.y_pred, by=by, **options)["gap"])
    systems = {"A": call.y_pred, "B": call.other()}
    pair = compared(call.y_true, systems, **{**options, "n_resamples": 199}).pairs[0]
    for result, value in zip(
        (*found, pair), [*(f.estimate for f in found), pair.difference], strict=True
    ):
        low, high = result.confidence_interval
        normal = 1.96 * result.standard_error
        # Studentized intervals of few rows that count are longer than normal ones.
        assert 0.75 < (high - low) / (2 * normal) < 6
        assert low + 0.4 * normal < value < high - 0.4 * normal


@each_of(MEANS)
@any_seed
def test_constant_weights_are_none_in_every_function(name, seed):
    call = call_of(name, "groups", False, seed, n=90)
    other, by = call.other(), call.columns["groups"] % 2
    systems = {"A": call.y_pred, "B": other}
    answers, of_runs = [], []
    for weights in ({}, {"sample_weight": np.full(call.n, 0.25)}):
        options = {**call.options, **weights}
        gap = scored(call.y_true, call.y_pred, by=by, **options)["gap"]
        pair = ordered(compared(call.y_true, systems, **options))
        runs = quiet(skboot.bootstrap_runs, call.y_true, [call.y_pred, other], **options, **OPTIONS)
        answers.append([*gap.confidence_interval, gap.estimate, gap.standard_error])
        answers[-1] += [pair.difference, *pair.confidence_interval, pair.p_value]
        of_runs.append([runs.estimate, runs.standard_error, *runs.confidence_interval])
    # Gaps of counted rows and of weighted ones are made otherwise (DESIGN 4.7).
    counted = np.isin(means_of(call)[0], (0, 1)).all()
    first = 2 if counted else 0
    close(answers[1][first:], answers[0][first:], 1e-6, 1e-9)
    close(of_runs[1], of_runs[0], 0.05)


# ------------------------------------------------------------------ one side


@each_of(MEANS)
@any_seed
def test_a_one_sided_limit_is_the_two_sided_one_at_twice_the_error(name, seed):
    adjust = one_of(ADJUSTMENTS, name, seed)
    call = call_of(name, *product_of(name, seed + 1), seed)
    systems = {"A": call.y_pred, "B": call.other()}
    if adjust == "holm":
        systems["C"] = call.other()
    options = {**call.options, "adjust": adjust, "n_resamples": 199}
    both = compared(call.y_true, systems, confidence_level=0.9, **options)
    for side in ("greater", "less"):
        one = compared(call.y_true, systems, alternative=side, **options)
        for pair, same in zip(both.pairs, one.pairs, strict=True):
            k = 0 if side == "greater" else 1
            for kind in ("confidence_interval", "simultaneous_interval"):
                limit = getattr(same, kind)[k]
                close(limit, getattr(pair, kind)[k], 1e-9, 1e-11, (side, kind))


@each_of(MEANS)
@any_seed
def test_greater_of_two_is_less_of_the_two_exchanged(name, seed):
    adjust = one_of(ADJUSTMENTS, name, seed)
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    back = dict(reversed(systems.items()))
    options = {**call.options, "adjust": adjust}
    one = compared(call.y_true, systems, alternative="greater", **options)
    other = compared(call.y_true, back, alternative="less", **options)
    for pair in one.pairs:
        [same] = [p for p in other.pairs if {p.first, p.second} == {pair.first, pair.second}]
        if same.first == pair.first:
            continue
        close(same.difference, -pair.difference)
        close([*same.confidence_interval], turned(pair.confidence_interval), 1e-7, 1e-9)
        close([*same.simultaneous_interval], turned(pair.simultaneous_interval), 1e-7, 1e-9)
        close([same.p_value, same.p_value_adjusted], [pair.p_value, pair.p_value_adjusted])


# ------------------------------------------------------------------ "mean" in other functions


@each_of([name for name in MEANS if call_of(name).score.data not in ("sets", "tables")])
@any_seed
def test_an_accumulator_of_a_score_is_that_of_its_values(name, seed):
    design, weighted = product_of(name, seed)
    call = call_of(name, "groups" if "groups" in design else "rows", weighted, seed, n=90)
    values, sign = means_of(call)
    units = {"ids": np.arange(call.n)} if "groups" not in call.columns else {}
    units |= call.columns
    results = [
        quiet(
            skboot.BootstrapAccumulator(metric, labels=own, random_state=0, n_resamples=N_RESAMPLES)
            .update(y_true, y_pred, **units)
            .result
        )
        for metric, own, y_true, y_pred in (
            (call.score.metric, labels_of_columns(call), call.y_true, call.y_pred),
            ("mean", None, None, values),
        )
    ]
    result, mean = results
    close(result.estimate, sign * mean.estimate)
    close(result.bootstrap_distribution, sign * mean.bootstrap_distribution)
    close(result.standard_error, mean.standard_error)
    assert (result.unit, result.n_units) == (mean.unit, mean.n_units)
    assert result.confidence_interval.method == mean.confidence_interval.method
    limits = np.array([*mean.confidence_interval])
    limits = np.clip(limits if sign > 0 else -limits[::-1], *call.score.bounds)
    close([*result.confidence_interval], limits, 1e-7, 1e-9)


@each_of(MEANS)
@any_seed
def test_runs_of_methods_are_compared_as_those_of_their_values(name, seed):
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    runs = {"A": [call.y_pred, call.other(), call.other()], "B": [call.other(), call.other()]}
    values = {key: [means_of(call, run)[0] for run in own] for key, own in runs.items()}
    sign = means_of(call)[1]
    result = quiet(skboot.compare_runs, call.y_true, runs, **call.options, **OPTIONS)
    more = {**OPTIONS, "greater_is_better": result.greater_is_better == (sign > 0)}
    mean = quiet(skboot.compare_runs, None, values, **call.as_mean(), **more)
    [own], [expected] = result.pairs, mean.pairs
    close(own.difference, sign * expected.difference)
    close(own.standard_error, expected.standard_error, 1e-7)
    limits = [*expected.confidence_interval]
    close([*own.confidence_interval], limits if sign > 0 else turned(limits), 1e-6, 1e-9)
    close(own.p_value, expected.p_value, 1e-6)
    for key in "AB":
        close(result.systems[key].standard_error, mean.systems[key].standard_error, 1e-7)


OF_DIFFERENCES = ("tango", "delong", "newcombe", "percentile", "expanded", "basic", "normal", "t")


@pytest.mark.parametrize("method", OF_DIFFERENCES)
@pytest.mark.parametrize("name", ["accuracy of two", "error", "auc", "mae"])
def test_one_side_of_any_method_is_a_half_of_both_and_agrees_with_its_p_value(name, method):
    """Newcombe's is of systems on rows of their own."""
    call = call_of(name, n=60)
    y_true, y_pred = call.y_true, {"A": call.y_pred, "B": call.other()}
    if method == "newcombe":
        y_true, y_pred = {"A": y_true, "B": y_true[5:]}, {"A": y_pred["A"], "B": y_pred["B"][5:]}
    options = {"metric": call.score.metric, "interval": method, "n_resamples": 199}
    options["paired"] = method != "newcombe"
    try:
        both = compared(y_true, y_pred, confidence_level=0.9, **options).pairs[0]
    except ValueError:
        assert method in ("tango", "delong", "newcombe")
        return
    one = {
        side: compared(y_true, y_pred, alternative=side, **options).pairs[0]
        for side in ("greater", "less")
    }
    # Closed forms and quantiles are about as far apart as a normal law of the replicates says.
    low, high = both.confidence_interval
    assert 0.6 < (high - low) / (2 * ndtri(0.95) * both.standard_error) < 1.7
    close(one["greater"].confidence_interval.low, both.confidence_interval.low)
    close(one["less"].confidence_interval.high, both.confidence_interval.high)
    assert one["greater"].confidence_interval.high == np.inf
    assert one["less"].confidence_interval.low == -np.inf
    assert (one["greater"].p_value <= 0.05) == (one["greater"].confidence_interval.low > 0)
    assert (one["less"].p_value <= 0.05) == (one["less"].confidence_interval.high < 0)
    assert (one["greater"].p_value < 0.5) == (both.difference > 0)
    close(both.p_value, min(1.0, 2 * min(pair.p_value for pair in one.values())), 1e-6)


@each_of(MEANS)
@pytest.mark.parametrize("design", DESIGNS)
def test_t_and_normal_limits_are_those_of_the_replicates(name, design):
    """t has units less strata degrees of freedom, and the variance of samples of so many units."""
    call = call_of(name, design, n=60)
    result = scored(call.y_true, call.y_pred, **call.options)
    error = result.bootstrap_distribution.std(ddof=1)
    bounds = call.score.bounds
    df, inflation = freedom_by_hand(call.columns, call.n)
    half = stdtrit(df, 0.95) * error * np.sqrt(inflation)
    limits = np.clip([result.estimate - half, result.estimate + half], *bounds)
    close(np.clip([*quiet(result.interval, "t", 0.9)], *bounds), limits, 1e-6)
    centre = 2 * result.estimate - result.bootstrap_distribution.mean()
    limits = np.clip([centre + sign * ndtri(0.95) * error for sign in (-1, 1)], *bounds)
    close(np.clip([*quiet(result.interval, "normal", 0.9)], *bounds), limits, 1e-6)


@each_of(MEANS)
def test_strata_that_tell_the_values_leave_little_to_the_interval(name):
    """The interval has the width of its standard error, and not that of rows without strata."""
    call = call_of(name, n=150)
    values, _ = means_of(call)
    above = values > (0.5 if np.isin(values, (0, 1)).all() else np.median(values))
    strata = np.where(call.rng.random(call.n) < 0.05, ~above, above)
    options = {**call.options, "n_resamples": 199}
    result = scored(call.y_true, call.y_pred, strata=strata, **options)
    low, high = result.confidence_interval
    assert 0.7 < (high - low) / (2 * 1.96 * result.standard_error) < 1.7
    pair = compared(
        call.y_true, {"A": call.y_pred, "B": call.other()}, strata=strata, **options
    ).pairs[0]
    low, high = pair.confidence_interval
    assert 0.7 < (high - low) / (2 * 1.96 * pair.standard_error) < 1.7


# ------------------------------------------------------------------ what intervals are made of


@pytest.mark.parametrize("pos_label", [0, 1])
@any_seed
def test_counted_limits_of_f1_are_those_of_the_jaccard_index(pos_label, seed):
    call = call_of("f1", seed=seed)
    rows = call.resamples()
    j, f = (
        scored(call.y_true, call.y_pred, metric=partial(of, pos_label=pos_label), resamples=rows)
        for of in (jaccard_score, f1_score)
    )
    for method in ("wilson", "clopper-pearson"):
        found = [[*quiet(result.interval, method)] for result in (j, f)]
        close(found[1], [2 * limit / (1 + limit) for limit in found[0]])


@each_of(FAST)
@any_seed
def test_the_standard_error_by_influences_is_about_that_of_resamples(name, seed):
    call = call_of(name, one_of(DESIGNS, name, seed), seed=seed, n=400)
    result = scored(call.y_true, call.y_pred, **{**call.options, "n_resamples": 199})
    if result._evidence.standard_error is not None:
        assert 0.75 < result._evidence.standard_error / result.standard_error < 1.3


@each_of(MEANS)
@any_seed
def test_the_acceleration_of_a_mean_is_a_sixth_of_the_skewness_of_its_error(name, seed):
    call = call_of(name, seed=seed)
    values, sign = means_of(call)
    off = sign * (values - values.mean())
    result = scored(call.y_true, call.y_pred, **{**call.options, "interval": "bca"})
    close(result._evidence.acceleration, np.sum(off**3) / (6 * np.sum(off**2) ** 1.5), 1e-6, 1e-9)


@pytest.mark.parametrize("name", ["ap", "auc", "rmse", "kappa", "mcc", "f1_macro"])
def test_a_smooth_metric_is_not_said_to_answer_in_jumps(name):
    call = call_of(name, n=150)
    result = scored(call.y_true, call.y_pred, **{**call.options, "n_resamples": 199})
    assert not any("jumps" in note for note in result.notes)


@pytest.mark.parametrize("name", ["accuracy", "error", "auc", "subset accuracy"])
@pytest.mark.parametrize("method", [*OF_COUNTS, "delong"])
def test_no_closed_form_is_for_rows_of_uneven_weights(name, method):
    call = call_of(name, weighted=True)
    result = scored(call.y_true, call.y_pred, **call.options)
    with pytest.raises(ValueError, match="interval"):
        quiet(result.interval, method)


@each_of(MEANS)
@any_seed
def test_drawn_tasks_count_alike_whatever_their_rows(name, seed):
    call = call_of(name, "groups", seed=seed)
    groups = call.columns["groups"]
    result = scored(call.y_true, call.y_pred, average_over=groups, **call.options)
    of_tasks = [call.at(groups == task) for task in np.unique(groups)]
    close(result.estimate, np.mean(of_tasks), 1e-8)
    other = scored(None, np.array(of_tasks), metric="mean", groups=np.arange(len(of_tasks)))
    close(result.bootstrap_distribution, other.bootstrap_distribution, 1e-8)


def test_subgroups_of_numbers_are_numbers_after_loading(tmp_path):
    call = call_of("accuracy", n=90)
    one = scored(call.y_true, call.y_pred, by=np.arange(90) % 3, **call.options)
    one.save(tmp_path / "kept.npz")
    other = type(one).load(tmp_path / "kept.npz")
    assert [*other] == [*one] == [0, 1, 2, "gap"]
    assert other[1] == one[1]


@each_of(MEANS)
@pytest.mark.parametrize("method", ["t", "normal", "expanded", "studentized"])
def test_a_plan_for_the_width_of_the_pilot_is_its_size(name, method):
    call = call_of(name, "groups", n=60)
    options = {**call.options, "interval": method, "n_resamples": 999}
    pilot = scored(call.y_true, call.y_pred, **options)
    n, (df, inflation) = pilot.n_units, freedom_by_hand(call.columns, call.n)
    half = ndtri(0.975) * pilot.standard_error
    if method != "normal":
        half = stdtrit(df, 0.975) * pilot.standard_error * np.sqrt(inflation)
    found = quiet(skboot.plan_evaluation, pilot, half_width=half).n_units
    assert abs(found - n) <= 2


@each_of(FAST, n=2)
@any_seed
def test_a_score_below_its_baseline_says_so_and_no_other_does(name, seed):
    call = call_of(name, *product_of(name, seed), seed)
    for y_pred in (call.y_pred, call.rng.permutation(call.y_pred)):
        result = scored(call.y_true, y_pred, **call.options)
        naive, better = result.naive_estimate, result.greater_is_better
        # Rankings, and probabilities of the other class, have words of their own.
        if naive is None or better is None or abs(naive - result.estimate) < 1e-9:
            continue
        is_worse = (result.estimate < naive) == better
        words = ("baseline", "backwards", "Worse than scores that ignore the input")
        said = any(word in note for word in words for note in result.notes)
        assert said <= is_worse
        if is_worse and naive != result._evidence.facts.bounds[int(better)]:
            assert said or call.score.data == "scores"
